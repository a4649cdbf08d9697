"""A hall: so many tables at tournament rates, each with a board, and one page that hears them all.

python -m benchmarks hall [TABLES] [SECONDS] [URL [BROKER_PID...]]

Without a URL a mosquitto of its own is started. Latency is from the moment in which a ruling is made to the moment in which the page that
hears everything has it, its table's outbox with one fsync included; tables, boards and broker share the cores of one machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import msgspec
import numpy as np

from device.messaging.address import parse_url
from device.messaging.link import Incoming, Link, LinkLost, open_link
from rules.errors import NovussError
from tests.parts.brokers import Mosquitto, program

TABLES, SECONDS = 50, 60.0
PER_PROCESS = 25  # tables that one interpreter plays without being late itself
SETTLE_S = 3.0  # for the last messages to arrive
PER_S = os.sysconf("SC_CLK_TCK")


class _Sent(msgspec.Struct, frozen=True):
    sent_s: float | None = None
    seq: int | None = None


class Page:
    """Hears every table of the broker, reconnecting when it is cut off."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.latency_ms: dict[str, list[float]] = defaultdict(list)
        self.seqs: dict[str, list[int]] = defaultdict(list)
        self.messages = self.cuts = self.again = 0
        self._link: Link | None = None
        self._decode = msgspec.json.Decoder(_Sent).decode

    def listen(self, until: float) -> None:
        """Until that moment (monotonic)."""
        while time.monotonic() < until:
            try:
                if self._link is None:
                    self.connect()
                else:
                    self._link.pump(0.2, None)
            except (LinkLost, NovussError) as error:
                print(f"the page was cut off: {error}", file=sys.stderr)
                self.cuts += 1
                self._link = None
                time.sleep(0.2)

    def connect(self) -> None:
        """Hear everything from now on, and ask each table that is known for what came meanwhile."""
        self._link, _ = open_link(parse_url(self._url), "hall-page", None, self._take)
        self._link.subscribe("novuss/#")
        for table, seqs in self.seqs.items():
            self._ask(table, max(seqs) + 1, None)

    def _ask(self, table: str, first: int, last: int | None) -> None:
        if self._link is not None:
            request = msgspec.json.encode({"from": first, "to": last, "correlation": "hall-page"})
            self._link.publish(f"novuss/{table}/replay", request, qos=1)

    def _take(self, message: Incoming) -> None:
        now_s = time.monotonic()
        self.messages += 1
        _, table, topic = message.topic.split("/", 2)
        sent = self._decode(message.payload)
        if sent.sent_s is not None and not message.retained:
            self.latency_ms[topic].append((now_s - sent.sent_s) * 1e3)
        if sent.seq is not None:
            newest = max(self.seqs[table], default=0)
            if sent.seq > newest + 1:
                self._ask(table, newest + 1, sent.seq - 1)
            self.again += sent.seq in self.seqs[table][-200:]
            self.seqs[table].append(sent.seq)


def cpu_s(pids: list[int]) -> float:
    """Processor time of these processes so far."""
    total = 0
    for pid in pids:
        stat = Path(f"/proc/{pid}/stat")
        if stat.exists():
            fields = stat.read_text(encoding="ascii").rsplit(")", 1)[1].split()
            total += int(fields[11]) + int(fields[12])
    return total / PER_S


def play(tables: int, seconds: float, url: str, pids: list[int]) -> dict[str, object]:
    """One run against a broker that is there."""
    address = parse_url(url)
    boards = [
        subprocess.Popen(
            [program("mosquitto_sub"), "-h", address.host, "-p", str(address.port), "-V", "mqttv311", "-q", "1", "-t", f"novuss/t{n}/#"],
            stdout=subprocess.DEVNULL,
        )
        for n in range(tables)
    ]
    page = Page(url)
    page.connect()
    players = [
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.hall_tables", url, str(first), str(min(PER_PROCESS, tables - first)), str(seconds)],
            stdout=subprocess.PIPE,
        )
        for first in range(0, tables, PER_PROCESS)
    ]
    before_s, began = cpu_s(pids), time.monotonic()
    page.listen(began + seconds)
    used_s, took_s = cpu_s(pids) - before_s, time.monotonic() - began
    put: dict[str, list[int]] = {}
    while any(player.poll() is None for player in players):
        page.listen(time.monotonic() + SETTLE_S)
    for player in players:
        put |= json.loads(player.communicate()[0])
    for board in boards:
        board.terminate()
        board.wait(10)
    lost = sum(len(set(range(1, count + 1)) - set(page.seqs[table])) for table, (count, _) in put.items())
    return {
        "tables": tables,
        "seconds": round(took_s),
        "messages_per_s": round(page.messages / took_s),
        "rulings_ms": percentiles(page.latency_ms["ruling"]),
        "picture_ms": percentiles(page.latency_ms["discs"]),
        "sequenced": sum(count for count, _ in put.values()),
        "lost": lost,
        "again": page.again,
        "waiting_at_the_end": sum(waiting for _, waiting in put.values()),
        "page_cut_off": page.cuts,
        "broker_cpu_percent_of_a_core": round(100 * used_s / took_s, 1),
    }


def percentiles(values: list[float]) -> dict[str, float]:
    """p50, p95, p99 and the worst."""
    if not values:
        return {}
    return {name: round(float(np.percentile(values, at)), 1) for name, at in {"p50": 50, "p95": 95, "p99": 99, "worst": 100}.items()}


def main(argv: list[str]) -> None:
    """Figures as one JSON line."""
    tables = int(argv[0]) if argv else TABLES
    seconds = float(argv[1]) if argv[1:] else SECONDS
    if argv[2:]:
        print(json.dumps(play(tables, seconds, argv[2], [int(pid) for pid in argv[3:]])))
        return
    with tempfile.TemporaryDirectory() as folder:
        broker = Mosquitto(Path(folder), extra="max_inflight_messages 20\nautosave_interval 60").start()
        try:
            print(json.dumps({"broker": "mosquitto"} | play(tables, seconds, broker.url, [broker.pid])))
        finally:
            broker.stop()
