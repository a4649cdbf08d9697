"""Exact places of discs that have come to rest, by the still picture's own fit; one disc at a time, so that no frame waits long.

The same fit says whether a disc is there at all. A follower compares with the table as it was and is fooled by hands, shadows and badly
filled places; the solid's own edges are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from rules.facts import Disc
from rules.table import Kind
from vision.discs.fit import Fit, Neighbour, fit_disc
from vision.motion.track import Track

_NEAR_MM: Final = 62.0  # discs whose axes are further apart share no pixel of a patch
_SAME_MM: Final = 15.0  # what is thought to lie nearer than a piece's radius is not beside this disc, but mistaken for it
_BELIEVED_MM: Final = 3.0  # the follower is right to a millimetre; a fit farther away has slipped onto something else
_MOVED_MM: Final = 0.25  # a disc whose follower's place shifts by this much is measured again: touched pieces count from 1 mm
_FLOOR_MM: Final = 0.15  # lens, pose and height tolerances that the fit's own scatter does not know of
DOUBTFUL_MM: Final = 2.0  # sigma of a disc that was followed here and whose fit is not to be believed
# A solid whose edges lie on edges of the picture is sharp to 0.04-0.12 mm at 1.1 mm a pixel, whatever its paint; on bare table, hands and
# cloth 0.13 mm is passed by the sharpest of a hundred.
_SHARP_MM: Final = 0.125
_SHARP_AT_MM_PER_PX: Final = 1.1
_LEAST_HOLE: Final = 0.8  # contrast of the hole in sigmas of a pixel; the dullest black piece shows 1.1
_SHOW_STEPS: Final = 8  # enough to tell whether a disc is there
_SHOW_CONVERGED_MM: Final = 0.05  # the same


class Measurer:
    """Remembers which discs have been measured where, and where there was none."""

    def __init__(self, camera: Camera, tracks: Mapping[str, Track]) -> None:
        self._camera = camera
        self._tracks = tracks
        self._done: dict[str, NDArray[np.float64]] = {}
        self._sharp_mm = _SHARP_MM / (_SHARP_AT_MM_PER_PX * camera.px_per_mm(0.0, 0.0))

    def forget(self, name: str | None = None) -> None:
        """Forget one disc's measurement, or all."""
        if name is None:
            self._done = {}
        else:
            self._done.pop(name, None)

    def shows(self, image: NDArray[np.uint8], kind: Kind, at_mm: NDArray[np.float64], but: str = "") -> bool:
        """Whether the picture shows a disc of this kind at a place (2,) mm, by its own edges; `but` is the track that it may be."""
        near = self._near(at_mm, but)
        fit = fit_disc(
            image, self._camera, float(at_mm[0]), float(at_mm[1]), kind, near, steps=_SHOW_STEPS, converged_mm=_SHOW_CONVERGED_MM
        )
        return self._is_disc(fit, at_mm)

    def measure(self, image: NDArray[np.uint8], track: Track) -> bool:
        """Measure one disc at rest near where it is followed; False where the picture does not show it there, and it is left."""
        self._done[track.id] = track.at_mm.copy()
        fit = fit_disc(image, self._camera, float(track.at_mm[0]), float(track.at_mm[1]), track.kind, self._near(track.at_mm, track.id))
        if fit is None or not self._is_disc(fit, track.at_mm):
            track.sigma_mm = DOUBTFUL_MM
            return False
        track.at_mm = np.array([fit.x_mm, fit.y_mm])
        track.sigma_mm = float(np.hypot(fit.sigma_mm, _FLOOR_MM))
        self._done[track.id] = track.at_mm.copy()
        return True

    def next(self, ripe: Iterable[Track], before: Sequence[Disc]) -> Track | None:
        """The first of the discs at rest that needs to be measured."""
        for track in ripe:
            last = self._done.get(track.id)
            if last is not None and float(np.hypot(*(track.at_mm - last))) < _MOVED_MM:
                continue
            if last is None and track.rest_seen_mm is not None and not _has_moved(track, before):
                continue
            return track
        return None

    def _near(self, at_mm: NDArray[np.float64], but: str) -> list[Neighbour]:
        return [
            Neighbour(float(o.at_mm[0]), float(o.at_mm[1]), o.kind)
            for o in self._tracks.values()
            if o.id != but and o.state in ("rest", "active") and _SAME_MM < float(np.hypot(*(o.at_mm - at_mm))) < _NEAR_MM
        ]

    def _is_disc(self, fit: Fit | None, at_mm: NDArray[np.float64]) -> bool:
        if fit is None or not np.isfinite([fit.x_mm, fit.y_mm, fit.sigma_mm]).all():
            return False
        away = float(np.hypot(fit.x_mm - at_mm[0], fit.y_mm - at_mm[1]))
        return away < _BELIEVED_MM and fit.sharp_mm < self._sharp_mm and fit.hole > _LEAST_HOLE


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
