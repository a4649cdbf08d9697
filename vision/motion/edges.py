"""When a disc's axis passed a pocket's edge, and how far a striker came back beyond a line: both between frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rules.table import HALF_MM, POCKET_RADIUS_MM, POCKETS_MM, SIDES, TOWARD, Pocket, Side
from vision.motion.path import Path
from vision.motion.predict import RAIL_BOUNCE
from vision.motion.segments import Run, fit_run

Array = NDArray[np.float64]

_LAST: Final = 8  # sightings before the edge that say how it went over it
_LATEST_S: Final = 0.2  # a disc that needs longer for the rest of its way was not seen going in
_STEP_S: Final = 0.0005
_SLOWEST_MM_S: Final = 5.0  # slower ones have stopped
_UNSEEN_S: Final = 0.008  # half a frame: what went in between two frames
_TURNED_MM: Final = 2.0  # back from its farthest point: a disc that only creeps out has not come back
_MEETS_MM: Final = 4.0  # runs that pass each other by more do not say where a disc turned


@dataclass(frozen=True, slots=True)
class Fall:
    """A disc's axis crossed a pocket's edge: when, where (mm), and which rails it touched on its last way there, followed from `from_s`."""

    t_s: float
    pocket: Pocket
    at_mm: Array
    rails: Sequence[tuple[float, Side]] = ()
    from_s: float = np.inf


def over_edge(path: Path, since_s: float = -np.inf) -> Fall | None:
    """When a disc's axis crossed the edge of the pocket that took it; None if none did, or not after `since_s`."""
    if path.pocket is None:
        return None
    centre = np.array(POCKETS_MM[path.pocket])
    if not path.seen:
        gone_s = path.woken_s
        at = path.rest_mm if path.rest_mm is not None else centre
        return Fall(gone_s - _UNSEEN_S, path.pocket, at) if gone_s and gone_s > since_s else None
    inside = [float(np.hypot(s.x_mm - centre[0], s.y_mm - centre[1])) <= POCKET_RADIUS_MM for s in path.seen]
    out = next((k for k in range(len(inside) - 1, -1, -1) if not inside[k]), None)
    if out is None:
        t = path.breaks[0].t_s if path.breaks else path.seen[0].t_s - _UNSEEN_S
        return Fall(t, path.pocket, path.rest_mm if path.rest_mm is not None else centre)
    latest_s = path.seen[out + 1].t_s if out + 1 < len(inside) else path.seen[out].t_s + _LATEST_S
    last = np.array([path.seen[out].x_mm, path.seen[out].y_mm])
    for run, from_s in _last_runs(path, out):
        fall = _follow(run, path, centre, from_s, latest_s)
        if fall is not None:
            return fall
    return Fall(min(path.seen[out].t_s + _UNSEEN_S, latest_s), path.pocket, last)


def _last_runs(path: Path, last: int) -> list[tuple[Run, float]]:
    """Free runs that may lead to the edge, and from when to follow them.

    The one that ends with sighting number `last`; where that one stands alone after a rail, the one before it; the last step.
    """
    out = []
    slowing = path.runs[-1].slowing_mm_s2
    end = path.seen[last]
    groups = [[s for s in group if s.t_s <= end.t_s] for group in path.groups]
    runs = [group[-_LAST:] for group in groups if group]
    if runs and len(runs[-1]) == 1 and len(runs) > 1:
        runs.pop()
    if runs and len(runs[-1]) > 1:
        out.append((fit_run(runs[-1], slowing), runs[-1][-1].t_s))
    if last:
        out.append((fit_run(path.seen[last - 1 : last + 1], slowing), end.t_s))
    return out


def _follow(run: Run, path: Path, centre: Array, from_s: float, to_s: float) -> Fall | None:
    """Follow a run to the pocket's edge, off rails on the way."""
    assert path.pocket is not None
    limit = HALF_MM - path.shape.radius_mm
    at, velocity, t = run.at(from_s), run.velocity_at(from_s), from_s
    rails: list[tuple[float, Side]] = []
    while t < to_s:
        speed = float(np.hypot(*velocity))
        if speed < _SLOWEST_MM_S:
            return None
        at = at + velocity * _STEP_S
        velocity = velocity * max(0.0, 1 - run.slowing_mm_s2 * _STEP_S / speed)
        t += _STEP_S
        if float(np.hypot(*(at - centre))) <= POCKET_RADIUS_MM:
            return Fall(t, path.pocket, at, rails, from_s)
        for side in SIDES:
            toward = np.array(TOWARD[side], dtype=np.float64)
            into = float(velocity @ toward)
            if into > 0 and float(at @ toward) > limit:
                velocity = velocity - (1 + RAIL_BOUNCE) * into * toward
                at = at - (float(at @ toward) - limit) * toward
                rails.append((t, side))
    return None


def way_points(path: Path, rails: Iterable[tuple[float, Side]], fall: Fall | None) -> list[tuple[float, float, float]]:
    """Sightings of a disc (t_s, x_mm, y_mm) and the places between them where it turned, up to where it fell.

    `rails` are its touches of rails.
    """
    out = [(s.t_s, s.x_mm, s.y_mm) for s in path.seen]
    out += [(k.t_s, float(k.at_mm[0]), float(k.at_mm[1])) for k in path.breaks if k.miss_mm < _MEETS_MM]
    limit = HALF_MM - path.shape.radius_mm
    for t, side in rails:
        at = path.at(t)
        if at is not None:
            dx, dy = TOWARD[side]
            out.append((t, dx * limit if dx else float(at[0]), dy * limit if dy else float(at[1])))
    if fall is not None:
        out = [point for point in out if point[0] < fall.t_s]
        out.append((fall.t_s, float(fall.at_mm[0]), float(fall.at_mm[1])))
    return sorted((t, float(np.clip(x, -limit, limit)), float(np.clip(y, -limit, limit))) for t, x, y in out)


def deepest(side: Side, line_mm: float, since_s: float, seen: Sequence[tuple[float, float, float]]) -> tuple[float, float] | None:
    """Time and depth of the deepest axis beyond a side's zone line after the disc had left that zone.

    None if it never left or never turned back. `seen` are places (t_s, x_mm, y_mm).
    """
    dx, dy = TOWARD[side]
    out = 0.0
    deep: tuple[float, float] | None = None
    for t, x, y in seen:
        if t < since_s:
            continue
        depth = dx * x + dy * y - line_mm
        out = min(out, depth)
        if out < 0 and depth - out > _TURNED_MM and (deep is None or depth > deep[1]):
            deep = t, depth
    return deep
