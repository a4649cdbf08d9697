"""A disc that has been put down stands where a closer look has found it, whatever the follower takes for it there."""

from __future__ import annotations

import numpy as np
import pytest

from tests.vision.test_motion_tracks import CAMERA, FRAME_S
from vision.motion.scene import Scene
from vision.motion.smear import Fit
from vision.motion.track import Track
from vision.motion.tracks import Tracker


@pytest.mark.parametrize(("motion_levels", "follows"), [(0, False), (40, True)])
def test_a_striker_put_down_is_followed_only_when_something_moves_there(monkeypatch, motion_levels, follows):
    """Bare wood on wood: a fit was 4 mm off on a table that nobody had seen there, and the striker was given up."""
    image = np.full((1088, 1456, 3), 120, np.uint8)
    scene = Scene(CAMERA)
    scene.settle(image, [])
    tracker = Tracker(CAMERA, scene, 0.004)
    striker = tracker.tracks["striker"] = Track("striker", "striker", np.array([0.0, 418.0]), state="active", carried=True)
    scene.compare(image)
    tracker.settle_one(striker, image, 1.0)
    off = Fit(np.array([-1.0, 422.0]), 0.9, 150.0, 60.0, 0.95, 0.1)
    monkeypatch.setattr(tracker.finder, "fit", lambda *_: off)
    tracker.finder.motion = np.full(scene.surface.shape, motion_levels, np.uint8)
    tracker.step(image, 1.0 + FRAME_S)
    assert striker.at_mm.tolist() == ([-1.0, 422.0] if follows else [0.0, 418.0])
    assert striker.t_s == 1.0 + FRAME_S
