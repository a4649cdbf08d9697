"""What filming costs: the frame path's time without and with it, the film's own processor time, memory, and size on disk.

python -m benchmarks evidence [STROKES]
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from benchmarks.truth import camera_of
from device.evidence import Shelf
from device.evidence.recorder import Recorder
from device.sources.virtual import VirtualSource
from device.storage.match_log import LogLine
from rules.facts import Entry, Incident, Stroke
from rules.fold import start, step
from vision.watcher import Watcher

STROKES = 4
PER_S = 60.0


class Pass:
    """One run over the same match; only the product's own time is counted, never the drawing of the frames."""

    def __init__(self, seed: int, strokes: int, folder: Path | None) -> None:
        source = VirtualSource(seed, realtime=False, sets=1)
        camera = camera_of(source.table.camera)
        watcher = Watcher(camera, sides=("S", "N"))
        self.recorder = None if folder is None else Recorder(Shelf(folder), camera, "bench", lambda *_: None, patient=True)
        if self.recorder is not None:
            self.recorder.start()
        state = start(source.match)
        self.frame_ms: list[float] = []
        others_s = drawn_s = 0.0
        self.seconds = self.strokes = 0.0
        process_s, began_s = time.process_time(), time.thread_time()
        while self.strokes < strokes and (frame := source.read()) is not None:
            began = time.thread_time()
            facts = watcher.push(frame.image, frame.t_ns, frame.seq)
            if self.recorder is not None:
                self.recorder.offer(frame, watcher.under_way if watcher.moving else (), busy=watcher.moving)
            self.frame_ms.append((time.thread_time() - began) * 1e3)
            self.seconds = frame.t_ns / 1e9
            for fact in facts:
                entry = Entry(stroke=fact) if isinstance(fact, Stroke) else Entry(incident=fact)
                state, ruling = step(state, entry)
                self.strokes += isinstance(fact, Stroke)
                if self.recorder is not None:
                    self._keep(fact, entry, ruling)
                source.ruled({"turn": ruling.turn, "place": [], "restore": []})
        if self.recorder is not None:
            self.recorder.close(None)
        drawn_s = time.thread_time() - began_s
        others_s = time.process_time() - process_s - drawn_s
        self.film_ms = others_s * 1e3 / max(len(self.frame_ms), 1)

    def _keep(self, fact: Stroke | Incident, entry: Entry, ruling) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
        assert self.recorder is not None
        booking = self.recorder.book(fact, ruling)
        if booking.name is not None:
            line = LogLine(ruling.entry, "m", ruling.entry, f"k{ruling.entry}", entry, None, None, booking.name)
            self.recorder.keep(booking.name, line, fact, ruling, {})


def figures(ms: list[float]) -> dict[str, float]:
    return {"mean": round(float(np.mean(ms)), 3), "median": round(float(np.median(ms)), 3), "p99": round(float(np.percentile(ms, 99)), 3)}


def peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000


def main(argv: list[str]) -> None:
    """Command line of this figure."""
    strokes = int(argv[0]) if argv else STROKES
    without = Pass(3, strokes, None)
    memory_mb = peak_mb()
    with tempfile.TemporaryDirectory() as folder:
        film = Pass(3, strokes, Path(folder))
        assert film.recorder is not None
        told = film.recorder.figures()
    out = {
        "frames": len(film.frame_ms),
        "frame_path_ms": {"without": figures(without.frame_ms), "with": figures(film.frame_ms)},
        "film_ms_per_frame": round(film.film_ms, 2),
        "film_share_of_a_core_at_60": round(film.film_ms * PER_S / 1e3, 3),
        "clips": told["kept"],
        "mb_per_ruling": round(told["used_mb"] / max(told["kept"], 1), 2),
        "film_memory_mb": told["memory_mb"],
        "peak_memory_mb": {"without": memory_mb, "with": peak_mb()},
        "threads_left": threading.active_count(),
    }
    print(json.dumps(out, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
