"""The small drawings of the scoreboard as PNG, for where SVG is not shown."""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from rules.errors import Bug
from scoreboard.drawing import Circle, Drawing, Line, Rect, Text

SCALE: Final = 2  # pixels a unit: sharp on a screen and on paper at half its size
SHIFT: Final = 4  # OpenCV draws with sixteenths of a pixel
FONT_SCALE: Final = 0.72  # what OpenCV calls a font's size is its cap height's share of an em
BOLD: Final = 700
REGULAR: Final = 400

Colour = tuple[int, int, int]


def as_png(drawing: Drawing) -> bytes:
    """The drawing as a PNG file, two pixels a unit."""
    image = np.empty((round(drawing.height * SCALE), round(drawing.width * SCALE), 3), np.uint8)
    image[:] = _bgr(drawing.ground)
    for shape in drawing.shapes:
        if isinstance(shape, Rect):
            _rect(image, shape)
        elif isinstance(shape, Circle):
            centre, radius = (_fine(shape.x), _fine(shape.y)), _fine(shape.r)
            if shape.fill != "none":
                cv2.circle(image, centre, radius, _bgr(shape.fill), cv2.FILLED, cv2.LINE_AA, SHIFT)
            if shape.stroke != "none":
                cv2.circle(image, centre, radius, _bgr(shape.stroke), SCALE, cv2.LINE_AA, SHIFT)
        elif isinstance(shape, Line):
            ends = (_fine(shape.x), _fine(shape.y)), (_fine(shape.x2), _fine(shape.y2))
            cv2.line(image, *ends, _bgr(shape.stroke), max(round(shape.width * SCALE), 1), cv2.LINE_AA, SHIFT)
        elif isinstance(shape, Text):
            _text(image, shape)
    done, encoded = cv2.imencode(".png", image)
    if not done:
        raise Bug("OpenCV could not encode a PNG")
    return encoded.tobytes()


def _rect(image: NDArray[np.uint8], rect: Rect) -> None:
    x, y, right, bottom = (round(v * SCALE) for v in (rect.x, rect.y, rect.x + rect.width, rect.y + rect.height))
    part = image[y:bottom, x:right]
    if part.size:
        part[:] = np.round(part * (1.0 - rect.opacity) + np.array(_bgr(rect.fill)) * rect.opacity)


def _text(image: NDArray[np.uint8], text: Text) -> None:
    font, size = cv2.FontFace("sans"), round(text.size * SCALE * FONT_SCALE)
    weight = BOLD if text.bold else REGULAR
    _, _, width, _ = cv2.getTextSize((image.shape[1], image.shape[0]), text.text, (0, 0), font, size, weight)
    back = {"start": 0, "middle": width / 2, "end": width}[text.anchor]
    cv2.putText(image, text.text, (round(text.x * SCALE - back), round(text.y * SCALE)), _bgr(text.fill), font, size, weight)


def _fine(value: float) -> int:
    return round(value * SCALE * (1 << SHIFT))


def _bgr(colour: str) -> Colour:
    red, green, blue = (int(colour[n : n + 2], 16) for n in (1, 3, 5))
    return blue, green, red
