"""From the tracks of one spell of motion to the contract's stroke or incident."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import erf, sqrt
from typing import Final

import numpy as np

from calibration.camera import Camera
from rules.facts import (
    Contact,
    Disc,
    Incident,
    OverRail,
    Placed,
    Pocketed,
    Position,
    Rail,
    Rest,
    Returned,
    Stroke,
    Struck,
    TimelineEvent,
)
from rules.table import SIDES, Side, depth_mm
from vision.motion.between import told_between
from vision.motion.consistent import whole_stroke
from vision.motion.contacts import Touch, deepest, over_edge, touches
from vision.motion.leaving import over_rail
from vision.motion.path import Path, paths_of
from vision.motion.track import Track

_TOGETHER_S: Final = 0.002  # first contacts nearer than this are not told apart; the book never sees them as two (13.3)
_TOGETHER_MOST_S: Final = 0.006  # and beyond this they are always told apart, however slow
_STROKE_SPEED_MM_S: Final = 60.0  # a striker that leaves the arm slower than this was not struck
_FREE_SIGHTINGS: Final = 8  # the first ones away from the arm tell whether it was struck
_AIMED_MM: Final = 2.0  # a striker that lies still is seen within this of one place
_NEAR_LINE_MM: Final = 6.0  # returned is reported from here: hole radius and half a line, and half a millimetre


@dataclass(slots=True)
class Spell:
    """All that was seen between two moments of rest."""

    before: list[Disc]
    placed_s: float | None = None
    arm_sides: dict[Side, int] = field(default_factory=dict)
    arm_near: dict[str, set[float]] = field(default_factory=dict)
    missing_s: list[float] = field(default_factory=list)
    started_s: float = 0.0

    @property
    def arm(self) -> Side | None:
        """The side from which an arm or cue was over the table longest."""
        return max(self.arm_sides.items(), key=lambda item: item[1])[0] if self.arm_sides else None


@dataclass(frozen=True, slots=True)
class Told:
    """What a spell came to, and the table's deceleration learned from it."""

    facts: list[Stroke | Incident]
    slowing_mm_s2: float


def describe(
    spell: Spell, tracks: Mapping[str, Track], after: list[Disc], end_s: float, camera: Camera, slowing: float, sides: tuple[Side, ...]
) -> Told:
    """The spell as a stroke, as an incident, or as nothing."""
    paths, slowing = paths_of(tracks, slowing)
    striker = next((t for t in tracks.values() if t.kind == "striker"), None)
    hits = touches(paths, striker.id if striker else None)
    start = _struck(striker, hits, spell) if striker else None
    if striker is None or start is None:
        side = None if striker is None else spell.arm
        fact = told_between(spell, tracks, after, end_s, side)
        return Told([fact] if fact else [], slowing)
    rest = paths[striker.id].rest_mm
    side = _side(rest if rest is not None else striker.at_mm, spell, camera, sides)
    timeline = _timeline(spell, paths, tracks, striker, hits, start, side, end_s, camera)
    stroke = Stroke(side=side, before=Position(discs=spell.before), timeline=timeline, after=Position(discs=after))
    return Told([whole_stroke(stroke, tracks)], slowing)


def _struck(striker: Track, hits: Sequence[Touch], spell: Spell) -> float | None:
    """When the cue sent the striker off, None if it was not struck in this spell."""
    cue = next((h for h in hits if h.disc == striker.id and h.other == "cue"), None)
    if cue is None:
        return None
    return cue.t_s if free_speed(striker, spell, cue.t_s) > _STROKE_SPEED_MM_S else None


def free_speed(striker: Track, spell: Spell, since_s: float = 0.0) -> float:
    """Fastest that the striker was seen going away from any arm, mm/s."""
    near = spell.arm_near.get(striker.id, set())
    free = [s for s in striker.sightings if s.t_s > since_s and s.t_s not in near]
    # While the player aims it is seen again and again where it lies.
    still = next((i for i, s in enumerate(free) if float(np.hypot(s.x_mm - free[0].x_mm, s.y_mm - free[0].y_mm)) > _AIMED_MM), 1)
    free = free[max(still - 1, 0) :][:_FREE_SIGHTINGS]
    steps = [(a, b) for a, b in pairwise(free) if b.t_s - a.t_s < 0.1]
    return max((float(np.hypot(a.x_mm - b.x_mm, a.y_mm - b.y_mm)) / (b.t_s - a.t_s) for a, b in steps), default=0.0)


def _side(at_mm: np.ndarray, spell: Spell, camera: Camera, sides: tuple[Side, ...]) -> Side:
    """Whose zone the striker lay in, of those who play; near a corner where two meet, where the arm came from."""
    playing = sides or SIDES
    lines = camera.calibration.table.zone_line_mm
    depth = {side: depth_mm(side, float(at_mm[0]), float(at_mm[1]), abs(lines[side])) for side in playing}
    inside = [side for side in playing if depth[side] > -_NEAR_LINE_MM]
    if len(inside) > 1 and spell.arm is not None and spell.arm in inside:
        return spell.arm
    return max(playing, key=lambda side: depth[side])


def _timeline(
    spell: Spell,
    paths: Mapping[str, Path],
    tracks: Mapping[str, Track],
    striker: Track,
    hits: Sequence[Touch],
    start_s: float,
    side: Side,
    end_s: float,
    camera: Camera,
) -> list[TimelineEvent]:
    events: list[TimelineEvent] = []
    rest = next((d for d in spell.before if d.id == striker.id), None)
    if rest is not None:
        placed = spell.placed_s if spell.placed_s is not None else spell.started_s
        events.append(Placed(t=min(placed, start_s - 1e-4), x_mm=rest.x_mm, y_mm=rest.y_mm))
    events.append(Struck(t=start_s))
    later = [h for h in hits if h.t_s > start_s - 0.002 and h.other != "cue"]
    rails = [h for h in later if h.other in SIDES]
    events.extend(Rail(t=h.t_s, disc=h.disc, rail=h.other, confidence=round(h.confidence, 3)) for h in rails)  # type: ignore[arg-type]
    events.extend(_contacts([h for h in later if h.other not in SIDES], striker.id, spell))
    for path in paths.values():
        fall = over_edge(path)
        if fall is not None:
            events.append(Pocketed(t=fall[0], disc=path.id, pocket=fall[1]))
    events.extend(_over_rails(spell, paths, tracks, later))
    # What falls or flies off is out of sight before it has stopped.
    end_s = max([end_s, *(e.t for e in events if isinstance(e, Pocketed | OverRail))])
    line = abs(camera.calibration.table.zone_line_mm[side])
    seen = [(s.t_s, s.x_mm, s.y_mm) for s in striker.sightings]
    deep = deepest(side, line, start_s, seen)
    if deep is not None and deep > -_NEAR_LINE_MM:
        when = max(seen, key=lambda s: (s[0] > start_s + 0.05) * (depth_mm(side, s[1], s[2], line) + 2000))[0]
        events.append(Returned(t=min(when, end_s), depth_mm=round(deep, 2), sigma_mm=0.5))
    events.append(Rest(t=end_s))
    return sorted((e for e in events if e.t <= end_s), key=lambda e: e.t)


def _over_rails(spell: Spell, paths: Mapping[str, Path], tracks: Mapping[str, Track], hits: Sequence[Touch]) -> list[TimelineEvent]:
    """Discs that are gone and whose way leads over a rail."""
    out: list[TimelineEvent] = []
    for disc in spell.before:
        track = tracks[disc.id]
        if track.state != "lost":
            continue
        own = [h for h in hits if disc.id in (h.disc, h.other) and h.other not in SIDES]
        pushed = None
        if own:
            partner = own[-1].other if own[-1].disc == disc.id else own[-1].disc
            there = paths[partner].at(own[-1].t_s) if partner in paths else None
            pushed = None if there is None else (track.at_mm - there) / max(float(np.hypot(*(track.at_mm - there))), 1e-6)
        left = over_rail(track, pushed)
        if left is not None:
            out.append(OverRail(t=max(left[0], own[-1].t_s if own else left[0]), disc=disc.id, rail=left[1]))
    return out


def _contacts(hits: Sequence[Touch], striker: str, spell: Spell) -> list[TimelineEvent]:
    """Contacts as events; first contacts of the striker that can't be told apart become one."""
    own = sorted((h for h in hits if striker in (h.disc, h.other)), key=lambda h: h.t_s)
    out: list[TimelineEvent] = [Contact(t=h.t_s, discs=[h.disc, h.other], confidence=round(h.confidence, 3)) for h in hits if h not in own]
    i = 0
    while i < len(own):
        group = [own[i]]
        while i + len(group) < len(own):
            following = own[i + len(group)]
            gap = following.t_s - group[0].t_s
            spread = float(np.hypot(group[0].sigma_s, following.sigma_s))
            if gap >= min(_TOGETHER_S + 2 * spread, _TOGETHER_MOST_S):
                break
            group.append(following)
        others = [h.other if h.disc == striker else h.disc for h in group]
        confidence = min(h.confidence for h in group)
        if i == 0 and len(own) > len(group):
            following = own[len(group)]
            spread = float(np.hypot(group[-1].sigma_s, following.sigma_s))
            confidence = min(confidence, _order(following.t_s - group[-1].t_s, spread))
        if any(abs(group[0].t_s - lost) < 0.05 for lost in spell.missing_s):
            confidence = min(confidence, 0.8)
        out.append(Contact(t=group[0].t_s, discs=[striker, *dict.fromkeys(others)], confidence=round(confidence, 3)))
        i += len(group)
    return out


def _order(gap_s: float, spread_s: float) -> float:
    """Probability that two times this far apart are in the order given."""
    return 0.5 * (1 + erf(gap_s / max(spread_s, 1e-6) / sqrt(2)))
