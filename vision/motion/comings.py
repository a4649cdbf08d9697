"""Discs that come onto the table or turn up again: put down by a hand, found beside an arm, or lost under way and seen once more.

Whatever looks like one is believed only when the picture shows the solid's own edges there, or when it goes on as a free disc does.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from rules.table import Kind
from vision.motion.arrivals import ArrivalFinder
from vision.motion.hands import Foreign
from vision.motion.identity import new_id
from vision.motion.leaving import is_falling
from vision.motion.measure import Measurer
from vision.motion.scene import SHRINK, Scene
from vision.motion.search import candidates
from vision.motion.track import Track, way_to
from vision.motion.tracks import Tracker

Array = NDArray[np.float64]
Image = NDArray[np.uint8]

_STILL_S: Final = 0.04  # the picture has stood still for this long: a hand that puts something down rests for a moment
_LOOK_FRAMES: Final = 6  # a striker that was put down unseen is looked for ten times a second
_JUST_LOST: Final = 6  # frames; the hardest stroke has crossed the table by then
_BESIDE_PX: Final = 40.0  # how far outside the arm's own box a striker is looked for: a striker's width
_MOST_ISLANDS: Final = 3  # changed places tried for a lost disc in one frame
_CLEAR: Final = 0.9  # of a disc's usual gain, from which a still disc beside a hand is worth a closer look
_STILL_GAIN: Final = 0.8  # of a disc's usual gain where it stands still
_MOVING_GAIN: Final = 0.65  # and where it moves: its smear is known roughly


class Comings:
    """Looks for one disc a frame; what it finds is taken into the tracker."""

    def __init__(self, camera: Camera, scene: Scene, tracker: Tracker, measurer: Measurer) -> None:
        self._camera = camera
        self._scene = scene
        self._tracker = tracker
        self._measurer = measurer
        self._finder = ArrivalFinder(camera, scene, self._shows)
        self._frames = 0

    def forget(self) -> None:
        """The table was taken as it is: nothing is new any more."""
        self._finder.forget()

    def look(self, image: Image, foreign: Foreign, still_for_s: float, t_s: float, *, struck: bool) -> Track | None:
        """The disc that has come to stand on the table in this frame, if any. `struck`: the striker is known to be under way."""
        self._frames += 1
        striker = self.striker
        wanted: tuple[Kind, ...] = ("striker", "red", "black")
        if striker is not None and self._is_seen(striker, t_s):
            wanted = ("red", "black")
        self._learn_left(image, still_for_s)
        arrival = self._finder.find(image, foreign.islands, wanted)
        if arrival is not None:
            return self._take_in(arrival.kind, arrival.fit.axis_mm, image, t_s, struck=struck)
        if striker is None or self._is_seen(striker, t_s):
            return None
        if foreign.side is not None and still_for_s > _STILL_S and self._frames % _LOOK_FRAMES == 0:
            place = self._beside_arm(image, striker, t_s)
            if place is not None:
                return self._take_in("striker", place, image, t_s, struck=False)
        just_lost = striker.missed <= _JUST_LOST and not striker.covered
        if striker.state in ("lost", "active") and striker.missed and (struck or just_lost):
            self._take_up(image, striker, foreign.islands, t_s)
        return None

    @property
    def striker(self) -> Track | None:
        """The striker's track, wherever it is."""
        return next((t for t in self._tracker.tracks.values() if t.kind == "striker"), None)

    def _learn_left(self, image: Image, still_for_s: float) -> None:
        """What was under a disc that has been taken away: seen free, it is the table from now on, not a change that nothing explains."""
        if still_for_s < _STILL_S:
            return
        for track in self._tracker.tracks.values():
            if track.state != "lost" or track.learned or track.left is None or self._tracker.is_beside_arm(track.left):
                continue
            track.learned = True
            if not self._measurer.shows(image, track.kind, track.left.axis_mm, track.id):
                self._scene.learn(image, track.left)
            return

    def _shows(self, image: Image, kind: Kind, at_mm: Array) -> bool:
        return self._measurer.shows(image, kind, at_mm)

    def _is_seen(self, track: Track, t_s: float) -> bool:
        """Whether a disc was where it is known to be in the frame at hand."""
        return track.state == "rest" or (track.state == "active" and track.t_s == t_s and not track.missed and not track.hidden)

    def _take_in(self, kind: Kind, at_mm: Array, image: Image, t_s: float, *, struck: bool) -> Track | None:
        """A disc was put on the table: one that was lost, or else a new one."""
        tracks = self._tracker.tracks
        known = [t for t in tracks.values() if t.kind == kind and not self._is_seen(t, t_s)]
        usable = sorted((t for t in known if t.state != "gone"), key=lambda t: float(np.hypot(*(t.at_mm - at_mm))))
        usable = usable or [t for t in known if t.kind == "striker"]
        if any(is_falling(t, at_mm, t_s) for t in known):
            return None
        if usable and usable[0].sightings and struck:
            self._tracker.recover(usable[0], at_mm, t_s)
            return usable[0]
        if usable:
            track = usable[0]
        else:
            name = new_id(kind, tracks)
            track = tracks[name] = Track(name, kind, at_mm)
        track.carried = track.state != "active"
        track.state, track.pocket, track.missed, track.hidden = "active", None, 0, False
        track.at_mm, track.t_s = at_mm, t_s
        self._tracker.settle_one(track, image, t_s)
        self._measurer.forget(track.id)
        return track

    def _beside_arm(self, image: Image, striker: Track, t_s: float) -> Array | None:
        """Where a striker that nobody followed lies under or beside the arm that may have put it down; None where none stands clear."""
        ys, xs = np.nonzero(self._tracker.cover & self._scene.surface)
        if striker.look is None or not len(xs):
            return None
        low, high = np.array([xs.min(), ys.min()]), np.array([xs.max(), ys.max()])
        middle = (low + high) / 2 * SHRINK
        for place in candidates(self._scene, striker.look, middle, float((high - low).max()) / 2 * SHRINK + _BESIDE_PX):
            guess = self._camera.to_mm(place[None], striker.shape.height_mm)[0]
            fit = self._tracker.try_at(image, striker, guess, np.zeros(2))
            if fit is None or fit.gain < _CLEAR * striker.usual_gain or not self._tracker.is_free(striker, fit.axis_mm, t_s):
                continue
            return fit.axis_mm if self._measurer.shows(image, "striker", fit.axis_mm, striker.id) else None
        return None

    def _take_up(self, image: Image, track: Track, islands: tuple[tuple[float, float], ...], t_s: float) -> None:
        """A disc lost under way may be one of the changed places that nothing explains."""
        if track.look is None:
            return
        for island in islands[:_MOST_ISLANDS]:
            middle = np.array(island) * SHRINK + (SHRINK - 1) / 2
            for place in candidates(self._scene, track.look, middle, _BESIDE_PX):
                guess = self._camera.to_mm(place[None], track.shape.height_mm)[0]
                velocity = way_to(track, guess, t_s)
                fit = self._tracker.try_at(image, track, guess, velocity)
                moves = bool(velocity.any())
                least = _MOVING_GAIN if moves else _STILL_GAIN
                if fit is None or fit.gain < least * track.usual_gain or not self._tracker.is_free(track, fit.axis_mm, t_s):
                    continue
                if moves or self._measurer.shows(image, track.kind, fit.axis_mm, track.id):
                    self._tracker.recover(track, fit.axis_mm, t_s, velocity)
                    return
