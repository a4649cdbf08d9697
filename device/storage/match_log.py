"""The match log: what happened, in order, one JSON line each; state, rulings and the outbox are all rebuilt from it.

`append` returns once the line is on the card. Opening drops what a power cut left torn, says so, and keeps the file as found.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from device.clock import WallTime, wall_time
from device.storage.lines import Damage, LineFile, complete_lines
from rules.errors import UNREADABLE, Bug, LogUnusable
from rules.facts import Entry

# Why there is no clip of an entry: not filming, a judge's own entry, not on the film, behind, disk or quota full, a failure.
Reason = Literal["off", "judge", "no_frames", "behind", "disk_full", "quota", "failed"]
# 128 bits: no two lines of a lifetime of logs share a key.
KEY_BYTES = 16


class LogLine(msgspec.Struct, frozen=True):
    """One line of the log. `entry` counts from 1 after the match entry, which is 0; `key` names this very line in the outbox."""

    line: int
    match_id: str | None
    entry: int
    key: str
    value: Entry
    at: str | None = None
    clock_synchronised: bool | None = None
    evidence: str | None = None
    evidence_missing: Reason | None = None


class Recovered(msgspec.Struct, frozen=True):
    """What was in the log when it was opened, and what was lost of it."""

    lines: tuple[LogLine, ...]
    damage: Damage | None = None


class _Envelope(msgspec.Struct, frozen=True):
    at: str | None = None
    clock_synchronised: bool | None = None
    evidence: str | None = None
    evidence_missing: Reason | None = None


class MatchLog:
    """An open match log; safe to append to from several threads, closed to other processes."""

    def __init__(self, file: LineFile, counter: _Counter, wall: Callable[[], WallTime]) -> None:
        self._file = file
        self._counter = counter
        self._wall = wall
        self._lock = threading.Lock()

    @classmethod
    def open(cls, path: str | Path, wall: Callable[[], WallTime] = wall_time) -> tuple[MatchLog, Recovered]:
        """Open or start a log. Raises LogUnusable where a line before the last is broken: that is no power cut, a person decides."""
        file = LineFile(Path(path))
        try:
            raw, tail = complete_lines(file.read())
            counter = _Counter()
            lines = tuple(_parsed(raw, counter))
            damage = file.cut(tail)
        except BaseException:
            file.close()
            raise
        return cls(file, counter, wall), Recovered(lines, damage)

    @property
    def path(self) -> Path:
        """Where the log is."""
        return self._file.path

    def append(self, entry: Entry, evidence: str | None = None, evidence_missing: Reason | None = None) -> LogLine:
        """Add one entry, stamped with wall time; on StorageFailed the log is as it was before."""
        now = self._wall()
        about = _Envelope(now.at, now.synchronised, evidence, evidence_missing)
        body = without_none(entry)
        if len(body) != 1:
            raise Bug(f"a log entry is exactly one of match, stroke, incident, judge; got {sorted(body)}")
        raw = msgspec.json.encode(body | without_none(about))
        with self._lock:
            self._file.append(raw)
            return self._counter.count(raw, entry, about)

    def close(self) -> None:
        """Let go of the file and its lock; a log that was begun for nothing is not left behind."""
        self._file.close(keeps_empty=False)

    def __enter__(self) -> MatchLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_lines(path: str | Path) -> Recovered:
    """The lines of a log without touching or locking the file; a torn tail is reported, not taken off."""
    data = Path(path).read_bytes()
    raw, tail = complete_lines(data)
    lines = tuple(_parsed(raw, _Counter()))
    lost = len(data) - tail.good_bytes
    return Recovered(lines, Damage(str(path), lost, tail.why, None) if lost else None)


class _Counter:
    """Numbers the lines and entries as they come: the one place that knows how."""

    def __init__(self) -> None:
        self._line = 0
        self._match_id: str | None = None
        self._entry = 0

    def count(self, raw: bytes, entry: Entry, envelope: _Envelope) -> LogLine:
        self._line += 1
        if entry.match is not None:
            self._match_id, self._entry = entry.match.id, 0
        else:
            self._entry += 1
        identity = msgspec.json.encode((self._line, self._match_id, self._entry)) + raw
        key = hashlib.blake2b(identity, digest_size=KEY_BYTES).hexdigest()
        about = (envelope.at, envelope.clock_synchronised, envelope.evidence, envelope.evidence_missing)
        return LogLine(self._line, self._match_id, self._entry, key, entry, *about)


def _parsed(raw_lines: list[bytes], counter: _Counter) -> Iterator[LogLine]:
    for number, raw in enumerate(raw_lines, start=1):
        if not raw.strip():
            continue
        try:
            entry = msgspec.json.decode(raw, type=Entry)
            envelope = msgspec.json.decode(raw, type=_Envelope)
        except UNREADABLE as error:
            raise LogUnusable(number, f"no log entry ({error}); take the line out or start a new log") from error
        if sum(part is not None for part in (entry.match, entry.stroke, entry.incident, entry.judge)) != 1:
            raise LogUnusable(number, "an entry is exactly one of match, stroke, incident, judge; take the line out or start a new log")
        yield counter.count(raw, entry, envelope)


def without_none(value: Any) -> Any:  # noqa: ANN401 - any record of the contract, or a part of one
    """Builtins for JSON with the records' unset fields left out; None inside a plain dict means something and stays."""
    if isinstance(value, msgspec.Struct):
        fields = {field: without_none(part) for field in value.__struct_fields__ if (part := getattr(value, field)) is not None}
        tag = value.__struct_config__
        return {tag.tag_field: tag.tag} | fields if tag.tag_field else fields
    if isinstance(value, list | tuple):
        return [without_none(part) for part in value]
    return value
