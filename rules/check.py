"""What an entry must satisfy beyond its types before it is ruled on. Raises `EntryUnusable`; never changes anything."""

from __future__ import annotations

import math
from collections.abc import Container
from typing import Annotated, Any, Final, Literal

import msgspec

from rules.added import added_event
from rules.errors import EntryUnusable
from rules.facts import (
    Contact,
    Disc,
    Entry,
    Incident,
    Judge,
    Lifted,
    Match,
    OnSide,
    OverRail,
    Placed,
    Pocketed,
    Position,
    Rail,
    Rest,
    Returned,
    Stacked,
    Stroke,
    Struck,
    TableShaken,
    Time,
    TimelineEvent,
    Touched,
)
from rules.rulesets import RULESETS
from rules.ruling import MatchResult, Turn
from rules.table import OPPOSITE, SIDES, Kind, Side, is_striker

PIECES_OF_A_COLOUR: Final = 16  # 25.2: no more exist
MOST_SETS: Final = 99  # a match sheet's worth; a larger number is a slip of the pen
_SCHEMAS: Final = {Match: "novuss.match/1", Stroke: "novuss.stroke/1"}
_FIGURES: Final = {Placed: ("x_mm", "y_mm"), Returned: ("depth_mm", "sigma_mm"), Time: ("elapsed_s",)}
_ANSWERS: Final = frozenset(
    {"dark", "light", "touched", "untouched", "together", "fallen", "stays", "past", "short", "nobody", "waved", "again", *SIDES}
)
_NEEDS_SIDE: Final = frozenset({"warning", "fault", "award_set", "award_match", "debt_forgotten", "swap_places"})
_NEEDS_CLAUSE: Final = frozenset({"warning", "fault"})
_NEEDS_ENTRY: Final = frozenset({"void", "resolve", "override", "confirm", "add_event"})


Few = Annotated[int, msgspec.Meta(ge=0, le=MOST_SETS)]


class _Outcome(msgspec.Struct):
    result: Literal["won", "replay"]
    side: Side | None = None
    clause: str = "9.1.a"


class _Fault(msgspec.Struct):
    clause: str
    side: Side


class _Lay(msgspec.Struct):
    kind: Kind
    id: str
    x_mm: float
    y_mm: float
    clause: str = "9.1.h"


class _Back(msgspec.Struct):
    id: str
    x_mm: float
    y_mm: float
    clause: str = "9.1.h"


class RulingPart(msgspec.Struct, omit_defaults=True):
    """The parts of a ruling that a judge may override."""

    lawful: bool | msgspec.UnsetType = msgspec.UNSET
    faults: list[_Fault] | msgspec.UnsetType = msgspec.UNSET
    turn: Turn | msgspec.UnsetType = msgspec.UNSET
    next: Side | msgspec.UnsetType = msgspec.UNSET
    next_reason: list[str] | msgspec.UnsetType = msgspec.UNSET
    penalty_pieces: Few | msgspec.UnsetType = msgspec.UNSET
    debt: dict[Side, Few] | msgspec.UnsetType = msgspec.UNSET
    place: list[_Lay] | msgspec.UnsetType = msgspec.UNSET
    restore: list[_Back] | msgspec.UnsetType = msgspec.UNSET
    on_table: dict[Side, Few] | msgspec.UnsetType = msgspec.UNSET
    pocketed: list[str] | msgspec.UnsetType = msgspec.UNSET
    set: _Outcome | msgspec.UnsetType | None = msgspec.UNSET
    match: MatchResult | msgspec.UnsetType | None = msgspec.UNSET


def check_match(match: Match) -> None:
    """Players, sides, colours, ruleset and number of sets fit together (20.1, 21.1)."""
    _schema(match)
    if match.ruleset not in RULESETS:
        raise EntryUnusable(f"unknown ruleset {match.ruleset!r}; known: {', '.join(RULESETS)}")
    if not 1 <= match.sets <= MOST_SETS:
        raise EntryUnusable(f"a match of {match.sets} sets; 1 to {MOST_SETS} are possible")
    sides = tuple(match.players)
    if len(sides) != (2 if match.format == "singles" else 4):
        raise EntryUnusable(f"{len(sides)} players in {match.format}")
    for side in sides:
        if OPPOSITE[side] not in match.players:
            raise EntryUnusable(f"nobody stands opposite {side}")
        same = match.players[side].colour == match.players[OPPOSITE[side]].colour
        if same == (match.format == "singles"):
            raise EntryUnusable(f"{side} and {OPPOSITE[side]} have {'the same colour' if same else 'different colours'} in {match.format}")
    if match.format == "doubles" and match.players["S"].colour == match.players["W"].colour:
        raise EntryUnusable("both pairs have the same colour")
    if match.first_turn not in match.players:
        raise EntryUnusable(f"the first turn is at {match.first_turn}, where nobody stands")


def check_entry(match: Match, entry: Entry) -> None:
    """Everything but a match entry."""
    sides = match.players
    if entry.stroke is not None:
        _stroke(entry.stroke, sides)
    elif entry.incident is not None:
        _incident(entry.incident, sides)
    else:
        assert entry.judge is not None, "one_of() comes first"
        _judge(entry.judge, sides)


def one_of(entry: Entry) -> None:
    """Exactly one kind is set."""
    kinds = [k for k in ("match", "stroke", "incident", "judge") if getattr(entry, k) is not None]
    if len(kinds) != 1:
        raise EntryUnusable("neither match, stroke, incident nor judge" if not kinds else f"{' and '.join(kinds)} in one entry")


def _schema(record: Match | Stroke) -> None:
    if record.schema != _SCHEMAS[type(record)]:
        raise EntryUnusable(f"schema {record.schema!r} is not {_SCHEMAS[type(record)]!r}")


def _side(side: Side | None, sides: Container[Side], what: str) -> None:
    if side is not None and side not in sides:
        raise EntryUnusable(f"{what} names side {side}, where nobody plays")


def _position(position: Position, where: str) -> dict[str, Disc]:
    discs = {d.id: d for d in position.discs}
    if len(discs) != len(position.discs):
        seen: set[str] = set()
        twice = next(d.id for d in position.discs if d.id in seen or seen.add(d.id))  # type: ignore[func-returns-value]
        raise EntryUnusable(f"disc {twice!r} is twice in {where!r}")
    kinds = [d.kind for d in position.discs]
    if kinds.count("striker") > 1:
        raise EntryUnusable(f"two strikers in {where!r}")
    if len(kinds) > PIECES_OF_A_COLOUR:
        for kind in ("red", "black"):
            if kinds.count(kind) > PIECES_OF_A_COLOUR:
                raise EntryUnusable(f"{kinds.count(kind)} {kind} pieces in {where!r}; {PIECES_OF_A_COLOUR} exist")
    if not math.isfinite(sum([d.x_mm + d.y_mm for d in position.discs])):
        raise EntryUnusable(f"a disc in {where!r} has no finite position")
    for disc in position.discs:
        if disc.sigma_mm is not None and not 0.0 <= disc.sigma_mm < math.inf:
            raise EntryUnusable(f"disc {disc.id!r} in {where!r} has sigma {disc.sigma_mm}")
    return discs


def _same_discs(before: dict[str, Disc], after: dict[str, Disc]) -> None:
    for disc in after.values():
        old = before.get(disc.id)
        if old is None:
            if disc.kind == "striker":
                continue
            raise EntryUnusable(f"unknown disc {disc.id!r} in 'after'; it is not in 'before'")
        if old.kind != disc.kind:
            raise EntryUnusable(f"disc {disc.id!r} is {old.kind} before and {disc.kind} after")


def _ids(event: TimelineEvent) -> list[str]:
    if isinstance(event, (Contact, Touched)):
        return event.discs
    if isinstance(event, TableShaken):
        return event.moved
    if isinstance(event, Stacked):
        return [event.disc, event.on]
    if isinstance(event, OnSide):
        return [event.disc] if event.on is None else [event.disc, event.on]
    if isinstance(event, (Rail, Pocketed, OverRail, Lifted)):
        return [event.disc]
    return []


def _timeline(timeline: list[TimelineEvent], known: dict[str, Disc] | None, sides: Container[Side]) -> None:
    last = -math.inf
    for event in timeline:
        if not last <= event.t < math.inf:
            if math.isfinite(event.t):
                raise EntryUnusable(f"time runs backwards in the timeline: {event.t} after {last}")
            raise EntryUnusable("a time in the timeline is not finite")
        last = event.t
        if isinstance(event, (Struck, Rest)):
            continue
        ids = _ids(event)
        if known is not None:
            for i in ids:
                if i not in known:
                    raise EntryUnusable(f"unknown disc {i!r} in the timeline; it is not in 'before'")
        if len(ids) > 1 and len(set(ids)) != len(ids):
            raise EntryUnusable(f"a disc is named twice in one event: {ids}")
        if isinstance(event, Contact) and len(ids) < 2:
            raise EntryUnusable("a contact needs two discs")
        if isinstance(event, (Contact, Rail, Pocketed, Touched, Lifted)):
            confidence = event.confidence
            if confidence is not None and not 0.0 <= confidence <= 1.0:
                raise EntryUnusable(f"confidence {confidence} is not between 0 and 1")
        for name in _FIGURES.get(type(event), ()):
            value = getattr(event, name)
            if value is not None and not math.isfinite(value):
                raise EntryUnusable(f"{name} in the timeline is not finite")
        if isinstance(event, (Touched, Lifted, Time, TableShaken)):
            _side(event.side, sides, "the timeline")


def _with_striker(before: dict[str, Disc]) -> dict[str, Disc]:
    """What a timeline may name: the striker also where no picture shows it, in a hand or under one."""
    if any(is_striker(d.kind) for d in reversed(before.values())):
        return before
    return {**before, "striker": Disc(id="striker", kind="striker", x_mm=0.0, y_mm=0.0)}


def _stroke(stroke: Stroke, sides: Container[Side]) -> None:
    _schema(stroke)
    _side(stroke.side, sides, "the stroke")
    before = _position(stroke.before, "before")
    after = _position(stroke.after, "after")
    _same_discs(before, after)
    _timeline(stroke.timeline, _with_striker(before), sides)


def _incident(incident: Incident, sides: Container[Side]) -> None:
    _side(incident.side, sides, "the incident")
    before = _position(incident.before, "before") if incident.before else None
    after = _position(incident.after, "after") if incident.after else None
    if before is not None and after is not None:
        _same_discs(before, after)
    known = None if before is None else _with_striker(before)
    _timeline(incident.timeline, known, sides)


def _judge(judge: Judge, sides: Container[Side]) -> None:
    _side(judge.side, sides, f"the judge's {judge.command}")
    if judge.command in _NEEDS_SIDE and judge.side is None:
        raise EntryUnusable(f"the judge's {judge.command} needs a side")
    if judge.command in _NEEDS_CLAUSE and not judge.clause:
        raise EntryUnusable(f"the judge's {judge.command} needs a clause")
    if judge.command in _NEEDS_ENTRY:
        if judge.entry is None:
            raise EntryUnusable(f"the judge's {judge.command} needs an entry")
        if judge.entry < 1:
            raise EntryUnusable(f"entry {judge.entry} cannot be: entries are numbered from 1")
    if judge.command == "resolve":
        if not judge.assume:
            raise EntryUnusable("the judge's resolve needs what to assume")
        for key, answer in judge.assume.items():
            if answer not in _ANSWERS and answer not in key.split("+"):
                raise EntryUnusable(f"the judge's resolve answers {key!r} by {answer!r}; known: {', '.join(sorted(_ANSWERS))}")
    if judge.command == "add_event" and isinstance(added_event(judge, 0.0), (Struck, Rest, Placed)):
        raise EntryUnusable("the judge's add_event: a stroke has its beginning and its end")
    if judge.command == "override":
        if judge.ruling is None:
            raise EntryUnusable("the judge's override needs the part of the ruling that replaces the computed one")
        part = ruling_part(judge)
        outcome = part.get("set") or {}
        if outcome.get("result") == "won" and outcome.get("side") is None:
            raise EntryUnusable("the judge's override has a set won by nobody")
        named = [part.get("next"), outcome.get("side"), (part.get("match") or {}).get("winner")]
        for side in [*named, *(f["side"] for f in part.get("faults") or [])]:
            _side(side, sides, "the judge's override")


def ruling_part(judge: Judge) -> dict[str, Any]:
    """The overridden parts of a ruling, checked for their types."""
    try:
        part = msgspec.convert(judge.ruling, RulingPart)
    except msgspec.ValidationError as error:
        raise EntryUnusable(f"the judge's override: {error}") from error
    plain: dict[str, Any] = msgspec.to_builtins(part)
    # A part that is given as null means "none", so it stays apart from one that is not given.
    return {k: plain.get(k) for k in (judge.ruling or {}) if k in RulingPart.__struct_fields__}
