"""Figures that cards and benchmarks tell alike; nothing of the extra `train` is needed for them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Final

import numpy as np

BINS: Final = 10  # of the calibration curve


def reliability(said: np.ndarray, right: np.ndarray) -> tuple[float, list[tuple[float, float, int]]]:
    """Expected calibration error (Guo et al. 2017) of probabilities (N,) and of what came true (N,), and its curve: mean probability,
    share right, count of each bin.
    """
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


def curve_table(curve: list[tuple[float, float, int]]) -> str:
    """Rows of a card's table."""
    return "\n".join(f"| {p:.2f} | {share:.2f} | {count} |" for p, share, count in curve)


def overlap(truth: np.ndarray, said: np.ndarray) -> float:
    """Cells in both over cells in either (Jaccard 1901); NaN where both are empty."""
    either = int(np.count_nonzero(truth | said))
    return float(np.count_nonzero(truth & said) / either) if either else float("nan")
