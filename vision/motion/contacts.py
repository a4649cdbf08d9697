"""What touched what, and when: every break of every track explained by impacts along lines of centres, rails or the cue.

A referee judges first contact by the directions in which discs leave; so does this. A break's kick must be a sum of pushes
along the normals of what was in reach at that moment (disc at the distance of the two radii, rail at one radius), and both partners'
momenta must agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rules.table import HALF_MM, POCKET_RADIUS_MM, POCKETS_MM, SIDES, TOWARD
from vision.motion.path import Path
from vision.motion.segments import Break

Array = NDArray[np.float64]

_REACH_MM: Final = 2.5  # gap up to which two discs may have touched: radii vary by 0.3 mm each, positions by 0.4, and the break's time
_EXPOSED_S: Final = 0.004  # half of the longest exposure, and the break's own error
_SKEW: Final = 0.45  # share of a kick that may be across the pushes: wood on wood rubs with up to 0.3, smear errors on top
_SURE_SKEW: Final = 0.25  # under it one push explains the kick
_LEAST_KICK_MM_S: Final = 25.0  # weaker breaks are bends of a poor run, not contacts
_MATCH_S: Final = 0.004  # breaks of two partners further apart are two contacts
_SHIFT_MM: Final = 0.3  # slow error of a disc's position, which turns into time through the kick
_BACKING: Final = 0.3  # share of the push that goes toward what backs a disc
_GUESS_MM_S: Final = 100.0  # a kick this strong is somebody's even if nothing seems to be in reach
_GUESS_REACH_MM: Final = 30.0  # how far off that somebody may seem: a striker's run of two sightings across a contact is off by this
_GUESSED: Final = 0.6  # confidence of such a contact: for review
_CLOSING_MM_S: Final = 1.0  # what lay still beside a disc that lay still has not pushed it
_RIM_MM: Final = 2.0  # measuring error at a pocket's edge
_WAVERS_MM: Final = 15.0  # the cue's tip at the striker while the player aims wavers, and what is seen of the striker with it
_WAVERS_MM_S: Final = 100.0
_NEEDED_MM_S: Final = 80.0  # a partner that must have got this much and shows no break speaks against the contact


@dataclass(frozen=True, slots=True)
class Touch:
    """Two discs touching, or a disc at a rail, or the cue at the striker (`other` is an id, a side, or "cue")."""

    t_s: float
    sigma_s: float
    disc: str
    other: str
    confidence: float


@dataclass(frozen=True, slots=True)
class _Push:
    other: str
    normal: Array
    gap_mm: float
    alone: bool = True


def _pushes(path: Path, kink: Break, paths: Mapping[str, Path]) -> list[_Push]:
    """Everything in reach of a disc at a break, with the direction in which it pushes.

    A disc pushes only what it came to, or what came to it, unless it is hit itself at that moment and hands the hit on; a rail that the
    disc did not come to only pushes back what something else pushes into it, never alone.
    """
    own = kink.before.velocity_at(kink.t_s)
    out = []
    slack = _REACH_MM + 2 * kink.sigma_s * max(kink.before.speed_mm_s, kink.after.speed_mm_s) * (kink.sigma_s < 0.01)
    for other in paths.values():
        if other.id == path.id:
            continue
        there = other.at(kink.t_s)
        if there is None or (other.pocket is not None and kink.t_s > other.last_s + 0.02):
            continue
        between = kink.at_mm - there
        distance = float(np.hypot(*between))
        gap = distance - path.shape.radius_mm - other.shape.radius_mm
        if distance > 0 and abs(gap) < slack:
            closing = float((other.velocity_before(kink.t_s) - own) @ between) / distance
            if closing < _CLOSING_MM_S and not other.is_kicked(kink.t_s, _MATCH_S + 2 * kink.sigma_s):
                continue
            out.append(_Push(other.id, between / distance, gap))
    for side in SIDES:
        inward = -np.array(TOWARD[side], dtype=np.float64)
        gap = HALF_MM + float(kink.at_mm @ inward) - path.shape.radius_mm
        if -slack < gap < slack + _blur_mm(path, kink.t_s):
            out.append(_Push(side, inward, gap, alone=float(own @ inward) < -_CLOSING_MM_S))
    return out


def _blur_mm(path: Path, t_s: float) -> float:
    """How far short of its turn a disc may be seen in a picture that was exposed while it turned, mm."""
    return max((s.fast_mm for s in path.seen if abs(s.t_s - t_s) < _EXPOSED_S), default=0.0)


def _explain(kick: Array, pushes: Sequence[_Push]) -> tuple[list[_Push], float]:
    """Fewest pushes whose non-negative sum gives the kick, and the share of the kick that is left over."""
    size = float(np.hypot(*kick))
    best: tuple[list[_Push], float] = ([], 1.0)
    for push in pushes:
        along = float(kick @ push.normal)
        if along > 0 and push.alone:
            left = float(np.hypot(*(kick - along * push.normal))) / size
            score = left + 0.05 * abs(push.gap_mm)
            if score < best[1] + 0.05 * (abs(best[0][0].gap_mm) if best[0] else 0.0):
                best = ([push], left)
    if best[1] < _SURE_SKEW:
        return best
    for pair in combinations(pushes, 2):
        normals = np.stack([p.normal for p in pair], axis=1)
        if abs(np.linalg.det(normals)) < 0.2:
            continue
        weights = np.linalg.solve(normals, kick)
        # Two pushes span the plane and explain anything: both must carry a real part, and one alone must not do nearly as well.
        if np.all(weights > 0.15 * size) and best[1] > _SKEW:
            return list(pair), 0.0
    return best


def touches(paths: Mapping[str, Path], striker: str | None) -> list[Touch]:
    """All contacts of a stroke in order of time."""
    found: list[Touch] = []
    cues: list[tuple[float, Touch]] = []
    claims: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for path in paths.values():
        for number, kink in enumerate(path.breaks):
            kick = kink.kick_mm_s
            size = float(np.hypot(*kick))
            if size < _LEAST_KICK_MM_S or _falls(path, kink):
                continue
            sigma = float(np.hypot(kink.sigma_s, _SHIFT_MM / size))
            pushes, left = _explain(kick, _pushes(path, kink, paths))
            quality = 1.0 if left < _SURE_SKEW else max(0.4, 1.0 - left)
            if not pushes or left > _SKEW + 0.2:
                if path.id == striker and _is_set_off(path, number):
                    cues.append((size, Touch(kink.t_s, sigma, path.id, "cue", 1.0)))
                elif striker is not None and size > _GUESS_MM_S and (guess := _guess(path, kink, striker, paths)) is not None:
                    claims.setdefault(guess, []).append((kink.t_s, sigma, _GUESSED))
                continue
            for push in pushes:
                if push.other in SIDES:
                    found.append(Touch(kink.t_s, sigma, path.id, push.other, quality))
                else:
                    first, second = sorted((path.id, push.other))
                    claims.setdefault((first, second), []).append((kink.t_s, sigma, quality))
    found.extend(cue for _, cue in sorted(cues, key=lambda one: -one[0])[:1])
    for (first, second), said in claims.items():
        found.extend(_merge(first, second, sorted(said), paths))
    return sorted(found, key=lambda touch: touch.t_s)


def _is_set_off(path: Path, number: int) -> bool:
    """Whether a break may be the blow: the first, or one of those while it hardly moved from where it lay."""
    if path.rest_mm is None:
        return False
    kink = path.breaks[number]
    off_mm = float(np.hypot(*(kink.at_mm - path.rest_mm)))
    return number == 0 or (kink.before.speed_mm_s < _WAVERS_MM_S and off_mm < _WAVERS_MM)


def _falls(path: Path, kink: Break) -> bool:
    """Whether a break is the rim of the pocket that the disc tilts over, not a contact."""
    if path.pocket is None:
        return False
    return float(np.hypot(*(kink.at_mm - np.array(POCKETS_MM[path.pocket])))) < POCKET_RADIUS_MM + _RIM_MM


def _guess(path: Path, kink: Break, striker: str, paths: Mapping[str, Path]) -> tuple[str, str] | None:
    """Who most likely gave a kick that nothing in reach explains: the nearest disc, where one of the two is the striker."""
    near: list[tuple[float, str]] = []
    for other in paths.values():
        there = other.at(kink.t_s)
        if other.id != path.id and striker in (path.id, other.id) and there is not None:
            gap = float(np.hypot(*(kink.at_mm - there))) - path.shape.radius_mm - other.shape.radius_mm
            near.append((abs(gap), other.id))
    if not near or min(near)[0] > _GUESS_REACH_MM:
        return None
    first, second = sorted((path.id, min(near)[1]))
    return first, second


def _merge(first: str, second: str, said: list[tuple[float, float, float]], paths: Mapping[str, Path]) -> list[Touch]:
    """One contact for the breaks of both partners that belong together."""
    out = []
    i = 0
    while i < len(said):
        group = [said[i]]
        i += 1
        while i < len(said) and said[i][0] - group[0][0] < _MATCH_S + 2 * (said[i][1] + group[0][1]):
            group.append(said[i])
            i += 1
        weights = np.array([1 / s**2 for _, s, _ in group])
        t = float(np.array([t for t, _, _ in group]) @ weights / weights.sum())
        confidence = max(q for _, _, q in group)
        if len(group) == 1 and _one_sided(first, second, t, paths):
            confidence = min(confidence, 0.6)
        out.append(Touch(t, float(1 / np.sqrt(weights.sum())), first, second, confidence))
    return out


def _one_sided(first: str, second: str, t_s: float, paths: Mapping[str, Path]) -> bool:
    """Only one partner shows a break although the other must have got a good kick."""
    for a, b in ((first, second), (second, first)):
        near = [k for k in paths[a].breaks if abs(k.t_s - t_s) < 2 * _MATCH_S]
        if near and not any(abs(k.t_s - t_s) < 3 * _MATCH_S for k in paths[b].breaks):
            if (paths[b].pocket is not None or paths[b].vanished) and len(paths[b].runs) <= 1:
                return False  # it was gone before it could be seen to move
            due = paths[a].mass / paths[b].mass * float(np.hypot(*near[0].kick_mm_s))
            return due > _NEEDED_MM_S and not is_backed(a, b, t_s, paths)
    return False


def is_backed(pusher: str, pushed: str, t_s: float, paths: Mapping[str, Path]) -> bool:
    """Whether a disc that is pushed lies against a rail or another disc and hands the push on."""
    here, there = paths[pushed].at(t_s), paths[pusher].at(t_s)
    if here is None or there is None:
        return False
    way = (here - there) / max(float(np.hypot(*(here - there))), 1e-6)
    radius = paths[pushed].shape.radius_mm
    for side in SIDES:
        toward = np.array(TOWARD[side], dtype=np.float64)
        if HALF_MM - float(here @ toward) - radius < _REACH_MM and float(way @ toward) > _BACKING:
            return True
    for other in paths.values():
        at = other.at(t_s)
        if other.id in (pusher, pushed) or at is None:
            continue
        between = at - here
        distance = float(np.hypot(*between))
        if distance - radius - other.shape.radius_mm < _REACH_MM and float(way @ between) / distance > _BACKING:
            return True
    return False
