"""Signals end a running monitor, however many come and whatever it is doing."""

from __future__ import annotations

import threading

from device.monitor import Monitor


def test_a_stop_waits_for_no_lock() -> None:
    """A second signal may come while the first one's handler runs, in the same thread: what it waited for would never be let go."""
    monitor = Monitor.__new__(Monitor)
    monitor._source, monitor._asked_to_stop, monitor._stopping = object(), False, threading.Event()  # type: ignore[assignment]
    with monitor._stopping._cond:  # type: ignore[attr-defined]
        stopping = threading.Thread(target=monitor.stop, daemon=True)
        stopping.start()
        stopping.join(10)
        assert not stopping.is_alive()
    assert monitor._asked_to_stop
