"""Still pictures as files: one reader, which gives a picture or an error with path and reason (imread only says None), and one writer."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from rules.errors import InputUnusable

# JPEG and PNG say where they end; a decoder that pads a truncated file with grey must not pass for a picture.
_ENDS: dict[bytes, bytes] = {b"\xff\xd8\xff": b"\xff\xd9", b"\x89PNG\r\n\x1a\n": b"IEND\xaeB`\x82"}
_TRAILING_BYTES = 4096  # cameras append maker notes after the end mark; more than that was never seen
_MIN_SIDE_PX = 64  # below this no table line is one pixel wide at any mounting height


def smaller(image: NDArray[np.uint8], factor: int) -> NDArray[np.uint8]:
    """A picture (height, width, 3) made smaller by a whole number; rows and columns beyond its last multiple are left out."""
    if factor == 1:
        return image
    height, width = (side // factor for side in image.shape[:2])
    small = cv2.resize(image[: height * factor, : width * factor], (width, height), interpolation=cv2.INTER_AREA)
    return np.asarray(small, dtype=np.uint8)


def as_jpeg(image: NDArray[np.uint8], quality: int) -> bytes:
    """A picture as a JPEG file; `quality` in per cent."""
    _, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return data.tobytes()


def read_image(path: Path) -> NDArray[np.uint8]:
    """Read a still as uint8 BGR (height, width, 3), turned as its EXIF orientation says.

    Raises
    ------
    InputUnusable
        Missing, a folder, empty, truncated, not a picture, or too small.
    """
    try:
        data = path.read_bytes()
    except IsADirectoryError as error:
        raise InputUnusable(f"{path}: is a folder, expected a picture") from error
    except OSError as error:
        raise InputUnusable(f"{path}: cannot be read ({error.strerror})") from error
    if not data:
        raise InputUnusable(f"{path}: file is empty")
    for start, end in _ENDS.items():
        if data.startswith(start) and end not in data[-_TRAILING_BYTES:]:
            raise InputUnusable(f"{path}: picture is truncated (its end is missing); copy it again")
    try:
        image = cv2.imdecode(np.frombuffer(data, dtype=np.uint8), cv2.IMREAD_COLOR)
    except cv2.error as error:
        raise InputUnusable(f"{path}: picture cannot be decoded, or is larger than any camera's ({error.err})") from error
    if image is None:
        raise InputUnusable(f"{path}: not a picture that can be decoded (JPEG, PNG, BMP, TIFF and WebP can)")
    if min(image.shape[:2]) < _MIN_SIDE_PX:
        raise InputUnusable(f"{path}: picture is only {image.shape[1]}x{image.shape[0]} px, too small to see a table")
    image.setflags(write=False)
    return np.asarray(image, dtype=np.uint8)
