"""Which discs there are: found once in a still picture when the table is first looked at, and again where an arm lay over it then."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from rules.facts import SeenDisc, SeenDiscs
from vision.motion.identity import new_id
from vision.motion.track import SAME_MM, Track
from vision.motion.tracks import Tracker

Image = NDArray[np.uint8]
Detector = Callable[[Image, Camera], SeenDiscs]


class Inventory:
    """Takes discs from still pictures into the list of those that are followed; each is named once."""

    def __init__(self, camera: Camera, tracker: Tracker, detector: Detector) -> None:
        self._camera = camera
        self._tracker = tracker
        self._detect = detector

    def take(self, image: Image) -> None:
        """The first look at a table: everything that is found is new."""
        for disc in self._detect(image, self._camera).discs:
            self._add(disc)

    def complete(self, image: Image) -> None:
        """A second look, at rest: what was not known to lie there has been hidden, or was lost sight of and gets its name back."""
        tracks = self._tracker.tracks
        for disc in self._detect(image, self._camera).discs:
            at_mm = np.array([disc.x_mm, disc.y_mm])
            if any(t.on_table and _away_mm(t, at_mm) < SAME_MM for t in tracks.values()):
                continue
            lost = [t for t in tracks.values() if t.kind == disc.kind and t.state == "lost"]
            if lost:
                min(lost, key=lambda t: _away_mm(t, at_mm)).lie_at(at_mm)
            elif disc.kind != "striker" or not any(t.kind == "striker" for t in tracks.values()):
                self._add(disc)

    def _add(self, disc: SeenDisc) -> None:
        name = new_id(disc.kind, self._tracker.tracks)
        self._tracker.tracks[name] = Track(name, disc.kind, np.array([disc.x_mm, disc.y_mm]), disc.sigma_mm)


def _away_mm(track: Track, at_mm: NDArray[np.float64]) -> float:
    return float(np.hypot(*(track.at_mm - at_mm)))
