"""Recordings in which nothing happens, through the whole pipeline: whatever is told is a false call.

    python -m benchmarks quiet [RECORDINGS] [--first SEED] [--seconds 8]

Tables, lamps, paints and cameras are drawn anew for each; hands tidy the air, pass the striker, lean on the rails, cues aim, lamps
flicker, the camera changes its exposure.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter

import cv2
import msgspec

from calibration.camera import Camera
from calibration.find import find_table
from calibration.lens import Lens
from rules.errors import InputUnusable
from rules.facts import Incident, Stroke
from virtual_table import VirtualTable, random_camera, random_look
from virtual_table.quiet import QUIET, Nothing
from vision.watcher import Watcher

AWAY_MM = 10.0  # two thirds of a piece's radius: not where it is


def watch(table: VirtualTable, seconds: float, spent_ms: list[float] | None = None) -> tuple[Watcher, list[Stroke | Incident]]:
    """Push so many seconds of a virtual table through calibration, detector and follower: what was told, and each frame's time.

    The watcher is not told of the end: a hand may be carrying something.

    Raises
    ------
    InputUnusable
        When the table is not found in the first picture.
    """
    lens = msgspec.convert(table.lens, Lens)
    frame = table.next_frame()
    assert frame is not None
    watcher = Watcher(Camera(find_table([frame.image], lens).calibration), sides=("S", "N"))
    facts: list[Stroke | Incident] = []
    while frame is not None and frame.t_ns < seconds * 1e9:
        began = time.thread_time()
        facts += watcher.push(frame.image, frame.t_ns, frame.seq)
        if spent_ms is not None:
            spent_ms.append(1e3 * (time.thread_time() - began))
        frame = table.next_frame()
    return watcher, facts


def misplaced(watcher: Watcher, table: VirtualTable, now_s: float) -> int:
    """Discs that are told to lie more than 10 mm from where any of their kind does; which rail is south cannot be seen, so each is tried.

    What a hand carries or covers is not told as lying anywhere.
    """
    known = [(d.kind, d.x_mm, d.y_mm) for d in watcher.discs.discs if d.at_rest]
    true = table.truth_at(now_s)
    counts = []
    for turn in range(4):
        c, s = (1, 0, -1, 0)[turn], (0, 1, 0, -1)[turn]
        away = [
            min((math.hypot(c * d.x_mm - s * d.y_mm - x, s * d.x_mm + c * d.y_mm - y) for d in true if d.kind == kind), default=1e3)
            for kind, x, y in known
        ]
        counts.append(sum(a > AWAY_MM for a in away))
    return min(counts)


def main(argv: list[str]) -> None:
    """Command line of this figure."""
    parser = argparse.ArgumentParser(prog="benchmarks quiet", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", type=int, nargs="?", default=7)
    parser.add_argument("--first", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=8.0)
    args = parser.parse_args(argv)
    cv2.setNumThreads(1)
    tally: Counter[str] = Counter()
    for number in range(args.recordings):
        nothing: Nothing = QUIET[number % len(QUIET)]
        seed = args.first + number
        try:
            table = VirtualTable(seed, look=random_look(seed), camera=random_camera(seed), nothing=nothing)
            watcher, facts = watch(table, args.seconds)
        except InputUnusable as error:
            tally["unusable"] += 1
            print(f"  {seed} {nothing}: {error}", flush=True)
            continue
        tally["recordings"] += 1
        tally["told"] += len(facts)
        for fact in facts:
            print(f"  {seed} {nothing}: told {msgspec.to_builtins(fact.timeline)[:3]}", flush=True)
        lost = misplaced(watcher, table, args.seconds - 0.1)
        tally["discs_misplaced"] += lost
        if lost:
            print(f"  {seed} {nothing}: {lost} discs told to lie where none of their kind does", flush=True)
    print(dict(tally))
