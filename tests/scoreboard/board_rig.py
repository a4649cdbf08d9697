"""A table that speaks the contract."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import msgspec
import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

from device import topics
from tests.parts.brokers import Mosquitto

Open = Callable[..., Any]


def sign_in(page: Any, name: str, password: str) -> None:
    """Sign in at the console in English."""
    page.get_by_label("Judge's name").fill(name)
    page.get_by_label("Password").fill(password)
    page.keyboard.press("Enter")
    page.locator("section.decide").wait_for()


# Seconds; only what never comes is waited for so long: on an emulated Cortex-A72 with a tenth of a core, 520 tables took more than eight.
NEVER_S = 90.0


def wait_until(is_so: Callable[[], bool], timeout_s: float = NEVER_S) -> float:
    """Seconds until `is_so`; fails after the time-out."""
    start = time.monotonic()
    while not is_so():
        assert time.monotonic() - start < timeout_s, "waited too long"
        time.sleep(0.02)
    return time.monotonic() - start


class Table:
    """Publishes what a table monitor would."""

    def __init__(self, broker: Mosquitto, name: str = "t1") -> None:
        self.name = name
        self._client = mqtt.Client(CallbackAPIVersion.VERSION2)
        self._client.reconnect_delay_set(1, 1)
        self._client.connect(broker.url.removeprefix("mqtt://").split(":")[0], broker.port)
        self._client.loop_start()
        wait_until(self._client.is_connected)

    def wait_connected(self) -> None:
        wait_until(self._client.is_connected)

    def send(self, topic: topics.Topic, payload: object) -> None:
        body = payload if isinstance(payload, bytes) else msgspec.json.encode(payload)
        self._client.publish(topics.path(self.name, topic), body, topic.qos, topic.retained)

    def on_replay(self, answer: Callable[[dict[str, Any]], None]) -> None:
        self._listen(topics.REPLAY, answer)

    def on_judge(self, answer: Callable[[dict[str, Any]], None]) -> None:
        self._listen(topics.JUDGE, answer)

    def _listen(self, topic: topics.Topic, answer: Callable[[dict[str, Any]], None]) -> None:
        listening = threading.Event()
        self._client.on_message = lambda _client, _data, message: answer(msgspec.json.decode(message.payload))
        self._client.on_subscribe = lambda *_: listening.set()
        self._client.subscribe(topics.path(self.name, topic), 1)
        assert listening.wait(5)

    def stop(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()
