"""Some tables of a hall in one process, with the product's own outbox and publisher; only what the camera would see is made up.

python -m benchmarks.hall_tables URL FIRST COUNT SECONDS
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from device import topics
from device.messaging import Publisher
from device.storage import Outbox

# Seconds between two strokes of a table: ten hours of these are 3,600, nearly twice a tournament day's.
STROKE_S = 10.0
DISCS_S = 0.2  # the live picture, as `novuss watch` sends it
HEALTH_S = 1.0
DRAIN_S = 60.0
STAY_S = 5.0  # whoever missed something may still ask for it
PIECES = [
    {"id": f"{kind[0]}{n}", "kind": kind, "x_mm": -105.0 + 30 * n, "y_mm": y}
    for kind, y in (("red", 485.0), ("black", -485.0))
    for n in range(8)
]
BOARD = {"discs": [*PIECES, {"id": "striker", "kind": "striker", "x_mm": 10.0, "y_mm": -440.0}]}
EVENTS = [{"t": n / 10, "event": "contact", "discs": ["striker", f"r{n}"], "confidence": 0.98} for n in range(8)]
CLEARANCE = dict.fromkeys(("S", "N", "W", "E", "circle"), -123.456)
SEEN = [disc | {"sigma_mm": 0.08, "pose": "flat", "confidence": 0.99, "clearance_mm": CLEARANCE} for disc in BOARD["discs"]]


class Table:
    """One table; `tick` does what is due."""

    def __init__(self, stack: ExitStack, url: str, name: str, folder: Path, chance: random.Random) -> None:
        self._outbox = stack.enter_context(Outbox.open(folder / name))
        self.publisher = stack.enter_context(Publisher(url, name, self._outbox))
        now_s = time.monotonic()
        # Not all at once: tables play when they play.
        self._due_s = {
            "stroke": now_s + chance.uniform(0, STROKE_S),
            "discs": now_s + chance.random() * DISCS_S,
            "health": now_s + chance.random(),
        }
        self._entry = 0

    def tick(self, now_s: float) -> None:
        """Send what is due."""
        if now_s >= self._due_s["discs"]:
            self._due_s["discs"] += DISCS_S
            self._say(topics.DISCS, {"schema": "novuss.discs/1", "discs": SEEN})
        if now_s >= self._due_s["health"]:
            self._due_s["health"] += HEALTH_S
            self._say(topics.HEALTH, {"schema": "novuss.health/1", "fps": 60.0, "more": "x" * 600})
        if now_s >= self._due_s["stroke"]:
            self._due_s["stroke"] += STROKE_S
            self._entry += 1
            sent = {"sent_s": time.monotonic(), "entry": self._entry, "match_id": "m"}
            stroke = sent | {"side": "S", "before": BOARD, "timeline": EVENTS, "after": BOARD}
            ruling = sent | {"kind": "stroke", "place": PIECES[:2], "seen": {"first": EVENTS}, "margins": SEEN[:4]}
            self._outbox.put_entry(f"k{self._entry}", [(topics.STROKE, stroke), (topics.RULING, ruling)])
            self._say(topics.MATCH, {"players": {"S": "A", "N": "B"}, "last_ruling": ruling})
            self._say(topics.STATS, {"figures": list(range(400))})

    def _say(self, topic: topics.Topic, payload: dict[str, Any]) -> None:
        self.publisher.publish_state(topic, payload | {"sent_s": time.monotonic()})

    @property
    def put(self) -> int:
        """How many sequenced messages there are."""
        return self._outbox.next_seq - 1

    @property
    def waiting(self) -> int:
        """Those that the broker has not acknowledged."""
        return self._outbox.waiting


def main(url: str, first: int, count: int, seconds: float) -> None:
    """Play, and print how many messages each table put as JSON."""
    chance = random.Random(first)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        tables = {f"t{n}": Table(stack, url, f"t{n}", folder, chance) for n in range(first, first + count)}
        until_s = time.monotonic() + seconds
        while (now_s := time.monotonic()) < until_s:
            for table in tables.values():
                table.tick(now_s)
            time.sleep(0.005)
        for table in tables.values():
            table.publisher.wait_drained(max(0.1, until_s + DRAIN_S - time.monotonic()))
        time.sleep(STAY_S)
        print(json.dumps({name: [table.put, table.waiting] for name, table in tables.items()}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
