"""The form that begins a match: first turns of section 22, places in doubles, colours from the table."""

from __future__ import annotations

from typing import Any

import pytest

from rules.errors import InputUnusable
from rules.fold import start
from scoreboard.wizard import MatchForm, compose

FOUND: Any = {"S": "black", "N": "red"}
PAIRS: Any = {"S": "red", "N": "red", "W": "black", "E": "black"}


def form(**more: Any) -> MatchForm:
    return MatchForm(**({"format": "singles", "ruleset": "lnf-2008", "sets": 5, "first": ["Anna"], "second": ["Berta"]} | more))


def doubles(**more: Any) -> MatchForm:
    return form(format="doubles", first=["Anna", "Anda"], second=["Berta", "Baiba"], **more)


@pytest.mark.parametrize(
    ("how", "begins"),
    [
        ({}, "Anna"),
        ({"drawn": 1}, "Berta"),
        ({"scheme": "circle", "drawn": 1}, "Anna"),
        ({"scheme": "knock_out", "round": 1}, "Anna"),
        ({"scheme": "knock_out", "round": 2}, "Berta"),
        ({"scheme": "teams", "round": 1}, "Berta"),
        ({"scheme": "teams", "round": 2}, "Anna"),
    ],
)
def test_who_has_the_first_turn(how: dict[str, Any], begins: str) -> None:
    match = compose(form(**how), FOUND, "m")
    assert match.players[match.first_turn].name == begins
    start(match)


def test_players_stand_where_they_are_said_to_and_have_the_colours_of_the_table() -> None:
    match = compose(form(side="N"), FOUND, "m")
    assert [(side, p.name, p.colour) for side, p in match.players.items()] == [("N", "Anna", "red"), ("S", "Berta", "black")]
    chosen = compose(form(colour="black"), {}, "m")
    assert [p.colour for p in chosen.players.values()] == ["black", "red"]


def test_pairs_face_each_other_and_the_beginner_chooses_the_place() -> None:
    match = compose(doubles(side="S", drawn=1), PAIRS, "m")
    assert {side: p.name for side, p in match.players.items()} == {"W": "Anna", "E": "Anda", "S": "Berta", "N": "Baiba"}
    assert match.first_turn == "S"
    assert {p.colour for name, p in ((p.name, p) for p in match.players.values()) if name.startswith("B")} == {"red"}
    start(match)


@pytest.mark.parametrize(
    ("asked", "found", "why"),
    [
        (form(first=["  "]), FOUND, "name is missing"),
        (form(second=["Anna"]), FOUND, "name of their own"),
        (form(), {}, "no start position"),
        (form(), PAIRS, "start position on the table is for"),
        (form(side="W"), FOUND, "not at W, E"),
        (form(scheme="teams", round=0), FOUND, "round 0"),
    ],
)
def test_what_does_not_fit_is_said(asked: MatchForm, found: Any, why: str) -> None:
    with pytest.raises(InputUnusable, match=why):
        compose(asked, found, "m")
