"""A log of 100,000 entries through the rule book: time, growth with length, memory while streamed."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Iterator
from typing import Any

import msgspec

from rules.log import rulings

ENTRIES = 100_000
GOAL_S = 10.0


def _discs(own: str, moved: bool) -> list[dict[str, Any]]:
    discs = [{"id": f"r{n + 1}", "kind": "red", "x_mm": -105.0 + 30 * n, "y_mm": 485.0} for n in range(8)]
    discs += [{"id": f"b{n + 1}", "kind": "black", "x_mm": -105.0 + 30 * n, "y_mm": -485.0} for n in range(8)]
    for disc in discs:
        if moved and disc["id"] == f"{own}4":
            disc["y_mm"] *= 0.8
    return [*discs, {"id": "striker", "kind": "striker", "x_mm": 15.0, "y_mm": -430.0 if own == "r" else 430.0}]


def lines(entries: int) -> Iterator[bytes]:
    """One match that never ends: lawful strokes of both sides in turn, all sixteen pieces on the table."""
    players = {"S": {"name": "A", "colour": "red"}, "N": {"name": "B", "colour": "black"}}
    match = {"id": "bench", "ruleset": "lnf-2008", "format": "singles", "sets": 5, "players": players, "first_turn": "S"}
    yield json.dumps({"match": match}).encode()
    strokes = []
    for side, own in (("S", "r"), ("N", "b")):
        timeline = [
            {"t": 0.0, "event": "struck"},
            {"t": 0.2, "event": "contact", "discs": ["striker", f"{own}5"]},
            {"t": 0.3, "event": "contact", "discs": [f"{own}5", f"{own}4"]},
            {"t": 1.2, "event": "rest"},
        ]
        stroke = {"side": side, "before": {"discs": _discs(own, False)}, "timeline": timeline, "after": {"discs": _discs(own, True)}}
        strokes.append(json.dumps({"stroke": stroke}).encode())
    for n in range(entries):
        yield strokes[n % 2]


def fold_s(entries: int) -> tuple[float, float]:
    """Wall and processor seconds to read, fold and encode so many entries."""
    encode = msgspec.json.Encoder().encode
    wall, processor = time.perf_counter(), time.process_time()
    for ruling in rulings(lines(entries)):
        encode(ruling)
    return time.perf_counter() - wall, time.process_time() - processor


def main(args: list[str]) -> None:
    """Print the figures; a number as argument takes so many entries instead."""
    entries = int(args[0]) if args else ENTRIES
    half = fold_s(entries // 2)[1]
    wall, processor = fold_s(entries)
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{entries} entries in {wall:.1f} s (processor {processor:.1f} s, {processor / entries * 1e6:.0f} us an entry; goal {GOAL_S:.0f} s)"
    )
    print(f"twice the entries take {processor / half:.2f} times as long; peak memory {peak_mib:.0f} MiB")
