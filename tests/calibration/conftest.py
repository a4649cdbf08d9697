"""Rendered tables with known truth, made once."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from benchmarks.truth import camera_of
from calibration.camera import Calibration, Camera
from calibration.lens import Lens
from virtual_table import Look, Optics, overhead, render_still

cv2.setNumThreads(1)

LOOK = Look(zone_line_mm=(369.7, 370.4, 370.0, 370.3), circle_mm=(0.1, -0.1, 125.2), seed=3)
DISCS = [
    ("r1", "red", -120.0, 371.0),
    ("r2", "red", 60.0, 100.0),
    ("b1", "black", 300.0, -365.0),
    ("b2", "black", -371.0, 20.0),
    ("striker", "striker", 15.0, -430.0),
]


def lens_of(optics: Optics) -> Lens:
    return Lens(width=optics.width, height=optics.height, K=optics.K.tolist(), dist=optics.dist.tolist())


def grid_mm(calibration: Calibration, optics: Optics, height_mm: float = 0.0) -> np.ndarray:
    """Distances on the table between where truth and calibration put the same pixels."""
    xy = np.stack(np.meshgrid(np.arange(-480, 481, 120.0), np.arange(-480, 481, 120.0)), axis=-1).reshape(-1, 2)
    px = camera_of(optics).to_px(np.c_[xy, np.full(len(xy), height_mm)])
    return np.linalg.norm(Camera(calibration).to_mm(px, height_mm) - xy, axis=1)


@pytest.fixture(scope="session")
def scene() -> tuple[np.ndarray, Optics]:
    optics = overhead(height_mm=1350.0, tilt_deg=5.0, rotation_deg=3.0)
    return render_still(DISCS, optics, LOOK, 1), optics
