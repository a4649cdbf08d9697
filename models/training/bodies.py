"""Random hands, arms, cues and people over a table, as rods: spheres swept from one end to the other, their radius changing on the way.

Postures, sizes and colours are wider than life on purpose; what they have in common is what a network is to learn.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rules.table import HALF_MM, RAIL_HEIGHT_MM, RAIL_WIDTH_MM

Array = NDArray[Any]

# Columns of one rod: x y z and radius of both ends (mm), two colours (linear BGR), pattern, its period (mm), depth of folds, gloss, seed.
FIRST, LAST, PAINT, SECOND, PATTERN, PERIOD, FOLDS, GLOSS, SEED = 0, 4, 8, 11, 14, 15, 16, 17, 18
ROD_COLUMNS: Final = 19
PLAIN, ALONG, AROUND, CHECKED, SPOTTED = range(5)  # patterns

OUTSIDE_MM: Final = HALF_MM + RAIL_WIDTH_MM
HIGHEST_SHARE: Final = 0.7  # of the camera's height: nothing is nearer to it
# A hand's fingers: where each begins across the palm and from the wrist, its three bones, its radius (mm; hand of 190 mm).
_FINGERS: Final = (
    (-31.0, 78.0, (32.0, 20.0, 17.0), 7.5),
    (-11.0, 88.0, (42.0, 26.0, 19.0), 8.5),
    (11.0, 89.0, (46.0, 29.0, 20.0), 8.7),
    (31.0, 84.0, (41.0, 25.0, 18.0), 8.3),
)
_SKIN_LIGHT: Final = np.array([0.42, 0.52, 0.78])
_SKIN_DARK: Final = np.array([0.025, 0.045, 0.10])


def _rod(first: Array, r_first: float, last: Array, r_last: float, cover: Array) -> Array:
    return np.concatenate([first, [r_first], last, [r_last], cover])


def skin(rng: np.random.Generator) -> Array:
    """Cover of bare skin of any tone, now and then of a glove."""
    if rng.random() < 0.08:
        return cloth(rng, plain=True)
    dark = rng.uniform(0, 1) ** 1.3
    colour = np.exp((1 - dark) * np.log(_SKIN_LIGHT) + dark * np.log(_SKIN_DARK)) * rng.lognormal(0, 0.1, 3)
    return np.array(
        [*colour, *(colour * rng.lognormal(0, 0.12, 3)), SPOTTED, rng.uniform(8, 40), 0.05, rng.uniform(0, 0.08), rng.integers(9999)]
    )


def _dye(rng: np.random.Generator) -> Array:
    """Any colour, often black, white or grey."""
    sort = rng.random()
    if sort < 0.2:
        return np.full(3, rng.uniform(0.008, 0.05)) * rng.lognormal(0, 0.15, 3)
    if sort < 0.32:
        return np.full(3, rng.uniform(0.5, 0.85)) * rng.lognormal(0, 0.05, 3)
    if sort < 0.45:
        return np.full(3, rng.uniform(0.05, 0.5)) * rng.lognormal(0, 0.08, 3)
    return np.clip(np.exp(rng.normal(-1.9, 1.0, 3)), 0.006, 0.85)


def cloth(rng: np.random.Generator, *, plain: bool = False) -> Array:
    """Cover of a fabric."""
    pattern = PLAIN if plain or rng.random() < 0.6 else int(rng.integers(1, 5))
    return np.array(
        [
            *_dye(rng),
            *_dye(rng),
            pattern,
            rng.uniform(6, 60),
            rng.uniform(0, 0.5),
            rng.choice([0.0, rng.uniform(0, 0.2)]),
            rng.integers(9999),
        ]
    )


def _bent(rng: np.random.Generator) -> tuple[Array, float]:
    """How far each finger's joints are bent (4, 3), rad, and how the fingers are spread."""
    sort = rng.random()
    spread = rng.uniform(0.0, 0.22)
    if sort < 0.35:  # flat or at ease
        bends = np.full((4, 3), rng.uniform(0, 0.5))
    elif sort < 0.55:  # fist
        bends = np.full((4, 3), rng.uniform(0.9, 1.5))
    elif sort < 0.7:  # points
        bends = np.full((4, 3), rng.uniform(0.9, 1.5))
        bends[3] = rng.uniform(0, 0.3)
        if rng.random() < 0.4:
            bends[2] = rng.uniform(0, 0.4)
    elif sort < 0.9:  # pinches or holds
        bends = np.tile([rng.uniform(0.2, 0.9), rng.uniform(0.4, 1.0), rng.uniform(0.2, 0.7)], (4, 1))
    else:
        bends = rng.uniform(0, 1.4, (4, 3))
    return np.clip(bends + rng.normal(0, 0.12, (4, 3)), -0.3, 1.7), spread


def _hand(rng: np.random.Generator, cover: Array) -> list[Array]:
    """A right hand in its own frame: wrist at the origin, fingers toward +y, palm down."""
    bends, spread = _bent(rng)
    rods, wrist = [], np.array([0.0, 0.0, 0.0])
    for k, (across, along, bones, radius) in enumerate(_FINGERS):
        root = np.array([across, along, 0.0])
        rods.append(_rod(np.array([across * 0.45, 12.0, 0.0]), 16.0, root, radius + 4.5, cover))
        aside, down, at, thick = (k - 1.5) * spread + rng.normal(0, 0.03), 0.0, root, radius
        for bone, bend in zip(bones, bends[k], strict=True):
            down += bend
            to = at + bone * np.array([math.sin(aside) * math.cos(down), math.cos(aside) * math.cos(down), -math.sin(down)])
            rods.append(_rod(at, thick, to, thick * 0.9, cover))
            at, thick = to, thick * 0.9
    out, down = rng.uniform(0.2, 1.1), rng.uniform(0, 0.7)
    at, radius = np.array([26.0, 22.0, -4.0]), 11.0
    rods.append(_rod(wrist + (10.0, 5.0, 0.0), 15.0, at, 14.0, cover))
    for bone in (42.0, 32.0, 20.0):
        to = at + bone * np.array([math.sin(out) * math.cos(down), math.cos(out) * math.cos(down), -math.sin(down)])
        rods.append(_rod(at, radius, to, radius * 0.92, cover))
        at, radius, out = to, radius * 0.92, out - rng.uniform(-0.1, 0.6)
    return rods


def _turned(rods: list[Array], rotation: Array, scale: float, at: Array) -> list[Array]:
    out = []
    for rod in rods:
        new = rod.copy()
        for end in (FIRST, LAST):
            new[end : end + 3] = at + scale * (rotation @ rod[end : end + 3])
            new[end + 3] *= scale
        out.append(new)
    return out


def _rotation(yaw: float, roll: float, pitch: float) -> Array:
    """Fingers toward `yaw` (0 is +y), turned about themselves by `roll`, then raised by `pitch`; rad."""
    cy, sy, cr, sr, cp, sp = math.cos(yaw), math.sin(yaw), math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
    about_z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1.0]])
    about_x = np.array([[1.0, 0, 0], [0, cp, -sp], [0, sp, cp]])
    about_y = np.array([[cr, 0, sr], [0, 1.0, 0], [-sr, 0, cr]])
    return about_z @ about_x @ about_y


def _shoulder(rng: np.random.Generator) -> Array:
    """Somewhere beside the table."""
    across, along = OUTSIDE_MM + rng.uniform(60, 350), rng.uniform(-560, 560)
    at = np.array([across if rng.random() < 0.5 else -across, along])
    return np.array([*(at if rng.random() < 0.5 else at[::-1]), rng.uniform(180, 450)])


def arm(rng: np.random.Generator, target: Array | None = None) -> list[Array]:
    """A hand over the table, or its rails, with the arm that holds it out, bare or in a sleeve; `target` (2,) is where the hand is."""
    shoulder = _shoulder(rng)
    reach = rng.uniform(0.02, 1.0)
    at = shoulder[:2] * (1 - reach) + rng.uniform(-HALF_MM, HALF_MM, 2) * reach if target is None else target
    yaw = math.atan2(at[1] - shoulder[1], at[0] - shoulder[0]) - math.pi / 2 + rng.normal(0, 0.3)
    scale, mirrored = rng.uniform(0.78, 1.15), rng.random() < 0.5
    palm_down = rng.random() < 0.75
    cover = skin(rng)
    hand = _hand(rng, cover)
    if mirrored:
        for rod in hand:
            rod[[FIRST, LAST]] *= -1
    rotation = _rotation(yaw, rng.normal(0, 0.3) if palm_down else rng.uniform(-math.pi, math.pi), rng.normal(-0.1, 0.3))
    rods = _turned(hand, rotation, scale, np.zeros(3))
    low = min(min(rod[2] - rod[3], rod[6] - rod[7]) for rod in rods)
    over_rail = max(abs(at)) > HALF_MM - 60
    lift = rng.choice([rng.uniform(0, 15), rng.uniform(0, 90), rng.uniform(0, 220)]) + (RAIL_HEIGHT_MM if over_rail else 0)
    wrist = np.array([*at, lift - low])
    rods = _turned(rods, np.eye(3), 1.0, wrist)
    return rods + _sleeved(rng, rng.uniform(0.85, 1.2) * scale, wrist, rotation @ np.array([0.0, -1.0, 0.0]), shoulder, cover)


def _sleeved(rng: np.random.Generator, scale: float, wrist: Array, back: Array, shoulder: Array, cover: Array) -> list[Array]:
    """Forearm, upper arm, and what covers them."""
    toward = shoulder - wrist
    toward[2] *= 0.5
    along = back + rng.uniform(0.3, 1.2) * toward / max(np.linalg.norm(toward), 1.0)
    along[2] = max(along[2], -0.05) + rng.uniform(0, 0.35)
    along /= np.linalg.norm(along)
    elbow = wrist + along * rng.uniform(220, 290) * scale
    if rng.random() < 0.1:  # an arm that ends anywhere, as when only a part of it was seen while it moved
        shoulder = elbow + (shoulder - elbow) * rng.uniform(0, 0.6)
    bare = [_rod(wrist, 24.0 * scale, wrist + 0.35 * (elbow - wrist), 29.0 * scale, cover)]
    bare += [
        _rod(wrist + 0.35 * (elbow - wrist), 29.0 * scale, elbow, 41.0 * scale, cover),
        _rod(elbow, 41.0 * scale, shoulder, 56.0 * scale, cover),
    ]
    if rng.random() < 0.2:
        return bare
    fabric, wider = cloth(rng), rng.uniform(3, 22)
    starts = rng.choice([rng.uniform(-25, 30), rng.uniform(20, 260)]) / np.linalg.norm(elbow - wrist)
    begin = wrist + min(float(starts), 0.98) * (elbow - wrist)
    rods = [
        *bare,
        _rod(begin, (26.0 + 14.0 * max(starts, 0)) * scale + wider * rng.uniform(0.5, 1.3), elbow, 42.0 * scale + wider, fabric),
        _rod(elbow, 42.0 * scale + wider, shoulder, 58.0 * scale + wider * 1.3, fabric),
    ]
    if rng.random() < 0.2:  # a watch or a bracelet
        across = wrist - 0.02 * (wrist - elbow)
        rods.append(_rod(across, 28.0 * scale, across + 0.07 * (elbow - wrist), 29.0 * scale, cloth(rng, plain=True)))
    return rods


def cue(rng: np.random.Generator) -> list[Array]:
    """A cue from beside the table to a tip over it."""
    from_mm, tip = _shoulder(rng), np.array([*rng.uniform(-HALF_MM, HALF_MM, 2), rng.uniform(6, 60)])
    rise, long, thick = rng.uniform(0.02, 0.3), rng.uniform(700, 1500), rng.uniform(3.5, 6.5)
    way = from_mm[:2] - tip[:2]
    back = np.array([*(way / np.linalg.norm(way)), rise])
    wood = np.array([0.16, 0.36, 0.58]) * rng.lognormal(0, 0.3, 3) if rng.random() < 0.6 else _dye(rng)
    shaft = np.array([*wood, *_dye(rng), PLAIN, 50.0, 0.0, rng.uniform(0, 0.3), rng.integers(9999)])
    butt = shaft.copy()
    if rng.random() < 0.5:
        butt[0:3] = _dye(rng)
    middle = rng.uniform(0.35, 0.8)
    wide = thick + rng.uniform(1, 8)
    half = thick + (wide - thick) * middle
    points = tip, tip + back * long * middle, tip + back * long
    rods = [_rod(points[0], thick, points[1], half, shaft), _rod(points[1], half, points[2], wide, butt)]
    if rng.random() < 0.5:
        ferrule = shaft.copy()
        ferrule[0:3] = _dye(rng)
        rods.append(_rod(tip, thick + 0.3, tip + back * rng.uniform(8, 30), thick + 0.3, ferrule))
    return rods


def person(rng: np.random.Generator, *, aside: bool = False) -> list[Array]:
    """Somebody beside the table who may lean over a rail, head and shoulders; `aside` stands too far away to be seen over it."""
    away = rng.uniform(400, 900) if aside else rng.uniform(-120, 320)
    turn = int(rng.integers(4)) * math.pi / 2
    out, along = np.array([math.cos(turn), math.sin(turn), 0.0]), np.array([-math.sin(turn), math.cos(turn), 0.0])
    middle = out * (OUTSIDE_MM + away) + along * rng.uniform(-550, 550)
    shirt, high = cloth(rng), rng.uniform(100, 420)
    half, thick = rng.uniform(110, 220), rng.uniform(80, 150)
    along = along + out * rng.normal(0, 0.3)
    chest = middle + np.array([0, 0, high])
    rods = [_rod(chest - along * half, thick * 0.8, chest + along * half, thick * 0.8, shirt)]
    rods.append(_rod(middle + out * rng.uniform(0, 250) - np.array([0, 0, 800.0]), thick * 1.3, chest, thick * 1.2, shirt))
    if rng.random() < 0.7:
        head = chest - out * rng.uniform(-60, 220) + along * rng.normal(0, 40) + np.array([0, 0, rng.uniform(60, 260)])
        rods.append(
            _rod(
                head,
                rng.uniform(75, 105),
                head + out * rng.uniform(0, 50),
                rng.uniform(75, 105),
                cloth(rng) if rng.random() < 0.7 else skin(rng),
            )
        )
    return rods


def below(rods: list[Array], eye_height_mm: float) -> Array:
    """Rods (N, 19) of which nothing is nearer to the camera than it may be."""
    out = np.array(rods).reshape(-1, ROD_COLUMNS)
    for end in (FIRST, LAST):
        out[:, end + 2] = np.minimum(out[:, end + 2], HIGHEST_SHARE * eye_height_mm - out[:, end + 3])
    return out
