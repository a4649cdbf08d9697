"""The state of one table on the web side: messages in, a new snapshot and the changed sections out."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from device import topics
from scoreboard.catchup import Ask, CatchUp
from scoreboard.state import Section, Snapshot, Unreadable, apply, connected, seq_of

log = logging.getLogger(__name__)

SEQUENCED: Final = {topic.name for topic in topics.SEQUENCED}


class Store:
    """One table's snapshot and the one place where it is replaced; called from the MQTT thread only."""

    def __init__(
        self, changed: Callable[[tuple[Section, ...]], None], ask: Ask, on_judge_result: Callable[[bytes], None] | None = None
    ) -> None:
        self._changed = changed
        self._on_judge_result = on_judge_result
        self._catch_up = CatchUp(ask, f"board-{uuid.uuid4().hex[:12]}")
        self.snapshot = Snapshot()

    def on_link(self, up: bool) -> None:
        """The broker came or went."""
        if up != self.snapshot.broker:
            self.snapshot = connected(self.snapshot, up)
            self._changed(("link",))

    def on_message(self, name: str, payload: bytes, retained: bool) -> None:
        """One message of the table; what can't be read is said and left out."""
        if name == topics.JUDGE_RESULT.name:
            if self._on_judge_result is not None:
                self._on_judge_result(payload)
            return
        if name == topics.REPLAY_RESULT.name:
            again = self._catch_up.result(payload)
            if again is None:
                return
            name, payload = again
        before = self.snapshot
        try:
            self.snapshot, changed = apply(before, name, payload, retained=retained, at_s=time.monotonic(), at=datetime.now(UTC))
        except Unreadable as error:
            log.warning("a message was left out: %s", error)
            return
        if name in SEQUENCED:
            self._catch_up.seen(seq_of(payload))
        elif self.snapshot.monitor == "online" != before.monitor:
            self._catch_up.monitor_online()
        self._changed(changed)
