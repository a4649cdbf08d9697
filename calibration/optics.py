"""The camera while it is still being found: pose and lens as plain vectors, projected without building a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.lens import Lens

Array = NDArray[np.float64]

LENS_NAMES: Final = ("f", "cx", "cy", "k1", "k2", "p1", "p2", "k3")


@dataclass(frozen=True, slots=True)
class View:
    """A pose with a lens: `pose` (6,) = rvec [rad], tvec [mm]; `k_matrix` (3, 3) px; `dist` (5,) k1 k2 p1 p2 k3."""

    pose: Array
    k_matrix: Array
    dist: Array

    def to_px(self, points_mm: Array) -> Array:
        """Table points (..., 3) mm -> pixels (..., 2)."""
        if not points_mm.size:
            return np.zeros((*points_mm.shape[:-1], 2))
        flat = np.ascontiguousarray(points_mm, dtype=np.float64).reshape(-1, 1, 3)
        px, _ = cv2.projectPoints(flat, self.pose[:3], self.pose[3:], self.k_matrix, self.dist)
        return np.asarray(px, dtype=np.float64).reshape(*points_mm.shape[:-1], 2)

    @property
    def centre_mm(self) -> Array:
        """Optical centre in table mm, (3,)."""
        rotation, _ = cv2.Rodrigues(self.pose[:3])
        centre: Array = -np.asarray(rotation, dtype=np.float64).T @ self.pose[3:]
        return centre

    @property
    def tilt_rad(self) -> float:
        """Angle between the optical axis and straight down."""
        rotation, _ = cv2.Rodrigues(self.pose[:3])
        return float(np.arccos(np.clip(-rotation[2, 2], -1.0, 1.0)))

    @property
    def px_per_mm(self) -> float:
        """Scale at the table's centre (geometric mean of the two directions)."""
        px = self.to_px(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]))
        return float(np.sqrt(abs(np.linalg.det(px[1:] - px[0]))))

    def moved(self, pose: Array) -> View:
        """Same lens, another pose."""
        return View(pose, self.k_matrix, self.dist)

    def with_lens(self, values: Array) -> View:
        """Same pose, lens from a vector in the order of LENS_NAMES; the ratio of fx to fy is kept."""
        f, cx, cy, k1, k2, p1, p2, k3 = (float(v) for v in values)
        aspect = self.k_matrix[1, 1] / self.k_matrix[0, 0]
        k_matrix = np.array([[f, 0, cx], [0, f * aspect, cy], [0, 0, 1.0]])
        return View(self.pose, k_matrix, np.array([k1, k2, p1, p2, k3]))

    @property
    def lens_vector(self) -> Array:
        """The lens in the order of LENS_NAMES."""
        return np.array([self.k_matrix[0, 0], self.k_matrix[0, 2], self.k_matrix[1, 2], *self.dist])


def view_of(lens: Lens, pose: Array) -> View:
    """A view through a known lens."""
    return View(np.asarray(pose, dtype=np.float64), lens.k_matrix, lens.dist_coeffs)
