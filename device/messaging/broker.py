"""The broker that comes with novuss, for a table without one of its own: on loopback only, TCP and websocket, free ports."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import random
import secrets
import socket
import threading
from urllib.parse import quote

from amqtt.adapters import StreamReaderAdapter, StreamWriterAdapter
from amqtt.broker import Broker
from amqtt.contexts import BrokerConfig, ListenerConfig, ListenerType
from amqtt.errors import BrokerError

from device.messaging.address import PASSWORD_VARIABLE
from device.messaging.guard import DOOR, LOCK, USER
from rules.errors import SourceFailed

_log = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
# Below Linux's range for outgoing connections (32768 to 60999), so that none of those takes one between finding and using it.
PORTS = range(20_000, 32_000)
# Another server still may; that it happens five times over means something else.
TRIES = 5
# Bytes of randomness: beyond guessing.
PASSWORD_BYTES = 18
# Seconds; it starts in a tenth of one.
START_TIMEOUT_S = 10.0
STOP_TIMEOUT_S = 2.0


class EmbeddedBroker:
    """A running amqtt broker in a thread of its own. Everybody on this machine may listen; `url` holds the password for speaking.

    The password is that of the environment where there is one, so that other programs can be given it, else a new one each time.
    """

    def __init__(self) -> None:
        self._password = os.environ.get(PASSWORD_VARIABLE) or secrets.token_urlsafe(PASSWORD_BYTES)
        self._loop = asyncio.new_event_loop()
        # amqtt can stumble over one client that leaves while another subscribes; that connection ends, all others go on.
        self._loop.set_exception_handler(_report)
        self._thread = threading.Thread(target=self._loop.run_forever, name="embedded-broker", daemon=True)
        # Its own reports are about each packet; ours say what matters.
        logging.getLogger("amqtt").setLevel(logging.CRITICAL)
        for chatty in ("transitions", "websockets"):
            logging.getLogger(chatty).setLevel(logging.WARNING)

    def start(self) -> EmbeddedBroker:
        """Listen; `url` and `websocket_url` are known afterwards. Raises SourceFailed where no port can be had."""
        self._thread.start()
        for attempt in range(1, TRIES + 1):
            self.port, self.websocket_port = _free_ports()
            try:
                self._broker = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(START_TIMEOUT_S)
            except (BrokerError, OSError) as error:
                if attempt == TRIES:
                    raise SourceFailed(f"the built-in broker cannot listen on {LOOPBACK} ({error}); name a broker with --mqtt") from error
            else:
                break
        return self

    @property
    def url(self) -> str:
        """For the table itself: with the password, so not for printing."""
        return f"mqtt://{USER}:{quote(self._password, safe='')}@{LOOPBACK}:{self.port}?protocol=3.1.1"

    @property
    def public_url(self) -> str:
        """For programs on this machine that listen."""
        return f"mqtt://{LOOPBACK}:{self.port}?protocol=3.1.1"

    @property
    def websocket_url(self) -> str:
        """For browsers on this machine that listen."""
        return f"ws://{LOOPBACK}:{self.websocket_port}"

    def stop(self) -> None:
        """End it and its thread; a second call does nothing."""
        if self._loop.is_closed():
            return
        # A client that does not let go must not keep the table from ending; the thread dies with the process.
        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._shut(), self._loop).result(STOP_TIMEOUT_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STOP_TIMEOUT_S)
        if not self._thread.is_alive():
            self._loop.close()

    def __enter__(self) -> EmbeddedBroker:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def _listen(self) -> Broker:
        broker = Broker(
            BrokerConfig(
                listeners={
                    "default": ListenerConfig(type=ListenerType.EXTERNAL),
                    "websocket": ListenerConfig(type=ListenerType.WS, bind=f"{LOOPBACK}:{self.websocket_port}"),
                },
                plugins={DOOR: {"password": self._password}, LOCK: {}},
            )
        )
        await broker.start()

        async def let_in(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await broker.external_connected(StreamReaderAdapter(reader), _Writer(writer), "default")
            finally:
                # amqtt leaves a client that says nothing sensible connected.
                writer.close()

        try:
            self._server = await asyncio.start_server(let_in, LOOPBACK, self.port)
        except OSError:
            await broker.shutdown()
            raise
        return broker

    async def _shut(self) -> None:
        self._server.close()
        await self._broker.shutdown()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


class _Writer(StreamWriterAdapter):  # type: ignore[misc]  # amqtt has no types
    """amqtt says goodbye before it closes; where the other side had gone, that failed and the socket stayed open."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        super().__init__(writer)
        self._stream = writer

    async def close(self) -> None:
        try:
            await super().close()
        finally:
            self._stream.close()


def _report(_loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
    _log.warning("built-in broker: one connection ended (%s)", context.get("exception") or context.get("message"))


def _free_ports() -> tuple[int, int]:
    with contextlib.ExitStack() as held:
        ports: list[int] = []
        while len(ports) < 2:
            port = random.choice(PORTS)
            with contextlib.suppress(OSError):
                held.enter_context(socket.create_server((LOOPBACK, port)))
                ports.append(port)
        return ports[0], ports[1]
