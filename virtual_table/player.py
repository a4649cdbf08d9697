"""A simple player: looks for a piece and a pocket that a straight stroke joins, strikes with a human's error, errs at times."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from rules.table import HALF_MM, OPPOSITE, POCKETS_MM, TOWARD, ZONE_LINE_MM, Kind, Side, hole_radius_mm, radius_mm
from virtual_table.physics import GRAVITY_MM_S2, Surface, mass_g
from virtual_table.referee import Table, dark_ids

Intent = Literal["pot", "hit", "bank", "opponent", "miss", "dark"]
Vec = NDArray[np.float64]

RS: Final = radius_mm("striker")
RP: Final = radius_mm("red")
AIM_SD_RAD: Final = math.radians(0.3)  # a club player's aim
SPEED_SD: Final = 0.06
MAX_MM_S: Final = 5500.0
ERR_SHARE: Final = 0.16  # strokes that are tried although they are not allowed, so that every ruling is seen
FORWARD: Final = 0.42  # share of a stroke that must lead away from the own rail: the player stands behind it
CLEAR_MM: Final = 2.0  # room that a lawful placing leaves to any piece


@dataclass(frozen=True, slots=True)
class Plan:
    """Where the striker is put and the velocity that the cue gives it (mm, mm/s)."""

    x_mm: float
    y_mm: float
    vx_mm_s: float
    vy_mm_s: float
    intent: Intent


def plan(rng: np.random.Generator, table: Table, side: Side, surface: Surface) -> Plan:
    """Choose a stroke for the player at `side`; always possible, because a zone is never full."""
    own_kind: Kind = table.colour[side]
    discs = {i: np.array(d[1:]) for i, d in table.discs.items() if d[0] != "striker"}
    own = {i: discs[i] for i in discs if table.discs[i][0] == own_kind}
    dark = dark_ids(table, side)
    light = {i: p for i, p in own.items() if i not in dark}
    places = _places(rng, side, list(discs.values()))
    if rng.random() < ERR_SHARE:
        wrong = _wrong(rng, discs, own, dark, places, side)
        if wrong is not None:
            return wrong
    if not own:  # 20.4: the other player's only series goes on with none of one's own on the table
        return _gap(rng, discs, places, side) or _ahead(rng, places, side)
    if light:
        best = _best_pot(light, discs, places, surface, side)
        if best is not None:
            return _struck(rng, *best, "pot")
        hit = _hit(rng, light, discs, places, "hit", (1600.0, 4200.0), side)
        return hit or _bank(rng, light, places, side)
    return _bank(rng, own, places, side)


def _places(rng: np.random.Generator, side: Side, discs: list[Vec]) -> Vec:
    """Lawful places: no line in the striker's hole, no piece touched (12.3, 12.4)."""
    toward = np.array(TOWARD[side], dtype=np.float64)
    across = np.array([-toward[1], toward[0]])
    hidden = hole_radius_mm("striker") + 1.5
    deep = (ZONE_LINE_MM + hidden + 4, HALF_MM - RS - 12)
    wide = ZONE_LINE_MM - hidden
    found: list[Vec] = []
    for span in (0.6, 0.8, 1.0):
        for _ in range(60):
            at = toward * rng.uniform(*deep) + across * rng.uniform(-wide, wide) * span
            if all(math.hypot(*(at - d)) > RS + RP + CLEAR_MM for d in discs):
                found.append(at)
        if len(found) >= 25:
            break
    return np.array(found)


def _clear(starts: Vec, ends: Vec, others: Vec, reach: float) -> NDArray[np.bool_]:
    """Which of the ways starts (P, 2) -> ends (P, 2) keep `reach` mm from all others (D, 2)."""
    way = ends - starts
    from_start = others[None] - starts[:, None]
    share = np.clip((from_start * way[:, None]).sum(axis=2) / np.maximum((way**2).sum(axis=1), 1e-9)[:, None], 0, 1)
    gap = from_start - share[..., None] * way[:, None]
    out: NDArray[np.bool_] = ((gap**2).sum(axis=2) >= reach * reach).all(axis=1)
    return out


def _others(discs: dict[str, Vec], skip: str) -> Vec:
    return np.array([p for i, p in discs.items() if i != skip]).reshape(-1, 2)


def _best_pot(light: dict[str, Vec], discs: dict[str, Vec], places: Vec, surface: Surface, side: Side) -> tuple[Vec, Vec, float] | None:
    best: tuple[float, Vec, Vec, float] | None = None
    ahead = -np.array(TOWARD[side], dtype=np.float64)
    for i, target in light.items():
        others = _others(discs, i)
        for pocket in POCKETS_MM.values():
            to = np.array(pocket) - target
            away = math.hypot(*to)
            ghost = target - to / max(away, 1e-9) * (RS + RP)
            if away < 60 or max(abs(ghost)) > HALF_MM - RS or not _clear(target[None], np.array([pocket]), others, 2 * RP - 0.5)[0]:
                continue
            line = ghost - places
            far = np.hypot(line[:, 0], line[:, 1])
            cut = (line @ to) / np.maximum(far * away, 1e-9)
            good = (
                (cut >= 0.5)
                & (far >= 60)
                & (line @ ahead > FORWARD * far)
                & _clear(places, np.broadcast_to(ghost, places.shape), others, RS + RP + 0.5)
            )
            if not good.any():
                continue
            score = np.where(good, cut - 0.0004 * away - 0.0002 * far, -np.inf)
            k = int(score.argmax())
            if best is None or score[k] > best[0]:
                best = float(score[k]), places[k], line[k] / far[k], _speed(float(cut[k]), away, float(far[k]), surface)
    return None if best is None else best[1:]


def _speed(cut: float, away: float, far: float, surface: Surface) -> float:
    """Speed that sends the piece somewhat farther than its pocket."""
    drag = 2 * surface.mu * GRAVITY_MM_S2
    piece = math.sqrt(drag * (away + 250)) * 1.15
    ms, mp = mass_g("striker"), mass_g("red")
    at_hit = piece / (cut * (1 + surface.e_disc) * ms / (ms + mp))
    return min(MAX_MM_S, math.sqrt(at_hit**2 + drag * far))


def _struck(rng: np.random.Generator, at: Vec, unit: Vec, speed: float, intent: Intent) -> Plan:
    turn = float(rng.normal(0, AIM_SD_RAD))
    pace = speed * float(np.clip(1 + rng.normal(0, SPEED_SD), 0.8, 1.2))
    c, s = math.cos(turn), math.sin(turn)
    return Plan(float(at[0]), float(at[1]), pace * (c * unit[0] - s * unit[1]), pace * (s * unit[0] + c * unit[1]), intent)


def _hit(
    rng: np.random.Generator,
    targets: dict[str, Vec],
    discs: dict[str, Vec],
    places: Vec,
    intent: Intent,
    pace: tuple[float, float],
    side: Side,
) -> Plan | None:
    """At one of the targets, full, past all others; None where none can be reached like that."""
    ahead = -np.array(TOWARD[side], dtype=np.float64)
    choice: list[tuple[str, Vec]] = []
    for i in sorted(targets):
        line = targets[i] - places
        free = _clear(places, np.broadcast_to(targets[i], places.shape), _others(discs, i), RS + RP + 0.5)
        free &= line @ ahead > FORWARD * np.hypot(line[:, 0], line[:, 1])
        choice.extend((i, places[k]) for k in np.flatnonzero(free)[:6])
    if not choice:
        return None
    i, at = choice[int(rng.integers(len(choice)))]
    line = targets[i] - at + rng.normal(0, 5, 2)
    return _struck(rng, at, line / math.hypot(*line), float(rng.uniform(*pace)), intent)


def _bank(rng: np.random.Generator, own: dict[str, Vec], places: Vec, side: Side) -> Plan:
    """Only dark pieces: over the opposite rail, where the striker's image in the rail sees the piece."""
    ids = sorted(own)
    target = own[ids[int(rng.integers(len(ids)))]]
    at = places[int(rng.integers(len(places)))]
    far = np.array(TOWARD[OPPOSITE[side]], dtype=np.float64)
    wall = HALF_MM - RS
    out, back = wall - float(far @ at), wall - float(far @ target)
    across = np.array([-far[1], far[0]])
    shift = float(across @ (target - at))
    slip = 0.95 / 0.7  # the rail takes more of the normal than of the tangential speed
    line = far * out + across * (shift * out / (out + back * slip))
    return _struck(rng, at, line / math.hypot(*line), float(rng.uniform(2300, 3400)), "bank")


def _wrong(rng: np.random.Generator, discs: dict[str, Vec], own: dict[str, Vec], dark: set[str], places: Vec, side: Side) -> Plan | None:
    other = {i: p for i, p in discs.items() if i not in own}
    hidden = {i: p for i, p in own.items() if i in dark}
    kind = ("opponent", "opponent", "miss", "dark")[int(rng.integers(4))]
    if kind == "dark" and hidden:
        return _hit(rng, hidden, discs, places, "dark", (900.0, 2000.0), side)
    if kind == "miss":
        return _gap(rng, discs, places, side)
    return _hit(rng, other, discs, places, "opponent", (1000.0, 2500.0), side) if other else None


def _ahead(rng: np.random.Generator, places: Vec, side: Side) -> Plan:
    return _struck(rng, places[0], -np.array(TOWARD[side], dtype=np.float64), 1500.0, "miss")


def _gap(rng: np.random.Generator, discs: dict[str, Vec], places: Vec, side: Side) -> Plan | None:
    toward = -np.array(TOWARD[side], dtype=np.float64)
    across = np.array([-toward[1], toward[0]])
    for _ in range(20):
        at = places[int(rng.integers(len(places)))]
        unit = toward + across * rng.uniform(-0.7, 0.7)
        unit /= math.hypot(*unit)
        if _clear(at[None], (at + unit * 700)[None], _others(discs, ""), RS + RP + 6)[0]:
            return _struck(rng, at, unit, float(rng.uniform(900, 1250)), "miss")
    return None
