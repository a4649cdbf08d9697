"""What happened → match log → ruling → outbox, each entry once and in order, whatever the disk says meanwhile.

An entry that the card does not take is held in memory, and everything after it waits behind it; nothing is ruled before it is logged.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence

from device.storage.match_log import LogLine, MatchLog
from device.storage.outbox import Message, Outbox
from rules.errors import StorageFailed
from rules.facts import Entry

_log = logging.getLogger(__name__)

# Entries held in memory while the card or the outbox is full: a tournament day of one table, some 10 MB.
HELD_LIMIT = 2_000


class Ledger:
    """The one way for an entry to become a ruling on its way to the broker.

    `rule` is called once for each line of the log, in order, and returns the messages of that line's ruling (none for a match entry);
    it is where the caller folds its state.
    """

    def __init__(
        self, log: MatchLog, outbox: Outbox, rule: Callable[[LogLine], Sequence[Message]], *, held_limit: int = HELD_LIMIT
    ) -> None:
        self._log = log
        self._outbox = outbox
        self._rule = rule
        self._limit = held_limit
        self._lock = threading.RLock()
        self._unlogged: deque[tuple[Entry, str | None]] = deque()
        self._unsent: deque[tuple[str, Sequence[Message]]] = deque()
        self._dropped = 0
        self._left_to_restart = 0
        self._trouble: str | None = None

    def resume(self, lines: Sequence[LogLine]) -> int:
        """Fold what the log held at the start, and put into the outbox what never got there; returns how many entries that were."""
        missing = set(self._outbox.missing([line.key for line in lines]))
        count = 0
        with self._lock:
            for line in lines:
                if (messages := self._rule(line)) and line.key in missing:
                    self._hold_for_outbox(line.key, messages)
                    self._work_off()
                    count += 1
            return count

    def record(self, entry: Entry, evidence: str | None = None) -> bool:
        """Log, rule and put one entry; False where it has to wait for room, which `retry` or the next entry then finds."""
        with self._lock:
            if len(self._unlogged) >= self._limit:
                self._dropped += 1
                _log.error("the card takes nothing and %d entries wait: an entry is lost (%s)", self._limit, self._trouble)
                return False
            self._unlogged.append((entry, evidence))
            return self._work_off()

    def retry(self) -> bool:
        """Try again what waits; cheap when nothing does. True when nothing waits any more."""
        with self._lock:
            return self._work_off() if self._unlogged or self._unsent else True

    @property
    def held(self) -> int:
        """Entries that wait for room on the card or in the outbox."""
        return len(self._unlogged) + len(self._unsent)

    @property
    def dropped(self) -> int:
        """Entries lost for good, because the card took nothing for longer than memory could hold."""
        return self._dropped

    @property
    def trouble(self) -> str | None:
        """Why something waits; None when nothing does."""
        if not self._left_to_restart:
            return self._trouble
        left = f"{self._left_to_restart} rulings are in the match log only and go out after the next start"
        return f"{self._trouble}; {left}" if self._trouble else left

    def _work_off(self) -> bool:
        try:
            while self._unlogged:
                line = self._log.append(*self._unlogged[0])
                self._unlogged.popleft()
                if messages := self._rule(line):
                    self._hold_for_outbox(line.key, messages)
            while self._unsent:
                self._outbox.put_entry(*self._unsent[0])
                self._unsent.popleft()
        except StorageFailed as error:
            if self._trouble is None:
                _log.warning("%s", error)
            self._trouble = str(error)
            return False
        if self._trouble is not None:
            _log.warning("what had to wait is written now")
            self._trouble = None
        return True

    def _hold_for_outbox(self, key: str, messages: Sequence[Message]) -> None:
        if len(self._unsent) >= self._limit or self._left_to_restart:
            # Order is kept: once one is left out, all after it are, until the next start reads them from the log.
            self._left_to_restart += 1
        else:
            self._unsent.append((key, messages))
