"""The board of one table: its pages, overlay and judge's console."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, Final

import msgspec

from device import topics
from scoreboard.desk import Desk
from scoreboard.evidence_pages import Gallery, evidence_routes
from scoreboard.feed import Feed
from scoreboard.hub import Hub
from scoreboard.journal import Journal
from scoreboard.judge_pages import Console
from scoreboard.pages import Pages, Room, application, board_routes
from scoreboard.service import Service
from scoreboard.sessions import Role, Sessions
from scoreboard.stats_pages import stats_routes
from scoreboard.store import Store
from scoreboard.web import BoardNotStarted
from scoreboard.words import Lang

__all__ = ["BoardNotStarted", "Scoreboard"]

JUDGE_VARIABLE: Final = "NOVUSS_JUDGE_PASSWORD"
ADMIN_VARIABLE: Final = "NOVUSS_ADMIN_PASSWORD"


class Scoreboard(Service):
    """Serves one table's board.

    The judge's console opens only with a password for judges or admins (by default those of the environment, so that no process
    list shows them); without one nothing can be written through the board. `sheet` writes the match sheet, where the log is at hand,
    `gallery` has the clips and stills, where their folder is.
    """

    def __init__(
        self,
        broker_url: str,
        table: str,
        host: str = "127.0.0.1",
        port: int = 8080,
        *,
        judge_password: str | None = None,
        admin_password: str | None = None,
        sheet: Callable[[Lang], str] | None = None,
        gallery: Gallery | None = None,
    ) -> None:
        self._prefix = f"{topics.PREFIX}/{table}/"
        hub = Hub()
        desk = Desk(self._publish)
        self._store = Store(hub.mark_from_thread, self._ask, desk.answered)
        feed = Feed(broker_url, f"{self._prefix}#", self._on_message, self._store.on_link)
        pages = Pages(time.monotonic)
        room = Room(table, "", hub, lambda: self._store.snapshot, has_evidence=gallery is not None)
        passwords: dict[Role, str | None] = {
            "judge": judge_password or os.environ.get(JUDGE_VARIABLE),
            "admin": admin_password or os.environ.get(ADMIN_VARIABLE),
        }
        console = Console(Sessions(passwords, time.monotonic), desk, room, pages, Journal(), sheet)
        routes = [*board_routes("/", lambda _request: room, pages), *stats_routes("/", lambda _request: room, pages), *console.routes]
        if gallery is not None:
            routes += evidence_routes(gallery, room, pages)
        super().__init__(feed, hub, application(routes, hub), host, port)

    @property
    def is_connected(self) -> bool:
        """Whether the broker is there and has taken the subscription."""
        return self._store.snapshot.broker

    def _on_message(self, topic: str, payload: bytes, retained: bool) -> None:
        self._store.on_message(topic.removeprefix(self._prefix), payload, retained)

    def _publish(self, topic: topics.Topic, payload: bytes) -> bool:
        return self._feed.publish(f"{self._prefix}{topic.name}", payload, topic.qos)

    def _ask(self, request: dict[str, Any]) -> None:
        self._publish(topics.REPLAY, msgspec.json.encode(request))
