"""Sightings of one disc grouped into free runs, and the breaks between these.

First from sighting to sighting, each compared with where its run goes on; then short runs between long ones are looked at again: a
sighting at a break is easily taken for a run of its own, or put on the wrong side of the break.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.motion.segments import LEAST_RUN, LEAST_SHARE, SIGMA_MM, SLOWING_SIGMA_MM_S2, Break, Run, fit_run, meet
from vision.motion.track import FASTEST_PIECE_MM_S, Sighting

Array = NDArray[np.float64]

_TOLERANCE_MM: Final = 0.7  # a sighting farther than this from its run starts another: six sigma and the run's own bend
_SHORT_TOLERANCE_MM: Final = 2.0  # the same while a run has two sightings only and its velocity is rough
_WINDOW: Final = 12  # last sightings of a run that say where it goes on
_NEAR_BREAK: Final = 15  # sightings on either side of a break that say how it went: a quarter of a second, spin changes slowly
_NO_KICK_MM_S: Final = 40.0  # runs of a dozen sightings that differ by less in velocity are one
_SLIP_SIGHTINGS: Final = 3  # so few sightings may be something else than the disc
_SLIP_MM: Final = 3.0  # runs of one disc that pass each other by more than this do not belong together
_SHORT: Final = 3  # sightings of a run that may lie on either side of a break
_LONG: Final = 3  # and of one that says where it goes on
_SMEARED: Final = 0.02  # share of a sighting's way during the exposure that it is off by
_PLACE_MM: Final = 0.4  # how well a break's place is known
_TIME_S: Final = 0.002  # and its time, against the sightings that it lies between
_A_BREAK: Final = 12.0  # what a break more must explain, as a sum of squares in sigmas: its time, place and kick are free
_FASTER_MM_S: Final = 400.0  # a disc is seldom faster between two touches than before and after
_AT_MOST: Final = 20.0  # that one sighting can speak against a way, and one speed: now and then one is off by some millimetres
_ELSEWHERE_MM: Final = 5.0  # and what is farther off is no sighting of a disc that goes that way
_COMPARED: Final = 15 + _SHORT  # sightings on either side at most: as many for every way to share, once the runs are that long
_INSTANTS: Final = 24  # tried for the first of two touches between three sightings,
_FINER: Final = 2  # and as many again about the best of them
_NEXT_S: Final = 0.0004  # two touches of one disc are that far from a sighting between them, or nothing is known of the way


def split(seen: Sequence[Sighting], start: Run | None, slowing_mm_s2: float) -> list[list[Sighting]]:
    """Sightings grouped into free runs; those that belong to the rest before (`start`) come as a first, maybe empty, group."""
    groups: list[list[Sighting]] = []
    i = 0
    if start is not None:
        first: list[Sighting] = []
        while i < len(seen) and (_is_at(start, seen[i]) or (i + 1 < len(seen) and _is_at(start, seen[i + 1]))):
            first.append(seen[i])
            i += 1
        groups.append(first)
    while i < len(seen):
        group = [seen[i]]
        i += 1
        while i < len(seen):
            if len(group) >= 2 and not _goes_with(group, seen[i], slowing_mm_s2):
                if i + 1 == len(seen) or not _goes_with(group, seen[i + 1], slowing_mm_s2):
                    break
            else:
                group.append(seen[i])
            i += 1
        groups.append(group)
    return groups


def _is_at(start: Run, s: Sighting) -> bool:
    return hypot(s.x_mm - start.p0_mm[0], s.y_mm - start.p0_mm[1]) < _TOLERANCE_MM


def _goes_with(group: Sequence[Sighting], s: Sighting, slowing_mm_s2: float) -> bool:
    """Whether a sighting belongs to a run; where it does not and the next one does, it was something else."""
    x, y, sigma = _foresee(group[-_WINDOW:], s.t_s, slowing_mm_s2)
    return hypot(x - s.x_mm, y - s.y_mm) < (_SHORT_TOLERANCE_MM if len(group) == 2 else _TOLERANCE_MM + 2 * sigma)


def _foresee(seen: Sequence[Sighting], t_s: float, slowing_mm_s2: float) -> tuple[float, float, float]:
    """Where a run of a few sightings goes on to, and the sigma of that, mm: least squares in closed form, asked for every sighting."""
    t0, x0, y0 = seen[0].t_s, seen[0].x_mm, seen[0].y_mm
    last = seen[-1]
    dx, dy = last.x_mm - x0, last.y_mm - y0
    length = hypot(dx, dy)
    ux, uy = (dx / length, dy / length) if length > 0 else (1.0, 0.0)
    # Along the way with the table's slowing taken out, across it: two straight lines, and what slowing the way itself tells.
    n = len(seen)
    s1 = s2 = s3 = s4 = a0 = a1 = a2 = c0 = c1 = 0.0
    for s in seen:
        tau = s.t_s - t0
        px, py = s.x_mm - x0, s.y_mm - y0
        square = tau * tau
        along = px * ux + py * uy + 0.5 * slowing_mm_s2 * square
        across = py * ux - px * uy
        s1 += tau
        s2 += square
        s3 += square * tau
        s4 += square * square
        a0 += along
        a1 += along * tau
        a2 += along * square
        c0 += across
        c1 += across * tau
    det = n * s2 - s1 * s1
    if det <= 0:
        return last.x_mm, last.y_mm, 0.0
    base, speed = (s2 * a0 - s1 * a1) / det, (n * a1 - s1 * a0) / det
    off, drift = (s2 * c0 - s1 * c1) / det, (n * c1 - s1 * c0) / det
    extra = 0.0
    if n >= LEAST_RUN:
        # The part of tau^2 that no straight line takes up, against the weak wish for the table's own slowing.
        k0, k1 = (s2 * s2 - s1 * s3) / det, (n * s3 - s1 * s2) / det
        free = s4 - k0 * s2 - k1 * s3
        pull = a2 - k0 * a0 - k1 * a1
        extra = pull / (free + (2 * SIGMA_MM / SLOWING_SIGMA_MM_S2) ** 2)
        base, speed = base - extra * k0, speed - extra * k1
    slowing = max(slowing_mm_s2 - 2 * extra, LEAST_SHARE * slowing_mm_s2)
    tau = t_s - t0
    way = min(tau, max(speed, 0.0) / slowing)
    along, across = base + speed * way - 0.5 * slowing * way * way, off + drift * way
    middle = s1 / n
    sigma = SIGMA_MM * sqrt(1 / n + (tau - middle) ** 2 * n / det) if n > 2 else 0.0
    return x0 + along * ux - across * uy, y0 + along * uy + across * ux, sigma


def join(groups: list[list[Sighting]], start: Run | None, slowing_mm_s2: float) -> tuple[list[Run], list[Break]]:
    """Runs of a track whose sightings `split` has grouped, the rest before it included, and the breaks between them."""
    groups = _without_slips(_regrouped(groups, start, slowing_mm_s2), start, slowing_mm_s2)
    runs = [start] if start is not None else []
    found: list[Break] = []
    last: Run | None = start
    own = groups[1:] if start is not None else groups
    for n, group in enumerate(own):
        early = _fitted(last, group[:_NEAR_BREAK], own[n + 1] if n + 1 < len(own) else [], slowing_mm_s2)
        if last is not None:
            found.append(meet(last, early))
        last = early if len(group) == 1 else fit_run(group[-_NEAR_BREAK:], slowing_mm_s2)
        runs.append(early if len(group) <= _NEAR_BREAK else fit_run(group, slowing_mm_s2))
    return runs, found


def _fitted(before: Run | None, seen: Sequence[Sighting], after: Sequence[Sighting], slowing_mm_s2: float) -> Run:
    """A run; that of one sighting between two others from these."""
    if len(seen) == 1 and before is not None and len(after) >= _LONG:
        return passing(before, seen[0], fit_run(after[:_NEAR_BREAK], slowing_mm_s2))
    return fit_run(seen, slowing_mm_s2)


def _regrouped(groups: list[list[Sighting]], start: Run | None, slowing_mm_s2: float) -> list[list[Sighting]]:
    """Short runs between two others shared out anew: each of their sightings may belong to the run before, to that after, or between."""
    out = [list(group) for group in groups]
    first = 1 if start is not None else 0
    i = max(first, 1)
    while i + 1 < len(out):
        short, after = out[i], out[i + 1]
        rests = start if i == first else None
        if len(short) <= _SHORT and len(after) >= _LONG and (rests is not None or len(out[i - 1]) >= _LONG):
            shared = [
                (out[i - 1] + short[:k], short[k : len(short) - m], short[len(short) - m :] + after)
                for k in range(len(short) + 1)
                for m in range(len(short) + 1 - k)
            ]
            one, middle, other = min(shared, key=lambda three: _cost(three, rests, slowing_mm_s2))
            out[i - 1 : i + 2] = [one, middle, other] if middle else [one, other]
        i += 1
    return out


def _cost(three: tuple[list[Sighting], list[Sighting], list[Sighting]], rests: Run | None, slowing_mm_s2: float) -> float:
    """How badly a way fits that is cut in three so, the second maybe empty; `rests` where the disc lay still before."""
    one, middle, other = three[0][-_COMPARED:], three[1], three[2][:_COMPARED]
    come, go = rests if rests is not None else fit_run(one, slowing_mm_s2), fit_run(other, slowing_mm_s2)
    out = _misfit(come, one) + _misfit(go, other)
    if not middle:
        return out + _broken(meet(come, go), one, other)
    between = passing(come, middle[0], go) if len(middle) == 1 else fit_run(middle, slowing_mm_s2)
    usual = max(float(np.hypot(*come.velocity_at(middle[0].t_s))), float(np.hypot(*go.velocity_at(middle[-1].t_s))))
    out += min((max(between.speed_mm_s - usual, 0.0) / _FASTER_MM_S) ** 2, _AT_MOST)
    return out + _misfit(between, middle) + _broken(meet(come, between), one, middle) + _broken(meet(between, go), middle, other)


def _misfit(run: Run, seen: Sequence[Sighting]) -> float:
    off2 = [(float(((run.at(s.t_s) - (s.x_mm, s.y_mm)) ** 2).sum()), SIGMA_MM**2 + (_SMEARED * s.fast_mm) ** 2) for s in seen]
    return np.inf if any(far2 > _ELSEWHERE_MM**2 for far2, _ in off2) else sum(min(far2 / usual2, _AT_MOST) for far2, usual2 in off2)


def _broken(kink: Break, one: Sequence[Sighting], other: Sequence[Sighting]) -> float:
    early = max(one[-1].t_s - kink.t_s, 0.0) if one else 0.0
    late = max(kink.t_s - other[0].t_s, 0.0)
    place2 = _PLACE_MM**2 + kink.before.sigma_at(kink.t_s) ** 2 + kink.after.sigma_at(kink.t_s) ** 2
    return _A_BREAK + kink.miss_mm**2 / place2 + (max(early, late) / _TIME_S) ** 2


def passing(before: Run, seen: Sighting, after: Run) -> Run:
    """The run of a disc that was touched twice with one sighting between: it goes from the run before through there to the run after.

    Where no disc could have come there in time, the sighting alone: nothing is known of its way.
    """
    here, until_s = np.array([seen.x_mm, seen.y_mm]), max(after.first_s - seen.t_s, _NEXT_S)
    least, most = _NEXT_S, max(seen.t_s - before.last_s, 2 * _NEXT_S)
    for _ in range(_FINER):
        leads = np.linspace(least, most, _INSTANTS)
        came = np.array([before.at(seen.t_s - lead) for lead in leads.tolist()])
        velocity = (here - came) / leads[:, None]
        apart, closing = after.at(seen.t_s) - here, after.velocity_at(seen.t_s) - velocity
        ahead = np.clip(-(closing @ apart) / np.maximum((closing**2).sum(axis=1), 1.0), 0.0, until_s)
        miss = np.hypot(*(apart + closing * ahead[:, None]).T)
        miss[np.hypot(*velocity.T) > FASTEST_PIECE_MM_S] = np.inf
        best = int(miss.argmin())
        if np.isinf(miss[best]):
            return fit_run([seen], before.slowing_mm_s2)
        least, most = float(leads[max(best - 1, 0)]), float(leads[min(best + 1, _INSTANTS - 1)])
    return Run(seen.t_s, here, velocity[best], before.slowing_mm_s2, seen.t_s, seen.t_s, 1, 0.0, SIGMA_MM / float(leads[best]))


def _without_slips(groups: list[list[Sighting]], start: Run | None, slowing_mm_s2: float) -> list[list[Sighting]]:
    """Drop short runs that join neither neighbour: for a frame or two the follower had something else."""
    out = list(groups)
    first = 1 if start is not None else 0
    i = first
    while i < len(out):
        if len(out[i]) > _SLIP_SIGHTINGS:
            i += 1
            continue
        before = start if i == first else fit_run(out[i - 1][-_NEAR_BREAK:], slowing_mm_s2)
        here = _fitted(before, out[i], out[i + 1] if i + 1 < len(out) else [], slowing_mm_s2)
        after = fit_run(out[i + 1][:_NEAR_BREAK], slowing_mm_s2) if i + 1 < len(out) else None
        torn = [meet(a, b).miss_mm for a, b in ((before, here), (here, after)) if a is not None and b is not None]
        joined = meet(before, after).miss_mm if before is not None and after is not None else None
        is_same = before is not None and after is not None and _goes_on(meet(before, after)) and max(torn) > _TOLERANCE_MM
        joins_none = max(torn, default=0.0) > _SLIP_MM and min(torn) > _TOLERANCE_MM
        if is_same or (joins_none and (joined is None or joined < max(torn))):
            del out[i]
            if before is not None and after is not None and i > first and _goes_on(meet(before, after)):
                out[i - 1 : i + 1] = [out[i - 1] + out[i]]
            i = max(first, i - 1)
        else:
            i += 1
    return out


def _goes_on(kink: Break) -> bool:
    """Whether two runs are one: they meet without a kick."""
    return kink.miss_mm < _TOLERANCE_MM and float(np.hypot(*kink.kick_mm_s)) < _NO_KICK_MM_S
