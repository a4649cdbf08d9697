"""The occluder network's card: its figures on tables that it has not learned from."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from models.training.card import origin
from models.training.figures import call_ms, curve_table, overlap, reliability
from models.training.occluder_learn import cover_inputs
from models.training.occluder_network import CHANNELS
from models.training.occluder_scene import FULL, THINGS, UNSEEN, CoverSamples, lamp_of_table
from vision.occluders import CELLS, COVERED, HALF_SEEN_MM, ON_RAILS_TOO, STEP_MM
from vision.runtime import open_model

LEAST = 20  # cells, about a thumb: pictures in which less is covered are told of together only


def _cover_rows(samples: CoverSamples, truth: np.ndarray, said: np.ndarray) -> list[str]:
    lamps = {number: lamp_of_table(number) for number in np.unique(samples.scene).tolist()}
    lamp = np.array([lamps[number] for number in samples.scene.tolist()])
    size = truth.sum(axis=(1, 2))
    rows = [f"| all pictures | {len(truth)} | cells together: IoU {overlap(truth, said):.3f} |"]
    groups = [("all", np.full(len(truth), True))] + [(f"lamp {name}", lamp == name) for name in sorted(set(lamps.values()))]
    groups += [(f"{name} alone", samples.over == 1 << k) for k, name in enumerate(THINGS)]
    for name, of in groups:
        each = [overlap(truth[k], said[k]) for k in np.flatnonzero(of & (size >= LEAST))]
        if each:
            rows.append(f"| covered, {name} | {len(each)} | IoU mean {np.mean(each):.3f}, median {np.median(each):.3f} |")
    bare = said[size == 0].sum(axis=(1, 2))
    if len(bare):
        share = bare.mean() / ON_RAILS_TOO.sum()
        any_at_all = f"{(bare > 0).mean():.1%} of pictures with any"
        rows.append(f"| nothing over the table | {len(bare)} | {share:.4%} of its cells called covered, {any_at_all} |")
    return rows


def logits_of_file(path: Path, samples: CoverSamples) -> np.ndarray:
    """What a network's file says of samples, (N, CELLS, CELLS)."""
    session = open_model(path)
    return np.concatenate([session.run(["logit"], given)[0] for given in cover_inputs(samples)])


def cover_card(path: Path, samples: CoverSamples) -> str:
    """The card's text: figures of the file itself on pictures that it has not learned from."""
    logit = logits_of_file(path, samples)
    counts = (samples.cover != UNSEEN) & ON_RAILS_TOO
    truth = (samples.cover > FULL // 2) & counts
    chance = 1 / (1 + np.exp(-logit))
    error, curve = reliability(chance[counts], truth[counts])
    rows = "\n".join(_cover_rows(samples, truth, (chance > COVERED) & counts))
    session = open_model(path)
    given = {"cells": np.zeros((1, CHANNELS, CELLS, CELLS), np.float32)}
    ms = call_ms(lambda: session.run(["logit"], given))
    return f"""# {path.name}: what covers the table

Given the table rectified to {CELLS} x {CELLS} cells of {STEP_MM:.1f} mm (+-{HALF_SEEN_MM:.0f} mm, `vision/occluders.py`), says of each
how likely a hand, an arm, a cue, a head or another foreign thing covers it from the camera's view. Shadows, discs, powder, lamps
mirrored in the lacquer and pockets are none.

{origin(path, "models/training/occluder_network.py")}
- One picture: {ms:.1f} ms of one core's time, rectification not included (`python -m benchmarks occluders` tells both).

## Figures on tables that it has not learned from
Covered means more than half of a cell; rails are included. IoU: cells in both over cells in either.

| what | pictures | figure |
|---|---|---|
{rows}

Expected calibration error: {error:.4f}. Curve:

| said | covered | cells |
|---|---|---|
{curve_table(curve)}

## Not for
Counting hands or telling whose they are, discs on the table (a held disc may count as part of the hand), what lies outside the rails,
tables seen from the side. A cue narrower than a cell may show in parts only.
"""
