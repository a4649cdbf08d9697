"""A long day: ten thousand entries through a broker that comes and goes, in a process that does not grow."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from device import health, topics
from device.messaging import Publisher
from device.messaging.backoff import Backoff
from device.storage import Outbox
from tests.parts.brokers import Mosquitto, Subscriber, wait_until

ENTRIES = 10_000


@pytest.mark.slow
def test_10_000_events_none_lost_none_doubled_and_nothing_grows(
    mosquitto: Mosquitto, subscribe: Callable[..., Subscriber], memory_path: Path
) -> None:
    subscriber = subscribe(mosquitto.port, "novuss/t1/+")
    chance = random.Random(11)
    outages = sorted(chance.sample(range(ENTRIES), 8))
    figures: list[tuple[int, int, int]] = []
    with (
        Outbox.open(memory_path / "outbox", keep_sent=500) as outbox,
        Publisher(mosquitto.url, "t1", outbox, backoff=Backoff(0.05, 0.2)) as publisher,
    ):
        restart = threading.Timer(0, lambda: None)
        restart.start()
        for number in range(ENTRIES):
            outbox.put_entry(f"key-{number}", [(topics.STROKE, {"entry": number}), (topics.RULING, {"entry": number})])
            publisher.publish_state(topics.MATCH, {"entry": number})
            if number in outages:
                restart.join()
                mosquitto.stop()
                restart = threading.Timer(chance.uniform(0.1, 0.6), mosquitto.start)
                restart.start()
            if number % 20 == 0:
                time.sleep(0.01)
            if number % 1000 == 999:
                assert wait_until(lambda: outbox.waiting == 0, 30)
                machine = health.sample(memory_path)
                figures.append((machine.memory_mb or 0, machine.open_files or 0, threading.active_count()))
        assert publisher.wait_drained(30)
        assert publisher.connection.failures >= len(outages)
    restart.join()
    assert wait_until(lambda: len(set(subscriber.seqs())) >= 2 * ENTRIES, 60)
    assert list(dict.fromkeys(subscriber.seqs())) == list(range(1, 2 * ENTRIES + 1))
    # From the second thousand on: the first fills caches and the replay window.
    memories, files, threads = zip(*figures[1:], strict=True)
    assert max(memories) <= 1.05 * min(memories) + 1
    assert max(files) - min(files) <= 2
    assert max(threads) - min(threads) <= 1
    assert (memory_path / "outbox" / "outbox.jsonl").stat().st_size < 200_000
