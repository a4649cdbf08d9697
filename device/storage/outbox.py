"""Messages on their way to the broker, on disk: each has a per-table `seq` that rises by one and survives restarts.

Two files in one folder. `outbox.jsonl` holds one line a log entry, with all messages of that entry, so that they are there together
or not at all. `sent` says up to which entry the broker has acknowledged. Either can be lost without a ruling being lost or getting
a second seq: what is missing is put again from the match log, in its order (`missing`). Where a seq could come again, because
`outbox.jsonl` was lost, the numbering has another `epoch`.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from device.storage.atomic import write_bytes
from device.storage.lines import Damage, LineFile, Tail, complete_lines
from device.storage.sent_mark import Mark, SentMark
from device.topics import Topic
from rules.errors import UNREADABLE, OutboxFull, StorageFailed

# Messages; two days of a table that nobody connected: 2,000 strokes a day, two messages each, and some incidents.
WAITING_LIMIT = 10_000
# Messages; one such day stays for subscribers that were away.
KEEP_SENT = 5_000
# Bytes of randomness: no table loses its outbox often enough for two to be alike.
EPOCH_BYTES = 6

Message = tuple[Topic | str, Mapping[str, Any]]


class Item(msgspec.Struct, frozen=True):
    """One message: where it goes and the exact bytes that are published, each time it is published."""

    seq: int
    topic: str
    payload: bytes


class _Head(msgspec.Struct, frozen=True):
    next: int
    last_key: str = ""
    epoch: str = ""
    schema: str = "novuss.outbox/1"


class _Line(msgspec.Struct, frozen=True):
    first: int
    key: str
    items: list[tuple[str, msgspec.Raw]]

    @property
    def last(self) -> int:
        return self.first + len(self.items) - 1


class Outbox:
    """The outbox of one table; one process at a time, safe between its threads."""

    def __init__(self, folder: Path, waiting_limit: int, keep_sent: int) -> None:
        self._lock = threading.Lock()
        self._limit = waiting_limit
        self._keep = keep_sent
        self._path = folder / "outbox.jsonl"
        # Called after each put, from the putting thread; the publisher's wake-up.
        self.on_put: Callable[[], None] = lambda: None
        # One place a line of the file: its first and last seq, where it starts, whose entry it is.
        self._firsts: list[int] = []
        self._lasts: list[int] = []
        self._starts: list[int] = []
        self._key_of: list[str] = []
        # Last seq by key, for the entries that are here and the last one that was dropped.
        self._keys: dict[str, int] = {}
        self._dropped_key = ""
        self._next = 1
        self._epoch = ""
        with contextlib.ExitStack() as opened:
            # A file of its own carries the lock, because compaction replaces the other.
            self._guard = opened.enter_context(contextlib.closing(LineFile(folder / "lock")))
            self._mark = opened.enter_context(contextlib.closing(SentMark(folder / "sent")))
            self._file = opened.enter_context(contextlib.closing(LineFile(self._path)))
            mark = self._mark.read()
            self._sent = self._marked = mark.seq
            self.damage: Damage | None = self._load(mark)
            opened.pop_all()

    @classmethod
    def open(cls, folder: str | Path, *, waiting_limit: int = WAITING_LIMIT, keep_sent: int = KEEP_SENT) -> Outbox:
        """Open or start the outbox in `folder`; `damage` then says what a power cut took."""
        return cls(Path(folder), waiting_limit, keep_sent)

    def put(self, topic: Topic | str, payload: Mapping[str, Any]) -> int:
        """Keep one message that no log entry stands behind; returns its seq once it is on the card."""
        return self.put_entry("", [(topic, payload)])[0]

    def put_entry(self, key: str, messages: Sequence[Message]) -> tuple[int, ...]:
        """Keep all messages of one log entry, all or none, and return their seqs; a key that is here already changes nothing.

        `seq` is added to each payload. Raises OutboxFull or StorageFailed with nothing changed: the entry is in the match log, so
        put it again later, before any that came after it.
        """
        with self._lock:
            if (last := self._keys.get(key)) is not None:
                return tuple(range(last - len(messages) + 1, last + 1))
            if self._next - 1 - self._sent + len(messages) > self._limit:
                raise OutboxFull(
                    f"{self._path}: {self._limit} messages wait for the broker; further rulings stay in the match log until it is back"
                )
            seqs = tuple(range(self._next, self._next + len(messages)))
            items = [
                (topic if isinstance(topic, str) else topic.name, msgspec.Raw(msgspec.json.encode({"seq": seq} | dict(payload))))
                for seq, (topic, payload) in zip(seqs, messages, strict=True)
            ]
            line = _Line(seqs[0], key, items)
            start = self._file.append(msgspec.json.encode(line))
            self._note(line, start)
        self.on_put()
        return seqs

    def missing(self, keys: Sequence[str]) -> Sequence[str]:
        """Those of a log's keys, given in its order, that never got here: everything after the last one that did."""
        with self._lock:
            known = max((place for place, key in enumerate(keys, start=1) if key in self._keys), default=0)
        return keys[known:]

    def read(self, first: int, limit: int) -> list[Item]:
        """Up to `limit` messages from seq `first` on, in order; those no longer kept are left out."""
        found: list[Item] = []
        with self._lock:
            place = max(bisect_right(self._firsts, first) - 1, 0)
            while place < len(self._firsts) and len(found) < limit:
                found += (item for item in self._items(place) if item.seq >= first)
                place += 1
        return found[:limit]

    @property
    def next_seq(self) -> int:
        """The seq that the next message will get."""
        return self._next

    @property
    def epoch(self) -> str:
        """Name of this numbering, which no other has; empty where it began before they had names."""
        return self._epoch

    @property
    def sent_seq(self) -> int:
        """Everything up to this seq has been acknowledged by the broker."""
        return self._sent

    @property
    def waiting(self) -> int:
        """How many messages the broker has not acknowledged."""
        return self._next - 1 - self._sent

    def mark_sent(self, seq: int) -> None:
        """Everything up to `seq` was acknowledged. Never raises: a mark that can't be written means sending again, same seq."""
        with self._lock:
            self._sent = max(self._sent, seq)
            place = bisect_right(self._firsts, seq) - 1
            whole = place if place >= 0 and self._lasts[place] <= seq else place - 1
            if whole >= 0 and self._lasts[whole] > self._marked:
                self._marked = self._lasts[whole]
                with contextlib.suppress(OSError):
                    self._mark.write(Mark(self._marked, self._last_key(whole)))
            if self._firsts and self._sent - self._firsts[0] > 2 * self._keep:
                with contextlib.suppress(StorageFailed):
                    self._compact()

    def close(self) -> None:
        """Let go of the files and the lock."""
        with self._lock:
            for file in (self._file, self._mark, self._guard):
                file.close()

    def __enter__(self) -> Outbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _load(self, mark: Mark) -> Damage | None:
        raw, tail = complete_lines(self._file.read())
        start = 0
        for line in raw:
            if line and not self._index(line, start):
                # Broken before its end: the rest is dropped too, and put again from the log under the same seqs.
                tail = Tail(start, "a broken line")
                break
            start += len(line) + 1
        damage = self._file.cut(tail)
        # A seq that was acknowledged is never given out again, even if its line was lost.
        self._next = max(self._next, mark.seq + 1)
        if mark.key:
            self._keys.setdefault(mark.key, mark.seq)
        if self._file.size == 0:
            self._epoch = secrets.token_hex(EPOCH_BYTES)
            self._file.append(msgspec.json.encode(_Head(self._next, mark.key, self._epoch)))
            self._dropped_key = mark.key
        return damage

    def _index(self, raw: bytes, start: int) -> bool:
        try:
            if start == 0:
                head = msgspec.json.decode(raw, type=_Head)
                self._next, self._epoch = head.next, head.epoch
                self._remember_dropped(head.last_key, head.next - 1)
                return True
            line = msgspec.json.decode(raw, type=_Line)
        except UNREADABLE:
            return False
        if line.first < self._next or not line.items:
            return False
        self._note(line, start)
        return True

    def _note(self, line: _Line, start: int) -> None:
        self._firsts.append(line.first)
        self._lasts.append(line.last)
        self._starts.append(start)
        self._key_of.append(line.key)
        if line.key:
            self._keys[line.key] = line.last
        self._next = line.last + 1

    def _remember_dropped(self, key: str, seq: int) -> None:
        self._dropped_key = key
        if key:
            self._keys[key] = seq

    def _last_key(self, place: int) -> str:
        """Key of the newest log entry up to this line; messages without an entry lie between."""
        return next((key for key in reversed(self._key_of[: place + 1]) if key), self._dropped_key)

    def _items(self, place: int) -> list[Item]:
        start = self._starts[place]
        end = self._starts[place + 1] if place + 1 < len(self._starts) else self._file.size
        line = msgspec.json.decode(self._file.read(start, end - start), type=_Line)
        return [Item(line.first + number, topic, bytes(payload)) for number, (topic, payload) in enumerate(line.items)]

    def _compact(self) -> None:
        """Drop the oldest sent lines, keeping those that subscribers may still ask for."""
        keep_from = bisect_right(self._lasts, self._sent - self._keep)
        last_key, last_seq = self._last_key(keep_from - 1), self._lasts[keep_from - 1]
        head = msgspec.json.encode(_Head(last_seq + 1, last_key, self._epoch)) + b"\n"
        cut = self._starts[keep_from]
        write_bytes(self._path, head + self._file.read(cut))
        self._file.close()
        self._file = LineFile(self._path)
        for key in self._key_of[:keep_from]:
            self._keys.pop(key, None)
        self._remember_dropped(last_key, last_seq)
        for column in (self._firsts, self._lasts, self._starts, self._key_of):
            del column[:keep_from]
        self._starts = [start - cut + len(head) for start in self._starts]
