"""From frames and rulings to evidence: catches frames in a thread of its own, and has takes developed in another.

The frame path leaves a frame in a bounded queue and goes on; the referee asks whether a ruling will have a clip, names it in the log,
and goes on. What could not be caught or kept is counted, and said on `evidence` and in `health`.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from calibration.camera import Camera
from device.evidence.darkroom import Announce, DarkRoom
from device.evidence.film import Film, Lens, Order, Take, UnderWay
from device.evidence.moment import deciding, span_s
from device.evidence.record import Ground
from device.evidence.shelf import Shelf
from device.sources.frame import Frame
from device.storage.match_log import LogLine, Reason
from rules.facts import Incident, Stroke
from rules.ruling import Ruling
from rules.table import Side

_log = logging.getLogger(__name__)

WAITING_FRAMES: Final = 3  # 50 ms at 60 frames a second; each is a whole picture in memory (4.8 MB)
LATE_S: Final = 1.0  # at Ctrl-C people and systemd wait for no film longer than that
_PATIENCE_S: Final = 600.0  # a recording waits for its film, but not for ever
_POLL_S: Final = 0.01

_Caught = tuple[Frame, UnderWay, bool]  # and whether something happened on the table


@dataclass(frozen=True, slots=True)
class Booking:
    """What the log says of a ruling's evidence: its name, or why there is none."""

    name: str | None = None
    missing: Reason | None = None


class Recorder:
    """Films one table. `patient`: a recording waits for its film, a camera never does."""

    def __init__(self, shelf: Shelf, camera: Camera, table: str, announce: Announce, *, patient: bool = False) -> None:
        self._shelf = shelf
        self._patient = patient
        self._dark_room = DarkRoom(shelf, camera, table, announce)
        self._film = Film(self._dark_room.take)
        self._frames: queue.Queue[_Caught | None] = queue.Queue(WAITING_FRAMES)
        self._catcher = threading.Thread(target=self._catch, name="film", daemon=True)
        self._closing = threading.Event()
        self.dropped = 0

    def start(self) -> None:
        """Begin to film. Raises what `Shelf.claim` raises."""
        self._shelf.claim()
        self._dark_room.start()
        self._catcher.start()

    def offer(self, frame: Frame, moving: UnderWay, *, busy: bool) -> None:
        """Leave a frame; `busy`: something happens on the table. A camera's frame that finds no room is counted, never waited for."""
        try:
            self._frames.put((frame, moving, busy), block=self._patient, timeout=_PATIENCE_S)
        except queue.Full:
            self.dropped += 1

    def book(self, fact: Stroke | Incident, ruling: Ruling) -> Booking:
        """Whether there will be a clip of this; asked before the log is written."""
        if not self._film.holds(round(deciding(fact, ruling).t_s * 1e9)):
            return Booking(missing="no_frames")
        deadline_s = time.monotonic() + (_PATIENCE_S if self._patient else 0.0)
        while self._film.is_full or self._dark_room.is_behind:
            if time.monotonic() >= deadline_s or self._closing.is_set():
                return Booking(missing="behind")
            time.sleep(_POLL_S)
        return Booking(name=self._shelf.new_name())

    def keep(self, name: str, line: LogLine, fact: Stroke | Incident, ruling: Ruling, names: dict[Side, str]) -> None:
        """The ruling is in the log under this name: cut its take."""
        point = deciding(fact, ruling)
        start_s, end_s = span_s(fact, point.t_s)
        self._dark_room.expect(name)
        order = Order(name, line, fact, ruling, {str(side): player for side, player in names.items()}, point)
        self._film.cut(Take(round(start_s * 1e9), round(end_s * 1e9), order))

    def recall(self, lines: Iterable[LogLine]) -> None:
        """What the log names from before: a piece that never got onto the shelf is told as missing."""
        for line in lines:
            self._dark_room.recall(line)

    def lacks(self, reason: Reason) -> None:
        """A ruling has no clip, for this reason."""
        self._dark_room.lacks(reason)

    def correct(self, name: str, ground: Ground | None, ruling: Ruling | None) -> None:
        """A judge has edited the entry that this is evidence of."""
        self._dark_room.correct(name, ground, ruling)

    def decided(self, name: str) -> None:
        """The review that this is evidence of has been decided."""
        self._dark_room.decided(name)

    def hold(self, name: str, by: str | None, *, keep: bool, done: Callable[[bool], None]) -> None:
        """A judge wants a piece kept, or no longer."""
        self._dark_room.hold(name, by, keep=keep, done=done)

    def figures(self) -> dict[str, Any]:
        """For the `health` topic."""
        room = self._dark_room
        return {
            **room.holding,
            "kept": room.kept,
            "missing": dict(room.missing),
            "dropped_frames": self.dropped,
            "waiting": room.waiting,
            "memory_mb": round(self._film.bytes_held / 1e6, 1),
        }

    def end(self, *, hurry: bool) -> None:
        """No more frames come: open takes are complete as they are; in a hurry nobody waits for another. Safe to call twice."""
        if hurry:
            self._closing.set()
        with contextlib.suppress(queue.Full):
            self._frames.put(None, timeout=LATE_S if hurry else _PATIENCE_S)
        self._catcher.join(LATE_S if hurry else _PATIENCE_S)
        self._film.end()

    def close(self, wait_s: float | None) -> None:
        """Develop what is complete, for at most `wait_s` seconds (None: however long it takes)."""
        started_s = time.monotonic()
        self.end(hurry=wait_s is not None)
        self._dark_room.close(None if wait_s is None else max(0.0, wait_s - (time.monotonic() - started_s)))
        self._shelf.release()

    def _catch(self) -> None:
        lens = Lens()
        before: _Caught | None = None
        while (caught := self._frames.get()) is not None:
            frame, moving, _ = caught
            try:
                if before is not None and _is_news(before, caught):
                    self._film.add_sharp(lens.sharp(before[0], before[1]))
                    self._film.add_sharp(lens.sharp(frame, moving))
                self._film.add(lens.small(frame, moving))
            except Exception:
                # A fault of ours costs a frame; the rest of the day is filmed all the same.
                self.dropped += 1
                _log.exception("a frame was not caught")
            before = caught


def _is_news(before: _Caught, now: _Caught) -> bool:
    """Something begins, ends, or is set going: what it looked like just before and just after is worth its full size."""
    known = {disc[0] for disc in before[1]}
    return now[2] != before[2] or any(disc[0] not in known for disc in now[1])
