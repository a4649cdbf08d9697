"""Recordings in which nothing happens, through the whole pipeline: whatever is told is a false call.

    python -m benchmarks quiet [RECORDINGS] [--first SEED] [--seconds 8] [--kinds lie leave shade]

Tables, lamps, paints and cameras are drawn anew for each; hands tidy the air, pass the striker, lean on the rails, cues aim, lamps
flicker, the camera changes its exposure. With `--kinds` others: a hand comes to lie on the table, one has lain there from the beginning
and leaves, a part of the light goes. `held_up`: recordings at whose end an arm is told where nobody is; `arm_of_nobody_s`: for how long.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter
from collections.abc import Sequence

import cv2
import msgspec

from calibration.camera import Camera
from calibration.find import find_table
from calibration.lens import Lens
from rules.errors import InputUnusable
from rules.facts import Incident, Stroke
from rules.table import Kind
from virtual_table import VirtualTable, random_camera, random_look
from virtual_table.hands import covered_px
from virtual_table.quiet import QUIET, STAYING, Nothing
from vision.watcher import Watcher

AWAY_MM = 10.0  # two thirds of a piece's radius: not where it is
END_S = 0.1  # of a recording
FPS = 60.0  # of the recordings
STANDS_S = 0.5  # what is there where it was so long before lies still
_Lying = tuple[Kind, float, float, bool]  # kind, place, mm, and whether it lies still


def watch(
    table: VirtualTable, seconds: float, spent_ms: list[float] | None = None, nobodys_s: list[float] | None = None
) -> tuple[Watcher, list[Stroke | Incident]]:
    """Push so many seconds of a virtual table through calibration, detector and follower: what was told, each frame's time, and when an
    arm was told although nobody was there.

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
        now_s = frame.t_ns / 1e9
        if nobodys_s is not None and watcher.hands and not covered_px(table.camera, table.shapes_at(now_s)).any():
            nobodys_s.append(now_s)
        frame = table.next_frame()
    return watcher, facts


def is_held_up(nobodys_s: Sequence[float], seconds: float) -> bool:
    """Whether an arm is told where nobody is at the end of a recording that long; `nobodys_s`: frames in which it was."""
    return bool(nobodys_s) and nobodys_s[-1] > seconds - END_S


def misplaced(watcher: Watcher, table: VirtualTable, now_s: float) -> int:
    """Discs that are told to lie more than 10 mm from where any of their kind does, or that lie where none is known, whichever are more;
    which rail is south cannot be seen, so each is tried.

    What a hand carries or covers is not told as lying anywhere, and what is on its way does not lie.
    """
    known = [(d.kind, d.x_mm, d.y_mm, d.at_rest) for d in watcher.discs.discs]
    before = {(d.kind, d.x_mm, d.y_mm) for d in table.truth_at(now_s - STANDS_S)}
    true = [(d.kind, d.x_mm, d.y_mm, (d.kind, d.x_mm, d.y_mm) in before) for d in table.truth_at(now_s)]
    counts = []
    for turn in range(4):
        c, s = (1, 0, -1, 0)[turn], (0, 1, 0, -1)[turn]
        turned = [(kind, c * x - s * y, s * x + c * y, rests) for kind, x, y, rests in known]
        counts.append(max(_alone(turned, true), _alone(true, turned)))
    return min(counts)


def _alone(some: Sequence[_Lying], others: Sequence[_Lying]) -> int:
    """How many of some that lie still have none of their kind among the others within 10 mm."""
    away = (
        min((math.hypot(x - other_x, y - other_y) for other, other_x, other_y, _ in others if other == kind), default=math.inf)
        for kind, x, y, rests in some
        if rests
    )
    return sum(a > AWAY_MM for a in away)


def main(argv: list[str]) -> None:
    """Command line of this figure."""
    parser = argparse.ArgumentParser(prog="benchmarks quiet", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", type=int, nargs="?", default=7)
    parser.add_argument("--first", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--kinds", nargs="+", choices=[*QUIET, *STAYING], default=QUIET)
    args = parser.parse_args(argv)
    cv2.setNumThreads(1)
    tally: Counter[str] = Counter()
    nobodys_s: list[float] = []
    for number in range(args.recordings):
        nothing: Nothing = args.kinds[number % len(args.kinds)]
        seed = args.first + number
        try:
            table = VirtualTable(seed, look=random_look(seed), camera=random_camera(seed), nothing=nothing)
            nobodys: list[float] = []
            watcher, facts = watch(table, args.seconds, nobodys_s=nobodys)
        except InputUnusable as error:
            tally["unusable"] += 1
            print(f"  {seed} {nothing}: {error}", flush=True)
            continue
        tally["recordings"] += 1
        tally["told"] += len(facts)
        for fact in facts:
            print(f"  {seed} {nothing}: told {msgspec.to_builtins(fact.timeline)[:3]}", flush=True)
        nobodys_s += nobodys
        if is_held_up(nobodys, args.seconds):
            tally["held_up"] += 1
            print(f"  {seed} {nothing}: an arm is told where nobody is, for {len(nobodys) / FPS:.1f} s", flush=True)
        lost = misplaced(watcher, table, args.seconds - END_S)
        tally["discs_misplaced"] += lost
        if lost:
            print(f"  {seed} {nothing}: {lost} discs told to lie where none of their kind does, or not known", flush=True)
    print(dict(tally) | {"arm_of_nobody_s": round(len(nobodys_s) / FPS, 1)})
