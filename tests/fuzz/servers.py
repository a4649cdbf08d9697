"""Real servers on loopback that are given bytes: afterwards each must still serve whoever asks properly."""

from __future__ import annotations

import contextlib
import http.client
import logging
import socket
import tempfile
import time
from collections import deque
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlencode

from device.evidence.gallery import ShelfGallery
from device.messaging import EmbeddedBroker
from device.messaging.address import parse_url
from device.messaging.link import Incoming, LinkLost, open_link
from rules.errors import NovussError
from scoreboard.server import Scoreboard
from tests.parts.brokers import LOOPBACK, free_port

# Seconds: as long as an answer may take on a machine that does much else.
ANSWER_S = 10.0
# Seconds: a broker that waits for the rest of a packet says nothing; this long is listened to it.
SILENT_S = 0.02
ASK_EVERY = 50
TRIES = 5
# Bytes: enough of an answer to tell what it is; a stream of events has no end.
ENOUGH = 4096
# Requests told when one of them made a fault: it is reported later than it is answered.
LAST = 20
PASSWORD = "geheim"


class _Faults(logging.Handler):
    """What a server reports as its own fault."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(self.format(record))


class Board:
    """A board with its console; its broker is not there."""

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory()
        self._board = Scoreboard(
            f"mqtt://{LOOPBACK}:9",
            "t1",
            port=free_port(),
            judge_password=PASSWORD,
            sheet=lambda _: "<html><style>a{}</style></html>",
            gallery=ShelfGallery(Path(self._folder.name)),
        )
        self._board.start()
        self._port = int(self._board.url.rsplit(":", 1)[1].strip("/"))
        self._cookie = self._signed_in()
        self._taken = 0
        self._last: deque[bytes] = deque(maxlen=LAST)
        self._faults = _Faults()
        logging.getLogger().addHandler(self._faults)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        logging.getLogger().removeHandler(self._faults)
        self._board.stop()
        self._folder.cleanup()

    def take(self, data: bytes) -> None:
        """One connection's bytes; no answer may be a fault of the server's."""
        answer = said(self._port, data.replace(b"novuss_judge=COOKIE", self._cookie), ANSWER_S)
        status = answer.split(b" ", 2)[1:2]
        self._last.append(data)
        assert not self._faults.said, (self._faults.said, list(self._last))
        assert not status or not status[0].startswith(b"5") or status == [b"503"], answer[:2000]
        self._taken += 1
        if self._taken % ASK_EVERY == 0:
            connection = http.client.HTTPConnection(LOOPBACK, self._port, timeout=ANSWER_S)
            connection.request("GET", "/healthz")
            assert connection.getresponse().status == 200
            connection.close()

    def _signed_in(self) -> bytes:
        connection = http.client.HTTPConnection(LOOPBACK, self._port, timeout=ANSWER_S)
        connection.request("POST", "/judge/sign-in", urlencode({"name": "Ilze", "password": PASSWORD}))
        cookie = connection.getresponse().getheader("set-cookie") or ""
        connection.close()
        assert cookie, "signed in"
        return cookie.split(";", maxsplit=1)[0].encode()


class Broker:
    """The broker that comes with novuss."""

    def __enter__(self) -> Self:
        logging.getLogger("device.messaging").setLevel(logging.CRITICAL)  # it reports each broken client
        self._broker = EmbeddedBroker().start()
        self._taken = 0
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._broker.stop()
        logging.getLogger("device.messaging").setLevel(logging.NOTSET)

    def take(self, data: bytes) -> None:
        """One client's bytes."""
        said(self._broker.port, data, SILENT_S)
        self._taken += 1
        if self._taken % ASK_EVERY == 0:
            self._ask()

    def _ask(self) -> None:
        """A message of ours comes back; the broker may end one connection when another client goes, never several in a row."""
        for attempt in range(1, TRIES + 1):
            heard: list[Incoming] = []
            try:
                link, _ = open_link(parse_url(self._broker.url, {}), f"asks-{self._taken}-{attempt}", None, heard.append)
                try:
                    link.subscribe("novuss/fuzz/#")
                    deadline = time.monotonic() + ANSWER_S
                    while not any(message.payload == b"here" for message in heard) and time.monotonic() < deadline:
                        link.publish("novuss/fuzz/x", b"here", qos=1)
                        link.pump(0.1, None)
                finally:
                    link.abandon()
            except (LinkLost, NovussError):
                if attempt == TRIES:
                    raise
            else:
                assert any(message.payload == b"here" for message in heard)
                return


def said(port: int, data: bytes, timeout_s: float) -> bytes:
    """What a server says to these bytes: all of it, its beginning, or what it said until it fell silent."""
    answer = b""
    with socket.create_connection((LOOPBACK, port), ANSWER_S) as connection, contextlib.suppress(ConnectionError, TimeoutError):
        connection.settimeout(timeout_s)
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        while len(answer) < ENOUGH and not (answer.startswith(b"HTTP/1.1 200") and b"text/event-stream" in answer):
            if not (part := connection.recv(ENOUGH)):
                break
            answer += part
    return answer
