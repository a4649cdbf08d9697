"""A table under few lamps: its pictures are never two times the same, and yet it rests."""

from __future__ import annotations

import cv2
import numpy as np

from benchmarks.truth import camera_of
from rules.facts import SeenDisc, SeenDiscs
from virtual_table import overhead
from vision.watcher import Watcher


def test_a_noisy_table_comes_to_rest():
    camera = camera_of(overhead(1456, 1088))
    seen = SeenDiscs(discs=[SeenDisc(kind="red", x_mm=0.0, y_mm=0.0, sigma_mm=0.1)])
    watcher = Watcher(camera, detector=lambda image, camera: seen)
    rng = np.random.default_rng(1)
    for number in range(4):
        # Noise of a sensor at high gain, demosaicked: it hangs together over some pixels.
        grain = cv2.resize(rng.normal(0, 2.0, (272, 364, 3)), (1456, 1088), interpolation=cv2.INTER_NEAREST)
        image = np.clip(120 + grain, 0, 255).astype(np.uint8)
        watcher.push(image, number * 16_666_667, number)
    assert len(watcher.discs.discs) == 1
