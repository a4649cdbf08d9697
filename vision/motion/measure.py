"""Exact places of discs that have come to rest, by the still picture's own fit; one disc at a time, so that no frame waits long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from rules.facts import Disc
from vision.discs.fit import Neighbour, fit_disc
from vision.motion.track import Track

_NEAR_MM: Final = 62.0  # discs whose axes are further apart share no pixel of a patch
_BELIEVED_MM: Final = 3.0  # the follower is right to a millimetre; a fit farther away has slipped onto something else
_MOVED_MM: Final = 0.25  # a disc whose follower's place shifts by this much is measured again: touched pieces count from 1 mm
_FLOOR_MM: Final = 0.15  # lens, pose and height tolerances that the fit's own scatter does not know of


def measure_rest(image: NDArray[np.uint8], camera: Camera, track: Track, others: Iterable[Track]) -> bool:
    """Measure a disc at rest near where it is followed; False where the fit is not to be believed and the track is kept."""
    near = [
        Neighbour(float(o.at_mm[0]), float(o.at_mm[1]), o.kind)
        for o in others
        if o is not track and o.state in ("rest", "active") and float(np.hypot(*(o.at_mm - track.at_mm))) < _NEAR_MM
    ]
    fit = fit_disc(image, camera, float(track.at_mm[0]), float(track.at_mm[1]), track.kind, near)
    if fit is None or not np.isfinite([fit.x_mm, fit.y_mm, fit.sigma_mm]).all():
        return False
    found = np.array([fit.x_mm, fit.y_mm])
    if float(np.hypot(*(found - track.at_mm))) > _BELIEVED_MM:
        return False
    track.at_mm = found
    track.sigma_mm = float(np.hypot(fit.sigma_mm, _FLOOR_MM))
    return True


class Measurer:
    """Remembers which discs have been measured where."""

    def __init__(self, camera: Camera) -> None:
        self._camera = camera
        self._done: dict[str, NDArray[np.float64]] = {}

    def forget(self, name: str | None = None) -> None:
        """Forget one disc's measurement, or all."""
        if name is None:
            self._done = {}
        else:
            self._done.pop(name, None)

    def measure(self, image: NDArray[np.uint8], track: Track, others: Iterable[Track]) -> None:
        """Measure one disc at rest."""
        measure_rest(image, self._camera, track, others)
        self._done[track.id] = track.at_mm.copy()

    def one(self, image: NDArray[np.uint8], ripe: Iterable[Track], others: Sequence[Track], before: Sequence[Disc]) -> bool:
        """Measure the first of the discs at rest that needs it; False when none does."""
        for track in ripe:
            last = self._done.get(track.id)
            if last is not None and float(np.hypot(*(track.at_mm - last))) < _MOVED_MM:
                continue
            if last is None and track.rest_seen_mm is not None and not _has_moved(track, before):
                continue
            self.measure(image, track, others)
            return True
        return False


def _has_moved(track: Track, before: Sequence[Disc]) -> bool:
    """Whether the follower saw a disc away from its place at rest; if not, the place measured before stands."""
    rest = track.rest_seen_mm
    if rest is None or not track.sightings:
        return False
    last = track.sightings[-1]
    if float(np.hypot(last.x_mm - rest[0], last.y_mm - rest[1])) >= _MOVED_MM:
        return True
    known = next((d for d in before if d.id == track.id), None)
    if known is not None:
        track.at_mm = np.array([known.x_mm, known.y_mm])
    return False
