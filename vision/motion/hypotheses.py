"""Which piece the striker touched first, where several moved between the same two frames: explanations played out and weighed.

Every explanation is a stroke played forward from what is known before the contact: the striker's run, or its place at rest and an
unknown blow of the cue. Possibilities are drawn, played, compared with the sightings of all discs nearby, and drawn anew around the
best of each explanation (cross-entropy method), until each explanation has shown what it can do; then its share of the probability is
the average of likelihood over density of what was drawn last (importance sampling).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from rules.table import SIDES
from vision.motion.impacts import RAIL, RAILS, Played, Solids, Strike, Wood, play
from vision.motion.onset import Onset, frame_s
from vision.motion.path import Path
from vision.motion.setting import pieces_about, run_before
from vision.motion.track import FASTEST_MM_S

Array = NDArray[np.float64]
Label = tuple[str, ...]  # rails, then the piece; empty: nothing was touched

_DRAWN: Final = 240  # possibilities in one of the first rounds
_DRAWN_LATER: Final = 120  # the best are known by then
_ROUNDS: Final = 5
_ROUNDS_ALONE: Final = 4  # where only one explanation is left, for its time
_KEPT: Final = 0.15  # share of each explanation's possibilities that the next ones are drawn around
_LEAST_KEPT: Final = 12
_HOPELESS: Final = 15.0  # log likelihood by which an explanation may be behind after two rounds
_FRAMES: Final = 2  # after the first that shows a piece away: farther on, small errors grow too large
_LEAST_AFTER_S: Final = 0.025
_EARLY: Final = 3.0  # sigmas by which an onset worked out backwards may be too late
_PLACE_MM: Final = 0.25  # how well a sighting is known against the rest places of others
_GROWTH: Final = 0.03  # of the way after an impact: radii vary by 0.3 mm, rims and grain turn a push by a degree or two
_REST_MM: Final = 0.3  # a disc that nobody saw moving is still within this
_WAKES_MM: Final = 0.5  # a disc's place changes visibly when it has moved by so much, in the mean over an exposure
_WAKES_SIGMA_MM: Final = 0.1
_TAIL: Final = 3.0  # sigmas from which a sighting counts less and less
_BLUR: Final = (-1 / 3, 0.0, 1 / 3)  # instants of the exposure that stand for its mean place
_BOUNCE: Final = (0.85, 0.08)  # wood on wood: mean and spread
_RAIL_BOUNCE: Final = (0.7, 0.1)
_RUB: Final = (0.13, 0.07)
_SHIFT_MM: Final = 0.15  # of a piece's place against the striker's: lens, height, radius
_TOGETHER_S: Final = 0.001  # two first contacts nearer than this are one for every referee
_GAP_S: Final = 0.0003  # how well the gap between two contacts is known: places and radii at 1 m/s
_GAP_SHARE: Final = 0.15  # and as a share of it: what happens meanwhile in a row of pieces is known in outline only
_SPEED_MM_S: Final = 15.0  # floor of what a run's velocity is known to


@dataclass(frozen=True, slots=True)
class Happened:
    """One event of the likeliest explanation: `other` is a disc or a side."""

    t_s: float
    sigma_s: float
    disc: str
    other: str
    share: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """Probabilities of the explanations, best first, and what happened in the best: first contact with its time, and all events."""

    shares: Sequence[tuple[Label, float]]
    t_s: float
    sigma_s: float
    together: float
    events: Sequence[Happened]
    discs: Sequence[str]
    from_s: float
    moved_s: float
    struck_s: float | None


class _Case:
    """What is compared: discs, start, sightings, and how a vector of unknowns becomes possible strokes."""

    def __init__(self, paths: Mapping[str, Path], striker: Path, may: Sequence[Onset], slowing_mm_s2: float, exposure_s: float) -> None:
        interval_s = frame_s(paths)
        moved_s = min(o.moved_s for o in may)
        # A piece that leaves slowly is seen away long after it was touched.
        untouched_s = min(min(o.still_s, o.began_s - _EARLY * o.sigma_s) for o in may) + 1e-6
        last_still_s = max((s.t_s for s in striker.seen if s.t_s <= untouched_s), default=-np.inf)
        self.run, self.from_s = run_before(striker, last_still_s, slowing_mm_s2, interval_s, moved_s)
        self.until_s = moved_s + max(_FRAMES * interval_s, _LEAST_AFTER_S) + 0.3 * interval_s
        self.moved_s = moved_s
        self.slowing = slowing_mm_s2
        self.may = [o.id for o in may][:3]
        self.gone = [o for o in may if paths[o.id].vanished and not paths[o.id].seen]
        self.discs = [striker, *pieces_about(paths, striker, may, self.from_s, self.until_s)]
        self.ids = [p.id for p in self.discs]
        self.radius = np.array([p.shape.radius_mm for p in self.discs])
        self.mass = np.array([p.mass for p in self.discs])
        self.solids = Solids(self.radius, self.mass, np.array([p.vanished for p in self.discs]))
        rest = [p.rest_mm if p.rest_mm is not None else p.at(self.from_s) for p in self.discs]
        self.rest = np.array([r if r is not None else (0.0, 0.0) for r in rest])
        self.strike_from_s = self.from_s
        self.strike_until_s = min([s.t_s for s in striker.seen if s.t_s > self.from_s] + [moved_s])
        self._look(exposure_s)
        self.size = (4 if self.run is not None else 3) + 3 + 2 * len(self.may)

    def _look(self, exposure_s: float) -> None:
        """Sightings to compare with, by frame time and disc."""
        seen = [(s.t_s, k, s.x_mm, s.y_mm) for k, p in enumerate(self.discs) for s in p.seen if self.from_s < s.t_s <= self.until_s]
        self.frames_s = np.unique(np.round([s[0] for s in seen], 6))
        self.frame = np.searchsorted(self.frames_s, np.round([s[0] for s in seen], 6))
        self.disc = np.array([s[1] for s in seen], dtype=np.intp)
        self.place = np.array([s[2:] for s in seen])
        self.times_s = (self.frames_s[:, None] + exposure_s * np.array(_BLUR)).ravel()
        still = [k for k, p in enumerate(self.discs) if k and p.is_here and not any(s.t_s <= self.until_s for s in p.seen)]
        self.still = np.array(still, dtype=np.intp)
        # Gone without another sighting: by the frame in which its place was seen to change, it had moved.
        gone = [(int(f[0]), self.ids.index(o.id)) for o in self.gone if len(f := np.flatnonzero(np.abs(self.frames_s - o.moved_s) < 1e-4))]
        self.gone_frame, self.gone_disc = np.array(gone, dtype=np.intp).reshape(-1, 2).T

    def play(self, x: Array) -> Played:
        """Possible strokes from vectors of unknowns (N, size)."""
        many = len(x)
        at = np.repeat(self.rest[None], many, axis=0)
        velocity = np.zeros_like(at)
        strike = None
        if self.run is not None:
            at[:, 0], velocity[:, 0] = x[:, :2], x[:, 2:4]
            rest = x[:, 4:]
        else:
            strike = Strike(0, x[:, 0], x[:, 1:3])
            rest = x[:, 3:]
        for k, name in enumerate(self.may):
            at[:, self.ids.index(name)] += rest[:, 3 + 2 * k : 5 + 2 * k]
        wood = Wood(np.clip(rest[:, 0], 0.3, 1.0), np.clip(rest[:, 1], 0.2, 1.0), np.clip(rest[:, 2], 0.0, 0.5), self.slowing)
        return play(at, velocity, self.solids, wood, self.from_s, self.times_s, strike)

    def prior(self, x: Array) -> Array:
        """Log density (N,) of the unknowns before anything was compared; flat for the blow of a cue."""
        rest = x[:, 4:] if self.run is not None else x[:, 3:]
        out = -0.5 * sum(((rest[:, k] - mean) / spread) ** 2 for k, (mean, spread) in enumerate((_BOUNCE, _RAIL_BOUNCE, _RUB)))
        out = out - 0.5 * ((rest[:, 3:] / _SHIFT_MM) ** 2).sum(axis=1)
        if self.run is not None:
            mean, spread = self._start()
            return np.asarray(out - 0.5 * (((x[:, :4] - mean) / spread) ** 2).sum(axis=1))
        speed = np.hypot(x[:, 1], x[:, 2])
        outside = (x[:, 0] < self.strike_from_s) | (x[:, 0] > self.strike_until_s) | (speed > FASTEST_MM_S)
        return np.asarray(np.where(outside, -1e6, out))

    def _start(self) -> tuple[Array, Array]:
        run = self.run
        assert run is not None
        speed = max(_SPEED_MM_S, run.sigma_v_mm_s)
        return np.r_[run.at(self.from_s), run.velocity_at(self.from_s)], np.array([_SHIFT_MM, _SHIFT_MM, speed, speed])

    def likelihood(self, played: Played) -> Array:
        """Log likelihood (N,) of the sightings, with room for what the model leaves out."""
        shape = played.places_mm.shape
        mean = played.places_mm.reshape(shape[0], len(self.frames_s), len(_BLUR), *shape[2:]).mean(axis=2)
        off = np.hypot(*np.moveaxis(mean[:, self.frame, self.disc] - self.place[None], -1, 0))
        way = np.hypot(*np.moveaxis(mean - self.rest[None, None], -1, 0))[:, self.frame, self.disc]
        hit_s = self._first(played)[0]
        since = np.maximum(self.frames_s[None, self.frame] - hit_s[:, None], 0)
        # The striker goes on from the contact; a piece starts there.
        way = np.where(self.disc[None] == 0, np.where(np.isfinite(hit_s)[:, None], np.minimum(way, since * FASTEST_MM_S / 2), 0), way)
        out = _score(off / np.hypot(_PLACE_MM, _GROWTH * way)).sum(axis=1)
        if self.still.size:
            moved = np.hypot(*np.moveaxis(mean[:, -1, self.still] - self.rest[None, self.still], -1, 0))
            out = out + _score(moved / _REST_MM).sum(axis=1)
        if self.gone_disc.size:
            way = np.hypot(*np.moveaxis(mean[:, self.gone_frame, self.gone_disc] - self.rest[None, self.gone_disc], -1, 0))
            out = out + _score(np.maximum(_WAKES_MM - way, 0.0) / _WAKES_SIGMA_MM).sum(axis=1)
        return np.asarray(out)

    def _first(self, played: Played) -> tuple[Array, NDArray[np.intp], Array]:
        """Time of the striker's first contact (N,), the piece's number (-1: none), and how much later the second piece came."""
        other = np.where(played.first == 0, played.second, np.where(played.second == 0, played.first, RAIL - 9))
        hit = (other > 0) & np.isfinite(played.t_s)
        when = np.where(hit, played.t_s, np.inf)
        first = when.argmin(axis=1)
        rows = np.arange(len(when))
        piece = np.where(hit[rows, first], other[rows, first], -1)
        elsewhere = np.where(hit & (other != piece[:, None]), played.t_s, np.inf)
        gap = np.where(piece >= 0, elsewhere.min(axis=1) - np.where(piece >= 0, when[rows, first], 0.0), np.inf)
        return when[rows, first], piece, gap

    def labels(self, played: Played) -> tuple[list[Label], Array, Array]:
        """Explanation of each possibility, time of its first contact, and the gap to the second piece."""
        when, piece, gap = self._first(played)
        out: list[Label] = []
        for n, (t, k) in enumerate(zip(when.tolist(), piece.tolist(), strict=True)):
            rails = (played.first[n] == 0) & (played.second[n] <= RAIL) & (played.second[n] > RAIL - len(RAILS)) & (played.t_s[n] < t)
            names = [RAILS[RAIL - s] for s in played.second[n][rails].tolist()]
            out.append((*names, self.ids[k]) if k > 0 else ())
        return out, when, gap

    def drawn(self, rng: np.random.Generator) -> Array:
        """First possibilities: from the run, or from what each piece's way says about the blow that it got."""
        wood = np.stack([rng.normal(mean, spread, _DRAWN) for mean, spread in (_BOUNCE, _RAIL_BOUNCE, _RUB)], axis=1)
        shifts = rng.normal(0, _SHIFT_MM, (_DRAWN, 2 * len(self.may)))
        if self.run is not None:
            mean, spread = self._start()
            return np.concatenate([rng.normal(mean, spread, (_DRAWN, 4)), wood, shifts], axis=1)
        return np.concatenate([self._blows(rng), wood, shifts], axis=1)

    def _blows(self, rng: np.random.Generator) -> Array:
        """Time and velocity of the cue's blow."""
        start = self.rest[0]
        which = rng.integers(len(self.may), size=_DRAWN)
        out = np.empty((_DRAWN, 3))
        for n, k in enumerate(which.tolist()):
            d = self.ids.index(self.may[k])
            reach = self.radius[0] + self.radius[d]
            way = self._leaves(d, rng)
            speed = float(np.hypot(*way))
            normal = way / max(speed, 1e-6)
            contact = self.rest[d] - normal * reach
            line = contact - start
            far = float(np.hypot(*line))
            cut = max(float(line @ normal) / max(far, 1e-6), 0.15)
            share = self.mass[0] / (self.mass[0] + self.mass[d])
            blow = min(speed / (cut * (1 + _BOUNCE[0]) * share), FASTEST_MM_S) * float(rng.lognormal(0, 0.15))
            t = self.moved_s - float(rng.random()) * min(0.03, self.moved_s - self.strike_from_s + 1e-4) - far / max(blow, 1.0)
            out[n] = np.clip(t, self.strike_from_s, self.strike_until_s), *(line / max(far, 1e-6) * blow)
        seen = [s for s in self.discs[0].seen if self.strike_from_s < s.t_s < self.moved_s]
        if seen:  # on its way already: the direction is known, and time and speed hang together
            s = seen[0]
            line = np.array([s.x_mm, s.y_mm]) - start
            half = np.flatnonzero(rng.random(_DRAWN) < 0.7)
            lead = rng.uniform(0.02, 1.0, len(half)) * (s.t_s - self.strike_from_s)
            out[half, 0] = s.t_s - lead
            out[half, 1:] = line[None] / lead[:, None] * (1 + self.slowing * lead[:, None] ** 2 / 2 / max(float(np.hypot(*line)), 1.0))
        return out

    def _leaves(self, d: int, rng: np.random.Generator) -> Array:
        """A velocity with which a piece may have left its place."""
        seen = [s for s in self.discs[d].seen if s.t_s >= self.moved_s - 1e-6][:2]
        first = np.array([seen[0].x_mm, seen[0].y_mm]) if seen else self.rest[d] + self.rest[d] - self.rest[0]
        if len(seen) > 1:
            velocity = np.array([seen[1].x_mm - seen[0].x_mm, seen[1].y_mm - seen[0].y_mm]) / (seen[1].t_s - seen[0].t_s)
        else:
            velocity = (first - self.rest[d]) / rng.uniform(0.002, 0.017)
        if rng.random() < 0.5:  # the first step's direction is right even where a rail came after it
            velocity = (first - self.rest[d]) / max(float(np.hypot(*(first - self.rest[d]))), 1e-6) * float(np.hypot(*velocity))
        turn = float(rng.normal(0, 0.08))
        return np.array([velocity[0] * np.cos(turn) - velocity[1] * np.sin(turn), velocity[0] * np.sin(turn) + velocity[1] * np.cos(turn)])


def _score(off: Array) -> Array:
    """Log density of residuals in sigmas: Gaussian in the middle, slowly falling outside."""
    return np.asarray(-0.5 * _TAIL**2 * np.log1p((off / _TAIL) ** 2))


def weigh(
    paths: Mapping[str, Path], striker: str, may: Sequence[Onset], slowing_mm_s2: float, exposure_s: float, seed: int = 0
) -> Verdict | None:
    """Weigh the explanations of a stroke's first contact; None where none explains anything."""
    case = _Case(paths, paths[striker], may, slowing_mm_s2, exposure_s)
    if not len(case.frames_s):
        return None
    rng = np.random.default_rng(seed)
    pools: dict[Label, tuple[Array, Array]] = {}
    x = case.drawn(rng)
    last: tuple[Array, Array, Array, list[Label], Array, Array, Played] | None = None
    density = np.zeros(len(x))
    for turn in count():
        played = case.play(x)
        score = case.prior(x) + case.likelihood(played)
        labels, when, gap = case.labels(played)
        pools = _pooled(pools, x, score, labels)
        if turn >= 1:
            top = max(float(s[0]) for _, s in pools.values())
            pools = {label: pool for label, pool in pools.items() if float(pool[1][0]) > top - _HOPELESS}
        last = (x, score, density, labels, when, gap, played)
        if turn + 1 >= (_ROUNDS_ALONE if len(pools) == 1 else _ROUNDS):
            break
        x, density = _drawn_around(pools, _DRAWN if turn == 0 else _DRAWN_LATER, rng)
    assert last is not None
    return _verdict(case, *last)


def _pooled(
    pools: Mapping[Label, tuple[Array, Array]], x: Array, score: Array, labels: Sequence[Label]
) -> dict[Label, tuple[Array, Array]]:
    """The best possibilities of each explanation so far, best first."""
    out = dict(pools)
    for label in set(labels):
        mine = np.flatnonzero([known == label for known in labels])
        xs, scores = x[mine], score[mine]
        if label in out:
            xs, scores = np.concatenate([out[label][0], xs]), np.concatenate([out[label][1], scores])
        order = np.argsort(-scores)[: max(int(_KEPT * len(mine)), _LEAST_KEPT)]
        out[label] = xs[order], scores[order]
    return out


def _drawn_around(pools: Mapping[Label, tuple[Array, Array]], many: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """New possibilities around the best of each explanation, and the log density that they were drawn with."""
    each = max(many // len(pools), _LEAST_KEPT)
    normals = []
    for xs, _ in pools.values():
        floor = np.maximum(np.abs(xs).max(axis=0), 1.0) * 1e-7
        cov = (np.cov(xs.T) if len(xs) > 1 else np.zeros((xs.shape[1], xs.shape[1]))) * 1.5 + np.diag(floor**2 + 1e-12)
        if len(xs) < 2 * xs.shape[1]:
            cov = np.diag(np.diag(cov)) * 0.7 + cov * 0.3
        normals.append((xs.mean(axis=0), np.linalg.cholesky(cov)))
    x = np.concatenate([mean + rng.normal(size=(each, len(mean))) @ root.T for mean, root in normals])
    parts = []
    for mean, root in normals:
        z = np.linalg.solve(root, (x - mean).T)
        parts.append(-0.5 * (z * z).sum(axis=0) - np.log(np.diag(root)).sum())
    return x, np.asarray(np.logaddexp.reduce(parts, axis=0) - np.log(len(parts)))


def _verdict(
    case: _Case, x: Array, score: Array, density: Array, labels: Sequence[Label], when: Array, gap: Array, played: Played
) -> Verdict | None:
    weight = score - density
    weight = np.exp(weight - weight.max())
    weight /= weight.sum()
    shares: dict[Label, float] = {}
    for label, w in zip(labels, weight.tolist(), strict=True):
        shares[label] = shares.get(label, 0.0) + w
    ranked = sorted(shares.items(), key=lambda item: -item[1])
    best = ranked[0][0]
    if not best:
        return None
    mine = np.array([label == best for label in labels]) * weight
    mine /= mine.sum()
    t = float((mine * np.where(mine > 0, when, 0)).sum())
    sigma = float(np.sqrt((mine * np.where(mine > 0, (when - t) ** 2, 0)).sum()))
    close = np.where(np.isfinite(gap), gap, 1.0)
    together = float((weight * ndtr((_TOGETHER_S - close) / (_GAP_S + _GAP_SHARE * close))).sum())
    struck_s = float((mine * x[:, 0]).sum()) if case.run is None else None
    return Verdict(ranked, t, sigma, together, _events(case, played, mine), case.ids, case.from_s, case.moved_s, struck_s)


def _events(case: _Case, played: Played, weight: Array) -> list[Happened]:
    """What happened in the single likeliest possibility, with the share of all that have it too."""
    n = int(weight.argmax())
    out: list[Happened] = []
    for t, a, b in zip(played.t_s[n].tolist(), played.first[n].tolist(), played.second[n].tolist(), strict=True):
        if not np.isfinite(t):
            break
        same = (played.first == a) & (played.second == b) & (np.abs(played.t_s - t) < _LEAST_AFTER_S / 2)
        has = same.any(axis=1)
        share = float((weight * has).sum())
        nearest = np.where(same, np.abs(played.t_s - t), np.inf).argmin(axis=1)
        times = played.t_s[np.arange(len(weight)), nearest]
        mine = weight * has / max(share, 1e-9)
        mean = float((mine * np.where(has, times, 0)).sum())
        sigma = float(np.sqrt((mine * np.where(has, (times - mean) ** 2, 0)).sum()))
        other = case.ids[b] if b >= 0 else RAILS[RAIL - b]
        out.append(Happened(mean, sigma, case.ids[a], other, share))
    assert all(e.other in SIDES or e.other in case.ids for e in out)
    return out
