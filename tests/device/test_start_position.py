from __future__ import annotations

import pytest

from rules.facts import SeenDisc
from rules.start_position import colours_at_start, match_at_start
from rules.table import OPPOSITE, TOWARD, Colour, Side


def row(side: Side, colour: Colour, shift_mm: float = 0.0) -> list[SeenDisc]:
    """Eight pieces tight at a rail."""
    dx, dy = TOWARD[side]
    along = [-105.0 + 30 * i + shift_mm for i in range(8)]
    return [SeenDisc(kind=colour, x_mm=485.0 * dx + (a if dy else 0), y_mm=485.0 * dy + (a if dx else 0), sigma_mm=0.1) for a in along]


STRIKER = SeenDisc(kind="striker", x_mm=0, y_mm=-430, sigma_mm=0.1)


def test_singles_each_players_pieces_lie_opposite() -> None:
    discs = [*row("N", "red"), *row("S", "black"), STRIKER]
    assert colours_at_start(discs) == {"S": "red", "N": "black"}
    match = match_at_start(discs, "m", ruleset="lnf-2008", sets=3, first_turn="N")
    assert match is not None
    assert (match.format, match.first_turn, list(match.players)) == ("singles", "N", ["S", "N"])


@pytest.mark.parametrize("side", ["W", "E"])
def test_players_may_stand_at_any_two_opposite_sides(side: Side) -> None:
    assert colours_at_start([*row(side, "red"), *row(OPPOSITE[side], "black")]) == {OPPOSITE[side]: "red", side: "black"}


def test_doubles_partners_opposite_share_a_colour() -> None:
    discs = [*row("N", "red"), *row("S", "red"), *row("E", "black"), *row("W", "black")]
    match = match_at_start(discs, "m", ruleset="lnf-2008", sets=3, first_turn=None)
    assert match is not None
    assert match.format == "doubles"
    assert match.players["S"].colour == match.players["N"].colour == "red"


@pytest.mark.parametrize(
    "discs",
    [
        [],
        row("N", "red"),
        [*row("N", "red"), *row("S", "red")],
        [*row("N", "red"), *row("E", "black")],
        [*row("N", "red"), *row("S", "black")[:-1]],
        [*row("N", "red"), *row("S", "black"), SeenDisc(kind="red", x_mm=0, y_mm=0, sigma_mm=0.1)],
        [*row("N", "red", 40.0), *row("S", "black")],
    ],
    ids=["empty", "one row", "one colour", "neighbours", "a piece short", "a piece more", "off the middle"],
)
def test_nothing_else_is_a_start_position(discs: list[SeenDisc]) -> None:
    assert colours_at_start(discs) == {}
