"""Tables with something over them, rectified, and which cells that something covers: traced tables, and rods and flat things over those.

A table is traced once and shown several times, each time with other hands, shadows and cameras, and at times with none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.training.bodies import OUTSIDE_MM, arm, below, cloth, cue, person
from models.training.casting import NOTHING, cast, shadow
from models.training.flats import Flat, filled, lay, random_flat
from models.training.scene import Scene, whole_table
from models.training.sensor import Sensor
from models.training.tracer import trace
from rules.table import HALF_MM, PIECE_THICKNESS_MM, RAIL_HEIGHT_MM
from vision.occluders import CELLS, HALF_SEEN_MM, centres_mm

Array = NDArray[Any]

PICTURES: Final = 12  # of one table
FINE: Final = 2  # pixels across a cell while bodies are drawn
RAYS: Final = 3  # across a cell while a table is traced
THINGS: Final = ("hands and arms", "a cue", "a person", "things put down")  # what may be over a table, by bit
UNSEEN: Final = 255  # in `cover`: cells outside the picture
FULL: Final = 250  # in `cover`: a cell that is covered altogether
DARKEST: Final = 0.003  # light below which a traced table is not smoothed: few rays leave grain in lamps that it mirrors
HELD_UP_MM: Final = 200.0  # as high up as that, hands no longer dim the sky's light on the table below


@dataclass(frozen=True, slots=True)
class CoverSamples:
    """`cells` (N, CELLS, CELLS, 3) uint8 BGR; `cover` (N, CELLS, CELLS) uint8: 0..`FULL` share, `UNSEEN`; `over` (N,) uint8: a bit for
    each of `THINGS`; `scene` (N,) its number.
    """

    cells: NDArray[np.uint8]
    cover: NDArray[np.uint8]
    over: NDArray[np.uint8]
    scene: NDArray[np.int64]


def _chance(number: int) -> np.random.Generator:
    return np.random.default_rng([number, 909])


def lamp_of_table(number: int) -> str:
    """The sort of lamps over table `number`."""
    return whole_table(_chance(number)).lamp


def covers_of(number: int) -> CoverSamples:
    """All pictures of table `number`; the same number gives the same ones."""
    rng = _chance(number)
    scene = whole_table(rng)
    centres = centres_mm(CELLS * RAYS)
    bare = trace(scene.optics.centre_mm, centres, RAYS, scene.discs, scene.lamps, scene.ambient, scene.tilt, scene.table, number)
    smooth = np.exp(cv2.bilateralFilter(np.log(bare + DARKEST).astype(np.float32), 5, 0.3, 1.5)).astype(np.float64) - DARKEST
    px = scene.optics.to_px(np.c_[centres_mm(CELLS).reshape(-1, 2), np.zeros(CELLS * CELLS)]).reshape(CELLS, CELLS, 2)
    seen = (px >= 0).all(axis=2) & (px[..., 0] <= scene.optics.width - 1) & (px[..., 1] <= scene.optics.height - 1)
    cells, cover, over = zip(*(_one(rng, scene, bare if rng.random() < 0.4 else smooth, seen) for _ in range(PICTURES)), strict=True)
    return CoverSamples(np.stack(cells), np.stack(cover), np.array(over, np.uint8), np.full(PICTURES, number))


def _bodies(rng: np.random.Generator) -> tuple[list[Array], list[Flat], int]:
    """What is over the table: mostly a hand or two, at times a cue, a person, something put down, or nothing; and which of `THINGS`."""
    if rng.random() < 0.2:
        return [], [], 0
    arms: list[Array] = []
    for _ in range(int(rng.choice([0, 1, 2, 3], p=[0.15, 0.55, 0.25, 0.05]))):
        arms += arm(rng)
    cues = cue(rng) if rng.random() < 0.45 else []
    people = person(rng) if rng.random() < 0.18 else []
    flats = [random_flat(rng) for _ in range(int(rng.choice([0, 1, 2], p=[0.75, 0.2, 0.05])))]
    return arms + cues + people, flats, sum(bool(some) << k for k, some in enumerate((arms, cues, people, flats)))


def _one(rng: np.random.Generator, scene: Scene, bare: Array, seen: Array) -> tuple[NDArray[np.uint8], NDArray[np.uint8], int]:
    eye, lamps = scene.optics.centre_mm, scene.lamps
    level = scene.ambient + sum(lamp[9:12] * lamp[2] for lamp in lamps)
    rods, flats, over = _bodies(rng)
    rows = below(rods, eye[2])
    cells = CELLS * FINE
    height, light = cast(rows, eye, HALF_SEEN_MM, cells, lamps, scene.ambient, scene.wood_light)
    for flat in flats:
        lay(rng, flat, eye, HALF_SEEN_MM, height, light, level)
    cover = (height > NOTHING).astype(np.float64)
    near = cover * np.clip(1 - height / HELD_UP_MM, 0, 1)
    if rng.random() < 0.25:
        cover, light = _moved(rng, cover, light * cover[..., None])
    reduced = [cv2.resize(field, (CELLS, CELLS), interpolation=cv2.INTER_AREA) for field in (cover, light, near)]
    cover, light, near = reduced
    aside = below(person(rng, aside=True), eye[2]) if rng.random() < 0.25 else rows[:0]
    under = _ground(rng, bare, eye, level) * _shade(rng, np.concatenate([rows, aside]), flats, scene, level, near)
    field = _slope(rng)
    picture = (under * (1 - cover[..., None]) + light) * field
    picture[~seen] = 0
    sensor = Sensor.random(rng, scene.wood_light)
    # A cell is the mean of many pixels: less noise, no mosaic, and what a pixel's blur does is too small to see.
    sensor = replace(
        sensor,
        mosaic=False,
        full_well=sensor.full_well * 10,
        blur_px=float(rng.uniform(0.2, 0.7)),
        smooth_px=0.0,
        quality=int(rng.choice([0, 0, 95, 90])),
    )
    shares = np.rint(cover * FULL).astype(np.uint8)
    shares[~seen] = UNSEEN
    return sensor.take(rng, picture), shares, over


def _moved(rng: np.random.Generator, cover: Array, light: Array) -> tuple[Array, Array]:
    """Cover and light of what moves while the picture is taken."""
    long, angle = rng.uniform(2, 14), rng.uniform(0, math.pi)
    side = 2 * int(long / 2) + 3
    kernel = np.zeros((side, side), np.float64)
    middle, reach = (side - 1) / 2, np.array([math.cos(angle), math.sin(angle)]) * long / 2
    for share in np.linspace(-1, 1, 8 * side):
        x, y = middle + share * reach
        kernel[round(y), round(x)] += 1
    kernel /= kernel.sum()
    return cv2.filter2D(cover, -1, kernel), cv2.filter2D(light, -1, kernel)


def _shade(rng: np.random.Generator, rods: Array, flats: list[Flat], scene: Scene, level: Array, near: Array) -> Array:
    """Share of the light that reaches each cell, (CELLS, CELLS, 3)."""
    out = np.ones((CELLS, CELLS, 3))
    for lamp in scene.lamps:
        dark = shadow(rods, lamp, HALF_SEEN_MM, CELLS)
        for flat in flats:
            lean = -lamp[:2] / max(lamp[2], 0.2) * flat.top_mm
            own = filled(flat.outline_mm + lean, HALF_SEEN_MM, CELLS).astype(np.float64)
            dark = np.maximum(dark, cv2.GaussianBlur(own, (0, 0), 0.5 + 0.02 * flat.top_mm))
        if rng.random() < 0.15:
            dark = np.maximum(dark, _passing_shadow(rng))
        out -= dark[..., None] * (lamp[9:12] * lamp[2] / level)
    hidden = cv2.GaussianBlur(near, (0, 0), 3.0) * 0.7
    return np.clip(out - hidden[..., None] * scene.ambient / level, 0.02, 1.2)


def _passing_shadow(rng: np.random.Generator) -> Array:
    """The shadow of something far from the table, a straight edge or a band."""
    angle, begins, wide = rng.uniform(0, 2 * math.pi), rng.uniform(-500, 600), rng.choice([2000.0, rng.uniform(20, 300)])
    along = centres_mm(CELLS) @ np.array([math.cos(angle), math.sin(angle)])
    soft = rng.uniform(3, 80)
    return np.asarray(np.clip((along - begins) / soft, 0, 1) * np.clip((begins + wide - along) / soft, 0, 1) * rng.uniform(0.3, 1))


def _slope(rng: np.random.Generator) -> Array:
    """Light that falls off across the table, and toward the picture's corners."""
    at = centres_mm(CELLS) / HALF_MM
    lean = rng.normal(0, rng.choice([0.05, 0.35]), 2)
    return np.asarray(np.exp(at @ lean - rng.uniform(0, 0.15) * (at**2).sum(axis=2)))[..., None]


def _ground(rng: np.random.Generator, bare: Array, eye: Array, level: Array) -> Array:
    """The traced table with the floor around it, and at times powder on it and a disc that runs over it."""
    out = bare.copy()
    at = centres_mm(CELLS)
    high = eye[:2] + (at - eye[:2]) * ((eye[2] - RAIL_HEIGHT_MM) / eye[2])
    beyond = np.abs(high).max(axis=2) > OUTSIDE_MM
    floor = cloth(rng)
    coarse = rng.random((int(rng.integers(4, 40)), int(rng.integers(4, 40)))).astype(np.float32)
    pattern = cv2.resize(coarse, (CELLS, CELLS), interpolation=cv2.INTER_LINEAR)[..., None]
    out[beyond] = ((floor[0:3] * (0.7 + 0.6 * pattern)) * level * rng.uniform(0.2, 1.0))[beyond]
    if rng.random() < 0.15:
        blots = cv2.GaussianBlur(rng.random((CELLS, CELLS)), (0, 0), float(rng.uniform(2, 12)))
        haze = np.clip((blots - np.quantile(blots, 0.7)) / np.ptp(blots) * rng.uniform(0.5, 3), 0, 0.6)[..., None]
        haze[np.abs(at).max(axis=2) > HALF_MM] = 0
        out = out * (1 - haze) + 0.75 * level * haze
    while rng.random() < 0.25:
        out = _runs(rng, out, level)
    return out


def _runs(rng: np.random.Generator, ground: Array, level: Array) -> Array:
    """A disc that moves while the picture is taken."""
    radius = float(rng.choice([15.0, 15.0, 25.0]))
    a, way = rng.uniform(-HALF_MM + radius, HALF_MM - radius, 2), rng.normal(0, 25, 2)
    t = np.clip((centres_mm(CELLS) - a) @ way / max(way @ way, 1.0), 0, 1)
    away = np.linalg.norm(centres_mm(CELLS) - a - t[..., None] * way, axis=2)
    edge = np.clip((radius - away) / 7.0 + 0.5, 0, 1) * min(1.0, 2 * radius / (float(np.linalg.norm(way)) + PIECE_THICKNESS_MM))
    paint = np.array([(0.04, 0.03, 0.45), (0.03, 0.03, 0.03), (0.22, 0.5, 0.7)][int(rng.integers(3))]) * rng.lognormal(0, 0.3, 3)
    return np.asarray(ground + (paint * level - ground) * edge[..., None])
