"""Accuracy on stills with truth: calibration error, discs found, phantoms, kinds, poses, error per camera and lamp, dark/light.

    python -m benchmarks stills FOLDER [--no-lens] [--geometry-alone] [--json OUT]

A picture whose camera was turned by quarters is read with the `--south` that a person would give once; all else is the product's own.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth import kind_of, lens_of, load, nearest_pairs
from calibration.camera import Calibration, Camera
from calibration.coarse import South
from calibration.find import find_table
from device.images import read_image
from rules.errors import InputUnusable
from rules.facts import SeenDisc, SeenDiscs
from vision.detect import detect

MATCH_MM = 12.0  # a report further from every true disc than this is a phantom
HIDDEN_SHARE = 0.2  # more hidden than this is not demanded
ELLIPSE_95 = 2.448  # 95 % of a two-dimensional Gaussian lies within 2.448 sigma
BANDS_MM = (0.25, 0.7, 1.0, 2.0, 15.0)
ZONES = {"own_zone_S": "S", "own_zone_N": "N", "own_zone_W": "W", "own_zone_E": "E", "circle": "circle"}
Detector = Callable[[NDArray[np.uint8], Camera], SeenDiscs]
POSES = {"tilted_on_pocket_edge": "on_edge"}


def true_camera(truth: dict[str, Any]) -> Camera:
    """The camera that a picture was rendered with."""
    camera = truth["camera"]
    return Camera(Calibration(lens=lens_of(truth), rvec=camera["rvec"], tvec=camera["tvec"]))


def south_of(camera: Camera) -> South:
    """Where side S lies in the picture, to the nearest quarter."""
    (x0, y0), (x1, y1) = camera.to_px([[0, 500, 0], [0, -500, 0]])
    dx, dy = x1 - x0, y1 - y0
    if abs(dy) > abs(dx):
        return "bottom" if dy > 0 else "top"
    return "right" if dx > 0 else "left"


def grid_error_mm(found: Camera, true: Camera) -> tuple[float, float]:
    """RMS and largest distance on the table between where two cameras put the same pixels of the playing surface."""
    ticks = np.arange(-480, 481, 60.0)
    grid = np.stack(np.meshgrid(ticks, ticks), -1).reshape(-1, 2)
    back = found.to_mm(true.to_px(np.c_[grid, np.zeros(len(grid))]), 0.0)
    error = np.linalg.norm(back - grid, axis=1)
    return float(np.sqrt((error**2).mean())), float(error.max())


class Tally:
    """What is counted over all pictures."""

    def __init__(self) -> None:
        self.count: dict[str, int] = defaultdict(int)
        self.errors: dict[str, list[float]] = defaultdict(list)
        self.ratios: dict[str, list[float]] = defaultdict(list)
        self.grid: list[tuple[float, float]] = []
        self.dark: dict[float, dict[str, int]] = {band: {"right": 0, "wrong": 0, "close": 0} for band in BANDS_MM}
        self.rows: list[tuple[float, str]] = []
        self.look_ms: list[float] = []

    def disc(self, truth: dict[str, Any], true: dict[str, Any], found: SeenDisc, distance: float) -> None:
        """One demanded disc that was found."""
        camera = truth["camera"]["model"]
        radius = "inner" if math.hypot(true["x_mm"], true["y_mm"]) < 300 else "outer"
        for group in ("all", f"camera {camera}", f"lamp {truth['lighting']}", f"kind {kind_of(true['kind'])}", f"part {radius}"):
            self.errors[group].append(distance)
            self.ratios[group].append(distance / max(found.sigma_mm, 1e-6))
        self.count["wrong_kind"] += found.kind != kind_of(true["kind"])
        self.count["wrong_pose"] += found.pose != "flat"
        if found.kind == "striker":
            return
        for name, zone in ZONES.items():
            clearance = true["dark_area_clearance_mm"].get(name)
            if clearance is None or abs(clearance) > BANDS_MM[-1]:
                continue
            band = next(b for b in BANDS_MM if abs(clearance) <= b)
            given = found.clearance_mm[zone]  # type: ignore[index]
            if abs(given) <= 2 * found.sigma_mm:
                self.dark[band]["close"] += 1
            else:
                self.dark[band]["right" if (given > 0) == (clearance >= 0) else "wrong"] += 1

    def still(self, truth: dict[str, Any], image: NDArray[np.uint8], camera: Camera, detector: Detector) -> tuple[int, int, float]:
        """Look at one picture and count: how many discs are paired, how many are phantoms, and the largest error."""
        began = time.thread_time()
        found = detector(image, camera).discs
        self.look_ms.append(1e3 * (time.thread_time() - began))
        return self.picture(truth, found)

    def picture(self, truth: dict[str, Any], found: list[SeenDisc]) -> tuple[int, int, float]:
        """The same of what was found in one picture."""
        pieces, demanded = pieces_of(truth)
        self.count["demanded"] += len(demanded)
        places = np.array([(t["x_mm"], t["y_mm"]) for t in pieces]).reshape(-1, 2)
        pairs = nearest_pairs(places, np.array([(f.x_mm, f.y_mm) for f in found]).reshape(-1, 2), MATCH_MM)
        worst = 0.0
        for i in demanded:
            if i not in pairs:
                self.count["missed"] += 1
                continue
            j, distance = pairs[i]
            self.count["found"] += 1
            worst = max(worst, distance)
            self.disc(truth, pieces[i], found[j], distance)
        for i, (j, _) in pairs.items():
            if pieces[i]["pose"] != "flat":
                pose = POSES.get(pieces[i]["pose"], pieces[i]["pose"])
                self.count["other_pose_right" if found[j].pose == pose else "other_pose_wrong"] += 1
        phantoms = len(found) - len(pairs)
        self.count["phantoms"] += phantoms
        return len(pairs), phantoms, worst

    def result(self) -> dict[str, Any]:
        """Everything as one JSON object."""
        by = {
            group: {
                "n": len(e),
                "median": round(float(np.median(e)), 3),
                "p95": round(float(np.percentile(e, 95)), 3),
                "max": round(max(e), 3),
                "within_95": round(float((np.array(self.ratios[group]) <= ELLIPSE_95).mean()), 3),
            }
            for group, e in sorted(self.errors.items())
        }
        grid = np.array(self.grid or [[np.nan, np.nan]])
        return {
            **self.count,
            "calibration_mm": {
                "rms_median": float(np.median(grid[:, 0])),
                "rms_max": float(grid[:, 0].max()),
                "max": float(grid[:, 1].max()),
            },
            "by": by,
            "dark_light": {f"<={band}": tally for band, tally in self.dark.items()},
            "worst": [row for _, row in sorted(self.rows, reverse=True)[:3]],
            "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        }


def pieces_of(truth: dict[str, Any]) -> tuple[list[dict[str, Any]], list[int]]:
    """Discs that a picture shows, and which of them must be found."""
    pieces = [t for t in truth["pieces"] if t["pose"] != "in_pocket_bag"]
    return pieces, [i for i, t in enumerate(pieces) if t["pose"] == "flat" and t.get("occluded_fraction", 0) <= HIDDEN_SHARE]


def one(tally: Tally, truth: dict[str, Any], image_path: Path, detector: Detector, *, with_lens: bool, verbose: bool) -> None:
    """Measure one picture."""
    tally.count["images"] += 1
    true_cam = true_camera(truth)
    start = time.perf_counter()
    image = read_image(image_path)
    try:
        fit = find_table([image], lens_of(truth) if with_lens else None, south=south_of(true_cam))
    except InputUnusable as error:
        tally.count["refused"] += 1
        tally.picture(truth, [])
        tally.rows.append((99.0, f"{image_path.name}: refused: {error}"))
        return
    camera = Camera(fit.calibration)
    tally.grid.append(grid_error_mm(camera, true_cam))
    paired, phantoms, worst = tally.still(truth, image, camera, detector)
    seconds = time.perf_counter() - start
    row = (
        f"{image_path.name}: {paired}/{len(pieces_of(truth)[0])} paired, {phantoms} phantoms, worst {worst:.2f} mm, "
        f"calibration {tally.grid[-1][0]:.3f} mm, {seconds:.1f} s"
    )
    tally.rows.append((worst + 10 * phantoms, row))
    if verbose:
        print(row, flush=True)


def stills_in(folder: Path, only: str = "") -> Iterator[tuple[Path, Path]]:
    """Truth and picture of each still whose name holds that."""
    for path in sorted(folder.glob("*.json")):
        image = next((p for p in (path.with_suffix(s) for s in (".png", ".jpg", ".jpeg")) if p.exists()), None)
        if image is not None and only in path.name:
            yield path, image


def main(argv: list[str]) -> None:
    """Command line of this figure."""
    parser = argparse.ArgumentParser(prog="benchmarks stills", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--no-lens", action="store_true", help="without the lens file")
    parser.add_argument("--geometry-alone", action="store_true", help="without the network")
    parser.add_argument("--only", default="", help="only pictures whose name holds this")
    parser.add_argument("--json", type=Path)
    parser.add_argument("-v", action="store_true", help="a line a picture")
    args = parser.parse_args(argv)
    tally = Tally()
    detector = partial(detect, geometry_alone=args.geometry_alone)
    for path, image in stills_in(args.folder, args.only):
        one(tally, load(path), image, detector, with_lens=not args.no_lens, verbose=args.v)
    result = json.dumps(tally.result(), indent=1)
    print(result)
    if args.json:
        args.json.write_text(result, encoding="utf-8")
