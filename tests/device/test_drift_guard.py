"""A bumped camera stops rulings and says why; a camera that hangs still never does."""

from __future__ import annotations

import cv2
import numpy as np

from calibration.camera import Calibration
from device.drift_guard import DriftGuard
from device.sources.frame import Frame


def watch(calibration: Calibration, images: list[np.ndarray]) -> DriftGuard:
    guard = DriftGuard(calibration)
    guard.start()
    for number, image in enumerate(images):
        guard._slot.put(Frame(image=image, t_ns=number * 1_000_000_000, seq=number))
    guard.stop()
    return guard


def test_a_camera_that_hangs_still_stops_nothing(table: tuple[Calibration, np.ndarray]) -> None:
    calibration, image = table
    guard = watch(calibration, [image] * 4)
    assert guard.reason is None
    assert guard.drift is not None
    assert guard.drift.worst_px < 0.5


def test_a_bump_stops_rulings_after_a_second_and_says_by_how_much(table: tuple[Calibration, np.ndarray]) -> None:
    calibration, image = table
    moved = cv2.warpAffine(image, np.float32([[1, 0, 3.0], [0, 1, 1.5]]), image.shape[1::-1], borderMode=cv2.BORDER_REPLICATE)
    guard = watch(calibration, [image, moved, moved, moved])
    assert guard.reason is not None
    assert "the camera has moved by 3" in guard.reason


def test_frames_are_offered_once_a_second_and_never_waited_for(table: tuple[Calibration, np.ndarray]) -> None:
    calibration, image = table
    guard = DriftGuard(calibration)
    for number in range(120):
        guard.offer(Frame(image=image, t_ns=number * 16_666_667, seq=number))
    assert guard._slot.qsize() == 1
    guard.start()
    guard.stop()
