"""The virtual table as a camera: the default source off the Pi, paced like a real one or as fast as it is read."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import msgspec

from calibration.lens import Lens
from device.sources.frame import Frame
from rules.facts import Match
from virtual_table import Look, Optics, VirtualTable


class VirtualSource:
    """`realtime`: frames come at their time and those the reader is too late for are lost, as with a camera (gaps in `seq`).

    `patient`: the players wait for a late reader instead, so that nothing is lost and time runs slower than it should.
    Without `realtime` every frame is handed out as soon as it is asked for. One reader; `ruled` and `close` may be called from any
    thread.
    """

    def __init__(
        self,
        seed: int = 0,
        width: int = 1456,
        height: int = 1088,
        fps: float = 60.0,
        exposure_s: float = 0.004,
        *,
        realtime: bool = True,
        patient: bool = False,
        wait_for_ruling: bool = True,
        look: Look | None = None,
        camera: Optics | None = None,
        sets: int = 5,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.table = VirtualTable(
            seed, width, height, fps, exposure_s, look=look, camera=camera, sets=sets, wait_for_ruling=wait_for_ruling
        )
        self.table.prepare()
        self._fps = fps
        self._realtime = realtime
        self._patient = patient
        self._clock = clock
        self._sleep = sleep
        self._started_s: float | None = None
        self._taken = 0
        self._closed = threading.Event()
        self.dropped = 0

    @property
    def name(self) -> str:
        """Shown to people."""
        return "virtual table"

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height of every frame."""
        return self.table.camera.width, self.table.camera.height

    @property
    def lens(self) -> Lens:
        """The lens that it is seen through."""
        return msgspec.convert(self.table.lens, Lens)

    @property
    def match(self) -> Match:
        """The match that is being played."""
        return msgspec.convert(self.table.match, Match)

    def ruled(self, ruling: dict[str, Any]) -> None:
        """Hand a `novuss.ruling/1` to the players: they lay out, put back and go on as it says."""
        self.table.ruled(ruling)

    def read(self) -> Frame | None:
        """Next frame, or None when the match is over or the source is closed."""
        if self._closed.is_set():
            return None
        if self._realtime:
            self._keep_time()
        frame = self.table.next_frame()
        if frame is None:
            return None
        self._taken = frame.seq + 1
        return Frame(frame.image, frame.t_ns, frame.seq, self.table.exposure_s, self.table.camera.readout_s)

    def close(self) -> None:
        """End it; safe to call twice."""
        self._closed.set()

    def _keep_time(self) -> None:
        now = self._clock()
        if self._started_s is None:
            self._started_s = now
        due = self._started_s + self._taken / self._fps
        if now < due:
            self._sleep(due - now)
            return
        if self._patient:
            self._started_s += now - due
            return
        late = int((now - due) * self._fps)  # whole frames that have passed unseen
        if late:
            self.dropped += late
            self._taken += late
            self.table.skip(late)
