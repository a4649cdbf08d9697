"""What there is to tell, worked out from the state before and after an entry, and kept in an outbox of its own."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Literal

from device.storage.match_log import LogLine
from device.storage.outbox import Message, Outbox
from rules.errors import OutboxFull, StorageFailed
from rules.fold import State, match_state
from rules.state import Core

_log = logging.getLogger(__name__)

Event = Literal["set", "match", "correction"]
# Keeps its place in the outbox and is told to nobody: what lies before it in the log ended before anybody wanted to hear of it.
BEGIN: Final = "begin"
# News; a year of a table that plays every day, of which the receiver takes none.
WAITING_LIMIT: Final = 10_000
# Nobody asks for those again: a receiver that has taken one has it.
KEEP_SENT: Final = 50


def open_news(folder: Path) -> Outbox:
    """The outbox of news in `folder`."""
    return Outbox.open(folder, waiting_limit=WAITING_LIMIT, keep_sent=KEEP_SENT)


def news(before: Core, after: Core) -> list[tuple[Event, int | None]]:
    """What an entry brought: sets that ended, each with its place in the sheet, the match's end; or that what was told is another."""
    known = len(before.done)
    if after.done[:known] != before.done or before.over not in (None, after.over):
        return [("correction", None)]
    ended: list[tuple[Event, int | None]] = [("set", place) for place in range(known, len(after.done))]
    return ended + ([("match", None)] if after.over is not None and before.over is None else [])


class NewsDesk:
    """Belongs to the referee's thread. Without an outbox nobody wants to hear anything."""

    def __init__(self, outbox: Outbox | None = None, table: str = "") -> None:
        self._outbox = outbox
        self._table = table
        self._missing: set[str] = set()
        self._unsent: deque[tuple[str, list[Message]]] = deque()

    def recall(self, keys: Sequence[str]) -> None:
        """Which entries a log holds, in its order, before they are noted one by one: those told already are not told again."""
        if self._outbox is None:
            return
        if self._outbox.next_seq == 1:
            self._put(keys[-1] if keys else "", [(BEGIN, {})])
        else:
            self._missing = set(self._outbox.missing(keys))

    def note(self, line: LogLine, before: State | None, after: State | None, *, recalled: bool = False) -> None:
        """One entry and what it made of the match. Never raises: what cannot be kept now is found in the log at the next start."""
        if self._outbox is None or before is None or after is None or (recalled and line.key not in self._missing):
            return
        told: list[Message] = [(event, self._payload(event, place, line, after)) for event, place in news(before.core, after.core)]
        if told:
            self._put(line.key, told)

    def _put(self, key: str, told: list[Message]) -> None:
        self._unsent.append((key, told))
        try:
            while self._unsent and self._outbox is not None:
                self._outbox.put_entry(*self._unsent[0])
                self._unsent.popleft()
        except (OutboxFull, StorageFailed) as error:
            _log.warning("%s; %d ends of sets and matches wait", error, len(self._unsent))

    def _payload(self, event: Event, place: int | None, line: LogLine, after: State) -> dict[str, Any]:
        state = match_state(after)
        return {
            "schema": "novuss.news/1",
            "event": event,
            "table": self._table,
            "match_id": line.match_id,
            "entry": line.entry,
            "at": line.at,
            "set": None if place is None else state["finished"][place],
            "match": state,
        }
