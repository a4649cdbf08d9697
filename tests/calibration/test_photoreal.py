"""Pictures traced by another renderer, when they are at hand: nothing here was made by our own."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from calibration.camera import Calibration, Camera
from calibration.find import find_table
from calibration.lens import Lens
from device.images import read_image

STILLS = Path(__file__).parents[3] / "shared" / "photoreal" / "stills"
pytestmark = pytest.mark.skipif(not STILLS.is_dir(), reason=f"no traced stills at {STILLS}")


def _errors_mm(name: str, *, known: bool, height_mm: float) -> np.ndarray:
    truth = json.loads((STILLS / f"{name}.json").read_text())
    camera = truth["camera"]
    lens = Lens(width=camera["width"], height=camera["height"], K=camera["K"], dist=camera["dist"])
    found = find_table([read_image(STILLS / truth["image"])], lens if known else None)
    xy = np.stack(np.meshgrid(np.arange(-480, 481, 120.0), np.arange(-480, 481, 120.0)), axis=-1).reshape(-1, 2)
    px = Camera(Calibration(lens=lens, rvec=camera["rvec"], tvec=camera["tvec"])).to_px(np.c_[xy, np.full(len(xy), height_mm)])
    return np.linalg.norm(Camera(found.calibration).to_mm(px, height_mm) - xy, axis=1)


@pytest.mark.parametrize(
    "name", ["open_07_gs_warm_side_start", "open_12_gs_warm_side_hand", "open_21_hq_tubes_game", "open_24_hqbin_dim_game"]
)
def test_grid_error_with_the_lens(name):
    assert np.sqrt(np.mean(_errors_mm(name, known=True, height_mm=0.0) ** 2)) < 0.25


@pytest.mark.parametrize("name", ["open_13_hqbin_window_hand", "open_25_gs_panels_game"])
def test_discs_without_the_lens(name):
    assert np.percentile(_errors_mm(name, known=False, height_mm=12.0), 95) < 0.6
