"""Whole matches on the virtual table through camera, calibration, vision and rules, against the table's own truth.

    python -m benchmarks games [--seeds 1 2 3] [--seconds 60] [--looks] [-v]

Each true stroke is paired with the reported one that was struck at the same time. Counted: strokes missed and invented, first contact,
rails before it, pocketed discs, side; incidents invented. `wrong_calls` is what was said surely and is not so; what was missed or said
with doubt is no wrong call. With --looks every seed has another table, lamp and paint. `told_s_after_rest` counts from the table's own
rest, hands that are still over it included. Time per frame is the processor's, of the watcher alone.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from typing import Any

import cv2
import msgspec
import numpy as np

from benchmarks.clips import first_contact, names
from calibration.camera import Camera
from calibration.find import find_table
from device.sources.virtual import VirtualSource
from rules.errors import InputUnusable
from rules.facts import Contact, Entry, Incident, Lifted, Pocketed, Rail, Stroke, Struck, Touched
from rules.fold import start, step
from virtual_table.look import random_look
from vision.watcher import Watcher

SAME_STROKE_S = 0.5  # strokes come seconds apart
SURE = 0.9  # a first contact said with less confidence is not decided


def struck_s(stroke: Stroke) -> float:
    """When the cue touched the striker."""
    return next((e.t for e in stroke.timeline if isinstance(e, Struck)), stroke.timeline[0].t)


def rails_before_first(stroke: Stroke) -> list[str]:
    """Rails that the striker touched before its first piece, in order."""
    first = next((e.t for e in stroke.timeline if isinstance(e, Contact) and "striker" in e.discs), float("inf"))
    return [e.rail for e in stroke.timeline if isinstance(e, Rail) and e.disc == "striker" and e.t < first]


def is_sure(stroke: Stroke) -> bool:
    """Whether the first contact is decided."""
    first = next((e for e in stroke.timeline if isinstance(e, Contact) and "striker" in e.discs), None)
    return first is None or first.confidence is None or first.confidence >= SURE


def touched(incident: Incident) -> set[str]:
    """Discs that an incident says somebody touched or lifted."""
    named = {i for e in incident.timeline if isinstance(e, Touched) for i in e.discs}
    return named | {e.disc for e in incident.timeline if isinstance(e, Lifted)}


def compare(true: Stroke, found: Stroke) -> list[str]:
    """What is wrong with a reported stroke."""
    known = names(found.before, true.before)
    got, want = {known.get(i, i) for i in first_contact(found)}, set(first_contact(true))
    wrong = []
    if not is_sure(found):
        wrong.append("undecided")
    elif got != want:
        wrong.append(f"first {sorted(got)} instead of {sorted(want)}")
    elif rails_before_first(found) != rails_before_first(true):
        wrong.append(f"rails {rails_before_first(found)} instead of {rails_before_first(true)}")
    fell = {e.disc for e in true.timeline if isinstance(e, Pocketed)}
    told = [(known.get(e.disc, e.disc), e.confidence) for e in found.timeline if isinstance(e, Pocketed)]
    surely = {disc for disc, confidence in told if confidence is None or confidence >= SURE}
    if not surely <= fell <= {disc for disc, _ in told}:
        wrong.append(f"pocketed {sorted(surely)} instead of {sorted(fell)}")
    elif surely != fell and "undecided" not in wrong:
        wrong.append("undecided")
    if found.side != true.side:
        wrong.append(f"side {found.side} instead of {true.side}")
    return wrong


def play(
    seed: int, seconds: float, tally: Counter[str], times_ms: list[float], waits_s: list[float], *, looks: bool, verbose: bool
) -> None:
    """One match for so many seconds of the table's time."""
    source = VirtualSource(seed=seed, realtime=False, look=random_look(seed) if looks else None)
    first = source.read()
    assert first is not None
    camera = Camera(find_table([first.image], source.lens).calibration)
    watcher = Watcher(camera, sides=tuple(source.match.players))
    state = start(source.match)
    found: list[Stroke | Incident] = []
    told_s: dict[int, float] = {}
    asked: set[str] = set()
    while (frame := source.read()) is not None and frame.t_ns < seconds * 1e9:
        began = time.process_time()
        facts = watcher.push(frame.image, frame.t_ns, frame.seq)
        times_ms.append((time.process_time() - began) * 1e3)
        for fact in facts:
            if isinstance(fact, Incident) and asked and touched(fact) <= asked:
                continue  # hands that put back and lay out what the last ruling asks for
            found.append(fact)
            told_s[id(fact)] = frame.t_ns / 1e9
            try:
                state, ruling = step(state, Entry(stroke=fact) if isinstance(fact, Stroke) else Entry(incident=fact))
            except InputUnusable as error:
                tally["unusable"] += 1
                print(f"  seed {seed}: {error}")
                continue
            source.ruled(msgspec.to_builtins(ruling))
            asked = {p.id for p in (*(ruling.place or ()), *(ruling.restore or ()))}
    strokes = [f for f in found if isinstance(f, Stroke)]
    found_incidents = [f for f in found if isinstance(f, Incident)]
    tally["incidents_invented"] += len(found_incidents)
    for true in (msgspec.convert(s, Stroke) for s in source.table.strokes):
        if true.timeline[-1].t > seconds - 2:
            continue
        tally["strokes"] += 1
        near = [s for s in strokes if abs(struck_s(s) - struck_s(true)) < SAME_STROKE_S]
        wrong = compare(true, near[0]) if near else ["missed"]
        waits_s += [told_s[id(s)] - true.timeline[-1].t for s in near[:1]]
        strokes = [s for s in strokes if not near or s is not near[0]]
        tally.update({w.split(maxsplit=1)[0] for w in wrong} or {"right"})
        tally["wrong_calls"] += any(w not in ("missed", "undecided") for w in wrong)
        if verbose and wrong:
            print(f"  seed {seed} at {struck_s(true):.2f} s: {'; '.join(wrong)}", flush=True)
    invented = [s for s in strokes if struck_s(s) < seconds - 4]
    tally["strokes_invented"] += len(invented)
    tally["wrong_calls"] += len(found_incidents) + sum(is_sure(s) for s in invented)
    if verbose:
        for stroke in invented:
            print(f"  seed {seed}: stroke invented at {struck_s(stroke):.2f} s", flush=True)
        for incident in found_incidents:
            print(f"  seed {seed}: incident {msgspec.to_builtins(incident.timeline)[:2]}", flush=True)


def main(argv: list[str]) -> None:
    """Command line of this figure."""
    parser = argparse.ArgumentParser(prog="benchmarks games", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--looks", action="store_true")
    parser.add_argument("-v", action="store_true")
    args = parser.parse_args(argv)
    cv2.setNumThreads(1)
    tally: Counter[str] = Counter()
    times_ms: list[float] = []
    waits_s: list[float] = []
    for seed in args.seeds:
        play(seed, args.seconds, tally, times_ms, waits_s, looks=args.looks, verbose=args.v)
    percentiles: dict[str, Any] = {
        name: round(float(np.percentile(times_ms, p)), 2) for name, p in (("median", 50), ("p99", 99), ("max", 100))
    }
    waits = {name: round(float(np.percentile(waits_s, p)), 2) for name, p in (("median", 50), ("p95", 95))} if waits_s else {}
    print(json.dumps(dict(tally) | {"ms_per_frame": percentiles, "told_s_after_rest": waits}, indent=1))
