"""A real broker, a real browser and a table that speaks the contract."""

from __future__ import annotations

import socket
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

from device import topics

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SHOTS = Path(__file__).parents[2] / "out" / "screenshots"


def wait_until(is_so: Callable[[], bool], timeout_s: float = 8.0) -> float:
    """Seconds until `is_so`; fails after the time-out."""
    start = time.monotonic()
    while not is_so():
        assert time.monotonic() - start < timeout_s, "waited too long"
        time.sleep(0.02)
    return time.monotonic() - start


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


class Broker:
    """mosquitto on a loopback port, without persistence; can go away and come back."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"mqtt://127.0.0.1:{self.port}"
        self._conf = folder / "mosquitto.conf"
        self._conf.write_text(f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence false\nlog_type error\n")
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(["mosquitto", "-c", str(self._conf)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self._is_open)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _is_open(self) -> bool:
        with socket.socket() as sock:
            return sock.connect_ex(("127.0.0.1", self.port)) == 0


class Table:
    """Publishes what a table monitor would."""

    def __init__(self, broker: Broker, name: str = "t1") -> None:
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
