"""17.3-17.6, 21.6: where a penalty piece goes, and when it is a debt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from rules.facts import Disc
from rules.places import LEAST_FROM_POCKET_MM, PIECE_RADIUS_MM, TOUCHING_MM, Point
from rules.state import START_DEPTH_MM, START_OFFSETS_MM
from rules.table import OPPOSITE, POCKETS_MM, TOWARD, Colour, Side, radius_mm

AXIS_MM: Final = START_DEPTH_MM  # 17.3: tight against the rail, axis 15 mm from it
# Along the rail a piece stays clear of the pockets' holes: 50 mm across from the hole's centre leaves this much.
FARTHEST_MM: Final = POCKETS_MM["NE"][0] - math.sqrt(LEAST_FROM_POCKET_MM**2 - (AXIS_MM - POCKETS_MM["NE"][1]) ** 2)
STILL_MM: Final = 1.0  # a start place is still held by a piece this close to it; the same figure as "moved"


def along(side: Side, x_mm: float, y_mm: float) -> float:
    """Coordinate along a side's rail: x for S and N, y for W and E."""
    return x_mm if TOWARD[side][0] == 0 else y_mm


def _blocked(rail: Side, board: Sequence[Disc]) -> list[tuple[float, float]]:
    """Open intervals along the rail where a piece against it would overlap a disc."""
    out = []
    for disc in board:
        dx, dy = TOWARD[rail]
        gap = AXIS_MM - (dx * disc.x_mm + dy * disc.y_mm)
        reach = radius_mm(disc.kind) + PIECE_RADIUS_MM
        if abs(gap) < reach - TOUCHING_MM:
            half = math.sqrt(reach * reach - gap * gap)
            at = along(rail, disc.x_mm, disc.y_mm)
            out.append((at - half, at + half))
    return sorted(out)


def _nearest(blocked: list[tuple[float, float]], sign: int) -> float | None:
    """The free place nearest to the midline going one way."""
    at = 0.0
    spans = blocked if sign > 0 else [(-b, -a) for a, b in reversed(blocked)]
    for low, high in spans:
        if low + TOUCHING_MM < at < high - TOUCHING_MM:
            at = high
    return sign * at if at <= FARTHEST_MM + TOUCHING_MM else None


def _half(board: Sequence[Disc], rail: Side, sign: int, colour: Colour | None) -> int:
    return sum(1 for d in board if d.kind != "striker" and (colour is None or d.kind == colour) and along(rail, d.x_mm, d.y_mm) * sign > 0)


def penalty_place(side: Side, colour: Colour, board: Sequence[Disc], made_from: Point | None, nearer_first: bool) -> Point | None:
    """17.3: the midline tight against the rail opposite the punished player, else as near to it as fits; None if nothing fits.

    `made_from` is where the striker lay for the stroke; `nearer_first` is False where the half with fewer own pieces is taken at once.
    """
    rail = OPPOSITE[side]
    blocked = _blocked(rail, board)
    low, high = _nearest(blocked, -1), _nearest(blocked, 1)
    at: float | None
    if low is None or high is None:
        at = high if low is None else low
    elif high == 0.0:
        at = 0.0
    elif nearer_first and abs(abs(low) - high) > TOUCHING_MM:
        at = low if -low < high else high
    else:
        at = low if _lower_half(board, rail, side, colour, made_from) else high
    if at is None:
        return None
    dx, dy = TOWARD[rail]
    return (at, dy * AXIS_MM) if dx == 0 else (dx * AXIS_MM, at)


def _lower_half(board: Sequence[Disc], rail: Side, side: Side, colour: Colour, made_from: Point | None) -> bool:
    """Whether the half with negative coordinates takes the piece: fewer own, then fewer pieces, then where the stroke was made from."""
    for kind in (colour, None):
        low, high = _half(board, rail, -1, kind), _half(board, rail, 1, kind)
        if low != high:
            return low < high
    at = 0.0 if made_from is None else along(rail, *made_from)
    if at == 0.0:
        # From the midline itself no half is named: the player's right hand, so that turning the table turns the place with it.
        return (TOWARD[side][0] + TOWARD[side][1]) * (1 if TOWARD[side][0] == 0 else -1) > 0
    return at < 0.0


def row_moved(side: Side, colour: Colour, board: Sequence[Disc]) -> bool:
    """21.6: whether the pieces set up opposite this player are no longer all in their row."""
    rail = OPPOSITE[side]
    dx, dy = TOWARD[rail]
    held = 0
    for offset in START_OFFSETS_MM:
        x, y = (offset, dy * AXIS_MM) if dx == 0 else (dx * AXIS_MM, offset)
        held += any(d.kind == colour and math.hypot(d.x_mm - x, d.y_mm - y) <= STILL_MM for d in board)
    return held < len(START_OFFSETS_MM)
