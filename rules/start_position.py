"""Players and colours from the start position: each player's pieces lie at the opposite rail (000, 10.2-10.3, 21.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rules.facts import Match, Player, SeenDisc
from rules.table import CLOCKWISE, HALF_MM, OPPOSITE, PIECE_DIAMETER_MM, SIDES, Colour, Side, depth_mm

PIECES_A_PLAYER: Final = 8  # 10.3: four on each side of the midline
_TIGHT_MM: Final = 8.0  # a hand-laid row is this far from perfectly tight at most
_ROW_HALF_MM: Final = PIECES_A_PLAYER / 2 * PIECE_DIAMETER_MM + 15.0  # the row and half a piece of play


def _row(discs: Sequence[SeenDisc], side: Side) -> list[SeenDisc]:
    at_rail_mm = HALF_MM - PIECE_DIAMETER_MM / 2
    row: list[SeenDisc] = []
    for disc in discs:
        along_mm = disc.x_mm if side in {"S", "N"} else disc.y_mm
        if abs(depth_mm(side, disc.x_mm, disc.y_mm, at_rail_mm)) <= _TIGHT_MM and abs(along_mm) <= _ROW_HALF_MM:
            row.append(disc)
    return row


def colours_at_start(discs: Sequence[SeenDisc]) -> dict[Side, Colour]:
    """Colour by player's side when the table shows a start position of two or four players, else an empty dict."""
    pieces = [d for d in discs if d.kind != "striker"]
    found: dict[Side, Colour] = {}
    for side in SIDES:
        row = _row(pieces, side)
        kinds = {d.kind for d in row}
        if len(row) == PIECES_A_PLAYER and len(kinds) == 1:
            found[OPPOSITE[side]] = "red" if kinds == {"red"} else "black"
    complete = len(pieces) == PIECES_A_PLAYER * len(found) and len(found) in {2, 4}
    opposed = all(OPPOSITE[s] in found and (found.get(s) == found.get(OPPOSITE[s])) == (len(found) == 4) for s in found)
    return found if complete and opposed and set(found.values()) == {"red", "black"} else {}


def match_at_start(discs: Sequence[SeenDisc], match_id: str, *, ruleset: str, sets: int, first_turn: Side | None) -> Match | None:
    """A match for the start position on the table, or None when there is none; players are named by their sides."""
    colours = colours_at_start(discs)
    if not colours:
        return None
    sides = [side for side in CLOCKWISE if side in colours]
    return Match(
        id=match_id,
        ruleset=ruleset,
        format="singles" if len(sides) == 2 else "doubles",
        sets=sets,
        players={side: Player(name=side, colour=colours[side]) for side in sides},
        first_turn=first_turn if first_turn in colours else sides[0],
    )
