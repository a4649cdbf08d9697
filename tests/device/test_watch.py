"""The main job as people run it: a process, a real broker, a real subscriber, a real browser, on the virtual table."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from device.commands.watch import kept_calibration
from device.storage.match_log import read_lines
from rules.errors import InputUnusable
from tests.device.running import Watch
from tests.parts.brokers import Mosquitto, Subscriber, wait_until

ENDS_WITHIN_S = 10.0  # three on a free machine; tests run side by side


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Callable[..., Watch]]:
    started: list[Watch] = []

    def start(*words: str) -> Watch:
        started.append(Watch(tmp_path, *words))
        return started[-1]

    yield start
    for one in started:
        one.make_sure_it_ended()


def each_ruling_once(watch: Watch, subscriber: Subscriber) -> None:
    """Every entry of the log reached the subscriber under one seq of its own, in the log's order, with nothing beside it."""
    lines = [line for line in read_lines(watch.log).lines if line.entry]
    wanted = [
        (line.match_id, line.entry, topic)
        for line in lines
        for topic in ("stroke" if line.value.stroke else "incident" if line.value.incident else None, "ruling")
        if topic
    ]
    sent: dict[int, tuple[str, int, str]] = {}

    def collect() -> bool:
        for topic, payload in subscriber.messages():
            name = topic.split("/")[2]
            if name in {"stroke", "ruling", "incident"}:
                value = (payload["match_id"], payload["entry"], name)
                assert sent.setdefault(payload["seq"], value) == value, "one seq stands for two messages"
        return len(sent) >= len(wanted)

    wait_until(collect, 20)
    assert [sent.get(seq) for seq in range(1, len(wanted) + 1)] == wanted
    assert len(sent) == len(wanted)


def test_a_stroke_on_the_table_becomes_a_ruling_at_a_subscriber(
    watch: Callable[..., Watch], mosquitto: Mosquitto, subscribe: Callable[..., Subscriber]
) -> None:
    subscriber = subscribe(mosquitto.port)
    monitor = watch("--seed", "3", "--mqtt", mosquitto.url, "--no-board")
    monitor.wait_for(2)
    status, took_s = monitor.end()
    assert status == 0, monitor.said()
    assert took_s < ENDS_WITHIN_S
    each_ruling_once(monitor, subscriber)
    retained = {topic.split("/")[2]: payload for topic, payload in subscriber.messages()}
    assert {"status", "health", "calibration", "discs", "match"} <= set(retained)
    assert retained["status"]["state"] == "offline"
    assert len(retained["match"]["players"]) == 2


def outage(seconds: float, watch: Callable[..., Watch], mosquitto: Mosquitto, subscribe: Callable[..., Subscriber]) -> None:
    subscriber = subscribe(mosquitto.port)
    monitor = watch("--seed", "4", "--mqtt", mosquitto.url, "--no-board")
    monitor.wait_for(1)
    mosquitto.stop()
    before, started = len(monitor.entries()), time.monotonic()
    monitor.wait_for(before + 1)
    time.sleep(max(0.0, seconds - (time.monotonic() - started)))
    mosquitto.start()
    monitor.wait_for(len(monitor.entries()) + 1)
    wait_until(lambda: len(subscriber.messages("/ruling")) >= len(monitor.entries()), 30)
    assert monitor.end()[0] == 0
    each_ruling_once(monitor, subscriber)


def test_a_broker_that_is_away_for_a_while_loses_and_doubles_nothing(
    watch: Callable[..., Watch], mosquitto: Mosquitto, subscribe: Callable[..., Subscriber]
) -> None:
    outage(3.0, watch, mosquitto, subscribe)


@pytest.mark.slow
def test_a_broker_that_is_away_for_30_seconds_loses_and_doubles_nothing(
    watch: Callable[..., Watch], mosquitto: Mosquitto, subscribe: Callable[..., Subscriber]
) -> None:
    outage(30.0, watch, mosquitto, subscribe)


def test_killed_in_mid_game_and_started_again_loses_and_doubles_nothing(
    watch: Callable[..., Watch], mosquitto: Mosquitto, subscribe: Callable[..., Subscriber]
) -> None:
    subscriber = subscribe(mosquitto.port)
    words = ("--seed", "5", "--mqtt", mosquitto.url, "--no-board")
    first = watch(*words)
    first.wait_for(1)
    first.kill()
    again = watch(*words)
    again.wait_for(len(first.entries()) + 1)
    assert again.end()[0] == 0
    each_ruling_once(again, subscriber)


def test_a_taken_port_is_no_failure_and_the_built_in_broker_serves_the_board(watch: Callable[..., Watch], tmp_path: Path) -> None:
    import http.client
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monitor = watch("--seed", "3", "--port", str(port))
        address = monitor.board()
        assert address != f"http://localhost:{port}"
        connection = http.client.HTTPConnection("127.0.0.1", int(address.rsplit(":", 1)[1]), timeout=10)
        connection.request("GET", "/")
        assert connection.getresponse().status == 200
        connection.close()
    assert "broker: mqtt://127.0.0.1:" in monitor.said()
    wait_until(lambda: "watching" in monitor.said(), 60)
    status, took_s = monitor.end()
    assert status == 0, monitor.said()
    assert took_s < ENDS_WITHIN_S


def test_a_calibration_that_may_not_be_looked_at_is_told_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "exists", refuse)
    with pytest.raises(InputUnusable, match=r"calibration\.json"):
        kept_calibration(tmp_path / "calibration.json")
