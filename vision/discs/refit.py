"""Quick follow-up of discs whose place is nearly known: the outline's edge along its normals, all discs in one go.

For tracking at the camera's rate. Each disc is looked at along a few dozen normals of its outline; the edge's place is where the
area under the profile says it is, which needs no search and no smoothing (Tabatabai and Mitchell 1984, one step edge of unknown
levels). What `fit_disc` gains by looking at hole, wall and face is left out here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration import Camera
from vision.discs.rays import LINEAR_LIGHT
from vision.discs.regions import FOOT_MM
from vision.discs.solid import EDGE_ROUNDING_MM, Solid, solid_of, unit_circle

Array = NDArray[np.float64]

NORMALS: Final = 32  # per disc: about one every three pixels of a piece's outline at 1456 x 1088
HALF_STEPS: Final = 6  # samples on either side of the expected edge
STEP_MM: Final = 0.55  # half a pixel at 1456 x 1088: reaches 3.3 mm, more than a frame's prediction error at rest or rolling
LEVEL_SAMPLES: Final = 3  # outermost samples on each side that give the levels inside and outside
PASSES: Final = 2  # the second pass looks from the first one's place
LEAST_CONTRAST: Final = 6.0  # linear light, 0..255: below this a normal says nothing
FOOT_SHARE: Final = 0.4  # the lower edge lies in its own contact shadow: weight against the upper edge
SCATTER_LIMIT_MM: Final = 0.6  # Huber limit of a normal's deviation
LEAST_SIGMA_MM: Final = 0.05  # floor: edge rounding, turning tolerance
_DIRECTIONS: Final = unit_circle(NORMALS)
_OFFSETS: Final = np.arange(-HALF_STEPS, HALF_STEPS + 1) * STEP_MM


@dataclass(frozen=True, slots=True)
class Refits:
    """Results for N discs: `centres_mm` (N, 2), `sigma_mm` (N,) per axis, `quality` (N,) share of the outline that shows an edge."""

    centres_mm: Array
    sigma_mm: Array
    quality: Array


def _edge_rings(camera: Camera, centres: Array, radius: Array, top: Array) -> tuple[Array, NDArray[np.bool_]]:
    away = centres - camera.centre_mm[:2]
    upper = (away @ _DIRECTIONS.T) > 0  # toward the camera's foot the wall is seen and the outline is the lower edge
    points = np.empty((len(centres), NORMALS, 3))
    points[:, :, :2] = centres[:, None] + radius[:, None, None] * _DIRECTIONS
    points[:, :, 2] = np.where(upper, top[:, None], FOOT_MM)
    return points, upper


def refit_many(image: NDArray[np.uint8], camera: Camera, centres_mm: ArrayLike, kinds: list[str]) -> Refits:
    """Refit N flat discs near predicted places.

    Parameters
    ----------
    image
        uint8 BGR (height, width, 3).
    camera
        Calibrated camera of that picture.
    centres_mm
        Predicted axes on the table plane, (N, 2) mm; right to about 2 mm.
    kinds
        Kind of each disc; only its size is used.

    Returns
    -------
    Refits
        With quality 0 the place is the predicted one.
    """
    centres = np.array(centres_mm, dtype=np.float64).reshape(-1, 2)
    number = len(centres)
    if not number:
        return Refits(centres, np.zeros(0), np.zeros(0))
    solids: list[Solid] = [solid_of(kind) for kind in kinds]
    radius = np.array([solid.radius_mm for solid in solids])
    top = np.array([solid.height_mm - EDGE_ROUNDING_MM for solid in solids])
    sigma = np.full(number, np.inf)
    quality = np.zeros(number)
    for _ in range(PASSES):
        points, upper = _edge_rings(camera, centres, radius, top)
        # Pixel per mm along each normal, from a second ring one millimetre further out.
        outer = points + np.concatenate([np.broadcast_to(_DIRECTIONS, points.shape[:2] + (2,)), np.zeros(points.shape[:2] + (1,))], axis=2)
        px = camera.to_px(np.concatenate([points.reshape(-1, 3), outer.reshape(-1, 3)]))
        base, normal = px[: len(px) // 2], px[len(px) // 2 :] - px[: len(px) // 2]
        where = base[:, None] + normal[:, None] * _OFFSETS[:, None]
        maps = where.astype(np.float32)
        sampled = cv2.remap(image, maps[:, :, 0], maps[:, :, 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        light = cv2.LUT(sampled, LINEAR_LIGHT)
        inside = light[:, :LEVEL_SAMPLES].mean(axis=1)
        outside = light[:, -LEVEL_SAMPLES:].mean(axis=1)
        step = outside - inside
        contrast = np.sqrt((step**2).sum(axis=1)) + 1e-6
        share = np.einsum("nkc,nc->nk", outside[:, None] - light, step) / contrast[:, None] ** 2  # 1 inside, 0 outside
        shift = (share.clip(-0.5, 1.5).sum(axis=1) - 0.5) * STEP_MM + _OFFSETS[0]
        weight = np.clip(contrast - LEAST_CONTRAST, 0, None) / (contrast + 20.0)
        weight = weight.reshape(number, NORMALS) * np.where(upper, 1.0, FOOT_SHARE)
        shift = shift.reshape(number, NORMALS)
        moved = np.zeros((number, 3))
        for _round in range(3):
            left = shift - moved[:, :2] @ _DIRECTIONS.T - moved[:, 2:]
            robust = weight / np.maximum(1.0, np.abs(left) / SCATTER_LIMIT_MM) ** 2
            columns = np.concatenate([_DIRECTIONS, np.ones((NORMALS, 1))], axis=1)
            normal_matrix = np.einsum("nk,ki,kj->nij", robust, columns, columns) + np.diag([1e-3, 1e-3, 40.0])
            right = np.einsum("nk,ki,nk->ni", robust, columns, shift)
            moved = np.linalg.solve(normal_matrix, right[:, :, None])[:, :, 0]
        length = np.hypot(moved[:, 0], moved[:, 1])
        far = length > -_OFFSETS[0]
        moved[far] = 0.0
        centres = centres + moved[:, :2]
        left = shift - moved[:, :2] @ _DIRECTIONS.T - moved[:, 2:]
        total = robust.sum(axis=1) + 1e-9
        scatter = np.sqrt((robust * left**2).sum(axis=1) / total)
        inverse = np.linalg.inv(normal_matrix)
        sigma = np.sqrt(LEAST_SIGMA_MM**2 + scatter**2 * (inverse[:, 0, 0] + inverse[:, 1, 1]) / 2 * 4.0)
        quality = np.where(far, 0.0, (robust > 0.2 * np.where(upper, 1.0, FOOT_SHARE)).mean(axis=1))
    return Refits(centres, sigma, quality)


def refit(image: NDArray[np.uint8], camera: Camera, x_mm: float, y_mm: float, kind: str) -> tuple[float, float, float, float]:
    """One disc's x, y, sigma in mm and quality 0..1; see `refit_many`, which costs hardly more for all discs of a frame."""
    found = refit_many(image, camera, [(x_mm, y_mm)], [kind])
    return float(found.centres_mm[0, 0]), float(found.centres_mm[0, 1]), float(found.sigma_mm[0]), float(found.quality[0])
