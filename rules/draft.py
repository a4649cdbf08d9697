"""One entry's ruling in the making, and the one place where it becomes the next state.

Clauses: 17.2 (one penalty piece a stroke), 17.4-17.6 (debts), 17.1.o and 18.1 (turn), 12.14 (places), 20.4 (interrupted series).
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import UNSET

from rules import sets
from rules.facts import Disc
from rules.penalty import penalty_place, row_moved
from rules.places import Point
from rules.ruling import Fault, Margin, MatchResult, Place, Restore, Ruling, Seen, Turn, Unplaced
from rules.state import Core, after_side, by_side, colour_at, doubles, full_count, pair_at, player_at, put
from rules.table import Side


class Draft:
    """Mutable for one entry only; `finish` turns it into the next state and the ruling."""

    def __init__(self, core: Core, entry: int, kind: Literal["stroke", "incident", "judge"], given: dict[str, Any] | None = None) -> None:
        self.core = core
        self.entry = entry
        self.kind = kind
        self.given = given or {}  # the parts of the ruling that a judge has overridden
        self.lawful: bool | None = None
        self.faults: list[Fault] = []
        self.reasons: list[str] = []  # why the holder of the turn loses it
        self.earned = [0] * len(core.seats)  # penalty pieces, by player, due at once
        self.deferred = [0] * len(core.seats)  # 17.1.o
        self.place: list[Place] = []
        self.restore: list[Restore] = []
        self.unplaced: list[Unplaced] = []
        self.pocketed: list[str] = []
        self.board: list[Disc] = list(core.set.board)
        self.end: sets.End | None = None
        self.interrupts: bool | None = None  # 20.4: the series is interrupted; True with a violation
        self.told: list[str] = []
        self.seen: Seen | None = None
        self.margins: list[Margin] = []
        self.made_from: Point | None = core.set.last_x_mm
        self.set = core.set  # counters of the set that this entry changes on its way

    # --- sanctions --------------------------------------------------------------------------------------------------

    def fault(self, clause: str, side: Side, pays: Side | None = None) -> None:
        """Name a fault once."""
        source = self.core.rules.sources.get(clause, UNSET)
        fault = Fault(clause=clause, side=side, source=source, pays=pays if pays and pays != side else UNSET)
        if fault not in self.faults:
            self.faults.append(fault)

    def lose_set(self, clause: str, side: Side) -> None:
        """16.1: the set goes to the other side; the first reason stands."""
        self.fault(clause, side)
        if self.end is None:
            self.end = sets.lost_by(self.core, side, clause)

    def penalise(self, clause: str, side: Side) -> None:
        """17.1: penalty piece and turn at once for the side whose turn it is, in doubles for its partner at turn (21.5);
        for the others when this series ends (17.1.o), except a player whose first series is interrupted (20.4)."""
        holder = self.set.turn
        if pair_at(self.core, side) == pair_at(self.core, holder):
            self.fault(clause, side, holder)
            self.earned[player_at(self.core, holder)] = 1  # 17.2
            return
        if self.set.interrupted is not None:
            self.fault(clause, side)
            self.earned[self.set.interrupted] += 1
            self.set = msgspec.structs.replace(self.set, interrupted=None, violation=False)
            return
        payer = side if not doubles(self.core) else after_side(self.core, holder)
        self.fault(clause, side, payer)
        self.deferred[player_at(self.core, payer)] += 1

    # --- the board --------------------------------------------------------------------------------------------------

    def remove(self, disc_id: str) -> None:
        """Take a disc off the board."""
        self.board = [d for d in self.board if d.id != disc_id]

    def put_back(self, disc: Disc, clause: str, place: Point | None = None, moved_aside: bool = False) -> None:
        """Restore a disc to where it lay, or to the nearest free place named."""
        x, y = place or (disc.x_mm, disc.y_mm)
        self.remove(disc.id)
        self.board.append(Disc(id=disc.id, kind=disc.kind, x_mm=x, y_mm=y, sigma_mm=disc.sigma_mm))
        aside = True if moved_aside else UNSET
        self.restore.append(Restore(id=disc.id, x_mm=x, y_mm=y, clause=clause, moved_aside=aside))

    def lay(self, disc: Disc, place: Point | None, clause: str) -> None:
        """Lay a piece out at a place; without a free one that is said."""
        self.remove(disc.id)
        if place is None:
            self.unplaced.append(Unplaced(id=disc.id, kind=disc.kind, clause=clause))
            return
        self.board.append(Disc(id=disc.id, kind=disc.kind, x_mm=place[0], y_mm=place[1]))
        self.place.append(Place(kind=disc.kind, id=disc.id, x_mm=place[0], y_mm=place[1], clause=clause))

    def count(self, side: Side) -> int:
        """Pieces of a side's colour on the board."""
        colour = colour_at(self.core, side)
        return [d.kind for d in self.board].count(colour)

    def room(self, side: Side) -> int:
        """17.4, 21.6: how many penalty pieces could be laid out for this player now."""
        if doubles(self.core) and not row_moved(side, colour_at(self.core, side), self.board):
            return 0
        return max(0, full_count(self.core) - self.count(side))

    def lay_penalties(self, side: Side, new: int) -> None:
        """17.3-17.6: lay out what is owed and earned, as far as there is room; the rest is debt."""
        player = player_at(self.core, side)
        colour = colour_at(self.core, side)
        owed = self.set.debt[player] + new
        while owed and self.room(side):
            at = penalty_place(side, colour, self.board, self.made_from, self.core.rules.nearer_side_first)
            number = self.set.laid + 1
            used = {d.id for d in self.board}
            name = next(i for n in range(full_count(self.core) + number, 1000) if (i := f"{colour[0]}{n}") not in used)
            piece = Disc(id=name, kind=colour, x_mm=0.0, y_mm=0.0)
            if at is None:
                self.lay(piece, None, "17.3")
                break
            self.lay(piece, at, "17.3" if owed <= new or not self.set.debt[player] else "17.6")
            self.set = msgspec.structs.replace(self.set, laid=number)
            owed -= 1
        self.set = msgspec.structs.replace(self.set, debt=put(self.set.debt, player, owed))


def _apply_given(d: Draft) -> None:
    """What a judge has overridden replaces what was worked out (9.1.a); what follows from it follows."""
    given, core = d.given, d.core
    holder = player_at(core, d.set.turn)
    if "faults" in given:
        d.faults = [msgspec.convert(f, Fault) for f in given["faults"]]
        if "penalty_pieces" not in given:
            d.earned[holder] = int(any(f.clause.startswith("17.1") for f in d.faults))
        if "set" not in given:
            lost = next((f for f in d.faults if f.clause.startswith("16.1")), None)
            d.end = None if lost is None else sets.lost_by(core, lost.side, lost.clause)
    if given.get("penalty_pieces") is not None:
        d.earned[holder] = given["penalty_pieces"]
    if "set" in given:
        part = given["set"]
        d.end = None if part is None else sets.End(part["clause"], part["side"] if part["result"] == "won" else None)
        if part is None:
            d.interrupts = None
    turn = given.get("turn")
    if turn is None and given.get("next") is not None and d.end is None:
        turn = "continues" if given["next"] == d.set.turn else "passes"
    if turn == "continues":
        d.given = {**given, "turn": turn}
        d.reasons = []
        d.interrupts = None
    elif turn in {"passes", "interrupted"}:
        d.reasons = list(given.get("next_reason") or d.reasons or ["9.1.a"])
        d.interrupts = bool(d.interrupts) if turn == "interrupted" else None


def finish(d: Draft) -> tuple[Core, Ruling]:
    """The next state and the ruling: penalties, debts, the turn, a set or match that ends."""
    _apply_given(d)
    core, given, holder = d.core, d.given, d.set.turn
    player = player_at(core, holder)
    if d.earned[player] and given.get("turn") != "continues" and d.interrupts is None:
        d.reasons.append("18.1.d")
    penalties = sum(d.earned) + sum(d.deferred)
    if penalties:
        tally = tuple(map(sum, zip(d.set.penalties, d.earned, d.deferred, strict=True)))
        d.set = msgspec.structs.replace(d.set, penalties=tally)
    turn: Turn = "interrupted" if d.interrupts is not None else "passes" if d.reasons else "continues"
    if d.end is None:
        d.end = _first_series_failed(d, turn)
    if d.end is None:
        _lay_out(d, turn)
        _pass_turn(d, turn)
        _forced_after(d)
    core = _commit(d)
    on_table = _counts(d)
    shown = None
    if d.end is not None:
        core, shown = sets.close(core, d.end, d.entry, goes_on="match" in given and given["match"] is None)
    if given.get("match"):
        core = msgspec.structs.replace(core, over=msgspec.convert(given["match"], MatchResult))
    ended = d.end is not None
    ruling = Ruling(
        entry=d.entry,
        kind=d.kind,
        lawful=d.lawful,
        faults=d.faults,
        turn=turn,
        next=None if core.over else core.set.turn,
        next_reason=d.reasons,
        penalty_pieces=penalties,
        debt=by_side(d.core, d.set.debt),
        place=[] if ended else d.place,
        restore=[] if ended else d.restore,
        on_table=on_table,
        pocketed=d.pocketed,
        warnings=by_side(d.core, core.warnings),
        set=shown,
        match=core.over if core.over != d.core.over else None,
        seen=d.seen or UNSET,
        margins=d.margins or UNSET,
        unplaced=d.unplaced or UNSET,
        told=d.told or UNSET,
        penalty_stroke=d.set.free_stroke or UNSET,
    )
    return core, ruling


def _first_series_failed(d: Draft, turn: Turn) -> sets.End | None:
    """20.4, 21.7: the opponent's first series ends, or a fault of theirs (17.1.o) has cost it: the set is the first player's."""
    core, s = d.core, d.set
    clause = "21.7" if doubles(core) else "20.4"
    if turn == "passes" and s.interrupted is not None:
        return sets.End(clause, core.seats[s.interrupted])
    following = player_at(core, after_side(core, s.turn))
    if turn == "interrupted" and s.pending[following] + d.deferred[following]:
        return sets.End(clause, s.turn)
    return None


def _lay_out(d: Draft, turn: Turn) -> None:
    """17.5: penalty pieces and debts of the player who has lost the turn; others who are punished at once."""
    holder = player_at(d.core, d.set.turn)
    for n, side in enumerate(d.core.seats):
        if n == holder:
            if turn == "passes":
                d.lay_penalties(side, d.earned[n])
            else:  # 17.5: only a player who has lost the turn gets one; a judge may have left the turn with this one
                d.set = msgspec.structs.replace(d.set, debt=put(d.set.debt, n, d.set.debt[n] + d.earned[n]))
        elif d.earned[n]:
            d.lay_penalties(side, d.earned[n])


def _pass_turn(d: Draft, turn: Turn) -> None:
    """18.1, 21.1: the next side; one with a penalty piece to come gets it now and loses the turn just gained (17.1.o)."""
    if any(d.deferred):
        pending = tuple(map(sum, zip(d.set.pending, d.deferred, strict=True)))
        d.set = msgspec.structs.replace(d.set, pending=pending)
    if turn == "continues":
        return
    if turn == "interrupted":
        d.set = msgspec.structs.replace(d.set, interrupted=player_at(d.core, d.set.turn), violation=bool(d.interrupts))
    following = after_side(d.core, d.set.turn)
    d.set = msgspec.structs.replace(d.set, turn=following, turns_ended=d.set.turns_ended + 1, told_at_s=None)
    while d.set.pending[n := player_at(d.core, d.set.turn)]:
        d.lay_penalties(d.set.turn, d.set.pending[n])
        d.reasons.append("17.1.o")
        d.set = msgspec.structs.replace(
            d.set, pending=put(d.set.pending, n, 0), turn=after_side(d.core, d.set.turn), turns_ended=d.set.turns_ended + 1
        )


def _forced_after(d: Draft) -> None:
    """Overridden places, debts and next side, once everything else is worked out."""
    given = d.given
    if given.get("place") is not None:
        laid = {p.id for p in d.place}
        d.board = [b for b in d.board if b.id not in laid]
        d.place = [msgspec.convert(p, Place) for p in given["place"]]
        for place in d.place:
            d.remove(place.id)
            d.board.append(Disc(id=place.id, kind=place.kind, x_mm=place.x_mm, y_mm=place.y_mm))
    if given.get("restore") is not None:
        d.restore = [msgspec.convert(p, Restore) for p in given["restore"]]
        for back in d.restore:
            kind = next((b.kind for b in d.board if b.id == back.id), None)
            if kind is not None:
                d.remove(back.id)
                d.board.append(Disc(id=back.id, kind=kind, x_mm=back.x_mm, y_mm=back.y_mm))
    if given.get("debt") is not None:
        debt = tuple(given["debt"].get(side, owed) for side, owed in by_side(d.core, d.set.debt).items())
        d.set = msgspec.structs.replace(d.set, debt=debt)
    if given.get("next") is not None:
        d.set = msgspec.structs.replace(d.set, turn=given["next"])


def _counts(d: Draft) -> dict[Side, int]:
    forced = d.given.get("on_table")
    counts = {side: d.count(side) for side in d.core.seats}
    return counts if forced is None else {**counts, **forced}


def _commit(d: Draft) -> Core:
    board = tuple([b for b in d.board if b.kind != "striker"])
    return msgspec.structs.replace(d.core, set=msgspec.structs.replace(d.set, board=board, awaiting=_awaiting(d, board)))


def _awaiting(d: Draft, board: tuple[Disc, ...]) -> tuple[Place, ...]:
    """9.1.h: what is to be laid out and put back now; of older wishes, what this entry has not made good or replaced."""
    kinds = {b.id: b.kind for b in board}
    new = [*d.place, *(Place(kind=kinds[r.id], id=r.id, x_mm=r.x_mm, y_mm=r.y_mm, clause=r.clause) for r in d.restore if r.id in kinds)]
    if not new and not d.set.awaiting:
        return ()
    named = {place.id for place in new}
    return (*(old for old in d.set.awaiting if old.id not in named), *new)
