"""Exact places of discs that have come to rest, by the still picture's own fit; a few steps a frame, so that no frame waits long.

The same fit says whether a disc is there at all. A follower compares with the table as it was and is fooled by hands, shadows and badly
filled places; the solid's own edges are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from rules.facts import Disc
from rules.table import Kind, radius_mm
from vision.discs.eyes import Opinion, eyes
from vision.discs.fit import NEAR_MM, Fit, Neighbour, Steps, fit_in_steps
from vision.discs.fuse import Place, fuse
from vision.discs.kinds import wood_light
from vision.discs.topview import view_from_above
from vision.motion.track import SAME_MM, Track

_BELIEVED_MM: Final = 3.0  # the follower is right to a millimetre; a fit farther away has slipped onto something else
_MOVED_MM: Final = 0.25  # a disc whose follower's place shifts by this much is measured again: touched pieces count from 1 mm
_FLOOR_MM: Final = 0.15  # lens, pose and height tolerances that the fit's own scatter does not know of
DOUBTFUL_MM: Final = 2.0  # sigma of a disc that was followed here and whose fit is not to be believed
# A solid whose edges lie on edges of the picture is sharp to 0.04-0.12 mm at 1.1 mm a pixel, whatever its paint, a striker to 0.09; on
# bare table, hands and cloth the sharpest of a hundred places is at 0.13.
_SHARP_MM: Final = {"striker": 0.105, "red": 0.125, "black": 0.125}
_SHARP_AT_MM_PER_PX: Final = 1.1
_LESS_SHARP: Final = 1.4  # times as blurred, with a cue across it, a disc may be one if the network is sure of it
_SURE_DISC: Final = 0.9  # the network's probability for that
_LEAST_HOLE: Final = 0.8  # contrast of the hole in sigmas of a pixel; the dullest black piece shows 1.1
_STEPS_A_FRAME: Final = 2  # of the fit, 3-5 ms each: with what a frame costs anyway they stay under a frame's 16 ms
_WOOD_FRAMES: Final = 600  # lamps and daylight change slowly: how light the wood is need not be looked at more often
_WAVERS_MM: Final = 0.5  # a follower's place at rest wavers by less
_SHRINK: Final = 4  # what is compared between frames: noise of a quarter-size picture is about one grey level
_ANOTHER_LEVELS: Final = 5.0  # mean change, a lamp's flicker taken out, from which a place no longer looks as it did


@dataclass(frozen=True, slots=True)
class Answer:
    """What a closer look says: whether a disc is there, where and how surely, mm, and its kind where the network knows it better."""

    shows: bool
    at_mm: NDArray[np.float64]
    sigma_mm: float
    kind: Kind | None = None


@dataclass(slots=True)
class _Job:
    question: str
    at_mm: NDArray[np.float64]
    image: NDArray[np.uint8]  # the frame that is looked at; by the time of the answer there may be another picture
    steps: Steps
    asked: int


class Measurer:
    """Looks closely at one place at a time, a few steps of the fit each frame; remembers which discs have been measured where."""

    def __init__(self, camera: Camera, tracks: Mapping[str, Track]) -> None:
        self._camera = camera
        self._tracks = tracks
        self._done: dict[str, NDArray[np.float64]] = {}
        self._coarser = 1 / (_SHARP_AT_MM_PER_PX * camera.px_per_mm(0.0, 0.0))
        self._job: _Job | None = None
        self._frame = 0
        self._left = _STEPS_A_FRAME
        self._wood: NDArray[np.float64] | None = None
        self._wood_at = 0

    def next_frame(self) -> None:
        """A new frame has its own share of work."""
        self._frame += 1
        self._left = _STEPS_A_FRAME
        if self._job is not None and self._frame - self._job.asked > 1:
            self._job = None  # nobody wants to know any more

    def forget(self, name: str | None = None) -> None:
        """Forget one disc's measurement, or all."""
        if name is None:
            self._done = {}
        else:
            self._done.pop(name, None)

    def look(
        self, question: str, image: NDArray[np.uint8], kind: Kind, at_mm: NDArray[np.float64], but: str = "", *, wait: bool = False
    ) -> Answer | None:
        """Whether the picture shows a disc of this kind at a place (2,) mm, by its own edges; None while that is being looked at.

        To be asked again each frame with the same `question` until it is answered. `but`: the track that it may be. `wait`: now.
        """
        job = self._job
        if job is None or (job.question == question and float(np.hypot(*(job.at_mm - at_mm))) > _WAVERS_MM):
            steps = fit_in_steps(image, self._camera, float(at_mm[0]), float(at_mm[1]), kind, self._near(at_mm, but))
            job = self._job = _Job(question, at_mm.copy(), image, steps, self._frame)
        elif job.question != question:
            if not wait:
                return None
            self._job = None
            return self.look(question, image, kind, at_mm, but, wait=True)
        job.asked = self._frame
        while wait or self._left > 0:
            self._left -= 1
            try:
                next(job.steps)
            except StopIteration as done:
                self._job = None
                if self._has_changed(job, image, kind):
                    return None  # what stood there may have gone meanwhile: asked again, it is looked at anew
                return self._answer(image, done.value, kind, job.at_mm)
        return None

    def _has_changed(self, job: _Job, image: NDArray[np.uint8], kind: Kind) -> bool:
        """Whether a place has changed since the look at it began."""
        if image is job.image:
            return False
        reach = 1.3 * radius_mm(kind)
        (x, y), scale = self._camera.to_px(np.array([[*job.at_mm, 0.0]]))[0], self._camera.px_per_mm(*job.at_mm)
        rows, columns = (slice(max(int(c - reach * scale), 0), max(int(c + reach * scale) + 1, 0)) for c in (y, x))
        then, now = (picture[rows, columns] for picture in (job.image, image))
        if min(then.shape[:2]) < _SHRINK:
            return False
        small = (max(then.shape[1] // _SHRINK, 1), max(then.shape[0] // _SHRINK, 1))
        change = np.subtract(*(cv2.resize(part, small, interpolation=cv2.INTER_AREA).astype(np.float64) for part in (now, then)))
        return float(np.abs(change - change.mean(axis=(0, 1))).mean()) > _ANOTHER_LEVELS

    def measure(self, image: NDArray[np.uint8], track: Track, *, wait: bool = False) -> bool | None:
        """Measure one disc at rest near where it is followed; False where the picture does not show it there; None while at it."""
        answer = self.look(f"measure {track.id}", image, track.kind, track.at_mm, track.id, wait=wait)
        if answer is None:
            return None
        self.remember(track, answer)
        return answer.shows

    def remember(self, track: Track, answer: Answer) -> None:
        """A disc that a closer look has found need not be measured again."""
        track.at_mm, track.sigma_mm = answer.at_mm, answer.sigma_mm
        self._done[track.id] = track.at_mm.copy()

    def next(self, ripe: Iterable[Track], before: Sequence[Disc]) -> Track | None:
        """The first of the discs at rest that needs to be measured; one that is being measured comes first."""
        waiting = [track for track in ripe if self._is_wanted(track, before)]
        job = self._job
        begun = [track for track in waiting if job is not None and job.question == f"measure {track.id}"]
        return next(iter(begun or waiting), None)

    def _is_wanted(self, track: Track, before: Sequence[Disc]) -> bool:
        last = self._done.get(track.id)
        if last is not None:
            return float(np.hypot(*(track.at_mm - last))) >= _MOVED_MM
        return track.rest_seen_mm is None or track.partly or _has_moved(track, before)

    def _near(self, at_mm: NDArray[np.float64], but: str) -> list[Neighbour]:
        return [
            Neighbour(float(o.at_mm[0]), float(o.at_mm[1]), o.kind)
            for o in self._tracks.values()
            if o.id != but and o.on_table and SAME_MM < float(np.hypot(*(o.at_mm - at_mm))) < NEAR_MM
        ]

    def _answer(self, image: NDArray[np.uint8], fit: Fit | None, kind: Kind, at_mm: NDArray[np.float64]) -> Answer:
        """What a fit says, with the network's opinion where there is a network: a millisecond beside the fit's fifty."""
        none = Answer(shows=False, at_mm=at_mm, sigma_mm=DOUBTFUL_MM)
        if fit is None or not np.isfinite([fit.x_mm, fit.y_mm, fit.sigma_mm]).all():
            return none
        away, limit = float(np.hypot(fit.x_mm - at_mm[0], fit.y_mm - at_mm[1])), _SHARP_MM[kind] * self._coarser
        if away > _BELIEVED_MM or fit.sharp_mm > _LESS_SHARP * limit or fit.hole < _LEAST_HOLE:
            return none
        place = Place(fit.x_mm, fit.y_mm, float(np.hypot(fit.sigma_mm, _FLOOR_MM)))
        opinion = self._opinion(image, kind, place)
        if fit.sharp_mm > limit and (opinion is None or opinion.disc < _SURE_DISC):
            return none
        if opinion is not None:
            place, kind = fuse(place, opinion), opinion.colour(kind)
        return Answer(shows=True, at_mm=np.array([place.x_mm, place.y_mm]), sigma_mm=place.sigma_mm, kind=kind)

    def _opinion(self, image: NDArray[np.uint8], kind: Kind, place: Place) -> Opinion | None:
        network = eyes()
        if network is None:
            return None
        if self._wood is None or self._frame - self._wood_at > _WOOD_FRAMES:
            self._wood, self._wood_at = wood_light(view_from_above(image, self._camera)), self._frame
        return network.look(image, self._camera, np.array([[place.x_mm, place.y_mm]]), [kind], self._wood)[0]


def _has_moved(track: Track, before: Sequence[Disc]) -> bool:
    """Whether the follower saw a disc away from its place at rest; if not, the place measured before stands."""
    rest = track.rest_seen_mm
    if rest is None or not track.sightings:
        return False
    last = track.sightings[-1]
    if float(np.hypot(last.x_mm - rest[0], last.y_mm - rest[1])) >= _MOVED_MM:
        return True
    known = next((d for d in before if d.id == track.id), None)
    if known is None:
        return False
    place = np.array([known.x_mm, known.y_mm])
    if float(np.hypot(*(place - rest))) > _BELIEVED_MM:
        return True  # put down elsewhere meanwhile
    track.at_mm = place
    return False
