"""The camera's picture for people: a small one of the places where pieces are to be laid, twice a second, only while that is so.

Made in a thread of its own from the newest frame left for it; the frame path hands over a reference and goes on. A judge may ask for the
whole table for a while. The picture travels on MQTT as all that pages know, so that every board of every broker has it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from calibration.above import from_above
from calibration.camera import Camera
from device import topics
from device.images import as_jpeg, smaller
from device.sources.frame import Frame
from rules.facts import Picture, SeenDiscs
from rules.fold import State
from rules.places import not_in_place
from rules.ruling import Place
from rules.table import HALF_MM, PIECE_THICKNESS_MM, RAIL_WIDTH_MM
from vision.motion.in_hand import find_held
from vision.motion.scene import Mask

_log = logging.getLogger(__name__)

INTERVAL_NS: Final = 500_000_000  # two pictures a second show where a hand goes
SIDE_PX: Final = 480  # sharp on a phone, and on a television at arm's length of what the camera sees
QUALITY: Final = 72  # per cent, JPEG: 12-45 kB a picture
ASKED_S: Final = 60.0  # for how long a judge's wish holds
WHOLE_MM: Final = HALF_MM + RAIL_WIDTH_MM
AROUND_MM: Final = 110.0  # shown around the places: a hand with a piece is seen to come
LEAST_MM: Final = 130.0  # half of the smallest picture: closer up the camera shows no more


@dataclass(frozen=True, slots=True)
class _Job:
    """One frame to be shown, and what is known of the table in it."""

    frame: Frame
    seen: SeenDiscs
    hands: Mask | None
    places: tuple[Place, ...]


class LiveView:
    """One table's picture. `offer` and `ask` never wait."""

    def __init__(self, camera: Camera, publish: topics.Publish, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._camera = camera
        self._publish = publish
        self._clock_s = clock_s
        self._asked_until_s = 0.0
        self._shown_ns: int | None = None
        self._changed = threading.Condition()
        self._next: _Job | None = None
        self._is_wanted = self._is_shown = self._closing = False
        self._thread = threading.Thread(target=self._run, name="live view", daemon=True)

    def start(self) -> None:
        """Begin to wait for frames."""
        self._thread.start()

    def ask(self, *, show: bool) -> None:
        """A judge wants to see the table for a while, or no longer."""
        self._asked_until_s = self._clock_s() + ASKED_S if show else 0.0

    def offer(self, frame: Frame, seen: SeenDiscs, hands: Mask | None, state: State | None) -> None:
        """Leave a frame with what is seen in it; one that is not wanted, comes too soon or finds the last one waiting costs nothing."""
        places = _open_places(state, seen)
        wanted = bool(places) or self._clock_s() < self._asked_until_s
        if wanted and self._shown_ns is not None and 0 <= frame.t_ns - self._shown_ns < INTERVAL_NS:
            return
        if not wanted and not self._is_wanted:
            return
        self._shown_ns = frame.t_ns if wanted else None
        with self._changed:
            self._is_wanted = wanted
            self._next = _Job(frame, seen, hands, places) if wanted else None
            self._changed.notify()

    def close(self) -> None:
        """No more pictures."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._closing:
            with self._changed:
                self._changed.wait_for(self._has_work)
                job, self._next = self._next, None
            if job is not None and not self._closing:
                self._show(job)
            elif self._is_shown:
                self._show(None)
            self._is_shown = job is not None

    def _has_work(self) -> bool:
        return self._closing or self._next is not None or (self._is_shown and not self._is_wanted)

    def _show(self, job: _Job | None) -> None:
        try:
            picture = Picture() if job is None else picture_of(job.frame, self._camera, job.seen, job.hands, job.places)
            self._publish(topics.PICTURE, picture)
        except Exception:
            # A fault of ours costs a picture; refereeing does not hang on it.
            _log.exception("the table could not be shown")


def picture_of(frame: Frame, camera: Camera, seen: SeenDiscs, hands: Mask | None, places: Sequence[Place]) -> Picture:
    """The picture around the places, or of the whole table where there are none; `hands` where hands are over it."""
    (x_mm, y_mm), half_mm = _square(places)
    px_per_mm = SIDE_PX / (2 * half_mm)
    factor = max(1, int(camera.px_per_mm(x_mm, y_mm, PIECE_THICKNESS_MM) / px_per_mm))
    view = from_above(smaller(frame.image, factor), camera, (x_mm, y_mm), px_per_mm, (SIDE_PX, SIDE_PX), PIECE_THICKNESS_MM, factor=factor)
    held = None
    if places and hands is not None:
        held = find_held(frame.image, camera, [place.kind for place in places], (x_mm, y_mm), half_mm, seen.discs, hands)
    return Picture(x_mm=x_mm, y_mm=y_mm, half_mm=half_mm, jpeg=as_jpeg(view, QUALITY), held=held, t_s=frame.t_ns / 1e9)


def _open_places(state: State | None, seen: SeenDiscs) -> tuple[Place, ...]:
    """Where no piece lies at rest and right, so far as is seen."""
    if state is None or state.core.over is not None or not state.core.set.awaiting:
        return ()
    lying = [disc for disc in seen.discs if disc.at_rest is not False]
    return tuple(not_in_place(state.core.set.awaiting, lying, sigmas=0.0))


def _square(places: Sequence[Place]) -> tuple[tuple[float, float], float]:
    """Middle and half side of what is shown, mm."""
    if not places:
        return (0.0, 0.0), WHOLE_MM
    low = [min(getattr(place, axis) for place in places) for axis in ("x_mm", "y_mm")]
    high = [max(getattr(place, axis) for place in places) for axis in ("x_mm", "y_mm")]
    half_mm = max(LEAST_MM, *((b - a) / 2 + AROUND_MM for a, b in zip(low, high, strict=True)))
    if half_mm >= WHOLE_MM:
        return (0.0, 0.0), WHOLE_MM
    # What lies beyond the rails is nothing to look at.
    limit = WHOLE_MM - half_mm
    x_mm, y_mm = (round(min(max((a + b) / 2, -limit), limit), 1) for a, b in zip(low, high, strict=True))
    return (x_mm, y_mm), half_mm
