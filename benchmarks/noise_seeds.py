"""The count of discs on one virtual table under many noise seeds: `python -m benchmarks.noise_seeds [SEEDS]` (1,000 by default)."""

from __future__ import annotations

import sys
from collections import Counter

import cv2
import numpy as np

from benchmarks.truth import camera_of
from virtual_table import overhead, random_look, render_still
from virtual_table.layout import scattered
from vision.detect import detect

SEEDS = 1000


def main(argv: list[str]) -> None:
    """Print how often each count came out; the right one is the table's own."""
    cv2.setNumThreads(1)
    seeds = int(argv[0]) if argv else SEEDS
    optics = overhead()
    camera = camera_of(optics)
    placed = [(name, *where) for name, where in scattered(np.random.default_rng(7), 8, 8).items()]
    look = random_look(7)
    counts = Counter(len(detect(render_still(placed, optics, look, seed), camera).discs) for seed in range(seeds))
    print(f"{counts[len(placed)]} of {seeds} seeds give the right count, {len(placed)}; all counts: {dict(sorted(counts.items()))}")


if __name__ == "__main__":
    main(sys.argv[1:])
