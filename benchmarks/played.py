"""Random strokes at position level: exact physics, and what the follower would have seen of them.

The errors are those of the follower on rendered strokes (`python -m benchmarks filmed`): sightings of one disc scatter by a few
hundredths of a millimetre around a place that is off by a quarter of one, alike for neighbours, because lens and pose are off.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from benchmarks.baseline import Baseline, Place
from calibration.camera import Camera
from rules.facts import Disc
from rules.table import Kind, Pocket, radius_mm
from virtual_table import Surface, World
from virtual_table.layout import Position, scattered, start
from virtual_table.motion import Track as TrueTrack
from vision.motion.outline import outline_at, shape_of
from vision.motion.track import Sighting, Track

Array = NDArray[np.float64]
Point = tuple[float, float]

EXPOSURE_S = 0.0035
NOISE_MM = 0.05  # scatter of a sighting in each axis: 0.03 slow, 0.06 at 3 m/s on rendered strokes
COMMON_MM, TILT_MM, OWN_MM = 0.2, 0.2, 0.12  # shift of all discs, its change over half a table, and of each disc by itself; sum 0.3
LAG_S = 0.0001  # fast discs are seen this much late: smears are not symmetric
GROSS = 0.001  # share of sightings that are off by millimetres
GROSS_MM = 2.0
MISSING, MISSING_EARLY = 0.006, 0.05  # share of sightings that are missing; of a disc's first ones
EARLY = 3  # sightings that count as first ones
WAKE_MM = 0.3  # a disc that moved less is not followed
GONE_MM = 0.5  # a disc lower than this in a mouth is not fitted any more
BREAKS = 0.1  # share of break shots
FASTEST_MM_S = 6000.0
ANYWHERE = 0.3  # share of the others that are aimed at no piece
WIDE_MM = 45.0  # how far beside a piece it may be aimed at: sum of the radii and some
FLATTEST = 0.4  # slope: the player stands behind the rail, the hand lies on it
HOP_MM_S = 5000.0  # into the rail; only the hardest strokes send a disc over it


def played(rng: np.random.Generator) -> World:
    """One random stroke from side S, struck at 0 s and played to rest."""
    return strike_off(rng, 0.0)[0]


def strike_off(rng: np.random.Generator, struck_s: float) -> tuple[World, Point, Point]:
    """A random stroke from side S, played to rest: the world, the striker's place (mm) and its velocity (mm/s)."""
    is_break = rng.random() < BREAKS
    pieces = start({"S": "red", "N": "black"}) if is_break else scattered(rng)
    while True:
        x, y = float(rng.uniform(-330, 330)), float(rng.uniform(-470, -380))
        if all(math.hypot(x - px, y - py) > radius_mm("striker") + radius_mm(kind) + 2 for kind, px, py in pieces.values()):
            break
    surface = Surface(
        mu=float(rng.uniform(0.06, 0.12)), e_disc=float(rng.uniform(0.75, 0.92)), e_rail=float(rng.uniform(0.6, 0.75)), hop_mm_s=HOP_MM_S
    )
    discs: list[tuple[str, Kind, float, float]] = [(name, *where) for name, where in pieces.items()]
    world = World([*discs, ("striker", "striker", x, y)], surface, struck_s)
    speed = float(rng.uniform(3000 if is_break else 500, FASTEST_MM_S))
    angle = math.atan2(485 - y, float(rng.uniform(-120, 120)) - x) if is_break else _aim(rng, x, y, pieces)
    velocity = speed * math.cos(angle), speed * math.sin(angle)
    world.push(world.striker(), *velocity)
    world.run()
    return world, (x, y), velocity


def _aim(rng: np.random.Generator, x: float, y: float, pieces: Position) -> float:
    """Direction (rad) more or less at one of the pieces that the player at S can strike at, else anywhere ahead."""
    ahead = [(px, py) for _, px, py in pieces.values() if py - y > abs(px - x) * FLATTEST]
    if not ahead or rng.random() < ANYWHERE:
        return float(rng.uniform(0.35, math.pi - 0.35))
    px, py = ahead[int(rng.integers(len(ahead)))]
    return math.atan2(py - y, px - x) + float(rng.uniform(-1, 1)) * WIDE_MM / math.hypot(px - x, py - y)


def places(track: TrueTrack, times: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Axes (N, 2) mm at many times, and where it lies or slides on the surface."""
    pieces = np.array([p[:13] for p in track.pieces])
    which = np.maximum(np.searchsorted(np.array(track.times), times, side="right") - 1, 0)
    t, x, y, z, vx, vy, vz, ax, ay, az, stop = pieces[which, :11].T
    dt = np.maximum(np.minimum(times, stop) - t, 0.0)
    half = dt * dt / 2
    on = np.array([p.on_table for p in track.pieces])[which] & (np.abs(z + vz * dt + az * half) < GONE_MM)
    return np.stack([x + vx * dt + ax * half, y + vy * dt + ay * half], axis=1), on


def followed(
    world: World, fps: float, camera: Camera, rng: np.random.Generator, first_s: float | None = None
) -> tuple[dict[str, Track], list[Disc]]:
    """What the follower would have seen of a stroke, and the discs before it as the still picture has them.

    `first_s`: when the first frame is exposed; any time without it.
    """
    tracks: dict[str, Track] = {}
    before = []
    begins = float(rng.uniform(0, 1 / fps))
    times = np.arange(begins if first_s is None else first_s, world.t + 0.1, 1 / fps)
    common, tilt = rng.normal(0, COMMON_MM, 2), rng.normal(0, TILT_MM / 500, (2, 2))
    for true in world.tracks:
        start_at = true.at(0.0)
        if start_at is None:
            continue
        at = np.array([start_at.x_mm, start_at.y_mm])
        own = rng.normal(0, OWN_MM, 2)
        seen_at = at + common + tilt @ at + own
        track = Track(true.id, true.kind, seen_at, rest_seen_mm=seen_at, left=outline_at(camera, at, shape_of(true.kind)))
        before.append(Disc(id=true.id, kind=true.kind, x_mm=start_at.x_mm, y_mm=start_at.y_mm))
        tracks[true.id] = track
        exposed = [places(true, times + share * EXPOSURE_S - LAG_S) for share in (-1 / 3, 0.0, 1 / 3)]
        seen = np.mean([place for place, _ in exposed], axis=0)
        fast = 1.5 * np.sum([np.hypot(*(b[0] - a[0]).T) for a, b in pairwise(exposed)], axis=0)
        seen = seen + common + seen @ tilt.T + own + rng.normal(0, NOISE_MM, seen.shape)
        gross = rng.random(len(times)) < GROSS
        seen[gross] += rng.normal(0, GROSS_MM, (int(gross.sum()), 2))
        visible = np.all([on for _, on in exposed], axis=0)
        moved = np.hypot(*(seen - seen_at).T) > WAKE_MM
        woken = (moved | ~visible) & ~gross
        track.woken_s = float(times[int(np.argmax(woken))]) if woken.any() else 0.0
        luck = rng.random(len(times))
        for k, (t, (x, y)) in enumerate(zip(times.tolist(), seen.tolist(), strict=True)):
            if not visible[k] or luck[k] < (MISSING if len(track.sightings) >= EARLY else MISSING_EARLY):
                continue
            if not track.sightings and math.hypot(x - seen_at[0], y - seen_at[1]) < WAKE_MM:
                continue
            track.sightings.append(Sighting(t, x, y, NOISE_MM, float(fast[k])))
        _leave(world, true, track)
    return tracks, before


def _leave(world: World, true: TrueTrack, track: Track) -> None:
    """What the follower makes of a disc that is gone at the end."""
    gone = next((c for c in world.log if c.kind in ("pocket", "over_rail") and c.a == true.id), None)
    if gone is None:
        return
    pockets: Mapping[str, Pocket] = {"SW": "SW", "SE": "SE", "NE": "NE", "NW": "NW"}
    if gone.kind == "pocket":
        track.state, track.pocket = "gone", pockets[gone.b]
    else:
        track.state = "lost"


def plainly_followed(tracks: Mapping[str, Track]) -> Baseline:
    """The same places without names, followed by the baseline from shortly before the first thing moves."""
    times = sorted({s.t_s for t in tracks.values() for s in t.sightings})
    seen = {t.id: {s.t_s: np.array([s.x_mm, s.y_mm]) for s in t.sightings} for t in tracks.values()}
    plain = Baseline()
    for t in [times[0] - 0.02, *times] if times else []:
        frame = []
        for track in tracks.values():
            own = seen[track.id]
            first = track.sightings[0].t_s if track.sightings else math.inf
            at = own.get(t) if t >= first else (track.at_mm if track.state == "rest" or t < (track.woken_s or first) else None)
            if at is not None:
                frame.append(Place(track.kind, at, track.id))
        plain.push(t, frame)
    return plain


def nearest_approach(tracks: Mapping[str, Track]) -> str | None:
    """The plainest answer: the first rest place that the striker's path, straight between frames, comes within touching distance of."""
    others = [t for t in tracks.values() if t.kind != "striker"]
    lies = np.array([t.at_mm for t in others])
    reach = shape_of("striker").radius_mm + shape_of("red").radius_mm
    for p, q in _steps(tracks["striker"]):
        way = q - p
        part = np.clip((lies - p) @ way / max(float(way @ way), 1e-9), 0, 1)
        near = np.hypot(*(p + part[:, None] * way - lies).T) < reach
        if near.any():
            return others[int(np.argmin(np.where(near, part, 2.0)))].id
    return None


def _steps(track: Track) -> Iterator[tuple[Array, Array]]:
    for a, b in pairwise(track.sightings):
        yield np.array([a.x_mm, a.y_mm]), np.array([b.x_mm, b.y_mm])
