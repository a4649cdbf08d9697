"""The board of one table as a thing that is started and stopped: MQTT in, web pages out, each in a thread of its own."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import uuid
from typing import Any, Final

import msgspec
import uvicorn

from device import topics
from scoreboard.catchup import Ask, CatchUp
from scoreboard.desk import Desk
from scoreboard.feed import Feed
from scoreboard.hub import Hub
from scoreboard.pages import make_app
from scoreboard.sessions import Sessions
from scoreboard.state import Snapshot, Unreadable, apply, connected, seq_of

log = logging.getLogger(__name__)

PORT_TRIES: Final = 50  # a taken port is no failure: this many are tried upward
START_WAIT_S: Final = 10.0  # a Pi under load starts the server within a second or two
STOP_WAIT_S: Final = 0.7  # stop() promises less than a second
SEQUENCED: Final = {topic.name for topic in topics.SEQUENCED}
PASSWORD_VARIABLE: Final = "NOVUSS_JUDGE_PASSWORD"
ANY_HOST: Final = ("0.0.0.0", "::")  # an address to listen on, not one to open


class BoardNotStarted(RuntimeError):
    """No port could be opened, or the server didn't come up; the text says which."""


class Store:
    """The one place where the snapshot is replaced; called from the MQTT thread only."""

    def __init__(self, hub: Hub, desk: Desk, ask: Ask) -> None:
        self._hub = hub
        self._desk = desk
        self._catch_up = CatchUp(ask, f"board-{uuid.uuid4().hex[:12]}")
        self.snapshot = Snapshot()

    def on_link(self, up: bool) -> None:
        """The broker came or went."""
        if up != self.snapshot.broker:
            self.snapshot = connected(self.snapshot, up)
            self._hub.mark_from_thread(("link",))

    def on_message(self, name: str, payload: bytes, retained: bool) -> None:
        """One message of the table; what can't be read is said and left out."""
        if name == topics.JUDGE_RESULT.name:
            self._desk.answered(payload)
            return
        if name == topics.REPLAY_RESULT.name:
            again = self._catch_up.result(payload)
            if again is None:
                return
            name, payload = again
        before = self.snapshot
        try:
            self.snapshot, changed = apply(before, name, payload, retained=retained, at_s=time.monotonic())
        except Unreadable as error:
            log.warning("a message was left out: %s", error)
            return
        if name in SEQUENCED:
            self._catch_up.seen(seq_of(payload))
        elif self.snapshot.monitor == "online" != before.monitor:
            self._catch_up.monitor_online()
        self._hub.mark_from_thread(changed)


class Scoreboard:
    """Serves one table's board. `start()` returns its address; `stop()` ends it within a second, open pages included.

    The judge's console opens only with a `judge_password` (by default that of the environment, so that no process list shows it);
    without one nothing can be written through the board.
    """

    def __init__(
        self, broker_url: str, table: str, host: str = "127.0.0.1", port: int = 8080, *, judge_password: str | None = None
    ) -> None:
        self._hub = Hub()
        desk = Desk(self._publish)
        sessions = Sessions(judge_password or os.environ.get(PASSWORD_VARIABLE), time.monotonic)
        self._store = Store(self._hub, desk, self._ask)
        self._feed = Feed(broker_url, table, self._store.on_message, self._store.on_link)
        self._host = host
        self._port = port
        self._url: str | None = None
        app = make_app(table, self._hub, lambda: self._store.snapshot, time.monotonic, sessions, desk)
        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="on", ws="none", timeout_graceful_shutdown=1, server_header=False
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._serve, name="scoreboard-web", daemon=True)
        self._socket: socket.socket | None = None

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
        self._socket = listening_socket(self._host, self._port)
        port = self._socket.getsockname()[1]
        shown = "localhost" if self._host in ANY_HOST else f"[{self._host}]" if ":" in self._host else self._host
        self._thread.start()
        give_up_at = time.monotonic() + START_WAIT_S
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > give_up_at:
                self._socket.close()
                raise BoardNotStarted(f"the board's server did not start on {shown}:{port}")
            time.sleep(0.01)
        self._feed.start()
        self._url = f"http://{shown}:{port}"
        return self._url

    def stop(self) -> None:
        """Close streams, pages and the MQTT connection; safe to call twice."""
        if self._url is None:
            return
        self._url = None
        self._server.should_exit = True
        self._hub.close_from_thread()
        self._feed.stop()
        self._thread.join(STOP_WAIT_S)

    def _publish(self, topic: topics.Topic, payload: bytes) -> bool:
        return self._feed.publish(topic, payload)

    def _ask(self, request: dict[str, Any]) -> None:
        self._publish(topics.REPLAY, msgspec.json.encode(request))

    def _serve(self) -> None:
        assert self._socket is not None
        self._server.run(sockets=[self._socket])


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket bound to `port` or the first free one of the following 50; 0 takes any. Raises `BoardNotStarted`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    last: OSError | None = None
    for candidate in [port] if port == 0 else range(port, min(port + PORT_TRIES, 65535) + 1):
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, candidate))
            sock.listen()
        except OSError as error:
            sock.close()
            last = error
            continue
        return sock
    raise BoardNotStarted(f"no port from {port} to {port + PORT_TRIES} on {host} can be opened: {last}")
