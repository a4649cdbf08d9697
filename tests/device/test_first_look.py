"""A calibration made elsewhere is believed only when the first frames show the table there."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np
import pytest

from calibration.camera import Calibration
from device.first_look import LookSettings, check, look
from device.sources.frame import Frame
from rules.errors import TableNotFound


class Pictures:
    """The same picture again and again, as a source."""

    name = "pictures"

    def __init__(self, image: np.ndarray, count: int) -> None:
        self.size_px = (image.shape[1], image.shape[0])
        self._image, self._left, self._seq = image, count, 0

    def read(self) -> Frame | None:
        if self._seq >= self._left:
            return None
        self._seq += 1
        return Frame(image=self._image, t_ns=self._seq * 16_666_667, seq=self._seq)

    def close(self) -> None:
        pass


def test_a_right_calibration_passes(table: tuple[Calibration, np.ndarray]) -> None:
    check(Pictures(table[1], 30), table[0])


def test_a_calibration_of_another_camera_place_is_refused(table: tuple[Calibration, np.ndarray]) -> None:
    calibration, image = table
    x, y, z = calibration.tvec
    with pytest.raises(TableNotFound, match="not where the calibration says"):
        check(Pictures(image, 30), msgspec.structs.replace(calibration, tvec=[x + 40.0, y, z]))


def test_the_reason_is_said_once_while_it_stays_the_same() -> None:
    rng = np.random.default_rng(1)
    floor = cv2.GaussianBlur(rng.integers(0, 255, (480, 640, 3), dtype=np.uint8), (0, 0), 2)
    said: list[str] = []
    with pytest.raises(TableNotFound):
        look(Pictures(floor, 60), LookSettings(), said.append)
    assert len(said) == 1
