"""What is started and stopped as one: MQTT in, web pages out, each in a thread of its own."""

from __future__ import annotations

from starlette.applications import Starlette

from scoreboard.feed import Feed
from scoreboard.hub import Hub
from scoreboard.web import BoardNotStarted, WebServer


class Service:
    """A feed, the hub it wakes and the pages that the hub feeds. `start()` returns the address; `stop()` takes less than a second."""

    def __init__(self, feed: Feed, hub: Hub, app: Starlette, host: str, port: int) -> None:
        self._feed = feed
        self._hub = hub
        self._web = WebServer(app, host, port)
        self._url: str | None = None

    @property
    def url(self) -> str:
        """Where the pages are; raises `BoardNotStarted` before `start()`."""
        if self._url is None:
            raise BoardNotStarted("the pages have not been started")
        return self._url

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
