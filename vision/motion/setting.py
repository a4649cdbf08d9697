"""What a first contact is explained from: the striker's run before it, and the pieces that may have to do with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from vision.motion.onset import Onset
from vision.motion.path import Path
from vision.motion.segments import Run, fit_run

_NEAR_MM: Final = 90.0  # pieces this near to what moved may have to do with it
_MOST_DISCS: Final = 9


def run_before(striker: Path, last_s: float, slowing_mm_s2: float, interval_s: float, moved_s: float) -> tuple[Run | None, float]:
    """The striker's run up to the last frame in which nothing else had moved, and that frame's time; no run: it had not been struck."""
    rest = striker.rest_mm is not None
    groups = [[s for s in group if s.t_s <= last_s + 1e-6] for group in striker.groups]
    under_way = [g for g in (groups[1:] if rest else groups) if g]
    while under_way:
        if len(under_way[-1]) >= 2:
            return fit_run(under_way[-1][-15:], slowing_mm_s2), under_way[-1][-1].t_s
        under_way.pop()
    lying = [g for g in groups[:1] if rest and g]
    if lying:
        return None, lying[0][-1].t_s
    first_s = striker.seen[0].t_s if striker.seen else moved_s
    return None, max(min(first_s, moved_s) - interval_s, striker.woken_s if striker.woken_s < min(first_s, moved_s) else -np.inf)


def pieces_about(paths: Mapping[str, Path], striker: Path, may: Sequence[Onset], from_s: float, until_s: float) -> list[Path]:
    """Pieces that may have to do with it: those that may be first, what else moved, and what lies near to any of these, nearest first."""
    marks = [np.array([s.x_mm, s.y_mm]) for s in striker.seen if from_s <= s.t_s <= until_s]
    names = [o.id for o in may]
    moved = [p.id for p in paths.values() if p.id != striker.id and p.id not in names and _moves(p, until_s)]
    marks += [rest for n in (*names, *moved) if (rest := paths[n].rest_mm) is not None]
    beside: list[tuple[float, str]] = []
    for p in paths.values():
        if p.id == striker.id or p.id in names or p.id in moved or p.rest_mm is None:
            continue
        away = min((float(np.hypot(*(p.rest_mm - m))) for m in marks), default=np.inf)
        if away < _NEAR_MM:
            beside.append((away, p.id))
    order = [*names, *moved, *(name for _, name in sorted(beside))]
    return [paths[name] for name in order[: _MOST_DISCS - 1] if paths[name].rest_mm is not None]


def _moves(path: Path, until_s: float) -> bool:
    return bool(path.breaks) and path.breaks[0].t_s < until_s and path.breaks[0].before.speed_mm_s == 0
