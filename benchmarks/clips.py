"""Rulings on clips with truth, through the whole product: `novuss watch CLIP` against the ruling that the true facts give.

    python -m benchmarks clips FOLDER [-v]

Checked for each clip: first contact, pocketed discs, lawfulness, clauses, turn.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.truth import load, match_of, stroke_of, write_inputs
from device.storage.match_log import read_lines
from rules.facts import Contact, Disc, Entry, Position, Stroke
from rules.fold import start, step
from rules.ruling import Ruling

SAME_DISC_MM = 15.0  # half a piece: a report nearer than this to a true disc of its kind is that disc


def expected(truth: dict[str, Any], match_id: str) -> tuple[Stroke, Ruling]:
    """The true stroke and the ruling that the rule book gives on it."""
    stroke = stroke_of(truth)
    _, ruling = step(start(match_of(truth, match_id)), Entry(stroke=stroke))
    return stroke, ruling


def names(found: Position, true: Position) -> dict[str, str]:
    """Reported id -> true id by the nearest place of the same kind."""

    def distance(a: Disc, b: Disc) -> float:
        return math.hypot(a.x_mm - b.x_mm, a.y_mm - b.y_mm)

    out: dict[str, str] = {}
    for disc in found.discs:
        near = [(distance(disc, other), other.id) for other in true.discs if other.kind == disc.kind]
        if near and min(near)[0] <= SAME_DISC_MM:
            out[disc.id] = min(near)[1]
    return out


def first_contact(stroke: Stroke) -> frozenset[str]:
    """What the striker touched first; several ids when together."""
    contact = next((e for e in stroke.timeline if isinstance(e, Contact) and "striker" in e.discs), None)
    return frozenset() if contact is None else frozenset(contact.discs) - {"striker"}


def facts_of(stroke: Stroke, ruling: Ruling, known: dict[str, str]) -> dict[str, object]:
    """What is compared, with ids in the truth's names."""
    return {
        "first": sorted(known.get(i, i) for i in first_contact(stroke)),
        "pocketed": sorted(known.get(i, i) for i in ruling.pocketed or []),
        "status": ruling.status,
        "lawful": ruling.lawful,
        "clauses": sorted(f.clause for f in ruling.faults or []),
        "turn": ruling.turn,
        "next": ruling.next,
        "next_reason": sorted(ruling.next_reason or []),
        "penalty_pieces": ruling.penalty_pieces,
    }


def watch(video: Path, truth: dict[str, Any], folder: Path, *extra: str) -> tuple[list[Entry], list[Ruling]]:
    """Run the product on a clip; its log's entries and what they are ruled."""
    lens, match = write_inputs(truth, folder, video.stem)
    log = folder / "log.jsonl"
    novuss = Path(sys.executable).with_name("novuss")
    command = [str(novuss), "watch", str(video), "--lens", str(lens), "--match", str(match), "--record", str(log), "--no-board", *extra]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"novuss watch {video.name}: exit status {done.returncode}: {done.stderr[-500:]}")
    lines = read_lines(log).lines
    state, entries, rulings = start(lines[0].value.match or match_of(truth, video.stem)), [], []
    for line in lines[1:]:
        state, ruling = step(state, line.value)
        entries.append(line.value)
        rulings.append(ruling)
    return entries, rulings


def differences(video: Path, truth: dict[str, Any], folder: Path, *extra: str) -> list[str]:
    """What the product got wrong on one clip, run with extra words; empty when all is right."""
    entries, rulings = watch(video, truth, folder, *extra)
    true_stroke, true_ruling = expected(truth, video.stem)
    strokes = [(e.stroke, r) for e, r in zip(entries, rulings, strict=True) if e.stroke is not None]
    wrong = [] if len(entries) == 1 else [f"{len(entries)} entries instead of 1"]
    if not strokes:
        return [*wrong, "no stroke"]
    stroke, ruling = strokes[0]
    got = facts_of(stroke, ruling, names(stroke.before, true_stroke.before))
    want = facts_of(true_stroke, true_ruling, {})
    return wrong + [f"{key}: {got[key]} instead of {want[key]}" for key in want if got[key] != want[key]]


def main(argv: list[str]) -> None:
    """Command line of this figure."""
    parser = argparse.ArgumentParser(prog="benchmarks clips", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    args = parser.parse_args(argv)
    right = clips = 0
    for path in sorted(args.folder.glob("*.json")):
        truth = load(path)
        if truth.get("stroke") is None:
            continue
        clips += 1
        with tempfile.TemporaryDirectory() as folder:
            wrong = differences(path.with_suffix(".mp4"), truth, Path(folder), "--no-mqtt")
        right += not wrong
        print(f"{path.stem}: {'; '.join(wrong) or 'right'}", flush=True)
    print(f"{right} of {clips} clips ruled as their truth is")
