from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from device.messaging import EmbeddedBroker


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
def embedded() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as broker:
        yield broker
