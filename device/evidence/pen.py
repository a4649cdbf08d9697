"""A piece of the table seen from straight above, and the pen that draws on it in millimetres."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.above import from_above
from calibration.camera import Camera
from device.evidence.film import Image, Shot
from rules.table import PIECE_THICKNESS_MM

Colour = tuple[int, int, int]  # BGR
Point = tuple[float, float]

WHITE: Final = (255, 255, 255)
INK: Final = (14, 18, 22)
AMBER: Final = (74, 194, 255)  # the striker and its way
CYAN: Final = (255, 214, 90)  # what it set going
BLUE: Final = (255, 128, 66)  # dark
ORANGE: Final = (60, 150, 255)  # light
VIOLET: Final = (255, 110, 205)  # too close to call
GREEN: Final = (130, 220, 110)
_SHIFT: Final = 4  # OpenCV's fixed point: sixteenths of a pixel
_FONT_REGULAR: Final = 400
_FONT_BOLD: Final = 700


class View:
    """A photograph turned to look straight down on the plane of the pieces' faces; x to the right, y up, as on the board."""

    def __init__(self, shot: Shot, camera: Camera, centre_mm: Point, half_width_mm: float, size_px: tuple[int, int]) -> None:
        self.width, self.height = size_px
        self.scale = self.width / 2 / half_width_mm  # px per mm
        self._centre = centre_mm
        self._eye = camera.centre_mm
        self.image = from_above(
            shot.image(),
            camera,
            centre_mm,
            self.scale,
            size_px,
            PIECE_THICKNESS_MM,
            factor=shot.factor,
            interpolation=cv2.INTER_CUBIC,
            beyond=INK,
        )

    def px(self, at_mm: ArrayLike, z_mm: float = PIECE_THICKNESS_MM) -> Point:
        """Where a point of the table (x, y) is seen in this view; one at another height is seen a little aside."""
        part = (PIECE_THICKNESS_MM - self._eye[2]) / (z_mm - self._eye[2])
        x, y = (self._eye[:2] + (np.asarray(at_mm, dtype=np.float64) - self._eye[:2]) * part).tolist()
        return self.width / 2 + (x - self._centre[0]) * self.scale, self.height / 2 - (y - self._centre[1]) * self.scale

    def dim(self, part: float) -> None:
        """Make the photograph darker, so that what is drawn stands out."""
        self.image = np.asarray(cv2.convertScaleAbs(self.image, alpha=part), dtype=np.uint8)

    def line(self, points: Sequence[Point], colour: Colour, width: int = 2, *, dash_px: float = 0.0, edge: bool = True) -> None:
        """A line through points in pixels, with a dark edge so that it is seen on any wood."""
        for part in _dashes(points, dash_px) if dash_px else [points]:
            fixed = [_fixed(part)]
            if edge:
                cv2.polylines(self.image, fixed, False, INK, width + 3, cv2.LINE_AA, _SHIFT)
            cv2.polylines(self.image, fixed, False, colour, width, cv2.LINE_AA, _SHIFT)

    def circle(self, at: Point, radius_px: float, colour: Colour, width: int = 2, *, edge: bool = True, dash_px: float = 0.0) -> None:
        """A circle around a point in pixels; `width` -1 fills it."""
        if dash_px:
            angles = np.linspace(0, 2 * np.pi, 73)
            self.line(
                [(at[0] + radius_px * float(np.cos(a)), at[1] + radius_px * float(np.sin(a))) for a in angles],
                colour,
                width,
                dash_px=dash_px,
            )
            return
        centre = tuple(_fixed([at])[0, 0].tolist())
        radius = round(radius_px * (1 << _SHIFT))
        if edge and width > 0:
            cv2.circle(self.image, centre, radius, INK, width + 3, cv2.LINE_AA, _SHIFT)
        cv2.circle(self.image, centre, radius, colour, width, cv2.LINE_AA, _SHIFT)

    def arrow(self, start: Point, end: Point, colour: Colour, width: int = 3, head_px: float = 14.0) -> None:
        """A line with a head at its end."""
        way = np.subtract(end, start)
        length = float(np.hypot(*way))
        if length < 1.0:
            return
        along = way / length
        across = np.array([-along[1], along[0]])
        head = min(head_px, length)
        barbs = [tuple((np.array(end) - along * head + side * across * head * 0.5).tolist()) for side in (1, -1)]
        self.line([start, end], colour, width)
        self.line([barbs[0], end, barbs[1]], colour, width)

    def wash(self, outline: Iterable[Point], colour: Colour, part: float) -> None:
        """Tint an area."""
        layer = self.image.copy()
        cv2.fillPoly(layer, [_fixed(list(outline))], colour, cv2.LINE_AA, _SHIFT)
        self.image = np.asarray(cv2.addWeighted(layer, part, self.image, 1 - part, 0), dtype=np.uint8)

    def frame(self, colour: Colour, width: int = 4) -> None:
        """A border in the colour of what is shown."""
        cv2.rectangle(self.image, (0, 0), (self.width - 1, self.height - 1), colour, width * 2)


def text(
    image: Image, said: str, at: tuple[int, int], size_px: int, colour: Colour = WHITE, *, bold: bool = False, box: bool = False
) -> int:
    """Write at a baseline's start, with a dark box behind it where wanted; returns where it ended."""
    font, weight = cv2.FontFace("sans"), _FONT_BOLD if bold else _FONT_REGULAR
    x, y, width, height = cv2.getTextSize((image.shape[1], image.shape[0]), said, at, font, size_px, weight)
    if box:
        pad = size_px // 3
        cv2.rectangle(image, (x - pad, y - pad), (x + width + pad, y + height + pad), INK, -1)
    cv2.putText(image, said, at, colour, font, size_px, weight)
    return x + width


def _fixed(points: Sequence[Point]) -> NDArray[np.int32]:
    return np.round(np.asarray(points, dtype=np.float64) * (1 << _SHIFT)).astype(np.int32).reshape(-1, 1, 2)


def _dashes(points: Sequence[Point], dash_px: float) -> list[list[Point]]:
    """A line cut into dashes as long as the gaps between them."""
    corners = np.asarray(points, dtype=np.float64)
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(corners, axis=0).T))])
    out: list[list[Point]] = []
    for start in np.arange(0.0, along[-1], 2 * dash_px):
        ends = np.array([start, min(start + dash_px, along[-1])])
        out.append([(float(np.interp(s, along, corners[:, 0])), float(np.interp(s, along, corners[:, 1]))) for s in ends])
    return out
