"""Fixtures: a broker, a table that speaks the contract, a board and a browser, all real."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from board_rig import CHROMIUM, FLAGS, Broker, Table, free_port, wait_until

from scoreboard.server import Scoreboard


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    if shutil.which("mosquitto") is None:
        pytest.skip("mosquitto is not installed")
    broker = Broker(tmp_path)
    broker.start()
    yield broker
    broker.stop()


@pytest.fixture
def table(broker: Broker) -> Iterator[Table]:
    table = Table(broker)
    yield table
    table.stop()


@pytest.fixture
def scoreboard(broker: Broker) -> Iterator[Scoreboard]:
    board = Scoreboard(broker.url, "t1", port=free_port())
    board.start()
    wait_until(lambda: board.is_connected)
    yield board
    board.stop()


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    if not Path(CHROMIUM).exists():
        pytest.skip(f"{CHROMIUM} is not installed")
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()
