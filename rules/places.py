"""Free places: 12.11 beside a disc, 12.14 after a jump over a rail, and the nearest place to a taken one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

from rules.facts import Disc, SeenDisc
from rules.reading import SIGMAS
from rules.ruling import Place
from rules.table import (
    CIRCLE_RADIUS_MM,
    CLOCKWISE,
    HALF_LINE_MM,
    HALF_MM,
    PIECE_DIAMETER_MM,
    POCKET_RADIUS_MM,
    POCKETS_MM,
    TOWARD,
    Side,
    radius_mm,
)

Point = tuple[float, float]

PIECE_RADIUS_MM: Final = PIECE_DIAMETER_MM / 2
AT_LINE_MM: Final = CIRCLE_RADIUS_MM - HALF_LINE_MM - PIECE_RADIUS_MM  # 12.14: the rim touches the line from inside
TOUCHING_MM: Final = 1e-6  # discs that touch do not overlap; positions are sums of short decimals
LEAST_FROM_POCKET_MM: Final = POCKET_RADIUS_MM + PIECE_RADIUS_MM  # nothing of the piece over the hole
IN_PLACE_MM: Final = 0.5  # a piece this near to its place lies there: what a careful hand can do
RING_STEP_MM: Final = 1.0  # how finely the nearest free place is searched; a hand places no finer
RING_ANGLES: Final = 72  # every 5 degrees
_CORNERS: Final[dict[str, Side]] = {"SW": "S", "NW": "W", "NE": "N", "SE": "E"}  # the side clockwise before the corner


def occupied(place: Point, board: Iterable[Disc]) -> bool:
    """Whether another disc would overlap a piece at this place."""
    x, y = place
    for disc in board:
        reach = radius_mm(disc.kind) + PIECE_RADIUS_MM - TOUCHING_MM
        dx, dy = disc.x_mm - x, disc.y_mm - y
        if dx * dx + dy * dy < reach * reach:
            return True
    return False


def on_surface(place: Point) -> bool:
    """Whether a piece lies flat there: off the rails and not over a pocket."""
    x, y = place
    edge = HALF_MM - PIECE_RADIUS_MM + TOUCHING_MM
    if abs(x) > edge or abs(y) > edge:
        return False
    return all(math.hypot(x - px, y - py) >= LEAST_FROM_POCKET_MM - TOUCHING_MM for px, py in POCKETS_MM.values())


def over_rail_places(rail: str) -> list[Point]:
    """12.14's order of places for a piece that left by this rail or corner."""
    places: list[Point] = [(0.0, 0.0)]
    if rail in _CORNERS:
        out = AT_LINE_MM / math.sqrt(2.0)
        places.append((out if "E" in rail else -out, out if "N" in rail else -out))
        start = CLOCKWISE.index(_CORNERS[rail])
    else:
        start = next(n for n, side in enumerate(CLOCKWISE) if side == rail)
    order = CLOCKWISE[start:] + CLOCKWISE[:start]
    for out in (AT_LINE_MM, AT_LINE_MM / 2):
        places += [(TOWARD[side][0] * out, TOWARD[side][1] * out) for side in order]
    return places


def first_free(places: Iterable[Point], board: Sequence[Disc]) -> Point | None:
    """The first of the places that no disc occupies."""
    return next((p for p in places if not occupied(p, board)), None)


def nearest_free(place: Point, board: Sequence[Disc], toward: Point = (0.0, 1.0), least_mm: float = 0.0) -> Point:
    """The free place nearest to the given one, at least `least_mm` away; of equally near ones the first from `toward` on.

    There always is one: all 33 discs together cover less than a twentieth of the table (25.2).
    """
    base = math.atan2(toward[1], toward[0])
    steps = sorted(range(RING_ANGLES), key=lambda n: min(n, RING_ANGLES - n))
    out = least_mm
    while True:
        for n in steps:
            angle = base + 2 * math.pi * n / RING_ANGLES
            at = (place[0] + out * math.cos(angle), place[1] + out * math.sin(angle))
            if on_surface(at) and not occupied(at, board):
                return at
        out += RING_STEP_MM


def beside(under: Disc, lean: Point, board: Sequence[Disc]) -> Point:
    """12.11: tight beside the disc it lies on, on the side it leans to, else the nearest free place."""
    length = math.hypot(*lean) or 1.0
    toward = (lean[0] / length, lean[1] / length) if any(lean) else (0.0, 1.0)
    return nearest_free((under.x_mm, under.y_mm), board, toward, radius_mm(under.kind) + PIECE_RADIUS_MM)


def not_in_place(wanted: Iterable[Place], board: Iterable[Disc | SeenDisc], sigmas: float = SIGMAS) -> list[Place]:
    """Of the places that a ruling names, those where no piece of that colour lies; a piece serves one place.

    `sigmas`: how much of its uncertainty speaks for a piece.
    """
    left, missing = list(board), []
    for place in wanted:
        near = [d for d in left if d.kind == place.kind and _away_mm(d, place) <= IN_PLACE_MM + sigmas * (d.sigma_mm or 0.0)]
        if near:
            left.remove(min(near, key=lambda d: _away_mm(d, place)))
        else:
            missing.append(place)
    return missing


def _away_mm(disc: Disc | SeenDisc, place: Place) -> float:
    return math.hypot(disc.x_mm - place.x_mm, disc.y_mm - place.y_mm)
