"""Where a followed disc is in a picture: a fit where it is expected, and a search for where it may be rather."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from rules.table import HALF_MM
from vision.motion.claims import CLEARLY, beats
from vision.motion.cover import Cover
from vision.motion.leaving import is_falling
from vision.motion.outline import Outline, outline_at
from vision.motion.predict import Body
from vision.motion.scene import Scene
from vision.motion.search import around, tint_at
from vision.motion.smear import Fit, fit_smear, level_at
from vision.motion.track import FASTEST_MM_S, FASTEST_PIECE_MM_S, Track, speed_shares, way_to

Array = NDArray[np.float64]
Image = NDArray[np.uint8]

_PARTLY: Final = 0.5  # of a disc's usual gain; a cue across a piece leaves 0.6, the bare table 0.2
_PARTLY_MM: Final = 2.0  # a piece that shows in part is fitted this far off
_GOOD_EXPLAINED: Final = 0.7  # share of pixels explained; discs in plain view reach 0.9, half covered ones 0.5
GOOD_GAIN: Final = 0.4  # share of the contrast that the disc's model takes away; plain view 0.8 and more, a wrong place under 0.2
GATE_MM: Final = 5.0  # a fit may end this far from a prediction that assumed no contact
_GATE_S: Final = 0.006  # and this much of its way: velocity of the last step is not better known
_OVERLAP: Final = 0.75  # of the sum of radii; two discs cannot be nearer, measuring errors included
_RAIL_SLACK_MM: Final = 4.0  # a disc cannot be farther out than tight against the rail, measuring errors and worn rails included
_LEVEL_SLACK: Final = 20.0  # grey levels that a face may differ from what the light of its place predicts: gloss
_TINT_SLACK: Final = 5.0  # the same in tint, which gloss hardly changes
_LEVEL_SHARE: Final = 0.25  # and as a share of that
_TRIED: Final = 0.65  # of a disc's usual gain, from which an unexpected place is tried out
_FARTHER: Final = 0.001  # of the gain for a millimetre: a nearer place is likelier
_CLEAR: Final = 0.85  # of a disc's usual gain: so it shows where its speed is guessed well
_PLAIN: Final = 0.93  # share of pixels explained from which it is the disc; its shadow, bare wood on wood, reaches 0.9
_UNDER_WAY: Final = 2  # steps; a disc that is knocked against its rail and over it is seen for one at most
_TURN = np.arange(8) * np.pi / 4
_SHADOWS_MM: Final = 26.0 * np.stack([np.cos(_TURN), np.sin(_TURN)], axis=1)  # a striker beside its shadow, by lamps at 30 degrees
_TINTED: Final = 0.1  # from its own tint, as shares of channels: gloss and lamps change it by less
_NEARER: Final = 0.5  # times as far from another one's
_ALIKE_MM: Final = 1.5  # smears of lengths nearer to each other are fitted alike,
_SAME_GUESS_MM: Final = 3.0  # and from places this near a fit ends in the same place
_OFF: Final = 0.0005  # but a struck striker has left its place, cue and shadow behind: a farther place is likelier,
_FARTHEST: Final = 0.05  # up to this
_AHEAD: Final = (1.0, 1.25, 1.5, 1.75, 2.0)  # times the way of the first step: the blow came up to half of that step's time later
_BY_HAND: Final = 0.2  # of the gain, for a place beside an arm or cue
_UNDER_HAND: Final = 0.3  # of the gain, for a place all under a hand: skin and cloth pass for discs easily
_MOTION_LEVELS: Final = 3.0  # mean change between frames where a disc has just arrived; noise is under 1
_HOLE_LEVELS: Final = 25.0  # grey levels by which a hole must be darker than the face at rest to be looked for in motion
_HOLE_SHARE: Final = 0.4  # of that; a fast disc's hole is smeared over twice its width
_HOLE_LOST: Final = 1.5  # and from so many widths on it shows weakly,
_NO_HOLE: Final = 0.15  # but where it is as dark as in bare wood, a place without any is a shadow
_PLAIN_HOLE_LEVELS: Final = 50.0  # grey levels; red and black paint shows no such hole
_LONGEST_OFF_S: Final = 0.1  # a struck striker that was lost from the blow on is looked for all over the table: six frames
_LONGEST_LOOK_S: Final = 0.034  # two frames: what has not been found in them is looked for no farther off
_RUN_INTO_MM: Final = 60.0  # two strikers' width, from axis to axis, and the follower's lag
_GIVEN: Final = 1.4  # a piece leaves a striker, which weighs 2.7 times as much, at up to 1.35 times its speed
_NEAR_MM: Final = 40.0  # a disc that slows down in a heap changes little from frame to frame; farther off it must be seen to arrive
SEEN_FALLING: Final = 2  # frames without a sighting on the way in that are still seen: the rim hides a tilting disc
COVERED: Final = 0.3  # share of a disc's place under a hand from which it need not be seen


class DiscFinder:
    """Looks for the discs of one table in the frame at hand."""

    def __init__(self, camera: Camera, scene: Scene, cover: Cover, tracks: Mapping[str, Track], exposure_s: float) -> None:
        self._camera = camera
        self._scene = scene
        self._cover = cover
        self._tracks = tracks
        self._outlines: dict[str, Outline] = {}
        self.exposure_s = exposure_s
        self.readout_s = 0.0  # from the first row's exposure to the last one's
        self.motion: NDArray[np.uint8] = np.zeros(scene.surface.shape, np.uint8)

    def outline(self, track: Track, at_mm: Array | None = None) -> Outline:
        """A track's outline at its own or another position."""
        if at_mm is not None:
            return outline_at(self._camera, at_mm, track.shape)
        known = self._outlines.get(track.id)
        if known is None or not np.array_equal(known.axis_mm, track.at_mm):
            known = self._outlines[track.id] = outline_at(self._camera, track.at_mm, track.shape)
        return known

    def motion_at(self, outline: Outline) -> float:
        """Mean change since the frame before over a disc's place, grey levels."""
        mask, (x, y) = self._scene.patch_mask(outline, 1.0)
        inside = mask.astype(bool)
        return float(self.motion[y : y + mask.shape[0], x : x + mask.shape[1]][inside].mean()) if inside.any() else 0.0

    def fit(self, image: Image, track: Track, guess_mm: Array, velocity_mm_s: Array, t_s: float) -> Fit | None:
        """Fit where the disc is expected; None when it is not there."""
        fit = self.try_at(image, track, guess_mm, velocity_mm_s)
        gate = GATE_MM + _GATE_S * float(np.hypot(*velocity_mm_s)) * (1 + track.missed)
        if fit is None or float(np.hypot(*(fit.axis_mm - guess_mm))) > gate:
            return None
        return fit if self.is_free(track, fit.axis_mm, t_s) else None

    def try_at(self, image: Image, track: Track, guess_mm: Array, velocity_mm_s: Array) -> Fit | None:
        """Fit a disc near a place (2,) mm; None where the picture does not look like it."""
        reference = self._scene.reference
        if track.look is None or reference is None:
            return None
        smear = velocity_mm_s * self.exposure_s
        shear = velocity_mm_s * (self.readout_s / (self._camera.lens.height - 1)) if self.readout_s else None
        outline = self.outline(track, guess_mm)
        light = self._light(track, outline)
        least_hole = _least_hole(track, light, blurred=float(np.hypot(*smear)) > _HOLE_LOST * track.shape.hole_mm)
        fit = fit_smear(image, reference, self._camera, outline, smear, track.look.weights, shear_mm=shear, least_hole=least_hole)
        good = fit is not None and fit.explained >= _GOOD_EXPLAINED and fit.gain >= GOOD_GAIN
        return fit if good and fit is not None and fit.face - fit.hole >= least_hole and _looks_right(track, fit, light) else None

    def shows_partly(self, image: Image, track: Track) -> bool:
        """Whether the picture shows at least a good part of a disc where it lay."""
        if track.look is None or self._scene.reference is None:
            return False
        outline = self.outline(track, track.lay_mm)
        fit = fit_smear(image, self._scene.reference, self._camera, outline, np.zeros(2), track.look.weights)
        if fit is None or fit.explained < _GOOD_EXPLAINED or fit.gain < _PARTLY * track.usual_gain:
            return False
        return float(np.hypot(*(fit.axis_mm - track.lay_mm))) < _PARTLY_MM

    def _may_be_tried(self, track: Track, fit: Fit) -> bool:
        """Away from where it was expected: fitted nearly as well as at rest, and something has moved there just now."""
        if fit.gain < _TRIED * track.usual_gain:
            return False
        away = float(np.hypot(*(fit.axis_mm - track.at_mm)))
        return away < (GATE_MM if track.hidden else _NEAR_MM) or self.motion_at(self.outline(track, fit.axis_mm)) > _MOTION_LEVELS

    def _light(self, track: Track, outline: Outline) -> float | None:
        """How bright the bare table is at a place, relative to where the disc's look was taken."""
        bare = self._scene.bare
        return level_at(bare, outline) / track.table if track.table and bare is not None else None

    def is_free(self, track: Track, at_mm: Array, t_s: float) -> bool:
        """On the playing surface, and no other disc that was seen in this frame, or that rests, is there."""
        if float(np.abs(at_mm).max()) > HALF_MM - track.shape.radius_mm + _RAIL_SLACK_MM:
            return False
        for other in self._tracks.values():
            if other is track or not other.on_table or (other.state == "active" and other.t_s != t_s):
                continue
            reach = _OVERLAP * (other.shape.radius_mm + track.shape.radius_mm)
            if float(np.hypot(*(other.at_mm - at_mm))) < reach:
                return False
        return True

    def search(self, image: Image, track: Track, body: Body, weak: Fit | None, t_s: float) -> list[Fit]:
        """Look for a disc that is not where it was expected, or poorly (`weak`): where it may be rather, the likeliest first."""
        # Skin and cloth pass for discs easily; under a hand only the striker's going off is worth the risk.
        if track.look is None or not self._anything_moves() or (track.hidden and track.kind != "striker"):
            return []
        dt = t_s - track.t_s
        is_struck = track.kind == "striker" and not track.velocity_mm_s.any()
        sets_off = is_struck or track.sets_off
        reach_mm = 20.0 + self.fastest_mm_s(track) * min(dt, _LONGEST_OFF_S if is_struck and dt < _LONGEST_OFF_S else _LONGEST_LOOK_S)
        here = self.outline(track)
        places = around(self._scene, track.look, here.centre_px, reach_mm * here.px_per_mm)
        guesses = [self._camera.to_mm(place[None], track.shape.height_mm)[0] for place in places] + self._ahead(track, dt)
        found = [fit for guess in _apart(guesses) if (fit := self._found_at(image, track, guess, t_s)) is not None]
        found += self._beside_shadow(image, track, [*found, *([] if weak is None else [weak])], t_s)
        if body.flown or (body.flown_mm is not None and track.steps < _UNDER_WAY):
            found = [fit for fit in found if _is_plain(track, fit)]
        out = []
        for fit in found:
            away = float(np.hypot(*(fit.axis_mm - body.at_mm)))
            outline = self.outline(track, fit.axis_mm)
            worse = _UNDER_HAND * self._cover.share(outline, 0.0) + (0.0 if sets_off else _FARTHER * away)
            # The cue's tip and the place where its shadow lay pass for a struck striker; what is far off in the open is the striker itself.
            if sets_off:
                worse += (_BY_HAND if self._cover.is_beside(outline) else 0.0) - min(_OFF * away, _FARTHEST)
            out.append((fit.gain * fit.explained - worse, fit))
        handicap = self._handicap(track, weak)
        return [fit for _, fit in sorted(out, key=lambda one: -one[0]) if beats(fit, weak, handicap)]

    def _ahead(self, track: Track, dt: float) -> list[Array]:
        """Places (2,) mm where a striker may be that was seen once after the blow, which came at any time between two frames before."""
        is_first = track.kind == "striker" and track.steps == 1
        return [track.at_mm + share * dt * track.velocity_mm_s for share in _AHEAD] if is_first and not track.missed else []

    def _found_at(self, image: Image, track: Track, guess: Array, t_s: float) -> Fit | None:
        """The best fit near a place (2,) mm where a disc may have come to, if it is worth a try."""
        way, fit = way_to(track, guess, t_s), None
        smear_mm = float(np.hypot(*way)) * self.exposure_s
        tried: list[float] = []
        for share in speed_shares(track):
            if any(abs(share - other) * smear_mm < _ALIKE_MM for other in tried):
                continue
            tried.append(share)
            one = self.try_at(image, track, guess, way * share)
            fit = one if fit is None or (one is not None and one.gain > fit.gain) else fit
            if fit is not None and _is_plain(track, fit):
                break  # it cannot be told much better, and each try takes milliseconds
        if fit is None or not self.is_free(track, fit.axis_mm, t_s):
            return None
        if not self._may_be_tried(track, fit) or track.stood_at(fit.axis_mm) or self._is_anothers_fall(track, fit, t_s):
            return None
        return None if self._has_anothers_tint(image, track, self.outline(track, fit.axis_mm)) else fit

    def _beside_shadow(self, image: Image, track: Track, known: list[Fit], t_s: float) -> list[Fit]:
        """Where a striker is that shows less than its shadow does, bare wood on wood: looked for around what was found poorly."""
        if track.kind != "striker" or track.hidden or not known or any(fit.explained > _PLAIN for fit in known):
            return []
        centre = max(known, key=lambda fit: fit.gain).axis_mm
        around_it = (self._found_at(image, track, centre + step, t_s) for step in _SHADOWS_MM)
        return [fit for fit in around_it if fit is not None and fit.explained > _PLAIN]

    def _handicap(self, track: Track, weak: Fit | None) -> float:
        """By how much less a striker that sets off from under a hand is believed to be where its first step leads: the cue follows it."""
        return _UNDER_HAND * self._cover.share(self.outline(track, weak.axis_mm), 0.0) if weak is not None and track.sets_off else -CLEARLY

    def _has_anothers_tint(self, image: Image, track: Track, outline: Outline) -> bool:
        """Whether a place shows the colour of another kind of disc: in one mix of channels red paint and bare wood may look alike."""
        if track.look is None:
            return False
        here = tint_at(image, outline)
        off = float(np.linalg.norm(here - track.look.tint))
        others = [t.look.tint for t in self._tracks.values() if t.look is not None and t.kind != track.kind]
        return off > _TINTED and any(float(np.linalg.norm(here - tint)) < _NEARER * off for tint in others)

    def _is_anothers_fall(self, track: Track, fit: Fit, t_s: float) -> bool:
        """Whether what was found for a disc out of sight may be one like it that was seen to go into the pocket there."""
        like = (t for t in self._tracks.values() if t is not track and t.kind == track.kind and t.state == "gone")
        return track.missed > SEEN_FALLING and any(is_falling(other, fit.axis_mm, t_s) for other in like)

    def is_off_from_hand(self, track: Track, fit: Fit) -> bool:
        """Whether what was found may be a part of the hand that is or was over a disc."""
        was = track.kind == "striker" and track.covered
        return track.hidden or (was and self._cover.share(self.outline(track, fit.axis_mm), 0.0) > COVERED)

    def fastest_mm_s(self, track: Track) -> float:
        """Speed that a disc may have by now, mm/s: its own, or what a disc that may have run into it can give it.

        Its own first step says little, since it began somewhere between two frames. The striker may be struck at any time.
        """
        own = float(np.hypot(*track.velocity_mm_s))
        if track.kind == "striker":
            return own * 1.2 if track.steps > 1 and not track.missed else FASTEST_MM_S
        fastest = own * (1.2 if track.steps > 1 else 2.0)
        for other in self._tracks.values():
            speed = float(np.hypot(*other.velocity_mm_s))
            if other is track or not speed or other.state == "rest":
                continue
            near = float(np.hypot(*(other.at_mm - track.at_mm))) < _RUN_INTO_MM + 2 * speed * _LONGEST_LOOK_S
            if near or other.missed:
                fastest = max(fastest, _GIVEN * speed)
        return min(fastest, FASTEST_PIECE_MM_S)

    def _anything_moves(self) -> bool:
        """Whether this frame differs from the one before at all: if not, no disc has gone anywhere."""
        return bool((self.motion > _MOTION_LEVELS * 3).any())


def _apart(guesses: list[Array]) -> list[Array]:
    """Places (2,) mm without those next to an earlier one."""
    out: list[Array] = []
    for guess in guesses:
        if all(float(np.hypot(*(guess - other))) > _SAME_GUESS_MM for other in out):
            out.append(guess)
    return out


def _is_plain(track: Track, fit: Fit) -> bool:
    """Whether a disc shows as clearly as one does whose speed is guessed well: a shadow does not."""
    return fit.explained > _PLAIN and fit.gain > _CLEAR * track.usual_gain


def _least_hole(track: Track, light: float | None, *, blurred: bool) -> float:
    """Grey levels by which a hole must be darker than the face at a place; a shadow has none. `blurred`: too fast for most of it."""
    depth = track.face - track.hole
    share, plain = (_NO_HOLE, _PLAIN_HOLE_LEVELS) if blurred else (_HOLE_SHARE, _HOLE_LEVELS)
    return -np.inf if light is None or depth <= plain else share * depth * light


def _looks_right(track: Track, fit: Fit, light: float | None) -> bool:
    """Face as bright as at rest or by the light of this place (there a rail may shade the table but not the face); half a disc and half
    a table is not."""
    if light is None or track.look is None:
        return True
    tint = float(track.look.weights.min()) < 0
    expected = track.face * light if tint else min(track.face * light, 255.0)
    slack = _TINT_SLACK if tint else _LEVEL_SLACK
    low, high = sorted((track.face, expected))
    slack += _LEVEL_SHARE * abs(expected)
    return low - slack < fit.face < high + slack
