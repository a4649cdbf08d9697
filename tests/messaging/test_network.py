"""Networks that cut, delay and stall, through a proxy between the table and a real broker."""

from __future__ import annotations

import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from device import topics
from device.messaging import Publisher
from device.messaging.backoff import Backoff
from device.storage import Outbox
from tests.parts.brokers import LOOPBACK, Mosquitto, Subscriber, wait_until


class Network:
    """Forwards connections to `port`; each is cut after a number of bytes, and every piece may be late."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server((LOOPBACK, 0))
        # Small, or its own buffer would hide a slow network; connections inherit it.
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.port: int = self._listener.getsockname()[1]
        self.cut_after: Callable[[], int | None] = lambda: None
        self.delay_s: Callable[[], float] = lambda: 0.0
        self.stalled = threading.Event()
        self.connections = 0
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection((LOOPBACK, self._target))
                self.connections += 1
                self._open += [near, far]
                budget = [self.cut_after()]
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=(source, sink, budget), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket, budget: list[int | None]) -> None:
        with suppress(OSError):
            while data := source.recv(1024):
                time.sleep(self.delay_s())
                while self.stalled.is_set():
                    time.sleep(0.01)
                if budget[0] is not None:
                    sent, budget[0] = data[: budget[0]], budget[0] - len(data)
                    sink.sendall(sent)
                    if budget[0] <= 0:
                        break
                else:
                    sink.sendall(data)
        self._cut(source, sink)

    @staticmethod
    def _cut(*socks: socket.socket) -> None:
        for sock in socks:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.stalled.clear()
        self._cut(self._listener)
        self._listener.close()
        self._cut(*self._open)
        for sock in self._open:
            sock.close()


@pytest.fixture
def network(mosquitto: Mosquitto) -> Iterator[Network]:
    network = Network(mosquitto.port)
    yield network
    network.close()


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    with Outbox.open(tmp_path / "outbox") as outbox:
        yield outbox


@pytest.mark.parametrize("protocol", ["3.1.1", "5"])
def test_connections_cut_at_any_byte_lose_and_reorder_nothing(
    mosquitto: Mosquitto, network: Network, subscribe: Callable[..., Subscriber], outbox: Outbox, protocol: str
) -> None:
    subscriber = subscribe(mosquitto.port)
    chance = random.Random(3)
    # Enough for some messages, too little for a window; now and then not enough for a connection.
    network.cut_after = lambda: chance.randrange(20, 4000)
    for number in range(120):
        outbox.put("ruling", {"entry": number, "text": "x" * 50})
    url = f"mqtt://{LOOPBACK}:{network.port}?protocol={protocol}"
    with Publisher(url, "t1", outbox, backoff=Backoff(0.01, 0.05)) as publisher:
        assert publisher.wait_drained(30)
        assert publisher.connection.failures >= 5
    assert wait_until(lambda: len(set(subscriber.seqs())) >= 120)
    assert list(dict.fromkeys(subscriber.seqs())) == list(range(1, 121))


def test_a_slow_network_is_only_slow_and_states_do_not_pile_up(
    mosquitto: Mosquitto, network: Network, subscribe: Callable[..., Subscriber], outbox: Outbox
) -> None:
    subscriber = subscribe(mosquitto.port)
    network.delay_s = lambda: 0.02
    with Publisher(f"mqtt://{LOOPBACK}:{network.port}", "t1", outbox) as publisher:
        assert publisher.wait_connected(5)
        longest_s = 0.0
        for number in range(300):
            started = time.perf_counter()
            publisher.publish_state(topics.DISCS, {"number": number, "text": "x" * 3000})
            longest_s = max(longest_s, time.perf_counter() - started)
            if number % 10 == 0:
                outbox.put("ruling", {"entry": number})
            time.sleep(0.002)
        assert publisher.wait_drained(10)
        assert publisher.connection.failures == 0
    assert longest_s < 0.1
    assert wait_until(lambda: subscriber.messages("/discs")[-1:] and subscriber.messages("/discs")[-1][1]["number"] == 299)
    assert subscriber.seqs() == list(range(1, 31))


def test_a_network_that_goes_silent_is_noticed_and_the_will_is_sent(
    mosquitto: Mosquitto, network: Network, subscribe: Callable[..., Subscriber], outbox: Outbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("device.messaging.link.KEEPALIVE_S", 1)
    subscriber = subscribe(mosquitto.port)
    with Publisher(f"mqtt://{LOOPBACK}:{network.port}", "t1", outbox, backoff=Backoff(0.1, 0.2)) as publisher:
        assert publisher.wait_connected(5)
        assert wait_until(lambda: [payload["state"] for _, payload in subscriber.messages("/status")] == ["online"])
        network.stalled.set()
        outbox.put("ruling", {})
        assert wait_until(lambda: not publisher.connection.connected)
        # The broker hears nothing either, and says so to everybody.
        assert wait_until(lambda: [payload["state"] for _, payload in subscriber.messages("/status")] == ["online", "offline"])
        network.stalled.clear()
        assert publisher.wait_drained(10)
    # A delivery whose answer was lost is sent again under its own seq.
    assert wait_until(subscriber.seqs)
    assert set(subscriber.seqs()) == {1}
