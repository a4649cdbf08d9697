"""`python -m benchmarks [NAME [ARGS...]]`: one figure, or all that need nothing beside the repository."""

from __future__ import annotations

import importlib
import sys
from typing import Final

WITH_MORE: Final = {
    "stills": "accuracy on stills with truth",
    "clips": "rulings on clips with truth, through the whole product",
    "soak": "a table that plays for an hour in real time: memory, files, threads, disk",
    "hall": "50 tables at tournament rates on one mosquitto: latency, loss, the broker's processor time",
}
ALONE: Final = {
    "camera": "cost of a frame of the virtual camera",
    "discs": "time and error per frame against a tuned HoughCircles",
    "ablation": "classical seeing alone, networks alone, both: on stills, where nothing happens, and where pieces are touched",
    "shutter": "places through a rolling shutter, with and without correction",
    "filmed": "rendered strokes through the whole pipeline against their truth",
    "strokes": "first contacts, order and times on simulated strokes",
    "games": "whole matches on the virtual table against its truth",
    "occluders": "the mask of hands and cues on rendered tables: overlap, false cells, time, memory",
    "quiet": "recordings in which nothing happens: what is told is a false call",
    "nudges": "pieces touched, lifted, shaken between strokes",
    "evidence": "what filming costs the frame path, in time and memory",
    "fold": "a log of 100,000 entries",
}


def main(argv: list[str]) -> int:
    """Run one figure by name, or all of them that stand alone."""
    known = WITH_MORE | ALONE
    if argv and argv[0] not in known:
        print("figures:", *(f"  {name:<9} {what}" for name, what in known.items()), sep="\n", file=sys.stderr)
        return 2
    for name in [argv[0]] if argv else ALONE:
        print(f"== {name}: {known[name]}", flush=True)
        importlib.import_module(f"benchmarks.{name}").main(argv[1:])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
