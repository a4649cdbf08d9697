"""Between referee and recorder: which entry has which evidence, and what a judge's command means for it."""

from __future__ import annotations

from collections import deque
from typing import Final

from msgspec import UnsetType

from device.evidence.darkroom import LATEST
from device.evidence.record import Ground, is_name
from device.evidence.recorder import Booking, Recorder
from device.messaging.judge import JudgeRequest
from device.storage.match_log import LogLine
from rules.facts import Entry, Judge
from rules.orders import KeepEvidence
from rules.ruling import Ruling
from rules.table import Side

_GROUNDS: Final[dict[str, Ground]] = {"override": "overridden", "void": "voided"}


class Clerk:
    """Belongs to the referee's thread. Without a recorder every ruling says that nothing is filmed."""

    def __init__(self, recorder: Recorder | None = None) -> None:
        self._recorder = recorder
        self._names: dict[int, str] = {}
        self._before: deque[LogLine] = deque(maxlen=LATEST)

    def recall(self, line: LogLine) -> None:
        """One line of the log of the match being played."""
        if line.value.match is not None:
            self._names = {}
        elif line.evidence is not None:
            self._names[line.entry] = line.evidence
            self._before.append(line)

    def recalled(self) -> None:
        """All that the log held has been recalled."""
        if self._recorder is not None:
            self._recorder.recall(self._before)

    def book(self, entry: Entry, ruling: Ruling) -> Booking:
        """What the log is to say of the evidence for this entry."""
        fact = entry.stroke or entry.incident
        if fact is None:
            return Booking(missing="judge")
        return Booking(missing="off") if self._recorder is None else self._recorder.book(fact, ruling)

    def file(self, line: LogLine, ruling: Ruling, names: dict[Side, str]) -> None:
        """The entry is in the log."""
        self.recall(line)
        recorder, fact = self._recorder, line.value.stroke or line.value.incident
        if recorder is None:
            return
        if line.value.judge is not None:
            self._edited(recorder, line.value.judge, ruling)
        elif line.evidence is not None and fact is not None:
            recorder.keep(line.evidence, line, fact, ruling, names)
        elif line.evidence_missing is not None:
            recorder.lacks(line.evidence_missing)

    def _edited(self, recorder: Recorder, command: Judge, ruling: Ruling) -> None:
        if isinstance(ruling.refused, str):
            return
        refolded = {} if isinstance(ruling.refolded, UnsetType) else {again.entry: again.ruling for again in ruling.refolded}
        about = self._names.get(command.entry or 0)
        if about is not None and command.command == "resolve":
            recorder.decided(about)
        if about is not None and command.command in _GROUNDS:
            recorder.correct(about, _GROUNDS[command.command], None)
        for entry, again in refolded.items():
            if (name := self._names.get(entry)) is not None:
                recorder.correct(name, None, again)

    def hold(self, order: KeepEvidence, request: JudgeRequest) -> None:
        """A judge wants a piece of evidence kept, or no longer."""
        if self._recorder is None or not is_name(order.evidence):
            request.refuse("no such evidence")
            return

        def done(found: bool) -> None:
            if found:
                request.accept(evidence=order.evidence, keep=order.keep)
            else:
                request.refuse("no such evidence: it has made room for newer, or was never kept")

        self._recorder.hold(order.evidence, order.by, keep=order.keep, done=done)
