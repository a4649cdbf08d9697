"""22.1-22.3: who has the first turn: by draw, schedule, round or place on the sheet, and who stands where in doubles.

There is no chance in here: what was drawn comes in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from rules.errors import InputUnusable
from rules.table import CLOCKWISE, OPPOSITE, Side

Place = Literal[0, 1]  # first or second on the sheet: of a pair of players, of the two teams

# The place on the sheet that has the first turn, by the round's number modulo two.
KNOCK_OUT: Final[tuple[Place, Place]] = (1, 0)  # 22.1.b: the first named in odd rounds, the second in even ones
TEAMS: Final[tuple[Place, Place]] = (0, 1)  # 22.2: the guests, listed second, in the first round, and so in every odd one


class Pairing(msgspec.Struct, frozen=True):
    """Two players as the schedule names them."""

    first: str  # 22.1.a: has the first turn
    second: str  # chooses side and pieces


class Round(msgspec.Struct, frozen=True):
    """One round of a circle; with an odd number of players one rests."""

    number: int
    pairings: tuple[Pairing, ...]
    rests: str | None = None


class Seating(msgspec.Struct, frozen=True):
    """22.3: who stands where in doubles, and the side that begins."""

    players: dict[Side, str]
    first: Side

    @property
    def others(self) -> tuple[Side, Side]:
        """The sides of the pair without the first turn."""
        at = _clockwise_after(self.first)
        return at, OPPOSITE[at]


def _clockwise_after(side: Side) -> Side:
    return CLOCKWISE[(CLOCKWISE.index(side) + 1) % len(CLOCKWISE)]


def circle_schedule(drawn: Sequence[str]) -> tuple[Round, ...]:
    """22.1.a: everyone against everyone, from the players in the order drawn; each is named first as often as second, give or take one.

    These are Berger's tables: the last one drawn stays, the others move on by half their number from round to round.
    """
    if len(drawn) < 2 or len(set(drawn)) != len(drawn):
        raise InputUnusable(f"22.1.a: a circle needs two or more different players, not {', '.join(drawn) or 'none'}; give each name once")
    players: list[str | None] = [*drawn, *([None] if len(drawn) % 2 else [])]
    circle, last = len(players) - 1, players[-1]
    rounds = []
    for n in range(circle):
        base = n * len(players) // 2 % circle
        pairs = [(players[base], last) if n % 2 == 0 else (last, players[base])]
        pairs += [(players[(base + k) % circle], players[(base - k) % circle]) for k in range(1, len(players) // 2)]
        rests = players[base] if last is None else None
        rounds.append(Round(n + 1, tuple(Pairing(a, b) for a, b in pairs if a is not None and b is not None), rests))
    return tuple(rounds)


def knock_out_first(pairing: Pairing, number: int, drawn: str | None = None) -> str:
    """22.1.b: the player with the first turn in round `number` of a one- or two-minus system; `drawn` where lots were drawn for it."""
    if drawn is None:
        return (pairing.first, pairing.second)[KNOCK_OUT[_checked(number) % 2]]
    if drawn not in {pairing.first, pairing.second}:
        raise InputUnusable(f"22.1.b: {drawn} was drawn, but {pairing.first} plays {pairing.second}; name one of them")
    return drawn


def team_first(number: int, announced: Sequence[Place] = ()) -> Place:
    """22.2: the team whose players have the first turn in round `number`; `announced` is what the announcement says, round by round."""
    at = _checked(number)
    return announced[at - 1] if at <= len(announced) else TEAMS[at % 2]


def _checked(number: int) -> int:
    if number < 1:
        raise InputUnusable(f"22: round {number} cannot be; rounds are numbered from 1")
    return number


def seat_doubles(beginning: tuple[str, str], others: tuple[str, str], side: Side) -> Seating:
    """22.3: the pair with the first turn names who begins (its first) and where; partners face each other, the others as listed."""
    names = (*beginning, *others)
    if len(set(names)) != len(names):
        raise InputUnusable(f"22.3: {', '.join(names)} are not four different players")
    left = _clockwise_after(side)
    return Seating({side: beginning[0], left: others[0], OPPOSITE[side]: beginning[1], OPPOSITE[left]: others[1]}, side)


def swap_others(seating: Seating) -> Seating:
    """22.3: the pair without the first turn changes places, once it is known who begins."""
    one, two = seating.others
    return msgspec.structs.replace(seating, players={**seating.players, one: seating.players[two], two: seating.players[one]})


def may_swap(number: int, sets: int, sets_won: tuple[int, int], play_all_sets: bool) -> bool:
    """22.3: before the first set, and before the odd set that decides a match played until one pair has won."""
    if number == 1:
        return True
    return not play_all_sets and sets % 2 == 1 and sets_won == (sets // 2, sets // 2)
