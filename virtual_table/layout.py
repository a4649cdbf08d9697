"""Where pieces lie before anybody strikes: the start position, and positions as they come up in the middle of a set."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from rules.table import HALF_MM, POCKET_RADIUS_MM, POCKETS_MM, Colour, Kind, Side, radius_mm

PIECES: Final = 8  # of each player in singles
NAMES: Final[dict[str, Colour]] = {f"{kind[0]}{n + 1}": kind for kind in ("red", "black") for n in range(PIECES)}
Position = dict[str, tuple[Kind, float, float]]


def start(colour: dict[Side, Colour]) -> Position:
    """Each player's pieces tight at the opposite rail, four each side of the midline (10.3)."""
    deep = HALF_MM - radius_mm("red")
    out: Position = {}
    opposite: tuple[tuple[Side, float], ...] = (("S", deep), ("N", -deep))
    for side, y in opposite:
        kind = colour[side]
        for n in range(PIECES):
            out[f"{kind[0]}{n + 1}"] = (kind, (n - 3.5) * 2 * radius_mm(kind), y)
    return out


def scattered(rng: np.random.Generator, least: int = 2, most: int = PIECES) -> Position:
    """Some pieces of each colour, anywhere: some alone, some touching another one, some tight at a rail."""
    out: Position = {}
    for kind in ("red", "black"):
        for n in range(int(rng.integers(least, most + 1))):
            spot = None
            while spot is None:
                spot = _somewhere(rng, kind, out)
            out[f"{kind[0]}{n + 1}"] = (kind, *spot)
    return out


def free_spot(rng: np.random.Generator, kind: Kind, taken: Position) -> tuple[float, float]:
    """A random place with room around it."""
    while True:
        limit = HALF_MM - radius_mm(kind)
        x, y = (float(v) for v in rng.uniform(-limit, limit, 2))
        if _room(kind, x, y, taken, 8.0):
            return x, y


def _somewhere(rng: np.random.Generator, kind: Kind, taken: Position) -> tuple[float, float] | None:
    limit = HALF_MM - radius_mm(kind)
    x, y = (float(v) for v in rng.uniform(-limit, limit, 2))
    how = rng.random()
    if how < 0.15 and taken:
        names = sorted(taken)
        _, ox, oy = taken[names[int(rng.integers(len(names)))]]
        away, turn = 2 * radius_mm(kind) + float(rng.choice([0.0, 0.5, 3.0])), float(rng.uniform(0, 2 * math.pi))
        x, y = ox + away * math.cos(turn), oy + away * math.sin(turn)
        if max(abs(x), abs(y)) > limit:
            return None
    elif how < 0.3:
        x = math.copysign(limit, x)
    elif how < 0.34:
        px, py = POCKETS_MM[("SW", "SE", "NE", "NW")[int(rng.integers(4))]]
        turn = math.atan2(-py, -px) + float(rng.uniform(-1, 1))
        away = POCKET_RADIUS_MM + float(rng.uniform(0.3, 2.5))
        x, y = px + away * math.cos(turn), py + away * math.sin(turn)
    return (x, y) if _room(kind, x, y, taken, 0.0) else None


def _room(kind: Kind, x: float, y: float, taken: Position, margin_mm: float) -> bool:
    apart = all(math.hypot(x - a, y - b) >= radius_mm(kind) + radius_mm(k) + margin_mm - 1e-9 for k, a, b in taken.values())
    return apart and all(math.hypot(x - a, y - b) > POCKET_RADIUS_MM + 0.2 + margin_mm for a, b in POCKETS_MM.values())
