"""What the board missed: it asks the table for the last messages when it starts, and for every gap in the seq later.

Requests go to the table's `replay` topic, answers come on `replay/result` under their old seq.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from device import topics
from rules.errors import UNREADABLE

LAST_MESSAGES: Final = 50  # strokes and rulings asked for at the start: two dozen rulings with their strokes
BEYOND: Final = 2**53  # from here there is nothing; the answer names the newest seq

Ask = Callable[[dict[str, Any]], None]


class CatchUp:
    """Follows the seq of one table. `ask` publishes a request; used from the MQTT thread only."""

    def __init__(self, ask: Ask, correlation: str) -> None:
        self._ask = ask
        self._correlation = correlation
        self._newest = 0

    def monitor_online(self) -> None:
        """The table is there: what came while we were not listening?"""
        self._request(self._newest + 1 if self._newest else BEYOND)

    def seen(self, seq: object) -> None:
        """A live message came; a gap before it is asked for."""
        if not isinstance(seq, int):
            return
        if self._newest and seq > self._newest + 1:
            self._request(self._newest + 1, seq - 1)
        self._newest = max(self._newest, seq)

    def result(self, payload: bytes) -> tuple[str, bytes] | None:
        """The topic and payload of a message that came again; None for an end of an answer or another client's."""
        try:
            record = msgspec.json.decode(payload)
        except UNREADABLE:
            return None
        if not isinstance(record, dict) or record.get("correlation") != self._correlation:
            return None
        if record.get("done"):
            self._go_on(record)
            return None
        topic = record.get("topic")
        if topic not in {t.name for t in topics.SEQUENCED}:
            return None
        seq = record.get("seq")
        self._newest = max(self._newest, seq) if isinstance(seq, int) else self._newest
        return str(topic), msgspec.json.encode(record.get("payload"))

    def _go_on(self, done: dict[str, Any]) -> None:
        following, newest = done.get("next"), done.get("to")
        if isinstance(following, int):
            self._request(following)
        elif done.get("from") == BEYOND and isinstance(newest, int) and newest > 0 and not self._newest:
            self._request(max(1, newest - LAST_MESSAGES + 1))

    def _request(self, first: int, last: int | None = None) -> None:
        self._ask({"from": first, "to": last, "correlation": self._correlation})
