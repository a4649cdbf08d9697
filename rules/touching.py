"""12.2, 12.13, 12.16, 12.24, 16.1.b, e, f, k, 17.1.k-o: hands, cue, striker where they should not be; pieces that fall by themselves."""

from __future__ import annotations

from collections.abc import Iterable

from rules.draft import Draft
from rules.facts import Contact, Disc, Incident, Lifted, OnSide, OverRail, Pocketed, Rest, Stacked, Stroke, TableShaken, Touched
from rules.reading import SURE, Reading, likelier
from rules.set_lost import has_moved
from rules.state import Core, full_count, pair_at
from rules.stroke import struck_at
from rules.table import Side


def _their_turn(core: Core, side: Side, holder: Side) -> bool:
    """Whether the other side has the turn (21.5: partners are one side)."""
    return pair_at(core, side) != pair_at(core, holder)


def between_strokes(d: Draft, incident: Incident, before: dict[str, Disc], after: dict[str, Disc], reading: Reading) -> None:
    """Everything between strokes except the clock."""
    touches = [e for e in incident.timeline if isinstance(e, Touched) and _happened(e, reading)]
    lifts = [e for e in incident.timeline if isinstance(e, Lifted) and _happened(e, reading)]
    named = {i for e in touches for i in e.discs if i in before and before[i].kind != "striker"}
    named |= {e.disc for e in lifts if e.disc in before and before[e.disc].kind != "striker"}
    moved = {b.id for b in before.values() if b.kind != "striker" and has_moved(b, after.get(b.id))}
    if named and _set_up(d, before) and all(e.by == "hand" for e in touches):
        _put_right(d, sorted(moved), before)
        return
    touchers = {e.side for e in touches}
    for lift in lifts:
        if lift.disc in named:
            d.lose_set("16.1.f", lift.side)
    for touch in touches:
        theirs = [i for i in touch.discs if i in named]
        if not theirs:
            continue
        # One toucher answers for all that moved; with several, each for the pieces named.
        by_this = moved if len(touchers) == 1 else moved & set(theirs)
        _touch(d, touch, by_this, before)
    for event in incident.timeline:
        if isinstance(event, Pocketed) and event.disc in before and event.disc not in named:
            d.put_back(before[event.disc], "12.13")
        elif isinstance(event, TableShaken):
            _shaken(d, event, incident.side, before, reading)


def _happened(event: Touched | Lifted, reading: Reading) -> bool:
    """Whether a hand did it; where what was seen does not settle that, it is a question."""
    if event.confidence is None or event.confidence >= SURE:
        return True
    named = "+".join(event.discs) if isinstance(event, Touched) else event.disc
    return reading.ask(named, likelier(event.confidence)) == "touched"


def _touch(d: Draft, touch: Touched, moved: set[str], before: dict[str, Disc]) -> None:
    holder = d.set.turn
    away = _their_turn(d.core, touch.side, holder)
    if len(moved) >= 2:
        d.lose_set("16.1.e", touch.side)
        return
    if away and any(_last_of_its_colour(i, before) for i in moved):
        d.lose_set("16.1.f", touch.side)
        return
    if away:
        d.penalise("17.1.o", touch.side)
    else:
        d.penalise("17.1.k" if touch.by == "striker" else "17.1.n", touch.side)
    for i in sorted(moved):
        if all(r.id != i for r in d.restore):
            d.put_back(before[i], "17.1.o" if away else "9.1.h")


def _set_up(d: Draft, before: dict[str, Disc]) -> bool:
    """12.2: all pieces lie there and no stroke has been made, so that the set has not begun."""
    counts = [sum(b.kind == colour for b in before.values()) for colour in set(d.core.colours)]
    return d.set.strokes == 0 and min(counts) >= full_count(d.core)


def _put_right(d: Draft, moved: Iterable[str], before: dict[str, Disc]) -> None:
    """12.24: before the set nothing is lost; pieces go back and play begins. Players set them up by hand (10.2)."""
    for i in moved:
        d.put_back(before[i], "12.24")
    d.told.append("12.24")


def _shaken(d: Draft, event: TableShaken, side: Side | None, before: dict[str, Disc], reading: Reading) -> None:
    moved = [i for i in event.moved if i in before and before[i].kind != "striker"]
    if not moved:
        return
    if _set_up(d, before):
        _put_right(d, moved, before)
        return
    who = event.side or side
    if who is None:
        answer = reading.ask("shaken", ("nobody", *d.core.seats))
        who = next((s for s in d.core.seats if s == answer), None)
    if who is not None:
        d.lose_set("16.1.b", who)


def during_stroke(
    d: Draft, stroke: Stroke, striker: str, before: dict[str, Disc], moved: frozenset[str], reading: Reading
) -> dict[str, str]:
    """Hands and cue before, during and at the end of a stroke; returns the pieces that they alone moved, with the clause to put back by."""
    struck_t = struck_at(stroke)
    by_stroke = {i for e in stroke.timeline if isinstance(e, Contact) and e.t >= struck_t for i in e.discs}
    by_hand: dict[Side, set[str]] = {}
    in_motion: set[str] = set()
    off: set[str] = set()  # in a pocket or over a rail: no longer on the table
    for event in stroke.timeline:
        if isinstance(event, Contact):
            if event.t >= struck_t:
                in_motion.update(i for i in event.discs if i != striker)
            elif striker in event.discs:
                _penal(d, "17.1.k", stroke.side, stroke.side)
                by_hand.setdefault(stroke.side, set()).update(moved.intersection(event.discs) - by_stroke)
        elif isinstance(event, (OnSide, Stacked, OverRail, Pocketed)):
            in_motion.discard(event.disc)  # 12.16
            if isinstance(event, (OverRail, Pocketed)):
                off.add(event.disc)
        elif isinstance(event, Lifted):
            if event.disc in off:
                continue
            if event.disc != striker:
                d.lose_set("16.1.f", event.side)
            elif event.t >= struck_t and _before_rest(stroke, event.t):
                _penal(d, "17.1.l", event.side, stroke.side)
        elif isinstance(event, Touched):
            underway = event.t >= struck_t and _before_rest(stroke, event.t)
            if striker in event.discs and underway and event.by != "striker":
                _penal(d, "17.1.m", event.side, stroke.side)
            pieces = {i for i in event.discs if i != striker and i not in off}
            if underway and event.by != "striker" and pieces & in_motion:
                d.lose_set("16.1.k", event.side)
                continue
            if not pieces:
                continue
            away = _their_turn(d.core, event.side, stroke.side)
            by_this = by_hand.setdefault(event.side, set())
            by_this |= (pieces & moved) - by_stroke
            if len(by_this) >= 2:
                d.lose_set("16.1.e", event.side)
            elif away and any(_last_of_its_colour(i, before) for i in by_this):
                d.lose_set("16.1.f", event.side)
            else:
                placing = event.by == "striker" and not underway
                _penal(d, "17.1.k" if placing else "17.1.n", event.side, stroke.side)
        elif isinstance(event, TableShaken):
            _shaken(d, event, None, before, reading)
    return {i: "17.1.o" if _their_turn(d.core, s, stroke.side) else "9.1.h" for s, pieces in by_hand.items() for i in sorted(pieces)}


def _last_of_its_colour(piece: str, before: dict[str, Disc]) -> bool:
    return sum(b.kind == before[piece].kind for b in before.values()) == 1


def _before_rest(stroke: Stroke, t: float) -> bool:
    rest = next((e.t for e in stroke.timeline if isinstance(e, Rest)), None)
    return rest is None or t < rest


def _penal(d: Draft, clause: str, side: Side, striking: Side) -> None:
    d.penalise(clause if not _their_turn(d.core, side, striking) else "17.1.o", side)
