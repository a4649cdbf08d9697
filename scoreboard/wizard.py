"""From the form that begins a match to the match entry: who stands where, who has the first turn and why, which colours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from rules.errors import InputUnusable
from rules.facts import Match, Player
from rules.first_turn import Pairing, Place, knock_out_first, seat_doubles, team_first
from rules.table import OPPOSITE, Colour, Side

MAX_NAME: Final = 60  # characters; what the board has room for
OTHER: Final[dict[Colour, Colour]] = {"red": "black", "black": "red"}

# 22.1: drawn or agreed; 22.1.a: the schedule of a circle names first who begins; 22.1.b: by the round; 22.2: by the round of two teams.
Scheme = Literal["named", "circle", "knock_out", "teams"]


class MatchForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a judge fills in. `first` and `second` are the players or pairs in the match sheet's order.

    `side` is where the first listed player stands, in doubles where the player who begins does.
    """

    format: Literal["singles", "doubles"]
    ruleset: str
    sets: int
    first: list[str]
    second: list[str]
    scheme: Scheme = "named"
    drawn: Place = 0
    round: int = 1
    side: Side = "S"
    colour: Colour | None = None
    play_all_sets: bool = False
    penalty_stroke: bool = False
    guided_placing: bool = False
    force: bool = False


def compose(form: MatchForm, found: Mapping[Side, Colour], match_id: str) -> Match:
    """The match entry; `found` are the colours by side that lie on the table. Raises InputUnusable with what to change."""
    first, second = _names(form.first, form.format), _names(form.second, form.format)
    if len({*first, *second}) != len(first) + len(second):
        raise InputUnusable("22: every player has a name of their own")
    place = first_place(form, first, second)
    seats: dict[Side, str]
    if form.format == "singles":
        seats = {form.side: first[0], OPPOSITE[form.side]: second[0]}
        begins = form.side if place == 0 else OPPOSITE[form.side]
    else:
        pairs = ((first[0], first[1]), (second[0], second[1]))
        seating = seat_doubles(pairs[place], pairs[1 - place], form.side)
        at = {name: side for side, name in seating.players.items()}
        seats = {at[name]: name for name in (*first, *second)}
        begins = seating.first
    colours = _colours(form, seats, first, found)
    return Match(
        id=match_id,
        ruleset=form.ruleset,
        format=form.format,
        sets=form.sets,
        players={side: Player(name=name, colour=colours[side]) for side, name in seats.items()},
        first_turn=begins,
        play_all_sets=form.play_all_sets,
        penalty_stroke=form.penalty_stroke,
        guided_placing=form.guided_placing,
    )


def first_place(form: MatchForm, first: list[str], second: list[str]) -> Place:
    """22: whether the first or the second listed has the first turn."""
    if form.scheme == "named":
        return form.drawn
    if form.scheme == "circle":
        return 0
    if form.scheme == "teams":
        return team_first(form.round)
    return 0 if knock_out_first(Pairing(first[0], second[0]), form.round) == first[0] else 1


def _names(given: list[str], form: str) -> list[str]:
    names = [" ".join(name.split())[:MAX_NAME] for name in given]
    if len(names) != (1 if form == "singles" else 2) or not all(names):
        raise InputUnusable("21, 22: a name is missing")
    return names


def _colours(form: MatchForm, seats: Mapping[Side, str], first: list[str], found: Mapping[Side, Colour]) -> dict[Side, Colour]:
    if found and set(found) != set(seats):
        raise InputUnusable(f"10.3: the start position on the table is for players at {', '.join(found)}, not at {', '.join(seats)}")
    if found:
        return dict(found)
    if form.colour is None:
        raise InputUnusable("10.3: no start position lies on the table; lay it out, or choose who plays which colour")
    return {side: form.colour if name in first else OTHER[form.colour] for side, name in seats.items()}
