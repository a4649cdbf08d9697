"""What the networks are worth: classical seeing alone, networks alone, both; on rendered stills, open stills, where nothing happens, where
hands or shades stay, and where pieces are touched.

    python -m benchmarks ablation [STILLS] [RECORDINGS] [TABLES] [--open FOLDER] [--first SEED] [--seconds 8]

A network is left out as the product does without one that can't be loaded. The disc network alone has a word on each place that
classical seeing found. Times are of the processor, of the detector for stills and of the watcher for recordings.
"""

from __future__ import annotations

import argparse
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import cv2
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from benchmarks import nudges
from benchmarks.quiet import END_S, FPS, is_held_up, misplaced, watch
from benchmarks.stills import Detector, Tally, one, stills_in
from benchmarks.truth import camera_of, load
from calibration.camera import Camera
from rules.errors import InputUnusable
from rules.facts import Incident, Lifted, SeenDiscs, Touched
from virtual_table import VirtualTable, random_camera, random_look, render_still
from virtual_table.layout import scattered
from virtual_table.quiet import QUIET, STAYING, Nothing
from vision.detect import detect
from vision.discs.eyes import KINDS, POSES, eyes
from vision.discs.kinds import wood_light
from vision.discs.topview import view_from_above
from vision.occluders import Occluders
from vision.runtime import open_model

PIECES: Final = 8  # of each colour on a rendered still
TOUCHED_S: Final = 16.0  # five or so pieces touched
NETWORKS: Final[dict[str, tuple[str, ...]]] = {
    "classical alone": (),
    "with discs' network": ("discs",),
    "with occluders'": ("occluders",),
    "both": ("discs", "occluders"),
}


@contextmanager
def only(*names: str) -> Iterator[None]:
    """Only these networks can be opened."""

    def opens(path: Path) -> Any:  # noqa: ANN401 - onnxruntime brings no types
        if path.stem not in names:
            raise OSError(f"{path.stem} left out")
        return open_model(path)

    with patch("vision.discs.eyes.open_model", opens), patch("vision.occluders.open_model", opens):
        eyes.cache_clear()
        Occluders.load.cache_clear()
        yield
    eyes.cache_clear()
    Occluders.load.cache_clear()


def network_alone(image: NDArray[np.uint8], camera: Camera) -> SeenDiscs:
    """Kind, pose and place as the disc network says, wherever classical seeing found a disc; none where it sees none."""
    look, found = eyes(), detect(image, camera, geometry_alone=True).discs
    assert look is not None
    near = np.array([(disc.x_mm, disc.y_mm) for disc in found]).reshape(-1, 2)
    wood = wood_light(view_from_above(image, camera))
    said = look.look(image, camera, near, [disc.kind for disc in found], wood, mirrored_too=True)
    discs = []
    for disc, opinion in zip(found, said, strict=True):
        kind = KINDS[int(opinion.kind.argmax())]
        if kind is None:
            continue
        x, y = np.array([disc.x_mm, disc.y_mm]) + opinion.shift_mm
        sigma = float(np.sqrt(np.trace(opinion.covariance) / 2))
        discs.append(replace(disc, kind=kind, pose=POSES[int(opinion.pose.argmax())], x_mm=float(x), y_mm=float(y), sigma_mm=sigma))
    return SeenDiscs(discs=discs)


def classical(image: NDArray[np.uint8], camera: Camera) -> SeenDiscs:
    """The product without its networks."""
    return detect(image, camera, geometry_alone=True)


WAYS: Final[dict[str, Detector]] = {"classical alone": classical, "network alone": network_alone, "both": detect}


def line(tally: Tally) -> str:
    """One way's figures on stills."""
    n, errors = tally.count, np.array(tally.errors["all"] or [np.nan])
    poses = n["wrong_pose"] + n["other_pose_wrong"]
    return (
        f"found {n['found']}/{n['demanded']}  phantoms {n['phantoms']}  wrong kinds {n['wrong_kind']}  wrong poses {poses}  "
        f"axis median {np.median(errors):.3f} mm  p95 {np.percentile(errors, 95):.3f} mm  max {errors.max():.2f} mm  "
        f"{np.median(tally.look_ms or [np.nan]):.0f} ms a still"
    )


def rendered(tally: Tally, detector: Detector, seed: int) -> None:
    """One still of the virtual table, its camera known."""
    optics, rng = random_camera(seed), np.random.default_rng(seed)
    placed = [(name, *where) for name, where in scattered(rng, PIECES, PIECES).items()]
    tally.still(
        {
            "camera": {"model": "gs"},
            "lighting": "rendered",
            "pieces": [{"kind": kind, "x_mm": x, "y_mm": y, "pose": "flat", "dark_area_clearance_mm": {}} for _, kind, x, y in placed],
        },
        render_still(placed, optics, random_look(seed), seed),
        camera_of(optics),
        detector,
    )


def quiet(networks: tuple[str, ...], seeds: range, seconds: float, kinds: Sequence[Nothing] = QUIET) -> str:
    """One way's figures where nothing happens: whatever is told is false, and so is an arm where nobody is."""
    count: Counter[str] = Counter()
    spent_ms: list[float] = []
    nobodys = 0
    for number, seed in enumerate(seeds):
        table = VirtualTable(seed, look=random_look(seed), camera=random_camera(seed), nothing=kinds[number % len(kinds)])
        nobodys_s: list[float] = []
        try:
            with only(*networks):
                watcher, facts = watch(table, seconds, spent_ms, nobodys_s)
        except InputUnusable:
            count["unusable"] += 1
            continue
        count["touches"] += sum(isinstance(event, Touched | Lifted) for fact in facts for event in fact.timeline)
        count["incidents"] += sum(isinstance(fact, Incident) for fact in facts)
        count["strokes"] += sum(not isinstance(fact, Incident) for fact in facts)
        count["misplaced"] += misplaced(watcher, table, seconds - END_S)
        count["held_up"] += is_held_up(nobodys_s, seconds)
        nobodys += len(nobodys_s)
    times = np.array(spent_ms or [np.nan])
    return (
        f"pieces told touched or lifted {count['touches']}  false incidents {count['incidents']}  false strokes {count['strokes']}  "
        f"discs misplaced {count['misplaced']}  an arm of nobody {nobodys / FPS:.1f} s, at the end {count['held_up']}  "
        f"{np.median(times):.2f} ms a frame, mean {times.mean():.2f}" + (f"  unusable {count['unusable']}" if count["unusable"] else "")
    )


def touched(networks: tuple[str, ...], seeds: range) -> str:
    """One way's figures where pieces are touched, lifted and shaken."""
    with only(*networks):
        tally = nudges.play(seeds, TOUCHED_S)
    count: Counter[str] = Counter()
    for counts in tally.values():
        count.update(counts)  # a sum would leave out what never happened, and "invented 0" is a figure
    return "  ".join(f"{said} {number}" for said, number in count.items())


def main(argv: list[str]) -> None:
    """Command line of this figure."""
    parser = argparse.ArgumentParser(prog="benchmarks ablation", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stills", type=int, nargs="?", default=6)
    parser.add_argument("recordings", type=int, nargs="?", default=4)
    parser.add_argument("tables", type=int, nargs="?", default=1)
    parser.add_argument("--open", type=Path, help="a folder of stills with truth, as `benchmarks stills` takes it")
    parser.add_argument("--first", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=8.0)
    args = parser.parse_args(argv)
    cv2.setNumThreads(1)
    logging.getLogger("vision.runtime").setLevel(logging.ERROR)  # that a network is not in use is what is asked for here
    for name, detector in WAYS.items():
        tally = Tally()
        for seed in range(args.first, args.first + args.stills):
            rendered(tally, detector, seed)
        print(f"{args.stills} rendered stills, {name:<16} {line(tally)}", flush=True)
    for name, detector in WAYS.items() if args.open else ():
        tally = Tally()
        for path, image in stills_in(args.open):
            one(tally, load(path), image, detector, with_lens=True, verbose=False)
        print(f"{tally.count['images']} open stills, {name:<16} {line(tally)}", flush=True)
    for name, networks in NETWORKS.items():
        told = quiet(networks, range(args.first, args.first + args.recordings), args.seconds)
        print(f"{args.recordings} quiet recordings, {name:<20} {told}", flush=True)
        told = quiet(networks, range(args.first, args.first + args.recordings), args.seconds, STAYING)
        print(f"{args.recordings} recordings in which hands or shades stay, {name:<20} {told}", flush=True)
        told = touched(networks, range(args.first, args.first + args.tables))
        print(f"{args.tables} tables of touched pieces, {name:<20} {told}", flush=True)
