"""A random close-up: one disc or none in the middle, neighbours, rails and lines about it, lamps, camera; truth beside it.

Ranges are wide on purpose: wood, paint, wear, lamps and cameras differ more here than between real tables, so that a network can't
learn one table by heart (domain randomisation, Tobin et al. 2017).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from models.training.surfaces import DISC_COLUMNS, TABLE_COLUMNS
from rules.table import (
    CIRCLE_RADIUS_MM,
    HALF_MM,
    PIECE_THICKNESS_MM,
    POCKET_RADIUS_MM,
    POCKETS_MM,
    RAIL_HEIGHT_MM,
    ZONE_LINE_MM,
    Colour,
    Kind,
)
from virtual_table.look import BLACKS, CLOTHS, RAIL_WOODS, REDS, STRIKERS, WOODS
from virtual_table.optics import Optics, random_camera
from vision.discs.solid import solid_of

Array = NDArray[np.float64]
Lying = Literal["flat", "stacked", "on_side", "none"]

MODES: Final = (("gs", 0.5), ("hqbin", 0.25), ("cm3", 0.15), ("hq", 0.1))
LYING: Final[tuple[tuple[Lying, float], ...]] = (("flat", 0.70), ("stacked", 0.09), ("on_side", 0.07), ("none", 0.14))
TURNING_MM: Final = 0.06  # radii of discs differ by this much from their nominal ones, one sigma
ROW_SHARE: Final = 0.2  # of the flat pieces lie in a row of their colour along a rail, as at the start of every set
WEIGHT_OVER_MM: Final = 13.0  # a piece lies on another as long as its middle does


@dataclass(frozen=True, slots=True)
class Scene:
    """What is to be traced, and its truth: where a disc of `kind` is asked for (`centre_mm`), and how what is there lies."""

    optics: Optics
    kind: Kind
    lying: Lying
    centre_mm: Array
    discs: Array
    lamps: Array
    ambient: Array
    tilt: Array
    table: Array
    wood_light: Array
    lamp: str


def _paint(rng: np.random.Generator, base: tuple[float, float, float], spread: float) -> Array:
    out: Array = np.clip(np.array(base) * rng.lognormal(0, spread, 3) * rng.lognormal(0, 2 * spread), 0.006, 0.88)
    return out


@dataclass(frozen=True, slots=True)
class _Set:
    """How the discs of one table look: they were painted in one go and have been used alike."""

    red: Array
    black: Array
    striker: Array
    under: Array
    bare: bool
    edge_wear: float
    face_wear: float
    mirrored: float
    rough: float
    rounding: float
    hole_rounding: float
    hollow_mm: float
    even: float


def _colour(rng: np.random.Generator) -> Colour:
    return "red" if rng.random() < 0.5 else "black"


def _new_set(rng: np.random.Generator) -> _Set:
    colour = str(rng.choice(["bare", "bare", "bare", "red", "black"]))
    black = _paint(rng, BLACKS[int(rng.integers(len(BLACKS)))], 0.2)
    if rng.random() < 0.3:  # thin paint that lets brown wood through
        black = black * np.array([1.0, 1.3, 1.7])
    return _Set(
        _paint(rng, REDS[int(rng.integers(len(REDS)))], 0.25),
        black,
        _paint(rng, STRIKERS[colour], 0.12),
        _paint(rng, (0.18, 0.36, 0.55), 0.15),
        colour == "bare",
        float(rng.beta(1.2, 2.0)),
        float(rng.beta(1.0, 3.0)),
        float(rng.choice([0.0, 0.02, 0.04]) * rng.uniform(0.5, 1.6)),
        float(rng.uniform(0.03, 0.5)),
        float(rng.uniform(0.7, 1.8)),
        float(rng.uniform(0.15, 1.4)),
        float(rng.choice([0.0, rng.uniform(0, 1.3)])),
        float(rng.uniform(0, 1)),
    )


def _disc(rng: np.random.Generator, look: _Set, kind: Kind, x: float, y: float, z: float, axes: Array | None = None) -> Array:
    """One disc whose lower face's middle is (x, y, z), or whose middle is, where `axes` (3, 3) turn it."""
    solid, out = solid_of(kind), np.zeros(DISC_COLUMNS)
    half = (solid.height_mm + rng.normal(0, 0.1 if kind != "striker" else 0.25)) / 2
    out[0:3] = x, y, z + (half if axes is None else 0)
    out[3:12] = (np.eye(3) if axes is None else axes).ravel()
    radius = solid.radius_mm + rng.normal(0, TURNING_MM if kind != "striker" else 0.12)
    hole = solid.hole_radius_mm + rng.normal(0, 0.05)
    hollow = max(0.0, look.hollow_mm * rng.uniform(0.7, 1.3) + rng.normal(0, 0.1))
    out[12:18] = radius, hole, half, look.rounding * rng.uniform(0.8, 1.2), look.hole_rounding * rng.uniform(0.8, 1.2), hollow
    base = {"red": look.red, "black": look.black, "striker": look.striker}[kind]
    out[18:21] = np.clip(base * rng.lognormal(0, 0.05, 3) * rng.lognormal(0, 0.12), 0.005, 0.9)
    out[21:24] = look.under * rng.lognormal(0, 0.1)
    painted = kind != "striker" or not look.bare
    wear = rng.uniform(0.3, 1.3)
    grain = rng.uniform(0.0, 0.25) if painted else rng.uniform(0.05, 0.25)
    out[24:32] = (
        look.edge_wear * wear * painted,
        look.face_wear * wear * painted,
        look.mirrored,
        look.rough,
        grain,
        rng.integers(1, 30000),
        rng.uniform(0, 0.3),
        look.even,
    )
    return out


def _lamp(rng: np.random.Generator, azimuth: float, elevation: float, wide: float, narrow: float, colour: Array) -> Array:
    """One lamp as a rectangle on the unit sphere; `colour` is its light on a level surface."""
    to = np.array([math.cos(azimuth) * math.cos(elevation), math.sin(azimuth) * math.cos(elevation), math.sin(elevation)])
    side = np.array([-math.sin(azimuth), math.cos(azimuth), 0.0])
    up = np.cross(to, side)
    turn = rng.uniform(0, math.pi)
    u = (math.cos(turn) * side + math.sin(turn) * up) * wide
    v = (math.cos(turn) * up - math.sin(turn) * side) * narrow
    return np.concatenate([to, u, v, colour / max(to[2], 0.15)])


def _arranged(rng: np.random.Generator, sort: str) -> tuple[float, list[tuple[float, float, float, float]]]:
    """The sky's share of the light, and each lamp's azimuth, elevation and half extents, rad."""
    around, first = 2 * math.pi, rng.uniform(0, 2 * math.pi)
    if sort == "panels":
        lamps = [
            (rng.uniform(0, around), rng.uniform(0.7, 1.5), rng.uniform(0.1, 0.35), rng.uniform(0.1, 0.3))
            for _ in range(int(rng.integers(2, 5)))
        ]
        return rng.uniform(0.25, 0.65), lamps
    if sort == "tubes":
        lamps = [(first + k * rng.uniform(2, 4), rng.uniform(0.7, 1.5), rng.uniform(0.2, 0.6), rng.uniform(0.01, 0.06)) for k in range(2)]
        return rng.uniform(0.2, 0.6), lamps
    if sort == "spot":
        size = rng.uniform(0.01, 0.12)
        return rng.uniform(0.06, 0.4), [(first, rng.uniform(0.45, 1.2), size, size * rng.uniform(0.5, 1))]
    if sort == "window":
        return rng.uniform(0.06, 0.5), [(first, rng.uniform(0.3, 0.9), rng.uniform(0.1, 0.4), rng.uniform(0.1, 0.4))]
    lamps = [
        (rng.uniform(0, around), rng.uniform(0.35, 1.5), rng.uniform(0.02, 0.3), rng.uniform(0.02, 0.2))
        for _ in range(int(rng.integers(1, 4)))
    ]
    return rng.uniform(0.06, 0.7), lamps


def _lamps(rng: np.random.Generator) -> tuple[str, Array, Array, Array]:
    """What sort, lamps (M, 12), the sky's light (3,) and how it leans (2,); a level surface gets 1 of both together."""
    sort = str(rng.choice(["panels", "tubes", "spot", "window", "mixed"]))
    warm = {"panels": 0.05, "tubes": 0.05, "spot": 0.35, "window": -0.1, "mixed": 0.15}[sort] + rng.normal(0, 0.08)
    tint = np.array([1 - 0.8 * warm, 1 - 0.1 * warm, 1 + 0.5 * warm]).clip(0.3, 2.0)
    share, sizes = _arranged(rng, sort)
    parts = rng.dirichlet(np.full(len(sizes), 3.0)) * (1 - share)
    lamps = np.stack([_lamp(rng, *size, tint * part) for size, part in zip(sizes, parts, strict=True)])
    ambient = share * (0.6 * tint + 0.4) * rng.lognormal(0, 0.06, 3)
    return sort, lamps, ambient, rng.normal(0, 0.35, 2)


def _table(rng: np.random.Generator) -> Array:
    out = np.zeros(TABLE_COLUMNS)
    woods = list(WOODS.values())
    out[0:3] = _paint(rng, woods[int(rng.integers(len(woods)))], 0.1)
    out[3] = rng.uniform(0.03, 0.3)
    out[4] = rng.choice([0.0, math.pi / 2]) + rng.normal(0, 0.02)
    out[5] = rng.choice([0.0, 0.02, 0.04]) * rng.uniform(0.5, 1.5)
    out[6] = rng.uniform(0.01, 0.25)
    out[7] = rng.uniform(0.5, 0.95)
    out[8] = rng.uniform(0.35, 0.65)
    out[9:13] = np.array([-1.0, 1.0, -1.0, 1.0]) * ZONE_LINE_MM + rng.normal(0, 0.5, 4)
    out[13:16] = rng.normal(0, 0.3), rng.normal(0, 0.3), CIRCLE_RADIUS_MM + rng.normal(0, 0.4)
    out[16] = rng.random() < 0.6
    out[17] = rng.random() < 0.7
    out[18] = rng.uniform(0, 1.6)
    out[19:22] = _paint(rng, RAIL_WOODS[int(rng.integers(len(RAIL_WOODS)))], 0.2)
    out[22:25] = _paint(rng, CLOTHS[int(rng.integers(len(CLOTHS)))], 0.2)
    out[25] = rng.choice([0.0, 0.0, 0.05, 0.2]) * rng.uniform(0, 1)
    out[26] = rng.uniform(0, 30)
    return out


def _over_pocket(x: float, y: float) -> bool:
    return any(math.hypot(x - px, y - py) < POCKET_RADIUS_MM for px, py in POCKETS_MM.values())


def _place(rng: np.random.Generator, radius: float) -> tuple[float, float]:
    """Where a disc may lie: anywhere, often along a rail or near a line."""
    limit = HALF_MM - radius
    while True:
        x, y = rng.uniform(-limit, limit, 2)
        where = rng.random()
        if where < 0.16:
            x = math.copysign(limit - abs(rng.choice([0.0, rng.exponential(2.0)])), x)
        elif where < 0.4:
            x = math.copysign(ZONE_LINE_MM, x) + rng.normal(0, 9)
        elif where < 0.5:
            angle = rng.uniform(0, 2 * math.pi)
            x, y = (CIRCLE_RADIUS_MM + rng.normal(0, 9)) * np.array([math.cos(angle), math.sin(angle)])
        if rng.random() < 0.5:
            x, y = y, x
        if abs(x) <= limit and abs(y) <= limit and not _over_pocket(x, y):
            return float(x), float(y)


def _neighbours(rng: np.random.Generator, kind: Kind, x: float, y: float) -> list[tuple[Kind, float, float]]:
    """Discs about one: rows, clusters, now and then none."""
    out: list[tuple[Kind, float, float]] = []
    taken = [(x, y, solid_of(kind).radius_mm)]
    wanted = int(rng.choice([0, 0, 0, 1, 1, 2, 2, 3, 4]))
    for _ in range(wanted * 6):
        if len(out) == wanted:
            break
        other: Kind = "striker" if kind != "striker" and rng.random() < 0.12 else _colour(rng)
        radius = solid_of(other).radius_mm
        gap = float(rng.choice([0.0, abs(rng.normal(0, 0.5)), rng.exponential(8)]))
        angle = rng.uniform(0, 2 * math.pi) if rng.random() < 0.6 else rng.integers(0, 4) * math.pi / 2
        from_x, from_y, from_radius = taken[0] if rng.random() < 0.7 else taken[int(rng.integers(len(taken)))]
        nx, ny = (np.array([from_x, from_y]) + (from_radius + radius + gap) * np.array([math.cos(angle), math.sin(angle)])).tolist()
        if max(abs(nx), abs(ny)) > HALF_MM - radius or _over_pocket(nx, ny):
            continue
        if all(math.hypot(nx - a, ny - b) >= radius + c - 1e-6 for a, b, c in taken):
            out.append((other, nx, ny))
            taken.append((nx, ny, radius))
    return out


def _row(rng: np.random.Generator, kind: Kind) -> tuple[float, float, list[tuple[Kind, float, float]]]:
    """A part of a start position: a piece with pieces of its colour on either side along a rail."""
    radius = solid_of(kind).radius_mm
    rail = HALF_MM - radius - abs(float(rng.choice([0.0, rng.exponential(0.3)])))
    along = float(rng.uniform(-0.4, 0.4)) * HALF_MM
    toward, side = rng.choice([-1.0, 1.0]), int(rng.integers(2))
    before, behind = rng.integers(0, 4, 2)
    out: list[tuple[Kind, float, float]] = []
    for way, count in ((-1.0, before), (1.0, behind)):
        at = along
        for _ in range(count):
            at += way * (2 * radius + float(rng.choice([0.0, 0.0, rng.exponential(0.2)])))
            out.append((kind, at, toward * (rail - abs(rng.normal(0, 0.1)))))
    places = [(kind, along, toward * rail), *out]
    turned = [(k, a, b) if side else (k, b, a) for k, a, b in places]
    return turned[0][1], turned[0][2], turned[1:]


def _on_side(rng: np.random.Generator) -> Array:
    """Axes (3, 3) of a disc that stands on its rim."""
    angle = rng.uniform(0, 2 * math.pi)
    along = np.array([math.cos(angle), math.sin(angle), 0.0])
    return np.stack([np.array([-along[1], along[0], 0.0]), np.array([0.0, 0.0, 1.0]), along])


def random_scene(rng: np.random.Generator) -> Scene:
    """A close-up as the finder may ask about it: mostly discs, sometimes what is none."""
    mode = str(rng.choice([name for name, _ in MODES], p=[share for _, share in MODES]))
    lying: Lying = rng.choice([name for name, _ in LYING], p=[share for _, share in LYING])
    kind: Kind = rng.choice(["red", "black", "striker"], p=[0.4, 0.4, 0.2])
    if lying == "stacked":
        kind = _colour(rng)
    look, solid = _new_set(rng), solid_of(kind)
    in_row = lying == "flat" and kind != "striker" and rng.random() < ROW_SHARE
    x, y, others = _row(rng, kind) if in_row else (*_place(rng, solid.radius_mm), [])
    centre = np.array([x, y])
    discs: list[Array] = []
    shown = kind
    if lying == "none":
        centre, shown = _nothing(rng, look, kind, x, y, discs)
    else:
        others = others or _neighbours(rng, kind, x, y)
        discs += [_disc(rng, look, other, a, b, 0.0) for other, a, b in others]
        if lying == "flat":
            discs.insert(0, _disc(rng, look, kind, x, y, 0.0))
        elif lying == "stacked":
            away, angle = WEIGHT_OVER_MM * math.sqrt(rng.random()), rng.uniform(0, 2 * math.pi)
            under: Kind = _colour(rng)
            below = _disc(rng, look, under, x + away * math.cos(angle), y + away * math.sin(angle), 0.0)
            discs = [_disc(rng, look, kind, x, y, PIECE_THICKNESS_MM), below]
            discs += [_disc(rng, look, o, a, b, 0.0) for o, a, b in others if math.hypot(a - discs[1][0], b - discs[1][1]) > 30.5]
        else:
            discs.insert(0, _disc(rng, look, kind, x, y, solid.radius_mm, _on_side(rng)))
    optics = random_camera(int(rng.integers(1 << 30)), mode)
    if lying == "stacked":  # the finder takes it for a flat one
        centre = _as_if_flat(optics, x, y, PIECE_THICKNESS_MM, solid.height_mm) + rng.normal(0, 1.0, 2)
    elif lying == "on_side":
        centre = _as_if_flat(optics, x, y, solid.radius_mm, solid.height_mm) + rng.normal(0, 3.0, 2)
    lamp, lamps, ambient, tilt = _lamps(rng)
    table = _table(rng)
    level = ambient + sum(lamp[9:12] * lamp[2] / np.linalg.norm(lamp[0:3]) for lamp in lamps)
    wood = table[0:3] * (1 - 0.6 * table[25]) + 0.5 * table[25]
    rows = np.array(discs).reshape(-1, DISC_COLUMNS)
    return Scene(optics, shown, lying, centre, rows, lamps, ambient, tilt, table, wood * level, lamp)


def whole_table(rng: np.random.Generator) -> Scene:
    """A table with discs all over it, as in play or at its start, nothing in particular asked for."""
    look, discs = _new_set(rng), []
    if rng.random() < 0.2:
        first = _colour(rng)
        x, y, others = _row(rng, first)
        discs += [_disc(rng, look, o, a, b, 0.0) for o, a, b in [(first, x, y), *others]]
    for _ in range(int(rng.choice([0, 3, 8, 14, 20]))):
        one: Kind = "striker" if rng.random() < 0.1 else _colour(rng)
        x, y = _place(rng, solid_of(one).radius_mm)
        sort = rng.random()
        if sort < 0.04:
            discs.append(_disc(rng, look, one, x, y, solid_of(one).radius_mm, _on_side(rng)))
        elif sort < 0.12:
            px, py = list(POCKETS_MM.values())[int(rng.integers(4))]
            discs.append(_disc(rng, look, one, px + rng.normal(0, 15), py + rng.normal(0, 15), -float(rng.uniform(20, 60)), _tilted(rng)))
        elif sort < 0.16:
            along, on = rng.uniform(-HALF_MM, HALF_MM), (HALF_MM + 22) * rng.choice([-1, 1])
            discs.append(_disc(rng, look, one, *((along, on) if rng.random() < 0.5 else (on, along)), RAIL_HEIGHT_MM))
        else:
            group = [(one, x, y), *(_neighbours(rng, one, x, y) if rng.random() < 0.4 else [])]
            for kind, a, b in group:
                if all(math.hypot(a - d[0], b - d[1]) > d[12] + solid_of(kind).radius_mm - 0.5 for d in discs):
                    discs.append(_disc(rng, look, kind, a, b, 0.0))
    lamp, lamps, ambient, tilt = _lamps(rng)
    table = _table(rng)
    level = ambient + sum(lamp[9:12] * lamp[2] / np.linalg.norm(lamp[0:3]) for lamp in lamps)
    wood = table[0:3] * (1 - 0.6 * table[25]) + 0.5 * table[25]
    optics = random_camera(int(rng.integers(1 << 30)), str(rng.choice([name for name, _ in MODES])))
    rows = np.array(discs).reshape(-1, DISC_COLUMNS)
    return Scene(optics, "red", "none", np.zeros(2), rows, lamps, ambient, tilt, table, wood * level, lamp)


def _as_if_flat(optics: Optics, x: float, y: float, raised_mm: float, height_mm: float) -> Array:
    """Where a flat disc's axis would be whose face is seen where that of a raised one is."""
    eye = optics.centre_mm
    out: Array = eye[:2] + (np.array([x, y]) - eye[:2]) * ((eye[2] - height_mm) / (eye[2] - height_mm - raised_mm))
    return out


def _nothing(rng: np.random.Generator, look: _Set, kind: Kind, x: float, y: float, discs: list[Array]) -> tuple[Array, Kind]:
    """A place that a careless finder may take for a disc: beside or between discs, in a shadow, a disc of the other size, bare wood."""
    sort = rng.random()
    if sort < 0.2:
        return np.array([x, y]), kind
    if sort < 0.35:
        other: Kind = "striker" if kind != "striker" else _colour(rng)
        discs.append(_disc(rng, look, other, x, y, 0.0))
        return np.array([x, y]) + rng.normal(0, 3.0, 2), kind
    if sort < 0.5:
        pocket = list(POCKETS_MM.values())[int(rng.integers(4))]
        angle, away = rng.uniform(0, 2 * math.pi), POCKET_RADIUS_MM + rng.normal(0, 12)
        if rng.random() < 0.6:
            shown: Kind = _colour(rng)
            in_bag = pocket[0] + rng.normal(0, 15), pocket[1] + rng.normal(0, 15), -float(rng.uniform(20, 60))
            discs.append(_disc(rng, look, shown, *in_bag, _tilted(rng)))
        return np.array([pocket[0] + away * math.cos(angle), pocket[1] + away * math.sin(angle)]), kind
    near: Kind = _colour(rng)
    discs += [_disc(rng, look, o, a, b, 0.0) for o, a, b in [(near, x, y), *_neighbours(rng, near, x, y)]]
    angle = rng.uniform(0, 2 * math.pi)
    away = solid_of(kind).radius_mm * rng.uniform(0.6, 1.5)
    return np.array([x + away * math.cos(angle), y + away * math.sin(angle)]), kind


def _tilted(rng: np.random.Generator) -> Array:
    axis = np.array([*rng.normal(0, 0.3, 2), 1.0])
    axis /= np.linalg.norm(axis)
    side = np.cross(axis, [1.0, 0.0, 0.0])
    side /= np.linalg.norm(side)
    return np.stack([side, np.cross(axis, side), axis])
