"""A table that plays in real time for an hour: memory, files, threads, processor time, frames lost, log and evidence on disk.

python -m benchmarks soak [MINUTES [SEED]]

`novuss watch` on the virtual table with evidence, rulings and pages, as a process of its own beside a mosquitto of its own. The drawing of
the frames runs in the same process: the processor time says what all of it takes, the frame path's own time is in the health that it sends.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.hall import cpu_s
from device.messaging.address import parse_url
from device.messaging.link import Incoming, open_link
from tests.parts.brokers import Mosquitto, free_port

MINUTES = 60.0
SAMPLE_S = 30.0
WARM_S = 300.0  # caches and the replay window are full by then
PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 1e6
COLUMNS = ("minute", "MB", "files", "threads", "core", "frames", "lost", "p50 ms", "p99 ms", "rulings", "log MB", "clips MB")


class Ear:
    """Hears the table's health and counts its rulings."""

    def __init__(self, url: str) -> None:
        self.health: dict[str, Any] = {}
        self.rulings = 0
        self._link, _ = open_link(parse_url(url), "soak", None, self._take)
        self._link.subscribe("novuss/#")
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Hear no more."""
        self._ended.set()
        self._thread.join()

    def _listen(self) -> None:
        while not self._ended.is_set():
            self._link.pump(0.2, None)

    def _take(self, message: Incoming) -> None:
        if message.topic.endswith("/health"):
            self.health = json.loads(message.payload)
        self.rulings += message.topic.endswith("/ruling")


def _size_mb(path: Path) -> float:
    files = [path] if path.is_file() else path.rglob("*") if path.is_dir() else ()
    return sum(f.stat().st_size for f in files if f.is_file()) / 1e6


def _sample(pid: int, ear: Ear, folder: Path, since_s: float) -> tuple[float, ...]:
    proc = Path(f"/proc/{pid}")
    resident = int((proc / "statm").read_text().split()[1]) * PAGE_MB
    latency = ear.health.get("latency_ms", {})
    return (
        since_s / 60,
        resident,
        len(list((proc / "fd").iterdir())),
        len(list((proc / "task").iterdir())),
        cpu_s([pid]) / since_s,
        ear.health.get("frames", 0),
        ear.health.get("dropped_frames", 0),
        latency.get("median", 0.0),
        latency.get("p99", 0.0),
        ear.rulings,
        _size_mb(folder / "log.jsonl"),
        _size_mb(folder / "log.jsonl.evidence"),
    )


def _watch(folder: Path, url: str, minutes: float, seed: int) -> list[tuple[float, ...]]:
    program = [str(Path(sys.executable).with_name("novuss")), "watch", "virtual", "--sets", "99", "--seed", str(seed), "--mqtt", url]
    options = ["--record", str(folder / "log.jsonl"), "--port", str(free_port())]
    ear = Ear(url)
    rows = []
    with (folder / "said.txt").open("wb") as said, subprocess.Popen([*program, *options], stdout=said, stderr=said) as process:
        try:
            began = time.monotonic()
            print(" ".join(f"{name:>8}" for name in COLUMNS), flush=True)
            while process.poll() is None and time.monotonic() - began < minutes * 60:
                time.sleep(SAMPLE_S)
                rows.append(_sample(process.pid, ear, folder, time.monotonic() - began))
                print(" ".join(f"{value:8.1f}" if isinstance(value, float) else f"{value:8d}" for value in rows[-1]), flush=True)
        finally:
            process.terminate()
            process.wait(60)
            ear.close()
    return rows


def main(words: list[str]) -> None:
    """Print a line every half minute, and what grew."""
    minutes = float(words[0]) if words else MINUTES
    seed = int(words[1]) if len(words) > 1 else 1
    with tempfile.TemporaryDirectory() as name:
        mosquitto = Mosquitto(Path(name)).start()
        try:
            rows = _watch(Path(name), mosquitto.url, minutes, seed)
        finally:
            mosquitto.stop()
    settled = np.array([row for row in rows if row[0] * 60 >= WARM_S] or rows)
    quarter = len(settled) // 4 + 1
    for column, what in ((1, "memory, MB"), (2, "files"), (3, "threads")):
        first, last = np.median(settled[:quarter, column]), np.median(settled[-quarter:, column])
        print(f"{what}: {first:.0f} in the first quarter, {last:.0f} in the last, at most {settled[:, column].max():.0f}")
    print(f"frame path: median {np.median(settled[:, 7]):.1f} ms, p99 {np.median(settled[:, 8]):.1f} ms; frames lost {rows[-1][6]:.0f}")
