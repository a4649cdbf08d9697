"""What surfaces look like, worked out where a ray meets them: grain, lines and their wear, paint, chips and flecks.

Also the columns of the arrays that describe discs, lamps and table: the tracer is compiled, and takes plain arrays only.
"""

from __future__ import annotations

import math
from typing import Any, Final

from numba import njit
from numpy.typing import NDArray

from rules.table import CIRCLE_RADIUS_MM, ZONE_LINE_MM

Array = NDArray[Any]

# Columns of one disc.
CENTRE, AXES, SIZE, PAINT, UNDER, SURFACE = 0, 3, 12, 18, 21, 24
DISC_COLUMNS: Final = 32
# `SIZE`: radius, hole radius, half height, outer rounding, inner rounding, dish depth (mm). `SURFACE`: wear of the edge, wear of the
# face, mirrored share, roughness, grain, texture seed, speckle, how even a hollow face's floor is.
# Columns of one lamp: direction to it, two half-extent vectors, light BGR.
LAMP_COLUMNS: Final = 12
# Columns of the table: wood BGR, grain, grain angle, mirrored share, roughness, line darkness, line half width, S N W E lines,
# circle x y radius, diameter angle, midlines, rail to rail, fade seed, rail BGR, cloth BGR, haze.
TABLE_COLUMNS: Final = 27

fast = njit(cache=True, fastmath=True)


@fast
def hash_of(x: int, y: int, seed: int) -> float:
    """A number 0..1 that looks random and is always the same for the same three."""
    h = (x * 374761393 + y * 668265263 + seed * 2147483647 + 1013904223) & 0xFFFFFFFF
    h = ((h ^ (h >> 13)) * 1274126177) & 0xFFFFFFFF
    h = ((h ^ (h >> 16)) * 2246822519) & 0xFFFFFFFF
    return ((h ^ (h >> 15)) & 0xFFFFFF) / 16777216.0


@fast
def noise(x: float, y: float, seed: int) -> float:
    """Smooth value noise, 0..1, one cell per unit."""
    fx, fy = math.floor(x), math.floor(y)
    u, v = x - fx, y - fy
    u, v = u * u * (3 - 2 * u), v * v * (3 - 2 * v)
    i, j = int(fx), int(fy)
    a = hash_of(i, j, seed) * (1 - u) + hash_of(i + 1, j, seed) * u
    b = hash_of(i, j + 1, seed) * (1 - u) + hash_of(i + 1, j + 1, seed) * u
    return a * (1 - v) + b * v


@fast
def _line(distance: float, along: float, table: Array, seed: int) -> float:
    """How much of a drawn line covers a point: 1 inside, with worn places along it."""
    if abs(distance) > table[8] + 0.15:
        return 0.0
    cover = min(1.0, (table[8] + 0.15 - abs(distance)) / 0.3)
    worn = noise(along * 0.05, distance * 0.7, seed) + 0.3 * noise(along * 0.6, distance, seed + 1)
    return cover * min(1.0, max(0.0, 1.25 - table[18] * worn))


@fast
def lines(x: float, y: float, table: Array) -> float:
    """Share of a table point that is covered by drawn lines."""
    seed = int(table[26] * 1000) + 7
    out, limit = 0.0, 1e9 if table[17] > 0.5 else ZONE_LINE_MM + 0.6
    for k in range(2):
        if abs(x) < limit:
            out = max(out, _line(y - table[9 + k], x, table, seed + k))
        if abs(y) < limit:
            out = max(out, _line(x - table[11 + k], y, table, seed + 2 + k))
    r = math.sqrt((x - table[13]) ** 2 + (y - table[14]) ** 2)
    out = max(out, _line(r - table[15], math.atan2(y, x) * CIRCLE_RADIUS_MM, table, seed + 5))
    if r < table[15]:
        out = max(out, _line(x, y, table, seed + 6), _line(y, x, table, seed + 7))
    if table[16] > 0.5:
        if abs(y) > ZONE_LINE_MM:
            out = max(out, _line(x, y, table, seed + 8))
        if abs(x) > ZONE_LINE_MM:
            out = max(out, _line(y, x, table, seed + 9))
    return out


@fast
def wood(x: float, y: float, grain: float, angle: float, seed: int) -> float:
    """Light of wood relative to its mean."""
    c, s = math.cos(angle), math.sin(angle)
    u, v = c * x + s * y, c * y - s * x
    bands = noise(u * 0.004, v * 0.08, seed) - 0.5
    fibres = noise(u * 0.02, v * 0.9, seed + 1) - 0.5
    pores = noise(u * 0.15, v * 2.6, seed + 2) - 0.5
    return 1 + grain * (1.2 * bands + 1.0 * fibres + 0.7 * pores)


@fast
def half_height(d: Array, rho: float) -> float:
    """Half of a disc's height so far from its axis: faces may be turned hollow, deeper toward the hole, in a bowl or with a lip."""
    out2 = min(1.0, (rho / d[SIZE]) ** 2)
    even = d[SURFACE + 7]
    return d[SIZE + 2] - d[SIZE + 5] * (1 - (1 - even) * out2 - even * out2**4)


@fast
def disc_paint(d: Array, x: float, y: float, z: float, out: Array) -> None:
    """Colour of a disc's surface at a point of its own frame."""
    s = SURFACE
    seed = int(d[s + 5])
    rho = math.sqrt(x * x + y * y)
    half = half_height(d, rho)
    turn = math.atan2(y, x)
    edge = max(0.0, 1 - abs(d[SIZE] - rho) / 2.5) * max(0.0, 1 - abs(abs(z) - half) / 2.0)
    rim = max(0.0, 1 - abs(rho - d[SIZE + 1]) / 1.5)
    spots = 0.65 * noise(turn * 4 + 50, rho * 0.35 + z * 0.4, seed) + 0.35 * noise(x * 0.7 + 9, y * 0.7 + z * 0.3, seed + 1)
    if seed % 3:  # worn along the grain, as often as not
        c, t = math.cos(seed * 0.37), math.sin(seed * 0.37)
        u, v = c * x + t * y, c * y - t * x
        flecks = 0.6 * noise(u * 0.11, v * 0.9 + z, seed + 2) + 0.4 * noise(u * 0.35, v * 2.2 + z, seed + 3)
    else:
        flecks = 0.6 * noise(x * 0.35, y * 0.35 + z, seed + 2) + 0.4 * noise(x * 1.1, y * 1.1 + z, seed + 3)
    worn = d[s] * (1.1 * edge + 0.5 * rim) + d[s + 1] * 0.55
    bare = min(1.0, max(0.0, (worn + 0.5 * max(spots, flecks) - 0.78) / 0.1)) if worn > 0 else 0.0
    if abs(z) > half - 0.6:
        grained = wood(x * 1.3, y * 1.3, d[s + 4], seed * 0.37, seed + 4)
    else:
        grained = 1 + d[s + 4] * 1.3 * (noise(turn * 12, z * 0.8, seed + 5) - 0.5)
    speckle = 1 + d[s + 6] * (noise(x * 0.25, y * 0.25, seed + 6) - 0.5)
    for k in range(3):
        out[k] = (d[PAINT + k] * speckle * (1 - bare) + d[UNDER + k] * bare) * grained


@fast
def table_paint(x: float, y: float, table: Array, out: Array) -> None:
    """Colour of the table at a point: wood, lines, powder."""
    grained = wood(x, y, table[3], table[4], int(table[26] * 500))
    covered = lines(x, y, table) * table[7]
    haze = table[25] * (0.3 + 0.7 * noise(x * 0.02, y * 0.02, 77))
    for k in range(3):
        bare = table[k] * grained * (1 - covered * (1 - 0.1))
        out[k] = bare * (1 - haze) + 0.85 * haze
