"""What a frame of the virtual camera costs, beside drawing every frame anew as a still: it must leave the core to the product.

python -m benchmarks camera
"""

from __future__ import annotations

import json
import time

import numpy as np

from virtual_table import Spot, VirtualTable, render_still

FRAMES = 180  # three seconds of a stroke
STILLS = 5  # each costs some 50 frames
BEFORE_S = 0.4  # the cue is coming


def main(argv: list[str]) -> None:
    """Command line of this figure."""
    del argv
    table = VirtualTable(seed=1)
    table.truth_at(9.0)
    struck_s = table.strokes[0]["timeline"][1]["t"]
    table.skip(int((struck_s - BEFORE_S) * table.fps))
    table.next_frame()  # draws the resting discs once
    frames_ms = []
    for _ in range(FRAMES):
        began = time.thread_time()
        table.next_frame()
        frames_ms.append((time.thread_time() - began) * 1e3)
    spots = [Spot(d.id, d.kind, d.x_mm, d.y_mm) for d in table.truth_at(struck_s)]
    stills_ms = []
    for _ in range(STILLS):
        began = time.thread_time()
        render_still(spots, table.camera, table.look)
        stills_ms.append((time.thread_time() - began) * 1e3)
    frame, still = float(np.median(frames_ms)), float(np.median(stills_ms))
    print(
        json.dumps(
            {
                "frame_ms": {"median": round(frame, 2), "p95": round(float(np.percentile(frames_ms, 95)), 2)},
                "still_ms": round(still, 1),
                "times_faster_than_stills": round(still / frame, 1),
            },
            indent=1,
        )
    )
