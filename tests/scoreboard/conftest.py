"""Fixtures: a broker, a table that speaks the contract, a board and a browser, all real."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scoreboard.server import Scoreboard
from tests.parts.brokers import Mosquitto, free_port
from tests.parts.browser import SHOTS
from tests.scoreboard.board_rig import Open, Table, wait_until
from tests.scoreboard.table_rig import RealTable


@pytest.fixture
def broker(mosquitto: Mosquitto) -> Mosquitto:
    return mosquitto


@pytest.fixture
def table(broker: Mosquitto) -> Iterator[Table]:
    table = Table(broker)
    yield table
    table.stop()


@pytest.fixture
def real(broker: Mosquitto, tmp_path: Path) -> Iterator[RealTable]:
    table = RealTable(broker, tmp_path)
    yield table
    table.close()


@pytest.fixture
def scoreboard(broker: Mosquitto) -> Iterator[Scoreboard]:
    board = Scoreboard(broker.url, "t1", port=free_port())
    board.start()
    wait_until(lambda: board.is_connected)
    yield board
    board.stop()


@pytest.fixture
def open_page(chromium: Any) -> Iterator[Open]:
    """Open a page; at the end no page may have complained."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    said: list[str] = []
    contexts = []

    def opened(url: str, width: int = 1280, height: int = 800) -> Any:
        context = chromium.new_context(viewport={"width": width, "height": height}, locale="en-GB")
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}") if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(url)
        return page

    opened.said = said  # type: ignore[attr-defined]
    yield opened
    for context in contexts:
        context.close()
    # A server or broker that a test takes away shows as refused requests; nothing else may be there.
    assert [line for line in said if "ERR_CONNECTION_REFUSED" not in line and "ERR_INCOMPLETE_CHUNKED" not in line] == []
