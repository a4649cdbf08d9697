"""The loop: frames -> discs -> tracks -> stroke facts, and on to the referee in a thread of its own.

The frame path never waits: facts go through a bounded queue, the live picture is only left for the publisher, and whatever was lost
on the way is counted.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from calibration.camera import Camera
from device import health, networks, topics
from device.blind_guard import BlindGuard
from device.drift_guard import DriftGuard
from device.evidence.recorder import LATE_S, Recorder
from device.live_view import LiveView
from device.messaging.judge import JudgeRequest
from device.referee import Referee
from device.service import Service
from device.shot_clock import ShotClock
from device.sources.frame import Adjustable, Frame, Source
from device.timing import Timing
from rules.errors import Bug, InputUnusable, StorageFailed
from rules.facts import Entry, Incident, SeenDiscs, Stroke
from rules.orders import SetClock, ShowTable
from vision.motion.shutter import USUAL_EXPOSURE_S, Shutter
from vision.watcher import Watcher

_log = logging.getLogger(__name__)

LIVE_INTERVAL_NS: Final = 200_000_000  # the live picture: a few times a second is what people can follow
HEALTH_INTERVAL_S: Final = 1.0
WAITING_FACTS: Final = 64  # strokes come seconds apart; this many waiting means that ruling has stopped
_RETRY_S: Final = 1.0
_LOOK_S: Final = 0.1  # between two looks whether the end has been asked for: nobody notices so short a wait
_END: Final = None

Fact = Stroke | Incident | SeenDiscs | JudgeRequest | None


class Monitor:
    """Watches one source until its end or `stop()`."""

    def __init__(
        self,
        source: Source,
        camera: Camera,
        referee: Referee,
        publish: topics.Publish,
        service: Service,
        folder: Path,
        recorder: Recorder | None = None,
        *,
        live: bool,
        figures: Callable[[], Mapping[str, Any]] = dict,
    ) -> None:
        self._source = source
        self._referee = referee
        self._publish = publish
        self._service = service
        self._folder = folder
        self._recorder = recorder
        self._made_at = camera.calibration.made_at
        self._rms_px = camera.calibration.rms_px
        self._live = live
        self._figures = figures
        self._watcher = Watcher(camera)
        self._blind = BlindGuard()
        self._guard = DriftGuard(camera.calibration)
        self._view = LiveView(camera, publish)
        self._no_calls = 0
        self._shot_clock = ShotClock()
        self._facts: queue.Queue[Fact] = queue.Queue(WAITING_FACTS)
        self._asked_to_stop = False  # no Event: a second signal while the first one's handler sets it waits for itself for ever
        self._ended = threading.Event()
        self._ruler = threading.Thread(target=self._rule, name="referee", daemon=True)
        self._failure: Exception | None = None
        self.timing = Timing()

    def run(self) -> None:
        """Watch to the end. Raises what the source or the referee failed with; everything read before is ruled first."""
        self._ruler.start()
        reporter = threading.Thread(target=self._report_health, name="health", daemon=True)
        reporter.start()
        self._guard.start()
        self._view.start()
        try:
            self._watch()
        finally:
            self._ended.set()
            self._service.stopping()
            self._guard.stop()
            self._view.close()
            in_hurry = self._asked_to_stop or self._failure is not None
            if self._recorder is not None:
                self._recorder.end(hurry=in_hurry)
            self._hand_over(_END, wait=True)
            self._ruler.join()
            if self._recorder is not None:
                self._recorder.close(LATE_S if in_hurry else None)
            self._source.close()
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """End after the frame at hand; may be called from a signal handler."""
        self._asked_to_stop = True
        if isinstance(self._source, Adjustable):
            self._source.interrupt()

    def on_judge(self, request: JudgeRequest) -> None:
        """A judge's command from the broker; answered once it has been ruled on, in the order of everything else."""
        command = request.command
        if not isinstance(command, ShowTable):
            self._hand_over(request, wait=False)
            return
        if not request.preview:
            self._view.ask(show=command.show)
        request.accept()

    def _watch(self) -> None:
        shown_ns = -LIVE_INTERVAL_NS
        while not self._asked_to_stop and self._failure is None:
            frame = self._source.read()
            if frame is None:
                if self._recorder is not None:
                    self._recorder.end(hurry=False)
                for fact in self._watcher.finish():
                    self._hand_over(fact, wait=True)
                break
            self._see(frame)
            if frame.t_ns - shown_ns >= LIVE_INTERVAL_NS:
                shown_ns = frame.t_ns
                seen = self._watcher.discs
                self._publish(topics.DISCS, seen)
                self._view.offer(frame, seen, self._watcher.foreign.mask if self._watcher.hands else None, self._referee.state)
                if self._live and self._shot_clock.begins(seen, self._referee.state, moving=self._watcher.moving):
                    self._hand_over(JudgeRequest(SetClock(command="clock", span="stroke"), None, _nobody_asked), wait=False)
                if not self._referee.has_match and not self._watcher.moving and not self._watcher.hands:
                    self._hand_over(seen, wait=False)

    def _see(self, frame: Frame) -> None:
        started_s = time.perf_counter()
        if self._live:
            self._blind.frame(frame.t_ns)
        self._watcher.sides = self._referee.sides
        facts = self._watcher.push(frame.image, frame.t_ns, frame.seq, Shutter(frame.exposure_s or USUAL_EXPOSURE_S, frame.readout_s))
        self.timing.frame(frame.seq, time.perf_counter() - started_s)
        self._service.frame()
        if self._recorder is not None:
            busy = self._watcher.moving
            self._recorder.offer(frame, self._watcher.under_way if busy else (), busy=busy)
        at_rest = not self._watcher.moving and not self._watcher.hands
        if at_rest:
            self._guard.offer(frame)
        for fact in facts:
            if (reason := self._guard.reason or self._blind.reason) is None:
                self._hand_over(fact, wait=not self._live)
            else:
                # A camera that was bumped makes every call slightly wrong, one that was away saw half of it: no call is better, with why.
                self._no_calls += 1
                _log.error("no call: %s", reason)
        self._blind.seen(frame.t_ns, at_rest=at_rest)

    def _report_health(self) -> None:
        """In a thread of its own, because asking a Pi's firmware can take a second."""
        while not self._ended.wait(HEALTH_INTERVAL_S):
            figures = self.timing.figures() | {"source": self._source.name, "waiting_facts": self._facts.qsize()}
            machine = msgspec.to_builtins(health.sample(self._folder))
            calibration = {"calibration_age_s": health.age_s(self._made_at), "calibration_rms_px": self._rms_px}
            drift = self._guard.drift
            camera = {
                "drift_px": None if drift is None else round(drift.worst_px, 2),
                "stopped": self._guard.reason or self._blind.reason,
                "no_calls": self._no_calls,
            }
            seeing = {"networks": networks.in_use()}
            evidence = {"evidence": None if self._recorder is None else self._recorder.figures()}
            parts = figures | machine | calibration | camera | seeing | evidence | self._figures()
            self._publish(topics.HEALTH, {"schema": "novuss.health/1"} | parts)

    def _hand_over(self, fact: Fact, *, wait: bool) -> None:
        """Leave a fact for the referee. A file may wait for it, a camera may not."""
        while True:
            try:
                self._facts.put(fact, timeout=0.5 if wait else None, block=wait)
            except queue.Full:
                if isinstance(fact, SeenDiscs):
                    return
                if not wait or not self._ruler.is_alive():
                    self._failure = self._failure or Bug("the referee has stopped while facts were coming in")
                    return
            else:
                return

    def _rule(self) -> None:
        try:
            while True:
                try:
                    fact = self._facts.get(timeout=_RETRY_S)
                except queue.Empty:
                    self._referee.retry()
                    continue
                if fact is _END:
                    break
                self._rule_on(fact)
            if not self._referee.retry():
                raise StorageFailed("the last rulings are in the match log but did not get into the outbox; the next start sends them")
        except Exception as error:  # carried to the frame thread, which raises it
            self._failure = error

    def _rule_on(self, fact: Stroke | Incident | SeenDiscs | JudgeRequest) -> None:
        if isinstance(fact, SeenDiscs):
            self._referee.consider_start(fact)
            return
        if isinstance(fact, JudgeRequest):
            self._referee.judge(fact)
            return
        entry = Entry(stroke=fact) if isinstance(fact, Stroke) else Entry(incident=fact)
        while True:
            try:
                self._referee.enter(entry)
            except StorageFailed as error:
                # A full card is emptied by somebody; until then rulings wait here, and the picture goes on.
                _log.error("%s; the ruling waits until it can be kept", error)
                if self._is_stopped_within(_RETRY_S):
                    return
            except InputUnusable as error:
                _log.error("seen facts cannot be ruled on and are left out: %s", error)
                return
            else:
                return

    def _is_stopped_within(self, seconds: float) -> bool:
        """Wait so long, or until the end has been asked for; whether it has."""
        until_s = time.monotonic() + seconds
        while not self._asked_to_stop and (left_s := until_s - time.monotonic()) > 0:
            time.sleep(min(left_s, _LOOK_S))
        return self._asked_to_stop


def _nobody_asked(_answer: Mapping[str, Any]) -> None:
    """The monitor's own orders are answered to nobody."""
