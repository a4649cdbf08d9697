"""Numbers of 8 bits for 32 in the disc network's file: a third less time and nothing lost. models/README.md has the figures, and why
the occluder network keeps its 32.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static

Given = dict[str, np.ndarray]

# The first look at a disc keeps 32 bits: it sees light itself, and edges lie to a fiftieth of a sample. What follows the rays is so
# small that turning numbers into 8 bits and back takes longer than it saves.
LAYERS: Final = ("/look/look.1/", "/look/look.2/", "/gather/")


class _Shown(CalibrationDataReader):
    """What a network is shown so that its numbers' ranges are known."""

    def __init__(self, given: Iterable[Given]) -> None:
        self._given = iter(given)

    def get_next(self) -> Given | None:
        return next(self._given, None)


def quantise(path: Path, given: Iterable[Given]) -> None:
    """Turn `LAYERS` of the disc network's file into ones of 8 bits; what it says to `given`, batches of one size, tells their ranges."""
    model = onnx.load(path)
    nodes = [node.name for node in model.graph.node if node.name.startswith(LAYERS)]
    options: dict[str, Any] = {
        "quant_format": QuantFormat.QDQ,
        "per_channel": True,
        "reduce_range": True,  # 7 bits of weights: processors without VNNI would run over, and answer differently
        "activation_type": QuantType.QUInt8,
        "weight_type": QuantType.QInt8,
        "calibrate_method": CalibrationMethod.Percentile,  # a glint in one patch must not coarsen all others
    }
    quantize_static(model, str(path), _Shown(given), nodes_to_quantize=nodes, **options)
