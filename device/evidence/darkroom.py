"""Takes to pieces on the shelf, in a thread of its own: clip, still, record, and what judges want kept; told on `evidence`."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import queue
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec

from calibration.camera import Camera
from device import topics
from device.clock import wall_time
from device.evidence.clip import Abandoned, write_clip
from device.evidence.film import Shot, Take
from device.evidence.moment import Point
from device.evidence.record import STILL, Clip, Ground, Moment, Piece, Protection
from device.evidence.shelf import NoRoom, Shelf
from device.evidence.still import Scene, draw_still
from device.memory import give_back
from device.storage.match_log import LogLine, Reason
from rules.errors import StorageFailed
from rules.ruling import Ruling

_log = logging.getLogger(__name__)

WAITING: Final = 3  # takes complete, the one being developed included: half a minute of play behind
LATEST: Final = 24  # rulings that the `evidence` topic tells of: as many as a board keeps
_NICE: Final = 10  # film gives way to refereeing wherever both want a core

Announce = Callable[[topics.Topic, dict[str, Any]], None]
Change = Callable[[], None]


def _give_way() -> None:
    """Let this thread run only where nothing more urgent does (Linux knows a niceness for each thread)."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)


class DarkRoom:
    """Develops one take after the other. Everything but `run` in its own thread only leaves work."""

    def __init__(self, shelf: Shelf, camera: Camera, table: str, announce: Announce) -> None:
        self._shelf = shelf
        self._camera = camera
        self._table = table
        self._announce = announce
        self._work: queue.Queue[Take | Change | None] = queue.Queue()
        self._thread = threading.Thread(target=self._run, name="evidence", daemon=True)
        self._takes: deque[Take] = deque()  # those that wait, and the one at hand
        self._called_off = threading.Event()
        self._expected: dict[str, list[Change]] = {}
        self._latest: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._said = False
        self.holding: dict[str, Any] = {}
        self.kept = 0
        self.missing: dict[Reason, int] = {}

    def start(self) -> None:
        """Begin to develop, and tell what the shelf holds from before."""
        for name in self._shelf.names()[-LATEST:]:
            if (piece := self._shelf.get(name)) is not None:
                self._latest[name] = _told(piece)
        self._thread.start()
        self._work.put(self._tell)

    @property
    def waiting(self) -> int:
        """Takes and changes that are still to be worked on."""
        return self._work.qsize()

    @property
    def is_behind(self) -> bool:
        """Whether so much waits that nothing more should be begun."""
        return len(self._takes) >= WAITING

    def expect(self, name: str) -> None:
        """A take of this name has been begun; what is asked about it meanwhile is done once it is on the shelf."""
        self._expected[name] = []

    def take(self, take: Take) -> None:
        """A take is complete."""
        self._takes.append(take)
        self._work.put(take)

    def recall(self, line: LogLine) -> None:
        """An entry of the log from before this start; what a crash or a power cut kept from being made is said to be missing."""
        name = line.evidence

        def change() -> None:
            if name is not None and name not in self._latest and self._shelf.get(name) is None:
                self._remember(name, _lost(line, name, "failed"))
                self._tell()

        self._work.put(change)

    def _remember(self, name: str, told: dict[str, Any]) -> None:
        self._latest[name] = told
        while len(self._latest) > LATEST:
            self._latest.popitem(last=False)

    def lacks(self, reason: Reason) -> None:
        """A ruling has no clip, for this reason."""
        self.missing[reason] = self.missing.get(reason, 0) + 1

    def correct(self, name: str, ground: Ground | None, ruling: Ruling | None) -> None:
        """A judge has edited the entry: its piece is protected, and says the ruling that now stands."""

        def change() -> None:
            if ground is not None:
                self._tell(self._shelf.protect(name, ground))
            if ruling is not None:
                plain = msgspec.to_builtins(ruling)
                self._tell(self._shelf.change(name, lambda piece: msgspec.structs.replace(piece, ruling=plain, corrected=True)))

        self._do(name, change)

    def decided(self, name: str) -> None:
        """A review has been decided: it no longer keeps its piece from the ring."""

        def change() -> None:
            self._tell(self._shelf.let_go(name, "review"))

        self._do(name, change)

    def hold(self, name: str, by: str | None, *, keep: bool, done: Callable[[bool], None]) -> None:
        """A judge wants a piece kept, or no longer; `done` hears whether there is such a piece."""

        def change() -> None:
            found = self._shelf.protect(name, "judge", by) if keep else self._shelf.let_go(name)
            _log.info("judge %s %s evidence %s", by, "protects" if keep else "releases", name)
            self._tell(found)
            done(found is not None)

        self._do(name, change)

    def close(self, wait_s: float | None) -> None:
        """Develop what waits, for at most `wait_s` seconds (None: however long it takes)."""
        self._work.put(None)
        self._thread.join(wait_s)
        self._called_off.set()
        self._thread.join(1.0)

    # --- the thread ---------------------------------------------------------------------------------------------------

    def _do(self, name: str, change: Change) -> None:
        def now_or_later() -> None:
            if name in self._expected:
                self._expected[name].append(change)
            else:
                change()

        self._work.put(now_or_later)

    def _run(self) -> None:
        _give_way()
        while (work := self._work.get()) is not None:
            if self._called_off.is_set():
                continue
            try:
                if isinstance(work, Take):
                    try:
                        self._develop(work)
                    finally:
                        self._takes.popleft()
                        give_back()
                else:
                    work()
            except (OSError, StorageFailed) as error:
                _log.warning("evidence: %s", error)
            except Exception:
                # A fault of ours costs a clip, never the film of the rest of the day.
                _log.exception("evidence failed")

    def _develop(self, take: Take) -> None:
        name = take.about.name
        piece: Piece | None = None
        why: Reason = "failed"
        try:
            piece = self._shelf.add(name, lambda folder: self._fill(folder, take))
        except NoRoom as error:
            why = error.reason
            self._say(str(error))
        except OSError as error:
            why = "disk_full" if errno.ENOSPC in (error.errno, getattr(error.__cause__, "errno", None)) else "failed"
            self._say(str(error))
        except Abandoned:
            why = "behind"
        finally:
            self._note(take, piece, why)
        for change in self._expected.pop(name, []):
            change()

    def _note(self, take: Take, piece: Piece | None, why: Reason) -> None:
        name, line = take.about.name, take.about.line
        if piece is not None:
            self.kept += 1
            self._said = False
        else:
            self.lacks(why)
        self._remember(name, _lost(line, name, why) if piece is None else _told(piece))
        self._tell()

    def _tell(self, changed: Piece | None = None) -> None:
        if changed is not None and changed.evidence in self._latest:
            self._latest[changed.evidence] = _told(changed)
        self.holding = msgspec.to_builtins(self._shelf.holding())
        self._announce(topics.EVIDENCE, {"schema": "novuss.evidence_list/1", "latest": list(self._latest.values()), **self.holding})

    def _say(self, text: str) -> None:
        """Once, until something could be kept again."""
        if not self._said:
            _log.warning("evidence is not kept: %s", text)
        self._said = True

    def _fill(self, folder: Path, take: Take) -> Piece:
        order, shots = take.about, _ascending(take.shots)
        clip = write_clip(folder, shots, self._called_off.is_set)
        scene = Scene(order.fact, order.ruling, order.point, self._camera, shots, take.sharp, order.line.entry)
        (folder / STILL).write_bytes(draw_still(scene))
        is_review = order.ruling.status == "review"
        return Piece(
            evidence=order.name,
            table=self._table,
            match_id=order.line.match_id,
            entry=order.line.entry,
            at=order.line.at,
            ruling=msgspec.to_builtins(order.ruling),
            names=order.names,
            moment=_moment(order.point, shots, clip),
            clip=clip,
            protected=[Protection(ground="review", at=wall_time().at)] if is_review else [],
        )


def _lost(line: LogLine, name: str, why: Reason) -> dict[str, Any]:
    return {"evidence": name, "match_id": line.match_id, "entry": line.entry, "missing": why}


def _told(piece: Piece) -> dict[str, Any]:
    """What the `evidence` topic says of a piece: enough to show it without looking into the folder."""
    return {
        "evidence": piece.evidence,
        "match_id": piece.match_id,
        "entry": piece.entry,
        "missing": None,
        "clip": piece.clip.file,
        "moment_s": piece.moment.clip_s,
        "protected": [p.ground for p in piece.protected],
    }


def _ascending(shots: list[Shot]) -> list[Shot]:
    """By time, each later than the one before."""
    out: list[Shot] = []
    for shot in sorted(shots, key=lambda s: s.t_ns):
        if not out or shot.t_ns > out[-1].t_ns:
            out.append(shot)
    if not out:
        raise StorageFailed("no frame of it was caught")
    return out


def _moment(point: Point, shots: list[Shot], clip: Clip) -> Moment:
    """The frame nearest to the moment, among those in the clip."""
    times = {shot.seq: shot.t_ns for shot in shots}
    index, (seq, clip_us) = min(enumerate(clip.frames), key=lambda item: abs(times[item[1][0]] - point.t_s * 1e9))
    return Moment(event=point.event, t_s=point.t_s, seq=seq, index=index, clip_s=clip_us / 1e6)
