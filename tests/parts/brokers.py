"""Real brokers and real subscribers for the tests, each on free loopback ports, started and stopped by their own process id."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

LOOPBACK = "127.0.0.1"
# Below Linux's range for outgoing connections, so that none of those takes a port before it is used.
LOWEST_PORT, HIGHEST_PORT = 20_000, 32_000
PORTS_EACH = 1_500  # of the processes that test side by side
_given: set[int] = set()


def own_ports(worker: str) -> range:
    """Where a test process ("gw0", "gw1", ...) finds its ports: a broker that is stopped for a while gets its own one back."""
    shares = (HIGHEST_PORT - LOWEST_PORT) // PORTS_EACH
    first = LOWEST_PORT + int(worker.removeprefix("gw") or 0) % shares * PORTS_EACH
    return range(first, first + PORTS_EACH)


def free_port() -> int:
    """One that nothing listens on and that this process has not been given yet."""
    ports = own_ports(os.environ.get("PYTEST_XDIST_WORKER", ""))
    if len(_given) > len(ports) // 2:
        _given.clear()
    while True:
        port = random.SystemRandom().choice(ports)  # a test that seeds `random` would ask for the same ones again
        if port in _given:
            continue
        try:
            socket.create_server((LOOPBACK, port)).close()
        except OSError:
            continue
        _given.add(port)
        return port


def wait_until(is_so: Callable[[], object], timeout_s: float = 10.0) -> bool:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if is_so():
            return True
        time.sleep(0.01)
    return bool(is_so())


def answers(port: int) -> bool:
    """Whether something listens there."""
    try:
        socket.create_connection((LOOPBACK, port), 1).close()
    except OSError:
        return False
    return True


def program(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    if found is None:
        pytest.skip(f"{name} is not installed (Debian: mosquitto, mosquitto-clients)")
    return found


class Mosquitto:
    """A real mosquitto that keeps its sessions on disk, so that it can be stopped and started like one on a Pi."""

    def __init__(self, folder: Path, extra: str = "", access: str = "allow_anonymous true") -> None:
        self.port = free_port()
        self.websocket_port = free_port()
        self._folder = folder
        self._config = folder / "mosquitto.conf"
        self._process: subprocess.Popen[bytes] | None = None
        folder.chmod(0o755)
        self._config.write_text(
            f"persistence true\npersistence_location {folder}/\nuser root\nmax_queued_messages 10000\n"
            f"listener {self.port} {LOOPBACK}\nlistener {self.websocket_port} {LOOPBACK}\nprotocol websockets\n{access}\n{extra}\n"
        )

    def start(self) -> Mosquitto:
        log = self._folder / "mosquitto.log"
        with log.open("ab") as stream:
            before = stream.tell()
            self._process = subprocess.Popen([program("mosquitto"), "-c", str(self._config)], stdout=stream, stderr=stream)
        # Said once all listeners are open.
        assert wait_until(lambda: b" running" in log.read_bytes()[before:]), log.read_text()
        return self

    def stop(self, *, hard: bool = False) -> None:
        if self._process is not None:
            (self._process.kill if hard else self._process.terminate)()
            self._process.wait(10)
            self._process = None

    @property
    def url(self) -> str:
        return f"mqtt://{LOOPBACK}:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid


class Subscriber:
    """A real mosquitto_sub with a session of its own, collecting `topic payload` lines in a file."""

    def __init__(
        self, folder: Path, port: int, topic: str = "novuss/#", *options: str, keeps_session: bool = True, ready_topic: str = ""
    ) -> None:
        name = f"subscriber-{free_port()}"
        self._file = folder / f"{name}.txt"
        session = ["-c", "-i", name] if keeps_session else []
        with self._file.open("wb") as out, (folder / "subscriber.err").open("ab") as err:
            self._process = subprocess.Popen(
                [program("mosquitto_sub"), "-h", LOOPBACK, "-p", str(port), "-t", topic, "-t", ready_topic or name, "-q", "1", "-v"]
                + ["-V", "mqttv311", *session, *options],
                stdout=out,
                stderr=err,
            )
        self._ready = f"{ready_topic or name} ready\n"
        try:
            publish_until(lambda: self._ready in self._file.read_text(), port, ready_topic or name, "ready", *options)
        except BaseException:
            self.stop()
            raise

    def messages(self, topic_end: str = "") -> list[tuple[str, Any]]:
        lines = self._file.read_text().splitlines(keepends=True)
        pairs = [line.rstrip("\n").split(" ", 1) for line in lines if line.endswith("\n") and line != self._ready]
        return [(topic, json.loads(payload)) for topic, payload in pairs if topic.endswith(topic_end)]

    def seqs(self) -> list[int]:
        return [payload["seq"] for topic, payload in self.messages() if topic.split("/")[2] in ("stroke", "ruling", "incident")]

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(10)


def publish_until(is_so: Callable[[], object], port: int, topic: str, payload: str, *options: str) -> None:
    """Publish, again each half second, until it has had its effect: who is to hear it may still be subscribing."""
    for _ in range(20):
        # The built-in broker may end one connection when another client comes or goes; the next try is another connection.
        with contextlib.suppress(subprocess.CalledProcessError):
            publish(port, topic, payload, *options)
        if wait_until(is_so, 0.5):
            return
    pytest.fail(f"{payload} on {topic} had no effect")


def publish(port: int, topic: str, payload: str, *options: str) -> None:
    subprocess.run(
        [program("mosquitto_pub"), "-h", LOOPBACK, "-p", str(port), "-t", topic, "-q", "1", "-m", payload, *options],
        check=True,
        timeout=10,
        capture_output=True,
    )
