"""Flat things that lie on a table or are held over it and do not belong there: phones, cloths, boxes, sheets, mugs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.training.bodies import cloth
from rules.table import HALF_MM

Array = NDArray[Any]

_SHIFT: Final = 4  # sub-pixel bits of OpenCV's drawing
_CORNERS: Final = 40  # of a round or ragged outline


@dataclass(frozen=True, slots=True)
class Flat:
    """Outline (N, 2) mm of its upper face, heights of that and of its foot, mm, colours (3,) of face and sides, colour of a second pattern,
    and how much of that.
    """

    outline_mm: Array
    top_mm: float
    foot_mm: float
    face: Array
    side: Array
    second: Array
    share: float


def random_flat(rng: np.random.Generator) -> Flat:
    """One such thing."""
    sort, middle, turn = rng.random(), rng.uniform(-HALF_MM, HALF_MM, 2), rng.uniform(0, 2 * math.pi)
    cover, other = cloth(rng), cloth(rng)
    foot = float(rng.choice([0.0, 0.0, rng.uniform(0, 150)]))
    if sort < 0.4:  # phone, sheet, book
        wide, long = (rng.uniform(65, 85), rng.uniform(135, 170)) if sort < 0.25 else (rng.uniform(60, 220), rng.uniform(90, 300))
        outline, high = _rectangle(wide, long), rng.uniform(1, 12)
    elif sort < 0.65:  # box
        outline, high = _rectangle(rng.uniform(25, 110), rng.uniform(25, 140)), rng.uniform(12, 70)
    elif sort < 0.75:  # mug
        around = np.linspace(0, 2 * math.pi, _CORNERS, endpoint=False)
        outline, high = rng.uniform(36, 48) * np.stack([np.cos(around), np.sin(around)], 1), rng.uniform(60, 130)
    else:  # cloth
        around = np.linspace(0, 2 * math.pi, _CORNERS, endpoint=False)
        waves = sum(rng.normal(0, 0.22 / k) * np.cos(k * around + rng.uniform(0, 6)) for k in range(2, 6))
        radius = rng.uniform(35, 150) * np.clip(1 + waves, 0.3, 2)
        outline, high = radius[:, None] * np.stack([np.cos(around), np.sin(around) * rng.uniform(0.4, 1)], 1), rng.uniform(2, 25)
    c, s = math.cos(turn), math.sin(turn)
    placed = middle + outline @ np.array([[c, s], [-s, c]])
    share, darker = rng.choice([0.0, rng.uniform(0, 1)]), rng.uniform(0.4, 1.0)
    return Flat(placed, foot + high, foot, cover[0:3], cover[0:3] * darker, other[0:3], float(share))


def _rectangle(wide: float, long: float) -> Array:
    return np.array([[-wide, -long], [wide, -long], [wide, long], [-wide, long]]) / 2


def filled(outline_mm: Array, half_mm: float, cells: int) -> Array:
    """Whether each cell lies in an outline, (cells, cells)."""
    step = 2 * half_mm / cells
    px = np.stack([(outline_mm[:, 0] + half_mm) / step - 0.5, (half_mm - outline_mm[:, 1]) / step - 0.5], 1)
    out = np.zeros((cells, cells), np.uint8)
    cv2.fillPoly(out, [np.rint(px * (1 << _SHIFT)).astype(np.int32)], 1, shift=_SHIFT)
    return out.astype(bool)


def lay(rng: np.random.Generator, flat: Flat, eye: Array, half_mm: float, height: Array, light: Array, level: Array) -> None:
    """Draw into `height` (cells, cells) and `light` (cells, cells, 3), in place, where nothing higher is; `level` (3,) is the lamps'."""
    cells = len(height)

    def seen_at(z: float) -> Array:
        return np.asarray(eye[:2] + (flat.outline_mm - eye[:2]) * (eye[2] / (eye[2] - z)))

    top, foot = seen_at(flat.top_mm), seen_at(flat.foot_mm)
    hull = cv2.convexHull(np.concatenate([top, foot]).astype(np.float32)).reshape(-1, 2)
    sides = filled(hull, half_mm, cells) & (height < flat.top_mm) if flat.top_mm - flat.foot_mm > 5 else np.zeros((cells, cells), bool)
    face = filled(top, half_mm, cells) & (height < flat.top_mm)
    coarse = rng.random((int(rng.integers(3, 24)), int(rng.integers(3, 24)))).astype(np.float32)
    if rng.random() < 0.5:
        coarse = (coarse > 0.6).astype(np.float32)
    way = cv2.INTER_NEAREST if rng.random() < 0.5 else cv2.INTER_CUBIC
    pattern = np.clip(cv2.resize(coarse, (cells, cells), interpolation=way), 0, 1)[..., None] * flat.share
    height[sides], light[sides] = flat.top_mm, flat.side * level * rng.uniform(0.4, 0.9)
    height[face], light[face] = flat.top_mm, ((flat.face * (1 - pattern) + flat.second * pattern) * level)[face]
    if rng.random() < 0.15:  # a lamp mirrored in it
        light[face] += level * rng.uniform(0.05, 0.6)
