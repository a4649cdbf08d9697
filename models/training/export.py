"""From a trained network to the file that vision loads, and proof that both answer alike."""

from __future__ import annotations

import hashlib
import warnings
from pathlib import Path

import numpy as np
import onnxruntime
import torch

from models.training.network import DiscNetwork
from vision.discs.patches import RAYS, RINGS

OPSET = 17  # onnxruntime 1.14 and newer run it
ALIKE = 1e-4
NAMES = ("kind", "pose", "shift", "log_sigma")


def export(network: DiscNetwork, path: Path) -> str:
    """Write the .onnx file; its sha256. RuntimeError when it answers differently from the network."""
    network.eval()
    example = (torch.zeros(2, 3, RINGS, RAYS), torch.zeros(2, 2))
    names = ("rings", "seen", *NAMES)
    with warnings.catch_warnings():
        # The older exporter is meant: the newer one needs a package more and writes the same network.
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.onnx.export(
            network,
            example,
            str(path),
            input_names=["rings", "seen"],
            output_names=list(NAMES),
            dynamic_axes={name: {0: "count"} for name in names},
            opset_version=OPSET,
            dynamo=False,
        )
    rng = np.random.default_rng(5)
    rings = rng.normal(-0.5, 0.5, (16, 3, RINGS, RAYS)).astype(np.float32)
    seen = rng.uniform(0, 1, (16, 2)).astype(np.float32)
    with torch.no_grad():
        wanted = [out.numpy() for out in network(torch.from_numpy(rings), torch.from_numpy(seen))]
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    given = session.run(list(NAMES), {"rings": rings, "seen": seen})
    worst = max(float(np.abs(a - b).max()) for a, b in zip(wanted, given, strict=True))
    if worst > ALIKE:
        raise RuntimeError(f"{path}: the exported network differs from the trained one by {worst:.1e}, more than {ALIKE:.0e}")
    return hashlib.sha256(path.read_bytes()).hexdigest()
