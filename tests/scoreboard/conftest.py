"""Fixtures: a broker, a table that speaks the contract, a board and a browser, all real."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scoreboard.server import Scoreboard
from tests.parts.brokers import Mosquitto, free_port
from tests.scoreboard.board_rig import Table, wait_until


@pytest.fixture
def broker(mosquitto: Mosquitto) -> Mosquitto:
    return mosquitto


@pytest.fixture
def table(broker: Mosquitto) -> Iterator[Table]:
    table = Table(broker)
    yield table
    table.stop()


@pytest.fixture
def scoreboard(broker: Mosquitto) -> Iterator[Scoreboard]:
    board = Scoreboard(broker.url, "t1", port=free_port())
    board.start()
    wait_until(lambda: board.is_connected)
    yield board
    board.stop()
