"""The board of one table as a thing that is started and stopped: MQTT in, web pages out, each in a thread of its own."""

from __future__ import annotations

import os
import time
from typing import Any, Final

import msgspec

from device import topics
from scoreboard.desk import Desk
from scoreboard.feed import Feed
from scoreboard.hub import Hub
from scoreboard.judge_pages import judge_routes
from scoreboard.pages import Pages, Room, application, board_routes
from scoreboard.sessions import Sessions
from scoreboard.store import Store
from scoreboard.web import BoardNotStarted, WebServer

__all__ = ["BoardNotStarted", "Scoreboard"]

PASSWORD_VARIABLE: Final = "NOVUSS_JUDGE_PASSWORD"


class Scoreboard:
    """Serves one table's board. `start()` returns its address; `stop()` ends it within a second, open pages included.

    The judge's console opens only with a `judge_password` (by default that of the environment, so that no process list shows it);
    without one nothing can be written through the board.
    """

    def __init__(
        self, broker_url: str, table: str, host: str = "127.0.0.1", port: int = 8080, *, judge_password: str | None = None
    ) -> None:
        self._prefix = f"{topics.PREFIX}/{table}/"
        self._hub = Hub()
        desk = Desk(self._publish)
        self._store = Store(self._hub.mark_from_thread, self._ask, desk.answered)
        self._feed = Feed(broker_url, f"{self._prefix}#", self._on_message, self._store.on_link)
        pages = Pages(time.monotonic)
        room = Room(table, "", self._hub, lambda: self._store.snapshot)
        sessions = Sessions(judge_password or os.environ.get(PASSWORD_VARIABLE), time.monotonic)
        routes = [*board_routes("/", lambda _request: room, pages), *judge_routes(sessions, desk, room, pages)]
        self._web = WebServer(application(routes, self._hub), host, port)
        self._url: str | None = None

    @property
    def url(self) -> str:
        """Where the board is; raises `BoardNotStarted` before `start()`."""
        if self._url is None:
            raise BoardNotStarted("the board has not been started")
        return self._url

    @property
    def is_connected(self) -> bool:
        """Whether the broker is there and has taken the subscription."""
        return self._store.snapshot.broker

    def start(self) -> str:
        """Open the port (the next free one when it is taken), start serving and return the address."""
        self._url = self._web.start()
        self._feed.start()
        return self._url

    def stop(self) -> None:
        """Close streams, pages and the MQTT connection; safe to call twice."""
        if self._url is None:
            return
        self._url = None
        self._web.ask_to_stop()
        self._hub.close_from_thread()
        self._feed.stop()
        self._web.wait_stopped()

    def _on_message(self, topic: str, payload: bytes, retained: bool) -> None:
        self._store.on_message(topic.removeprefix(self._prefix), payload, retained)

    def _publish(self, topic: topics.Topic, payload: bytes) -> bool:
        return self._feed.publish(f"{self._prefix}{topic.name}", payload, topic.qos)

    def _ask(self, request: dict[str, Any]) -> None:
        self._publish(topics.REPLAY, msgspec.json.encode(request))
