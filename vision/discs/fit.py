"""Where one disc is: robust weighted least squares of a solid under the calibrated camera against the patch's light.

Gauss-Newton in x, y, radius and height with the appearance projected out at each step (variable projection, Golub and Pereyra
1973, in Kaufman's form); Student-t weights let chips, grain, glare and fingers lose their say instead of pulling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration import Camera
from vision.discs.appearance import design, light_gradient
from vision.discs.rays import Rays, rays_around, to_light
from vision.discs.regions import FOOT_MM, STATE, curves
from vision.discs.solid import EDGE_ROUNDING_MM, solid_of

Array = NDArray[np.float64]

BLUR_PX: Final = 0.65  # lens, colour mosaic and pixel together, sigma
ROUNDING_BLUR_MM: Final = 0.15  # rounded edges are soft by themselves, sigma
BAND_MM: Final = 3.0  # pixels up to this far outside the outline take part
COARSE_STEPS: Final = 2  # first steps see a softer picture, so that a start some pixels off still feels the edge
COARSE_FACTOR: Final = 2.2
MAX_STEPS: Final = 14
STEP_LIMIT_MM: Final = 1.0
CONVERGED_MM: Final = 1e-3
STUDENT_NU: Final = 4.0  # degrees of freedom of the residuals' distribution
GRAIN: Final = 0.05  # wood grain and wear: residual light in proportion to the light
READ_VARIANCE: Final = 2.0  # light units squared: coding and read noise
SHOT_GAIN: Final = 0.05  # photon noise: variance per unit of light
# Neighbouring pixels share colour mosaic, coding and grain: each counts for this fraction of an independent one.
CORRELATION: Final = 4.0
FREE_MM2: Final = 1e-6  # prior precision of x and y: none


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted disc: axis on z = 0, sizes, covariance (2, 2) of the axis in mm², and how well the solid explains the patch.

    `scale` is the residual's ratio to the noise model; `kept` the mean robust weight, 0..1; `pixels` the number used; `cost` the
    mean robust cost of a pixel, to compare fits of one patch from different starts.
    """

    x_mm: float
    y_mm: float
    radius_mm: float
    height_mm: float
    covariance: Array
    scale: float
    kept: float
    pixels: int
    cost: float

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


def hidden_by(rays: Rays, neighbours: list[Neighbour], grow_mm: float = 1.0) -> NDArray[np.bool_]:
    """Which lines of sight pass within `grow_mm` of a neighbour's solid, (N,)."""
    hidden = np.zeros(len(rays.floor_mm), dtype=np.bool_)
    squared = (rays.slope * rays.slope).sum(axis=1) + 1e-12
    for other in neighbours:
        solid = solid_of(other.kind)
        offset = rays.floor_mm - (other.x_mm, other.y_mm)
        top = other.base_mm + solid.height_mm - EDGE_ROUNDING_MM
        nearest = np.clip(-(offset * rays.slope).sum(axis=1) / squared, other.base_mm + FOOT_MM, top)
        hidden |= np.hypot(*(offset + rays.slope * nearest[:, None]).T) < solid.radius_mm + grow_mm
    return hidden


def _weights(model: Array, residual: Array) -> tuple[Array, Array, float, float]:
    level = np.clip(model.mean(axis=1), 1.0, None)
    expected = np.sqrt(READ_VARIANCE + SHOT_GAIN * level + (GRAIN * level) ** 2)
    ratio = np.sqrt((residual**2).mean(axis=1)) / expected
    scale = 1.4826 * float(np.median(ratio)) + 0.05
    keep = (1 + (ratio / scale) ** 2 / STUDENT_NU) ** -1.5
    return keep, keep / (expected * scale) ** 2, scale, float(np.log1p(ratio**2 / STUDENT_NU).mean())


def fit_disc(
    image: NDArray[np.uint8],
    camera: Camera,
    x_mm: float,
    y_mm: float,
    kind: str,
    neighbours: list[Neighbour] | None = None,
    base_mm: float = 0.0,
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
    base_mm
        Height of the surface that the disc lies on, mm (0 table, 25 rail, 12 another piece).

    Returns
    -------
    Fit | None
        None when too little of the disc lies in the picture.
    """
    solid = solid_of(kind)
    rays = rays_around(camera, x_mm, y_mm, solid.radius_mm + BAND_MM + 3.0, base_mm + solid.height_mm / 2)
    if rays is None:
        return None
    allowed = np.ones(len(rays.floor_mm), dtype=np.bool_)
    if neighbours:
        allowed = ~hidden_by(rays, neighbours)
    if base_mm:
        raised = rays.floor_mm + rays.slope * base_mm
        rays = Rays(rays.left, rays.top, rays.width, rays.height, raised, rays.slope, rays.mm_per_px)
    light = to_light(rays.cut(image))
    prior = np.array([x_mm, y_mm, solid.radius_mm, solid.height_mm])
    precision = np.array([FREE_MM2, FREE_MM2, solid.radius_sigma_mm**-2, solid.height_sigma_mm**-2])
    state = prior.copy()
    predicted: Array | None = None
    scale, kept, used, cost = 1.0, 0.0, 0, np.inf
    information = np.diag(precision)
    for step_number in range(MAX_STEPS):
        blur = BLUR_PX * rays.mm_per_px * (COARSE_FACTOR if step_number < COARSE_STEPS else 1.0)
        blur = float(np.hypot(blur, ROUNDING_BLUR_MM))
        shape = curves(rays, state, solid.hole_radius_mm)
        chosen = np.flatnonzero(allowed & (shape.outline.distance < BAND_MM))
        if len(chosen) < 60:
            return None
        model = design(shape, solid.radius_mm, blur)
        matrix, observed = model.matrix[chosen], light[chosen]
        rounds = 3 if predicted is None else 1
        for _ in range(rounds):
            if predicted is None:
                keep = weight = np.ones(len(chosen), dtype=np.float64)
            else:
                keep, weight, scale, cost = _weights(predicted[chosen], (light - predicted)[chosen])
            weighted = matrix * weight[:, None]
            normal = weighted.T @ matrix + model.ridge * float(weight.mean())
            levels = np.asarray(np.linalg.solve(normal, weighted.T @ observed), dtype=np.float64)
            predicted = np.asarray(model.matrix @ levels, dtype=np.float64)
        assert predicted is not None
        gradient = light_gradient(shape, model, levels, blur)[chosen]
        flat = gradient.reshape(len(chosen), -1)
        flat = flat - matrix @ np.linalg.solve(normal, weighted.T @ flat)
        gradient = flat.reshape(gradient.shape) * np.sqrt(weight)[:, None, None]
        residual = (observed - predicted[chosen]) * np.sqrt(weight)[:, None]
        gradient = gradient.reshape(-1, STATE)
        information = gradient.T @ gradient / CORRELATION + np.diag(precision)
        pull = gradient.T @ residual.reshape(-1) / CORRELATION + precision * (prior - state)
        step = np.linalg.solve(information, pull)
        length = float(np.hypot(step[0], step[1]))
        state = state + step * min(1.0, STEP_LIMIT_MM / max(length, 1e-9))
        kept, used = float(keep.mean()), len(chosen)
        if length < CONVERGED_MM and step_number > COARSE_STEPS:
            break
    covariance = np.linalg.inv(information)[:2, :2]
    return Fit(float(state[0]), float(state[1]), float(state[2]), float(state[3]), covariance, scale, kept, used, cost)
