"""Hands and cues over the table: simple solids, drawn over everything."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from virtual_table.look import Colour, Look
from virtual_table.optics import Optics
from virtual_table.shading import Image, encode, lamp_vector, light_colour

_SHIFT: Final = 4  # sub-pixel bits of OpenCV's drawing
CUE_COLOUR: Final[Colour] = (0.16, 0.36, 0.58)
CUE_LONG_MM: Final = 1100.0


@dataclass(frozen=True, slots=True)
class Shape:
    """A hand (wrist at x, y, fingers toward `toward_rad`) or a cue (tip at x, y, pointing toward `toward_rad`)."""

    kind: Literal["hand", "cue"]
    x_mm: float
    y_mm: float
    z_mm: float
    toward_rad: float
    speed_px: float = 0.0  # how far it moves within one exposure
    mirrored: bool = False


# A hand in its own frame (mm): rods (x0, y0, x1, y1, radius, extra height); fingers toward +y.
_FINGERS: Final = (
    (-30.0, 62.0, -40.0, 122.0, 8.0, -6.0),
    (-11.0, 70.0, -14.0, 146.0, 8.5, -8.0),
    (9.0, 70.0, 10.0, 150.0, 8.5, -8.0),
    (27.0, 64.0, 33.0, 130.0, 7.5, -6.0),
    (40.0, 20.0, 62.0, 78.0, 9.5, -6.0),
)
_PALM: Final = ((-20.0, 12.0, -18.0, 60.0, 23.0, 4.0), (18.0, 12.0, 16.0, 60.0, 23.0, 4.0), (0.0, 10.0, 0.0, 62.0, 26.0, 6.0))
_ARM: Final = ((0.0, -40.0, 0.0, 10.0, 27.0, 6.0),)
_SLEEVE: Final = ((0.0, -620.0, 0.0, -45.0, 46.0, 20.0),)


def draw_shapes(image: Image, optics: Optics, shapes: Sequence[Shape], look: Look) -> None:
    """Draw shapes into an encoded picture, shadows first; in place."""
    for shape in shapes:
        rods = _rods(shape, look)
        _shadow(image, optics, shape, rods, look)
    for shape in shapes:
        _solid(image, optics, shape, _rods(shape, look), look)


def covered_px(optics: Optics, shapes: Sequence[Shape]) -> Image:
    """Which pixels shapes cover, 255 where they do, their motion's smear left out; uint8 (height, width)."""
    out = np.zeros((optics.height, optics.width), dtype=np.uint8)
    for shape in shapes:
        rods = _rods(shape, Look())
        scale = _scale_px(optics, shape)
        for rod in rods:
            a, b = optics.to_px([rod[0:3], rod[3:6]])
            _rod(out, a, b, rod[6] * scale, (255,))
    return out


Rod = tuple[float, float, float, float, float, float, float, Colour]


def _rods(shape: Shape, look: Look) -> list[Rod]:
    """(x0, y0, z0, x1, y1, z1, radius, colour) in table mm."""
    if shape.kind == "cue":
        c, s = math.cos(shape.toward_rad), math.sin(shape.toward_rad)
        back = [(0.0, 4.0), (250.0, 5.0), (CUE_LONG_MM, 11.0)]
        rise = 0.12  # a cue is held up at its butt to clear the rail
        return [
            (
                shape.x_mm - c * a,
                shape.y_mm - s * a,
                shape.z_mm + rise * a,
                shape.x_mm - c * b,
                shape.y_mm - s * b,
                shape.z_mm + rise * b,
                r,
                CUE_COLOUR,
            )
            for (a, r), (b, _) in pairwise(back)
        ]
    turn = shape.toward_rad - math.pi / 2
    c, s = math.cos(turn), math.sin(turn)
    flip = -1.0 if shape.mirrored else 1.0
    rods: list[Rod] = []
    for group, colour in ((_SLEEVE, look.sleeve), (_ARM, look.skin), (_FINGERS, look.skin), (_PALM, look.skin)):
        for x0, y0, x1, y1, radius, up in group:
            rods.append(
                (
                    shape.x_mm + c * x0 * flip - s * y0,
                    shape.y_mm + s * x0 * flip + c * y0,
                    shape.z_mm + up + (60.0 if group is _SLEEVE else 0.0) * 0.5,
                    shape.x_mm + c * x1 * flip - s * y1,
                    shape.y_mm + s * x1 * flip + c * y1,
                    shape.z_mm + up,
                    radius,
                    colour,
                )
            )
    return rods


def _solid(image: Image, optics: Optics, shape: Shape, rods: Sequence[Rod], look: Look) -> None:
    ends = optics.to_px([p for r in rods for p in ((r[0], r[1], r[2]), (r[3], r[4], r[5]))]).reshape(-1, 2, 2)
    scale = _scale_px(optics, shape)
    box = _bounds(ends, max(r[6] for r in rods) * scale + 4 + shape.speed_px, image)
    if box is None:
        return
    x0, y0, x1, y1 = box
    sprite = image[y0:y1, x0:x1].copy()
    mask = np.zeros(sprite.shape[:2], dtype=np.uint8)
    light = light_colour(look)
    for (a, b), rod in zip(ends - (x0, y0), rods, strict=True):
        _rod(mask, a, b, rod[6] * scale, (255,))
        for share, bright in ((1.0, 0.45), (0.85, 0.62), (0.66, 0.78), (0.4, 0.9)):
            colour = encode(np.array([[[c * k * bright for c, k in zip(rod[7], light, strict=True)]]], dtype=np.float32))[0, 0]
            _rod(sprite, a, b, rod[6] * scale * share, tuple(int(v) for v in colour))
    smooth = max(3, 2 * round(shape.speed_px / 2) + 1)
    soft_mask = cv2.blur(mask, (smooth, smooth)).astype(np.float32) * np.float32(1 / 255)
    soft_sprite = cv2.blur(sprite, (3, 3))
    here = np.ascontiguousarray(image[y0:y1, x0:x1])
    image[y0:y1, x0:x1] = cv2.blendLinear(soft_sprite, here, soft_mask, 1 - soft_mask)


def _scale_px(optics: Optics, shape: Shape) -> float:
    return float(optics.px_per_mm(0.0, 0.0) * optics.centre_mm[2] / (optics.centre_mm[2] - shape.z_mm))


def _shadow(image: Image, optics: Optics, shape: Shape, rods: Sequence[Rod], look: Look) -> None:
    sx, sy, softness = lamp_vector(look)
    ends = optics.to_px(
        [p for r in rods for p in ((r[0] + sx * r[2], r[1] + sy * r[2], 0.0), (r[3] + sx * r[5], r[4] + sy * r[5], 0.0))]
    ).reshape(-1, 2, 2)
    scale = optics.px_per_mm(0.0, 0.0)
    blur = 2 * int(1 + softness * shape.z_mm * 0.25) + 1
    box = _bounds(ends, max(r[6] for r in rods) * scale + blur + 2, image)
    if box is None:
        return
    x0, y0, x1, y1 = box
    mask = np.zeros((y1 - y0, x1 - x0), dtype=np.uint8)
    for (a, b), rod in zip(ends - (x0, y0), rods, strict=True):
        _rod(mask, a, b, rod[6] * scale, (255,))
    keep = cv2.convertScaleAbs(cv2.blur(mask, (blur, blur)), alpha=-(1 - (1 - look.shadow * 0.8) ** 0.45), beta=255)
    dark = cv2.merge([keep, keep, keep])
    image[y0:y1, x0:x1] = cv2.multiply(image[y0:y1, x0:x1], dark, scale=1 / 255)


def _rod(image: Image, a: NDArray[np.float64], b: NDArray[np.float64], radius_px: float, colour: tuple[int, ...]) -> None:
    unit = 1 << _SHIFT
    pa = (round(float(a[0]) * unit), round(float(a[1]) * unit))
    pb = (round(float(b[0]) * unit), round(float(b[1]) * unit))
    thick = max(1, round(radius_px * 2))
    cv2.line(image, pa, pb, colour, thick, cv2.LINE_AA, _SHIFT)


def _bounds(ends: NDArray[np.float64], pad: float, image: Image) -> tuple[int, int, int, int] | None:
    low, high = ends.reshape(-1, 2).min(axis=0) - pad, ends.reshape(-1, 2).max(axis=0) + pad
    x0, y0 = int(max(0, low[0])), int(max(0, low[1]))
    x1, y1 = int(min(image.shape[1], high[0] + 1)), int(min(image.shape[0], high[1] + 1))
    return (x0, y0, x1, y1) if x1 > x0 and y1 > y0 else None
