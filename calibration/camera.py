"""Calibration record (`novuss.calibration/1`) and the camera it describes: px <-> mm at a stated height above the table.

Conventions (OpenCV): X_camera = R(rvec) X_table + tvec, mm; Brown-Conrady distortion; points are (x, y), pixel centres are integers.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import cv2
import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.lens import Lens, impossible_lens
from calibration.opencv_adapter import undistorted
from rules.errors import UNREADABLE, InputUnusable
from rules.table import CIRCLE_RADIUS_MM, HALF_MM, RAIL_HEIGHT_MM, SIDES, ZONE_LINE_MM, Side, Zone, clearances_mm

Array = NDArray[np.float64]


class Circle(msgspec.Struct, frozen=True, kw_only=True):
    """Measured centreline of the centre circle, table mm."""

    x_mm: float = 0.0
    y_mm: float = 0.0
    radius_mm: float = CIRCLE_RADIUS_MM


def _nominal_zone_lines() -> dict[Side, float]:
    return {"S": -ZONE_LINE_MM, "N": ZONE_LINE_MM, "W": -ZONE_LINE_MM, "E": ZONE_LINE_MM}


class TableLines(msgspec.Struct, frozen=True, kw_only=True):
    """Measured centrelines: signed y of S and N, signed x of W and E.

    `sigma_mm` (optional): how well each centreline is known relative to the discs' frame; a line that was not seen keeps its nominal
    place and a sigma of half a millimetre, which belongs into every dark/light decision at that line.
    """

    zone_line_mm: dict[Side, float] = msgspec.field(default_factory=_nominal_zone_lines)
    circle: Circle = Circle()
    sigma_mm: dict[Zone, float] | None = None


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """Where the camera hangs and where the table's lines are.

    `covariance` (optional, 6x6 row lists over rvec [rad] and tvec [mm]) carries the pose's own uncertainty with the lens as given;
    `joint_covariance` (14x14, additionally f, cx, cy, k1, k2, p1, p2, k3) is there where the lens was estimated from the table itself.
    """

    lens: Lens
    rvec: list[float]
    tvec: list[float]
    table: TableLines = TableLines()
    rms_px: float = 0.0
    made_at: str = ""
    covariance: list[list[float]] | None = None
    joint_covariance: list[list[float]] | None = None
    schema: str = "novuss.calibration/1"


class Camera:
    """A calibration made ready: projects table points to pixels and pixels to the table at a height.

    Read-only after construction; safe to share between threads.
    """

    def __init__(self, calibration: Calibration) -> None:
        self.calibration = calibration
        self.lens = calibration.lens
        self.rotation: Array = np.asarray(cv2.Rodrigues(np.array(calibration.rvec, dtype=np.float64))[0], dtype=np.float64)
        self.translation_mm: Array = np.array(calibration.tvec, dtype=np.float64).reshape(3)
        self.k_matrix: Array = self.lens.k_matrix
        self.dist: Array = self.lens.dist_coeffs

    @cached_property
    def centre_mm(self) -> Array:
        """Optical centre in table mm, shape (3,)."""
        centre: Array = -self.rotation.T @ self.translation_mm
        return centre

    def to_px(self, points_mm: ArrayLike) -> Array:
        """Table points (N, 3) mm -> pixels (N, 2)."""
        points = np.asarray(points_mm, dtype=np.float64).reshape(-1, 3)
        rvec, _ = cv2.Rodrigues(self.rotation)
        px, _ = cv2.projectPoints(points, rvec, self.translation_mm, self.k_matrix, self.dist)
        return np.asarray(px, dtype=np.float64).reshape(-1, 2)

    def to_mm(self, points_px: ArrayLike, height_mm: float | ArrayLike) -> Array:
        """Pixels (N, 2) -> table x, y in mm (N, 2) on the plane z = `height_mm` (a number, or one per point)."""
        normal = undistorted(np.asarray(points_px, dtype=np.float64), self.k_matrix, self.dist)
        rays = np.c_[normal, np.ones(len(normal))] @ self.rotation
        scale = (np.asarray(height_mm, dtype=np.float64) - self.centre_mm[2]) / rays[:, 2]
        out: Array = self.centre_mm[:2] + rays[:, :2] * scale[:, None]
        return out

    def px_per_mm(self, x_mm: float, y_mm: float, height_mm: float = 0.0) -> float:
        """Local scale (geometric mean of the two directions) at a table point."""
        base = np.array([x_mm, y_mm, height_mm])
        px = self.to_px(np.stack([base, base + (1, 0, 0), base + (0, 1, 0)]))
        return float(np.sqrt(abs(np.linalg.det(px[1:] - px[0]))))

    def line_sigma_mm(self, zone: Zone) -> float:
        """How well a zone's line is known, mm; 0 where the calibration does not say."""
        return (self.calibration.table.sigma_mm or {}).get(zone, 0.0)

    def clearances_mm(self, kind: str, x_mm: float, y_mm: float) -> dict[Zone, float]:
        """`clearance_mm` of the contract from this table's measured lines."""
        lines = {side: abs(at) for side, at in self.calibration.table.zone_line_mm.items()}
        circle = self.calibration.table.circle
        return clearances_mm(kind, x_mm, y_mm, lines, (circle.x_mm, circle.y_mm, circle.radius_mm))


def load_calibration(path: Path) -> Calibration:
    """Read a calibration file; InputUnusable with path and reason when it cannot be used."""
    try:
        calibration = msgspec.json.decode(path.read_bytes(), type=Calibration)
    except OSError as error:
        raise InputUnusable(f"{path}: calibration file cannot be read ({error.strerror})") from error
    except UNREADABLE as error:
        raise InputUnusable(f"{path}: not a calibration file ({error})") from error
    if calibration.schema != "novuss.calibration/1" or len(calibration.rvec) != 3 or len(calibration.tvec) != 3:
        raise InputUnusable(f"{path}: not a calibration file of schema novuss.calibration/1")
    problem = _impossible(calibration)
    if problem:
        raise InputUnusable(f"{path}: {problem}; calibrate again (novuss calibrate)")
    return calibration


def _impossible(calibration: Calibration) -> str:
    """What no camera above a table can have, or an empty string."""
    if problem := impossible_lens(calibration.lens):
        return problem
    for name, matrix, size in (("covariance", calibration.covariance, 6), ("joint_covariance", calibration.joint_covariance, 14)):
        if matrix is not None and [len(row) for row in matrix] != [size] * size:
            return f"its {name} is not {size}x{size}"
    lines = calibration.table.zone_line_mm
    if set(lines) != set(SIDES):
        return "it does not name the four zone lines"
    numbers = [*calibration.rvec, *calibration.tvec, *lines.values(), calibration.table.circle.radius_mm]
    if not np.isfinite(numbers).all() or max(abs(at) for at in lines.values()) > HALF_MM:
        return "it holds numbers that no table has"
    if max(map(abs, calibration.rvec)) > 2 * np.pi or Camera(calibration).centre_mm[2] <= RAIL_HEIGHT_MM:
        return "its camera does not hang above the table"
    return ""
