"""Discs from frame to frame: who is where, and what was seen of each while anything moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from rules.table import POCKETS_MM
from vision.motion.claims import are_exchanged, first_asked, heir_of
from vision.motion.cover import Cover
from vision.motion.finder import COVERED, GATE_MM, GOOD_GAIN, SEEN_FALLING, DiscFinder
from vision.motion.leaving import into_mouth
from vision.motion.predict import Body, advance_apart
from vision.motion.scene import Scene
from vision.motion.search import look_at
from vision.motion.smear import Fit, fit_smear, level_at
from vision.motion.track import Sighting, Track, any_near

Array = NDArray[np.float64]
Image = NDArray[np.uint8]

_WAKE_LEVELS: Final = 4.0  # mean change over a disc's place, grey levels; noise of that mean is about 0.5
_SLOWEST_MM_S: Final = 10.0  # below it a disc stops within 0.05 mm
_SAME_LEVELS: Final = 2.5  # mean change between two frames over a disc that stands still
_WAVER_MM_S: Final = 40.0  # half a millimetre between frames; a disc as slow as that stops within one
_RUN_INTO_MM_S: Final = 200.0  # what nothing faster can have run into has gone 3 mm at most in a frame
_STOOD_MM: Final = 1.0  # from where it lay: fits waver, and a piece that was touched is elsewhere
_LOST_FRAMES: Final = 15  # a quarter of a second in plain view without a trace: no longer on the table where it was
_CARRIED_FRAMES: Final = 3  # a disc under a hand goes where the hand goes, not on along its way
_WEAK: Final = 0.8  # of a disc's usual gain; under it another place may fit better
_SAME_PLACE_MM: Final = 1.5  # the follower's and the detector's place of a disc at rest differ by less, or one of them is wrong
_BESIDE_MM: Final = 6.0  # a hand nearer than this to a piece may be touching it
_TOUCHED: Final = 0.03  # share of a piece and that margin under a hand: a small pixel or two
_JUST_HIT_MM: Final = 8.0  # a millisecond's way of the fastest, and as much because a hit disc is seen smeared or in the air
_DIFFERENT_MM: Final = 0.5  # between two places that are both tried
_LONGEST_STEP_S: Final = 0.1  # after a longer pause nothing is predicted
_FALL_MM: Final = 48.0  # an axis this near a pocket's centre is over the hole (radius 50) beyond measuring error


@dataclass(frozen=True, slots=True)
class _Found:
    """What was found for a disc in this frame, and how it was followed up to the one before."""

    fit: Fit
    at_mm: Array
    velocity_mm_s: Array
    t_s: float
    steps: int
    still_since_s: float

    def take_back(self, track: Track) -> None:
        """It was another one."""
        del track.sightings[-1]
        track.at_mm, track.velocity_mm_s, track.t_s = self.at_mm, self.velocity_mm_s, self.t_s
        track.steps, track.still_since_s = self.steps, self.still_since_s


class Tracker:
    """All discs of one table; `step` takes one frame that differs from the table at rest."""

    def __init__(self, camera: Camera, scene: Scene, exposure_s: float) -> None:
        self._camera = camera
        self._scene = scene
        self.tracks: dict[str, Track] = {}
        self._t_s = 0.0
        self._found: dict[str, _Found] = {}
        self.cover = Cover(scene)
        self.finder = DiscFinder(camera, scene, self.cover, self.tracks, exposure_s)

    def adopt(self, image: Image) -> None:
        """Take every disc on the table as at rest: looks are taken, sightings forgotten."""
        bare = self._scene.bare
        for track in self.tracks.values():
            track.sightings = []
            track.velocity_mm_s = np.zeros(2)
            track.missed, track.flown_mm = 0, None
            track.learned = False
            track.forget_hands()
            track.left = None
            if track.state == "active":
                track.state, track.rest_seen_mm = "rest", None
            if track.state == "rest" and bare is not None and (track.look is None or track.rest_seen_mm is None):
                track.look = look_at(self._scene, self.finder.outline(track), image, bare) or track.look
                self._memorise(track, image, bare)

    def recover(self, track: Track, at_mm: Array, t_s: float, velocity_mm_s: Array | None = None) -> None:
        """A disc that was lost under way is here: its way so far is kept."""
        velocity = np.zeros(2) if velocity_mm_s is None else velocity_mm_s
        track.at_mm, track.velocity_mm_s, track.t_s = at_mm, velocity, t_s
        track.state, track.pocket, track.missed, track.hidden, track.flown_mm = "active", None, 0, False, None
        track.still_since_s = t_s
        fast = float(np.hypot(*velocity)) * self.finder.exposure_s
        track.sightings.append(Sighting(t_s, float(at_mm[0]), float(at_mm[1]), track.sigma_mm, fast))

    def settle_one(self, track: Track, image: Image, t_s: float) -> None:
        """Take one disc as at rest where it is, and forget how it came there."""
        outline = self.finder.outline(track)
        track.sightings, track.flown_mm = [], None
        track.velocity_mm_s = np.zeros(2)
        track.left, track.learned = outline, False
        track.woken_s = track.still_since_s = t_s
        track.rest_seen_mm = track.at_mm.copy()
        if self._scene.bare is not None:
            track.look = look_at(self._scene, outline, image, self._scene.bare) or track.look
            self._memorise(track, image, self._scene.bare)

    def put_back(self, track: Track, at_mm: Array) -> None:
        """A disc whose place looks as it did at rest lies there: whatever was followed instead is forgotten."""
        self._scene.put_back(self.finder.outline(track, at_mm))
        track.lie_at(at_mm)

    def _memorise(self, track: Track, image: Image, bare: Image) -> None:
        """How bright the disc and the table under it are at rest: what a fit elsewhere is checked against."""
        outline = self.finder.outline(track)
        if track.look is None:
            return
        fit = fit_smear(image, bare, self._camera, outline, np.zeros(2), track.look.weights)
        table = level_at(bare, outline)
        if fit is not None and fit.gain > GOOD_GAIN and table:
            track.face, track.hole, track.table, track.usual_gain = fit.face, fit.hole, table, fit.gain
            if float(np.hypot(*(fit.axis_mm - track.at_mm))) < _SAME_PLACE_MM:
                track.rest_seen_mm = fit.axis_mm

    def step(self, image: Image, t_s: float) -> None:
        """Follow all discs into this frame; the scene has been compared with it already."""
        here = [t for t in self.tracks.values() if t.on_table]
        dt = min(t_s - self._t_s, _LONGEST_STEP_S) if self._t_s else 0.0
        self._t_s = t_s
        self._found = {}
        bodies, otherwise = self._expected(here, dt)
        for track in here:
            if track.state != "rest" or self._scene.changed_under(self.finder.outline(track)) <= _WAKE_LEVELS:
                continue
            if track.kind == "striker" or bodies[track.id].velocity_mm_s.any() or not self._is_covered(track):
                self._wake(track, t_s, dt)
            else:
                track.by_limb, track.hidden_s = True, track.hidden_s + dt
        active = [t for t in here if t.state == "active"]
        waiting: list[tuple[Track, Fit | None]] = []
        for track in active:
            if self._stands(track):
                self._stay(track, t_s)
                continue
            if self._waits_under_hand(track, bodies[track.id], dt):
                continue
            # What may have gone over a rail gets what nobody else is found to be.
            fly = track.flown_mm is not None
            fit = None if fly else self.finder.fit(image, track, bodies[track.id].at_mm, bodies[track.id].velocity_mm_s, t_s)
            if fit is None and not fly and track.id in otherwise:
                fit = self.finder.fit(image, track, otherwise[track.id].at_mm, otherwise[track.id].velocity_mm_s, t_s)
                if fit is not None:
                    bodies[track.id] = otherwise[track.id]
            if fit is None and self._lies_covered(track, image):
                self._stay(track, t_s)
            elif fit is None or fit.gain < _WEAK * track.usual_gain or track.sets_off:
                waiting.append((track, fit))
            else:
                self._accept(track, fit, bodies[track.id], t_s)
                track.confirm()
        found = {t.id: self.finder.search(image, t, bodies[t.id], weak, t_s) for t, weak in waiting}
        left = {t.id: (t, weak) for t, weak in waiting}
        # Where two may be one moving disc, it is the one that is expected nearer; the other may be what was found next.
        while asking := [name for name in left if found[name]]:
            name = first_asked({name: found[name][0] for name in asking}, bodies)
            fit = found[name].pop(0)
            if not self.finder.is_free(left[name][0], fit.axis_mm, t_s):
                continue
            if bodies[name].flown:
                name = heir_of(fit, left[name][0], [track for track, _ in left.values()])
            track, _ = left.pop(name)
            if self.finder.is_off_from_hand(track, fit):
                track.try_out()
            self._accept(track, fit, bodies[name], t_s)
        for track, weak in left.values():
            if weak is None:
                self._miss(track, bodies[track.id], t_s)
            else:
                self._accept(track, weak, bodies[track.id], t_s)
        self._exchange(bodies, t_s)
        for track in active:
            self._fall(track)
            self._learn(track, image)

    def _exchange(self, bodies: Mapping[str, Body], t_s: float) -> None:
        """Of like pieces found in this frame each is the one that is less far from where it was expected: they were found one by one."""
        while pair := next((pair for pair in combinations(self._found, 2) if self._are_exchanged(*pair, bodies)), None):
            fits = [self._found[name].fit for name in pair]  # each time all are nearer to where they were expected
            for name, fit in zip(pair, reversed(fits), strict=True):
                self._found[name].take_back(self.tracks[name])
                self._accept(self.tracks[name], fit, bodies[name], t_s)

    def _are_exchanged(self, one: str, other: str, bodies: Mapping[str, Body]) -> bool:
        like = self.tracks[one].kind == self.tracks[other].kind
        return like and are_exchanged(self._found[one].fit, bodies[one], self._found[other].fit, bodies[other])

    def _expected(self, here: Sequence[Track], dt: float) -> tuple[dict[str, Body], dict[str, Body]]:
        """Where every disc should be by now; and otherwise, for those that something may have run into which may be a part of a hand.

        What a hand carries passes over the others, and what is out of sight since it may have gone over a rail runs into nobody.
        """
        apart = {t.id for t in here if t.flown_mm is not None}
        apart |= {t.id for t in here if t.moves and self.cover.share(self.finder.outline(t), _BESIDE_MM) > _TOUCHED}
        tried = {t.id for t in here if t.moves and t.trial} - apart
        likely, other = (
            {t.id: Body(t.shape, t.at_mm, t.velocity_mm_s, t.flown_mm, t.flown_mm is not None) for t in here} for _ in range(2)
        )
        advance_apart(likely, apart, dt)
        if not tried:
            return likely, {}
        advance_apart(other, apart | tried, dt)
        return likely, {name: body for name, body in other.items() if float(np.hypot(*(body.at_mm - likely[name].at_mm))) > _DIFFERENT_MM}

    def _wake(self, track: Track, t_s: float, since_s: float) -> None:
        track.state = "active"
        track.t_s = track.set_off_s = t_s - since_s
        track.still_since_s = track.woken_s = t_s
        track.left = self.finder.outline(track)
        track.by_limb |= self.cover.was_beside(track.left)
        track.by_part |= self.cover.is_beside_part(track.left)
        self._scene.lift(track.left)

    def _lies_covered(self, track: Track, image: Image) -> bool:
        """Whether a piece that nothing ran into shows in part where it lay: something thin, a cue of the table's colour, lies over it."""
        stood = float(np.hypot(*(track.at_mm - track.lay_mm))) < _BESIDE_MM and self.finder.fastest_mm_s(track) < _RUN_INTO_MM_S
        if track.kind == "striker" or track.hidden or track.missed or not stood or not self.finder.shows_partly(image, track):
            return False
        track.at_mm, track.partly = track.lay_mm, True
        return True

    def _stay(self, track: Track, t_s: float) -> None:
        track.t_s, track.missed, track.steps, track.velocity_mm_s = t_s, 0, 0, np.zeros(2)
        if float(np.hypot(*(track.at_mm - track.lay_mm))) < _STOOD_MM:
            track.stood_s = t_s

    def _waits_under_hand(self, track: Track, body: Body, dt: float) -> bool:
        """A disc that lies under a hand is not looked for until the hand is off, unless something runs into it.

        The striker is the exception: it goes off from under hands; it is looked for every time.
        """
        track.hidden = self._is_covered(track)
        # Farther on it may be anywhere: that a hand is where it is thought to be then says nothing.
        track.covered |= track.hidden and track.missed <= SEEN_FALLING
        track.by_limb |= track.hidden
        track.hidden_s += dt if track.hidden else 0.0
        if not track.hidden:
            return False
        if track.missed > _CARRIED_FRAMES:
            track.velocity_mm_s = np.zeros(2)
        return track.kind != "striker" and not track.moves and not body.velocity_mm_s.any()

    def _is_covered(self, track: Track) -> bool:
        """Whether a hand hides a disc; for a piece, a hand right beside it is enough."""
        if track.kind == "striker":
            return self.cover.share(self.finder.outline(track), 0.0) > COVERED
        return self.cover.share(self.finder.outline(track), _BESIDE_MM) > _TOUCHED

    def _stands(self, track: Track) -> bool:
        """Slow or at rest by its last sighting, or put down, and its place looks as in the frame before: fits waver, pictures do not."""
        slow = bool(track.sightings or track.carried) and not track.missed and float(np.hypot(*track.velocity_mm_s)) < _WAVER_MM_S
        return slow and self.finder.motion_at(self.finder.outline(track)) < _SAME_LEVELS

    def _accept(self, track: Track, fit: Fit, body: Body, t_s: float) -> None:
        dt, track.partly = t_s - track.t_s, False
        self._found[track.id] = _Found(fit, track.at_mm, track.velocity_mm_s, track.t_s, track.steps, track.still_since_s)
        step = (fit.axis_mm - track.at_mm) / dt if dt > 0 else np.zeros(2)
        expected = body.velocity_mm_s
        if float(np.hypot(*(fit.axis_mm - body.at_mm))) < GATE_MM and expected.any():
            step = expected + (fit.axis_mm - body.at_mm) / max(dt, 1e-3) * 0.5
        elif not track.velocity_mm_s.any() and expected.any() and _is_just_hit(fit.axis_mm - track.at_mm, body.at_mm - track.at_mm):
            step = expected
        velocity = step if float(np.hypot(*step)) > _SLOWEST_MM_S else np.zeros(2)
        track.sightings.append(
            Sighting(t_s, float(fit.axis_mm[0]), float(fit.axis_mm[1]), fit.sigma_mm, float(np.hypot(*velocity)) * self.finder.exposure_s)
        )
        track.steps = track.steps + 1 if velocity.any() else 0
        if velocity.any():
            track.still_since_s = t_s
        track.at_mm, track.velocity_mm_s, track.t_s, track.missed, track.covered = fit.axis_mm, velocity, t_s, 0, track.hidden
        track.flown_mm = None

    def _miss(self, track: Track, body: Body, t_s: float) -> None:
        goes_on, track.partly = body.velocity_mm_s.any() and not track.trial, False
        track.doubt()
        track.missed += 1
        if track.missed <= SEEN_FALLING:
            track.flown_mm = body.flown_mm
        if track.missed > _LOST_FRAMES and not track.hidden:
            self.give_up(track)
        if goes_on:
            track.at_mm, track.velocity_mm_s, track.t_s = body.at_mm, body.velocity_mm_s, t_s

    def give_up(self, track: Track) -> None:
        """A disc that is not found where it should be, in plain view: in the pocket that it was seen to go into, or lost."""
        # A hand may have taken it; and what has come to rest at a pocket's edge and does not show clearly there has not fallen.
        track.pocket = into_mouth(track) if track.missed and not track.covered else None
        track.state = "lost" if track.pocket is None else "gone"

    def _fall(self, track: Track) -> None:
        # A pocket needs the way in seen; what has run into the rail beside it hard and is out of sight may be anywhere.
        if track.hidden or track.missed > SEEN_FALLING or track.flown_mm is not None or (track.trial and not self._was_seen_to_go(track)):
            return
        for name, centre in POCKETS_MM.items():
            if float(np.hypot(track.at_mm[0] - centre[0], track.at_mm[1] - centre[1])) < _FALL_MM:
                track.state, track.pocket = "gone", name

    def _was_seen_to_go(self, track: Track) -> bool:
        """Whether what is on trial has come where it is in more than one step and shows in the open there: no hand does that in a hole."""
        steps = 0 if track.anchor is None else len(track.sightings) - track.anchor[1]
        return steps > 1 and not track.missed and self.cover.share(self.finder.outline(track), 0.0) < COVERED

    def _learn(self, track: Track, image: Image) -> None:
        """Once a disc is well away from where it lay, take the table there as it is seen."""
        if track.learned or track.left is None or track.state != "active":
            return
        clear = 2.5 * track.shape.radius_mm
        left = track.left.axis_mm
        if float(np.hypot(*(track.at_mm - left))) > clear and not any_near(self.tracks.values(), track, left, clear):
            self._scene.learn(image, track.left)
            track.learned = True


def _is_just_hit(way_mm: Array, expected_mm: Array) -> bool:
    """Whether a disc was hit just before this frame, as expected: so short a step (2,) mm tells neither where it goes nor how fast."""
    return max(float(np.hypot(*way_mm)), float(np.hypot(*expected_mm))) < _JUST_HIT_MM
