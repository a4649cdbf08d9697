"""A disc as a solid: its sizes, its rings and its outline in the picture.

The picture shows a turned cylinder with rounded edges standing on z = 0; its axis is what the rules ask for. Every ring here is
a circle about that axis at a stated height, so projecting it with the calibrated camera needs no further correction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration import Camera
from rules.table import (
    PIECE_DIAMETER_MM,
    PIECE_HOLE_MM,
    PIECE_THICKNESS_MM,
    STRIKER_DIAMETER_MM,
    STRIKER_HOLE_MM,
    STRIKER_THICKNESS_MM,
    is_striker,
)

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Solid:
    """Sizes of a kind of disc in mm; the sigmas say how much single discs differ from them (25.1, 26.1 and turning tolerance)."""

    radius_mm: float
    height_mm: float
    hole_radius_mm: float
    radius_sigma_mm: float
    height_sigma_mm: float


PIECE: Final = Solid(PIECE_DIAMETER_MM / 2, PIECE_THICKNESS_MM, PIECE_HOLE_MM / 2, radius_sigma_mm=0.06, height_sigma_mm=0.10)
STRIKER: Final = Solid(  # 26.1 allows 44-45 mm by 14-15 mm: a uniform spread of 1 mm has a sigma of 0.29 mm
    STRIKER_DIAMETER_MM / 2, STRIKER_THICKNESS_MM, STRIKER_HOLE_MM / 2, radius_sigma_mm=0.14, height_sigma_mm=0.29
)

# Turned edges are rounded by about this much (mm): seen aslant, the outline runs through the widest point, which lies below the face.
EDGE_ROUNDING_MM: Final = 1.2


def solid_of(kind: str) -> Solid:
    """The nominal solid of a kind of disc."""
    return STRIKER if is_striker(kind) else PIECE


def unit_circle(count: int) -> Array:
    """Directions (count, 2) evenly around a circle, starting at +x."""
    angle = np.arange(count) * (2 * np.pi / count)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def rings_px(camera: Camera, centres_mm: ArrayLike, radius_mm: ArrayLike, height_mm: ArrayLike, count: int = 48) -> Array:
    """Project one horizontal ring per disc.

    Parameters
    ----------
    camera
        Where the camera hangs.
    centres_mm
        Axes on the table plane, (N, 2) mm.
    radius_mm, height_mm
        One number, or one per disc (N,), mm.
    count
        Points per ring.

    Returns
    -------
    Array
        Pixels (N, count, 2), starting at the table's +x direction.
    """
    centres = np.asarray(centres_mm, dtype=np.float64).reshape(-1, 2)
    number = len(centres)
    radius = np.broadcast_to(np.asarray(radius_mm, dtype=np.float64), (number,))
    height = np.broadcast_to(np.asarray(height_mm, dtype=np.float64), (number,))
    points = np.empty((number, count, 3))
    points[:, :, :2] = centres[:, None] + radius[:, None, None] * unit_circle(count)
    points[:, :, 2] = height[:, None]
    return camera.to_px(points.reshape(-1, 3)).reshape(number, count, 2)


def outline_px(camera: Camera, x_mm: float, y_mm: float, kind: str, base_mm: float = 0.0, count: int = 48) -> Array:
    """Outline of a disc lying at `base_mm` above the table, as a closed convex polygon (M, 2) in px."""
    solid = solid_of(kind)
    centre = [(x_mm, y_mm)]
    upper = rings_px(camera, centre, solid.radius_mm, base_mm + solid.height_mm - EDGE_ROUNDING_MM, count)[0]
    lower = rings_px(camera, centre, solid.radius_mm, base_mm, count)[0]
    hull = cv2.convexHull(np.concatenate([upper, lower]).astype(np.float32))
    return np.asarray(hull, dtype=np.float64).reshape(-1, 2)


def outlines_px(camera: Camera, centres_mm: ArrayLike, kinds: list[str], count: int = 48) -> list[Array]:
    """Outlines of flat discs, one polygon per disc; two projections for all of them together."""
    solids = [solid_of(kind) for kind in kinds]
    radius = np.array([solid.radius_mm for solid in solids])
    height = np.array([solid.height_mm - EDGE_ROUNDING_MM for solid in solids])
    upper = rings_px(camera, centres_mm, radius, height, count)
    lower = rings_px(camera, centres_mm, radius, 0.0, count)
    both = np.concatenate([upper, lower], axis=1).astype(np.float32)
    return [np.asarray(cv2.convexHull(points), dtype=np.float64).reshape(-1, 2) for points in both]
