"""How far the calibration's own uncertainty moves a table point: the part of a disc's sigma that no fit of the disc can see."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Calibration
from calibration.fit import LENS_STEPS, POSE_STEPS
from calibration.opencv_adapter import undistorted
from calibration.optics import View

Array = NDArray[np.float64]

GRID_MM: Final = 10.0  # slopes change by less than 2 % over this distance; rounding to it makes the cache hit


def table_covariance_mm2(calibration: Calibration, x_mm: float, y_mm: float, height_mm: float = 0.0) -> Array:
    """Covariance (2, 2) in mm² of where a pixel that shows (x, y, height) is put on that height.

    From the pose's covariance and, where the lens was estimated from the table, the lens's with it: a wrong focal length hardly
    matters at z = 0, which the lines tie down, and does at a disc's upper face. Zero where the calibration carries no covariance.
    """
    given = calibration.joint_covariance if calibration.joint_covariance is not None else calibration.covariance
    if given is None:
        return np.zeros((2, 2))
    known = np.array(given, dtype=np.float64)
    # The record is frozen but holds lists: its numbers are the key.
    key = (*calibration.rvec, *calibration.tvec, *(v for row in calibration.lens.K for v in row), *calibration.lens.dist)
    place = (round(x_mm / GRID_MM) * GRID_MM, round(y_mm / GRID_MM) * GRID_MM, round(height_mm, 1))
    jacobian = _slopes(key, place)[:, : len(known)]
    covariance: Array = jacobian @ known @ jacobian.T
    return (covariance + covariance.T) / 2


def table_sigma_mm(calibration: Calibration, x_mm: float, y_mm: float, height_mm: float = 0.0) -> float:
    """One number for `table_covariance_mm2`: the root of its mean eigenvalue, as for a circular Gaussian."""
    return float(np.sqrt(np.trace(table_covariance_mm2(calibration, x_mm, y_mm, height_mm)) / 2))


@lru_cache(maxsize=8192)
def _slopes(key: tuple[float, ...], place: tuple[float, float, float]) -> Array:
    """d(x, y) per rvec, tvec and lens value (2, 14) of the point that a fixed pixel shows."""
    values = np.array(key)
    view = View(values[:6], values[6:15].reshape(3, 3), values[15:])
    pixel = view.to_px(np.array(place))
    lens0 = view.lens_vector
    out = np.empty((2, 6 + len(lens0)))
    for i, step in enumerate(np.concatenate([POSE_STEPS, LENS_STEPS])):
        ends = []
        for sign in (1, -1):
            pose, lens = view.pose.copy(), lens0.copy()
            if i < len(pose):
                pose[i] += sign * step
            else:
                lens[i - len(pose)] += sign * step
            ends.append(_meet(view.moved(pose).with_lens(lens), pixel, place[2]))
        out[:, i] = (ends[0] - ends[1]) / (2 * step)
    return out


def _meet(view: View, pixel: Array, height_mm: float) -> Array:
    normal = undistorted(pixel, view.k_matrix, view.dist)[0]
    rotation = np.asarray(cv2.Rodrigues(view.pose[:3])[0])
    centre = view.centre_mm
    direction = rotation.T @ np.array([normal[0], normal[1], 1.0])
    met: Array = centre[:2] + direction[:2] * ((height_mm - centre[2]) / direction[2])
    return met


def worst_sigma_mm(calibration: Calibration, height_mm: float) -> float:
    """The largest `table_sigma_mm` over the playing surface at a height."""
    reach = 480.0  # the outermost axis of a piece
    return max(table_sigma_mm(calibration, x, y, height_mm) for x in (-reach, 0.0, reach) for y in (-reach, 0.0, reach))
