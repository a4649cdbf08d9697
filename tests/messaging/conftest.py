from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from device.messaging import EmbeddedBroker
from tests.messaging.real_parts import Mosquitto, Subscriber


@pytest.fixture(autouse=True)
def no_unexpected_error_log(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    yield
    errors = [record.getMessage() for record in caplog.get_records("call") if record.levelno >= logging.ERROR]
    assert not errors or "expected_errors" in request.fixturenames, errors


@pytest.fixture
def expected_errors() -> None:
    """Asked for by tests in which an ERROR in the log is the right thing."""


@pytest.fixture
def memory_path(tmp_path: Path) -> Iterator[Path]:
    """A folder for tests that write thousands of files, in memory where there is such a place: they test content, not fsync."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


@pytest.fixture
def new_mosquitto(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Mosquitto]]:
    started: list[Mosquitto] = []

    def start(**options: str) -> Mosquitto:
        started.append(Mosquitto(tmp_path_factory.mktemp("mosquitto"), **options))
        return started[-1].start()

    yield start
    for broker in started:
        broker.stop()


@pytest.fixture
def mosquitto(new_mosquitto: Callable[..., Mosquitto]) -> Mosquitto:
    return new_mosquitto()


@pytest.fixture
def embedded() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as broker:
        yield broker


@pytest.fixture
def subscribe(tmp_path: Path) -> Iterator[Callable[..., Subscriber]]:
    started: list[Subscriber] = []

    def start(port: int, *arguments: str, keeps_session: bool = True, ready_topic: str = "") -> Subscriber:
        started.append(Subscriber(tmp_path, port, *arguments, keeps_session=keeps_session, ready_topic=ready_topic))
        return started[-1]

    yield start
    for subscriber in started:
        subscriber.stop()
