"""Finding and following discs on rendered frames: error, misses, phantoms and time, against tuned alternatives in the same run.

    python -m benchmarks discs [FRAMES]

HoughCircles and SimpleBlobDetector get what they need to do well: a view rectified to the pieces' upper faces with the true
camera, the piece's radius, and thresholds tuned on other frames of the same renderer.
"""

from __future__ import annotations

import math
import resource
import time
from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from benchmarks.ablation import classical, network_alone
from benchmarks.truth import camera_of, nearest_pairs
from calibration import Camera
from rules.facts import SeenDiscs
from rules.table import PIECE_DIAMETER_MM, Kind
from virtual_table import overhead, random_look, render_still
from virtual_table.layout import scattered
from vision.detect import detect
from vision.discs.eyes import eyes
from vision.discs.kinds import wood_light
from vision.discs.refit import refit_many
from vision.discs.topview import MM_PER_PX, TopView, view_from_above

Places = NDArray[np.float64]
MATCH_MM = 12.0
RADIUS_PX = PIECE_DIAMETER_MM / 2 / MM_PER_PX
# Cramer-Rao for a blurred circular edge: see `bound_mm`.
NOISE_GREY, CONTRAST_GREY, BLUR_PX = 3.0, 80.0, 0.7


def bound_mm(camera: Camera) -> float:
    """Least error per axis of a disc's centre at rest, mm: information of a Gaussian-blurred edge all around the circle."""
    scale = camera.px_per_mm(0.0, 0.0, 12.0)
    per_px_of_edge = CONTRAST_GREY**2 / (NOISE_GREY**2 * 2 * math.sqrt(math.pi) * BLUR_PX)
    return 1 / math.sqrt(math.pi * PIECE_DIAMETER_MM / 2 * scale * per_px_of_edge) / scale


def hough(image: NDArray[np.uint8], camera: Camera) -> Places:
    """Tuned HoughCircles on the rectified view."""
    grey = cv2.medianBlur(cv2.cvtColor(view_from_above(image, camera).image, cv2.COLOR_BGR2GRAY), 3)
    found = cv2.HoughCircles(
        grey, cv2.HOUGH_GRADIENT, dp=1.0, minDist=26, param1=120, param2=13, minRadius=int(RADIUS_PX) - 1, maxRadius=int(RADIUS_PX) + 2
    )
    return TopView.to_mm(found[0][:, :2]) if found is not None else np.zeros((0, 2))


def blobs(image: NDArray[np.uint8], camera: Camera) -> Places:
    """Tuned SimpleBlobDetector on the rectified view."""
    options = cv2.SimpleBlobDetector.Params()
    options.minThreshold, options.maxThreshold, options.thresholdStep = 20, 160, 8
    options.filterByArea, options.minArea, options.maxArea = True, 350, 1100
    options.filterByCircularity, options.minCircularity = True, 0.7
    options.filterByConvexity, options.filterByInertia = False, False
    keys = cv2.SimpleBlobDetector.create(options).detect(view_from_above(image, camera).image)
    return TopView.to_mm(np.array([key.pt for key in keys])) if keys else np.zeros((0, 2))


def places(seen: SeenDiscs) -> Places:
    """Where the discs are."""
    return np.array([(disc.x_mm, disc.y_mm) for disc in seen.discs]).reshape(-1, 2)


def seen_from(near: Places, image: NDArray[np.uint8], camera: Camera, kinds: list[Kind], wood: Places) -> Places:
    """Where the network puts discs that are thought to be near these places."""
    look = eyes()
    assert look is not None
    return near + np.array([one.shift_mm for one in look.look(image, camera, near, kinds, wood)])


def main(argv: list[str]) -> None:
    """Print one line a method."""
    cv2.setNumThreads(1)
    frames = int(argv[0]) if argv else 6
    optics = overhead()
    camera = camera_of(optics)
    methods: dict[str, Callable[[NDArray[np.uint8], Camera], Places]] = {
        "detect": lambda image, camera: places(detect(image, camera)),
        "by geometry alone": lambda image, camera: places(classical(image, camera)),
        "by network alone": lambda image, camera: places(network_alone(image, camera)),
        "HoughCircles": hough,
        "SimpleBlobDetector": blobs,
    }
    errors: dict[str, list[float]] = {name: [] for name in (*methods, "follow", "watch at rest")}
    times: dict[str, list[float]] = {name: [] for name in errors}
    missed = dict.fromkeys(errors, 0)
    phantoms = dict.fromkeys(errors, 0)
    total = 0
    for seed in range(frames):
        rng = np.random.default_rng(seed)
        placed = [(name, *where) for name, where in scattered(rng, 8, 8).items()]
        image = render_still(placed, optics, random_look(seed), seed)
        true = np.array([(x, y) for _, _, x, y in placed])
        total += len(true)

        def follow(
            image: NDArray[np.uint8], camera: Camera, true: Places = true, placed: list[tuple[str, str, float, float]] = placed
        ) -> Places:
            return refit_many(image, camera, true + 0.5, [kind for _, kind, _, _ in placed]).centres_mm

        wood = wood_light(view_from_above(image, camera))  # the watcher looks at it now and then, not in every frame

        def at_rest(
            image: NDArray[np.uint8],
            camera: Camera,
            true: Places = true,
            placed: list[tuple[str, Kind, float, float]] = placed,
            wood: Places = wood,
        ) -> Places:
            kinds = [kind for _, kind, _, _ in placed]
            near = refit_many(image, camera, true + 0.5, list(kinds)).centres_mm
            return seen_from(near, image, camera, kinds, wood)

        for name, method in (*methods.items(), ("follow", follow), ("watch at rest", at_rest)):
            start = time.perf_counter()
            found = method(image, camera)
            times[name].append(1e3 * (time.perf_counter() - start))
            near = [distance for _, distance in nearest_pairs(true, found, MATCH_MM).values()]
            errors[name] += near
            missed[name] += len(true) - len(near)
            phantoms[name] += len(found) - len(near)
    for name, values in errors.items():
        error = np.array(values) if values else np.array([np.nan])
        print(
            f"{name:<19} median {np.median(error):6.3f} mm  p95 {np.percentile(error, 95):6.3f} mm  max {error.max():6.2f} mm  "
            f"missed {missed[name]}/{total}  phantoms {phantoms[name]}  {np.median(times[name]):7.1f} ms a frame"
        )
    print(f"Cramer-Rao bound    {bound_mm(camera):.4f} mm per axis (contrast {CONTRAST_GREY:g}, noise {NOISE_GREY:g}, blur {BLUR_PX:g} px)")
    print(f"peak memory         {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")
