"""What the frame path costs and what it loses, for the `health` topic and the end-of-run line."""

from __future__ import annotations

import shutil
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

_WINDOW_FRAMES: Final = 600  # ten seconds at 60 a second: long enough for a p99, short enough to show a change
_THERMAL: Final = Path("/sys/class/thermal/thermal_zone0/temp")  # millidegrees; absent on many machines


class Timing:
    """Counts frames; one writer (the frame thread), read from there too."""

    def __init__(self, disk: Path = Path("/")) -> None:
        self._disk = disk
        self._latency_s: deque[float] = deque(maxlen=_WINDOW_FRAMES)
        self._seen_s: deque[float] = deque(maxlen=_WINDOW_FRAMES)
        self._last_seq: int | None = None
        self.frames = 0
        self.dropped = 0

    def frame(self, seq: int, latency_s: float) -> None:
        """One frame was worked through; a gap in `seq` is what was lost before it."""
        if self._last_seq is not None:
            self.dropped += max(0, seq - self._last_seq - 1)
        self._last_seq = seq
        self.frames += 1
        self._latency_s.append(latency_s)
        self._seen_s.append(time.monotonic())

    def health(self, more: Mapping[str, Any]) -> dict[str, Any]:
        """Payload of the `health` topic."""
        latency_ms = np.array(self._latency_s or [0.0]) * 1e3
        span_s = self._seen_s[-1] - self._seen_s[0] if len(self._seen_s) > 1 else 0.0
        return {
            "schema": "novuss.health/1",
            "fps": round((len(self._seen_s) - 1) / span_s, 1) if span_s > 0 else 0.0,
            "frames": self.frames,
            "dropped_frames": self.dropped,
            "latency_ms": {"median": round(float(np.median(latency_ms)), 2), "p99": round(float(np.percentile(latency_ms, 99)), 2)},
            "temperature_c": _temperature_c(),
            "disk_free_mb": shutil.disk_usage(self._disk).free // 1_000_000,
            **more,
        }


def _temperature_c() -> float | None:
    try:
        return int(_THERMAL.read_text(encoding="ascii")) / 1000
    except (OSError, ValueError):
        return None
