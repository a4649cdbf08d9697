"""First contacts, their order and times on simulated strokes at position level, with the follower's measured errors and gaps.

    python -m benchmarks strokes [STROKES] [--fps 40 60 120] [--first SEED] [-v]

Physics with an exact contact log (virtual_table.physics) -> sightings (benchmarks.played) -> runs, breaks, contacts -> the timeline of a
stroke, scored against the log. Beside it in the same run: the nearest approach of straight ways between
frames, and Kalman filters with nearest neighbour (benchmarks.baseline).
"""

from __future__ import annotations

import argparse
import signal
import time

import numpy as np

from benchmarks.played import followed, nearest_approach, plainly_followed, played
from benchmarks.scoring import TOGETHER_MS, Tally, score, spread, striker_hits
from benchmarks.truth import camera_of
from calibration import Camera
from rules.facts import Stroke
from virtual_table import overhead
from vision.motion.predict import FRICTION_MM_S2
from vision.motion.report import Spell, describe

STROKES = 5000
FEW = 60  # of a run among all figures
PLAIN_EVERY = 10  # strokes; the baseline costs more than the product
REPORT_S = 30.0  # between two lines of progress


def one(seed: int, fps: float, camera: Camera, tally: Tally, *, plain: bool) -> str:
    """Play, follow, tell and score one stroke; the verdict on its first contact."""
    rng = np.random.default_rng([seed, 17])
    world = played(rng)
    tracks, before = followed(world, fps, camera, rng)
    began = time.process_time()
    told = describe(Spell(before=before), tracks, [], world.t, camera, FRICTION_MM_S2, ("S",)).facts
    tally.told_s += time.process_time() - began
    stroke = next((f for f in told if isinstance(f, Stroke)), None)
    hits = striker_hits(world.log)
    exact = {i for t, i in hits if (t - hits[0][0]) * 1e3 <= TOGETHER_MS}
    tally.counts["nearest_wrong"] += (nearest_approach(tracks) or "") not in (exact or {""})
    if plain:
        follower = plainly_followed(tracks)
        moved = follower.first_moved()
        tally.counts["plain_strokes"] += 1
        tally.counts["plain_wrong"] += (moved[0] if moved else "") not in (exact or {""})
        tally.counts["plain_swaps"] += follower.swaps
        if moved and hits:
            tally.plain_ms.append(abs(moved[1] - hits[0][0]) * 1e3)
    return score(world, 0.0, "S", stroke, {i: i for i in tracks}, tally)


def main(arguments: list[str]) -> None:
    """Command line of this figure."""
    parser = argparse.ArgumentParser(prog="benchmarks strokes", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strokes", type=int, nargs="?", default=FEW, help=f"{STROKES} for the full figure")
    parser.add_argument("--fps", type=float, nargs="+", default=[40.0, 60.0, 120.0])
    parser.add_argument("--first", type=int, default=0, help="seed of the first stroke")
    parser.add_argument("-v", action="store_true", help="name every stroke whose first contact is not right")
    args = parser.parse_args(arguments)
    camera = camera_of(overhead(1456, 1088))
    tallies = {fps: Tally() for fps in args.fps}
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: with the figures so far
    try:
        _play_through(args.first, args.strokes, tallies, camera, verbose=args.v)
    except KeyboardInterrupt:
        print("ended before the last stroke")
    for fps, tally in tallies.items():
        print(f"{fps:.0f} fps", *tally.lines(), sep="\n  ")
        share = tally.counts["nearest_wrong"] / max(tally.strokes, 1)
        n = tally.counts
        print(
            f"  beside it: nearest approach wrong {share:.2%}; Kalman and nearest neighbour on {n['plain_strokes']} of the strokes: "
            f"{n['plain_swaps']} swaps, first contact wrong {n['plain_wrong'] / max(n['plain_strokes'], 1):.2%}, "
            f"time {spread(tally.plain_ms)} ms"
        )
        print(f"  {tally.told_s / max(tally.strokes, 1) * 1e3:.0f} ms to tell a stroke")


def _play_through(first: int, strokes: int, tallies: dict[float, Tally], camera: Camera, *, verbose: bool) -> None:
    """Stroke after stroke, with a word now and then."""
    began = said = time.monotonic()
    for done, seed in enumerate(range(first, first + strokes), start=1):
        for fps, tally in tallies.items():
            verdict = one(seed, fps, camera, tally, plain=done % PLAIN_EVERY == 1)
            if verbose and verdict != "right":
                print(f"  seed {seed} at {fps:.0f} fps: {verdict}", flush=True)
        if time.monotonic() - said > REPORT_S:
            said = time.monotonic()
            print(f"  {done} of {strokes} strokes, {said - began:.0f} s", flush=True)
