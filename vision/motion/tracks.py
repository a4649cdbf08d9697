"""Discs from frame to frame: who is where, and what was seen of each while anything moved."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from rules.table import HALF_MM, POCKETS_MM
from vision.motion.claims import CLEARLY, beats, first_asked
from vision.motion.cover import Cover
from vision.motion.leaving import into_mouth, is_falling
from vision.motion.outline import Outline, outline_at
from vision.motion.predict import Body, advance
from vision.motion.scene import Scene
from vision.motion.search import around, look_at
from vision.motion.smear import Fit, fit_smear, level_at
from vision.motion.track import FASTEST_MM_S, Sighting, Track, any_near, speed_shares, way_to

Array = NDArray[np.float64]
Image = NDArray[np.uint8]

_WAKE_LEVELS: Final = 4.0  # mean change over a disc's place, grey levels; noise of that mean is about 0.5
_GOOD_EXPLAINED: Final = 0.7  # share of pixels explained; discs in plain view reach 0.9, half covered ones 0.5
_GOOD_GAIN: Final = 0.4  # share of the contrast that the disc's model takes away; plain view 0.8 and more, a wrong place under 0.2
_GATE_MM: Final = 5.0  # a fit may end this far from a prediction that assumed no contact
_GATE_S: Final = 0.006  # and this much of its way: velocity of the last step is not better known
_SLOWEST_MM_S: Final = 10.0  # below it a disc stops within 0.05 mm
_SAME_LEVELS: Final = 2.5  # mean change between two frames over a disc that stands still
_WAVER_MM_S: Final = 40.0  # half a millimetre between frames; a disc as slow as that stops within one
_LOST_FRAMES: Final = 15  # a quarter of a second in plain view without a trace: no longer on the table where it was
_COVERED: Final = 0.3  # share of a disc's place under a hand from which it need not be seen
_CARRIED_FRAMES: Final = 3  # a disc under a hand goes where the hand goes, not on along its way
_OVERLAP: Final = 0.75  # of the sum of radii; two discs cannot be nearer, measuring errors included
_RAIL_SLACK_MM: Final = 4.0  # a disc cannot be farther out than tight against the rail, measuring errors and worn rails included
_LEVEL_SLACK: Final = 20.0  # grey levels that a face may differ from what the light of its place predicts: gloss
_TINT_SLACK: Final = 5.0  # the same in tint, which gloss hardly changes
_LEVEL_SHARE: Final = 0.25  # and as a share of that
_WEAK: Final = 0.8  # of a disc's usual gain; under it another place may fit better
_SAME_PLACE_MM: Final = 1.5  # the follower's and the detector's place of a disc at rest differ by less, or one of them is wrong
_TRIED: Final = 0.65  # of a disc's usual gain, from which an unexpected place is tried out
_FARTHER: Final = 0.001  # of the gain for a millimetre: a nearer place is likelier
_UNDER_HAND: Final = 0.3  # of the gain, for a place all under a hand: skin and cloth pass for discs easily
_BESIDE_MM: Final = 6.0  # a hand nearer than this to a piece may be touching it
_TOUCHED: Final = 0.03  # share of a piece and that margin under a hand: a small pixel or two
_MOTION_LEVELS: Final = 3.0  # mean change between frames where a disc has just arrived; noise is under 1
_LONGEST_STEP_S: Final = 0.1  # after a longer pause nothing is predicted
_HOLE_LEVELS: Final = 25.0  # grey levels by which a hole must be darker than the face at rest to be looked for in motion
_HOLE_SHARE: Final = 0.4  # of that; a fast disc's hole is smeared over twice its width
_HOLE_LOST: Final = 1.5  # and from so many widths on it does not show at all
_LONGEST_LOOK_S: Final = 0.034  # two frames: what has not been found in them is looked for no farther off
_RUN_INTO_MM: Final = 60.0  # two strikers' width, from axis to axis, and the follower's lag
_GIVEN: Final = 1.4  # a piece leaves a striker, which weighs 2.7 times as much, at up to 1.35 times its speed
_NEAR_MM: Final = 40.0  # a disc that slows down in a heap changes little from frame to frame; farther off it must be seen to arrive
_SEEN_FALLING: Final = 2  # frames without a sighting on the way in that are still seen: the rim hides a tilting disc
_FALL_MM: Final = 48.0  # an axis this near a pocket's centre is over the hole (radius 50) beyond measuring error


class Tracker:
    """All discs of one table; `step` takes one frame that differs from the table at rest."""

    def __init__(self, camera: Camera, scene: Scene, exposure_s: float) -> None:
        self._camera = camera
        self._scene = scene
        self._exposure_s = exposure_s
        self.readout_s = 0.0  # from the first row's exposure to the last one's
        self.tracks: dict[str, Track] = {}
        self._outlines: dict[str, Outline] = {}
        self._t_s = 0.0
        self.motion: NDArray[np.uint8] = np.zeros(scene.surface.shape, np.uint8)
        self.cover = Cover(scene)

    def outline(self, track: Track, at_mm: Array | None = None) -> Outline:
        """A track's outline at its own or another position."""
        if at_mm is not None:
            return outline_at(self._camera, at_mm, track.shape)
        known = self._outlines.get(track.id)
        if known is None or not np.array_equal(known.axis_mm, track.at_mm):
            known = self._outlines[track.id] = outline_at(self._camera, track.at_mm, track.shape)
        return known

    def adopt(self, image: Image) -> None:
        """Take every disc on the table as at rest: looks are taken, sightings forgotten."""
        bare = self._scene.bare
        for track in self.tracks.values():
            track.sightings = []
            track.velocity_mm_s = np.zeros(2)
            track.missed = 0
            track.learned = False
            track.forget_hands()
            track.left = None
            if track.state == "active":
                track.state, track.rest_seen_mm = "rest", None
            if track.state == "rest" and bare is not None and (track.look is None or track.rest_seen_mm is None):
                track.look = look_at(self._scene, self.outline(track), image, bare) or track.look
                self._memorise(track, image, bare)

    def recover(self, track: Track, at_mm: Array, t_s: float, velocity_mm_s: Array | None = None) -> None:
        """A disc that was lost under way is here: its way so far is kept."""
        velocity = np.zeros(2) if velocity_mm_s is None else velocity_mm_s
        track.at_mm, track.velocity_mm_s, track.t_s = at_mm, velocity, t_s
        track.state, track.pocket, track.missed, track.hidden = "active", None, 0, False
        track.still_since_s = t_s
        fast = float(np.hypot(*velocity)) * self._exposure_s
        track.sightings.append(Sighting(t_s, float(at_mm[0]), float(at_mm[1]), track.sigma_mm, fast))

    def settle_one(self, track: Track, image: Image, t_s: float) -> None:
        """Take one disc as at rest where it is, and forget how it came there."""
        outline = self.outline(track)
        track.sightings = []
        track.velocity_mm_s = np.zeros(2)
        track.left, track.learned = outline, False
        track.woken_s = track.still_since_s = t_s
        track.rest_seen_mm = track.at_mm.copy()
        if self._scene.bare is not None:
            track.look = look_at(self._scene, outline, image, self._scene.bare) or track.look
            self._memorise(track, image, self._scene.bare)

    def put_back(self, track: Track, at_mm: Array) -> None:
        """A disc whose place looks as it did at rest lies there: whatever was followed instead is forgotten."""
        self._scene.put_back(self.outline(track, at_mm))
        track.at_mm, track.velocity_mm_s = at_mm, np.zeros(2)
        track.state, track.pocket, track.missed, track.hidden = "rest", None, 0, False
        track.trial, track.anchor = 0, None
        track.sightings, track.rest_seen_mm, track.left, track.learned = [], None, None, False

    def _memorise(self, track: Track, image: Image, bare: Image) -> None:
        """How bright the disc and the table under it are at rest: what a fit elsewhere is checked against."""
        outline = self.outline(track)
        if track.look is None:
            return
        fit = fit_smear(image, bare, self._camera, outline, np.zeros(2), track.look.weights)
        table = level_at(bare, outline)
        if fit is not None and fit.gain > _GOOD_GAIN and table:
            track.face, track.hole, track.table, track.usual_gain = fit.face, fit.hole, table, fit.gain
            if float(np.hypot(*(fit.axis_mm - track.at_mm))) < _SAME_PLACE_MM:
                track.rest_seen_mm = fit.axis_mm

    def step(self, image: Image, t_s: float) -> None:
        """Follow all discs into this frame; the scene has been compared with it already."""
        here = [t for t in self.tracks.values() if t.state in ("rest", "active")]
        bodies = {t.id: Body(t.shape, t.at_mm, t.velocity_mm_s) for t in here}
        known = [t for t in here if t.state == "active"]
        dt = min(t_s - self._t_s, _LONGEST_STEP_S) if self._t_s else 0.0
        self._t_s = t_s
        # What a hand carries passes over the others; it is moved on by itself.
        carried = [bodies[t.id] for t in known if t.moves and (t.trial or self.cover.share(self.outline(t), _BESIDE_MM) > _TOUCHED)]
        advance([b for b in bodies.values() if b not in carried], dt)
        for body in carried:
            advance([body], dt)
        for track in here:
            if track.state != "rest" or self._scene.changed_under(self.outline(track)) <= _WAKE_LEVELS:
                continue
            if track.kind == "striker" or bodies[track.id].velocity_mm_s.any() or not self._is_covered(track):
                self._wake(track, t_s, dt)
            else:
                track.by_limb, track.hidden_s = True, track.hidden_s + dt
        active = [t for t in here if t.state == "active"]
        waiting: list[tuple[Track, Fit | None]] = []
        for track in active:
            if self._stands(track):
                track.t_s = t_s
                continue
            if self._waits_under_hand(track, bodies[track.id], dt):
                continue
            fit = self._fit(image, track, bodies[track.id].at_mm, bodies[track.id].velocity_mm_s, t_s)
            if fit is None or fit.gain < _WEAK * track.usual_gain or track.sets_off:
                waiting.append((track, fit))
            else:
                self._accept(track, fit, bodies[track.id], t_s)
                track.confirm()
        found = {t.id: self._search(image, t, bodies[t.id], weak, t_s) for t, weak in waiting}
        left = {t.id: (t, weak) for t, weak in waiting}
        # Where two may be one moving disc, it is the one that is expected nearer; the other may be what was found next.
        while asking := [name for name in left if found[name]]:
            name = first_asked({name: found[name][0] for name in asking}, bodies)
            fit, track = found[name].pop(0), left[name][0]
            if self.is_free(track, fit.axis_mm, t_s):
                del left[name]
                if self._is_off_from_hand(track, fit):
                    track.try_out()
                self._accept(track, fit, bodies[name], t_s)
        for track, weak in left.values():
            if weak is None:
                self._miss(track, bodies[track.id], t_s)
            else:
                self._accept(track, weak, bodies[track.id], t_s)
        for track in active:
            self._fall(track)
            self._learn(track, image)

    def _wake(self, track: Track, t_s: float, since_s: float) -> None:
        track.state = "active"
        track.t_s = track.set_off_s = t_s - since_s
        track.still_since_s = track.woken_s = t_s
        track.left = self.outline(track)
        track.by_limb |= self.cover.was_beside(track.left)
        track.by_part |= self.cover.is_beside_part(track.left)
        self._scene.lift(track.left)

    def _waits_under_hand(self, track: Track, body: Body, dt: float) -> bool:
        """A disc that lies under a hand is not looked for until the hand is off, unless something runs into it.

        The striker is the exception: it goes off from under hands; it is looked for every time.
        """
        track.hidden = self._is_covered(track)
        track.covered |= track.hidden
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
            return self.cover.share(self.outline(track), 0.0) > _COVERED
        return self.cover.share(self.outline(track), _BESIDE_MM) > _TOUCHED

    def _stands(self, track: Track) -> bool:
        """Slow or at rest by its last sighting, and its place looks as it did in the frame before: fits waver, pictures do not."""
        slow = bool(track.sightings) and not track.missed and float(np.hypot(*track.velocity_mm_s)) < _WAVER_MM_S
        if not slow or self._motion_at(self.outline(track)) >= _SAME_LEVELS:
            return False
        track.velocity_mm_s, track.steps = np.zeros(2), 0
        return True

    def _motion_at(self, outline: Outline) -> float:
        """Mean change since the frame before over a disc's place, grey levels."""
        mask, (x, y) = self._scene.patch_mask(outline, 1.0)
        inside = mask.astype(bool)
        return float(self.motion[y : y + mask.shape[0], x : x + mask.shape[1]][inside].mean()) if inside.any() else 0.0

    def _fit(self, image: Image, track: Track, guess_mm: Array, velocity_mm_s: Array, t_s: float) -> Fit | None:
        """Fit where the disc is expected; None when it is not there."""
        fit = self.try_at(image, track, guess_mm, velocity_mm_s)
        gate = _GATE_MM + _GATE_S * float(np.hypot(*velocity_mm_s)) * (1 + track.missed)
        if fit is None or float(np.hypot(*(fit.axis_mm - guess_mm))) > gate:
            return None
        return fit if self.is_free(track, fit.axis_mm, t_s) else None

    def try_at(self, image: Image, track: Track, guess_mm: Array, velocity_mm_s: Array) -> Fit | None:
        """Fit a disc near a place (2,) mm; None where the picture does not look like it."""
        reference = self._scene.reference
        if track.look is None or reference is None:
            return None
        smear = velocity_mm_s * self._exposure_s
        shear = velocity_mm_s * (self.readout_s / (self._camera.lens.height - 1)) if self.readout_s else None
        outline = self.outline(track, guess_mm)
        fit = fit_smear(image, reference, self._camera, outline, smear, track.look.weights, shear_mm=shear)
        good = fit is not None and fit.explained >= _GOOD_EXPLAINED and fit.gain >= _GOOD_GAIN
        blurred = float(np.hypot(*smear)) > _HOLE_LOST * track.shape.hole_mm
        return fit if good and fit is not None and self._looks_right(track, fit, guess_mm, blurred=blurred) else None

    def _may_be_tried(self, track: Track, fit: Fit) -> bool:
        """Away from where it was expected: fitted nearly as well as at rest, and something has moved there just now."""
        if fit.gain < _TRIED * track.usual_gain:
            return False
        away = float(np.hypot(*(fit.axis_mm - track.at_mm)))
        return away < (_GATE_MM if track.hidden else _NEAR_MM) or self._motion_at(self.outline(track, fit.axis_mm)) > _MOTION_LEVELS

    def _looks_right(self, track: Track, fit: Fit, guess_mm: Array, *, blurred: bool) -> bool:
        """Face as bright as at rest or by the light of this place (there a rail may shade the table but not the face); half a disc and half
        a table is not. `blurred`: too fast for a hole."""
        bare = self._scene.bare
        if not track.table or bare is None or track.look is None:
            return True
        light = level_at(bare, self.outline(track, guess_mm)) / track.table
        tint = float(track.look.weights.min()) < 0
        expected = track.face * light if tint else min(track.face * light, 255.0)
        slack = _TINT_SLACK if tint else _LEVEL_SLACK
        depth = track.face - track.hole
        if not blurred and depth > _HOLE_LEVELS and fit.face - fit.hole < _HOLE_SHARE * depth * light:
            return False
        low, high = sorted((track.face, expected))
        slack += _LEVEL_SHARE * abs(expected)
        return low - slack < fit.face < high + slack

    def is_free(self, track: Track, at_mm: Array, t_s: float) -> bool:
        """On the playing surface, and no other disc that was seen in this frame, or that rests, is there."""
        if float(np.abs(at_mm).max()) > HALF_MM - track.shape.radius_mm + _RAIL_SLACK_MM:
            return False
        for other in self.tracks.values():
            if other is track or other.state not in ("rest", "active") or (other.state == "active" and other.t_s != t_s):
                continue
            reach = _OVERLAP * (other.shape.radius_mm + track.shape.radius_mm)
            if float(np.hypot(*(other.at_mm - at_mm))) < reach:
                return False
        return True

    def _search(self, image: Image, track: Track, body: Body, weak: Fit | None, t_s: float) -> list[Fit]:
        """Look for a disc that is not where it was expected, or poorly (`weak`): where it may be rather, the likeliest first."""
        # Skin and cloth pass for discs easily; under a hand only the striker's going off is worth the risk.
        if track.look is None or not self._anything_moves() or (track.hidden and track.kind != "striker"):
            return []
        dt = t_s - track.t_s
        reach_mm = 20.0 + self.fastest_mm_s(track) * min(dt, _LONGEST_LOOK_S)
        here = self.outline(track)
        out: list[tuple[float, Fit]] = []
        for place in around(self._scene, track.look, here.centre_px, reach_mm * here.px_per_mm):
            guess = self._camera.to_mm(place[None], track.shape.height_mm)[0]
            way = way_to(track, guess, t_s)
            tried = (self.try_at(image, track, guess, way * share) for share in speed_shares(track))
            fit = max((one for one in tried if one is not None), key=lambda one: one.gain, default=None)
            if fit is None or not self.is_free(track, fit.axis_mm, t_s):
                continue
            if not self._may_be_tried(track, fit) or track.stood_at(fit.axis_mm) or self._is_anothers_fall(track, fit, t_s):
                continue
            away = float(np.hypot(*(fit.axis_mm - body.at_mm)))
            under = self.cover.share(self.outline(track, fit.axis_mm), 0.0)
            out.append((fit.gain * fit.explained - _FARTHER * away - _UNDER_HAND * under, fit))
        handicap = self._handicap(track, weak)
        return [fit for _, fit in sorted(out, key=lambda one: -one[0]) if beats(fit, weak, handicap)]

    def _handicap(self, track: Track, weak: Fit | None) -> float:
        """By how much less a striker that sets off from under a hand is believed to be where its first step leads: the cue follows it."""
        return _UNDER_HAND * self.cover.share(self.outline(track, weak.axis_mm), 0.0) if weak is not None and track.sets_off else -CLEARLY

    def _is_anothers_fall(self, track: Track, fit: Fit, t_s: float) -> bool:
        """Whether what was found for a disc out of sight may be one like it that was seen to go into the pocket there."""
        like = (t for t in self.tracks.values() if t is not track and t.kind == track.kind and t.state == "gone")
        return track.missed > _SEEN_FALLING and any(is_falling(other, fit.axis_mm, t_s) for other in like)

    def _is_off_from_hand(self, track: Track, fit: Fit) -> bool:
        """Whether what was found may be a part of the hand that is or was over a disc."""
        was = track.kind == "striker" and track.covered
        return track.hidden or (was and self.cover.share(self.outline(track, fit.axis_mm), 0.0) > _COVERED)

    def fastest_mm_s(self, track: Track) -> float:
        """Speed that a disc may have by now, mm/s: its own, or what a disc that may have run into it can give it.

        Its own first step says little, since it began somewhere between two frames. The striker may be struck at any time.
        """
        own = float(np.hypot(*track.velocity_mm_s))
        if track.kind == "striker":
            return own * 1.2 if track.steps > 1 and not track.missed else FASTEST_MM_S
        fastest = own * (1.2 if track.steps > 1 else 2.0)
        for other in self.tracks.values():
            speed = float(np.hypot(*other.velocity_mm_s))
            if other is track or not speed or other.state == "rest":
                continue
            near = float(np.hypot(*(other.at_mm - track.at_mm))) < _RUN_INTO_MM + 2 * speed * _LONGEST_LOOK_S
            if near or other.missed:
                fastest = max(fastest, _GIVEN * speed)
        return min(fastest, FASTEST_MM_S)

    def _anything_moves(self) -> bool:
        """Whether this frame differs from the one before at all: if not, no disc has gone anywhere."""
        return bool((self.motion > _MOTION_LEVELS * 3).any())

    def _accept(self, track: Track, fit: Fit, body: Body, t_s: float) -> None:
        dt = t_s - track.t_s
        step = (fit.axis_mm - track.at_mm) / dt if dt > 0 else np.zeros(2)
        expected = body.velocity_mm_s
        if float(np.hypot(*(fit.axis_mm - body.at_mm))) < _GATE_MM and expected.any():
            step = expected + (fit.axis_mm - body.at_mm) / max(dt, 1e-3) * 0.5
        velocity = step if float(np.hypot(*step)) > _SLOWEST_MM_S else np.zeros(2)
        track.sightings.append(
            Sighting(t_s, float(fit.axis_mm[0]), float(fit.axis_mm[1]), fit.sigma_mm, float(np.hypot(*velocity)) * self._exposure_s)
        )
        track.steps = track.steps + 1 if velocity.any() else 0
        if velocity.any():
            track.still_since_s = t_s
        track.at_mm, track.velocity_mm_s, track.t_s, track.missed, track.covered = fit.axis_mm, velocity, t_s, 0, track.hidden

    def _miss(self, track: Track, body: Body, t_s: float) -> None:
        goes_on = body.velocity_mm_s.any() and not track.trial
        track.doubt()
        track.missed += 1
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
        if track.hidden or track.trial or track.missed > _SEEN_FALLING:
            return  # a pocket needs the way in seen
        for name, centre in POCKETS_MM.items():
            if float(np.hypot(track.at_mm[0] - centre[0], track.at_mm[1] - centre[1])) < _FALL_MM:
                track.state, track.pocket = "gone", name

    def _learn(self, track: Track, image: Image) -> None:
        """Once a disc is well away from where it lay, take the table there as it is seen."""
        if track.learned or track.left is None or track.state != "active":
            return
        clear = 2.5 * track.shape.radius_mm
        left = track.left.axis_mm
        if float(np.hypot(*(track.at_mm - left))) > clear and not any_near(self.tracks.values(), track, left, clear):
            self._scene.learn(image, track.left)
            track.learned = True
