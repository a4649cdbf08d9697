"""The card beside the model: what it is, what it was trained on, and its figures on scenes that it has not learned from."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np

from models.training.dataset import KINDS, POSES, Samples, lamp_of
from models.training.export import NAMES, OPSET
from models.training.learn import ELLIPSE_95, Answers, sigmas_off
from vision.discs.eyes import BATCH, softmax
from vision.discs.patches import RAYS, RINGS
from vision.runtime import open_model

BINS: Final = 10  # of the calibration curve
PIECE_SAMPLE_MM: Final = 0.75  # one sample of a piece's patch
FINE_PX: Final = ((0.0, 0.8), (0.8, 1.2), (1.2, 9.0))  # pixels per sample: about 1456, 2028 and 4056 pixels wide


def calibration(logits: np.ndarray, truth: np.ndarray) -> tuple[float, list[tuple[float, float, int]]]:
    """Expected calibration error (Guo et al. 2017) and its curve: mean probability, share right, count of each bin."""
    chance = softmax(logits)
    return reliability(chance.max(axis=1), chance.argmax(axis=1) == truth)


def reliability(said: np.ndarray, right: np.ndarray) -> tuple[float, list[tuple[float, float, int]]]:
    """The same of probabilities (N,) and of what came true (N,)."""
    bins = np.minimum((said * BINS).astype(int), BINS - 1)
    curve = [
        (float(said[bins == k].mean()), float(right[bins == k].mean()), int((bins == k).sum())) for k in range(BINS) if (bins == k).any()
    ]
    return sum(count * abs(p - share) for p, share, count in curve) / len(said), curve


def call_ms(call: Callable[[], object]) -> float:
    """Median time of a call on its own thread."""
    times = []
    for _ in range(50):
        start = time.thread_time()
        call()
        times.append(time.thread_time() - start)
    return 1000 * statistics.median(times)


def batch_ms(path: Path) -> float:
    """Time of a batch of 32."""
    session = open_model(path)
    given = {"rings": np.zeros((BATCH, 3, RINGS, RAYS), np.float32), "seen": np.zeros((BATCH, 2), np.float32)}
    return call_ms(lambda: session.run(list(NAMES), given))


def curve_table(curve: list[tuple[float, float, int]]) -> str:
    """Rows of a card's table."""
    return "\n".join(f"| {p:.2f} | {share:.2f} | {count} |" for p, share, count in curve)


def _rows(samples: Samples, said: Answers) -> list[str]:
    kind, pose = said.kind.argmax(axis=1), said.pose.argmax(axis=1)
    rows = []
    for k, name in enumerate(KINDS):
        of = samples.kind == k
        rows.append(f"| kind {name} | {of.sum()} | {(kind[of] == k).mean():.2%} right |")
    for k, name in enumerate(POSES):
        of = samples.pose == k
        rows.append(f"| pose {name} | {of.sum()} | {(pose[of] == k).mean():.2%} right |")
    error = np.linalg.norm(samples.shift - said.shift, axis=1)
    inside = sigmas_off(samples, said) < ELLIPSE_95
    lamps = {number: lamp_of(number) for number in np.unique(samples.scene).tolist()}
    lamp = np.array([lamps[number] for number in samples.scene.tolist()])
    groups = [(f"{low:.1f}-{high:.1f} px a sample", (samples.seen[:, 1] >= low) & (samples.seen[:, 1] < high)) for low, high in FINE_PX]
    groups += [(f"lamp {name}", lamp == name) for name in sorted(set(lamps.values()))]
    for name, of in groups:
        of = samples.asked & of  # noqa: PLW2901
        if of.any():
            median, p95 = np.percentile(error[of], [50, 95]) * PIECE_SAMPLE_MM
            rows.append(
                f"| axis, {name} | {of.sum()} | median {median:.3f} mm, p95 {p95:.3f} mm (of a piece), "
                f"{inside[of].mean():.1%} within the 95 % ellipse |"
            )
    return rows


def card(path: Path, sha256: str, samples: Samples, said: Answers, trained_on: str) -> str:
    """The card's text."""
    error_kind, curve = calibration(said.kind, samples.kind)
    lying = samples.pose >= 0
    error_pose, _ = calibration(said.pose[lying], samples.pose[lying])
    curve_rows = curve_table(curve)
    rows = "\n".join(_rows(samples, said))
    return f"""# {path.name}: close-ups of discs

Given a patch around a place where a flat disc may lie (`vision/discs/patches.py`), says its kind, how it lies, how far its axis is
from that place, and how sure that is. `vision/discs/fuse.py` makes one of this and the outline's fit.

- Trained on {trained_on}; no picture of a real or path-traced table was used. Again: `make train`.
- Network: `models/training/network.py`; opset {OPSET}; {path.stat().st_size / 1e6:.2f} MB.
- A batch of {BATCH} patches: {batch_ms(path):.1f} ms of one core's time.
- sha256 `{sha256}`

## Figures on scenes that it has not learned from
| what | samples | figure |
|---|---|---|
{rows}

Expected calibration error: kind {error_kind:.3f}, pose {error_pose:.3f}. Curve of the kind:

| said | right | samples |
|---|---|---|
{curve_rows}

## Not for
Telling a piece from a striker (the patch is cut to the size that the finder measured, so the finder decides), discs on rails or in
pockets' bags, discs in motion, other games' discs. Its kind is no evidence against a colour that the finder sees plainly.
"""
