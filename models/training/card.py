"""The card beside the model: what it is, what it was trained on, and its figures on scenes that it has not learned from."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

import numpy as np
import onnx

from models.training.dataset import KINDS, POSES, Samples, lamp_of
from models.training.export import NAMES, TRAINED_ON
from models.training.figures import call_ms, curve_table, reliability
from models.training.learn import AT_ONCE, ELLIPSE_95, Answers, disc_inputs, sigmas_off
from vision.discs.eyes import BATCH, softmax
from vision.discs.patches import RAYS, RINGS
from vision.runtime import open_model

PIECE_SAMPLE_MM: Final = 0.75  # one sample of a piece's patch
FINE_PX: Final = ((0.0, 0.8), (0.8, 1.2), (1.2, 9.0))  # pixels per sample: about 1456, 2028 and 4056 pixels wide


def calibration(logits: np.ndarray, truth: np.ndarray) -> tuple[float, list[tuple[float, float, int]]]:
    """Expected calibration error (Guo et al. 2017) and its curve: mean probability, share right, count of each bin."""
    chance = softmax(logits)
    return reliability(chance.max(axis=1), chance.argmax(axis=1) == truth)


def batch_ms(path: Path) -> float:
    """Time of a batch of 32."""
    session = open_model(path)
    given = {"rings": np.zeros((BATCH, 3, RINGS, RAYS), np.float32), "seen": np.zeros((BATCH, 2), np.float32)}
    return call_ms(lambda: session.run(list(NAMES), given))


def origin(path: Path, source: str) -> str:
    """A card's lines of where a file comes from."""
    model = onnx.load(path)
    [trained_on] = [one.value for one in model.metadata_props if one.key == TRAINED_ON]
    [opset] = [one.version for one in model.opset_import if not one.domain]
    quantised = any(node.op_type == "QuantizeLinear" for node in model.graph.node)
    numbers = "most of the work in numbers of 8 bits (`models/training/quantise.py`)" if quantised else "all of it in numbers of 32 bits"
    return f"""- Trained on {trained_on}; no picture of a real or path-traced table was used. Again: `make train`.
- Network: `{source}`; opset {opset}, IR {model.ir_version}; {numbers}; {path.stat().st_size / 1e6:.2f} MB.
- sha256 `{hashlib.sha256(path.read_bytes()).hexdigest()}`"""


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
        told, lies, asked = kind[of] == samples.kind[of], of & (samples.pose >= 0), samples.asked & of
        if asked.any():
            lying = (pose[lies] == samples.pose[lies]).mean()
            rows.append(f"| kind and pose, {name} | {of.sum()} | {told.mean():.2%} and {lying:.2%} right |")
            median, p95 = np.percentile(error[asked], [50, 95]) * PIECE_SAMPLE_MM
            rows.append(
                f"| axis, {name} | {asked.sum()} | median {median:.3f} mm, p95 {p95:.3f} mm (of a piece), "
                f"{inside[asked].mean():.1%} within the 95 % ellipse |"
            )
    return rows


def answers_of_file(path: Path, samples: Samples) -> Answers:
    """What a network's file says of samples."""
    session = open_model(path)
    parts = [session.run(list(NAMES), given) for given in disc_inputs(samples, AT_ONCE)]
    return Answers(*(np.concatenate([part[k] for part in parts]) for k in range(len(NAMES))))


def card(path: Path, samples: Samples) -> str:
    """The card's text: figures of the file itself on samples that it has not learned from."""
    said = answers_of_file(path, samples)
    error_kind, curve_kind = calibration(said.kind, samples.kind)
    lying = samples.pose >= 0
    error_pose, curve_pose = calibration(said.pose[lying], samples.pose[lying])
    rows = "\n".join(_rows(samples, said))
    return f"""# {path.name}: close-ups of discs

Given a patch around a place where a flat disc may lie (`vision/discs/patches.py`), says its kind, how it lies, how far its axis is
from that place, and how sure that is. `vision/discs/fuse.py` makes one of this and the outline's fit.

{origin(path, "models/training/network.py")}
- A batch of {BATCH} patches: {batch_ms(path):.1f} ms of one core's time.

## Figures on scenes that it has not learned from
| what | samples | figure |
|---|---|---|
{rows}

Expected calibration error: kind {error_kind:.3f}, pose {error_pose:.3f}. Curve of the kind:

| said | right | samples |
|---|---|---|
{curve_table(curve_kind)}

Curve of the pose:

| said | right | samples |
|---|---|---|
{curve_table(curve_pose)}

## Not for
Telling a piece from a striker (the patch is cut to the size that the finder measured, so the finder decides), discs on rails or in
pockets' bags, discs in motion, other games' discs. Its kind is no evidence against a colour that the finder sees plainly.
"""
