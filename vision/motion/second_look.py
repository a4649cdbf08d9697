"""A second look before anybody is accused: what a follower lost under a hand is believed only if a fresh look finds it so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
import numpy as np

from rules.facts import Disc, Incident, Lifted, Pocketed, Position, Rest, SeenDisc, Stroke, TableShaken, TimelineEvent, Touched
from vision.motion.identity import SAME_MM, match_places
from vision.motion.tracks import Track

_ANYWHERE_MM: Final = 2000.0  # a piece that was carried lies anywhere on the table
_STAYED_MM: Final = 1.0  # a piece counts as touched from here (issue: >= 1 mm called, under 0.3 mm never)


def _distance_mm(disc: Disc | SeenDisc, other: Disc | SeenDisc) -> float:
    return float(np.hypot(disc.x_mm - other.x_mm, disc.y_mm - other.y_mm))


def stayed(before: Sequence[Disc], seen: Sequence[SeenDisc]) -> dict[str, SeenDisc]:
    """Discs that a fresh look finds where they were, by id; each seen disc stands for one of them at most.

    Parameters
    ----------
    before
        Discs before the spell.
    seen
        The fresh look; mm on the table plane as in `before`.
    """
    near = sorted((_distance_mm(old, new), i, j) for i, old in enumerate(before) for j, new in enumerate(seen) if old.kind == new.kind)
    out: dict[str, SeenDisc] = {}
    used: set[int] = set()
    for distance, i, j in near:
        if distance > _STAYED_MM:
            break
        if before[i].id not in out and j not in used:
            out[before[i].id] = seen[j]
            used.add(j)
    return out


def _left_over(before: Sequence[Disc], seen: Sequence[SeenDisc], kept: dict[str, SeenDisc], kind: str) -> int:
    """How many more discs of a kind are seen than were found in their places: pieces that are still on the table, elsewhere."""
    return sum(d.kind == kind for d in seen) - sum(d.kind == kind and d.id in kept for d in before)


def confirmed(incident: Incident, seen: Sequence[SeenDisc]) -> Incident | None:
    """The incident without what a fresh look contradicts, or None when nothing is left of it.

    A piece in its old place was neither touched nor lifted; a piece is lifted only when fewer of its kind are left on the table.
    """
    if incident.before is None or incident.after is None:
        return incident
    before = incident.before.discs
    kinds = {d.id: d.kind for d in before}
    kept = stayed(before, seen)
    events: list[TimelineEvent] = []
    for event in incident.timeline:
        if isinstance(event, Touched):
            moved = [i for i in event.discs if i not in kept]
            if moved:
                events.append(msgspec.structs.replace(event, discs=moved))
        elif isinstance(event, TableShaken):
            moved = [i for i in event.moved if i not in kept]
            if len(moved) > 1:
                events.append(msgspec.structs.replace(event, moved=moved))
        elif isinstance(event, Lifted | Pocketed):
            kind = kinds.get(event.disc)
            if event.disc not in kept and kind is not None and _left_over(before, seen, kept, kind) < _missing(before, kept, kind):
                events.append(event)
        else:
            events.append(event)
    if all(isinstance(e, Rest) for e in events):
        return None
    return msgspec.structs.replace(incident, timeline=events, after=_after(incident.after, before, kept))


def _missing(before: Sequence[Disc], kept: dict[str, SeenDisc], kind: str) -> int:
    return sum(d.kind == kind and d.id not in kept for d in before)


def _after(after: Position, before: Sequence[Disc], kept: dict[str, SeenDisc]) -> Position:
    """The position afterwards with every disc that stayed where it was, whatever the follower made of it."""
    others = [d for d in after.discs if d.id not in kept and all(_distance_mm(d, k) > SAME_MM for k in kept.values())]
    return Position(discs=[*(d for d in before if d.id in kept), *others])


def look_twice(
    facts: Sequence[Stroke | Incident], tracks: Mapping[str, Track], before: Sequence[Disc], seen: Sequence[SeenDisc]
) -> list[Stroke | Incident]:
    """Facts without what a fresh look contradicts; the followed discs are put where they were seen, under the ids of their places.

    `before` are the discs before the spell, `seen` the fresh look at its end.
    """
    kept = stayed(before, seen)
    places = {d.id: d for d in before}
    for name in kept:
        track = tracks[name]
        track.state, track.pocket, track.missed, track.hidden = "active", None, 0, False
        track.at_mm = np.array([places[name].x_mm, places[name].y_mm])
    free = [disc for disc in seen if all(disc is not other for other in kept.values())]
    others = [t for t in tracks.values() if t.id not in kept and t.state in ("rest", "active", "lost")]
    again = match_places(free, others, _ANYWHERE_MM)
    for index, name in again.items():
        tracks[name].state, tracks[name].missed = "active", 0
        tracks[name].at_mm, tracks[name].sigma_mm = np.array([free[index].x_mm, free[index].y_mm]), free[index].sigma_mm
    for track in others:
        if track.id not in again.values():
            track.state = "lost"
    told = [confirmed(fact, seen) if isinstance(fact, Incident) else fact for fact in facts]
    return [fact for fact in told if fact is not None]
