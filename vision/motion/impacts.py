"""Many possible strokes at once: discs with friction, impacts and rails, played forward for some frames.

Between two grid times a disc goes straight; an impact's time inside is solved, not stepped to. All arrays have the possibilities
(particles) as their first axis, so that hundreds of them cost little more than one. Spin is left out: what it adds to an impact's
tangential push is inside the spread of that push.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rules.table import HALF_MM, POCKET_RADIUS_MM, POCKETS_MM
from vision.motion.predict import HOPS_OVER_MM_S

Array = NDArray[np.float64]
Ints = NDArray[np.intp]

RAIL: Final = -1  # `second` of a rail event is RAIL - side, sides in the order of RAILS
RAILS: Final = ("W", "E", "S", "N")
_STEP_S: Final = 0.006  # friction is taken out between steps: 6 mm/s, 0.02 mm
_SLOW_MM_S: Final = 2.0  # softer approaches are resting contact
_SOFT_MM_S: Final = 30.0  # below it wood bounces less and less
_MOST_EVENTS: Final = 30  # kept; a break shot's first frames have fewer that matter
_MOST_ROUNDS: Final = 40  # impacts within one step; more are a heap that shivers
_HEAP_S: Final = 0.006  # discs of a row or heap shiver against each other when it is struck: one contact, or nothing else were kept
_TANGENT: Final = 3.0  # inverse tangential over inverse normal mass of a solid disc
_AWAY_MM: Final = 1e5  # where discs go that have fallen: out of everybody's way
_POCKETS: Final = np.array(list(POCKETS_MM.values()))


@dataclass(frozen=True, slots=True)
class Solids:
    """Of each disc (D,): radius mm, mass (any unit), and whether it is known to have left over a rail."""

    radius_mm: Array
    mass: Array
    leaves: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Wood:
    """Of each particle (N,): restitution between discs and at rails, friction of both, deceleration (one for all) mm/s2."""

    bounce: Array
    rail_bounce: Array
    rub: Array
    slowing_mm_s2: float


@dataclass(frozen=True, slots=True)
class Strike:
    """The cue sends disc `index` off at times (N,) with velocities (N, 2)."""

    index: int
    t_s: Array
    velocity_mm_s: Array


@dataclass(frozen=True, slots=True)
class Played:
    """`places_mm` (N, T, D, 2) at the times asked for; events (N, K): times (inf = none), first disc, second disc or rail."""

    places_mm: Array
    t_s: Array
    first: Ints
    second: Ints


def play(
    at_mm: Array,
    velocity_mm_s: Array,
    solids: Solids,
    wood: Wood,
    from_s: float,
    times_s: Array,
    strike: Strike | None,
) -> Played:
    """Play particles (N, D, 2) from `from_s` through ascending times (T,)."""
    game = _Game(at_mm.copy(), velocity_mm_s.copy(), solids, wood, strike)
    places = np.empty((len(at_mm), len(times_s), *at_mm.shape[1:]))
    now = from_s
    for k, t in enumerate(times_s.tolist()):
        steps = max(int(np.ceil((t - now) / _STEP_S)), 1)
        for part in range(steps):
            game.step(now + (t - now) * part / steps, now + (t - now) * (part + 1) / steps)
        places[:, k] = game.at
        now = t
    return Played(places, game.event_s, game.event_first, game.event_second)


class _Game:
    """State of all particles."""

    def __init__(self, at: Array, velocity: Array, solids: Solids, wood: Wood, strike: Strike | None) -> None:
        self.at, self.velocity = at, velocity
        self._radius, self._mass, self._leaves = solids.radius_mm, solids.mass, solids.leaves
        self._wood, self._strike = wood, strike
        self._all_i, self._all_j = np.triu_indices(at.shape[1], 1)
        self._limit = HALF_MM - solids.radius_mm
        count = len(at)
        self._struck = np.zeros(count, bool)
        self._used = np.zeros(count, np.intp)
        discs = at.shape[1]
        self._last_s = np.full((count, discs, discs + len(RAILS)), -np.inf)
        self.event_s = np.full((count, _MOST_EVENTS), np.inf)
        self.event_first = np.full((count, _MOST_EVENTS), -9, np.intp)
        self.event_second = np.full((count, _MOST_EVENTS), -9, np.intp)

    def step(self, start_s: float, end_s: float) -> None:
        """All particles from one grid time to the next."""
        span = end_s - start_s
        self._slow(span / 2)
        self._look_out(span)
        going = np.arange(len(self.at))
        left = np.full(len(self.at), span)
        for _ in range(_MOST_ROUNDS):
            due, what = self._next(going, left, end_s)
            self.at[going] += self.velocity[going] * np.minimum(due, left)[:, None, None]
            hit = np.isfinite(due)
            if not hit.any():
                break
            left = left[hit] - due[hit]
            going = going[hit]
            self._happen(going, what[hit], end_s - left)
        else:
            self.at[going] += self.velocity[going] * left[:, None, None]
        self._slow(span / 2)
        self._swallow()

    def _slow(self, seconds: float) -> None:
        speed = np.hypot(self.velocity[..., 0], self.velocity[..., 1])
        self.velocity *= np.maximum(0.0, 1 - self._wood.slowing_mm_s2 * seconds / np.maximum(speed, 1e-9))[..., None]

    def _look_out(self, span: float) -> None:
        """Pairs and rails that can meet within a step at all, in any of the particles."""
        fastest = float(np.hypot(self.velocity[..., 0], self.velocity[..., 1]).max(initial=0.0))
        if self._strike is not None:
            fastest = max(fastest, float(np.hypot(*self._strike.velocity_mm_s.T).max()))
        # An impact can speed a light disc up to twice the speed of what hits it.
        reach = 4 * fastest * span
        low, high = self.at.min(axis=0), self.at.max(axis=0)
        i, j = self._all_i, self._all_j
        apart = np.maximum(np.maximum(low[i] - high[j], low[j] - high[i]), 0)
        near = np.hypot(apart[:, 0], apart[:, 1]) < self._radius[i] + self._radius[j] + reach
        self._i, self._j = i[near], j[near]
        self._reach2 = (self._radius[self._i] + self._radius[self._j]) ** 2
        edge = (np.maximum(np.abs(low), np.abs(high)) + reach > self._limit[:, None]) & (np.maximum(np.abs(low), np.abs(high)) < HALF_MM)
        self._wall_disc, self._wall_axis = np.nonzero(edge)

    def _next(self, going: Ints, left: Array, end_s: float) -> tuple[Array, Ints]:
        """Time until the next event of these particles within what is left of the step (inf: none), and its number."""
        at, velocity = self.at[going], self.velocity[going]
        d = at[:, self._j] - at[:, self._i]
        v = velocity[:, self._j] - velocity[:, self._i]
        closing = d[..., 0] * v[..., 0] + d[..., 1] * v[..., 1]
        far2 = d[..., 0] ** 2 + d[..., 1] ** 2
        square = v[..., 0] ** 2 + v[..., 1] ** 2
        root = closing * closing - square * (far2 - self._reach2)
        coming = (closing < -_SLOW_MM_S * np.sqrt(far2)) & (root > 0)
        pairs = np.where(coming, np.maximum((-closing - np.sqrt(np.maximum(root, 0))) / np.maximum(square, 1e-9), 0), np.inf)
        speed = velocity[:, self._wall_disc, self._wall_axis]
        room = np.maximum(self._limit[self._wall_disc] - np.sign(speed) * at[:, self._wall_disc, self._wall_axis], 0)
        walls = np.where(np.abs(speed) > _SLOW_MM_S, room / np.maximum(np.abs(speed), 1e-9), np.inf)
        blow = np.full((len(going), 1), np.inf)
        if self._strike is not None:
            blow[:, 0] = np.where(self._struck[going], np.inf, np.maximum(self._strike.t_s[going] - (end_s - left), 0))
        every = np.concatenate([pairs, walls, blow], axis=1)
        what = every.argmin(axis=1)
        soonest = every[np.arange(len(every)), what]
        return np.where(soonest <= left, soonest, np.inf), what

    def _happen(self, who: Ints, what: Ints, when: Array) -> None:
        pairs = len(self._i)
        walls = pairs + len(self._wall_disc)
        for some, act in ((what < pairs, self._collide), ((what >= pairs) & (what < walls), self._bounce)):
            if some.any():
                act(who[some], what[some], when[some])
        if self._strike is not None and (off := what == walls).any():
            n = who[off]
            self.velocity[n, self._strike.index] = self._strike.velocity_mm_s[n]
            self._struck[n] = True

    def _collide(self, n: Ints, what: Ints, when: Array) -> None:
        i, j = self._i[what], self._j[what]
        d = self.at[n, j] - self.at[n, i]
        normal = d / np.maximum(np.hypot(d[:, 0], d[:, 1]), 1e-9)[:, None]
        tangent = np.stack([-normal[:, 1], normal[:, 0]], axis=1)
        relative = self.velocity[n, j] - self.velocity[n, i]
        approach = -(relative * normal).sum(axis=1)
        slide = -(relative * tangent).sum(axis=1)
        inverse = 1 / self._mass[i] + 1 / self._mass[j]
        push = (1 + self._wood.bounce[n] * np.minimum(1, approach / _SOFT_MM_S)) * approach / inverse
        drag = -np.sign(slide) * np.minimum(np.abs(slide) / (_TANGENT * inverse), self._wood.rub[n] * push)
        impulse = -push[:, None] * normal + drag[:, None] * tangent
        self.velocity[n, i] += impulse / self._mass[i][:, None]
        self.velocity[n, j] -= impulse / self._mass[j][:, None]
        self._note(n, when, i, j)

    def _bounce(self, n: Ints, what: Ints, when: Array) -> None:
        what = what - len(self._i)
        disc, axis = self._wall_disc[what], self._wall_axis[what]
        into = self.velocity[n, disc, axis]
        approach = np.abs(into)
        along = self.velocity[n, disc, 1 - axis]
        push = (1 + self._wood.rail_bounce[n] * np.minimum(1, approach / _SOFT_MM_S)) * approach
        self.velocity[n, disc, axis] = into - np.sign(into) * push
        self.velocity[n, disc, 1 - axis] = along - np.sign(along) * np.minimum(np.abs(along) / _TANGENT, self._wood.rub[n] * push)
        self._note(n, when, disc, RAIL - (2 * axis + (into > 0)))
        over = self._leaves[disc] & (approach > HOPS_OVER_MM_S)
        self._take(n[over], disc[over])

    def _note(self, n: Ints, when: Array, first: Ints, second: Ints) -> None:
        last = n, first, np.where(second < 0, self.at.shape[1] + RAIL - second, second)
        anew = when - self._last_s[last] > _HEAP_S
        self._last_s[last] = when
        free = anew & (self._used[n] < _MOST_EVENTS)
        n, slot = n[free], self._used[n[free]]
        self.event_s[n, slot], self.event_first[n, slot], self.event_second[n, slot] = when[free], first[free], second[free]
        self._used[n] += 1

    def _swallow(self) -> None:
        """Discs over a hole are out of the game."""
        for pocket in _POCKETS:
            off = self.at - pocket
            n, disc = np.nonzero((off * off).sum(axis=2) < POCKET_RADIUS_MM**2)
            self._take(n, disc)

    def _take(self, n: Ints, disc: Ints) -> None:
        self.velocity[n, disc] = 0
        self.at[n, disc] = np.stack([_AWAY_MM * (disc + 1.0), np.full(len(disc), _AWAY_MM)], axis=1)
