"""The built-in broker: everybody may listen, strangers may not speak, on either listener, and are reported."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import paho.mqtt.client as mqtt
import pytest
from paho.mqtt.enums import CallbackAPIVersion

from device import topics
from device.messaging import EmbeddedBroker, JudgeRequest, Publisher
from device.messaging.guard import USER
from device.storage import Outbox
from tests.parts.brokers import wait_until

LISTENERS = ["tcp", "websockets"]
COMMAND = json.dumps({"command": "end_match", "by": "a stranger", "correlation": "s-1"})


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    with Outbox.open(tmp_path / "outbox") as outbox:
        yield outbox


def connected(
    broker: EmbeddedBroker, transport: str, prepare: Callable[[mqtt.Client], object] = lambda _client: None
) -> tuple[mqtt.Client, bool]:
    client = mqtt.Client(CallbackAPIVersion.VERSION2, transport=transport)  # type: ignore[arg-type]
    said: list[bool] = []
    answered = threading.Event()
    client.on_connect = lambda _c, _d, _f, reason, _p: (said.append(not reason.is_failure), answered.set())
    prepare(client)
    client.connect("127.0.0.1", broker.port if transport == "tcp" else broker.websocket_port)
    client.loop_start()
    assert answered.wait(5)
    return client, said[0]


def leave(client: mqtt.Client) -> None:
    client.disconnect()
    client.loop_stop()


@pytest.mark.parametrize("transport", LISTENERS)
def test_a_stranger_listens_and_is_not_heard(
    embedded: EmbeddedBroker, outbox: Outbox, transport: str, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[JudgeRequest] = []
    seen: list[str] = []
    with Publisher(embedded.url, "t1", outbox, on_judge=heard.append) as publisher:
        assert publisher.wait_connected(5)
        publisher.publish_state(topics.MATCH, {"score": [1, 0]})
        stranger, is_in = connected(embedded, transport)
        assert is_in
        stranger.on_message = lambda _c, _d, message: seen.append(message.topic)
        stranger.subscribe("novuss/#", 1)
        assert wait_until(lambda: "novuss/t1/match" in seen)
        for name in (topics.JUDGE, topics.MATCH, topics.RULING, topics.CLOCK):
            stranger.publish(f"novuss/t1/{name.name}", COMMAND, 1).wait_for_publish(5)
        assert wait_until(lambda: caplog.text.count("refused") == 4)
        outbox.put("ruling", {})
        assert publisher.wait_drained(5)
        assert wait_until(lambda: "novuss/t1/ruling" in seen)
        leave(stranger)
    assert heard == []
    assert "novuss/t1/judge" not in seen


@pytest.mark.parametrize("transport", LISTENERS)
def test_a_wrong_password_or_a_last_will_does_not_get_in(
    embedded: EmbeddedBroker, transport: str, caplog: pytest.LogCaptureFixture
) -> None:
    for prepare in (
        lambda c: c.username_pw_set(USER, "guess"),
        lambda c: c.username_pw_set("judge", ""),
        lambda c: c.will_set("novuss/t1/judge", COMMAND, 1),
    ):
        client, is_in = connected(embedded, transport, prepare)
        leave(client)
        assert not is_in
    assert caplog.text.count("refused") >= 3


def test_the_password_is_new_each_time_or_that_of_the_environment(embedded: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    with EmbeddedBroker() as other:
        assert other.url.split("@")[0] != embedded.url.split("@")[0]
    monkeypatch.setenv("NOVUSS_MQTT_PASSWORD", "a word/with @")
    with EmbeddedBroker() as broker:
        assert "a%20word%2Fwith%20%40" in broker.url
        assert "word" not in broker.public_url + broker.websocket_url
