"""9.1, 14-19, 22.3: a judge's commands that act at their own place in the log."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from rules import sets
from rules.book import CLAUSES
from rules.draft import Draft, finish
from rules.facts import Judge
from rules.first_turn import may_swap
from rules.ruling import Ruling
from rules.state import WARNINGS_LOSE, Core, after_side, doubles, name_at, new_set, pair_at, player_at, put
from rules.table import OPPOSITE, Side
from rules.timing import LIMIT_S, count_overrun

# Faults that belong to the stroke just made: sanctioned on it, whoever has the turn by now.
OF_A_STROKE: Final = frozenset(f"17.1.{c}" for c in "abcdefhijlmpqst")
_KNOWN_SANCTIONS: Final = (
    (re.compile(r"16\.1\.[a-k]"), "set"),
    (re.compile(r"17\.1\.[a-t]"), "penalty"),
    (re.compile(r"18\.1\.[a-h]"), "turn"),
    (re.compile(r"(19\.1(\.[a-j])?|3\.6|12\.7|12\.18|12\.20|21\.9)"), "warning"),  # 9.1.g: for every breach without a sanction of its own
    (re.compile(r"(14(\.[1-4])?|15(\.[12])?|3\.[25])"), "match"),
    (re.compile(r"15\.3"), "rest"),
    (re.compile(r"19\.3"), "time"),
)
# Clauses that forbid without naming a sanction, and the clause that sanctions the same.
SANCTIONED_BY: Final = {
    "3.7": "19.1.j",
    "3.8": "16.1.j",
    "10.1": "19.1.g",
    "11.4.e": "18.1.f",
    "12.4": "17.1.k",
    "12.6": "19.1.e",
    "12.8": "17.1.s",
    "12.17": "18.1.h",
    "12.21": "16.1.i",
    "12.22": "19.1.f",
}


_BOOK: Final = frozenset(c.number[:end] for c in CLAUSES for end in (*(n for n, x in enumerate(c.number) if x == "."), len(c.number)))


def is_in_book(clause: str) -> bool:
    """Whether the rule book has this clause, or clauses below it."""
    return clause in _BOOK


def sanction_of(clause: str) -> str | None:
    """What a clause costs: set, penalty, turn, warning, match or the rest of the sets; None if it names no sanction."""
    return next((what for pattern, what in _KNOWN_SANCTIONS if pattern.fullmatch(clause)), None)


def rule_judge(core: Core, judge: Judge, entry: int, given: dict[str, Any] | None = None) -> tuple[Core, Ruling]:
    """Every command but void, resolve and override, which edit the log and belong to the fold."""
    d = Draft(core, entry, "judge", given)
    refused: str | None = None
    side = judge.side
    if core.over is not None:
        refused = f"{core.over.clause}: the match is over; void or override the entry that ended it"
    elif judge.clause is not None and not is_in_book(judge.clause):
        refused = f"{judge.clause}: the rule book has no such clause"
    elif judge.command == "warning" and side and judge.clause:
        return _warn(d, side, judge.clause)
    elif judge.command == "fault" and side and judge.clause:
        return _fault(d, side, judge.clause)
    elif judge.command == "award_set" and side:
        d.end = sets.End(judge.clause or "9.1.j", side)
    elif judge.command == "award_match" and side:
        return _award_match(d, side, judge.clause or "9.1.j")
    elif judge.command == "debt_forgotten" and side:
        player = player_at(core, side)
        if core.set.debt[player]:
            d.set = msgspec.structs.replace(d.set, debt=put(d.set.debt, player, 0))
        else:
            refused = f"17.4: {side} owes no penalty piece"
    elif judge.command == "swap_places" and side:
        refused = _swap_places(d, side)
    elif judge.command == "wave_through":
        refused = None if core.set.awaiting else "9.1.h: nothing is to be laid out or put back"
        d.set = msgspec.structs.replace(d.set, awaiting=())
    elif judge.command == "confirm":
        pass  # changes nothing: the log keeps who stands by the ruling
    elif judge.command == "start_set":
        first = side or core.set.first
        d.set = msgspec.structs.replace(new_set(core.match, core.set.number, first))
        d.board = []
    else:
        return _end_match(d, judge.clause or "23.1")
    return refuse(d, refused) if refused else finish(d)


def refuse(d: Draft, why: str) -> tuple[Core, Ruling]:
    """The command changes nothing, and says why."""
    _, ruling = finish(Draft(d.core, d.entry, "judge"))
    return d.core, msgspec.structs.replace(ruling, refused=why)


def _warn(d: Draft, side: Side, clause: str) -> tuple[Core, Ruling]:
    """19.1, and 15.3: after the third warning the sets not yet finished go to the other side."""
    core, player = d.core, player_at(d.core, side)
    count = core.warnings[player] + 1
    d.core = msgspec.structs.replace(core, warnings=put(core.warnings, player, count), warned=(*core.warned, (player, d.entry, clause)))
    if count < WARNINGS_LOSE:
        return finish(d)
    return _lose_rest(d, side, "15.3")


def _lose_rest(d: Draft, side: Side, clause: str) -> tuple[Core, Ruling]:
    core, ruling = finish(d)
    end = sets.lost_by(core, side, clause)
    near = after_side(core, side)
    shown = sets.show(core, end)
    core = sets.give_rest(core, pair_at(core, near), clause, near)
    return core, msgspec.structs.replace(ruling, next=None, set=shown, match=core.over)


def _swap_places(d: Draft, side: Side) -> str | None:
    """22.3: the pair without the first turn changes places; else why it may not."""
    core, s = d.core, d.core.set
    if not doubles(core):
        return "22.3: only pairs change places"
    if pair_at(core, side) == pair_at(core, s.first):
        return f"22.3: {side} has the first turn, and only the other pair may change places"
    if s.strokes or any(done.number == s.number for done in core.done):
        return "22.3: only before the first stroke of a set, and not before it is played again"
    if not may_swap(s.number, core.match.sets, core.sets_won, core.match.play_all_sets):
        return "22.3: only before the first set and before the odd one that decides the match"
    moved = {side: OPPOSITE[side], OPPOSITE[side]: side}
    d.core = msgspec.structs.replace(core, seats=tuple(moved.get(seat, seat) for seat in core.seats))
    return None


def _over(core: Core, ruling: Ruling) -> tuple[Core, Ruling]:
    return core, msgspec.structs.replace(ruling, next=None, match=core.over)


def _award_match(d: Draft, side: Side, clause: str) -> tuple[Core, Ruling]:
    """15.1, 15.2: the match goes to a side; sets already won are kept on the sheet (3.2 says when they do not count)."""
    core, ruling = finish(d)
    over = sets.result(core, side, clause)
    over = msgspec.structs.replace(over, winner=side, player=name_at(core, side))
    return _over(msgspec.structs.replace(core, over=over), ruling)


def _end_match(d: Draft, clause: str) -> tuple[Core, Ruling]:
    core, ruling = finish(d)
    return _over(msgspec.structs.replace(core, over=sets.result(core, None, clause)), ruling)


def _fault(d: Draft, side: Side, clause: str) -> tuple[Core, Ruling]:
    """Sanctioned as if seen."""
    core, clause = d.core, SANCTIONED_BY.get(clause, clause)
    what = sanction_of(clause)
    if what == "warning":
        d.fault(clause, side)
        return _warn(d, side, clause)
    if what == "set":
        if clause == "16.1.g" and (doubles(core) or player_at(core, side) != 0 or core.set.strokes > 1):
            return refuse(d, "16.1.g: only the first listed player's first stroke of a set, and only until the next stroke")
        if clause == "16.1.h" and not doubles(core):
            return refuse(d, "16.1.h: only in doubles")
        d.lose_set(clause, side)
        return finish(d)
    if what == "penalty":
        _penalty(d, side, clause)
        return finish(d)
    if what == "turn":
        if pair_at(core, side) != pair_at(core, d.set.turn):
            return refuse(d, f"{clause}: {side} does not have the turn")
        d.fault(clause, side)
        d.reasons.append(clause)
        return finish(d)
    if what == "match":
        d.fault(clause, side)
        return _award_match(d, after_side(core, side), clause)
    if what == "time":
        if side != d.set.turn:
            return refuse(d, f"19.3: {side} does not have the turn")
        if not count_overrun(d, side):
            d.told.append("19.3")
            d.set = msgspec.structs.replace(d.set, told_at_s=LIMIT_S)
        return finish(d)
    if what == "rest":
        d.fault(clause, side)
        return _lose_rest(d, side, clause)
    return refuse(d, f"{clause}: this clause names no sanction that could be applied")


def _penalty(d: Draft, side: Side, clause: str) -> None:
    """17.1 as seen: on the stroke just made, at the own turn, or when the opponents' series ends (17.1.o)."""
    core = d.core
    if side == core.set.last_side and clause in OF_A_STROKE and pair_at(core, side) != pair_at(core, d.set.turn):
        d.fault(clause, side)
        d.earned[player_at(core, side)] = 1
        return
    d.penalise(clause, side)
