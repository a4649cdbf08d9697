"""How one disc looks from this camera at one place: centre, local scale, and the shift between its two faces.

Within the few centimetres around a disc the camera is taken as affine on the plane of the upper face; over 25 mm the lens bends
that by under 0.02 px, and what is left is the same on both sides of the disc.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from rules.table import Kind, hole_radius_mm, radius_mm, thickness_mm

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Shape:
    """A disc as a solid: radii of rim and hole, height of the upper face, mm."""

    radius_mm: float
    hole_mm: float
    height_mm: float


def shape_of(kind: Kind) -> Shape:
    """Nominal solid of a kind (25.1, 26.1)."""
    return Shape(radius_mm(kind), hole_radius_mm(kind), thickness_mm(kind))


@dataclass(frozen=True, slots=True)
class Outline:
    """Local view of a disc with its axis at `axis_mm` on the table plane.

    `centre_px` (2,): centre of the upper face. `to_px` (2, 2): mm on the face's plane -> px; `to_mm` its inverse.
    `lean_mm` (2,): where the lower face's centre appears on the upper face's plane, relative to the upper face's centre.
    """

    axis_mm: Array
    shape: Shape
    centre_px: Array
    to_px: Array
    to_mm: Array
    lean_mm: Array

    @property
    def px_per_mm(self) -> float:
        """Local scale, geometric mean of the two directions."""
        return float(np.sqrt(abs(np.linalg.det(self.to_px))))


def outline_at(camera: Camera, axis_mm: Array, shape: Shape) -> Outline:
    """Project a disc of this shape at an axis position (2,) mm."""
    x, y = float(axis_mm[0]), float(axis_mm[1])
    h = shape.height_mm
    px = camera.to_px([[x, y, h], [x + 1.0, y, h], [x, y + 1.0, h]])
    to_px = np.stack([px[1] - px[0], px[2] - px[0]], axis=1)
    eye = camera.centre_mm
    lean = (eye[:2] - np.array([x, y])) * h / eye[2]
    return Outline(np.array([x, y]), shape, px[0], to_px, np.linalg.inv(to_px), lean)
