"""A camera over the table: pinhole with Brown-Conrady distortion, exactly as OpenCV defines it.

The room may not import calibration, and it should not: truth that is made with the code it tests proves nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from rules.table import HALF_MM, RAIL_HEIGHT_MM, RAIL_WIDTH_MM

Array = NDArray[np.float64]
Field = NDArray[np.floating[Any]]

# Frame sizes of the cameras that the product is made for: (width, height) px.
MODES: Final[dict[str, tuple[int, int]]] = {"gs": (1456, 1088), "hqbin": (2028, 1520), "hq": (4056, 3040), "cm3": (2304, 1296)}
_UNDISTORT = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 40, 1e-10)  # five rounds, the default, leave 0.01 px and more
_GRID_PX = 4  # the inverse lens map is smooth: cubic interpolation over 4 px is exact to 1e-6 px


@dataclass(frozen=True)
class Optics:
    """K (3, 3) px, dist (5,), rvec (3,), tvec (3,) mm: X_camera = R(rvec) X_table + tvec. Pixel centres are integers."""

    width: int
    height: int
    K: Array
    dist: Array
    rvec: Array
    tvec: Array
    readout_s: float = 0.0  # 0 is a global shutter; else the time from the first row's exposure to the last row's
    name: str = field(default="gs")

    def __post_init__(self) -> None:
        for array in (self.K, self.dist, self.rvec, self.tvec):
            array.setflags(write=False)

    @property
    def lens(self) -> dict[str, Any]:
        """The lens as a `novuss.lens/1` record."""
        return {
            "schema": "novuss.lens/1",
            "width": self.width,
            "height": self.height,
            "K": self.K.tolist(),
            "dist": self.dist.tolist(),
            "rms_px": 0.0,
        }

    @cached_property
    def centre_mm(self) -> Array:
        """Optical centre in table mm, shape (3,)."""
        rotation = cv2.Rodrigues(self.rvec)[0]
        centre: Array = -rotation.T @ self.tvec
        return centre

    def to_px(self, points_mm: ArrayLike) -> Array:
        """Table points (N, 3) mm -> pixels (N, 2)."""
        points = np.asarray(points_mm, dtype=np.float64).reshape(-1, 1, 3)
        return np.asarray(cv2.projectPoints(points, self.rvec, self.tvec, self.K, self.dist)[0], dtype=np.float64).reshape(-1, 2)

    @cached_property
    def ground_mm(self) -> Field:
        """Where each pixel's ray meets z = 0: (height, width, 2) table mm, float32.

        The same ray meets z = h at centre + (ground - centre) * (centre_z - h) / centre_z, so one map serves every height.
        """
        columns = np.arange(-2 * _GRID_PX, self.width + 3 * _GRID_PX, _GRID_PX, dtype=np.float64)
        rows = np.arange(-2 * _GRID_PX, self.height + 3 * _GRID_PX, _GRID_PX, dtype=np.float64)
        grid = np.stack(np.meshgrid(columns, rows), axis=-1).reshape(-1, 1, 2)
        normal = cv2.undistortPoints(grid, self.K, self.dist, criteria=_UNDISTORT).reshape(-1, 2)
        rays = np.c_[normal, np.ones(len(normal))] @ cv2.Rodrigues(self.rvec)[0]
        centre = self.centre_mm
        coarse = (centre[:2] - rays[:, :2] * (centre[2] / rays[:, 2])[:, None]).reshape(len(rows), len(columns), 2)
        fine = _cubic(_cubic(coarse, rows, np.arange(self.height)), columns, np.arange(self.width), axis=1)
        return fine.astype(np.float32)

    def px_per_mm(self, x_mm: float, y_mm: float) -> float:
        """Local scale on the table plane (geometric mean of both directions)."""
        px = self.to_px([[x_mm, y_mm, 0.0], [x_mm + 1.0, y_mm, 0.0], [x_mm, y_mm + 1.0, 0.0]])
        return math.sqrt(abs(float(np.linalg.det(px[1:] - px[0]))))


def _cubic(values: Array, knots: Array, at: NDArray[np.int64], axis: int = 0) -> Array:
    """Catmull-Rom interpolation along one axis of an evenly spaced grid that reaches two knots beyond `at`."""
    step = knots[1] - knots[0]
    place = (at - knots[0]) / step
    base = np.floor(place).astype(int)
    t = place - base
    shape = [1] * values.ndim
    shape[axis] = len(at)
    weights = (
        -0.5 * t + t**2 - 0.5 * t**3,
        1 - 2.5 * t**2 + 1.5 * t**3,
        0.5 * t + 2 * t**2 - 1.5 * t**3,
        -0.5 * t**2 + 0.5 * t**3,
    )
    parts = [w.reshape(shape) * np.take(values, base + k - 1, axis=axis) for k, w in enumerate(weights)]
    out: Array = parts[0] + parts[1] + parts[2] + parts[3]
    return out


def overhead(
    width: int = 1456,
    height: int = 1088,
    height_mm: float = 1400.0,
    tilt_deg: float = 3.0,
    tilt_toward_deg: float = 30.0,
    rotation_deg: float = 1.5,
    aim_mm: tuple[float, float] = (0.0, 0.0),
    dist: tuple[float, float, float, float, float] = (-0.08, 0.03, 0.0003, -0.0002, 0.0),
    margin: float = 1.03,
    name: str = "gs",
    readout_s: float = 0.0,
) -> Optics:
    """A camera `height_mm` above the table, framed so that the whole table just fits in the picture's middle.

    `aim_mm` moves it off the middle, `margin` > 1 leaves room around; `tilt_toward_deg` is the direction on the table to which the
    camera is moved off the vertical.
    """
    tilt, toward, turn = (math.radians(a) for a in (tilt_deg, tilt_toward_deg, rotation_deg))
    back = np.array([math.sin(tilt) * math.cos(toward), math.sin(tilt) * math.sin(toward), math.cos(tilt)])
    outer = HALF_MM + RAIL_WIDTH_MM
    corners = np.array([[x, y, RAIL_HEIGHT_MM] for x in (-outer, outer) for y in (-outer, outer)])
    bend = np.array(dist, dtype=np.float64)
    rotation = _looking(-back, turn)
    rvec = np.asarray(cv2.Rodrigues(rotation)[0], dtype=np.float64).reshape(3)
    aim = np.zeros(3)
    for _ in range(4):
        tvec = -rotation @ (aim + back * (height_mm / back[2]))
        seen = np.asarray(cv2.projectPoints(corners, rvec, tvec, np.eye(3), bend)[0]).reshape(-1, 2)
        low, high = seen.min(axis=0), seen.max(axis=0)
        ray = np.array([*((low + high) / 2), 1.0]) @ rotation
        centre = -rotation.T @ tvec
        aim = np.array([*(centre[:2] - ray[:2] * (centre[2] / ray[2])), 0.0])
    aim[:2] += aim_mm
    tvec = -rotation @ (aim + back * (height_mm / back[2]))
    focal = min((width - 1) / (high[0] - low[0]), (height - 1) / (high[1] - low[1])) / margin
    K = np.array([[focal, 0.0, width / 2 - 0.5], [0.0, focal, height / 2 - 0.5], [0.0, 0.0, 1.0]])
    return Optics(width, height, K, bend, rvec, tvec, readout_s, name)


def _looking(forward: Array, turn_rad: float) -> Array:
    """Rotation table -> camera of a camera that looks along `forward`, its picture turned by `turn_rad`."""
    right = np.cross(forward, np.array([-math.sin(turn_rad), math.cos(turn_rad), 0.0]))
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(forward, right), forward])


def random_camera(seed: int, mode: str = "gs") -> Optics:
    """A plausible camera: 1.1-1.7 m up, tilted by up to 12 degrees, roughly or (at times) badly turned, lens of its own."""
    rng = np.random.default_rng([seed, 101])
    width, height = MODES[mode]
    rotation = float(rng.uniform(-8, 8)) + float(rng.choice([0.0, 0.0, 0.0, 0.0, 0.0, 90.0, 180.0, 270.0]))
    readout_s = {"gs": 0.0, "hqbin": 0.023, "hq": 0.087, "cm3": 0.017}[mode]
    camera = overhead(
        width,
        height,
        height_mm=float(rng.uniform(1120, 1700)),
        tilt_deg=float(rng.uniform(0, 12)),
        tilt_toward_deg=float(rng.uniform(0, 360)),
        rotation_deg=rotation,
        aim_mm=(float(rng.uniform(-12, 12)), float(rng.uniform(-12, 12))),
        dist=(
            float(rng.uniform(-0.16, 0.02)),
            float(rng.uniform(-0.04, 0.07)),
            float(rng.normal(0, 0.0005)),
            float(rng.normal(0, 0.0005)),
            float(rng.uniform(-0.02, 0.02)),
        ),
        margin=float(rng.uniform(1.02, 1.08)),
        name=mode,
        readout_s=readout_s,
    )
    K = camera.K.copy()
    K[0, 2] += rng.normal(0, 0.006 * width)
    K[1, 2] += rng.normal(0, 0.003 * width)
    K[1, 1] *= 1 + rng.normal(0, 0.0005)
    return Optics(width, height, K, camera.dist, camera.rvec, camera.tvec, readout_s, mode)
