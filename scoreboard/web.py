"""A web server in a thread of its own, on the next free port, that stops within a second."""

from __future__ import annotations

import socket
import threading
import time
from typing import Final

import uvicorn
from starlette.applications import Starlette

from rules.errors import NovussError

PORT_TRIES: Final = 50  # a taken port is no failure: this many are tried upward
START_WAIT_S: Final = 10.0  # a Pi under load starts the server within a second or two
STOP_WAIT_S: Final = 0.7  # stop() promises less than a second
ANY_HOST: Final = ("0.0.0.0", "::")  # an address to listen on, not one to open


class BoardNotStarted(NovussError, RuntimeError):
    """No port could be opened, or the server didn't come up; the text says which."""


class WebServer:
    """Serves one application from `start()` to `stop()`."""

    def __init__(self, app: Starlette, host: str, port: int) -> None:
        self._host = host
        self._port = port
        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="on", ws="none", timeout_graceful_shutdown=1, server_header=False
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._serve, name="scoreboard-web", daemon=True)
        self._socket: socket.socket | None = None

    def start(self) -> str:
        """Open the port (the next free one when it is taken), serve, and return the address; raises `BoardNotStarted`."""
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
        return f"http://{shown}:{port}"

    def ask_to_stop(self) -> None:
        """Take no more requests; open streams must be ended by whoever feeds them."""
        self._server.should_exit = True

    def wait_stopped(self) -> None:
        """Wait for the end, but no longer than promised."""
        self._thread.join(STOP_WAIT_S)

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
