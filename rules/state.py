"""The state of a match between two entries: frozen values, and questions about them. Changed only by `rules.outcome`."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from rules.facts import Disc, Match
from rules.rulesets import RULESETS, Ruleset
from rules.ruling import MatchResult, Place
from rules.table import CLOCKWISE, OPPOSITE, Colour, Side, Zone

ROW: Final = 8  # 10.3: pieces a player sets up
WARNINGS_LOSE: Final = 3  # 9.1.g, 15.3

# 10.3: the row of one side along its rail: tight against it and against each other, four on each side of the midline.
START_OFFSETS_MM: Final = tuple(-105.0 + 30.0 * n for n in range(ROW))
START_DEPTH_MM: Final = 485.0


class SetDone(msgspec.Struct, frozen=True):
    """One line of the match sheet: a set or a replay (winner None)."""

    number: int
    first: int  # player with the first turn
    winner: int | None  # pair
    clause: str
    strokes: int
    penalties: tuple[int, ...]  # earned in this set, by player
    ran_out: tuple[int, ...]  # players who ran out in their first series (20.4)
    ended_by: int  # the entry that ended it


class SetState(msgspec.Struct, frozen=True):
    """The set being played; tuples are by player, in the match entry's order."""

    number: int
    first: Side
    turn: Side
    debt: tuple[int, ...]
    pending: tuple[int, ...]  # 17.1.o: penalty pieces to come, with the turn, when the opponents' series ends
    missed: tuple[int, ...]  # 20.6: turns in a row that touched no piece
    penalties: tuple[int, ...]
    strokes: int = 0
    turns_ended: int = 0
    full: bool = False  # the first player's pieces were all there at the first stroke (20.4)
    interrupted: int | None = None  # 20.4: the player whose run-out waits for the opponent's first series
    violation: bool = False  # 20.4: that run-out's last stroke cost the turn
    ran_out: tuple[int, ...] = ()
    told_at_s: float | None = None  # 19.3: told to strike at this time of the present wait
    last_side: Side | None = None
    last_x_mm: tuple[float, float] | None = None  # where the last stroke was made from
    laid: int = 0  # penalty pieces laid out in this set, to name new ones
    free_stroke: Side | None = None  # 002 doubles 4: this side may now drive into the rear zone unpunished
    board: tuple[Disc, ...] = ()
    awaiting: tuple[Place, ...] = ()  # 9.1.h: what the rulings since the last stroke want laid out and put back


class Core(msgspec.Struct, frozen=True):
    """Everything that the fold carries from entry to entry, judge's edits aside."""

    match: Match
    rules: Ruleset
    seats: tuple[Side, ...]  # where each player stands now, in the match entry's order
    colours: tuple[Colour, ...]
    pair: tuple[int, ...]  # which pair each player belongs to; the first listed player's is 0
    set: SetState
    sets_won: tuple[int, int] = (0, 0)
    done: tuple[SetDone, ...] = ()
    warnings: tuple[int, ...] = ()
    warned: tuple[tuple[int, int, str], ...] = ()  # player, entry, clause
    overruns: tuple[int, ...] = ()  # 19.3: counted across sets
    over: MatchResult | None = None


def zeros(match: Match) -> tuple[int, ...]:
    """A count of nothing for every player."""
    return (0,) * len(match.players)


def new_set(match: Match, number: int, first: Side) -> SetState:
    """A set before its first stroke."""
    none = zeros(match)
    return SetState(number=number, first=first, turn=first, debt=none, pending=none, missed=none, penalties=none)


def new_core(match: Match) -> Core:
    """A match before its first stroke."""
    colours = tuple(p.colour for p in match.players.values())
    return Core(
        match=match,
        rules=RULESETS[match.ruleset],
        seats=tuple(match.players),
        colours=colours,
        pair=tuple(0 if c == colours[0] else 1 for c in colours),
        set=new_set(match, 1, match.first_turn),
        warnings=zeros(match),
        overruns=zeros(match),
    )


def doubles(core: Core) -> bool:
    """Whether two pairs play (21)."""
    return len(core.seats) > 2


def player_at(core: Core, side: Side) -> int:
    """The player who stands at a side now."""
    return core.seats.index(side)


def pair_at(core: Core, side: Side) -> int:
    """The pair of the player who stands at a side now."""
    return core.pair[core.seats.index(side)]


def colour_at(core: Core, side: Side) -> Colour:
    """The colour that a side plays; it follows the player."""
    return core.colours[core.seats.index(side)]


def name_at(core: Core, side: Side) -> str:
    """The name of the player at a side."""
    return tuple(core.match.players.values())[player_at(core, side)].name


def after_side(core: Core, side: Side) -> Side:
    """Whose turn follows: the one opposite, in doubles the next clockwise (21.1)."""
    if not doubles(core):
        return OPPOSITE[side]
    return CLOCKWISE[(CLOCKWISE.index(side) + 1) % len(CLOCKWISE)]


def opponents_zones(core: Core, side: Side) -> tuple[Zone, ...]:
    """11.1, 21.4: the opponents' dark area that a penal stroke may not drive into; in doubles only the circle."""
    return ("circle",) if doubles(core) else (OPPOSITE[side], "circle")


def rear_zones(core: Core, side: Side) -> tuple[Zone, ...]:
    """The opponents' own zones."""
    mine = pair_at(core, side)
    return tuple(s for s in core.seats if pair_at(core, s) != mine)


def side_of_pair(core: Core, pair: int, near: Side | None = None) -> Side:
    """A side at which the pair stands: `near` itself if it is theirs, else the one that follows it."""
    if near is None:
        return core.seats[core.pair.index(pair)]
    return near if pair_at(core, near) == pair else after_side(core, near)


def by_side(core: Core, counts: tuple[int, ...]) -> dict[Side, int]:
    """Counts by player as counts by side."""
    return dict(zip(core.seats, counts, strict=True))


def full_count(core: Core) -> int:
    """How many pieces a side, in doubles a pair, starts with (10.3, 21.2)."""
    return ROW * len(core.seats) // 2


def put(counts: tuple[int, ...], player: int, value: int) -> tuple[int, ...]:
    """The counts with one player's replaced."""
    return (*counts[:player], value, *counts[player + 1 :])


def problems(core: Core) -> list[str]:
    """Everything that is inconsistent; empty for every state that the fold can reach."""
    s, out = core.set, []
    if sorted(core.seats) != sorted(core.match.players):
        out.append(f"players stand at {core.seats}, the match has {tuple(core.match.players)}")
    if s.turn not in core.seats or s.first not in core.seats:
        out.append(f"turn {s.turn} or first turn {s.first} is nobody's side")
    for what, counts in {"debt": s.debt, "pending penalties": s.pending, "missed turns": s.missed, "warnings": core.warnings}.items():
        if any(c < 0 for c in counts):
            out.append(f"negative {what}: {counts}")
    played = sum(d.winner is not None for d in core.done)
    if sum(core.sets_won) < played and core.over is None:
        out.append(f"{core.sets_won} sets won, {played} sets on the sheet")
    if sum(core.sets_won) > core.match.sets:
        out.append(f"{core.sets_won} sets won of {core.match.sets}")
    if core.over is None and any(w >= WARNINGS_LOSE for w in core.warnings):
        out.append(f"a third warning, but the match goes on (15.3): {core.warnings}")
    if s.interrupted is not None and pair_at(core, s.turn) == core.pair[s.interrupted]:
        out.append("the first series is interrupted (20.4), but its own pair has the turn")
    ids = [d.id for d in s.board]
    if len(set(ids)) != len(ids):
        out.append("a disc is on the board twice")
    return out


def match_state(core: Core) -> dict[str, Any]:
    """Payload of the retained `match` topic: players, set, score, turn, debts, warnings, pieces (contract, MQTT)."""
    s = core.set
    counts = {side: sum(d.kind == colour_at(core, side) for d in s.board) for side in core.seats}
    return {
        "schema": "novuss.match_state/1",
        "id": core.match.id,
        "ruleset": core.match.ruleset,
        "format": core.match.format,
        "sets": core.match.sets,
        "play_all_sets": core.match.play_all_sets,
        "players": {side: {"name": name_at(core, side), "colour": colour_at(core, side)} for side in core.seats},
        "status": "over" if core.over else "playing" if s.strokes else "ready",
        "set": s.number,
        "first_turn": s.first,
        "turn": None if core.over else s.turn,
        "interrupted": None if s.interrupted is None else core.seats[s.interrupted],
        "sets_won": {side: core.sets_won[pair_at(core, side)] for side in core.seats},
        "debt": by_side(core, s.debt),
        "pending": by_side(core, s.pending),
        "penalty_pieces": by_side(core, s.penalties),
        "warnings": by_side(core, core.warnings),
        "on_table": counts,
        "placing": [msgspec.to_builtins(place) for place in s.awaiting],
        "guided_placing": core.match.guided_placing,
        "finished": [
            {
                "set": d.number,
                "first": tuple(core.match.players.values())[d.first].name,
                "winner": None if d.winner is None else tuple(core.match.players.values())[core.pair.index(d.winner)].name,
                "clause": d.clause,
            }
            for d in core.done
        ],
        "winner_known": core.over is not None,
        "result": None if core.over is None else msgspec.to_builtins(core.over),
        "problems": problems(core),
    }
