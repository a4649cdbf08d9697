"""Light on a few discs, rails and wood, followed ray by ray: what the quick renderer only suggests, worked out.

Direct light of area lamps with true shadows, one bounce of diffuse light, mirrored light on lacquer and paint. Discs are rounded
cylinders with a hole, met by sphere tracing (Hart 1996); table, rails and pockets are met in closed form. A pixel is the mean of a
grid of rays, whose lamp points and bounce directions are stratified over that grid.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from models.training.surfaces import AXES, PAINT, SIZE, SURFACE, disc_paint, fast, half_height, hash_of, table_paint, wood
from rules.table import HALF_MM, POCKET_RADIUS_MM, POCKETS_MM, RAIL_HEIGHT_MM, RAIL_WIDTH_MM

Array = NDArray[Any]

POCKET_MM: Final = POCKETS_MM["NE"][0]  # of both axes, whatever the corner
RAIL_SHADOW_MM: Final = 160.0  # a rail's shadow reaches no further
_NEVER: Final = 1e9
_MET_MM: Final = 0.01  # from a surface that a ray is said to have met


@fast
def _disc_distance(rho: float, z: float, d: Array) -> float:
    """Signed distance in the profile plane of a disc whose middle is the origin."""
    radius, hole, half = d[SIZE], d[SIZE + 1], half_height(d, rho)
    middle = 0.5 * (radius + hole)
    corner = d[SIZE + 3] if rho > middle else d[SIZE + 4]
    qx = abs(rho - middle) - 0.5 * (radius - hole) + corner
    qz = abs(z) - half + corner
    ox, oz = max(qx, 0.0), max(qz, 0.0)
    return min(max(qx, qz), 0.0) + math.sqrt(ox * ox + oz * oz) - corner


@fast
def _own(d: Array, x: float, y: float, z: float) -> tuple[float, float, float]:
    """A direction in a disc's own frame."""
    a = AXES
    return (
        d[a] * x + d[a + 1] * y + d[a + 2] * z,
        d[a + 3] * x + d[a + 4] * y + d[a + 5] * z,
        d[a + 6] * x + d[a + 7] * y + d[a + 8] * z,
    )


@fast
def _meet_disc(d: Array, px: float, py: float, pz: float, dx: float, dy: float, dz: float, far: float) -> float:
    """Length along a unit ray to a disc, or `_NEVER`."""
    ox, oy, oz = px - d[0], py - d[1], pz - d[2]
    reach2 = d[SIZE] * d[SIZE] + d[SIZE + 2] * d[SIZE + 2]
    along = -(ox * dx + oy * dy + oz * dz)
    apart2 = ox * ox + oy * oy + oz * oz - along * along
    if apart2 > reach2:
        return _NEVER
    half = math.sqrt(reach2 - apart2)
    t, end = max(along - half, 0.0), min(along + half, far)
    if end <= t:
        return _NEVER
    # Into the disc's own frame once; then march in it, between the levels of its faces.
    lx, ly, lz = _own(d, ox, oy, oz)
    vx, vy, vz = _own(d, dx, dy, dz)
    level = d[SIZE + 2] + 2 * _MET_MM
    if abs(vz) > 1e-9:
        one, other = (-level - lz) / vz, (level - lz) / vz
        t, end = max(t, min(one, other)), min(end, max(one, other))
    elif abs(lz) > level:
        return _NEVER
    if end <= t:
        return _NEVER
    for _ in range(40):
        x, y, z = lx + t * vx, ly + t * vy, lz + t * vz
        near = _disc_distance(math.sqrt(x * x + y * y), z, d)
        if near < _MET_MM:
            return t
        t += near
        if t > end:
            return _NEVER
    return _NEVER


@fast
def _meet_rails(px: float, py: float, pz: float, dx: float, dy: float, dz: float) -> tuple[float, int]:
    """Length along a ray to the rails, and which face (1 x, 2 y, 3 top); the rails are a frame, so outside |x| or |y| = 500."""
    best, face = _NEVER, 0
    if dz != 0.0:
        t = (RAIL_HEIGHT_MM - pz) / dz
        if t > 1e-4:
            x, y = abs(px + t * dx), abs(py + t * dy)
            if max(x, y) > HALF_MM and max(x, y) < HALF_MM + RAIL_WIDTH_MM:
                best, face = t, 3
    if dx != 0.0:
        t = (math.copysign(HALF_MM, dx) - px) / dx
        if 1e-4 < t < best:
            y, z = py + t * dy, pz + t * dz
            if 0 <= z <= RAIL_HEIGHT_MM and abs(y) < HALF_MM + RAIL_WIDTH_MM:
                best, face = t, 1
    if dy != 0.0:
        t = (math.copysign(HALF_MM, dy) - py) / dy
        if 1e-4 < t < best:
            x, z = px + t * dx, pz + t * dz
            if 0 <= z <= RAIL_HEIGHT_MM and abs(x) < HALF_MM + RAIL_WIDTH_MM:
                best, face = t, 2
    return best, face


@fast
def _dark(discs: Array, px: float, py: float, pz: float, dx: float, dy: float, dz: float) -> bool:
    """Whether something stands between a point and a lamp."""
    for k in range(len(discs)):
        if _meet_disc(discs[k], px, py, pz, dx, dy, dz, _NEVER) < _NEVER:
            return True
    near_rail = pz < RAIL_HEIGHT_MM and max(abs(px), abs(py)) > HALF_MM - RAIL_SHADOW_MM
    return near_rail and _meet_rails(px, py, pz, dx, dy, dz)[0] < _NEVER


@fast
def _nearest(discs: Array, table: Array, p: Array, v: Array, n: Array, paint: Array, close: bool) -> tuple[float, float, float]:
    """First thing along a ray: its length, mirrored share and roughness; fills normal `n` and `paint` (mean paint unless `close`).

    `_NEVER` for the sky.
    """
    best, which = _NEVER, -1
    for k in range(len(discs)):
        t = _meet_disc(discs[k], p[0], p[1], p[2], v[0], v[1], v[2], best)
        if t < best:
            best, which = t, k
    rail, face = _NEVER, 0
    if max(abs(p[0]), abs(p[1])) > HALF_MM - RAIL_SHADOW_MM or p[2] > 2 * RAIL_HEIGHT_MM:
        rail, face = _meet_rails(p[0], p[1], p[2], v[0], v[1], v[2])
    ground = -p[2] / v[2] if v[2] < -1e-9 else _NEVER
    if ground < best and ground < rail:
        x, y = p[0] + ground * v[0], p[1] + ground * v[1]
        n[0], n[1], n[2] = 0.0, 0.0, 1.0
        if (abs(x) - POCKET_MM) ** 2 + (abs(y) - POCKET_MM) ** 2 < POCKET_RADIUS_MM**2:
            for k in range(3):
                paint[k] = table[22 + k] * 0.4
            return ground, 0.0, 1.0
        if max(abs(x), abs(y)) > HALF_MM:
            for k in range(3):
                paint[k] = 0.1
            return ground, 0.0, 1.0
        if close:
            table_paint(x, y, table, paint)
        else:
            for k in range(3):
                paint[k] = table[k]
        return ground, table[5], table[6]
    if rail < best:
        x, y = p[0] + rail * v[0], p[1] + rail * v[1]
        n[0] = n[1] = n[2] = 0.0
        if face == 3:
            n[2] = 1.0
        elif face == 1:
            n[0] = -math.copysign(1.0, v[0])
        else:
            n[1] = -math.copysign(1.0, v[1])
        grained = wood(y if abs(x) > abs(y) else x, x if abs(x) > abs(y) else y, table[3], 0.0, 31) if close else 1.0
        for k in range(3):
            paint[k] = table[19 + k] * grained
        return rail, table[5], table[6]
    if which < 0:
        return _NEVER, 0.0, 1.0
    d = discs[which]
    ox, oy, oz = p[0] + best * v[0] - d[0], p[1] + best * v[1] - d[1], p[2] + best * v[2] - d[2]
    a = AXES
    x, y, z = _own(d, ox, oy, oz)
    rho = math.sqrt(x * x + y * y) + 1e-9
    step = 0.02
    gr = _disc_distance(rho + step, z, d) - _disc_distance(rho - step, z, d)
    gz = _disc_distance(rho, z + step, d) - _disc_distance(rho, z - step, d)
    size = math.sqrt(gr * gr + gz * gz) + 1e-12
    nr, nz = gr / size, gz / size
    nx, ny = nr * x / rho, nr * y / rho
    n[0] = d[a] * nx + d[a + 3] * ny + d[a + 6] * nz
    n[1] = d[a + 1] * nx + d[a + 4] * ny + d[a + 7] * nz
    n[2] = d[a + 2] * nx + d[a + 5] * ny + d[a + 8] * nz
    if close:
        disc_paint(d, x, y, z, paint)
    else:
        for k in range(3):
            paint[k] = d[PAINT + k]
    return best, d[SURFACE + 2], d[SURFACE + 3]


@fast
def _within(offset: float, half: float, rough: float) -> float:
    """How much of a lobe as wide as `rough` about `offset` lies within -half..half."""
    low, high = max(offset - rough, -half), min(offset + rough, half)
    return max(0.0, high - low) / (2 * rough)


@fast
def _sky(lamps: Array, ambient: Array, tilt: Array, v: Array, rough: float, out: Array) -> None:
    """Light from a direction in which nothing stands; lamps too unless `rough` is negative, spread by it as a rough coat spreads them."""
    level = max(0.0, 1 + tilt[0] * v[0] + tilt[1] * v[1])
    for k in range(3):
        out[k] = ambient[k] * level
    if rough < 0:
        return
    for i in range(len(lamps)):
        m = lamps[i]
        front = v[0] * m[0] + v[1] * m[1] + v[2] * m[2]
        if front <= 0.1:
            continue
        qx, qy, qz = v[0] / front - m[0], v[1] / front - m[1], v[2] / front - m[2]
        uu, vv = m[3] * m[3] + m[4] * m[4] + m[5] * m[5], m[6] * m[6] + m[7] * m[7] + m[8] * m[8]
        half_u, half_v = math.sqrt(uu), math.sqrt(vv)
        a, b = (qx * m[3] + qy * m[4] + qz * m[5]) / half_u, (qx * m[6] + qy * m[7] + qz * m[8]) / half_v
        share = _within(a, half_u, rough) * _within(b, half_v, rough)
        for k in range(3):
            out[k] += share * m[9 + k] * math.pi / max(4 * half_u * half_v, 0.002)


@fast
def _direct(discs: Array, lamps: Array, p: Array, n: Array, a: float, b: float, out: Array) -> None:
    """Irradiance over pi from the lamps, each from one point (a, b in -1..1) of its area."""
    for k in range(3):
        out[k] = 0.0
    for i in range(len(lamps)):
        m = lamps[i]
        dx, dy, dz = m[0] + a * m[3] + b * m[6], m[1] + a * m[4] + b * m[7], m[2] + a * m[5] + b * m[8]
        size = math.sqrt(dx * dx + dy * dy + dz * dz)
        dx, dy, dz = dx / size, dy / size, dz / size
        facing = n[0] * dx + n[1] * dy + n[2] * dz
        if facing <= 0 or dz <= 0.02:
            continue
        if _dark(discs, p[0] + 0.06 * n[0], p[1] + 0.06 * n[1], p[2] + 0.06 * n[2], dx, dy, dz):
            continue
        for k in range(3):
            out[k] += m[9 + k] * facing


@fast
def _glance(
    discs: Array,
    lamps: Array,
    ambient: Array,
    tilt: Array,
    table: Array,
    p: Array,
    v: Array,
    rough: float,
    a: float,
    b: float,
    out: Array,
) -> None:
    """Light that comes back along a second ray: sky and lamps, or a surface with its direct light and a guess at the rest."""
    n, paint, light = np.empty(3), np.empty(3), np.empty(3)
    t, _, _ = _nearest(discs, table, p, v, n, paint, False)
    if t >= _NEVER:
        _sky(lamps, ambient, tilt, v, rough, out)
        return
    q = np.empty(3)
    for k in range(3):
        q[k] = p[k] + t * v[k]
    _direct(discs, lamps, q, n, a, b, light)
    open_sky = 0.35 + 0.35 * n[2]
    for k in range(3):
        out[k] = paint[k] * (light[k] + ambient[k] * open_sky)


@fast
def trace(
    centre: Array, floor: Array, grid: int, discs: Array, lamps: Array, ambient: Array, tilt: Array, table: Array, seed: int
) -> Array:
    """Light of a patch.

    Parameters: `centre` (3,) of the camera, mm; `floor` (rows * grid, columns * grid, 2): where each ray meets z = 0, mm; `discs`
    (N, 32), `lamps` (M, 12), `ambient` (3,), `tilt` (2,) of the sky's light, `table` (27,). Returns (rows, columns, 3), BGR.
    """
    rows, columns = floor.shape[0] // grid, floor.shape[1] // grid
    out = np.zeros((rows, columns, 3))
    v, p, n, paint, light, more = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    count = grid * grid
    for row in range(rows):
        for column in range(columns):
            shift = int(hash_of(column, row, seed) * count)
            turn = hash_of(column, row, seed + 1)
            for k in range(count):
                i, j = k // grid, k % grid
                x, y = floor[row * grid + i, column * grid + j, 0], floor[row * grid + i, column * grid + j, 1]
                v[0], v[1], v[2] = x - centre[0], y - centre[1], -centre[2]
                size = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
                for c in range(3):
                    v[c] /= size
                    p[c] = centre[c]
                t, mirrored, rough = _nearest(discs, table, p, v, n, paint, True)
                if t >= _NEVER:
                    continue
                for c in range(3):
                    p[c] += t * v[c]
                m = (k * 7 + shift) % count
                a = ((m // grid) + hash_of(column * 97 + k, row, seed + 2)) / grid * 2 - 1
                b = ((m % grid) + hash_of(column * 97 + k, row, seed + 3)) / grid * 2 - 1
                _direct(discs, lamps, p, n, a, b, light)
                for c in range(3):
                    out[row, column, c] += paint[c] * light[c]
                # One diffuse bounce: cosine-weighted about the normal.
                m = (k * 5 + shift + 3) % count
                around = 2 * math.pi * (((m % grid) + 0.5) / grid + turn)
                lift = math.sqrt(((m // grid) + hash_of(column, row * 89 + k, seed + 4)) / grid)
                tx, ty, tz = (0.0, -n[2], n[1]) if abs(n[0]) < 0.7 else (n[2], 0.0, -n[0])
                ts = math.sqrt(tx * tx + ty * ty + tz * tz)
                tx, ty, tz = tx / ts, ty / ts, tz / ts
                bx, by, bz = n[1] * tz - n[2] * ty, n[2] * tx - n[0] * tz, n[0] * ty - n[1] * tx
                cu, cv, cn = lift * math.cos(around), lift * math.sin(around), math.sqrt(max(0.0, 1 - lift * lift))
                start = np.empty(3)
                for c in range(3):
                    start[c] = p[c] + 0.06 * n[c]
                w = np.empty(3)
                w[0], w[1], w[2] = cu * tx + cv * bx + cn * n[0], cu * ty + cv * by + cn * n[1], cu * tz + cv * bz + cn * n[2]
                _glance(discs, lamps, ambient, tilt, table, start, w, -1.0, b, a, more)
                for c in range(3):
                    out[row, column, c] += paint[c] * more[c]
                if mirrored > 0.003:
                    cosine = -(v[0] * n[0] + v[1] * n[1] + v[2] * n[2])
                    # Schlick 1994; a rough coat shows less of it.
                    share = mirrored + (1 - mirrored) * (1 - rough) * (1 - max(0.0, cosine)) ** 5
                    for c in range(3):
                        w[c] = v[c] + 2 * cosine * n[c]
                    _glance(discs, lamps, ambient, tilt, table, start, w, max(rough, 0.02), a, b, more)
                    for c in range(3):
                        out[row, column, c] += share * min(more[c], 30.0)
    return out / count
