"""20, 21.1, 21.7, 23: how a set ends, what follows it, and when the match is over."""

from __future__ import annotations

import msgspec

from rules.ruling import MatchResult, SetResult
from rules.state import Core, SetDone, SetState, after_side, doubles, name_at, new_set, pair_at, player_at, side_of_pair
from rules.table import Side


class End(msgspec.Struct, frozen=True):
    """A set that ends with this entry: won by the side, or played again (side None)."""

    clause: str
    side: Side | None = None


def lost_by(core: Core, side: Side, clause: str) -> End:
    """16: a set lost is the other side's, with that clause."""
    return End(clause, after_side(core, side))


def first_side(core: Core, seats: tuple[Side, ...], number: int) -> Side:
    """Who begins set `number`: in turn from set to set (20.4); in doubles always the same side of the table (21.1)."""
    start = core.match.first_turn
    if doubles(core):
        return start
    starter = tuple(core.match.players).index(start)
    return seats[starter if number % 2 else 1 - starter]


def change_sides(core: Core) -> tuple[Side, ...]:
    """20.2: the players change over; 21.1: they move on clockwise."""
    return tuple(after_side(core, side) for side in core.seats)


def _following(core: Core, end: End) -> tuple[tuple[Side, ...], SetState]:
    s = core.set
    if end.side is not None:
        seats = change_sides(core)
        return seats, new_set(core.match, s.number + 1, first_side(core, seats, s.number + 1))
    if end.clause not in {"20.4", "21.1"}:
        return core.seats, new_set(core.match, s.number, s.first)  # 20.5, 20.6: again from the start
    if doubles(core):
        return core.seats, new_set(core.match, s.number, s.last_side or s.first)  # 21.1: players stay, the last to strike begins
    # Sides and first turn both change, so the same side of the table begins with the other player.
    return change_sides(core), new_set(core.match, s.number, s.first)


def result(core: Core, near: Side | None, clause: str) -> MatchResult:
    """The match as it stands; no winner when the sets are even (23.1)."""
    ours, theirs = core.sets_won
    if ours == theirs:
        return MatchResult(winner=None, player=None, sets=[ours, theirs], clause=clause)
    side = side_of_pair(core, 0 if ours > theirs else 1, near)
    return MatchResult(winner=side, player=name_at(core, side), sets=[ours, theirs], clause=clause)


def show(core: Core, end: End) -> SetResult:
    """The set's end as the contract has it; sides are those of the set that ends."""
    source = core.rules.sources.get(end.clause, msgspec.UNSET)
    if end.side is None:
        return SetResult(result="replay", clause=end.clause, source=source)
    return SetResult(result="won", side=end.side, player=name_at(core, end.side), clause=end.clause, source=source)


def close(core: Core, end: End, entry: int, goes_on: bool = False) -> tuple[Core, SetResult]:
    """The set ends: the sheet gets its line, the score rises, and the next set or the end of the match follows.

    `goes_on`: a judge lets a match that is decided be played on, as far as there are sets.
    """
    s = core.set
    winner = None if end.side is None else pair_at(core, end.side)
    done = SetDone(s.number, player_at(core, s.first), winner, end.clause, s.strokes, s.penalties, s.ran_out, entry)
    shown = show(core, end)
    if winner is not None:
        won = (core.sets_won[0] + (winner == 0), core.sets_won[1] + (winner == 1))
        core = msgspec.structs.replace(core, sets_won=won)
    core = msgspec.structs.replace(core, done=(*core.done, done))
    decided = max(core.sets_won) * 2 > core.match.sets and not core.match.play_all_sets and not goes_on
    if decided or sum(core.sets_won) >= core.match.sets:
        return msgspec.structs.replace(core, over=result(core, end.side, "23.1")), shown
    seats, following = _following(core, end)
    return msgspec.structs.replace(core, seats=seats, set=following), shown


def give_rest(core: Core, winner: int, clause: str, near: Side) -> Core:
    """15.3: the sets not yet finished go to this pair; those already won stay."""
    rest = core.match.sets - sum(core.sets_won)
    won = (core.sets_won[0] + rest * (winner == 0), core.sets_won[1] + rest * (winner == 1))
    core = msgspec.structs.replace(core, sets_won=won)
    return msgspec.structs.replace(core, over=result(core, near, clause))


def run_out(core: Core, violation: bool) -> End | None:
    """Own pieces all in, no penalty piece earned: None when only the series is interrupted (20.4), else how the set ends."""
    s = core.set
    clause = "21.7" if doubles(core) else "20.4"
    if s.interrupted is not None:
        first = core.seats[s.interrupted]
        if violation == s.violation:
            return End("21.1" if doubles(core) else "20.4")
        return End(clause, first if violation else s.turn)
    if s.turns_ended == 0 and s.turn == s.first and s.full:
        return None
    return End("20.3", s.turn)
