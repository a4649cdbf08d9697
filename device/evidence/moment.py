"""Which moment of a stroke or incident its ruling turns on, and how much film around it shows that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from rules.facts import Contact, Incident, Lifted, OverRail, Pocketed, Rail, Rest, Returned, Stroke, Struck, TimelineEvent, Touched
from rules.ruling import Ruling

BEFORE_S: Final = 3.0  # issue: from 3 s before the moment
AFTER_S: Final = 2.0  # to 2 s after it
_LONGEST_BEFORE_S: Final = 8.0  # the stroke itself belongs in, but a slow one must not fill the memory
_LONGEST_AFTER_S: Final = 4.0
_LEAD_S: Final = 0.5  # of the cue's way before it strikes, and of the picture after the last event

_Is = Callable[[TimelineEvent, str], bool]
# Clauses that turn on something else than the first contact (000 sections 16-18).
_TURNS_ON: Final[tuple[tuple[frozenset[str], _Is], ...]] = (
    (frozenset({"17.1.d", "17.1.q"}), lambda e, striker: isinstance(e, Pocketed) and e.disc == striker),
    (frozenset({"17.1.e"}), lambda e, striker: isinstance(e, OverRail) and e.disc == striker),
    (frozenset({"17.1.p", "18.1.c"}), lambda e, striker: isinstance(e, OverRail) and e.disc != striker),
    (frozenset({"18.1.e"}), lambda e, _: isinstance(e, Returned)),
    (frozenset({"17.1.k", "17.1.l", "17.1.m", "17.1.n", "16.1.e", "16.1.f", "16.1.k"}), lambda e, _: isinstance(e, Touched | Lifted)),
)


@dataclass(frozen=True, slots=True)
class Point:
    """The event that decides, seconds of the source's clock, and the discs that it is about."""

    event: str
    t_s: float
    discs: tuple[str, ...]


def deciding(fact: Stroke | Incident, ruling: Ruling) -> Point:
    """The moment on which the ruling turns."""
    if isinstance(fact, Incident):
        first = next((e for e in fact.timeline if not isinstance(e, Rest)), None)
        return Point("incident", 0.0, ()) if first is None else _point(first)
    striker = next((d.id for d in fact.before.discs if d.kind == "striker"), "striker")
    clauses = [f.clause for f in ruling.faults or []] + list(ruling.next_reason or [])
    for clause in clauses:
        for named, is_it in _TURNS_ON:
            found = next((e for e in fact.timeline if clause in named and is_it(e, striker)), None)
            if found is not None:
                return _point(found)
        if clause == "17.1.j":
            hits = [e for e in fact.timeline if isinstance(e, Struck)]
            if len(hits) > 1:
                return _point(hits[1])
    first_touch = next((e for e in fact.timeline if isinstance(e, Contact) and striker in e.discs), None)
    struck = next((e for e in fact.timeline if isinstance(e, Struck)), None)
    rail = next((e for e in fact.timeline if isinstance(e, Rail) and e.disc == striker), None)
    found = first_touch or rail or struck or (fact.timeline[0] if fact.timeline else None)
    return Point("stroke", 0.0, ()) if found is None else _point(found)


def span_s(fact: Stroke | Incident, at_s: float) -> tuple[float, float]:
    """First and last second of the clip: three before and two after the moment, and the whole stroke where that is not much more."""
    times = [e.t for e in fact.timeline if not isinstance(e, Rest)]
    struck = [e.t for e in fact.timeline if isinstance(e, Struck)]
    start = min([at_s - BEFORE_S, *(max(t - _LEAD_S, at_s - _LONGEST_BEFORE_S) for t in struck[:1])])
    end = max([at_s + AFTER_S, *(min(t + _LEAD_S, at_s + _LONGEST_AFTER_S) for t in times[-1:])])
    return start, end


def _point(event: TimelineEvent) -> Point:
    plain: Any = event
    named = tuple(getattr(plain, "discs", ()) or getattr(plain, "moved", ()) or ((plain.disc,) if hasattr(plain, "disc") else ()))
    return Point(str(event.__struct_config__.tag), event.t, named)
