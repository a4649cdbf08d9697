"""Where one disc is: robust weighted least squares of a solid under the calibrated camera against the patch's light.

Gauss-Newton in x, y, radius, height and foot with the appearance projected out at each step (variable projection, Golub and Pereyra
1973, in Kaufman's form); Student-t weights let chips, grain, glare and fingers lose their say instead of pulling.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration import Camera
from rules.table import HALF_MM
from vision.discs.appearance import design, hole_contrast, light_gradient
from vision.discs.rays import Rays, rays_around, to_brightness
from vision.discs.regions import FOOT_MM, STATE, Curves, curves, outline_distance
from vision.discs.solid import Solid, solid_of

Array = NDArray[np.float64]

BLUR_PX: Final = 0.65  # lens, colour mosaic and pixel together, sigma
ROUNDING_BLUR_MM: Final = 0.15  # rounded edges are soft by themselves, sigma
BAND_MM: Final = 2.5  # pixels up to this far outside the outline take part, and of the face this far inside its bend
HOLE_BAND_MM: Final = 2.5  # and of the face this far around the hole
COARSE_STEPS: Final = 2  # first steps see a softer picture, so that a start some pixels off still feels the edge
COARSE_FACTOR: Final = 2.2
MAX_STEPS: Final = 12
STEP_LIMIT_MM: Final = 1.0
CONVERGED_MM: Final = 0.01  # a tenth of the best sigma
STUDENT_NU: Final = 4.0  # degrees of freedom of the residuals' distribution
GRAIN: Final = 0.05  # wood grain and wear: residual light in proportion to the light
READ_VARIANCE: Final = 2.0  # light units squared: coding and read noise
SHOT_GAIN: Final = 0.05  # photon noise: variance per unit of light
# Neighbouring pixels share colour mosaic, coding and grain: so many of them count for one that is independent.
CORRELATION: Final = 4.0
FOOT_SIGMA_MM: Final = 0.4  # contact shadow and reflection blur where the wall ends
FREE_MM2: Final = 1e-6  # prior precision of x and y: none
# Discs are hard: none reaches into a rail or into another disc. How far the rails' place in the lines' frame, and a neighbour's
# place while it is being fitted, may be off, in the fit's own (optimistic) sigmas, mm.
RAIL_SIGMA_MM: Final = 0.08
TOUCH_SIGMA_MM: Final = 0.15
DEEPEST_MM: Final = 2.0  # what a disc seems to reach into further is itself not where it was taken to be
NEAR_MM: Final = 62.0  # discs whose axes are further apart share no pixel of a patch
LEAST_PIXELS: Final = 60  # below this hardly a fifth of a piece is in view at the coarsest scale


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted disc: axis on z = 0, sizes, covariance (2, 2) of the axis in mm², and how well the solid explains the patch.

    `scale` is the residual's ratio to the noise model; `kept` the mean robust weight, 0..1; `pixels` the number used; `cost` the
    mean robust cost of a pixel, to compare fits of one patch from different starts; `hole` the hole's contrast in sigmas of a pixel.
    `apart_mm` (2,): where the hole alone would put the axis less where the rim alone would, with its covariance (2, 2); `free`
    (2, 2): shift of the place by a shift of all that is seen; less than one where a rail or a neighbour holds it; `sharp_mm` one
    sigma per axis from the light alone, small where the solid's curves lie on edges of the picture.
    """

    x_mm: float
    y_mm: float
    radius_mm: float
    height_mm: float
    foot_mm: float
    covariance: Array
    scale: float
    kept: float
    pixels: int
    cost: float
    hole: float
    apart_mm: Array
    apart_covariance: Array
    free: Array
    sharp_mm: float

    @property
    def sigma_mm(self) -> float:
        """One sigma per axis of the place, from the residual scatter alone."""
        return float(np.sqrt(np.trace(self.covariance) / 2))


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another disc whose pixels don't belong to the one being fitted; `base_mm` is the height it lies at."""

    x_mm: float
    y_mm: float
    kind: str
    base_mm: float = 0.0


def hidden_by(rays: Rays, neighbours: list[Neighbour], grow_mm: float) -> NDArray[np.bool_]:
    """Which lines of sight pass within `grow_mm` of a neighbour's solid, (N,)."""
    hidden = np.zeros(len(rays.floor_mm), dtype=np.bool_)
    for other in neighbours:
        solid = solid_of(other.kind)
        state = np.array([other.x_mm, other.y_mm, solid.radius_mm, solid.height_mm, FOOT_MM])
        hidden |= outline_distance(_raised(rays, other.base_mm), state) < grow_mm
    return hidden


def _raised(rays: Rays, base_mm: float) -> Rays:
    """The same lines of sight above a surface `base_mm` higher than the table."""
    return replace(rays, floor_mm=rays.floor_mm + rays.slope * base_mm) if base_mm else rays


def _weights(model: Array, residual: Array) -> tuple[Array, Array, float, float]:
    """Robust weight (N,) 0..1, full weight (N,), scale and mean cost."""
    level = np.maximum(model, 1.0)
    expected = np.sqrt(READ_VARIANCE + SHOT_GAIN * level + (GRAIN * level) ** 2)
    ratio = np.abs(residual) / expected
    scale = 1.4826 * float(np.median(ratio)) + 0.05
    keep = (1 + (ratio / scale) ** 2 / STUDENT_NU) ** -1.5
    return keep, keep / (expected * scale) ** 2, scale, float(np.log1p(ratio**2 / STUDENT_NU).mean())


def _near_curves(shape: Curves) -> NDArray[np.intp]:
    """Pixels that say something about the place: near the outline, the rounded edge or the hole."""
    near_rim = (shape.outline.distance < BAND_MM) & (shape.face.distance > -BAND_MM)
    return np.flatnonzero(near_rim | (shape.hole.distance < HOLE_BAND_MM))


@dataclass(frozen=True, slots=True)
class Room:
    """What a disc can't reach into: rails where `railed`, and flat neighbours at `places` (N, 2) with `radii` (N,), mm."""

    railed: bool
    places: Array
    radii: Array

    def press(self, state: Array) -> tuple[Array, Array]:
        """Information (5, 5) and pull (5,) of everything that a disc with `state` reaches into."""
        information, pull = np.zeros((STATE, STATE)), np.zeros(STATE)
        apart = state[:2] - self.places
        distance = np.hypot(apart[:, 0], apart[:, 1]) + 1e-9
        depth = [state[2] + self.radii - distance]
        away = [apart / distance[:, None]]
        sigma = [np.full(len(distance), TOUCH_SIGMA_MM)]
        if self.railed:
            depth.append(np.abs(state[:2]) + state[2] - HALF_MM)
            away.append(np.diag(-np.sign(state[:2])))
            sigma.append(np.full(2, RAIL_SIGMA_MM))
        for into, direction, doubt in zip(np.concatenate(depth), np.concatenate(away), np.concatenate(sigma), strict=True):
            if 0 < into < DEEPEST_MM:
                way = np.array([*direction, -1.0, 0.0, 0.0]) / doubt
                information += np.outer(way, way)
                pull += way * (into / doubt)
        return information, pull


def _room(neighbours: list[Neighbour], base_mm: float) -> Room:
    beside = [other for other in neighbours if other.base_mm == base_mm]
    places = np.array([(other.x_mm, other.y_mm) for other in beside]).reshape(-1, 2)
    return Room(base_mm == 0.0, places, np.array([solid_of(other.kind).radius_mm for other in beside]))


@dataclass(frozen=True, slots=True)
class Manner:
    """How a fit is made.

    `base_mm`: height of the surface that the disc lies on (0 table, 25 rail, 12 another piece). `stride`: use every n-th pixel of
    both directions, quicker, for a first look in large pictures. `stiff`: above 1 the appearance is less free: a wrong place can't be
    explained away, a right one is less exact. `foot_mm`: where the wall is expected to end above the table; below it where the lacquer
    mirrors it. `margin_mm`: how far around a neighbour pixels are left out; negative where the neighbours' places are rough themselves.
    `steps`: most steps to take. `converged_mm`: a step shorter than this is the last.
    """

    base_mm: float = 0.0
    stride: int = 1
    stiff: float = 1.0
    foot_mm: float = FOOT_MM
    margin_mm: float = 1.0
    steps: int = MAX_STEPS
    converged_mm: float = CONVERGED_MM


EXACT: Final = Manner()

Steps = Generator[None, None, Fit | None]


def fit_disc(
    image: NDArray[np.uint8],
    camera: Camera,
    x_mm: float,
    y_mm: float,
    kind: str,
    neighbours: list[Neighbour] | None = None,
    manner: Manner = EXACT,
) -> Fit | None:
    """Fit the solid of one disc near a predicted place.

    Parameters
    ----------
    image
        uint8 BGR (height, width, 3).
    camera
        Calibrated camera of that picture.
    x_mm, y_mm
        Predicted axis on the table plane, mm; some millimetres off is near enough.
    kind
        red, black or striker; only its size is used.
    neighbours
        Discs whose pixels are left out.
    manner
        How closely, and on what surface.

    Returns
    -------
    Fit | None
        None when too little of the disc lies in the picture.
    """
    return _drained(fit_in_steps(image, camera, x_mm, y_mm, kind, neighbours, manner))


def fit_in_steps(
    image: NDArray[np.uint8],
    camera: Camera,
    x_mm: float,
    y_mm: float,
    kind: str,
    neighbours: list[Neighbour] | None = None,
    manner: Manner = EXACT,
) -> Steps:
    """The same fit, one step at each `next`, for who has only some milliseconds at a time; it returns what `fit_disc` does.

    The picture is read before the first step and not needed any more after it.
    """
    solid = solid_of(kind)
    rays = rays_around(camera, x_mm, y_mm, solid.radius_mm + BAND_MM + 3.0, manner.base_mm + solid.height_mm / 2, manner.stride)
    if rays is None:
        return None
    light = to_brightness(rays.cut(image))
    if neighbours:
        clear = np.flatnonzero(~hidden_by(rays, neighbours, manner.margin_mm))
        rays, light = rays.only(clear), light[clear]
    # Where neighbours' places are rough, they say little about where they touch.
    room = _room(neighbours or [] if manner.margin_mm >= 0 else [], manner.base_mm)
    return (yield from _solve(_raised(rays, manner.base_mm), light, solid, np.array([x_mm, y_mm]), room, manner))


def _solve(rays: Rays, light: Array, solid: Solid, start_mm: Array, room: Room, manner: Manner) -> Steps:
    prior = np.array([*start_mm, solid.radius_mm, solid.height_mm, manner.foot_mm])
    precision = np.array([FREE_MM2, FREE_MM2, solid.radius_sigma_mm**-2, solid.height_sigma_mm**-2, FOOT_SIGMA_MM**-2])
    state = prior.copy()
    weights = np.ones(len(light))  # kept for every pixel, as the chosen ones change from step to step
    information = np.diag(precision)
    scale = kept = cost = hole = 0.0
    used = 0
    for step_number in range(manner.steps):
        blur = BLUR_PX * rays.mm_per_px * (COARSE_FACTOR if step_number < COARSE_STEPS else 1.0)
        blur = float(np.hypot(blur, ROUNDING_BLUR_MM))
        chosen = _near_curves(curves(rays, state, solid.hole_radius_mm))
        if len(chosen) * rays.stride**2 < LEAST_PIXELS:
            return None
        shape = curves(rays.only(chosen), state, solid.hole_radius_mm)
        model = design(shape, solid.radius_mm, solid.hole_radius_mm, blur, manner.stiff)
        matrix, observed, weight = model.matrix, light[chosen], weights[chosen]
        for _ in range(3 if step_number == 0 else 1):
            used_weight = weight
            weighted = matrix * used_weight[:, None]
            normal = weighted.T @ matrix + model.ridge * float(used_weight.mean())
            levels = np.asarray(np.linalg.solve(normal, weighted.T @ observed), dtype=np.float64)
            residual = observed - matrix @ levels
            keep, weight, scale, cost = _weights(observed - residual, residual)
        gradient = light_gradient(shape, model, levels, blur)
        gradient = gradient - matrix @ np.linalg.solve(normal, weighted.T @ gradient)
        root = np.sqrt(used_weight)
        gradient = gradient * root[:, None]
        pressed, push = room.press(state)
        information = gradient.T @ gradient / CORRELATION + np.diag(precision) + pressed
        pull = gradient.T @ (residual * root) / CORRELATION + precision * (prior - state) + push
        step = np.linalg.solve(information, pull)
        length = float(np.hypot(step[0], step[1]))
        state = state + step * min(1.0, STEP_LIMIT_MM / max(length, 1e-9))
        weights[chosen] = weight
        hole = hole_contrast(shape, model, levels, weight, blur)
        kept, used = float(keep.mean()), len(chosen)
        if length < manner.converged_mm and step_number > COARSE_STEPS:
            break
        yield
    at_hole = shape.face_distance < (solid.radius_mm + solid.hole_radius_mm) / 2
    known, known_pull = np.diag(precision), precision * (prior - state)
    apart, apart_covariance = _apart(gradient, residual * root, at_hole, known, known_pull)
    inverse = np.linalg.inv(information)
    free = (inverse @ (information - pressed))[:2, :2]
    sharp = float(np.sqrt(np.trace(np.linalg.inv(information - pressed)[:2, :2]) / 2))
    x, y, radius, height, foot = map(float, state)
    return Fit(x, y, radius, height, foot, inverse[:2, :2], scale, kept, used, cost, hole, apart, apart_covariance, free, sharp)


def _drained(steps: Steps) -> Fit | None:
    while True:
        try:
            next(steps)
        except StopIteration as done:
            found: Fit | None = done.value
            return found


def _apart(gradient: Array, residual: Array, at_hole: NDArray[np.bool_], known: Array, known_pull: Array) -> tuple[Array, Array]:
    """Where the hole's pixels alone would move the axis less where the rim's would, (2,), and its covariance (2, 2)."""
    hole, rim = gradient[at_hole], gradient[~at_hole]
    hole_inverse = np.linalg.inv(hole.T @ hole / CORRELATION + known)
    rim_inverse = np.linalg.inv(rim.T @ rim / CORRELATION + known)
    by_hole = hole_inverse @ (hole.T @ residual[at_hole] / CORRELATION)
    by_rim = rim_inverse @ (rim.T @ residual[~at_hole] / CORRELATION + known_pull)
    return (by_hole - by_rim)[:2], (hole_inverse + rim_inverse)[:2, :2]
