"""How far the calibration's own uncertainty moves a table point: the part of a disc's sigma that no fit of the disc can see."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Calibration

Array = NDArray[np.float64]


def table_covariance_mm2(calibration: Calibration, x_mm: float, y_mm: float, height_mm: float = 0.0) -> Array:
    """Covariance (2, 2) in mm² of where a pixel that shows (x, y, height) lands on that height, from the pose's covariance.

    Zero where the calibration carries no covariance.
    """
    if calibration.covariance is None:
        return np.zeros((2, 2))
    jacobian = _jacobian(_key(calibration), x_mm, y_mm, height_mm)
    covariance = jacobian @ np.array(calibration.covariance, dtype=np.float64) @ jacobian.T
    return np.asarray((covariance + covariance.T) / 2)


def table_sigma_mm(calibration: Calibration, x_mm: float, y_mm: float, height_mm: float = 0.0) -> float:
    """One number for `table_covariance_mm2`: the root of its mean eigenvalue, as for a circular Gaussian."""
    return float(np.sqrt(np.trace(table_covariance_mm2(calibration, x_mm, y_mm, height_mm)) / 2))


def _key(calibration: Calibration) -> tuple[float, ...]:
    return (*calibration.rvec, *calibration.tvec)


@lru_cache(maxsize=4096)
def _jacobian(pose: tuple[float, ...], x_mm: float, y_mm: float, height_mm: float) -> Array:
    """d(x, y) on the plane z = height per rvec, tvec, for the ray that shows the point; the lens does not enter."""
    start = np.array(pose)
    point = np.array([x_mm, y_mm, height_mm])
    ray = _camera_point(start, point)
    out = np.empty((2, 6))
    steps = (1e-6, 1e-6, 1e-6, 1e-3, 1e-3, 1e-3)
    for i, step in enumerate(steps):
        ends = []
        for sign in (1, -1):
            moved = start.copy()
            moved[i] += sign * step
            ends.append(_meet(moved, ray, height_mm))
        out[:, i] = (ends[0] - ends[1]) / (2 * step)
    return out


def _rotation(pose: Array) -> Array:
    angle = float(np.linalg.norm(pose[:3]))
    axis = pose[:3] / angle if angle else np.array([1.0, 0, 0])
    cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    rotation: Array = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    return rotation


def _camera_point(pose: Array, point_mm: Array) -> Array:
    moved: Array = _rotation(pose) @ point_mm + pose[3:]
    return moved


def _meet(pose: Array, ray: Array, height_mm: float) -> Array:
    rotation = _rotation(pose)
    centre = -rotation.T @ pose[3:]
    direction = rotation.T @ ray
    scale = (height_mm - centre[2]) / direction[2]
    met: Array = centre[:2] + scale * direction[:2]
    return met
