"""Which discs there are, and what they are called, when a table is looked at a second time."""

from __future__ import annotations

import numpy as np

from benchmarks.truth import camera_of
from rules.facts import SeenDisc, SeenDiscs
from virtual_table import overhead
from vision.motion.inventory import Inventory
from vision.motion.scene import Scene
from vision.motion.tracks import Tracker


def looked_at(first, second, lost=()):
    """Id, kind and place of every disc after two looks, discs called `lost` having been lost between them."""
    camera = camera_of(overhead(1456, 1088))
    tracker = Tracker(camera, Scene(camera), 0.004)
    looks = iter([first, second])
    inventory = Inventory(
        camera, tracker, lambda image, camera: SeenDiscs(discs=[SeenDisc(kind=k, x_mm=x, y_mm=y, sigma_mm=0.1) for k, x, y in next(looks)])
    )
    picture = np.zeros((1088, 1456, 3), np.uint8)
    inventory.take(picture)
    for name in lost:
        tracker.tracks[name].state = "lost"
    inventory.complete(picture)
    return {t.id: (t.kind, *t.at_mm.tolist()) for t in tracker.tracks.values() if t.state == "rest"}


def test_what_lay_under_an_arm_is_new_and_what_was_known_keeps_its_name():
    here = looked_at([("red", 0, 0), ("striker", 100, 0)], [("red", 0.4, 0), ("striker", 100, 0), ("red", 50, 50), ("black", -50, 0)])
    assert here == {"r1": ("red", 0, 0), "striker": ("striker", 100, 0), "r2": ("red", 50, 50), "b1": ("black", -50, 0)}


def test_a_piece_that_was_lost_sight_of_gets_its_name_back():
    start = [("red", 0, 0), ("red", 200, 0), ("red", 300, 0)]
    here = looked_at(start, [("red", 300, 0), ("red", 190, 40)], lost=("r1", "r2"))
    assert here == {"r2": ("red", 190, 40), "r3": ("red", 300, 0)}


def test_there_is_one_striker():
    assert looked_at([("striker", 0, 0)], [("striker", 0, 0), ("striker", 200, 0)]) == {"striker": ("striker", 0, 0)}
    assert looked_at([("striker", 0, 0)], [("striker", 200, 0)], lost=("striker",)) == {"striker": ("striker", 200, 0)}
