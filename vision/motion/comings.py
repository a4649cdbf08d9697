"""Discs that come onto the table or turn up again: put down by a hand, found beside an arm, or lost under way and seen once more.

Whatever looks like one is believed only when the picture shows the solid's own edges there, or when it goes on as a free disc does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from rules.table import Kind, Side
from vision.motion.arrivals import ArrivalFinder
from vision.motion.hands import Foreign
from vision.motion.identity import new_id
from vision.motion.leaving import is_falling
from vision.motion.measure import Answer, Measurer
from vision.motion.scene import SHRINK, Scene
from vision.motion.search import around, candidates
from vision.motion.track import SAME_MM, Track, way_to
from vision.motion.tracks import Tracker

Array = NDArray[np.float64]
Image = NDArray[np.uint8]

_STILL_S: Final = 0.04  # the picture has stood still for this long: a hand that puts something down rests for a moment
_LOOK_FRAMES: Final = 6  # a striker that was put down unseen is looked for ten times a second
_JUST_LOST: Final = 6  # frames; the hardest stroke has crossed the table by then
_BESIDE_PX: Final = 40  # how far outside the arm's own box a striker is looked for: a striker's width
_CARRIED_MM: Final = 15.0  # a piece's radius: it did not slide there while it was followed
_MOST_ISLANDS: Final = 3  # changed places tried for a lost disc in one frame
_CLEAR: Final = 0.9  # of a disc's usual gain, from which a still disc beside a hand is worth a closer look
_STILL_GAIN: Final = 0.8  # of a disc's usual gain where it stands still
_MOVING_GAIN: Final = 0.65  # and where it moves: its smear is known roughly


@dataclass(frozen=True, slots=True)
class _Guess:
    kind: Kind
    at_mm: Array
    island: tuple[float, float] | None = None


class Comings:
    """Looks for one disc a frame; what it finds is taken into the tracker."""

    def __init__(self, camera: Camera, scene: Scene, tracker: Tracker, measurer: Measurer) -> None:
        self._camera = camera
        self._scene = scene
        self._tracker = tracker
        self._measurer = measurer
        self._finder = ArrivalFinder(camera, scene)
        self._frames = 0
        self._guess: _Guess | None = None

    def forget(self) -> None:
        """The table was taken as it is: nothing is new any more."""
        self._finder.forget()
        self._guess = None

    def look(self, image: Image, foreign: Foreign, still_for_s: float, t_s: float, *, struck: bool) -> Track | None:
        """The disc that has come to stand on the table in this frame, if any. `struck`: the striker is known to be under way."""
        self._frames += 1
        if self._guess is not None:
            return self._settle_guess(self._guess, image, t_s, struck=struck)
        if self._learns_left(image, still_for_s):
            return None
        striker = self.striker
        wanted: tuple[Kind, ...] = ("striker", "red", "black")
        if striker is not None and self._is_seen(striker, t_s):
            wanted = ("red", "black")
        arrival = self._finder.find(image, foreign.islands, wanted)
        if arrival is not None:
            self._guess = _Guess(arrival.kind, arrival.fit.axis_mm, arrival.island)
        elif striker is not None and not self._is_seen(striker, t_s):
            self._guess = self._lost_striker(striker, image, foreign, still_for_s, t_s, struck=struck)
        return None

    def _lost_striker(
        self, striker: Track, image: Image, foreign: Foreign, still_for_s: float, t_s: float, *, struck: bool
    ) -> _Guess | None:
        if foreign.side is not None and still_for_s > _STILL_S and self._frames % _LOOK_FRAMES == 0:
            place = self._beside_arm(image, striker, foreign.side, t_s)
            if place is not None:
                return _Guess("striker", place)
        just_lost = striker.missed <= _JUST_LOST and not striker.covered
        if striker.state in ("lost", "active") and striker.missed and (struck or just_lost):
            return self._take_up(image, striker, foreign.islands, t_s)
        return None

    def _settle_guess(self, guess: _Guess, image: Image, t_s: float, *, struck: bool) -> Track | None:
        """A closer look at what may be a disc."""
        striker = self.striker
        but = striker.id if guess.kind == "striker" and striker is not None else ""
        answer = self._measurer.look("come", image, guess.kind, guess.at_mm, but)
        if answer is None:
            return None
        self._guess = None
        if not answer.shows:
            if guess.island is not None:
                self._finder.refuse(guess.island)
            return None
        return self._take_in(answer.kind or guess.kind, answer, image, t_s, struck=struck)

    def is_busy(self, foreign: Foreign) -> bool:
        """Whether something that may be a disc has not been looked at, or is being looked at closely."""
        return self._guess is not None or self._finder.is_curious(foreign.islands)

    def look_anew(self) -> None:
        """Everything has come to rest: places that showed no disc while something moved there are looked at again."""
        self._finder.look_anew()

    @property
    def striker(self) -> Track | None:
        """The striker's track, wherever it is."""
        return next((t for t in self._tracker.tracks.values() if t.kind == "striker"), None)

    def _learns_left(self, image: Image, still_for_s: float) -> bool:
        """What was under a disc that has been taken away: seen free, it is the table from now on, not a change that nothing explains.

        True while such a place is being looked at.
        """
        if still_for_s < _STILL_S:
            return False
        for track in self._tracker.tracks.values():
            if track.state != "lost" or track.learned or track.left is None or self._tracker.cover.is_beside(track.left):
                continue
            answer = self._measurer.look(f"left {track.id}", image, track.kind, track.left.axis_mm, track.id)
            if answer is not None:
                track.learned = True
                track.seen_gone = not answer.shows
                if track.seen_gone:
                    self._scene.learn(image, track.left)
            return True
        return False

    def _is_seen(self, track: Track, t_s: float) -> bool:
        """Whether a disc was where it is known to be in the frame at hand."""
        return track.state == "rest" or (track.state == "active" and track.t_s == t_s and not track.missed and not track.hidden)

    def _take_in(self, kind: Kind, answer: Answer, image: Image, t_s: float, *, struck: bool) -> Track | None:
        """A disc was put on the table: one that was lost, or else a new one."""
        at_mm = answer.at_mm
        tracks = self._tracker.tracks
        known = [t for t in tracks.values() if t.kind == kind and not self._is_seen(t, t_s)]
        # What was thought to have gone into a pocket in this stroke and lies here has not.
        usable = [t for t in known if t.state != "gone" or (struck and t.sightings)]
        usable = sorted(usable, key=lambda t: (t.state == "gone", float(np.hypot(*(t.at_mm - at_mm)))))
        usable = usable or [t for t in known if t.kind == "striker"]
        if any(is_falling(t, at_mm, t_s) for t in known) or self._is_taken(at_mm, t_s):
            return None
        if usable and usable[0].sightings and struck:
            self._tracker.recover(usable[0], at_mm, t_s)
            return usable[0]
        if usable:
            track = usable[0]
        else:
            name = new_id(kind, tracks)
            track = tracks[name] = Track(name, kind, at_mm)
        track.carried = track.state != "active" or float(np.hypot(*(track.at_mm - at_mm))) > _CARRIED_MM
        track.state, track.pocket, track.missed, track.hidden = "active", None, 0, False
        track.at_mm, track.t_s = at_mm, t_s
        self._tracker.settle_one(track, image, t_s)
        self._measurer.remember(track, answer)
        return track

    def _is_taken(self, at_mm: Array, t_s: float) -> bool:
        """Whether a disc that is seen lies there: it changed the picture itself when it came to rest."""
        return any(self._is_seen(t, t_s) and float(np.hypot(*(t.at_mm - at_mm))) < SAME_MM for t in self._tracker.tracks.values())

    def _beside_arm(self, image: Image, striker: Track, side: Side, t_s: float) -> Array | None:
        """Where a striker that nobody followed lies under or beside the arm that may have put it down for a stroke from this side."""
        if striker.look is None:
            return None
        zone = self._scene.zone_box(side)
        ys, xs = np.nonzero((self._tracker.cover.mask & self._scene.surface)[zone])
        if not len(xs):
            return None
        start = np.array([zone[1].start, zone[0].start])
        low, high = start + (xs.min(), ys.min()), start + (xs.max() + 1, ys.max() + 1)
        for place in candidates(self._scene, striker.look, low - _BESIDE_PX // SHRINK, high + _BESIDE_PX // SHRINK):
            guess = self._camera.to_mm(place[None], striker.shape.height_mm)[0]
            fit = self._tracker.finder.try_at(image, striker, guess, np.zeros(2))
            if fit is not None and fit.gain > _CLEAR * striker.usual_gain and self._tracker.finder.is_free(striker, fit.axis_mm, t_s):
                return fit.axis_mm
        return None

    def _take_up(self, image: Image, track: Track, islands: tuple[tuple[float, float], ...], t_s: float) -> _Guess | None:
        """A disc lost under way may be one of the changed places that nothing explains."""
        if track.look is None:
            return None
        for island in islands[:_MOST_ISLANDS]:
            middle = np.array(island) * SHRINK + (SHRINK - 1) / 2
            for place in around(self._scene, track.look, middle, _BESIDE_PX):
                guess = self._camera.to_mm(place[None], track.shape.height_mm)[0]
                velocity = way_to(track, guess, t_s)
                fit = self._tracker.finder.try_at(image, track, guess, velocity)
                moves = bool(velocity.any())
                least = _MOVING_GAIN if moves else _STILL_GAIN
                if fit is None or fit.gain < least * track.usual_gain or not self._tracker.finder.is_free(track, fit.axis_mm, t_s):
                    continue
                if not moves:
                    return _Guess(track.kind, fit.axis_mm)
                self._tracker.recover(track, fit.axis_mm, t_s, velocity)
                return None
        return None
