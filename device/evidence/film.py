"""The last half minute in memory: every frame small and compressed, a few at full size, and the takes that are being cut from it.

Bounded in bytes and in time. A take holds on to its own frames from the moment it is opened, so that a late or busy writer loses none.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from device.evidence.moment import Point
from device.images import as_jpeg, smaller
from device.sources.frame import Frame
from device.storage.match_log import LogLine
from rules.facts import Incident, Stroke
from rules.ruling import Ruling
from rules.table import Kind

Image = NDArray[np.uint8]
UnderWay = tuple[tuple[str, Kind, float, float], ...]  # id, kind, axis x and y in mm of each disc that moves

WIDEST_PX: Final = 1040  # of the clip: half a Global Shutter Camera's frame, enough to follow a disc, a third of the work
RING_S: Final = 30.0  # a stroke is ruled on when all rests and hands are away; that is seldom later
RING_BYTES: Final = 24_000_000  # 12 s at 60 frames a second of 33 kB; noisier pictures get fewer seconds
SHARP_BYTES: Final = 7_000_000  # some 40 full frames of 180 kB: those at rest and those in which a disc was set going
TAKES: Final = 2  # strokes come seconds apart; more open at once means that nobody is writing
SHOT_BYTES: Final = (28_000, 40_000)  # of a small frame: beyond it noise and grain are kept, not the game
_QUALITIES: Final = (40, 76)  # JPEG; above, the clip's own compression is coarser, below, blocks show
_SHARP_QUALITY: Final = 90


@dataclass(frozen=True, slots=True)
class Shot:
    """One frame as it is kept: a JPEG `factor` times smaller than the camera's picture, and what moved in it."""

    seq: int
    t_ns: int
    jpeg: bytes
    factor: int
    moving: UnderWay = ()

    def image(self) -> Image:
        """The picture, uint8 BGR."""
        return np.asarray(cv2.imdecode(np.frombuffer(self.jpeg, dtype=np.uint8), cv2.IMREAD_COLOR), dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class Order:
    """What a take is of: the entry as it stands in the log, its ruling, and the moment on which that turns."""

    name: str
    line: LogLine
    fact: Stroke | Incident
    ruling: Ruling
    names: dict[str, str]
    point: Point


@dataclass(slots=True)
class Take:
    """A clip in the making: its frames, and all that was sharp around them once it is complete."""

    start_ns: int
    end_ns: int
    about: Order
    shots: list[Shot] = field(default_factory=list)
    sharp: list[Shot] = field(default_factory=list)


def factor_for(width_px: int) -> int:
    """By how much a camera's pictures are made smaller for the clip."""
    return max(1, -(-width_px // WIDEST_PX))


class Lens:
    """Makes frames small, as sharp as their memory allows: noisy pictures are compressed more."""

    def __init__(self) -> None:
        self._quality = _QUALITIES[1]

    def small(self, frame: Frame, moving: UnderWay) -> Shot:
        """A frame for the clip."""
        shot = _developed(frame, moving, factor_for(frame.image.shape[1]), self._quality)
        step = -2 if len(shot.jpeg) > SHOT_BYTES[1] else 1 if len(shot.jpeg) < SHOT_BYTES[0] else 0
        self._quality = min(max(self._quality + step, _QUALITIES[0]), _QUALITIES[1])
        return shot

    @staticmethod
    def sharp(frame: Frame, moving: UnderWay) -> Shot:
        """A frame for the still, at its full size."""
        return _developed(frame, moving, 1, _SHARP_QUALITY)


def _developed(frame: Frame, moving: UnderWay, factor: int, quality: int) -> Shot:
    return Shot(frame.seq, frame.t_ns, as_jpeg(smaller(frame.image, factor), quality), factor, moving)


class _Ring:
    def __init__(self, most_bytes: int) -> None:
        self.shots: deque[Shot] = deque()
        self.bytes = 0
        self._most_bytes = most_bytes

    def add(self, shot: Shot) -> None:
        self.shots.append(shot)
        self.bytes += len(shot.jpeg)
        while self.bytes > self._most_bytes or shot.t_ns - self.shots[0].t_ns > RING_S * 1e9:
            self.bytes -= len(self.shots.popleft().jpeg)


class Film:
    """Frames in, takes out; any thread may call."""

    def __init__(self, on_take: Callable[[Take], None]) -> None:
        self._on_take = on_take
        self._lock = threading.Lock()
        self._ring = _Ring(RING_BYTES)
        self._sharp = _Ring(SHARP_BYTES)
        self._open: list[Take] = []
        self._ended = False

    def add(self, shot: Shot) -> None:
        """The next frame; a take whose end it is past is handed on."""
        with self._lock:
            self._ring.add(shot)
            done = [take for take in self._open if shot.t_ns > take.end_ns]
            for take in self._open:
                if take.start_ns <= shot.t_ns <= take.end_ns:
                    take.shots.append(shot)
            self._open = [take for take in self._open if take not in done]
        self._hand_on(done)

    def add_sharp(self, shot: Shot) -> None:
        """A frame at full size; the same one again is no news."""
        with self._lock:
            if all(known.seq != shot.seq for known in list(self._sharp.shots)[-2:]):
                self._sharp.add(shot)

    def holds(self, t_ns: int) -> bool:
        """Whether a moment is on the film."""
        with self._lock:
            shots = self._ring.shots
            return bool(shots) and shots[0].t_ns <= t_ns <= shots[-1].t_ns

    @property
    def is_full(self) -> bool:
        """Whether so many takes are open that another one cannot be begun."""
        with self._lock:
            return len(self._open) >= TAKES

    @property
    def bytes_held(self) -> int:
        """Memory of all frames, those of open takes that have left the ring included."""
        with self._lock:
            oldest_ns = self._ring.shots[0].t_ns if self._ring.shots else 0
            beyond = {s.seq: len(s.jpeg) for take in self._open for s in take.shots if s.t_ns < oldest_ns}
            return self._ring.bytes + self._sharp.bytes + sum(beyond.values())

    def cut(self, take: Take) -> None:
        """Begin a take: what is on the film already goes in now, the rest as it comes."""
        with self._lock:
            take.shots = [shot for shot in self._ring.shots if take.start_ns <= shot.t_ns <= take.end_ns]
            done = self._ended or (bool(self._ring.shots) and self._ring.shots[-1].t_ns > take.end_ns)
            if not done:
                self._open.append(take)
        if done:
            self._hand_on([take])

    def end(self) -> None:
        """No further frame comes: what is open is handed on as it is."""
        with self._lock:
            done, self._open, self._ended = self._open, [], True
        self._hand_on(done)

    def _hand_on(self, done: list[Take]) -> None:
        for take in done:
            with self._lock:
                take.sharp = [shot for shot in self._sharp.shots if shot.t_ns <= take.end_ns]
            self._on_take(take)
