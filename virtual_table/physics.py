"""Rigid discs that slide on the table: Coulomb friction, impacts with restitution and tangential friction, rails, pockets.

Between two events the motion of every disc is a parabola; the time of an event is solved on these parabolas, not stepped to.
Sources: impact with friction as in Routh's impulse model (normal restitution, tangential impulse bounded by Coulomb's cone).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rules.table import (
    HALF_MM,
    POCKET_RADIUS_MM,
    POCKETS_MM,
    Kind,
    Side,
    hole_radius_mm,
    is_striker,
    radius_mm,
    thickness_mm,
)
from virtual_table.encounter import TOUCH_MM, meeting_time, smaller_root
from virtual_table.motion import Piece, Track

Array = NDArray[np.float64]

GRAVITY_MM_S2: Final = 9810.0
DENSITY_G_MM3: Final = 0.0007  # birch; only the ratio of masses matters
WINDOW_S: Final = 0.012  # search window of events; they are solved inside it, so it changes no result
TOUCHING_S: Final = 0.001  # window while moving discs touch: resting contact is resolved once a window
SLOW_MM_S: Final = 2.0  # approach below this is resting contact: no bounce, no entry in the contact log
CORNER_MM: Final = 65.0  # this near both rails nobody can tell which of them a disc jumped over
REST_MM_S: Final = 1e-3  # a disc slower than this rests
SOFT_MM_S: Final = 30.0  # below this wood does not bounce noticeably; restitution falls to nothing
RAILS: Final[tuple[Side, ...]] = ("S", "N", "W", "E")
_NORMALS: Final = np.array([[0.0, 1.0], [0.0, -1.0], [1.0, 0.0], [-1.0, 0.0]])  # into the table, order of RAILS
_POCKET_NAMES: Final = tuple(POCKETS_MM)
_POCKET_XY: Final = np.array([POCKETS_MM[p] for p in _POCKET_NAMES])


@dataclass(frozen=True, slots=True)
class Surface:
    """What the table and the discs are made of: friction, restitution (`e_`) and tangential friction (`f_`) of impacts."""

    mu: float = 0.1
    e_disc: float = 0.85
    e_rail: float = 0.7
    f_disc: float = 0.12
    f_rail: float = 0.15
    hop_mm_s: float = math.inf  # a disc that meets a rail faster than this jumps over it


class Contact(NamedTuple):
    """One entry of the exact log; `b` is the other disc, a rail or a pocket. Times in s, point in mm."""

    t: float
    kind: Literal["disc", "rail", "pocket", "over_rail"]
    a: str
    b: str
    x_mm: float
    y_mm: float
    approach_mm_s: float


def mass_g(kind: Kind) -> float:
    """From size: a striker weighs about 2.7 pieces."""
    return DENSITY_G_MM3 * math.pi * (radius_mm(kind) ** 2 - hole_radius_mm(kind) ** 2) * thickness_mm(kind)


class World:
    """Discs on the table from `t0` on; `run` plays until all rest and leaves tracks and the contact log."""

    def __init__(self, discs: list[tuple[str, Kind, float, float]], surface: Surface, t0: float = 0.0) -> None:
        self.ids = [d[0] for d in discs]
        self.kinds: list[Kind] = [d[1] for d in discs]
        self.surface = surface
        self.t = t0
        n = len(discs)
        self.pos: Array = np.array([d[2:4] for d in discs], dtype=np.float64).reshape(n, 2)
        self.vel: Array = np.zeros((n, 2))
        self.angle: Array = np.zeros(n)
        self.spin: Array = np.zeros(n)
        self.radius: Array = np.array([radius_mm(k) for k in self.kinds])
        self.mass: Array = np.array([mass_g(k) for k in self.kinds])
        inner = np.array([hole_radius_mm(k) for k in self.kinds])
        self.inertia: Array = 0.5 * self.mass * (self.radius**2 + inner**2)
        self.live: NDArray[np.bool_] = np.ones(n, dtype=bool)
        self.log: list[Contact] = []
        self.tracks = [Track(i, k) for i, k in zip(self.ids, self.kinds, strict=True)]
        for track, at in zip(self.tracks, self.pos, strict=True):
            track.put(t0, float(at[0]), float(at[1]))
        self._i, self._j = np.triu_indices(n, 1)
        self._reach = self.radius[self._i] + self.radius[self._j]
        self._fresh: set[int] = set()

    def push(self, index: int, vx: float, vy: float) -> None:
        """The cue gives a disc this velocity, mm/s."""
        self.vel[index] = vx, vy
        self._fresh.add(index)

    def energy(self) -> float:
        """Kinetic energy in g mm^2/s^2."""
        moving = 0.5 * self.mass * (self.vel**2).sum(axis=1) + 0.5 * self.inertia * self.spin**2
        return float(moving[self.live].sum())

    def run(self, max_s: float = 12.0) -> None:
        """Play until everything rests."""
        for _ in self.steps(max_s):
            pass

    def steps(self, max_s: float = 12.0) -> Iterator[float]:
        """Play in small portions (yields the time) so that a live camera can think between two frames."""
        end = self.t + max_s
        self._settle()
        self._record()
        while self.t < end and (self.live & (np.abs(self.vel).max(axis=1) > 0)).any():
            self._step()
            yield self.t
        self.vel[:] = 0
        self._fresh.update(np.flatnonzero(self.live).tolist())
        self._record()

    def _deceleration(self) -> Array:
        speed = np.hypot(self.vel[:, 0], self.vel[:, 1])
        scale = np.where(speed > 0, self.surface.mu * GRAVITY_MM_S2 / np.maximum(speed, 1e-12), 0.0)
        return -self.vel * scale[:, None]

    def _step(self) -> None:
        acc = self._deceleration()
        speed = np.hypot(self.vel[:, 0], self.vel[:, 1])
        moving = self.live & (speed > 0)
        stop_s = speed / (self.surface.mu * GRAVITY_MM_S2)
        near = (moving[self._i] | moving[self._j]) & self.live[self._i] & self.live[self._j]
        d = self.pos[self._j] - self.pos[self._i]
        gap = np.hypot(d[:, 0], d[:, 1]) - self._reach
        touching = bool((near & (gap < 10 * TOUCH_MM)).any())
        h = min(TOUCHING_S if touching else WINDOW_S, float(stop_s[moving].min()))
        hit = self._first_event(acc, moving, near, d, gap, h)
        dt = h if hit is None else hit
        self._advance(acc, dt)
        stopped = moving & (stop_s <= dt + 1e-12)
        self.vel[stopped] = 0
        self._fresh.update(np.flatnonzero(stopped).tolist())
        self._capture()
        self._settle()
        self._record()

    def _advance(self, acc: Array, dt: float) -> None:
        self.pos += self.vel * dt + acc * (dt * dt / 2)
        self.vel += acc * dt
        self.angle += self.spin * dt
        slow = 4 / 3 * self.surface.mu * GRAVITY_MM_S2 / self.radius * dt
        self.spin = np.sign(self.spin) * np.maximum(np.abs(self.spin) - slow, 0)
        self.t += dt

    # --- finding the next event -----------------------------------------------------------------------------------

    def _first_event(self, acc: Array, moving: NDArray[np.bool_], near: NDArray[np.bool_], d: Array, gap: Array, h: float) -> float | None:
        best: float | None = None
        i, j = self._i, self._j
        v = self.vel[j] - self.vel[i]
        speed = np.hypot(v[:, 0], v[:, 1]) + 2 * self.surface.mu * GRAVITY_MM_S2 * h
        for k in np.flatnonzero(near & (gap < speed * h)):
            a = acc[j[k]] - acc[i[k]]
            root = meeting_time(d[k], v[k], a, float(self._reach[k]), h, slow_mm_s=SLOW_MM_S)
            if root is not None and (best is None or root < best):
                best = root
        for n in np.flatnonzero(moving):
            for root in self._rail_times(int(n), acc, h):
                if best is None or root < best:
                    best = root
            for pocket in _POCKET_XY:
                rel = self.pos[n] - pocket
                if math.hypot(*rel) - POCKET_RADIUS_MM < (math.hypot(*self.vel[n]) + 1) * h:
                    root = meeting_time(rel, self.vel[n], acc[n], POCKET_RADIUS_MM, h)
                    if root is not None and (best is None or root < best):
                        best = root
        return best

    def _rail_times(self, n: int, acc: Array, h: float) -> Iterator[float]:
        for normal in _NORMALS:
            gap = float(HALF_MM + normal @ self.pos[n] - self.radius[n])
            speed = float(normal @ self.vel[n])
            if speed >= -SLOW_MM_S and gap < TOUCH_MM * 2:
                continue
            if speed >= 0 or gap + speed * h > 0:
                continue
            half = float(normal @ acc[n]) / 2
            root = smaller_root(half, speed, gap)
            if root is not None and 0 <= root <= h:
                yield root

    # --- what happens at an event ---------------------------------------------------------------------------------

    def _capture(self) -> None:
        for n in np.flatnonzero(self.live):
            rel = self.pos[n] - _POCKET_XY
            away = np.hypot(rel[:, 0], rel[:, 1])
            p = int(away.argmin())
            if away[p] <= POCKET_RADIUS_MM + TOUCH_MM:
                self.live[n] = False
                speed = float(np.hypot(*self.vel[n]))
                self.log.append(
                    Contact(self.t, "pocket", self.ids[n], _POCKET_NAMES[p], float(self.pos[n][0]), float(self.pos[n][1]), speed)
                )
                self._fall(int(n), p)

    def _fall(self, n: int, pocket: int) -> None:
        """Drop into the bag: the disc slides to where the hole's wall lets it fall, then falls freely for some frames."""
        x, y = map(float, self.pos[n])
        target = _POCKET_XY[pocket] + (self.pos[n] - _POCKET_XY[pocket]) * ((POCKET_RADIUS_MM - self.radius[n] - 1) / POCKET_RADIUS_MM)
        speed = max(400.0, float(np.hypot(*self.vel[n])))
        slide_s = float(np.hypot(*(target - self.pos[n]))) / speed
        vx, vy = (target - self.pos[n]) / slide_s
        gone_s = 0.12  # after that it lies 70 mm down in the dark of the bag
        track = self.tracks[n]
        angle, spin = float(self.angle[n]), float(self.spin[n])
        g = -GRAVITY_MM_S2
        track.add(Piece(self.t, x, y, 0, vx, vy, 0, 0, 0, g, math.inf, angle, spin))
        z, vz = g * slide_s**2 / 2, g * slide_s
        track.add(Piece(self.t + slide_s, float(target[0]), float(target[1]), z, 0, 0, vz, 0, 0, g, math.inf, angle, spin))
        if slide_s < gone_s:
            track.remove(self.t + gone_s)
        else:
            track.remove(self.t + slide_s + 0.02)
        self.vel[n] = 0

    def _hop(self, n: int, rail: Side, approach: float) -> None:
        """Over the rail (12.14): off the table in a flat curve; what is beside the table is nobody's truth."""
        (x, y), (vx, vy) = self.pos[n].tolist(), (self.vel[n] * 0.6).tolist()
        corner = [p for p, at in POCKETS_MM.items() if abs(x - at[0]) < CORNER_MM and abs(y - at[1]) < CORNER_MM]
        self.log.append(Contact(self.t, "over_rail", self.ids[n], corner[0] if corner else rail, x, y, approach))
        self.live[n] = False
        self.vel[n] = 0
        up_mm_s, flight_s = 1600.0, 0.4
        spin = float(self.spin[n])
        self.tracks[n].add(Piece(self.t, x, y, 8, vx, vy, up_mm_s, 0, 0, -GRAVITY_MM_S2, math.inf, float(self.angle[n]), spin))
        self.tracks[n].remove(self.t + flight_s)

    def _settle(self) -> None:
        """Resolve all contacts that touch and approach, hardest first, until none is left; then lift tiny overlaps."""
        logged: set[tuple[int, int]] = set()
        for turn in range(400):
            hit = self._hardest()
            if hit is None:
                break
            a, b, normal, approach = hit
            elastic = approach > SLOW_MM_S and turn < 300
            if approach > SLOW_MM_S and (a, b) not in logged and not (b < 0 and approach > self.surface.hop_mm_s):
                logged.add((a, b))
                self._write(a, b, normal, approach)
            if b < 0 and approach > self.surface.hop_mm_s:
                self._hop(a, RAILS[-1 - b], approach)
            else:
                self._impulse(a, b, normal, approach, elastic)
        self._separate()

    def _hardest(self) -> tuple[int, int, Array, float] | None:
        i, j = self._i, self._j
        d = self.pos[j] - self.pos[i]
        dist = np.hypot(d[:, 0], d[:, 1])
        normal = d / np.maximum(dist, 1e-9)[:, None]
        approach = -((self.vel[j] - self.vel[i]) * normal).sum(axis=1)
        touching = (dist - self._reach < 2 * TOUCH_MM) & self.live[i] & self.live[j] & (approach > REST_MM_S)
        best: tuple[int, int, Array, float] | None = None
        if touching.any():
            k = int(np.where(touching, approach, 0).argmax())
            best = int(i[k]), int(j[k]), normal[k], float(approach[k])
        gap = HALF_MM + self.pos @ _NORMALS.T - self.radius[:, None]
        into = -(self.vel @ _NORMALS.T)
        wall = (gap < 2 * TOUCH_MM) & (into > REST_MM_S) & self.live[:, None]
        if wall.any():
            n, r = np.unravel_index(int(np.where(wall, into, 0).argmax()), wall.shape)
            if best is None or into[n, r] > best[3]:
                best = int(n), -1 - int(r), -_NORMALS[r], float(into[n, r])
        return best

    def _write(self, a: int, b: int, normal: Array, approach: float) -> None:
        x, y = map(float, self.pos[a] + normal * self.radius[a])
        if b < 0:
            self.log.append(Contact(self.t, "rail", self.ids[a], RAILS[-1 - b], x, y, approach))
        else:
            self.log.append(Contact(self.t, "disc", self.ids[a], self.ids[b], x, y, approach))

    def _impulse(self, a: int, b: int, normal: Array, approach: float, elastic: bool) -> None:
        """One impact: restitution along the normal, Coulomb-bounded impulse along the tangent."""
        rail = b < 0
        soft = min(1.0, approach / SOFT_MM_S)
        e = (self.surface.e_rail if rail else self.surface.e_disc) * soft if elastic else 0.0
        friction = self.surface.f_rail if rail else self.surface.f_disc
        tangent = np.array([-normal[1], normal[0]])
        ra, rb = float(self.radius[a]), 0.0 if rail else float(self.radius[b])
        slide = float(tangent @ self.vel[a]) + float(self.spin[a]) * ra
        inv = 1 / self.mass[a]
        inv_t = inv + ra**2 / self.inertia[a]
        if not rail:
            slide -= float(tangent @ self.vel[b]) - float(self.spin[b]) * rb
            inv += 1 / self.mass[b]
            inv_t += 1 / self.mass[b] + rb**2 / self.inertia[b]
        push = (1 + e) * approach / inv
        drag = -math.copysign(min(abs(slide) / inv_t, friction * push), slide)
        self.vel[a] += (-push * normal + drag * tangent) / self.mass[a]
        self.spin[a] += drag * ra / self.inertia[a]
        self._fresh.add(a)
        if not rail:
            self.vel[b] += (push * normal - drag * tangent) / self.mass[b]
            self.spin[b] += drag * rb / self.inertia[b]
            self._fresh.add(b)
        for n in (a,) if rail else (a, b):
            if math.hypot(*self.vel[n]) < REST_MM_S:
                self.vel[n] = 0

    def _separate(self) -> None:
        """Rounding and resting contact leave overlaps of micrometres; they are taken out of the positions."""
        for _ in range(20):
            i, j = self._i, self._j
            d = self.pos[j] - self.pos[i]
            dist = np.hypot(d[:, 0], d[:, 1])
            deep = np.where(self.live[i] & self.live[j], self._reach - dist, 0)
            bad = np.flatnonzero(deep > TOUCH_MM / 2)
            for k in bad:
                a, b = int(i[k]), int(j[k])
                share = self.mass[b] / (self.mass[a] + self.mass[b])
                away = d[k] / dist[k] * deep[k]
                self.pos[a] -= away * share
                self.pos[b] += away * (1 - share)
                self._fresh.update((a, b))
            limit = (HALF_MM - self.radius)[:, None]
            held = np.clip(self.pos, -limit, limit)
            out = np.flatnonzero(self.live & (np.abs(held - self.pos).max(axis=1) > 0))
            self.pos[out] = held[out]
            self._fresh.update(out.tolist())
            if not len(bad):
                return

    def _record(self) -> None:
        acc = self._deceleration()
        for n in sorted(self._fresh):
            if self.live[n]:
                speed = math.hypot(*self.vel[n])
                stop = self.t + speed / (self.surface.mu * GRAVITY_MM_S2)
                (x, y), (vx, vy), (ax, ay) = self.pos[n].tolist(), self.vel[n].tolist(), acc[n].tolist()
                self.tracks[n].add(
                    Piece(self.t, x, y, 0, vx, vy, 0, ax, ay, 0, stop, float(self.angle[n]), float(self.spin[n]) if speed else 0.0)
                )
        self._fresh.clear()

    def striker(self) -> int:
        """Index of the striker."""
        return next(n for n, kind in enumerate(self.kinds) if is_striker(kind))
