"""Rendered strokes through the whole pipeline: virtual table, camera, calibration, detector, follower, facts.

    python -m benchmarks filmed [STROKES] [--fps 40 60 120] [--first SEED]

Cameras, lamps and tables are drawn anew every few strokes. Strikers up to 6 m/s, a fifth of the strokes break shots; cue and bridge
hand are in the picture as they are in play.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from itertools import count

import cv2
import msgspec
import numpy as np

from benchmarks.clips import names
from benchmarks.played import strike_off
from benchmarks.scoring import Tally, score
from calibration.camera import Camera
from calibration.find import find_table
from calibration.lens import Lens
from rules.facts import Disc, Incident, Position, Stroke
from virtual_table import Optics, Spot, World, random_camera, random_look
from virtual_table.acting import Act, strike
from virtual_table.motion import Track
from virtual_table.renderer import Renderer, instants
from virtual_table.shading import Image
from vision.watcher import Watcher

SCENES = 5  # strokes with one camera and lamp: a new background costs as much as a stroke
STUDIOS = 7000  # seed of the first one
APART = 100_000  # between seeds of cameras tried for one studio
ROOM_PX = 600  # a table that stands upright in the picture has its far line this much higher than its near one
FEW = 6  # of a run among all figures; 300 for the full one
ROUNDS = 4  # each leaves a twelfth of the error at 5 m/s
CALM_S, AIM_S = 0.4, 0.8  # before the cue comes, and from then to the stroke
AFTER_S = 0.8  # filmed after rest: a ruling is due within half a second
LATEST_S = 1.4  # after the stroke the cue and the hand are away


def film(world: World, acts: Sequence[Act], renderer: Renderer, fps: float, exposure_s: float) -> Iterator[tuple[Image, int, int]]:
    """Pictures of a stroke with mid-exposure time (ns; a rolling shutter's middle row's) and number."""
    scale = renderer.optics.px_per_mm(0.0, 0.0)
    end_s = max(world.t + AFTER_S, CALM_S + AIM_S + LATEST_S)
    slack = renderer.optics.readout_s / 2
    for number in range(int(end_s * fps)):
        opened, middle = number / fps + slack, number / fps + slack + exposure_s / 2
        resting: list[Spot] = []
        moving: list[Sequence[Spot]] = []
        for track in world.tracks:
            first = track.at(track.times[0])
            a, b = track.at(opened - slack) or first, track.at(opened + exposure_s + slack) or first
            if a is None or b is None:
                continue
            if a[:3] == b[:3] and a.z_mm == 0 and a.speed_mm_s == 0 == b.speed_mm_s:
                if a.on_table:
                    resting.append(Spot(track.id, track.kind, a.x_mm, a.y_mm, 0.0, a.angle_rad))
                continue
            begins = opened + _row_delay_s(renderer.optics, track, middle)
            places = [track.at(t) or a for t in instants(begins, exposure_s, max(a.speed_mm_s, b.speed_mm_s), scale)]
            spots = [Spot(track.id, track.kind, p.x_mm, p.y_mm, p.z_mm, p.angle_rad, p.vx_mm_s, p.vy_mm_s) for p in places if p.on_table]
            if spots:
                moving.append(spots)
        renderer.rest(resting)
        shapes = [shape for act in acts if (shape := act.shape_at(middle, exposure_s, scale)) is not None]
        yield renderer.frame(moving, shapes, 1.0, number), round(middle * 1e9), number


def _row_delay_s(optics: Optics, track: Track, middle_s: float) -> float:
    """How much later than the middle row the row is exposed in which a disc is by then: it moves on meanwhile."""
    delay_s, last = 0.0, optics.height - 1
    for _ in range(ROUNDS if optics.readout_s else 0):
        place = track.at(middle_s + delay_s)
        if place is None:
            return delay_s
        row = float(optics.to_px([[place.x_mm, place.y_mm, max(place.z_mm, 0.0)]])[0, 1])
        delay_s = optics.readout_s * (min(max(row, 0.0), last) / last - 0.5)
    return delay_s


class Studio:
    """One camera over one table under one lamp."""

    def __init__(self, seed: int) -> None:
        # Which side is south nobody can see on an empty table: cameras that stand roughly upright, as calibration takes them.
        upright = (random_camera(s) for s in count(seed, APART))
        self.optics = next(o for o in upright if np.diff(o.to_px([[0.0, -400.0, 0.0], [0.0, 400.0, 0.0]]), axis=0)[0, 1] < -ROOM_PX)
        self.renderer = Renderer(self.optics, random_look(seed), seed)
        lens = msgspec.convert(self.optics.lens, Lens)
        self.renderer.rest([])
        self.camera = Camera(find_table([self.renderer.frame()], lens).calibration)


def studio_of(number: int) -> Studio:
    """The studio in which a stroke is filmed."""
    return Studio(number // SCENES + STUDIOS)


def watched(studio: Studio, number: int, fps: float) -> tuple[World, list[Stroke | Incident]]:
    """Film one stroke and watch it."""
    rng = np.random.default_rng([number, 18])
    struck_s = CALM_S + AIM_S
    world, at, velocity = strike_off(rng, struck_s)
    exposure_s = float(rng.uniform(0.003, 0.004))
    watcher = Watcher(studio.camera, sides=("S", "N"), exposure_s=exposure_s)
    facts: list[Stroke | Incident] = []
    for image, t_ns, frame in film(world, strike(CALM_S, struck_s, "S", at, velocity), studio.renderer, fps, exposure_s):
        facts += watcher.push(image, t_ns, frame)
    return world, facts + watcher.finish()


def true_position(world: World) -> Position:
    """Where the discs lay before the stroke."""
    places = [(track, track.at(track.times[0])) for track in world.tracks]
    return Position(discs=[Disc(id=t.id, kind=t.kind, x_mm=p.x_mm, y_mm=p.y_mm) for t, p in places if p is not None])


def scored(world: World, facts: Sequence[Stroke | Incident], tally: Tally) -> str:
    """Verdict on the first contact of a stroke; everything is added to the tally."""
    strokes = [f for f in facts if isinstance(f, Stroke)]
    told = strokes[0] if strokes else None
    tally.counts["strokes_invented"] += max(len(strokes) - 1, 0)
    tally.counts["incidents_invented"] += len(facts) - len(strokes)
    known = names(told.before, true_position(world)) if told else {}
    return score(world, CALM_S + AIM_S, "S", told, known, tally)


def main(argv: list[str]) -> None:
    """Command line of this figure."""
    parser = argparse.ArgumentParser(prog="benchmarks filmed", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strokes", type=int, nargs="?", default=FEW)
    parser.add_argument("--fps", type=float, nargs="+", default=[40.0, 60.0, 120.0], help="taken in turns")
    parser.add_argument("--first", type=int, default=0, help="seed of the first stroke")
    args = parser.parse_args(argv)
    cv2.setNumThreads(1)
    tallies = {fps: Tally() for fps in args.fps}
    began = time.monotonic()
    studio: Studio | None = None
    for number in range(args.first, args.first + args.strokes):
        if studio is None or number % SCENES == 0:
            studio = studio_of(number)
        fps = args.fps[(number // SCENES + number) % len(args.fps)]
        world, facts = watched(studio, number, fps)
        verdict = scored(world, facts, tallies[fps])
        print(f"{number} {fps:.0f} fps {verdict} ({time.monotonic() - began:.0f} s)", flush=True)
    for fps, tally in tallies.items():
        print(f"{fps:.0f} fps", *tally.lines(), sep="\n  ")
        print(f"  invented: strokes {tally.counts['strokes_invented']}, incidents {tally.counts['incidents_invented']}")
