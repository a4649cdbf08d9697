"""Places of a fast striker through a rolling shutter, with and without the correction by row and velocity.

    python -m benchmarks shutter [STROKES]

An empty virtual table, a striker at 5 m/s in all directions, a shutter that needs 17 ms from the first row to the last. Compared at each
frame's time with the truth: where the follower saw it, that place moved by its velocity and its row's delay, and the way that the
sightings at their own rows' times give.
"""

from __future__ import annotations

import math

import cv2
import numpy as np

from benchmarks.filmed import film
from benchmarks.truth import camera_of
from calibration import Camera
from rules.facts import SeenDisc, SeenDiscs
from virtual_table import Look, Surface, World, overhead
from virtual_table.renderer import Renderer
from vision.motion.path import paths_of
from vision.motion.predict import FRICTION_MM_S2
from vision.motion.shutter import Shutter, at_frame_time
from vision.watcher import Watcher

READOUT_S = 0.017  # the slowest of the sensors that a table of this size is filmed with at 50 frames a second
EXPOSURE_S = 0.003
FPS = 50.0
SPEED_MM_S = 5000.0
STRUCK_S = 1.2
NEAR_KINK_S = 0.015  # at a rail the velocity of a row is not the frame's: those sightings are told apart
STROKES = 8


def errors_of(number: int, renderer: Renderer, camera: Camera) -> tuple[list[float], list[float], list[float]]:
    """Of one of `STROKES` directions: how far places are off as seen, moved by row and velocity, and on the way that was told, mm."""
    angle = 2 * math.pi * (number + 0.5) / STROKES
    at = -420 * math.cos(angle), -420 * math.sin(angle)
    world = World([("striker", "striker", *at)], Surface(mu=0.08), STRUCK_S)
    world.push(0, SPEED_MM_S * math.cos(angle), SPEED_MM_S * math.sin(angle))
    world.run()
    here = SeenDiscs(discs=[SeenDisc(kind="striker", x_mm=at[0], y_mm=at[1], sigma_mm=0.1)])
    watcher = Watcher(camera, detector=lambda image, camera: here)
    shutter = Shutter(EXPOSURE_S, READOUT_S)
    raw: list[float] = []
    moved: list[float] = []
    run: list[float] = []
    for image, t_ns, frame in film(world, [], renderer, FPS, EXPOSURE_S):
        watcher.push(image, t_ns, frame, shutter)
        if t_ns / 1e9 > world.t - 0.1 or t_ns / 1e9 > STRUCK_S + 0.8:
            break
    true = world.tracks[0]
    tracks = watcher.tracks
    path = paths_of(tracks, FRICTION_MM_S2, camera, shutter)[0]["striker"]
    for s in tracks["striker"].sightings:
        place = true.at(s.t_s)
        if place is None or min(abs(s.t_s - t) for t in true.times[1:]) < NEAR_KINK_S:
            continue
        seen, want = np.array([s.x_mm, s.y_mm]), np.array([place.x_mm, place.y_mm])
        there = path.at(s.t_s)
        raw.append(float(np.hypot(*(seen - want))))
        moved.append(float(np.hypot(*(at_frame_time(camera, shutter, "striker", seen, path.velocity_before(s.t_s)) - want))))
        run.append(float(np.hypot(*(there - want))) if there is not None else math.inf)
    return raw, moved, run


def main(argv: list[str]) -> None:
    """Command line of this figure."""
    cv2.setNumThreads(1)
    optics = overhead(1456, 1088, readout_s=READOUT_S)
    camera = camera_of(optics)
    renderer = Renderer(optics, Look())
    every: list[list[float]] = [[], [], []]
    for number in range(int(argv[0]) if argv else STROKES):
        for known, new in zip(every, errors_of(number, renderer, camera), strict=True):
            known.extend(new)
    for name, errors in zip(("without correction", "moved by row and velocity", "way at the frame's time"), every, strict=True):
        p50, p95, top = np.percentile(errors, (50, 95, 100))
        print(f"{name}: {len(errors)} places, error p50/p95/max {p50:.2f}/{p95:.2f}/{top:.2f} mm")
