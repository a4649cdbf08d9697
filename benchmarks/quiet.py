"""Recordings in which nothing happens, through the whole pipeline: whatever is told is a false call.

    python -m benchmarks quiet [RECORDINGS] [--first SEED] [--seconds 8]

Tables, lamps, paints and cameras are drawn anew for each; hands tidy the air, pass the striker, lean on the rails, cues aim, lamps
flicker, the camera changes its exposure.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Seen:
    """One recording: what was told, and where the discs are known to be at its end beside where they are, mm."""

    facts: list[Stroke | Incident]
    worst_mm: float
    lost: int


def watch(table: VirtualTable, seconds: float) -> Seen:
    """Push so many seconds of a virtual table through calibration, detector and follower."""
    lens = msgspec.convert(table.lens, Lens)
    watcher: Watcher | None = None
    facts: list[Stroke | Incident] = []
    now_s = 0.0
    while (frame := table.next_frame()) is not None and now_s < seconds:
        now_s = frame.t_ns / 1e9
        if watcher is None:
            watcher = Watcher(Camera(find_table([frame.image], lens).calibration), sides=("S", "N"))
        facts += watcher.push(frame.image, frame.t_ns, frame.seq)
    if watcher is None:
        return Seen([], 0.0, 0)
    facts += watcher.finish()
    known = [(d.kind, d.x_mm, d.y_mm) for d in watcher.discs.discs]
    away = []
    for true in table.truth_at(now_s):
        near = [((x - true.x_mm) ** 2 + (y - true.y_mm) ** 2) ** 0.5 for kind, x, y in known if kind == true.kind]
        away.append(min(near, default=1000.0))
    return Seen(facts, max(away, default=0.0), sum(a > 10.0 for a in away))


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
            seen = watch(VirtualTable(seed, look=random_look(seed), camera=random_camera(seed), nothing=nothing), args.seconds)
        except InputUnusable as error:
            tally["unusable"] += 1
            print(f"  {seed} {nothing}: {error}", flush=True)
            continue
        tally["recordings"] += 1
        tally["told"] += len(seen.facts)
        tally["discs_misplaced"] += seen.lost
        for fact in seen.facts:
            print(f"  {seed} {nothing}: told {msgspec.to_builtins(fact.timeline)[:3]}", flush=True)
        if seen.lost:
            print(f"  {seed} {nothing}: {seen.lost} discs known more than 10 mm from where they are", flush=True)
    print(dict(tally))
