"""One table against real brokers: order, retained state, last will, reconnecting."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from device import topics
from device.cli import main
from device.messaging import EmbeddedBroker, Publisher
from device.messaging.backoff import Backoff
from device.messaging.guard import USER
from device.storage import Outbox
from rules.errors import Bug, InputUnusable
from tests.parts.brokers import Mosquitto, Subscriber, free_port, publish, wait_until

Subscribe = Callable[..., Subscriber]


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    with Outbox.open(tmp_path / "outbox") as outbox:
        yield outbox


@pytest.mark.parametrize("protocol", ["", "?protocol=3.1.1", "?protocol=5"])
@pytest.mark.parametrize("transport", ["tcp", "websocket"])
def test_messages_arrive_in_order_under_rising_seq(
    mosquitto: Mosquitto, subscribe: Subscribe, outbox: Outbox, protocol: str, transport: str
) -> None:
    subscriber = subscribe(mosquitto.port)
    url = mosquitto.url if transport == "tcp" else f"ws://127.0.0.1:{mosquitto.websocket_port}"
    with Publisher(url + protocol, "t1", outbox) as publisher:
        assert publisher.wait_connected(5)
        for number in range(50):
            outbox.put_entry(f"key-{number}", [(topics.STROKE, {"entry": number}), (topics.RULING, {"entry": number})])
        assert publisher.wait_drained(5)
        assert publisher.connection.connected
        assert 0 < (publisher.connection.acknowledge_ms or 0) < 5000
    assert wait_until(lambda: len(subscriber.seqs()) >= 100)
    assert subscriber.seqs() == list(range(1, 101))
    assert outbox.waiting == 0


@pytest.mark.parametrize("scheme", ["mqtt", "ws"])
def test_the_built_in_broker_serves_real_clients(embedded: EmbeddedBroker, subscribe: Subscribe, outbox: Outbox, scheme: str) -> None:
    subscriber = subscribe(embedded.port, keeps_session=False)
    over_web = embedded.url.replace(f"mqtt://{USER}", f"ws://{USER}").replace(str(embedded.port), str(embedded.websocket_port))
    url = embedded.url if scheme == "mqtt" else over_web
    with Publisher(url, "t1", outbox) as publisher:
        publisher.publish_state(topics.MATCH, {"score": [1, 0]})
        for number in range(100):
            outbox.put("ruling", {"entry": number})
        assert publisher.wait_drained(10)
    assert wait_until(lambda: len(subscriber.seqs()) >= 100)
    assert subscriber.seqs() == list(range(1, 101))
    late = subscribe(embedded.port, keeps_session=False)
    # amqtt hands out retained messages once for each subscription that anybody has: they may come more than once.
    assert wait_until(lambda: late.messages("/match")[:1] == [("novuss/t1/match", {"score": [1, 0]})])
    assert wait_until(lambda: {payload["state"] for _, payload in late.messages("/status")} == {"offline"})


def test_a_broker_that_speaks_only_3_1_1_is_found_out(embedded: EmbeddedBroker, outbox: Outbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("device.messaging.link.CONNECT_TIMEOUT_S", 1.0)
    outbox.put("ruling", {})
    with Publisher(embedded.url.removesuffix("?protocol=3.1.1"), "t1", outbox) as publisher:
        assert publisher.wait_drained(8)


def test_status_says_online_then_offline(mosquitto: Mosquitto, subscribe: Subscribe, outbox: Outbox) -> None:
    subscriber = subscribe(mosquitto.port, "novuss/t1/status")
    publisher = Publisher(mosquitto.url, "t1", outbox)
    publisher.start()
    assert publisher.wait_connected(5)
    publisher.close()
    assert wait_until(lambda: len(subscriber.messages()) == 2)
    states = [payload["state"] for _, payload in subscriber.messages()]
    assert states == ["online", "offline"]
    online, offline = (payload for _, payload in subscriber.messages())
    assert offline.keys() == {"schema", "state", "version", "since", "clock_synchronised"}
    assert online == offline | {"state": "online", "next_seq": 1}


class DeafBroker(threading.Thread):
    """Lets clients in and answers their pings, but acknowledges nothing."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.connects = 0

    def run(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                with client:
                    self.connects += 1
                    client.recv(4096)
                    client.sendall(bytes([0x20, 2, 0, 0]))
                    while client.recv(4096):
                        client.sendall(bytes([0xD0, 0]))

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.join(5)


def test_a_broker_that_acknowledges_nothing_is_left_and_tried_again(outbox: Outbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("device.messaging.publisher.ACKNOWLEDGE_S", 0.3)
    broker = DeafBroker()
    broker.start()
    outbox.put("ruling", {})
    with Publisher(f"mqtt://127.0.0.1:{broker.port}?protocol=3.1.1", "t1", outbox, backoff=Backoff(0.01, 0.02)) as publisher:
        for number in range(500):
            publisher.publish_state(topics.MATCH, {"number": number})
        assert wait_until(lambda: broker.connects >= 2)
        assert "acknowledged nothing" in (publisher.connection.reason or "acknowledged nothing")
        assert outbox.waiting == 1
    broker.close()


def test_something_that_is_no_broker_is_said_so(outbox: Outbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("device.messaging.link.CONNECT_TIMEOUT_S", 0.2)
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        Publisher(f"mqtt://127.0.0.1:{silent.getsockname()[1]}", "t1", outbox) as publisher,
    ):
        assert wait_until(lambda: "is it an MQTT broker?" in (publisher.connection.reason or ""))


def test_state_is_latest_wins_and_comes_again_after_the_broker_forgot_it(
    mosquitto: Mosquitto, subscribe: Subscribe, outbox: Outbox
) -> None:
    with Publisher(mosquitto.url, "t1", outbox, backoff=Backoff(0.05, 0.1)) as publisher:
        for number in range(1000):
            publisher.publish_state(topics.MATCH, {"number": number})
        assert publisher.wait_drained(5)
        late = subscribe(mosquitto.port, "novuss/t1/match")
        assert wait_until(lambda: late.messages() == [("novuss/t1/match", {"number": 999})])
        mosquitto.stop(hard=True)
        assert wait_until(lambda: not publisher.connection.connected)
        publisher.publish_state(topics.MATCH, {"number": 1000})
        mosquitto.start()
        assert wait_until(lambda: late.messages()[-1][1] == {"number": 1000})


def test_what_is_not_retained_does_not_come_again_after_an_outage(mosquitto: Mosquitto, subscribe: Subscribe, outbox: Outbox) -> None:
    """An old picture would be shown as what the camera sees now."""
    subscriber = subscribe(mosquitto.port)
    with Publisher(mosquitto.url, "t1", outbox, backoff=Backoff(0.05, 0.1)) as publisher:
        assert publisher.wait_connected(5)
        publisher.publish_state(topics.PICTURE, {"t_s": 1.0})
        assert wait_until(lambda: subscriber.messages("/picture"))
        # The broker throws a client out when another one comes under its name.
        publish(mosquitto.port, "anything", "{}", "-i", "novuss-t1")
        assert wait_until(lambda: publisher.connection.failures > 0 and publisher.connection.connected)
        publisher.publish_state(topics.MATCH, {"score": 1})
        assert wait_until(lambda: subscriber.messages("/match"))
    assert subscriber.messages("/picture") == [("novuss/t1/picture", {"t_s": 1.0})]


def test_nothing_holds_up_the_frame_path_while_no_broker_answers(outbox: Outbox) -> None:
    with Publisher(f"mqtt://127.0.0.1:{free_port()}", "t1", outbox) as publisher:
        longest = 0.0
        for number in range(500):
            started = time.perf_counter()
            publisher.publish_state(topics.DISCS, {"number": number})
            longest = max(longest, time.perf_counter() - started)
        assert longest < 0.05
        assert not publisher.wait_connected(0.2)
        assert not publisher.wait_drained(0.1)
        assert "no broker answers" in (publisher.connection.reason or "")


def test_closing_takes_no_time_without_a_broker(outbox: Outbox) -> None:
    publisher = Publisher(f"mqtt://127.0.0.1:{free_port()}", "t1", outbox)
    publisher.start()
    time.sleep(0.1)
    started = time.monotonic()
    publisher.close()
    publisher.close()
    assert time.monotonic() - started < 0.5


def test_an_outage_is_reported_once_not_at_each_try(mosquitto: Mosquitto, outbox: Outbox, caplog: pytest.LogCaptureFixture) -> None:
    with Publisher(mosquitto.url, "t1", outbox, backoff=Backoff(0.01, 0.02)) as publisher:
        assert publisher.wait_connected(5)
        mosquitto.stop()
        assert wait_until(lambda: publisher.connection.failures > 10)
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert 1 <= len(warnings) <= 2
    assert "0 messages wait in the outbox" in warnings[-1]


def test_a_fork_is_noticed(outbox: Outbox, monkeypatch: pytest.MonkeyPatch) -> None:
    publisher = Publisher("hall", "t1", outbox)
    monkeypatch.setattr(os, "getpid", lambda: 1)
    with pytest.raises(Bug, match="spawn"):
        publisher.publish_state(topics.DISCS, {})
    publisher.close()


@pytest.mark.parametrize("name", ["", "a/b", "+", "#", "a#"])
def test_a_table_name_that_cannot_be_part_of_a_topic(outbox: Outbox, name: str) -> None:
    with pytest.raises(InputUnusable, match="table name"):
        Publisher("hall", name, outbox)


def test_backoff_doubles_up_to_its_cap_and_starts_again() -> None:
    backoff = Backoff(0.25, 5.0, spread=lambda: 1.0)
    assert [backoff.next_s() for _ in range(7)] == [0.25, 0.5, 1.0, 2.0, 4.0, 5.0, 5.0]
    backoff.reset()
    assert backoff.next_s() == 0.25
    least = Backoff(0.25, 5.0, spread=lambda: 0.0)
    assert [least.next_s() for _ in range(3)] == [0.125, 0.25, 0.5]


def test_payloads_are_json_objects(mosquitto: Mosquitto, subscribe: Subscribe, outbox: Outbox) -> None:
    subscriber = subscribe(mosquitto.port)
    outbox.put("ruling", {"name": "Ābols — «é»", "x_mm": 1.5})
    with Publisher(mosquitto.url, "t1", outbox) as publisher:
        assert publisher.wait_drained(5)
    assert wait_until(lambda: subscriber.messages("/ruling"))
    assert subscriber.messages("/ruling")[0][1] == {"seq": 1, "name": "Ābols — «é»", "x_mm": 1.5}


def test_table_status_asks_any_broker(embedded: EmbeddedBroker, outbox: Outbox, capsys: pytest.CaptureFixture[str]) -> None:
    with Publisher(embedded.url, "t1", outbox) as publisher:
        publisher.publish_state(topics.MATCH, {"score": [1, 0]})
        assert publisher.wait_drained(5)
        with pytest.raises(SystemExit) as left:
            main(["table", "status", "--mqtt", embedded.public_url, "--table", "t1"])
    assert left.value.code == 0
    assert json.loads(capsys.readouterr().out)["match"] == {"score": [1, 0]}
