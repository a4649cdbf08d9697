"""Signals end a running monitor, however many come and whatever it is doing."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import pytest

from benchmarks.truth import camera_of
from device.monitor import Monitor
from rules.errors import StorageFailed
from rules.facts import Position, Rest, Stroke, Struck
from virtual_table import overhead

STROKE = Stroke(side="S", before=Position(discs=[]), timeline=[Struck(t=0.0), Rest(t=1.0)], after=Position(discs=[]))


class FullCard:
    """A referee whose card is full."""

    def __init__(self) -> None:
        self.tried = threading.Event()

    def enter(self, _entry: object) -> None:
        self.tried.set()
        raise StorageFailed("no room")


@pytest.fixture
def referee() -> FullCard:
    return FullCard()


@pytest.fixture
def monitor(referee: FullCard, tmp_path: Path) -> Monitor:
    nothing = cast("Any", object())
    return Monitor(nothing, camera_of(overhead(1456, 1088)), cast("Any", referee), lambda *_: None, nothing, tmp_path, live=False)


def test_a_stop_waits_for_no_lock(monitor: Monitor) -> None:
    """A second signal may come while the first one's handler runs, in the same thread: what it waited for would never be let go."""
    with ExitStack() as held:
        for event in [value for value in vars(monitor).values() if isinstance(value, threading.Event)]:
            held.enter_context(event._cond)  # type: ignore[attr-defined]
        stopping = threading.Thread(target=monitor.stop, daemon=True)
        stopping.start()
        stopping.join(10)
        assert not stopping.is_alive()
    assert monitor._asked_to_stop


def test_a_stop_ends_waiting_for_room_on_a_full_card_though_the_frames_have_ended(monitor: Monitor, referee: FullCard) -> None:
    ruling = threading.Thread(target=monitor._rule_on, args=(STROKE,), daemon=True)
    ruling.start()
    assert referee.tried.wait(10)
    ruling.join(0.3)
    assert ruling.is_alive()
    monitor.stop()
    ruling.join(10)
    assert not ruling.is_alive()
