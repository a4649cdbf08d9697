"""Who did what and when at the console, and who was turned away: kept for the admin's page, and said in the process's log."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, NamedTuple

log = logging.getLogger(__name__)

KEPT: Final = 500  # lines; a tournament day of one table. The match log keeps every command that was obeyed


class Line(NamedTuple):
    """One thing done or refused; `at` is wall time for people."""

    at: str
    who: str
    what: str
    outcome: str
    is_ok: bool


class Journal:
    """The last lines, newest first; belongs to the event loop's thread."""

    def __init__(self, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._now = now
        self._lines: deque[Line] = deque(maxlen=KEPT)

    @property
    def lines(self) -> list[Line]:
        """Newest first."""
        return list(self._lines)

    def done(self, who: str, what: str, outcome: str) -> None:
        """Somebody signed in did something."""
        log.info("judge %s: %s: %s", who, what, outcome)
        self._keep(who, what, outcome, is_ok=True)

    def refused(self, who: str, what: str, why: str) -> None:
        """Somebody, signed in or not, was told no."""
        log.warning("judge's console: %s by %s refused: %s", what, who, why)
        self._keep(who, what, why, is_ok=False)

    def _keep(self, who: str, what: str, outcome: str, *, is_ok: bool) -> None:
        self._lines.appendleft(Line(self._now().strftime("%Y-%m-%d %H:%M:%S"), who, what, outcome, is_ok))
