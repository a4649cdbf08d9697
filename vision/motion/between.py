"""What happened between strokes: pieces touched, lifted, shaken, or fallen in by themselves; and a stroke that was not seen as one.

Two pieces touched or one lifted cost a set, so what is said here surely has to be seen: an arm beside the piece when it began to move, and
a piece that neither glides on nor begins to move far from every arm. What a struck striker must have done is told as a stroke with doubt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from rules.facts import (
    Contact,
    Disc,
    Incident,
    Lifted,
    Pocketed,
    Position,
    Rest,
    Stroke,
    Struck,
    TableShaken,
    TimelineEvent,
    Touched,
)
from rules.table import POCKET_RADIUS_MM, POCKETS_MM, Side, radius_mm
from vision.motion.consistent import whole_incident, whole_stroke
from vision.motion.measure import DOUBTFUL_MM
from vision.motion.track import Track

if TYPE_CHECKING:
    from vision.motion.report import Spell

_MOVED_MM: Final = 1.0  # a piece counts as touched from here (>= 1 mm is called, under 0.3 mm never)
_FOLLOWED_MM: Final = 0.6  # and the follower, apart from the measurement, must have seen it go about as far
_GLIDES_MM_S: Final = 300.0  # hands and cues push pieces aside more slowly; struck ones are faster
_PUSHED_MM: Final = 40.0  # a piece that nobody was near to and that went farther was struck
_EDGE_MM: Final = 8.0  # a piece that lies no farther from the hole may lose its balance
_SHAKEN_MM: Final = 15.0  # a jolt of the table moves pieces by less
_LIFTED_MM: Final = 15.0  # a piece that was under a hand for a while and lies farther off has been in it, or was pushed
_SET_DOWN_MM: Final = 5.0  # a piece that was out of sight at a hand for long and lies this far off may have been lifted and set down
_FAR_MM: Final = 80.0  # nobody pushes a piece that far under a hand
_HELD_S: Final = 0.9  # pushing takes less
_AGAINST_MM: Final = 2.0  # gap up to which two discs at rest count as touching: two radii's spread and the places' errors
_UNSURE: Final = 0.6  # confidence of what may also have been otherwise
_GUESS: Final = 0.5  # confidence of the first contact of a stroke that was not seen


@dataclass(frozen=True, slots=True)
class _Piece:
    track: Track
    old: Disc
    new: Disc | None

    @property
    def way_mm(self) -> float:
        """How far from its place it lies now."""
        return 0.0 if self.new is None else float(np.hypot(self.new.x_mm - self.old.x_mm, self.new.y_mm - self.old.y_mm))

    @property
    def has_moved(self) -> bool:
        """By measurement and by what was followed."""
        if self.new is None or self.way_mm <= _MOVED_MM:
            return False
        rest, seen = self.track.rest_seen_mm, self.track.sightings
        if rest is None or not seen or self.track.carried:
            return True
        return float(np.hypot(seen[-1].x_mm - rest[0], seen[-1].y_mm - rest[1])) > _FOLLOWED_MM

    @property
    def speed_mm_s(self) -> float:
        """Second fastest step that was seen of it: one may be a slip."""
        steps = [(a, b) for a, b in pairwise(self.track.sightings) if b.t_s - a.t_s < 0.1]
        speeds = sorted(float(np.hypot(b.x_mm - a.x_mm, b.y_mm - a.y_mm)) / (b.t_s - a.t_s) for a, b in steps)
        return speeds[-2] if len(speeds) > 1 else 0.0

    @property
    def unseen_s(self) -> float:
        """For how long it was out of sight while it changed its place: fingers hide a piece that no whole hand covers, too."""
        steps = pairwise(self.track.sightings)
        gaps = [b.t_s - a.t_s for a, b in steps if float(np.hypot(b.x_mm - a.x_mm, b.y_mm - a.y_mm)) > _SET_DOWN_MM]
        return max([self.track.hidden_s, *gaps])

    @property
    def edge_mm(self) -> float:
        """How far beyond a pocket's edge its axis lay."""
        return min(float(np.hypot(self.old.x_mm - x, self.old.y_mm - y)) for x, y in POCKETS_MM.values()) - POCKET_RADIUS_MM

    @property
    def was_struck(self) -> bool:
        """It went as only a struck disc goes, or somewhere no arm was near."""
        if self.track.pocket is not None and self.edge_mm < _EDGE_MM:
            return False  # it lay on the edge and fell
        if self.speed_mm_s > _GLIDES_MM_S:
            return True
        return not self.track.by_arm and (self.way_mm > _PUSHED_MM or (self.new is None and self.track.pocket is None))


def told_between(spell: Spell, tracks: Mapping[str, Track], after: list[Disc], end_s: float, side: Side | None) -> Stroke | Incident | None:
    """A spell without a stroke that was seen. `side`: whose stroke it was if it was one all the same; None where nobody can say."""
    now = {d.id: d for d in after}
    pieces = [_Piece(tracks[d.id], d, now.get(d.id)) for d in spell.before if d.kind != "striker"]
    changed = [p for p in pieces if p.new is None or p.has_moved]
    if any(p.was_struck for p in changed):
        stroke = None if side is None else _unseen_stroke(spell, changed, after, end_s, side)
        return None if stroke is None else whole_stroke(stroke, tracks)
    arm = spell.arm
    events = [e for p in changed if (e := _alone(p, arm, spell)) is not None]
    lifted = {e.disc for e in events if isinstance(e, Lifted)}
    touched = [p for p in changed if p.has_moved and p.track.by_arm and p.old.id not in lifted]
    if touched and arm is not None:
        sure = all((p.new.sigma_mm or 0.0) < DOUBTFUL_MM for p in touched if p.new is not None) and _knows_striker(tracks)
        when = min(p.track.woken_s or spell.started_s for p in touched)
        names = [p.old.id for p in touched]
        by: Literal["hand", "striker"] = "striker" if any(_leans_on_striker(p, spell, now) for p in touched) else "hand"
        events.append(Touched(t=when, discs=names, side=arm, by=by, confidence=None if sure else _UNSURE))
    shaken = [p.old.id for p in changed if p.has_moved and not p.track.by_arm and p.way_mm < _SHAKEN_MM]
    if len(shaken) > 1:
        events.append(TableShaken(t=spell.started_s, moved=shaken))
    if not events:
        return None
    timeline = sorted([*events, Rest(t=max(end_s, *(e.t for e in events)))], key=lambda e: e.t)
    return whole_incident(Incident(side=arm, timeline=timeline, before=Position(discs=spell.before), after=Position(discs=after)))


def _alone(piece: _Piece, arm: Side | None, spell: Spell) -> TimelineEvent | None:
    """A piece that fell by itself or was taken up."""
    track, name = piece.track, piece.old.id
    when = track.woken_s or spell.started_s
    if piece.new is None:
        if track.pocket is not None and not track.by_arm:
            return Pocketed(t=when, disc=name, pocket=track.pocket)
        if arm is None or not track.by_arm:
            return None
        # It is sure to have been taken once its place has been seen empty; a cue takes nothing up.
        return Lifted(t=when, disc=name, side=arm, confidence=None if track.seen_gone and track.by_limb else _UNSURE)
    if arm is None or not track.by_arm or not piece.has_moved:
        return None
    if (track.carried and piece.way_mm > _LIFTED_MM) or (piece.unseen_s > _HELD_S and piece.way_mm > _SET_DOWN_MM):
        return Lifted(t=when, disc=name, side=arm, confidence=None if track.carried and piece.way_mm > _FAR_MM else _UNSURE)
    return None


def _leans_on_striker(piece: _Piece, spell: Spell, now: Mapping[str, Disc]) -> bool:
    """Whether a piece lies against the striker, which has been moved meanwhile: it was pushed with it (17.1.k)."""
    striker = next((d for d in now.values() if d.kind == "striker"), None)
    if striker is None or piece.new is None:
        return False
    old = next((d for d in spell.before if d.kind == "striker"), None)
    if old is not None and float(np.hypot(striker.x_mm - old.x_mm, striker.y_mm - old.y_mm)) < _MOVED_MM:
        return False
    apart = float(np.hypot(striker.x_mm - piece.new.x_mm, striker.y_mm - piece.new.y_mm))
    return apart < radius_mm("striker") + radius_mm(piece.old.kind) + _AGAINST_MM


def _knows_striker(tracks: Mapping[str, Track]) -> bool:
    """Whether the striker is on the table, or known to be away: if it is lost in plain view, a stroke may have been overlooked."""
    striker = next((t for t in tracks.values() if t.kind == "striker"), None)
    return striker is None or striker.state != "lost" or striker.by_arm or not striker.sightings


def _unseen_stroke(spell: Spell, changed: list[_Piece], after: list[Disc], end_s: float, side: Side) -> Stroke | None:
    """Pieces went as after a stroke, but nobody saw the striker go: who was touched first is a question."""
    known = {d.id for d in spell.before}
    striker = next((d for d in [*spell.before, *after] if d.kind == "striker"), None)
    if striker is None:
        return None
    before = spell.before if striker.id in known else [*spell.before, striker]
    order = sorted(changed, key=lambda p: p.track.woken_s or spell.started_s)
    start_s = max(min(order[0].track.woken_s or spell.started_s, end_s) - 1e-3, spell.started_s)
    events: list[TimelineEvent] = [Struck(t=start_s)]
    events += [Contact(t=start_s + 1e-3, discs=[striker.id, p.old.id], confidence=_GUESS) for p in order[:2]]
    for piece in order:
        if piece.new is None and piece.track.pocket is not None:
            when = piece.track.sightings[-1].t_s if piece.track.sightings else start_s + 1e-3
            events.append(Pocketed(t=max(when, start_s + 1e-3), disc=piece.old.id, pocket=piece.track.pocket, confidence=_UNSURE))
    events.append(Rest(t=max(end_s, *(e.t for e in events))))
    events.sort(key=lambda e: e.t)
    return Stroke(side=side, before=Position(discs=before), timeline=events, after=Position(discs=after))
