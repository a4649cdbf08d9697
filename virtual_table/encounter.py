"""When two things that move on parabolas meet: root finding, free of any state."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

TOUCH_MM: Final = 1e-6  # gap at which two surfaces count as touching


def smaller_root(a: float, b: float, c: float) -> float | None:
    """Smaller positive root of a t^2 + b t + c."""
    if abs(a) < 1e-12:
        return None if b == 0 else -c / b
    disc = b * b - 4 * a * c
    if disc < 0:
        return None
    q = -0.5 * (b + math.copysign(math.sqrt(disc), b))
    roots = sorted(r for r in (q / a, c / q if q else math.inf) if r >= 0)
    return roots[0] if roots else None


def meeting_time(d: Array, v: Array, a: Array, reach: float, h: float, slow_mm_s: float | None = None) -> float | None:
    """First time in [0, h] at which |d + v t + a t^2 / 2| falls to `reach`; None when it does not.

    `slow_mm_s` is for two discs: a pair that touches and approaches slower than this is left to the contact solver. Without it
    (a pocket) being inside already counts.
    """
    dx, dy, vx, vy, ax, ay = float(d[0]), float(d[1]), float(v[0]), float(v[1]), float(a[0]), float(a[1])

    def gap(t: float) -> float:
        return math.hypot(dx + vx * t + ax * t * t / 2, dy + vy * t + ay * t * t / 2) - reach

    start = gap(0.0)
    approach = -(dx * vx + dy * vy) / max(math.hypot(dx, dy), 1e-9)
    if start <= TOUCH_MM:
        return 0.0 if slow_mm_s is None or approach > slow_mm_s else None
    vv = vx * vx + vy * vy
    nearest = h if vv == 0 else min(h, max(0.0, -(dx * vx + dy * vy) / vv))
    for _ in range(2):  # Newton toward the closest approach of the parabola, from that of the straight line
        t = nearest
        px, py, ux, uy = dx + vx * t + ax * t * t / 2, dy + vy * t + ay * t * t / 2, vx + ax * t, vy + ay * t
        curve = ux * ux + uy * uy + px * ax + py * ay
        if curve > 0:
            nearest = min(h, max(0.0, t - (px * ux + py * uy) / curve))
    lo, hi = 0.0, nearest
    if gap(nearest) > 0:
        if gap(h) > 0:
            return None
        hi = h
    for _ in range(60):
        mid = (lo + hi) / 2
        if gap(mid) > TOUCH_MM / 4:
            lo = mid
        else:
            hi = mid
        if hi - lo < 1e-12:
            break
    return hi
