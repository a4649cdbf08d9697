"""22.4, 23.2, and 001 Komandu spēles: a tie of two teams: order of players, substitutes from round to round, points, the end.

What the rule book leaves to the announcement (numbers a team, rounds, who meets whom, points) is data here. What may not be is
refused with its clause and changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from rules.errors import InputUnusable
from rules.first_turn import Place, team_first
from rules.rulesets import RULESETS

Order = tuple[str, ...]  # players by number, from 1


class Team(msgspec.Struct, frozen=True):
    """A team as handed in for the first round: its players by number, and its reserves."""

    name: str
    players: Order
    reserves: Order = ()


class Points(msgspec.Struct, frozen=True):
    """What a game is worth; the announcement may say otherwise."""

    won: int = 2
    drawn: int = 1
    lost: int = 0


class Game(msgspec.Struct, frozen=True):
    """A game of a round: the numbers that meet, who they are, and the team with the first turn."""

    round: int
    numbers: tuple[int, int]
    players: tuple[str, str]
    first: Place


class Result(msgspec.Struct, frozen=True):
    """A game played; no winner when drawn."""

    game: Game
    winner: Place | None


class Tie(msgspec.Struct, frozen=True):
    """A tie so far; the second team listed are the guests."""

    teams: tuple[Team, Team]
    rounds: int
    ruleset: str
    orders: tuple[tuple[Order, Order], ...]  # by round, the coming one included once a change to it is announced
    results: tuple[Result, ...] = ()
    round: int = 1
    last_begun: bool = False  # whether the last game of this round has begun
    play_all: bool = False
    points: Points = Points()
    first_turns: tuple[Place, ...] = ()


_CHANGES: Final = "22.4: changes"


def start_tie(
    teams: tuple[Team, Team],
    rounds: int,
    ruleset: str = "lnf-2008",
    *,
    play_all: bool = False,
    points: Points | None = None,
    first_turns: Sequence[Place] = (),
) -> Tie:
    """22.4: both orders for the first round, handed in at once."""
    names = [name for team in teams for name in (*team.players, *team.reserves)]
    if len(set(names)) != len(names):
        twice = next(name for n, name in enumerate(names) if name in names[:n])
        raise InputUnusable(f"22.4: {twice} is listed twice; everyone has one number or is a reserve")
    numbers = [len(team.players) for team in teams]
    if numbers[0] != numbers[1] or not numbers[0]:
        raise InputUnusable(f"22.4: {numbers[0]} players against {numbers[1]}; both teams need as many, at least one")
    if rounds < 1:
        raise InputUnusable(f"22.4: {rounds} rounds; at least one is played")
    if ruleset not in RULESETS:
        raise InputUnusable(f"unknown ruleset {ruleset!r}; known: {', '.join(RULESETS)}")
    return Tie(
        teams,
        rounds,
        ruleset,
        ((teams[0].players, teams[1].players),),
        play_all=play_all,
        points=points or Points(),
        first_turns=tuple(first_turns),
    )


def games(tie: Tie) -> tuple[Game, ...]:
    """The games of this round: number meets number, shifted by one from round to round; empty once the tie is over."""
    if over(tie):
        return ()
    ours, theirs = tie.orders[tie.round - 1]
    first = team_first(tie.round, tie.first_turns)
    out = []
    for n, player in enumerate(ours):
        m = (n + tie.round - 1) % len(theirs)
        out.append(Game(tie.round, (n + 1, m + 1), (player, theirs[m]), first))
    return tuple(out)


def to_play(tie: Tie) -> tuple[Game, ...]:
    """The games of this round without a result."""
    done = {r.game for r in tie.results}
    return tuple(game for game in games(tie) if game not in done)


def begin_last(tie: Tie) -> Tie:
    """The last game of this round begins: under the 2008 rules changes to the next round are closed."""
    if len(to_play(tie)) != 1:
        raise InputUnusable(f"22.4: {len(to_play(tie))} games of round {tie.round} are still to be played; the last one comes alone")
    return msgspec.structs.replace(tie, last_begun=True)


def substitute(tie: Tie, team: Place, number: int, player: str) -> Tie:
    """22.4: `player` has this number from the next round on."""
    why = _why_not(tie, team, number, player)
    if why is not None:
        raise InputUnusable(why)
    coming = [list(order) for order in tie.orders[-1]]
    coming[team][number - 1] = player
    return msgspec.structs.replace(tie, orders=(*tie.orders[: tie.round], (tuple(coming[0]), tuple(coming[1]))))


def _why_not(tie: Tie, team: Place, number: int, player: str) -> str | None:
    of = tie.teams[team]
    if over(tie) or tie.round == tie.rounds:
        return f"{_CHANGES} are for the next round, and there is none"
    if tie.last_begun and not RULESETS[tie.ruleset].changes_until_last_result:
        return f"{_CHANGES} are announced before the last game of a round, and that of round {tie.round} has begun"
    if not 1 <= number <= len(of.players):
        return f"22.4: {of.name} has no number {number}"
    if player not in of.players and player not in of.reserves:
        return f"22.4: {player} is neither a player nor a reserve of {of.name}"
    had = _numbers_of(tie, team, player)
    if tie.orders[-1][team][number - 1] == player:
        return f"22.4: {player} has number {number} already"
    if had - {number}:
        why = "whoever was replaced comes back only to the old number"
        if player in of.reserves:
            why = "a reserve replaces only one number in a tie"
        return f"22.4: {player} belongs to number {min(had - {number})} of {of.name}: {why}"
    return None


def _numbers_of(tie: Tie, team: Place, player: str) -> set[int]:
    """The numbers under which a player of this team has played, or is to play next."""
    return {n for orders in tie.orders for n, name in enumerate(orders[team], 1) if name == player}


def record(tie: Tie, numbers: tuple[int, int], winner: Place | None) -> Tie:
    """A game's result; with the last one of a round the next begins, with the changes announced."""
    game = next((g for g in to_play(tie) if g.numbers == numbers), None)
    if game is None:
        why = "23.2: the tie is over" if over(tie) else f"22.4: not one of the games still to be played in round {tie.round}"
        raise InputUnusable(f"{why}: number {numbers[0]} against {numbers[1]}")
    tie = msgspec.structs.replace(tie, results=(*tie.results, Result(game, winner)))
    if over(tie) or to_play(tie):
        return tie
    orders = tie.orders if len(tie.orders) > tie.round else (*tie.orders, tie.orders[-1])
    return msgspec.structs.replace(tie, round=tie.round + 1, orders=orders, last_begun=False)


def score(tie: Tie) -> tuple[int, int]:
    """001: the points of the single games make up those of the team."""
    worth = tie.points
    ours = sum(worth.drawn if r.winner is None else worth.won if r.winner == 0 else worth.lost for r in tie.results)
    theirs = sum(worth.drawn if r.winner is None else worth.won if r.winner == 1 else worth.lost for r in tie.results)
    return ours, theirs


def leader(tie: Tie) -> Place | None:
    """The team ahead, None when even."""
    ours, theirs = score(tie)
    return None if ours == theirs else 0 if ours > theirs else 1


def over(tie: Tie) -> bool:
    """23.2: all games are played, or one team can no longer be reached and the announcement does not want all of them played."""
    left = tie.rounds * len(tie.teams[0].players) - len(tie.results)
    ours, theirs = score(tie)
    out_of_reach = abs(ours - theirs) > left * (tie.points.won - tie.points.lost)
    return left == 0 or (out_of_reach and not tie.play_all)
