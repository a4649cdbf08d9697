"""What the frame path costs and what it loses, for the `health` topic and the end-of-run line."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any, Final

import numpy as np

_WINDOW_FRAMES: Final = 600  # ten seconds at 60 a second: long enough for a p99, short enough to show a change


class Timing:
    """Counts frames; written by the frame thread, read from any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._latency_s: deque[float] = deque(maxlen=_WINDOW_FRAMES)
        self._seen_s: deque[float] = deque(maxlen=_WINDOW_FRAMES)
        self._last_seq: int | None = None
        self.frames = 0
        self.dropped = 0

    def frame(self, seq: int, latency_s: float) -> None:
        """One frame was worked through; a gap in `seq` is what was lost before it."""
        with self._lock:
            if self._last_seq is not None:
                self.dropped += max(0, seq - self._last_seq - 1)
            self._last_seq = seq
            self.frames += 1
            self._latency_s.append(latency_s)
            self._seen_s.append(time.monotonic())

    def figures(self) -> dict[str, Any]:
        """Rate, losses and latency over the last ten seconds' worth of frames."""
        with self._lock:
            latency_ms = np.array(self._latency_s or [0.0]) * 1e3
            count = len(self._seen_s)
            span_s = self._seen_s[-1] - self._seen_s[0] if count > 1 else 0.0
            frames, dropped = self.frames, self.dropped
        return {
            "fps": round((count - 1) / span_s, 1) if span_s > 0 else 0.0,
            "frames": frames,
            "dropped_frames": dropped,
            "latency_ms": {"median": round(float(np.median(latency_ms)), 2), "p99": round(float(np.percentile(latency_ms, 99)), 2)},
        }
