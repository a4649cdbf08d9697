"""First contacts, their order and times on simulated strokes at position level, with the follower's measured noise and gaps.

    python -m benchmarks strokes [STROKES]

Physics with an exact contact log (virtual_table.physics) -> places averaged over the exposure, shifted and scattered as the follower's
are on rendered clips -> runs, breaks, contacts -> the timeline of a stroke. A nearest-approach baseline (first piece whose
rest place the striker's path comes within reach of, straight between frames) is scored on the same strokes.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from itertools import pairwise

import msgspec
import numpy as np

from calibration import Calibration, Camera, Lens
from rules.facts import Contact, Disc, Rail, Stroke, Struck
from virtual_table import Surface, World, overhead
from virtual_table.layout import scattered
from vision.motion.outline import outline_at, shape_of
from vision.motion.predict import FRICTION_MM_S2
from vision.motion.report import Spell, describe
from vision.motion.track import Sighting, Track

EXPOSURE_S = 0.0035
NOISE_MM = 0.08  # scatter of a sighting, measured on the photoreal clips
SHIFT_MM = 0.3  # slow shift of a disc's sightings, the same source
MISSING = 0.01  # share of sightings that are missing
WAKE_MM = 0.3  # a disc that moved less is not followed
TOGETHER_MS, NEAR_MS = 1.0, 8.0


@dataclass
class Score:
    """What is counted over many strokes at one frame rate."""

    right: int = 0
    unsure: int = 0
    wrong: int = 0
    baseline_wrong: int = 0
    rails_wrong: int = 0
    times_ms: list[float] = field(default_factory=list)

    def line(self, fps: float) -> str:
        total = self.right + self.unsure + self.wrong
        decided = self.right + self.wrong
        p95 = float(np.percentile(self.times_ms, 95)) if self.times_ms else math.nan
        return (
            f"{fps:5.0f} fps  {total} strokes: decided {decided / total:.3%}, right of decided {self.right / max(decided, 1):.3%}, "
            f"rails before it wrong {self.rails_wrong / total:.3%}, time p95 {p95:.2f} ms; "
            f"nearest approach wrong {self.baseline_wrong / total:.2%}"
        )


def played(rng: np.random.Generator) -> World:
    """One random stroke from side S, played to rest."""
    pieces = scattered(rng)
    while True:
        x, y = float(rng.uniform(-330, 330)), float(rng.uniform(-470, -376))
        if all(math.hypot(x - px, y - py) > 40 for _, px, py in pieces.values()):
            break
    surface = Surface(mu=float(rng.uniform(0.06, 0.12)), e_disc=float(rng.uniform(0.75, 0.92)), e_rail=float(rng.uniform(0.6, 0.75)))
    world = World([(name, kind, px, py) for name, (kind, px, py) in pieces.items()] + [("striker", "striker", x, y)], surface)
    angle, speed = float(rng.uniform(0.15, math.pi - 0.15)), float(rng.uniform(500, 6000))
    world.push(world.striker(), speed * math.cos(angle), speed * math.sin(angle))
    world.run()
    return world


def followed(world: World, fps: float, camera: Camera, rng: np.random.Generator) -> tuple[dict[str, Track], list[Disc]]:
    """What the follower would have seen of it."""
    tracks: dict[str, Track] = {}
    before = []
    phase = float(rng.uniform(0, 1 / fps))
    times = np.arange(phase, world.t + 0.1, 1 / fps)
    for true in world.tracks:
        start = true.at(0.0)
        end = true.at(world.t)
        if start is None:
            continue
        shift = rng.normal(0, SHIFT_MM / math.sqrt(2), 2)
        at = np.array([start.x_mm, start.y_mm])
        track = Track(true.id, true.kind, at + shift, rest_seen_mm=at + shift, left=outline_at(camera, at, shape_of(true.kind)))
        before.append(Disc(id=true.id, kind=true.kind, x_mm=start.x_mm, y_mm=start.y_mm))
        tracks[true.id] = track
        for t in times:
            places = [true.at(float(t + d)) for d in (-EXPOSURE_S / 3, 0.0, EXPOSURE_S / 3)]
            on = [p for p in places if p is not None and p.on_table and p.z_mm > -0.5]
            if len(on) < 3 or rng.random() < MISSING:
                continue
            x, y = np.mean([(p.x_mm, p.y_mm) for p in on], axis=0) + shift + rng.normal(0, NOISE_MM, 2)
            if not track.sightings and math.hypot(x - track.at_mm[0], y - track.at_mm[1]) < WAKE_MM:
                track.woken_s = float(t)
                continue
            track.sightings.append(Sighting(float(t), float(x), float(y), NOISE_MM, 0.0))
        if end is None or not end.on_table or end.z_mm < 0:
            fall = next((c for c in world.log if c.kind == "pocket" and c.a == true.id), None)
            track.pocket = fall.b if fall is not None else None  # type: ignore[assignment]
    return tracks, before


def nearest_approach(tracks: dict[str, Track]) -> str | None:
    """The plainest answer: the first rest place that the striker's path, straight between frames, comes within touching distance of."""
    seen = tracks["striker"].sightings
    for a, b in pairwise(seen):
        p, q = np.array([a.x_mm, a.y_mm]), np.array([b.x_mm, b.y_mm])
        hits = []
        for other in tracks.values():
            if other.kind == "striker":
                continue
            way = q - p
            part = float(np.clip((other.at_mm - p) @ way / max(way @ way, 1e-9), 0, 1))
            if np.hypot(*(p + part * way - other.at_mm)) < shape_of("striker").radius_mm + shape_of("red").radius_mm:
                hits.append((part, other.id))
        if hits:
            return min(hits)[1]
    return None


def judge(world: World, tracks: dict[str, Track], before: list[Disc], camera: Camera, score: Score) -> None:
    """Score one stroke."""
    hits = [(c.t, c.b if c.a == "striker" else c.a) for c in world.log if c.kind == "disc" and "striker" in (c.a, c.b)]
    told = describe(Spell(before=before), tracks, [], world.t, camera, FRICTION_MM_S2, ("S",)).facts
    stroke = next((f for f in told if isinstance(f, Stroke)), None)
    exact = {i for t, i in hits if (t - hits[0][0]) * 1e3 <= TOGETHER_MS} if hits else set()
    near = {i for t, i in hits if (t - hits[0][0]) * 1e3 <= NEAR_MS} if hits else set()
    said = next((e for e in stroke.timeline if isinstance(e, Contact) and "striker" in e.discs), None) if stroke else None
    got = set(said.discs) - {"striker"} if said else set()
    score.baseline_wrong += (nearest_approach(tracks) or "") not in (exact or {""})
    if (said and (said.confidence or 1.0) < 0.9) or (len(got) > 1 and got <= near and got != exact):
        score.unsure += 1
        return
    if got != exact and not (len(exact) > 1 and len(got) > 1 and got <= exact):
        score.wrong += 1
        return
    score.right += 1
    if stroke is None:
        return
    end = hits[0][0] if hits else math.inf
    true_rails = [c.b for c in world.log if c.kind == "rail" and c.a == "striker" and c.t < end]
    rails = [e.rail for e in stroke.timeline if isinstance(e, Rail) and e.disc == "striker" and (said is None or e.t < said.t)]
    score.rails_wrong += rails != true_rails
    if said:
        start = next(e.t for e in stroke.timeline if isinstance(e, Struck))
        score.times_ms.append(abs(said.t - start - hits[0][0]) * 1e3)


def main(arguments: list[str]) -> None:
    """Play, follow, tell and score at three frame rates."""
    number = int(arguments[0]) if arguments else 5000
    optics = overhead(1456, 1088)
    lens = msgspec.convert(optics.lens, Lens)
    camera = Camera(Calibration(lens=lens, rvec=[float(v) for v in optics.rvec], tvec=[float(v) for v in optics.tvec]))
    scores = {40.0: Score(), 60.0: Score(), 120.0: Score()}
    started = time.perf_counter()
    for seed in range(number):
        rng = np.random.default_rng([seed, 17])
        world = played(rng)
        for fps, score in scores.items():
            tracks, before = followed(world, fps, camera, rng)
            judge(world, tracks, before, camera, score)
    for fps, score in scores.items():
        print(score.line(fps))
    print(f"{(time.perf_counter() - started) / number / len(scores) * 1e3:.0f} ms a stroke")
