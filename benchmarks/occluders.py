"""The occluder mask on rendered tables: overlap with what hands and cues really cover, cells called covered on bare tables, time, memory.

    python -m benchmarks occluders [TABLES] [--first SEED]

Tables, lamps, cameras, skin and sleeves are drawn anew for each. The virtual table draws hands by code of its own, from which the
network has not learned; the camera is the true one.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator

import cv2
import numpy as np
from numpy.typing import NDArray

from benchmarks.truth import camera_of
from calibration.camera import Camera
from models.training.figures import overlap
from virtual_table import VirtualTable, random_camera, random_look
from virtual_table.hands import covered_px
from virtual_table.quiet import Nothing
from vision.occluders import ON_RAILS_TOO, Occluders, rectified

ACTS: tuple[Nothing, ...] = ("tidy", "lean", "pass_striker", "aim", "still")
LOOKS = 4  # frames of one table
FIRST_S, BETWEEN_S = 1.7, 0.35  # of the first look, and from look to look: hands come in 1 s after the start
LEAST_CELLS = 20  # about a thumb; less says nothing of the overlap
SMALL = 4  # the watcher's own small picture, if it is given

Mask = NDArray[np.bool_]


def looks(seed: int, nothing: Nothing) -> Iterator[tuple[NDArray[np.uint8], Camera, Mask]]:
    """Frames of a table, its camera, and which cells are covered."""
    optics = random_camera(seed)
    table = VirtualTable(seed, look=random_look(seed), camera=optics, nothing=nothing)
    camera = camera_of(optics)
    table.skip(round(FIRST_S * table.fps))
    for _ in range(LOOKS):
        frame = table.next_frame()
        if frame is None:
            return
        covered = covered_px(optics, table.shapes_at(frame.t_ns / 1e9))
        cells, seen = rectified(cv2.merge([covered] * 3), camera)
        yield frame.image, camera, np.asarray((cells[..., 0] > 127) & seen & ON_RAILS_TOO)
        table.skip(round(BETWEEN_S * table.fps))


def main(argv: list[str]) -> None:
    """Command line of this figure."""
    parser = argparse.ArgumentParser(prog="benchmarks occluders", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=int, nargs="?", default=25)
    parser.add_argument("--first", type=int, default=9000)
    args = parser.parse_args(argv)
    cv2.setNumThreads(1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    network = Occluders.load()
    if network is None:
        print("the network can't be loaded here")
        return
    blank = camera_of(random_camera(args.first))
    network.cover(np.zeros((blank.lens.height, blank.lens.width, 3), np.uint8), blank)
    memory_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    per: dict[str, list[float]] = defaultdict(list)
    bare: list[int] = []
    whole_ms: list[float] = []
    small_ms: list[float] = []
    acts = [ACTS[k % len(ACTS)] for k in range(args.tables)]
    for nothing, image, camera, truth in ((act, *look) for k, act in enumerate(acts) for look in looks(args.first + k, act)):
        network.cover(image, camera)  # the first look through a camera works out where its cells are
        start = time.thread_time()
        cover = network.cover(image, camera)
        whole_ms.append(1000 * (time.thread_time() - start))
        small = cv2.resize(image, (image.shape[1] // SMALL, image.shape[0] // SMALL), interpolation=cv2.INTER_AREA)
        start = time.thread_time()
        network.cover(np.asarray(small, dtype=np.uint8), camera)
        small_ms.append(1000 * (time.thread_time() - start))
        if np.count_nonzero(truth) >= LEAST_CELLS:
            per[nothing].append(overlap(truth, cover.mask))
        elif not truth.any():
            bare.append(int(np.count_nonzero(cover.mask)))
    for nothing, values in per.items():
        print(f"  {nothing}: IoU mean {statistics.mean(values):.3f}, worst {min(values):.3f} of {len(values)} frames")
    everything = [value for values in per.values() for value in values]
    print(f"IoU mean {statistics.mean(everything):.3f}, median {statistics.median(everything):.3f} of {len(everything)} frames")
    share = sum(bare) / max(1, len(bare)) / int(np.count_nonzero(ON_RAILS_TOO))
    print(f"bare tables: {share:.4%} of cells called covered, in {sum(b > 0 for b in bare)} of {len(bare)} frames any")
    size = f"{blank.lens.width} x {blank.lens.height}"
    print(f"{statistics.median(whole_ms):.1f} ms a picture of {size}, {statistics.median(small_ms):.1f} ms from its quarter; one core")
    print(f"{memory_mb:.0f} MB of memory more, a picture included")
