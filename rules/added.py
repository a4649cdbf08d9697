"""9.1.a, 9.1.j: an event that the camera missed, put into a stroke by the judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from rules.errors import EntryUnusable
from rules.facts import Contact, Entry, Judge, Lifted, OverRail, Pocketed, Rest, Stroke, TimelineEvent

STEP_S: Final = 0.001  # events at equal times are not separable; a millisecond apart they are


def added_event(judge: Judge, t: float) -> TimelineEvent:
    """The event of an `add_event` at a time; raises EntryUnusable when it is none."""
    try:
        return msgspec.convert({**(judge.event or {}), "t": t}, TimelineEvent)  # type: ignore[no-any-return]
    except msgspec.ValidationError as error:
        raise EntryUnusable(f"the judge's add_event: {error}") from error


def with_added(entry: Entry, commands: Sequence[Judge]) -> Entry:
    """The entry with everything that judges have added to it, in the order of their commands."""
    if entry.stroke is None:
        return entry
    stroke = entry.stroke
    for judge in commands:
        stroke = _with_one(stroke, judge)
    return msgspec.structs.replace(entry, stroke=stroke)


def _with_one(stroke: Stroke, judge: Judge) -> Stroke:
    at = _place_of(stroke.timeline, first=judge.when == "first")
    timeline = list(stroke.timeline)
    event = added_event(judge, _time_at(timeline, at))
    timeline.insert(at, event)
    after = stroke.after
    if isinstance(event, (Pocketed, OverRail, Lifted)):
        after = msgspec.structs.replace(after, discs=[d for d in after.discs if d.id != event.disc])
    return msgspec.structs.replace(stroke, timeline=timeline, after=after)


def _place_of(timeline: Sequence[TimelineEvent], *, first: bool) -> int:
    """Before the first contact, else before everything came to rest."""
    kind: type[Contact] | type[Rest] = Contact if first else Rest
    return next((n for n, event in enumerate(timeline) if isinstance(event, kind)), len(timeline))


def _time_at(timeline: Sequence[TimelineEvent], at: int) -> float:
    """A time between the neighbours; at the end a millisecond after the last."""
    if at == len(timeline):
        return timeline[-1].t + STEP_S if timeline else 0.0
    return (timeline[at - 1].t + timeline[at].t) / 2 if at else timeline[at].t - STEP_S
