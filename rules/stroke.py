"""11.4, 13.1-13.5, 17.1.a-c, f, h, i: what the striker touched first, by which way, and whether that was lawful."""

from __future__ import annotations

import math

import msgspec

from rules.facts import Contact, Disc, Rail, Stroke, Struck
from rules.reading import SURE, Reading, likelier, nearest_zone
from rules.rulesets import Ruleset
from rules.ruling import Margin, Seen, Touch, Way
from rules.table import OPPOSITE, Colour, Side, Zone, is_striker


class First(msgspec.Struct, frozen=True):
    """The striker's way to its first pieces, and all that it touched in the stroke."""

    way: Way
    pieces: tuple[str, ...]  # touched first, together
    rails: frozenset[Side]  # before the first piece
    opposite_at_all: bool  # at any time of the stroke
    touched: tuple[str, ...]  # every piece the striker itself touched, in order
    before_opposite: tuple[str, ...]  # those of them that it touched before the opposite rail


class Verdict(msgspec.Struct, frozen=True):
    """Whether the stroke began lawfully, else the clauses that name why."""

    lawful: bool
    clauses: tuple[str, ...]
    seen: Seen
    margins: tuple[Margin, ...]  # of the own pieces touched first


def _reached(contact: Contact, others: tuple[str, ...], reading: Reading, settled: bool) -> tuple[tuple[str, ...], ...]:
    """The pieces of one striker contact in the order they were reached; none if the contact did not happen."""
    if settled or contact.confidence is None or contact.confidence >= SURE:
        return (others,)
    if len(others) == 1:
        return (others,) if reading.ask(others[0], likelier(contact.confidence)) == "touched" else ()
    together = "+".join(others)
    answer = reading.ask(together, ("together", *others))
    if answer == "together":
        return (others,)
    return ((answer,), tuple(o for o in others if o != answer))


def first_contact(stroke: Stroke, striker: str, reading: Reading) -> First:
    """Reading 2: the rails before the first piece decide the way; contacts at equal t are one contact."""
    opposite = OPPOSITE[stroke.side]
    first: tuple[str, ...] = ()
    first_t: float | None = None
    touched: dict[str, float] = {}
    rails: list[Rail] = []
    struck_t = struck_at(stroke)
    for event in stroke.timeline:
        if event.t < struck_t:
            continue  # touched in placing the striker: 17.1.k, no part of the stroke
        if isinstance(event, Rail):
            if event.disc == striker:
                rails.append(event)
        elif isinstance(event, Contact) and striker in event.discs:
            others = tuple(d for d in event.discs if d != striker)
            for group in _reached(event, others, reading, settled=first_t is not None and event.t > first_t):
                if first_t is None or (event.t == first_t and group is others):
                    first, first_t = first + tuple(g for g in group if g not in first), event.t
                for piece in group:
                    touched.setdefault(piece, event.t)
    before = _rails_before(rails, first_t, reading)
    opposite_t = min((r.t for r in rails if r.rail == opposite), default=None)
    way: Way = "direct"
    if opposite in before:
        way = "opposite"
    elif before - {stroke.side}:
        way = "side"
    elif before:
        way = "own"
    return First(
        way=way,
        pieces=first,
        rails=frozenset(before),
        opposite_at_all=opposite_t is not None,
        touched=tuple(touched),
        before_opposite=tuple(p for p, t in touched.items() if opposite not in before and (opposite_t is None or t <= opposite_t)),
    )


def _rails_before(rails: list[Rail], first_t: float | None, reading: Reading) -> set[Side]:
    """Rails touched before the first piece; one at the very same time, or an unsure one, is a question."""
    sure: set[Side] = set()
    unsure: dict[Side, float] = {}
    for rail in rails:
        if first_t is not None and rail.t > first_t:
            continue
        confidence = 1.0 if rail.confidence is None else rail.confidence
        if rail.t == first_t:
            confidence = min(confidence, 0.5)
        if confidence >= SURE:
            sure.add(rail.rail)
        else:
            unsure[rail.rail] = max(confidence, unsure.get(rail.rail, 0.0))
    for side, confidence in unsure.items():
        if side not in sure and reading.ask(side, likelier(confidence)) == "touched":
            sure.add(side)
    return sure


def _may_touch(disc: Disc, way: Way, zones: tuple[Zone, ...], rules: Ruleset, reading: Reading) -> bool:
    """13.1-13.3: an own piece may be touched first when light, or dark and opened by the way the striker came."""
    if not reading.dark(disc, zones):
        return True
    if way == "opposite":
        return True
    return way == "side" and rules.side_rail_opens_circle and reading.dark(disc, ("circle",))


def judge_first_contact(first: First, side: Side, own: Colour, before: dict[str, Disc], rules: Ruleset, reading: Reading) -> Verdict:
    """Readings 3 and 4: lawful or not, and the clauses that say why not."""
    zones: tuple[Zone, ...] = (side, "circle")
    mine = [before[p] for p in first.pieces if before[p].kind == own]
    others = [before[p] for p in first.pieces if before[p].kind != own]
    allowed = {d.id: _may_touch(d, first.way, zones, rules, reading) for d in mine}
    lawful = bool(mine) and not others and all(allowed.values())
    has_light: bool | None = None
    if not lawful:
        has_light = reading.any_light((d for d in before.values() if d.kind == own), zones)
        if not has_light:
            lawful = _opened_without_light(first, own, before, zones, rules, reading)
    clauses: list[str] = []
    if not lawful:
        clauses = _why_unlawful(first, own, before, zones, rules, bool(has_light), mine, others, reading)
    seen = Seen(
        way=first.way,
        first=[Touch(id=d.id, own=d.kind == own, dark=d.kind == own and reading.dark(d, zones)) for d in (before[p] for p in first.pieces)],
        has_light=has_light,
    )
    return Verdict(lawful, tuple(clauses), seen, tuple(_margin(d, zones) for d in mine))


def _margin(disc: Disc, zones: tuple[Zone, ...]) -> Margin:
    clear, zone = nearest_zone(disc, zones)
    return Margin(id=disc.id, zone=zone, clearance_mm=round(clear, 2), sigma_mm=disc.sigma_mm or 0.0)


def _opened_without_light(
    first: First, own: Colour, before: dict[str, Disc], zones: tuple[Zone, ...], rules: Ruleset, reading: Reading
) -> bool:
    """11.4.b, 13.4: no own light piece and the opposite rail first; 002: the opposite rail at any time, no dark piece before it."""
    if first.way == "opposite":
        return True
    if not rules.opposite_rail_at_any_time or not first.opposite_at_all:
        return False
    return not any(before[p].kind == own for p in first.before_opposite)


def _why_unlawful(
    first: First,
    own: Colour,
    before: dict[str, Disc],
    zones: tuple[Zone, ...],
    rules: Ruleset,
    has_light: bool,
    mine: list[Disc],
    others: list[Disc],
    reading: Reading,
) -> list[str]:
    clauses: list[str] = []
    if others and first.way == "direct":
        clauses.append("17.1.b")
    elif others and mine:
        clauses.append("17.1.a")  # both at once after a rebound
    elif others and has_light:
        clauses.append("17.1.c")
    if any(before[p].kind == own and reading.dark(before[p], zones) for p in first.touched):
        clauses.append("17.1.h")
    if has_light:
        return clauses or ["17.1.a"]
    if rules.opposite_rail_at_any_time:
        if not first.opposite_at_all:
            clauses.append("17.1.f")
    elif not (mine and others):
        if first.way != "side":
            clauses.append("17.1.f")
        elif not any(reading.dark(d, ("circle",)) for d in mine):
            clauses.append("17.1.i")
    return clauses or ["17.1.a"]


def struck_at(stroke: Stroke) -> float:
    """12.9: when the cue touched the striker; before everything where that was not seen."""
    for event in stroke.timeline:
        if isinstance(event, Struck):
            return event.t
    return -math.inf


def striker_id(discs: list[Disc]) -> str:
    """The striker's id; the contract's own where no striker lies on the table."""
    for disc in reversed(discs):  # listed last, as a rule
        if is_striker(disc.kind):
            return disc.id
    return "striker"
