"""Facts that hold together: every disc that a stroke or an incident names lies in its `before`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from rules.facts import Contact, Disc, Incident, Lifted, OverRail, Pocketed, Position, Rail, Stroke, TimelineEvent
from rules.table import HALF_MM, POCKETS_MM, Pocket
from vision.motion.track import Track

Array = NDArray[np.float64]

_ANYWHERE_MM: Final = 300.0  # sigma of a disc that may lie anywhere on the table
_MAY_HAVE_FALLEN: Final = 0.5  # of a disc that is gone although nobody saw it go
_UNSURE: Final = 0.6  # of what a disc did that was first seen during the stroke: for review


def whole_stroke(stroke: Stroke, tracks: Mapping[str, Track]) -> Stroke:
    """The stroke with discs that were first seen during it put into its `before`, where they were first seen, and with those that were
    lost sight of in its `after`.

    A look that overlooked a disc is the usual reason; what such a disc did is told with low confidence.
    """
    stroke = _with_lost(stroke, tracks)
    known = {d.id for d in stroke.before.discs}
    named = {i for e in stroke.timeline for i in _ids(e)} | {d.id for d in stroke.after.discs}
    late = [tracks[i] for i in sorted(named - known)]
    if not late:
        return stroke
    before = Position(discs=[*stroke.before.discs, *(_first_place(track) for track in late)])
    names = {track.id for track in late}
    timeline = [_doubted(e) if names & set(_ids(e)) else e for e in stroke.timeline]
    return msgspec.structs.replace(stroke, before=before, timeline=timeline)


def _with_lost(stroke: Stroke, tracks: Mapping[str, Track]) -> Stroke:
    """A disc that nobody took and that was not seen to leave lies somewhere on the table or fell unseen: a person has to look."""
    here = {d.id for d in stroke.after.discs}
    left = {e.disc for e in stroke.timeline if isinstance(e, Pocketed | OverRail | Lifted)}
    lost = [tracks[d.id] for d in stroke.before.discs if d.id not in here | left and tracks[d.id].state == "lost"]
    # An arm is always beside the striker when it goes off: that it can have been taken up then says nothing, it was struck.
    lost = [track for track in lost if not track.covered and (track.kind == "striker" or not track.by_limb)]
    if not lost:
        return stroke
    places = [np.clip(_last_seen(track), -HALF_MM, HALF_MM) for track in lost]
    found = [
        Disc(id=t.id, kind=t.kind, x_mm=round(float(x), 3), y_mm=round(float(y), 3), sigma_mm=_ANYWHERE_MM)
        for t, (x, y) in zip(lost, places, strict=True)
    ]
    end_s = stroke.timeline[-1].t
    fell = [Pocketed(t=end_s, disc=t.id, pocket=_nearest(at), confidence=_MAY_HAVE_FALLEN) for t, at in zip(lost, places, strict=True)]
    timeline = [*stroke.timeline[:-1], *fell, stroke.timeline[-1]]
    return msgspec.structs.replace(stroke, timeline=timeline, after=Position(discs=[*stroke.after.discs, *found]))


def _last_seen(track: Track) -> Array:
    """Where a disc was last seen, (2,) mm; where it is expected since then says nothing once it is lost."""
    return np.array([track.sightings[-1].x_mm, track.sightings[-1].y_mm]) if track.sightings else track.at_mm


def _nearest(at_mm: Array) -> Pocket:
    return min(POCKETS_MM, key=lambda name: float(np.hypot(*(at_mm - np.array(POCKETS_MM[name])))))


def whole_incident(incident: Incident) -> Incident:
    """The incident without discs that were put on the table meanwhile: they were not there to be touched."""
    if incident.before is None or incident.after is None:
        return incident
    known = {d.id for d in incident.before.discs}
    return msgspec.structs.replace(
        incident, after=Position(discs=[d for d in incident.after.discs if d.id in known or d.kind == "striker"])
    )


def _ids(event: TimelineEvent) -> list[str]:
    if isinstance(event, Contact):
        return event.discs
    disc = getattr(event, "disc", None)
    return [] if disc is None else [disc]


def _doubted(event: TimelineEvent) -> TimelineEvent:
    if isinstance(event, Contact | Rail | Pocketed):
        return msgspec.structs.replace(event, confidence=min(_UNSURE, 1.0 if event.confidence is None else event.confidence))
    return event


def _first_place(track: Track) -> Disc:
    if track.left is not None:
        x, y = track.left.axis_mm
    elif track.sightings:
        x, y = track.sightings[0].x_mm, track.sightings[0].y_mm
    else:
        x, y = track.at_mm
    return Disc(id=track.id, kind=track.kind, x_mm=round(float(x), 3), y_mm=round(float(y), 3), sigma_mm=round(track.sigma_mm, 3))
