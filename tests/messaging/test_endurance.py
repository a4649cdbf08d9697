"""A long day: ten thousand entries through a broker that comes and goes, in a process that does not grow."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from device import health, topics
from device.clock import WallTime
from device.messaging import Publisher
from device.messaging.backoff import Backoff
from device.referee import NewMatch, Referee
from device.storage import MatchLog, Outbox
from tests.messaging import game
from tests.parts.brokers import Mosquitto, Subscriber, wait_until

ENTRIES = 10_000
# A tournament day, in seconds of its own clock: a stroke every ten, a match every forty minutes, the picture five times a second.
DAY_S, STROKE_S, MATCH_S, PICTURES = 8 * 3600, 10, 2400, 5


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


@pytest.mark.slow
def test_eight_hours_of_a_table_leave_memory_files_and_threads_as_they_were(mosquitto: Mosquitto, memory_path: Path) -> None:
    now_s = 0

    def wall() -> WallTime:
        return WallTime(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1_800_000_000 + now_s)), True)

    log, recovered = MatchLog.open(memory_path / "match.jsonl", wall)
    figures: list[tuple[int, int, int]] = []
    seen = {"discs": [{"kind": "red", "x_mm": 1.0, "y_mm": 2.0, "sigma_mm": 0.1, "id": f"r{n}"} for n in range(17)]}
    with (
        log,
        Outbox.open(memory_path / "outbox", keep_sent=500) as outbox,
        Publisher(mosquitto.url, "t1", outbox, wall=wall) as publisher,
    ):
        referee = Referee(log, recovered, outbox, publisher.publish_state, NewMatch(), lambda *_: None)
        for second in range(DAY_S):
            now_s = second
            if second % MATCH_S == 0:
                referee.begin(msgspec.structs.replace(game.MATCH, id=f"m{second}"), resume=False)
            if second % STROKE_S == 0:
                referee.enter(game.entry(second // STROKE_S + 1))
            for number in range(PICTURES):
                publisher.publish_state(topics.DISCS, seen | {"t_s": second + number / PICTURES})
            publisher.publish_state(topics.HEALTH, {"fps": 60.0, "at": second})
            # In step with the broker, as a day is; a queue that grew would hide in the memory.
            if second % 60 == 0:
                assert publisher.wait_drained(30)
            if second % 1800 == 1799:
                machine = health.sample(memory_path)
                figures.append((machine.memory_mb or 0, machine.open_files or 0, threading.active_count()))
        assert publisher.wait_drained(30)
    # From the second hour on: the first fills caches.
    memories, files, threads = zip(*figures[2:], strict=True)
    print(f"memory {memories} MB, files {files}, threads {threads}")
    assert max(memories) <= 1.05 * min(memories) + 1
    assert max(files) == min(files)
    assert max(threads) == min(threads)
