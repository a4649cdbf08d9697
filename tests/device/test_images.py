from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from device.images import read_image
from rules.errors import InputUnusable


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    path = tmp_path / "a picture ē.png"
    path.write_bytes(cv2.imencode(".png", rng.integers(0, 255, (96, 128, 3), dtype=np.uint8))[1].tobytes())
    return path


def test_a_whole_picture_is_read_whatever_its_name(picture: Path) -> None:
    image = read_image(picture)
    assert image.shape == (96, 128, 3)
    assert not image.flags.writeable


@pytest.mark.parametrize("suffix", [".png", ".jpg"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_a_truncated_picture_is_refused_not_padded_with_grey(tmp_path: Path, suffix: str, share: float) -> None:
    data = cv2.imencode(suffix, np.random.default_rng(2).integers(0, 255, (300, 400, 3), dtype=np.uint8))[1].tobytes()
    path = tmp_path / f"cut{suffix}"
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(InputUnusable, match="truncated"):
        read_image(path)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda p: None, "cannot be read"),
        (lambda p: p.mkdir(), "is a folder"),
        (lambda p: p.write_bytes(b""), "is empty"),
        (lambda p: p.write_text("no picture"), "not a picture"),
        (lambda p: p.write_bytes(cv2.imencode(".png", np.zeros((8, 8, 3), np.uint8))[1].tobytes()), "too small"),
    ],
)
def test_what_is_no_picture_is_refused_with_path_and_reason(tmp_path: Path, make, words: str) -> None:
    path = tmp_path / "thing.png"
    make(path)
    with pytest.raises(InputUnusable, match=words) as caught:
        read_image(path)
    assert str(path) in str(caught.value)
