"""Watches whether the camera still hangs where it was calibrated, in a thread of its own, and says why rulings must stop."""

from __future__ import annotations

import queue
import threading
from typing import Final

from calibration.camera import Calibration, Camera
from calibration.drift import Covers, Drift, DriftWatch
from device.sources.frame import Frame
from vision.occluders import Occluders

_BESIDE_MM: Final = 10.0  # around an arm: its edge is told to a cell, and a line's profile reaches across
_EVERY_NS: Final = 1_000_000_000  # a bump is noticed within two seconds; each look costs some 50 ms of another core


class DriftGuard:
    """`offer` idle frames from the frame thread; `reason` is why rulings must stop, None while all is well."""

    def __init__(self, calibration: Calibration) -> None:
        self._watch = DriftWatch(calibration)
        self._camera = Camera(calibration)
        self._slot: queue.Queue[Frame | None] = queue.Queue(1)
        self._thread = threading.Thread(target=self._look, name="drift", daemon=True)
        self._last_ns: int | None = None
        self.reason: str | None = None
        self.drift: Drift | None = None

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def offer(self, frame: Frame) -> None:
        """A frame on which nothing moves; looked at once a second. Never waits."""
        if self._last_ns is not None and frame.t_ns - self._last_ns < _EVERY_NS:
            return
        try:
            self._slot.put_nowait(frame)
        except queue.Full:
            return
        self._last_ns = frame.t_ns

    def stop(self) -> None:
        """End after the look at hand."""
        self._slot.put(None)
        self._thread.join()

    def _look(self) -> None:
        while (frame := self._slot.get()) is not None:
            self.drift = self._watch.update(frame.image, frame.t_ns, self._covers(frame))
            self.reason = self._watch.must_stop(frame.t_ns)

    def _covers(self, frame: Frame) -> Covers | None:
        """What hides lines in a frame; None where the network can't be loaded: what is measured under an arm must then disagree."""
        network = Occluders.load()
        if network is None:
            return None
        cover = network.cover(frame.image, self._camera)
        return lambda points_mm: cover.hides(points_mm, _BESIDE_MM)
