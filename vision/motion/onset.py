"""Which pieces may have been the first to move: whatever moves in a stroke, the striker has set going, directly or through others.

A piece that was still seen at rest when another one had moved was not touched first, however the directions look.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from vision.motion.path import Path

_MOVED_MM: Final = 0.6  # ten sigma of a sighting, twice the slow error of a place
_BACK_MM: Final = 0.3  # no piece that was touched stops this near to where it lay
_SEEMED_MM: Final = 10.0  # away: farther off it was seen elsewhere for sure
_SLOW_MM_S: Final = 25.0  # a piece that leaves slower than this says little about when it left
_SPREADS: Final = 3.0  # sigmas by which an onset worked out backwards may be early
_USUAL_S: Final = 1 / 60  # between frames, where nothing tells it


@dataclass(frozen=True, slots=True)
class Onset:
    """A piece that has moved: last time at rest, first time away, and when its way back leads to where it lay."""

    id: str
    still_s: float
    moved_s: float
    began_s: float
    sigma_s: float


def frame_s(paths: Mapping[str, Path]) -> float:
    """Time between two frames, from the sightings themselves."""
    gaps = [b.t_s - a.t_s for path in paths.values() for a, b in zip(path.seen, path.seen[1:], strict=False)]
    return float(np.median(gaps)) if gaps else _USUAL_S


def onset(path: Path, interval_s: float) -> Onset | None:
    """When a piece left its place; None if it lies there, or nobody knows where it lay."""
    if path.rest_mm is None or _lies_there_still(path):
        return None
    away = [float(np.hypot(s.x_mm - path.rest_mm[0], s.y_mm - path.rest_mm[1])) > _MOVED_MM for s in path.seen]
    # A fit may waver when a shadow wakes the piece: until it is last seen standing where it lay, it has not moved.
    stood = max((k for k, (a, b) in enumerate(pairwise(away), 1) if not (a or b)), default=-1)
    first = next((k for k in range(stood + 1, len(away)) if away[k] and (k + 1 == len(away) or away[k + 1])), None)
    if first is None or (first + 1 == len(away) and path.is_here):
        return None if path.is_here else _vanished(path, interval_s)
    moved_s = path.seen[first].t_s
    # Without a sighting at rest: its place was seen to change in one frame, and the piece was found in that one or later.
    still_s = path.seen[first - 1].t_s if first else min(path.woken_s or moved_s, moved_s) - interval_s
    began_s, sigma_s = (still_s + moved_s) / 2, interval_s / 2
    start = path.breaks[0] if path.breaks else None
    if start is not None and start.before.speed_mm_s == 0 and start.after.speed_mm_s > _SLOW_MM_S:
        began_s, sigma_s = start.t_s, float(np.hypot(start.sigma_s, _MOVED_MM / 2 / start.after.speed_mm_s))
    return Onset(path.id, still_s, moved_s, began_s, sigma_s)


def _lies_there_still(path: Path) -> bool:
    """Whether a piece is seen at last where it lay: what a passing shadow seemed to move does not come back to the same place."""
    shifted_mm = path.shifted_mm
    if shifted_mm is None or path.rest_mm is None:
        return False
    off = [float(np.hypot(s.x_mm - path.rest_mm[0], s.y_mm - path.rest_mm[1])) for s in path.seen]
    return shifted_mm < _BACK_MM and max(off) < _SEEMED_MM


def _vanished(path: Path, interval_s: float) -> Onset | None:
    """A piece that was gone before it was seen anywhere else."""
    if path.seen:
        still_s = max(path.seen[-1].t_s, path.stood_s)
    elif path.woken_s:
        still_s = path.woken_s - interval_s
    else:
        return None
    return Onset(path.id, still_s, still_s + interval_s, still_s + interval_s / 2, interval_s / 2)


def first_movers(paths: Mapping[str, Path], striker: str) -> list[Onset]:
    """Pieces that may have moved first, the earliest seen away first."""
    interval_s = frame_s(paths)
    found = _all(paths, striker, interval_s)
    if not found:
        return []
    soonest_s = min(o.moved_s for o in found)
    may = [o for o in found if o.still_s < soonest_s or o.began_s - _SPREADS * o.sigma_s < soonest_s]
    return sorted(may, key=lambda o: o.moved_s)


def later_movers(paths: Mapping[str, Path], striker: str, first: Sequence[Onset]) -> list[Onset]:
    """Pieces that moved after those."""
    names = {o.id for o in first}
    return [o for o in _all(paths, striker, frame_s(paths)) if o.id not in names]


def _all(paths: Mapping[str, Path], striker: str, interval_s: float) -> list[Onset]:
    return [o for p in paths.values() if p.id != striker and (o := onset(p, interval_s)) is not None]
