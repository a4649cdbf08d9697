"""16.1.a, d, g, h: a stroke that loses the set."""

from __future__ import annotations

from typing import Final

from rules.facts import Disc, Stroke
from rules.reading import Reading
from rules.state import Core, doubles, player_at
from rules.stroke import First
from rules.table import Colour, Side

MOVED_MM: Final = 1.0  # reading: a piece has moved when it lies more than this from where it lay


def has_moved(before: Disc, after: Disc | None) -> bool:
    """Whether a piece lies elsewhere, or no longer on the table."""
    if after is None:
        return True
    dx, dy = after.x_mm - before.x_mm, after.y_mm - before.y_mm
    return dx * dx + dy * dy > MOVED_MM * MOVED_MM


def own_zone_first(first: First, side: Side, own: Colour, before: dict[str, Disc], moved: frozenset[str], reading: Reading) -> bool:
    """16.1.d: first and directly a piece in the own zone, or an own dark piece in the circle, then two or more others moved."""
    if first.way != "direct" or len(moved - set(first.pieces)) < 2:
        return False
    return any(reading.dark(before[p], (side,)) or (before[p].kind == own and reading.dark(before[p], ("circle",))) for p in first.pieces)


def out_of_turn(core: Core, stroke: Stroke) -> str | None:
    """16.1.g: the first listed player opens a set that is not theirs to open; 16.1.h: in doubles anyone not at turn strikes."""
    if doubles(core):
        return "16.1.h"
    if core.set.strokes == 0 and player_at(core, stroke.side) == 0:
        return "16.1.g"
    return None
