"""From the store to the browsers: which sections changed, and one stream of server-sent events per browser.

A browser that reads slowly gets the newest of each section, never a queue of old ones. Each stream starts with everything and ends at once
when the hub closes.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import Final

from scoreboard.state import Section

BEAT_S: Final = 1.0  # heartbeat; the page calls itself stale after 3 s without one
BEATING: Final[frozenset[Section]] = frozenset({"link", "hall"})  # these change by time alone: a silent camera makes a table stale
PACED_S: Final[dict[Section, float]] = {
    "discs": 0.08,  # at most 12 pictures a second to a browser, more adds nothing to the eye
    "hall": 0.5,  # a hundred tables change all the time; a list that changes faster can't be read
}
RETRY_MS: Final = 1000  # how soon a browser comes back
BOARD_SECTIONS: Final[tuple[Section, ...]] = ("link", "discs", "picture", "match", "ruling", "clock", "evidence")
MAX_STREAMS: Final = 200  # open pages per board; a hall has tens

Render = Callable[[Section], str]


class Hub:
    """Wakes the streams. Everything but `mark_from_thread` belongs to the event loop's thread."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: dict[asyncio.Event, tuple[str, set[Section]]] = {}
        self._closed = False

    def open(self) -> None:
        """Take the running event loop; called once when the server starts."""
        self._loop = asyncio.get_running_loop()

    def close(self) -> None:
        """End every stream."""
        self._closed = True
        for event in self._waiting:
            event.set()

    def close_from_thread(self) -> None:
        """End every stream, from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.close)

    def mark_from_thread(self, sections: tuple[Section, ...], table: str = "") -> None:
        """Say from any thread that sections of a table changed."""
        if sections and self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._mark, sections, table)

    def _mark(self, sections: tuple[Section, ...], table: str) -> None:
        for event, (about, dirty) in self._waiting.items():
            if about == table:
                dirty.update(sections)
                event.set()

    @property
    def is_full(self) -> bool:
        """Whether no further browser is served."""
        return len(self._waiting) >= MAX_STREAMS

    async def stream(self, render: Render, sections: tuple[Section, ...] = BOARD_SECTIONS, table: str = "") -> AsyncIterator[str]:
        """Server-sent events for one browser: its sections, then their changes, a `link` each second as heartbeat."""
        wake = asyncio.Event()
        dirty: set[Section] = set(sections)
        self._waiting[wake] = (table, dirty)
        due_at: dict[Section, float] = {}
        beat_at = time.monotonic()
        try:
            yield f"retry: {RETRY_MS}\n\n"
            while not self._closed:
                now = time.monotonic()
                if now >= beat_at:
                    dirty.update(BEATING)
                    beat_at = now + BEAT_S
                wake.clear()
                for section in sections:
                    if section in dirty and now >= due_at.get(section, 0.0):
                        dirty.discard(section)
                        due_at[section] = now + PACED_S.get(section, 0.0)
                        yield f"event: {section}\ndata: {render(section)}\n\n"
                dirty.intersection_update(sections)
                until = min([beat_at, *(due_at.get(section, 0.0) for section in dirty)])
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(wake.wait(), max(0.0, until - time.monotonic()))
        finally:
            del self._waiting[wake]
