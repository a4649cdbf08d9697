"""The empty table as the camera sees it: floor, rails with their inner faces, wood, lines, pockets, light. Drawn once.

Every edge is a distance in the plane where it lies, turned into coverage: nothing is sampled, so nothing is jagged or shifted.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from rules.table import HALF_LINE_MM, HALF_MM, POCKET_RADIUS_MM, POCKETS_MM, RAIL_HEIGHT_MM, RAIL_WIDTH_MM, SIDES
from virtual_table.look import Look
from virtual_table.optics import Optics
from virtual_table.shading import Field, edge, lamp_vector, lift, light_colour, noise_texture, sample, soft, wood_texture

SLAB_MM: Final = 18.0  # thickness of the table top: the wall seen inside a pocket
BAG_MM: Final = 110.0  # depth of the cloth bags
FLOOR_MM: Final = -750.0  # 24.3: tables stand about this high
_TEX_MM: Final = 0.6  # texel of the wood


def draw_background(optics: Optics, look: Look) -> tuple[Field, Field]:
    """Linear light BGR (height, width, 3), and the lamps' mirror image in anything lacquered (height, width); float32."""
    rng = np.random.default_rng([look.seed, 303])
    ground = optics.ground_mm
    centre = optics.centre_mm
    scale = _scale(ground)
    out = _floor(lift(ground, centre, FLOOR_MM), look, rng)
    high = lift(ground, centre, RAIL_HEIGHT_MM)
    across = np.abs(high).max(axis=2)
    rails = _rail_top(high, look, rng)
    out = _blend(out, rails, edge((HALF_MM + RAIL_WIDTH_MM - across) * scale, look.blur_px))
    inner = _inner(ground, scale, optics, look, rng)
    out = _blend(out, inner, edge((HALF_MM - across) * scale, look.blur_px))
    colour = np.array(light_colour(look), dtype=np.float32)
    glare = _glare(ground, optics, look, rng)
    lacquer = glare * (np.abs(high).max(axis=2) < HALF_MM)
    for px, py in POCKETS_MM.values():
        lacquer *= np.hypot(ground[..., 0] - px, ground[..., 1] - py) > POCKET_RADIUS_MM
    shaded = out * _lamps(ground, look)[..., None] + lacquer[..., None]
    picture = shaded * colour * vignette(optics, look)[..., None]
    return picture.astype(np.float32), glare.astype(np.float32)


def _scale(ground: Field) -> Field:
    """Pixels per mm on the ground, per pixel."""
    dx = np.gradient(ground, axis=1)
    dy = np.gradient(ground, axis=0)
    area = np.abs(dx[..., 0] * dy[..., 1] - dx[..., 1] * dy[..., 0])
    out: Field = (1 / np.sqrt(np.maximum(area, 1e-6))).astype(np.float32)
    return out


def _blend(under: Field, over: Field, cover: Field) -> Field:
    out: Field = under + (over - under) * cover[..., None]
    return out


def _floor(at: Field, look: Look, rng: np.random.Generator) -> Field:
    colour = np.array(look.floor, dtype=np.float32)
    texture = wood_texture(rng, 600, 600) * 0.5 + noise_texture(rng, (600, 600), (60, 60)) * 0.5
    value = sample(texture, at[..., 0] / 4, at[..., 1] / 4)
    board = np.abs((at[..., 1] / 140) % 1 - 0.5)
    out: Field = colour * (1 + 0.15 * value - 0.5 * soft(board, 0.485, 0.5))[..., None] * 0.8
    return out


def _rail_top(high: Field, look: Look, rng: np.random.Generator) -> Field:
    texture = wood_texture(rng, 256, 2048)
    x, y = high[..., 0], high[..., 1]
    along_x = np.abs(y) > np.abs(x)  # mitred corners
    u = np.where(along_x, x, y) / _TEX_MM + 1024
    v = np.where(along_x, y, x) / _TEX_MM
    value = sample(texture, u, v)
    mitre = soft(np.abs(np.abs(x) - np.abs(y)).astype(np.float32), 1.2, 0.2) * soft(np.maximum(np.abs(x), np.abs(y)), 499, 500)
    out: Field = np.array(look.rail, dtype=np.float32) * (1 + 1.2 * look.grain * value - 0.35 * mitre)[..., None]
    return out


def _inner(ground: Field, scale: Field, optics: Optics, look: Look, rng: np.random.Generator) -> Field:
    x, y = ground[..., 0], ground[..., 1]
    across = np.maximum(np.abs(x), np.abs(y))
    # The face's height at which the ray meets it: 0 at the table's corner line, RAIL_HEIGHT at the rail's edge.
    height = np.clip((across - HALF_MM) / 12, 0, 1)
    to_light = lamp_vector(look)
    normal = np.where(np.abs(x) > np.abs(y), -np.sign(x) * -to_light[0], -np.sign(y) * -to_light[1])
    lit = np.clip(0.55 + 0.35 * normal, 0.2, 1.3)
    face = np.array(look.rail, dtype=np.float32) * (lit * (0.55 + 0.45 * height))[..., None]
    table = _table(ground, scale, look, rng)
    out = _blend(face.astype(np.float32), table, edge((HALF_MM - across) * scale, look.blur_px))
    deep = lift(ground, optics.centre_mm, -SLAB_MM)
    bag = lift(ground, optics.centre_mm, -BAG_MM)
    folds = noise_texture(rng, (256, 256), (6, 48))
    for px, py in POCKETS_MM.values():
        rows, columns = _box(ground, px, py, 75.0)
        here, low, sack = ground[rows, columns], deep[rows, columns], bag[rows, columns]
        away = np.hypot(here[..., 0] - px, here[..., 1] - py)
        below = np.hypot(low[..., 0] - px, low[..., 1] - py)
        sunk = np.hypot(sack[..., 0] - px, sack[..., 1] - py)
        turn = np.arctan2(sack[..., 1] - py, sack[..., 0] - px)
        shade = (0.35 + 0.9 * soft(sunk, 10, 60)) * (1 + 0.15 * sample(folds, np.abs(turn) * 80, sunk * 2))
        cloth = np.array(look.cloth, dtype=np.float32) * shade[..., None]
        side = ((here[..., 0] - px) * -to_light[0] + (here[..., 1] - py) * -to_light[1]) / POCKET_RADIUS_MM
        wall = np.array(look.wood, dtype=np.float32) * np.clip(0.42 - 0.25 * side, 0.1, 0.8)[..., None]
        local = scale[rows, columns]
        hole = _blend(wall.astype(np.float32), cloth.astype(np.float32), edge((POCKET_RADIUS_MM - below) * local, look.blur_px))
        out[rows, columns] = _blend(out[rows, columns], hole, edge((POCKET_RADIUS_MM - away) * local, look.blur_px))
    return out


def _box(ground: Field, x: float, y: float, half_mm: float) -> tuple[slice, slice]:
    near = (np.abs(ground[..., 0] - x) < half_mm) & (np.abs(ground[..., 1] - y) < half_mm)
    rows, columns = np.flatnonzero(near.any(axis=1)), np.flatnonzero(near.any(axis=0))
    if not len(rows):
        return slice(0, 0), slice(0, 0)
    return slice(int(rows[0]), int(rows[-1]) + 1), slice(int(columns[0]), int(columns[-1]) + 1)


def _table(ground: Field, scale: Field, look: Look, rng: np.random.Generator) -> Field:
    x, y = ground[..., 0], ground[..., 1]
    texture = wood_texture(rng, 2048, 2048)
    along, over = (x, y) if look.grain_along_x else (y, x)
    grain = sample(texture, along / _TEX_MM + 1024, over / _TEX_MM + 1024)
    colour = np.array(look.wood, dtype=np.float32) * (1 + look.grain * grain)[..., None]
    worn = noise_texture(rng, (512, 512), (10, 10))
    patchy = sample(worn, x / 2 + 256, y / 2 + 256)
    colour = colour * (1 + 0.03 * patchy)[..., None]
    haze = np.clip(look.powder * (0.5 + 0.5 * sample(worn, y / 2.3 + 256, x / 2.3 + 256)), 0, 0.8).astype(np.float32)
    colour = _blend(colour, np.full_like(colour, 0.62), haze)
    colour = colour * (1 + 0.35 * _scratches(ground, scale, look, rng))[..., None]
    ink = _lines(ground, scale, look, rng) * (1 - 0.6 * haze)
    colour = colour * (1 - look.line * ink)[..., None]
    to_rail = HALF_MM - np.maximum(np.abs(x), np.abs(y))
    colour = colour * (1 - 0.30 * np.exp(-np.maximum(to_rail, 0) / 14))[..., None]
    sx, sy, softness = lamp_vector(look)
    shade = np.zeros_like(x)
    for inward, at in ((sx, HALF_MM + x), (-sx, HALF_MM - x), (sy, HALF_MM + y), (-sy, HALF_MM - y)):
        reach = inward * RAIL_HEIGHT_MM
        if reach > 1:
            shade = np.maximum(shade, soft(at, reach * (1 + softness / 2), reach * (1 - softness / 2)))
    out: Field = (colour * (1 - look.shadow * shade)[..., None]).astype(np.float32)
    return out


def _scratches(ground: Field, scale: Field, look: Look, rng: np.random.Generator) -> Field:
    """Thin bright or dark arcs that striker and nails have left; -1..1."""
    out = np.zeros(ground.shape[:2], dtype=np.float32)
    for _ in range(look.scratches):
        x, y, radius = rng.uniform(-430, 430), rng.uniform(-430, 430), rng.uniform(60, 900)
        turn, wide = rng.uniform(0, 2 * np.pi), rng.uniform(0.2, 0.6)
        cx, cy = x - radius * math.cos(turn), y - radius * math.sin(turn)
        long = rng.uniform(20, 120)
        off = np.abs(np.hypot(ground[..., 0] - cx, ground[..., 1] - cy) - radius)
        near = np.hypot(ground[..., 0] - x, ground[..., 1] - y)
        depth = rng.uniform(0.3, 1.0) * (1 if rng.random() < 0.7 else -1)
        cover = edge((wide / 2 - off) * scale, look.blur_px) * np.minimum(wide * scale, 1) * soft(near, long, long * 0.6)
        out += np.float32(depth) * cover
    clipped: Field = np.clip(out, -1, 1)
    return clipped


def _lines(ground: Field, scale: Field, look: Look, rng: np.random.Generator) -> Field:
    """Share of each pixel that ink covers."""
    x, y = ground[..., 0], ground[..., 1]
    fade = noise_texture(rng, (512, 512), (40, 40))
    gaps = noise_texture(rng, (512, 512), (70, 70))
    strength = np.clip(1 - look.line_fade * (0.5 + 0.5 * sample(fade, x / 2.2 + 256, y / 2.2 + 256)), 0.05, 1)
    if look.line_broken > 0:
        limit = float(np.quantile(gaps, 1 - look.line_broken))
        strength = strength * soft(sample(gaps, y / 2.2 + 256, x / 2.2 + 256), limit + 0.05, limit - 0.05)
    ink = np.zeros_like(x)

    def stroke(distance: Field, inside: Field) -> None:
        cover = edge((HALF_LINE_MM + distance) * scale, look.blur_px) - edge((distance - HALF_LINE_MM) * scale, look.blur_px)
        np.maximum(ink, cover * edge(inside * scale, look.blur_px), out=ink)

    lines = {side: look.zone(side) for side in SIDES}
    full = look.line_layout == "rail_to_rail"
    end_x = np.full_like(x, HALF_MM) - np.abs(x) if full else np.minimum(lines["E"] - x, lines["W"] + x)
    end_y = np.full_like(y, HALF_MM) - np.abs(y) if full else np.minimum(lines["N"] - y, lines["S"] + y)
    stroke(y - lines["N"], end_x)
    stroke(y + lines["S"], end_x)
    stroke(x - lines["E"], end_y)
    stroke(x + lines["W"], end_y)
    cx, cy, radius = look.circle_mm
    away = np.hypot(x - cx, y - cy)
    stroke(away - radius, np.full_like(x, 9))
    stroke(x - cx, radius - away)
    stroke(y - cy, radius - away)
    if look.midlines:
        stroke(x, np.where(y > 0, y - lines["N"], -y - lines["S"]))
        stroke(y, np.where(x > 0, x - lines["E"], -x - lines["W"]))
    out: Field = (ink * strength).astype(np.float32)
    return out


def _lamps(ground: Field, look: Look) -> Field:
    """Uneven light: brighter toward the lamp."""
    sx, sy, _ = lamp_vector(look)
    slope = {"panels": 0.05, "tubes": 0.08, "warm_side": 0.22, "window": 0.30, "dim": 0.18}[look.lamp]
    size = max((sx * sx + sy * sy) ** 0.5, 1e-6)
    toward = -(ground[..., 0] * sx + ground[..., 1] * sy) / size / HALF_MM
    out: Field = np.clip(1 + slope * toward, 0.35, 1.8).astype(np.float32)
    return out


def vignette(optics: Optics, look: Look) -> Field:
    """Light lost toward the corners, (height, width)."""
    columns = (np.arange(optics.width, dtype=np.float32) - optics.width / 2) ** 2
    rows = (np.arange(optics.height, dtype=np.float32) - optics.height / 2) ** 2
    corner = (optics.width**2 + optics.height**2) / 4
    out: Field = 1 - look.vignetting * (columns[None] + rows[:, None]) / corner
    return out


def _glare(ground: Field, optics: Optics, look: Look, rng: np.random.Generator) -> Field:
    """Lamps mirrored in the lacquer: spots or bars whose place depends on where the camera hangs."""
    cx, cy = (float(c) for c in optics.centre_mm[:2])
    spots: list[tuple[float, float, float, float]] = []  # x, y, half width, half length
    if look.lamp == "panels":
        spots = [(cx * 0.5 - 420, cy * 0.5 + 300, 160, 200), (cx * 0.5 + 250, cy * 0.5 - 380, 160, 200)]
    elif look.lamp == "tubes":
        shift = float(rng.uniform(-60, 60))
        spots = [(cx * 0.5 - 190 + shift, cy * 0.5, 32, 260), (cx * 0.5 + 160 + shift, cy * 0.5 - 30, 32, 260)]
    elif look.lamp == "dim":
        spots = [(cx * 0.5 + float(rng.uniform(-300, 300)), cy * 0.5 + float(rng.uniform(-300, 300)), 45, 45)]
    light = np.zeros(ground.shape[:2], dtype=np.float32)
    x, y = ground[..., 0], ground[..., 1]
    for sx, sy, wide, long in spots:
        across = np.abs(x - sx) / wide
        along = np.maximum(np.abs(y - sy) - long * 0.6, 0) / (wide * 1.6)
        peak = 0.9 if look.lamp == "tubes" else 0.22 if look.lamp == "panels" else 0.5
        light += peak * np.exp(-(across**2) - along**2)
    rough = noise_texture(rng, (512, 512), (256, 256))
    out: Field = light * look.glare * (1 + 0.10 * sample(rough, x / 2 + 256, y / 2 + 256))
    return out
