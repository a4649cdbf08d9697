"""Free runs: straight lines with the table's constant deceleration, and breaks between them where something touched the disc.

A sliding disc slows by mu*g whatever its speed (Coulomb), and nothing but contact turns it. Breaks lie between frames: their time is where
the runs before and after meet, which is far finer than the frame interval. `grouping.py` says which sightings belong to one run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.motion.track import Sighting

Array = NDArray[np.float64]

SIGMA_MM: Final = 0.12  # of one sighting relative to its neighbours, measured on clips; slow shifts of 0.3 mm are common to a run
LEAST_RUN: Final = 5  # sightings from which a run tells its own deceleration
SLOWING_SIGMA_MM_S2: Final = 250.0  # how far a run's deceleration may be from the table's without evidence
LEAST_SHARE: Final = 0.15  # of the table's deceleration: what is left while a disc spins fast
_MOST_SHARE: Final = 1.3  # and the most, over a dull patch
_STILL_MM: Final = 0.3  # a disc that stands still is seen within this of one place
_DECELERATION_RANGE: Final = (400.0, 2500.0)  # mm/s2: mu 0.04 (fresh powder) to 0.25 (bare wood)


@dataclass(frozen=True, slots=True)
class Run:
    """Free motion: at `t0_s` at `p0_mm` with `velocity_mm_s`, slowing by `slowing_mm_s2` until it stops.

    `first_s`, `last_s`: times of its first and last sighting. `count`: sightings. `rms_mm`: their residuals.
    `sigma_p_mm` at the middle and `sigma_v_mm_s`.
    """

    t0_s: float
    p0_mm: Array
    velocity_mm_s: Array
    slowing_mm_s2: float
    first_s: float
    last_s: float
    count: int
    rms_mm: float
    sigma_v_mm_s: float

    @property
    def speed_mm_s(self) -> float:
        """At `t0_s`."""
        return float(np.hypot(*self.velocity_mm_s))

    def at(self, t_s: float) -> Array:
        """Axis (2,) mm at a time; before `t0_s` it is followed backwards."""
        speed = self.speed_mm_s
        if speed == 0.0:
            return self.p0_mm
        tau = min(t_s - self.t0_s, speed / self.slowing_mm_s2)
        return self.p0_mm + self.velocity_mm_s * (tau - self.slowing_mm_s2 * tau * tau / (2 * speed))

    def velocity_at(self, t_s: float) -> Array:
        """Velocity (2,) mm/s at a time."""
        speed = self.speed_mm_s
        if speed == 0.0:
            return np.zeros(2)
        out: Array = self.velocity_mm_s * max(0.0, 1 - self.slowing_mm_s2 * (t_s - self.t0_s) / speed)
        return out

    def sigma_at(self, t_s: float) -> float:
        """Uncertainty of position, mm: grows with distance in time from the sightings' middle."""
        away = abs(t_s - (self.first_s + self.last_s) / 2)
        return float(np.hypot(SIGMA_MM / np.sqrt(max(self.count, 1)), self.sigma_v_mm_s * away))


@dataclass(frozen=True, slots=True)
class Break:
    """Where one run ends and the next begins: time and its sigma, place, velocities, and how well the runs meet (mm)."""

    t_s: float
    sigma_s: float
    at_mm: Array
    before: Run
    after: Run
    miss_mm: float

    @property
    def kick_mm_s(self) -> Array:
        """Change of velocity (2,)."""
        return self.after.velocity_at(self.t_s) - self.before.velocity_at(self.t_s)


def resting(at_mm: Array, t_s: float) -> Run:
    """A disc that lay still until `t_s`."""
    return Run(t_s, np.asarray(at_mm, dtype=np.float64), np.zeros(2), 1000.0, t_s - 1.0, t_s, 30, 0.0, 0.0)


def fit_run(seen: Sequence[Sighting], slowing_mm_s2: float) -> Run:
    """Least squares of one run; stopping inside it is allowed for."""
    t = np.array([s.t_s for s in seen])
    p = np.array([(s.x_mm, s.y_mm) for s in seen])
    tau = t - t[0]
    if len(seen) == 1:
        return Run(float(t[0]), p[0], np.zeros(2), slowing_mm_s2, float(t[0]), float(t[0]), 1, 0.0, 1e4)
    whole = (t, p)
    kept = _under_way(p)
    t, p, tau = t[:kept], p[:kept], tau[:kept]
    velocity = (p[-1] - p[0]) / max(tau[-1], 1e-6)
    origin = p[0]
    slowing = slowing_mm_s2
    for _ in range(4):
        speed = float(np.hypot(*velocity))
        if speed < 1.0:
            velocity = np.zeros(2)
            origin = p.mean(axis=0)
            break
        direction = velocity / speed
        way = np.minimum(tau, speed / slowing)
        if kept < LEAST_RUN:
            design = np.stack([np.ones(len(way)), way], axis=1)
            solution = np.linalg.solve(design.T @ design, design.T @ (p + 0.5 * slowing * (way * way)[:, None] * direction))
            origin, velocity = solution[0], solution[1]
        else:
            origin, velocity, slowing = _free(way, p, direction, slowing_mm_s2)
    out = Run(float(t[0]), origin, velocity, slowing, float(t[0]), float(whole[0][-1]), len(seen), 0.0, 0.0)
    t, p = whole
    rest = np.array([out.at(float(when)) for when in t]) - p
    rms = float(np.sqrt((rest**2).sum() / max(len(seen) - 2, 1)))
    spread = float(np.sqrt(((t - t.mean()) ** 2).sum()))
    return replace(out, rms_mm=rms, sigma_v_mm_s=max(SIGMA_MM, rms) / max(spread, 1e-6))


def _under_way(p: Array) -> int:
    """How many of the sightings (N, 2) come before a disc's standing still at their end; all of them if it does not, or never moved."""
    still = np.hypot(*(p - p[-4:].mean(axis=0)).T) < _STILL_MM
    tail = len(p) if still.all() else int(np.argmin(still[::-1]))
    return len(p) if tail < 4 or len(p) - tail < 3 else len(p) - tail + 1


def _free(way: Array, p: Array, direction: Array, slowing_mm_s2: float) -> tuple[Array, Array, float]:
    """Origin, velocity and deceleration together; the table's own deceleration is a weak wish (a spinning disc slows less)."""
    count = len(way)
    design = np.zeros((2 * count + 1, 5))
    design[:count, 0] = design[count : 2 * count, 1] = 1
    design[:count, 2] = design[count : 2 * count, 3] = way
    bend = -0.5 * way * way
    design[: 2 * count, 4] = np.r_[bend * direction[0], bend * direction[1]]
    design[-1, 4] = SIGMA_MM / SLOWING_SIGMA_MM_S2
    target = np.r_[p[:, 0], p[:, 1], SIGMA_MM / SLOWING_SIGMA_MM_S2 * slowing_mm_s2]
    solution = np.linalg.solve(design.T @ design, design.T @ target)
    origin, velocity = np.asarray(solution[:2], dtype=np.float64), np.asarray(solution[2:4], dtype=np.float64)
    return origin, velocity, float(np.clip(solution[4], LEAST_SHARE * slowing_mm_s2, _MOST_SHARE * slowing_mm_s2))


def deceleration(runs: Sequence[Sequence[Sighting]], prior_mm_s2: float) -> float:
    """The table's deceleration from all long runs of a stroke, weighted; `prior_mm_s2` where they say nothing."""
    total, weight = prior_mm_s2 * 1e-6, 1e-6  # the prior counts as much as a run that tells it to within 1,000 mm/s2
    for seen in runs:
        if len(seen) < LEAST_RUN:
            continue
        t = np.array([s.t_s for s in seen])
        p = np.array([(s.x_mm, s.y_mm) for s in seen])
        tau = t - t.mean()
        direction = p[-1] - p[0]
        length = float(np.hypot(*direction))
        if length < 20.0:
            continue
        along = (p - p[0]) @ (direction / length)
        if np.any(np.diff(along) < 1.0):  # it stops in there; a stopped disc tells nothing
            moving = int(np.argmax(np.diff(along) < 1.0)) + 1
            if moving < LEAST_RUN:
                continue
            tau, along = tau[:moving], along[:moving]
        design = np.c_[np.ones(len(tau)), tau, -0.5 * tau * tau]
        solution, *_ = np.linalg.lstsq(design, along, rcond=None)
        sigma = SIGMA_MM * float(np.sqrt(np.linalg.inv(design.T @ design)[2, 2]))
        if _DECELERATION_RANGE[0] < solution[2] < _DECELERATION_RANGE[1]:
            total += float(solution[2]) / sigma**2
            weight += 1 / sigma**2
    return total / weight


def meet(before: Run, after: Run) -> Break:
    """Time at which two runs of a disc meet."""
    low, high = before.last_s - 0.004, after.first_s + 0.004
    t = (low + high) / 2
    for _ in range(6):
        gap = after.at(t) - before.at(t)
        rate = after.velocity_at(t) - before.velocity_at(t)
        square = float(rate @ rate)
        if square < 1.0:
            break
        t = float(np.clip(t - float(gap @ rate) / square, low - 0.02, high + 0.02))
    gap = after.at(t) - before.at(t)
    kick = float(np.hypot(*(after.velocity_at(t) - before.velocity_at(t))))
    sigma = float(np.hypot(before.sigma_at(t), after.sigma_at(t))) / max(kick, 1.0)
    return Break(t, sigma, (after.at(t) + before.at(t)) / 2, before, after, float(np.hypot(*gap)))
