"""Rods and flat things over a table as a camera above sees them, and the shadows that they cast, worked out on a grid over the table.

The grid lies on z = 0, as a picture does that was rectified to the table: what is high up is seen where its ray meets the table.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from models.training.bodies import FIRST, FOLDS, GLOSS, LAST, PAINT, PATTERN, PERIOD, SECOND, SEED
from models.training.surfaces import fast, noise

Array = NDArray[Any]

NOTHING: Final = -1e9  # height where no rod is
_SPREAD_MM: Final = 1.5  # a shadow's edge is never sharper


@fast
def _paint(rod: Array, along: float, around: float, out: Array) -> float:
    """Colour of a rod's cover at a place (mm along, mm around); returns how its folds lean there."""
    period, seed = rod[PERIOD], int(rod[SEED])
    share = 0.0
    pattern = int(rod[PATTERN])
    if pattern == 1:
        share = 1.0 if math.sin(2 * math.pi * around / period) > 0.2 else 0.0
    elif pattern == 2:
        share = 1.0 if math.sin(2 * math.pi * along / period) > 0.2 else 0.0
    elif pattern == 3:
        a, b = math.sin(2 * math.pi * along / period) > 0, math.sin(2 * math.pi * around / period) > 0
        share = 0.5 * a + 0.5 * b
    elif pattern == 4:
        share = noise(along / period, around / period, seed)
    grain = 0.92 + 0.16 * noise(along * 0.4, around * 0.4, seed + 1)
    for k in range(3):
        out[k] = (rod[PAINT + k] * (1 - share) + rod[SECOND + k] * share) * grain
    return rod[FOLDS] * (noise(along / 35 + around / 90, around / 70, seed + 2) - 0.5)


@fast
def cast(rods: Array, eye: Array, half_mm: float, cells: int, lamps: Array, ambient: Array, bounce: Array) -> tuple[Array, Array]:
    """Height (cells, cells) of what covers the table, mm, `NOTHING` where nothing does, and its light (cells, cells, 3), BGR.

    `rods` (N, 19), `eye` (3,) mm; the grid's first row is the table's north, +-`half_mm`; `bounce` (3,) is the wood's colour.
    """
    height = np.full((cells, cells), NOTHING)
    which = np.full((cells, cells), -1, np.int64)
    at = np.zeros((cells, cells, 4))  # normal's x and y, along and around the rod
    step = 2 * half_mm / cells
    for k in range(len(rods)):
        rod = rods[k]
        f0, f1 = eye[2] / (eye[2] - rod[FIRST + 2]), eye[2] / (eye[2] - rod[LAST + 2])
        ax, ay = eye[0] + (rod[FIRST] - eye[0]) * f0, eye[1] + (rod[FIRST + 1] - eye[1]) * f0
        bx, by = eye[0] + (rod[LAST] - eye[0]) * f1, eye[1] + (rod[LAST + 1] - eye[1]) * f1
        ra, rb = rod[FIRST + 3] * f0, rod[LAST + 3] * f1
        big = max(ra, rb)
        left, right = max(0, int((min(ax, bx) - big + half_mm) / step)), min(cells, int((max(ax, bx) + big + half_mm) / step) + 2)
        top, bottom = max(0, int((half_mm - max(ay, by) - big) / step)), min(cells, int((half_mm - min(ay, by) + big) / step) + 2)
        dx, dy = bx - ax, by - ay
        long2 = dx * dx + dy * dy + 1e-9
        long = math.sqrt(long2)
        for i in range(top, bottom):
            y = half_mm - (i + 0.5) * step
            for j in range(left, right):
                x = -half_mm + (j + 0.5) * step
                t = min(1.0, max(0.0, ((x - ax) * dx + (y - ay) * dy) / long2))
                r = ra + t * (rb - ra)
                ox, oy = x - ax - t * dx, y - ay - t * dy
                u2 = (ox * ox + oy * oy) / (r * r)
                if u2 >= 1:
                    continue
                up = math.sqrt(1 - u2)
                z = rod[FIRST + 2] + t * (rod[LAST + 2] - rod[FIRST + 2]) + (rod[FIRST + 3] + t * (rod[LAST + 3] - rod[FIRST + 3])) * up
                if z <= height[i, j]:
                    continue
                height[i, j], which[i, j] = z, k
                at[i, j, 0], at[i, j, 1], at[i, j, 2] = ox / r, oy / r, t * long
                at[i, j, 3] = r * math.asin(max(-1.0, min(1.0, (ox * dy - oy * dx) / long / r)))
    light, paint = np.zeros((cells, cells, 3)), np.empty(3)
    for i in range(cells):
        for j in range(cells):
            if which[i, j] < 0:
                continue
            rod = rods[which[i, j]]
            lean = _paint(rod, at[i, j, 2], at[i, j, 3], paint)
            nx, ny = at[i, j, 0] + lean, at[i, j, 1] + 0.6 * lean
            size2 = nx * nx + ny * ny
            if size2 > 0.98:
                nx, ny = nx * math.sqrt(0.98 / size2), ny * math.sqrt(0.98 / size2)
            nz = math.sqrt(1 - min(0.98, nx * nx + ny * ny))
            for c in range(3):
                light[i, j, c] = paint[c] * (ambient[c] * (0.4 + 0.6 * nz) + 0.5 * bounce[c] * (1 - nz))
            for m in range(len(lamps)):
                lamp = lamps[m]
                facing = nx * lamp[0] + ny * lamp[1] + nz * lamp[2]
                if facing <= 0:
                    continue
                # Looking straight down, the mirrored ray of a lamp lies halfway between it and the zenith.
                half2 = 2 + 2 * lamp[2]
                shine = ((facing + nz) / math.sqrt(half2)) ** 40 * rod[GLOSS]
                for c in range(3):
                    light[i, j, c] += lamp[9 + c] * (paint[c] * facing + shine)
    return height, light


@fast
def shadow(rods: Array, lamp: Array, half_mm: float, cells: int) -> Array:
    """Share (cells, cells) of one lamp's light that rods keep from the table."""
    out = np.zeros((cells, cells))
    step = 2 * half_mm / cells
    flat = math.sqrt(lamp[0] * lamp[0] + lamp[1] * lamp[1])
    ux, uy = (lamp[0] / flat, lamp[1] / flat) if flat > 1e-6 else (1.0, 0.0)
    steep = max(lamp[2], 0.2)
    wide = 0.5 * (math.sqrt(lamp[3] ** 2 + lamp[4] ** 2 + lamp[5] ** 2) + math.sqrt(lamp[6] ** 2 + lamp[7] ** 2 + lamp[8] ** 2))
    for k in range(len(rods)):
        rod = rods[k]
        shift0, shift1 = rod[FIRST + 2] * flat / steep, rod[LAST + 2] * flat / steep
        # Along the light's way lengths are taken `steep` times: a sphere's shadow is that much longer than wide.
        ax, ay = rod[FIRST] - ux * shift0, rod[FIRST + 1] - uy * shift0
        bx, by = rod[LAST] - ux * shift1, rod[LAST + 1] - uy * shift1
        a0, a1 = (ax * ux + ay * uy) * steep, ay * ux - ax * uy
        d0, d1 = (bx * ux + by * uy) * steep - a0, by * ux - bx * uy - a1
        long2 = d0 * d0 + d1 * d1 + 1e-9
        ra, rb = rod[FIRST + 3], rod[LAST + 3]
        sa, sb = _SPREAD_MM + max(rod[FIRST + 2], 0.0) * wide / steep, _SPREAD_MM + max(rod[LAST + 2], 0.0) * wide / steep
        big = (max(ra, rb) + max(sa, sb)) / steep
        left, right = max(0, int((min(ax, bx) - big + half_mm) / step)), min(cells, int((max(ax, bx) + big + half_mm) / step) + 2)
        top, bottom = max(0, int((half_mm - max(ay, by) - big) / step)), min(cells, int((half_mm - min(ay, by) + big) / step) + 2)
        for i in range(top, bottom):
            y = half_mm - (i + 0.5) * step
            for j in range(left, right):
                if out[i, j] >= 1:
                    continue
                x = -half_mm + (j + 0.5) * step
                q0, q1 = (x * ux + y * uy) * steep - a0, y * ux - x * uy - a1
                t = min(1.0, max(0.0, (q0 * d0 + q1 * d1) / long2))
                o0, o1 = q0 - t * d0, q1 - t * d1
                r, s = ra + t * (rb - ra), sa + t * (sb - sa)
                share = min(1.0, max(0.0, 0.5 + 0.5 * (r - math.sqrt(o0 * o0 + o1 * o1)) / s))
                share = share * share * (3 - 2 * share) * min(1.0, r / s)
                out[i, j] = max(out[i, j], share)
    return out
