"""A receiver of news on loopback that answers as it is told, and the settings that name it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from device.settings import Settings, load
from tests.parts.brokers import LOOPBACK, free_port


class Club:
    """A club's software: `answers` are the next statuses, after them 200; `port` stays the same while it is away."""

    def __init__(self) -> None:
        self.port = free_port()
        self.answers: list[int] = []
        self.asked: list[tuple[str, dict[str, str], bytes]] = []
        self._server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}/results?club=1"

    def taken(self) -> list[Any]:
        """What it said yes to, as JSON."""
        return [json.loads(body) for path, _, body in self.asked if path == "taken"]

    def open(self) -> None:
        club = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = club.answers.pop(0) if club.answers else 200
                club.asked.append((self.path, dict(self.headers), body))
                if status == 200:
                    club.asked.append(("taken", dict(self.headers), body))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Not into the tests' output."""

        self._server = ThreadingHTTPServer((LOOPBACK, self.port), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


@pytest.fixture
def club() -> Iterator[Club]:
    made = Club()
    made.open()
    yield made
    made.close()


@pytest.fixture
def settings_of(tmp_path: Path) -> Callable[..., Settings]:
    def settings(**values: str) -> Settings:
        file = tmp_path / "novuss.toml"
        file.write_text("[webhook]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items()), encoding="utf-8")
        return load(file, {}).settings

    return settings
