"""From a trained network to the file that vision loads, and proof that both answer alike."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from torch import Tensor, nn

from models.training.network import DiscNetwork
from models.training.occluder_network import CHANNELS, OccluderNetwork
from vision.discs.patches import RAYS, RINGS
from vision.occluders import CELLS

OPSET = 17  # onnxruntime 1.14 and newer run it
ALIKE = 1e-4
NAMES = ("kind", "pose", "shift", "log_sigma")
TRAINED_ON = "trained_on"  # the file's own property
TRIED = 16  # random inputs that both must answer alike


def export(network: DiscNetwork, path: Path, trained_on: str) -> None:
    """Write the disc network's .onnx file, which keeps what it was `trained_on`. RuntimeError when it answers differently."""
    rng = np.random.default_rng(5)
    rings = rng.normal(-0.5, 0.5, (TRIED, 3, RINGS, RAYS)).astype(np.float32)
    seen = rng.uniform(0, 1, (TRIED, 2)).astype(np.float32)
    _write(network, path, {"rings": torch.from_numpy(rings), "seen": torch.from_numpy(seen)}, NAMES, trained_on)


def export_cover(network: OccluderNetwork, path: Path, trained_on: str) -> None:
    """Write the occluder network's .onnx file, which keeps what it was `trained_on`. RuntimeError when it answers differently."""
    rng = np.random.default_rng(5)
    cells = rng.normal(0, 0.8, (TRIED, CHANNELS, CELLS, CELLS)).astype(np.float32)
    _write(network, path, {"cells": torch.from_numpy(cells)}, ("logit",), trained_on)


def _write(network: nn.Module, path: Path, given: Mapping[str, Tensor], answers: tuple[str, ...], trained_on: str) -> None:
    network.eval()
    with warnings.catch_warnings():
        # The older exporter is meant: the newer one needs a package more and writes the same network.
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.onnx.export(
            network,
            tuple(tensor[:2] for tensor in given.values()),
            str(path),
            input_names=list(given),
            output_names=list(answers),
            dynamic_axes={name: {0: "count"} for name in (*given, *answers)},
            opset_version=OPSET,
            dynamo=False,
        )
    with torch.no_grad():
        out = network(*given.values())
    wanted = [answer.numpy() for answer in (out if isinstance(out, tuple) else (out,))]
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    said = session.run(list(answers), {name: tensor.numpy() for name, tensor in given.items()})
    worst = max(float(np.abs(a - b).max()) for a, b in zip(wanted, said, strict=True))
    if worst > ALIKE:
        raise RuntimeError(f"{path}: the exported network differs from the trained one by {worst:.1e}, more than {ALIKE:.0e}")
    model = onnx.load(path)
    onnx.helper.set_model_props(model, {TRAINED_ON: trained_on})
    onnx.save(model, path)
