"""The count of discs on one virtual table under many noise seeds: `python -m benchmarks.noise_seeds [SEEDS]` (1,000 by default)."""

from __future__ import annotations

import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import Any

import cv2
import numpy as np

from benchmarks.truth import camera_of
from virtual_table import overhead, random_look, render_still
from virtual_table.layout import scattered
from vision.detect import detect

SEEDS = 1000
SAY_EVERY = 100


@cache
def _table() -> tuple[Any, ...]:
    cv2.setNumThreads(1)
    optics = overhead()
    placed = [(name, *where) for name, where in scattered(np.random.default_rng(7), 8, 8).items()]
    return placed, optics, random_look(7), camera_of(optics)


def found(seed: int) -> int:
    """How many discs are found with this seed's noise."""
    placed, optics, look, camera = _table()
    return len(detect(render_still(placed, optics, look, seed), camera).discs)


def main(argv: list[str]) -> None:
    """Print how often each count came out; the right one is the table's own."""
    seeds = int(argv[0]) if argv else SEEDS
    right, counts = len(_table()[0]), Counter[int]()
    with ProcessPoolExecutor() as pool:
        for done, count in enumerate(pool.map(found, range(seeds), chunksize=5), 1):
            counts[count] += 1
            if done % SAY_EVERY == 0:
                print(f"  {done} of {seeds}: {dict(sorted(counts.items()))}", flush=True)
    print(f"{counts[right]} of {seeds} seeds give the right count, {right}; all counts: {dict(sorted(counts.items()))}")


if __name__ == "__main__":
    main(sys.argv[1:])
