"""From the tracks of one spell of motion to the contract's stroke or incident."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
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
from vision.motion.contacts import Touch, touches
from vision.motion.edges import Fall, deepest, over_edge, way_points
from vision.motion.first import First, settle_first
from vision.motion.leaving import knocked_in, may_have_flown, over_rail
from vision.motion.path import Path, paths_of
from vision.motion.shutter import GLOBAL, Shutter
from vision.motion.track import Sighting, Track

_TOGETHER_S: Final = 0.002  # first contacts nearer than this are not told apart; the book never sees them as two (13.3)
_TOGETHER_MOST_S: Final = 0.006  # and beyond this they are always told apart, however slow
_SAME_S: Final = 0.003  # the first contact's own time is known better than this
_FALL_S: Final = 0.008  # from the blow to the edge, half a frame; a fall's time is known better
_HOP_S: Final = 0.03  # a touch of the rail this shortly before a disc was gone over it was the hop
_SAME_RAIL_S: Final = 0.012  # a rail just before a pocket, found in two ways
_GAP_S: Final = 0.05  # a frame that is missing this near to the first contact
_WITH_GAP: Final = 0.8  # leaves it at most this sure
_BESIDE_WAY_MM: Final = 15.0  # a striker's way between two sightings may bend by so much at a rail or a graze
_UNSEEN: Final = 0.5  # of a touch that only its outcome shows: for review
_ELSEWHERE_MM: Final = 15.0  # half a piece
_MOVED_MM: Final = 1.0  # a piece counts as touched from here (issue: >= 1 mm called, under 0.3 mm never)
_STROKE_SPEED_MM_S: Final = 60.0  # a striker that leaves the arm slower than this was not struck
_GLIDES_MM_S: Final = 300.0  # hands and cues push more slowly
_HANDS_MM_S: Final = 1500.0  # and no hand that sweeps a striker away is as fast as this
_FREE_SIGHTINGS: Final = 8  # the first ones away from the arm tell whether it was struck
_AIMED_MM: Final = 2.0  # a striker that lies still is seen within this of one place
_OTHERWISE_S: Final = 0.03  # two frames: an explanation that has the striker go off at another time than it was seen to contradicts it
_CONTRADICTED: Final = 0.6  # and leaves the first contact at most this sure
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
    spell: Spell,
    tracks: Mapping[str, Track],
    after: list[Disc],
    end_s: float,
    camera: Camera,
    slowing: float,
    sides: tuple[Side, ...],
    shutter: Shutter = GLOBAL,
) -> Told:
    """The spell as a stroke, as an incident, or as nothing."""
    tracks = _of_this_spell(spell, tracks)
    paths, slowing = paths_of(tracks, slowing, camera, shutter)
    striker = next((t for t in tracks.values() if t.kind == "striker"), None)
    hits = touches(paths, striker.id if striker else None)
    start = _struck(striker, hits, spell) if striker else None
    first: First | None = None
    if striker is not None and start is not None:
        hits, first = settle_first(paths, striker.id, hits, slowing, shutter.exposure_s)
        if first is not None and first.struck_s is not None:
            if abs(first.struck_s - start) > _OTHERWISE_S:
                first = replace(first, t_s=max(first.t_s, start + 1e-3), confidence=min(first.confidence, _CONTRADICTED))
            else:
                start = first.struck_s
        if first is not None and start is not None and first.t_s < start:  # something was taken for a touch
            first = replace(first, t_s=start + 1e-3, confidence=min(first.confidence, _CONTRADICTED))
    if striker is None or start is None:
        side = None if striker is None else spell.arm
        fact = told_between(spell, tracks, after, end_s, side)
        return Told([fact] if fact else [], slowing)
    lost = _without_way(spell, paths)
    fall = over_edge(paths[striker.id], spell.started_s)
    if fall is not None and first is not None and first.t_s > fall.t_s + _FALL_S:
        # It was in the pocket by then: what it touched on its way there handed the blow on, and nobody saw that go.
        hits = [h for h in hits if striker.id not in (h.disc, h.other) or h.t_s < fall.t_s]
        first = _touched_unseen(spell, lost, striker.id, start) or replace(first, t_s=start + 1e-3, confidence=_UNSEEN)
    if first is None:
        first = _touched_unseen(spell, lost, striker.id, start)
    elif any(_may_be_mixed_up(disc, paths, striker.id, first) for disc in spell.before if disc.id in lost):
        first = replace(first, confidence=min(first.confidence, _WITH_GAP))
    rest = paths[striker.id].rest_mm
    side = _side(rest if rest is not None else striker.at_mm, spell, camera, sides)
    timeline = _timeline(spell, paths, tracks, striker, hits, first, start, side, end_s, camera)
    stroke = Stroke(side=side, before=Position(discs=spell.before), timeline=timeline, after=Position(discs=after))
    return Told([whole_stroke(stroke, tracks)], slowing)


def _of_this_spell(spell: Spell, tracks: Mapping[str, Track]) -> dict[str, Track]:
    """Without discs that were gone before: their last ways and contacts belong to an earlier stroke."""
    known = {disc.id for disc in spell.before}
    return {
        name: track
        for name, track in tracks.items()
        if name in known or track.on_table or (track.sightings and track.sightings[-1].t_s >= spell.started_s)
    }


def _without_way(spell: Spell, paths: Mapping[str, Path]) -> set[str]:
    """Discs that have no way from where they lay: they were found again elsewhere, or are somebody else."""
    out: set[str] = set()
    for disc in spell.before:
        start = paths[disc.id].rest_mm
        if start is None or float(np.hypot(disc.x_mm - start[0], disc.y_mm - start[1])) > _ELSEWHERE_MM:
            out.add(disc.id)
    return out


def _touched_unseen(spell: Spell, lost: set[str], striker: str, struck_s: float) -> First | None:
    """No touch was seen, but pieces lie elsewhere now: the nearest of them is likeliest, and a person has to look."""
    places = {disc.id: (disc.x_mm, disc.y_mm) for disc in spell.before}
    pieces = lost - {striker}
    if not pieces or striker not in places:
        return None
    x, y = places[striker]
    nearest = min(sorted(pieces), key=lambda name: float(np.hypot(places[name][0] - x, places[name][1] - y)))
    return First((nearest,), struck_s + 1e-3, _UNSEEN)


def _may_be_mixed_up(lost: Disc, paths: Mapping[str, Path], striker: str, first: First) -> bool:
    """Whether a disc without a way may have been touched first: it looks like the striker or the piece touched, or lay on the way."""
    if lost.kind in {"striker", *(paths[name].kind for name in first.pieces)}:
        return True
    path = paths[striker]
    begin, end = path.rest_mm, path.at(first.t_s)
    if begin is None or end is None:
        return True
    along = (end - begin) / max(float(np.hypot(*(end - begin))), 1e-6)
    off = np.array([lost.x_mm, lost.y_mm]) - begin
    ahead = float(np.clip(off @ along, 0.0, np.hypot(*(end - begin))))
    reach = path.shape.radius_mm + paths[lost.id].shape.radius_mm + _BESIDE_WAY_MM
    return float(np.hypot(*(off - ahead * along))) < reach


def _struck(striker: Track, hits: Sequence[Touch], spell: Spell) -> float | None:
    """When the cue sent the striker off, None if it was not struck in this spell."""
    cue = next((h for h in hits if h.disc == striker.id and h.other == "cue"), None)
    if cue is None:  # a piece or the edge turned it before it was seen to go
        went_in = striker.pocket is not None and (free_speed(striker, spell) > _GLIDES_MM_S or _went_at_once(striker))
        return (striker.set_off_s + striker.woken_s) / 2 if went_in else None
    return cue.t_s if free_speed(striker, spell, cue.t_s) > _STROKE_SPEED_MM_S else None


def _went_at_once(striker: Track) -> bool:
    """Whether a striker that was seen once on its way came there from where it lay faster than hands move."""
    if len(striker.sightings) != 1:
        return False
    [s] = striker.sightings
    way_mm = float(np.hypot(s.x_mm - striker.lay_mm[0], s.y_mm - striker.lay_mm[1]))
    return way_mm / max(s.t_s - striker.set_off_s, 1e-3) > _HANDS_MM_S


def free_speed(striker: Track, spell: Spell, since_s: float = 0.0) -> float:
    """Fastest that the striker was seen going away from any arm, mm/s; into a pocket, beside one too: the cue follows it there."""
    near = spell.arm_near.get(striker.id, set())
    since = [s for s in striker.sightings if s.t_s > since_s]
    freely = _fastest([s for s in since if s.t_s not in near])
    fell = _fastest(since) if striker.pocket is not None else 0.0
    return max(freely, fell) if fell > _GLIDES_MM_S else freely


def _fastest(seen: Sequence[Sighting]) -> float:
    """Of the steps with which a striker goes off, mm/s."""
    # While the player aims it is seen again and again where it lies.
    still = next((i for i, s in enumerate(seen) if float(np.hypot(s.x_mm - seen[0].x_mm, s.y_mm - seen[0].y_mm)) > _AIMED_MM), 1)
    seen = seen[max(still - 1, 0) :][:_FREE_SIGHTINGS]
    steps = [(a, b) for a, b in pairwise(seen) if b.t_s - a.t_s < 0.1]
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
    first: First | None,
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
    here = {d.id for d in spell.before}
    falls = {p.id: f for p in paths.values() if (p.id in here or p.seen) and (f := over_edge(p, spell.started_s)) is not None}
    gone = _gone_at_once(spell, paths, tracks, later, striker.id)
    rails = _rails(later, falls, gone)
    events.extend(Rail(t=h.t_s, disc=h.disc, rail=h.other, confidence=round(h.confidence, 3)) for h in rails)  # type: ignore[arg-type]
    events.extend(_contacts([h for h in later if h.other not in SIDES], striker.id, first, spell))
    for name, fall in falls.items():
        events.append(Pocketed(t=fall.t_s, disc=name, pocket=fall.pocket, confidence=_UNSEEN if may_have_flown(tracks[name]) else None))
    events.extend(gone)
    # What falls or flies off is out of sight before it has stopped.
    end_s = max([end_s, *(e.t for e in events if isinstance(e, Pocketed | OverRail))])
    line = abs(camera.calibration.table.zone_line_mm[side])
    own = [(h.t_s, h.other) for h in rails if h.disc == striker.id]
    deep = deepest(side, line, start_s, way_points(paths[striker.id], own, falls.get(striker.id)))  # type: ignore[arg-type]
    if deep is not None and deep[1] > -_NEAR_LINE_MM:
        events.append(Returned(t=min(deep[0], end_s), depth_mm=round(deep[1], 2), sigma_mm=0.5))
    events.append(Rest(t=end_s))
    return sorted((e for e in events if e.t <= end_s), key=lambda e: e.t)


def _rails(hits: Sequence[Touch], falls: Mapping[str, Fall], gone: Sequence[OverRail | Pocketed]) -> list[Touch]:
    """Touches of rails: those found, those on the last way into a pocket, without the one that a disc went over and those after."""
    over = {e.disc: e.t for e in gone}
    out = [h for h in hits if h.other in SIDES and h.t_s < over.get(h.disc, np.inf) - _SAME_S]
    for name, fall in falls.items():
        out = [h for h in out if h.disc != name or h.t_s < fall.t_s]
        # Unless another disc turned it on that way: it is followed there from what was seen before.
        turned_s = min((h.t_s for h in hits if name in (h.disc, h.other) and h.other not in SIDES and h.t_s > fall.from_s), default=np.inf)
        for t, side in fall.rails:
            if t < turned_s and not any(h.disc == name and h.other == side and abs(h.t_s - t) < _SAME_RAIL_S for h in out):
                out.append(Touch(t, 1 / 500, name, side, 1.0))
    once: list[Touch] = []
    for h in sorted(out, key=lambda h: h.t_s):
        if not any(o.disc == h.disc and o.other == h.other and h.t_s - o.t_s < _SAME_RAIL_S for o in once):
            once.append(h)
    return once


def _gone_at_once(
    spell: Spell, paths: Mapping[str, Path], tracks: Mapping[str, Track], hits: Sequence[Touch], striker: str
) -> list[OverRail | Pocketed]:
    """Discs that are gone although nobody saw them go into a pocket: over the rail or into the mouth that they were hit toward."""
    out: list[OverRail | Pocketed] = []
    for disc in spell.before:
        track = tracks[disc.id]
        if track.state != "lost":
            continue
        own = [h for h in hits if disc.id in (h.disc, h.other) and h.other not in SIDES]
        hit = next((h for h in own if striker in (h.disc, h.other)), own[0] if own else None)
        pushed = None
        if hit is not None:
            partner = hit.other if hit.disc == disc.id else hit.disc
            there = paths[partner].at(hit.t_s) if partner in paths else None
            if there is not None:
                pushed = track.lay_mm - there
                pushed /= max(float(np.hypot(*pushed)), 1e-6)
        pocket = None if pushed is None else knocked_in(track, pushed)
        left = over_rail(track, pushed, own[-1].t_s if own else None) if pocket is None else None
        if pocket is not None and hit is not None:
            out.append(Pocketed(t=hit.t_s + _FALL_S, disc=disc.id, pocket=pocket))
        elif left is not None:
            at_rail = [h.t_s for h in hits if h.disc == disc.id and h.other == left.side and h.t_s > left.t_s - _HOP_S]
            out.append(OverRail(t=min(at_rail, default=max(left.t_s, own[-1].t_s if own else left.t_s)), disc=disc.id, rail=left.rail))
    return out


def _contacts(hits: Sequence[Touch], striker: str, first: First | None, spell: Spell) -> list[TimelineEvent]:
    """Contacts as events: the first of the striker as it has been settled, later ones of it that can't be told apart as one."""
    own = sorted((h for h in hits if striker in (h.disc, h.other)), key=lambda h: h.t_s)
    out: list[TimelineEvent] = [Contact(t=h.t_s, discs=[h.disc, h.other], confidence=round(h.confidence, 3)) for h in hits if h not in own]
    if first is not None:
        confidence = first.confidence
        if any(abs(first.t_s - lost) < _GAP_S for lost in spell.missing_s):
            confidence = min(confidence, _WITH_GAP)
        out.append(Contact(t=first.t_s, discs=[striker, *first.pieces], confidence=round(confidence, 3)))
        own = [h for h in own if not _is_told(h, striker, first)]
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
        out.append(Contact(t=group[0].t_s, discs=[striker, *dict.fromkeys(others)], confidence=round(confidence, 3)))
        i += len(group)
    return out


def _is_told(hit: Touch, striker: str, first: First) -> bool:
    """Whether a contact of the striker is its first one, or seems to have been before it."""
    other = hit.other if hit.disc == striker else hit.disc
    return hit.t_s < first.t_s or (other in first.pieces and hit.t_s < first.t_s + _SAME_S)
