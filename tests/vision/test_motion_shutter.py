"""A rolling shutter sees a fast disc elsewhere than its frame's time says."""

from __future__ import annotations

import numpy as np

from benchmarks import shutter
from benchmarks.truth import camera_of
from rules.table import thickness_mm
from virtual_table import Look, overhead
from virtual_table.renderer import Renderer
from vision.motion.path import paths_of
from vision.motion.predict import FRICTION_MM_S2
from vision.motion.shutter import Shutter, at_frame_time, row_delay_s
from vision.motion.track import Sighting, Track

SHUTTER = Shutter(0.0035, 0.02)
VELOCITY = np.array([800.0, 4900.0])


def place(t):
    speed = np.hypot(*VELOCITY)
    return np.array([0.0, -300.0]) + VELOCITY * (t - FRICTION_MM_S2 * t * t / (2 * speed))


def seen_through(camera, t):
    """Where a disc is seen that a frame of time t shows in the row in which it is at that row's own time."""
    at = place(t)
    for _ in range(20):
        at = place(t + row_delay_s(camera, SHUTTER, at[None], thickness_mm("striker"))[0])
    return at


def test_rows_are_exposed_half_the_readout_before_and_after_the_middle(camera):
    far, near = row_delay_s(camera, SHUTTER, np.array([[0.0, 480.0], [0.0, -480.0]]), 0.0)
    assert -0.01 <= far < -0.008
    assert 0.008 < near <= 0.01
    assert not row_delay_s(camera, Shutter(), np.array([[0.0, 480.0]]), 0.0).any()


def test_a_fast_disc_is_put_where_it_was_at_the_frames_time(camera):
    times = np.arange(8) / 60
    seen = [seen_through(camera, t) for t in times]
    assert max(np.hypot(*(s - place(t))) for s, t in zip(seen, times, strict=True)) > 10
    for s, t in zip(seen, times, strict=True):
        velocity = VELOCITY * (1 - FRICTION_MM_S2 * t / np.hypot(*VELOCITY))
        assert np.hypot(*(at_frame_time(camera, SHUTTER, "striker", s, velocity) - place(t))) < 0.2
    track = Track("striker", "striker", seen[0], sightings=[Sighting(t, *s, 0.1, 0.0) for s, t in zip(seen, times, strict=True)])
    path = paths_of({"striker": track}, FRICTION_MM_S2, camera, SHUTTER)[0]["striker"]
    assert max(np.hypot(*(path.at(t) - place(t))) for t in times) < 0.1


def test_a_bare_striker_in_the_lamps_gloss_is_followed_to_the_millimetre():
    # There it is as bright as the table, so that brightness alone does not show where its edges are.
    optics = overhead(1456, 1088, readout_s=shutter.READOUT_S)
    seen, moved, told = shutter.errors_of(5, Renderer(optics, Look()), camera_of(optics))
    assert len(seen) > 16
    assert max(seen) > 10
    assert max(moved) < 1.0
    assert max(told) < 1.0
