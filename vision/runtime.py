"""How networks are opened: with onnxruntime, one thread each, and never more than the ones that `models/` ships."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

_log = logging.getLogger(__name__)
_Network = TypeVar("_Network")

MODELS: Final = Path(__file__).resolve().parents[1] / "models"


def open_model(path: Path) -> Any:  # noqa: ANN401 - onnxruntime brings no types
    """A session for one .onnx file; whatever onnxruntime raises where it or the file can't be loaded."""
    import onnxruntime  # a second of start-up that only those who look through a network pay

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def loaded(make: Callable[[], _Network], name: str, otherwise: str) -> _Network | None:
    """A network, or None (with a warning that says why, and what serves `otherwise`) where it or its runtime can't be loaded."""
    try:
        return make()
    except Exception as error:
        _log.warning("%s not in use: %s; %s", name, error, otherwise)
        return None
