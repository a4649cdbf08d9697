"""Where a disc was at the middle of the exposure: its blurred picture fitted against the table without it.

The picture of a disc is modelled as an average over the exposure of four regions with one grey level each: upper face, hole, visible side
wall, and the table around, which is darkened by whatever shadow is measured just outside the outline. Levels are solved in each
round, so no template has to survive the lamps' gradient across the table; only the centre is iterated (Gauss-Newton,
robust weights, centre and levels in one step).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from vision.motion.outline import Outline

F32 = NDArray[np.float32]
Image = NDArray[np.uint8]

BRIGHTNESS: Final = np.array([0.25, 0.5, 0.25], np.float32)  # blue, green, red: the Bayer mix, least noise
_EDGE_PX: Final = 2.4  # width of an edge in the picture: the pixel itself and lens blur of about 0.7 px on either side
_REACH_MM: Final = 3.0  # how far outside the outline the table is looked at for shadows: past the blurred edge, before the next disc
_SETTLED_MM: Final = 0.15  # a round that moves the centre less than this is the last: half the systematic error
_EAGER: Final = 1.5  # edges that are off by more than their width pull too little; measured: this saves a third of the rounds
_PATIENCE_ROUNDS: Final = 2  # rounds after which a fit that explains next to nothing is given up
_HOPELESS: Final = 0.5  # share of explained pixels
_SHADE_ROUNDS: Final = 2  # rounds in which the shadow around the disc is read anew
_STEP_MM: Final = 4.0  # longest move in one round: a fifth of a piece, beyond it the linearisation says nothing
_NOISE_LEVELS: Final = 10.0  # grey levels; residuals of noise, grain and coding that deserve full weight
_CONTRAST_SHARE: Final = 0.3  # part of the disc's contrast by which edges may be off (bevels, shading) before they lose weight
_OUTLIER: Final = 0.3  # weight under which a pixel counts as not explained


@dataclass(frozen=True, slots=True)
class Fit:
    """Result of one fit.

    `axis_mm` (2,): axis on the table plane. `explained`: share of the disc's pixels that the model explains, 0..1.
    `face`, `hole`: grey levels found. `gain`: how much better disc and table together explain the pixels than the bare table does, 0..1.
    `sigma_mm`: from residuals and curvature, without lens and pose.
    """

    axis_mm: NDArray[np.float64]
    explained: float
    face: float
    hole: float
    gain: float
    sigma_mm: float


def level_at(picture: Image, outline: Outline) -> float:
    """Mean brightness of a picture over a disc's face, grey levels."""
    reach = max(int(outline.shape.radius_mm * outline.px_per_mm), 2)
    x, y = np.rint(outline.centre_px).astype(int)
    part = picture[max(y - reach, 0) : y + reach : 3, max(x - reach, 0) : x + reach : 3]
    return float((part.reshape(-1, 3) @ BRIGHTNESS).mean()) if part.size else 0.0


def fit_smear(
    image: Image,
    clean: Image,
    camera: Camera,
    outline: Outline,
    smear_mm: NDArray[np.float64],
    weights: F32,
    rounds: int = 8,
    shear_mm: NDArray[np.float64] | None = None,
    least_hole: float = -np.inf,
) -> Fit | None:
    """Fit a disc's centre near `outline`.

    Parameters
    ----------
    image, clean : uint8 (H, W, 3), the frame and the same table without this disc.
    outline : where to start.
    smear_mm : (2,) way of the disc during the exposure.
    weights : (3,) mix of the colour channels to one grey value.
    rounds : most rounds; a fit that still moves then has not found a disc.
    shear_mm : (2,) way of the disc from the exposure of one row to that of the next, through a rolling shutter.
    least_hole : grey levels by which the hole is darker than the face; a fit whose hole does not show half of that by then is given up.

    Returns
    -------
    None where the disc would lie outside the picture or the fit does not hold together.
    """
    shape, to_px, to_mm = outline.shape, outline.to_px, outline.to_mm
    lean = outline.lean_mm.astype(np.float32)
    lean2 = float(lean @ lean) + 1e-9
    length = float(np.hypot(*smear_mm))
    steps = 1 if length < 1.0 else 3
    offsets = ((np.arange(steps) + 0.5) / steps - 0.5)[:, None] * smear_mm[None]
    width = np.float32(max(_EDGE_PX / outline.px_per_mm, length / steps))
    half = (shape.radius_mm + _REACH_MM + 2.0) * outline.px_per_mm + np.abs(to_px @ smear_mm) / 2 + np.abs(to_px @ outline.lean_mm)
    low = np.maximum(np.floor(outline.centre_px - half), 0).astype(int)
    high = np.minimum(np.ceil(outline.centre_px + half) + 1, (image.shape[1], image.shape[0])).astype(int)
    if np.any(high - low < 8):
        return None
    (x0, y0), (x1, y1) = low, high
    columns = int(x1 - x0)
    grey = (image[y0:y1, x0:x1].reshape(-1, 3) @ weights).astype(np.float32)
    table = (clean[y0:y1, x0:x1].reshape(-1, 3) @ weights).astype(np.float32)
    bright, lit = grey, table
    if float(weights.min()) < 0:  # a tint: shadows are read in brightness all the same
        bright = (image[y0:y1, x0:x1].reshape(-1, 3) @ BRIGHTNESS).astype(np.float32)
        lit = (clean[y0:y1, x0:x1].reshape(-1, 3) @ BRIGHTNESS).astype(np.float32)
    gx, gy = np.meshgrid(np.arange(x0, x1, dtype=np.float32), np.arange(y0, y1, dtype=np.float32))
    start = outline.centre_px
    at = to_mm.astype(np.float32) @ np.stack([gx.ravel() - start[0], gy.ravel() - start[1]]).astype(np.float32)
    if shear_mm is not None:
        at = at - shear_mm.astype(np.float32)[:, None] * (gy.ravel() - np.float32(start[1]))[None]
    moved = np.zeros(2)
    radius, hole = np.float32(shape.radius_mm), np.float32(shape.hole_mm)
    weight: F32 = np.ones(len(grey), np.float32)
    shade: F32 = weight
    result: tuple[float, ...] = ()
    for turn in range(rounds):
        fx = (at[0] - moved[0])[None] - offsets[:, :1].astype(np.float32)
        fy = (at[1] - moved[1])[None] - offsets[:, 1:].astype(np.float32)
        fx, fy = fx.astype(np.float32), fy.astype(np.float32)
        far = np.sqrt(fx * fx + fy * fy) + np.float32(1e-6)
        along = np.clip((fx * lean[0] + fy * lean[1]) / np.float32(lean2), 0, 1)
        hx, hy = fx - along * lean[0], fy - along * lean[1]
        hull = np.sqrt(hx * hx + hy * hy) + np.float32(1e-6)
        face_part = np.clip(0.5 - (far - radius) / width, 0, 1)
        hole_part = np.clip(0.5 - (far - hole) / width, 0, 1)
        hull_part = np.clip(0.5 - (hull - radius) / width, 0, 1)
        slope_face = ((face_part > 0) & (face_part < 1)) / (far * width * steps)
        slope_hole = ((hole_part > 0) & (hole_part < 1)) / (far * width * steps)
        slope_hull = ((hull_part > 0) & (hull_part < 1)) / (hull * width * steps)
        in_face, in_hole, in_hull = face_part.mean(0), hole_part.mean(0), hull_part.mean(0)
        in_side = np.maximum(in_hull - in_face, 0)
        in_face = in_face - in_hole
        if turn < _SHADE_ROUNDS:  # kept after that: read at whole pixels, it would keep the fit from settling
            shade = _shade(bright, lit, hx.mean(0), hy.mean(0), to_px, radius, length, (gx.ravel() - x0, gy.ravel() - y0), columns)
        around = table * shade
        target = grey - (1 - in_hull) * around
        parts = np.stack([in_face, in_hole, in_side])
        core = in_face > 0.9
        if not core.any():
            core = in_face >= in_face.max() * 0.9
        guess = float(np.median(grey[core]))
        weighted = parts * weight
        # Hole and side are a few pixels: weakly tied to plausible shares of the face's level.
        levels = np.linalg.solve(
            weighted @ parts.T + np.diag([1e-3, 1.0, 1.0]), weighted @ target + np.array([0.0, 0.5, 0.8]) * guess
        ).astype(np.float32)
        residual = target - levels @ parts
        contrast = float(np.abs(levels[0] - around.mean()))
        limit = _NOISE_LEVELS + _CONTRAST_SHARE * contrast
        weight = (1 / (1 + (residual / limit) ** 2)).astype(np.float32)
        grad_x = _gradient(fx, hx, slope_face, slope_hole, slope_hull, levels, around)
        grad_y = _gradient(fy, hy, slope_face, slope_hole, slope_hull, levels, around)
        # Centre and levels are stepped together: alternating between them creeps.
        slopes = np.stack([grad_x, grad_y, *parts])
        leant = slopes * weight
        normal = (leant @ slopes.T).astype(np.float64) + np.diag([1e-2, 1e-2, 1e-3, 1.0, 1.0])
        inverse = np.linalg.inv(normal)
        step = _EAGER * (inverse @ (leant @ residual))[:2]
        moved = moved + np.clip(step, -_STEP_MM, _STEP_MM)
        settled = float(np.abs(step).max()) < _SETTLED_MM
        inside = in_hull > 0.5
        if not inside.any():
            return None
        explained = float((weight[inside] > _OUTLIER).mean())
        bare = grey - around
        near = in_hull > 0.05
        gain = 1.0 - float((residual[near] ** 2).sum()) / (float((bare[near] ** 2).sum()) + 1.0)
        noise = float(np.sqrt((weight * residual**2).sum() / weight.sum()))
        sigma = noise * float(np.sqrt(np.trace(inverse[:2, :2]) / 2))
        result = (explained, float(levels[0]), float(levels[1]), gain, sigma)
        if settled and turn > 0:
            break
        if turn >= _PATIENCE_ROUNDS and (explained < _HOPELESS or levels[0] - levels[1] < least_hole / 2):
            return None
    else:
        return None
    if shear_mm is not None:  # the centre in its own row
        moved = moved + shear_mm * ((to_px @ moved)[1] / (1 - (to_px @ shear_mm)[1]))
    centre = start + to_px @ moved
    axis = camera.to_mm(centre[None], shape.height_mm)[0]
    explained, face, dark, gain, sigma = result
    return Fit(axis, explained, face, dark, gain, sigma)


def _gradient(offset: F32, hull_offset: F32, slope_face: F32, slope_hole: F32, slope_hull: F32, levels: F32, around: F32) -> F32:
    """Change of the model's picture for 1 mm of the centre along one axis."""
    face = (offset * slope_face).sum(0)
    hole = (offset * slope_hole).sum(0)
    hull = (hull_offset * slope_hull).sum(0)
    out: F32 = (face - hole) * levels[0] + hole * levels[1] + (hull - face) * levels[2] - hull * around
    return out


def _shade(
    grey: F32,
    table: F32,
    hx: F32,
    hy: F32,
    to_px: NDArray[np.float64],
    radius: np.float32,
    length: float,
    at_px: tuple[F32, F32],
    columns: int,
) -> F32:
    """Brightness relative to the clean table, read just outside the outline in the direction of every pixel."""
    far = np.sqrt(hx * hx + hy * hy) + np.float32(1e-6)
    reach = np.clip(radius + length / 2 + _REACH_MM - far, _REACH_MM / 2, 2 * _REACH_MM + length) / far
    rows = len(grey) // columns
    px = np.clip(np.rint(at_px[0] + (to_px[0, 0] * hx + to_px[0, 1] * hy) * reach), 0, columns - 1).astype(np.intp)
    py = np.clip(np.rint(at_px[1] + (to_px[1, 0] * hx + to_px[1, 1] * hy) * reach), 0, rows - 1).astype(np.intp)
    where = py * columns + px
    out: F32 = np.clip(grey[where] / (table[where] + 1), 0.2, 4.0)
    return out
