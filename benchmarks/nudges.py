"""Pieces touched, lifted, shaken between strokes, through the whole pipeline, against the table's own truth.

    python -m benchmarks nudges [TABLES] [--first SEED] [--seconds 16] [--kinds hand cue striker lift shake] [-v]

A push is due from 1 mm on and must not be told under 0.3 mm; between the two either is right. A told incident belongs to the true one
that it overlaps in time. Wrong: the wrong piece, told where nothing was, a lift told as a touch. `unsure`: told with doubt.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

import cv2
import msgspec

from benchmarks.quiet import watch
from rules.errors import InputUnusable
from rules.facts import Incident, Lifted, Stroke, TableShaken, Touched
from virtual_table import VirtualTable, random_look
from virtual_table.mischief import Mischief

DUE_MM, NEVER_MM = 1.0, 0.3  # of the issue
KINDS: Final[tuple[Mischief, ...]] = ("hand", "cue", "striker", "lift", "shake")
NEAR_S = 1.8  # told and true times differ by less: a hand may lie over what it moves for a second
SAME_MM = 20.0  # a told disc nearer than this to a true one of its kind is that disc


def moved_mm(true: dict[str, Any]) -> dict[str, float]:
    """How far each piece of a true incident went."""
    after = {d["id"]: d for d in true["after"]["discs"]}
    return {
        d["id"]: math.hypot(d["x_mm"] - after[d["id"]]["x_mm"], d["y_mm"] - after[d["id"]]["y_mm"])
        for d in true["before"]["discs"]
        if d["id"] in after and d["kind"] != "striker"
    }


def true_names(fact: Incident, true: dict[str, Any]) -> dict[str, str]:
    """Told id -> true id by place."""
    out = {}
    for disc in fact.before.discs if fact.before else []:
        near = [(math.hypot(disc.x_mm - d["x_mm"], disc.y_mm - d["y_mm"]), d["id"]) for d in true["before"]["discs"]]
        if near and min(near)[0] < SAME_MM:
            out[disc.id] = min(near)[1]
    return out


def verdict(true: dict[str, Any], told: list[Stroke | Incident]) -> str:
    """What was made of one true incident."""
    event = true["timeline"][0]
    ways = moved_mm(true)
    kind = event["event"]
    if not told:
        due = kind == "lifted" or max(ways.values()) > DUE_MM
        return "missed" if due else "rightly silent"
    fact = told[0]
    if isinstance(fact, Stroke):
        return "told as a stroke"
    known = true_names(fact, true)
    touched = {known.get(i, i) for e in fact.timeline if isinstance(e, Touched) for i in e.discs}
    lifted = {known.get(e.disc, e.disc) for e in fact.timeline if isinstance(e, Lifted)}
    shaken = {known.get(i, i) for e in fact.timeline if isinstance(e, TableShaken) for i in e.moved}
    sure = all(e.confidence is None or e.confidence >= 0.95 for e in fact.timeline if isinstance(e, Touched | Lifted))
    if kind == "table_shaken":
        return "right" if shaken and not touched | lifted else "shaking told as a touch"
    piece = event["disc"] if kind == "lifted" else event["discs"][0]
    if ways.get(piece, 99.0) < NEVER_MM and kind == "touched":
        return "called under 0.3 mm"
    if touched | lifted != {piece} or shaken:
        return "wrong piece" if sure else "unsure"
    if not sure:
        return "lift told with doubt" if kind == "lifted" and lifted else "unsure"
    if any(e.side != event["side"] for e in fact.timeline if isinstance(e, Touched | Lifted)):
        return "wrong side"
    if kind == "lifted":
        return "right" if lifted else "lift told as a touch"
    return "right" if touched else "touch told as a lift"


def play(seeds: Iterable[int], seconds: float, kinds: tuple[Mischief, ...] = KINDS, *, verbose: bool = False) -> dict[str, Counter[str]]:
    """What was made of each kind of mischief on tables of these seeds, counted; `nothing`: what was told where nothing was."""
    tally: dict[str, Counter[str]] = {}
    for seed in seeds:
        table = VirtualTable(seed, look=random_look(seed), mishaps=kinds)
        try:
            _, facts = watch(table, seconds)
        except InputUnusable as error:
            print(f"  {seed}: {error}", flush=True)
            continue
        for true in table.incidents:
            at, by = true["timeline"][0]["t"], str(true["timeline"][0].get("by", true["timeline"][0]["event"]))
            if at > seconds - 3:
                continue
            told = [f for f in facts if abs(f.timeline[0].t - at) < NEAR_S]
            facts = [f for f in facts if f not in told]
            said = verdict(true, told)
            tally.setdefault(by, Counter())[said] += 1
            if verbose and said not in ("right", "rightly silent"):
                way = max(moved_mm(true).values(), default=0.0)
                print(f"  {seed} at {at:.2f} s {by} {way:.2f} mm: {said} {[msgspec.to_builtins(f.timeline)[:2] for f in told]}", flush=True)
        late = [f for f in facts if f.timeline[0].t < seconds - 3]
        tally.setdefault("nothing", Counter())["invented"] += len(late)
        for fact in late:
            print(f"  {seed}: told where nothing was: {msgspec.to_builtins(fact.timeline)[:2]}", flush=True)
    return tally


def main(argv: list[str]) -> None:
    """Command line of this figure."""
    parser = argparse.ArgumentParser(prog="benchmarks nudges", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=int, nargs="?", default=3)
    parser.add_argument("--first", type=int, default=800)
    parser.add_argument("--seconds", type=float, default=16.0)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS))
    parser.add_argument("-v", action="store_true")
    args = parser.parse_args(argv)
    cv2.setNumThreads(1)
    for by, counts in play(range(args.first, args.first + args.tables), args.seconds, tuple(args.kinds), verbose=args.v).items():
        print(f"{by:<12} {dict(counts)}")
