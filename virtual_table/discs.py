"""Discs as solids: upper face, side, bored hole that shows the table below, contact shadow - in closed form.

On the ground plane seen from the camera a disc's circle at height z is again a circle, so every outline is a distance; exposure is
the mean over instants, in linear light.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rules.table import Kind, hole_radius_mm, radius_mm, thickness_mm
from virtual_table.look import STRIKERS, Look
from virtual_table.shading import Field, edge, lamp_vector, light_colour, soft

_HALO_MM: Final = 9.0  # how far contact darkening reaches
# Shares of light, chosen by eye beside path-traced pictures of such discs.
_SIDE_LIGHT: Final = 0.50  # on the side, without a lamp to the side
_SIDE_TURN: Final = 0.30  # more or less of it, and of the bevel's, toward and away from the lamp
_BEVEL_LOSS: Final = 0.10  # the rounded edge sees less of the ceiling
_WALL_LOSS: Final = 0.72  # inside the hole
_BARE_WOOD: Final[Field] = np.array((0.18, 0.36, 0.55), dtype=np.float32)  # under the paint; linear BGR
_SHARP: Final = 3  # instants; with more of them the wear of the paint is blurred away and is not worked out
_FLAT: Final[Field] = np.full((1, 1), 0.4, dtype=np.float32)  # mean of the wear that is not worked out
_GLOSS: Final = 0.3  # a disc's paint mirrors this share of what the table's lacquer does
_BEVEL_MM: Final = 1.3  # rounded edge of the faces


@dataclass(frozen=True, slots=True)
class Spot:
    """A disc at one instant: axis on the table plane, height of its lower face, angle about its axis, velocity."""

    id: str
    kind: Kind
    x_mm: float
    y_mm: float
    z_mm: float = 0.0
    angle_rad: float = 0.0
    vx_mm_s: float = 0.0
    vy_mm_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Painted:
    """Mean of a disc over an exposure: `colour` is premultiplied by `cover`; `shade` is how much light the table below loses."""

    colour: Field
    cover: Field
    shade: Field


class DiscPainter:
    """Paints discs for one camera and one look; holds no state between calls."""

    def __init__(self, centre_mm: NDArray[np.float64], look: Look) -> None:
        self._cx, self._cy, self._cz = (float(c) for c in centre_mm)
        self._look = look
        self._lamp = lamp_vector(look)
        self._light = np.array(light_colour(look), dtype=np.float32)
        self._tints: dict[str, tuple[Field, float, float]] = {}

    def reach_mm(self, spot: Spot) -> tuple[float, float, float, float]:
        """Box on the ground plane (x0, y0, x1, y1) that holds disc, halo and shadow."""
        radius, high = radius_mm(spot.kind), thickness_mm(spot.kind) + max(spot.z_mm, 0)
        x1, y1, grow = self._seen(spot.x_mm, spot.y_mm, spot.z_mm + thickness_mm(spot.kind))
        x0, y0, _ = self._seen(spot.x_mm, spot.y_mm, spot.z_mm)
        sx, sy = spot.x_mm + self._lamp[0] * high, spot.y_mm + self._lamp[1] * high
        pad = radius * max(grow, 1) + _HALO_MM
        return min(x0, x1, sx) - pad, min(y0, y1, sy) - pad, max(x0, x1, sx) + pad, max(y0, y1, sy) + pad

    def _seen(self, x: float, y: float, z: float) -> tuple[float, float, float]:
        """Where on the ground plane a point at height z appears, and by how much a length there grows."""
        grow = self._cz / (self._cz - z)
        return self._cx + (x - self._cx) * grow, self._cy + (y - self._cy) * grow, grow

    def _tint(self, disc_id: str, kind: Kind) -> tuple[Field, float, float]:
        """Own colour of each disc (paint and wear differ from disc to disc), wear share, texture phase."""
        if disc_id not in self._tints:
            rng = np.random.default_rng([self._look.seed, 404, *disc_id.encode()])
            base = STRIKERS[self._look.striker] if kind == "striker" else self._look.red if kind == "red" else self._look.black
            colour = np.array(base, dtype=np.float32) * np.float32(rng.lognormal(0, 0.12)) * rng.lognormal(0, 0.06, 3).astype(np.float32)
            self._tints[disc_id] = (colour, float(self._look.wear * rng.uniform(0.2, 1.4)), float(rng.uniform(0, 6.28)))
        return self._tints[disc_id]

    def paint(self, ground: Field, px_per_mm: float, spots: list[Spot], glare: Field | None = None) -> Painted:
        """One disc at the given instants of an exposure, over the patch `ground` (h, w, 2) mm; `glare` (h, w): mirrored lamps."""
        colour = np.zeros((*ground.shape[:2], 3), dtype=np.float32)
        cover = np.zeros(ground.shape[:2], dtype=np.float32)
        shade = np.zeros(ground.shape[:2], dtype=np.float32)
        for spot in spots:
            self._instant(ground, px_per_mm, spot, colour, cover, shade, glare, detail=len(spots) <= _SHARP)
        share = np.float32(1 / len(spots))
        return Painted(colour * share, cover * share, shade * share)

    def _instant(
        self, ground: Field, scale: float, spot: Spot, colour: Field, cover: Field, shade: Field, glare: Field | None, *, detail: bool
    ) -> None:
        look = self._look
        radius, hole, thick = radius_mm(spot.kind), hole_radius_mm(spot.kind), thickness_mm(spot.kind)
        x, y = ground[..., 0], ground[..., 1]
        x0, y0, grow0 = self._seen(spot.x_mm, spot.y_mm, spot.z_mm)
        x1, y1, grow1 = self._seen(spot.x_mm, spot.y_mm, spot.z_mm + thick)
        top_x, top_y = x - np.float32(x1), y - np.float32(y1)
        from_top = np.hypot(top_x, top_y)
        from_low = np.hypot(x - np.float32(x0), y - np.float32(y0))
        blur = look.blur_px
        top = edge((radius * grow1 - from_top) * scale, blur)
        body = np.maximum(top, edge(_capsule(ground, x0, y0, radius * grow0, x1, y1, radius * grow1) * scale, blur))
        bore = edge((hole * grow1 - from_top) * scale, blur)
        through = np.minimum(bore, edge((hole * grow0 - from_low) * scale, blur))
        own, wear, phase = self._tint(spot.id, spot.kind)
        dim = math.exp(min(spot.z_mm, 0) / 25)  # deeper in the bag is darker
        # Light on face and side: the face sees the whole lamp, the side only when turned to it, the bevel in between.
        lx, ly = -self._lamp[0], -self._lamp[1]
        size = max(math.hypot(lx, ly), 1e-6)
        out = np.maximum(from_top, 1e-3)
        facing = (top_x * (lx / size) + top_y * (ly / size)) / out
        tilt = min(size, 1.2)
        bevel = soft(from_top, radius * grow1 - _BEVEL_MM, radius * grow1) + soft(from_top, hole * grow1 + 0.8, hole * grow1) * 0.6
        face = 1.0 + bevel * (_SIDE_TURN * tilt * facing - _BEVEL_LOSS)
        rough, flecks = self._worn(top_x, top_y, from_top, spot.angle_rad, phase) if detail else (_FLAT, _FLAT)
        rubbed = wear * np.clip(0.12 * rough + 1.3 * bevel * flecks, 0, 1)
        painted = (
            own + (_BARE_WOOD - own) * rubbed[..., None]
            if spot.kind != "striker" or look.striker != "bare"
            else own * (0.97 + 0.06 * rough[..., None])
        )
        side = np.clip(_SIDE_LIGHT + _SIDE_TURN * tilt * facing, 0.15, 1.0)
        light = self._light * np.float32(dim)
        surface = painted * (face * top + side * (1 - top))[..., None]
        surface = surface * (1 - _WALL_LOSS * (bore - through * bore))[..., None]
        if glare is not None and spot.z_mm > -1:
            surface = surface + (_GLOSS * glare * top * (1 - bore) * (1 - 0.5 * rubbed))[..., None]
        solid = body * (1 - through)
        colour += surface * light * solid[..., None]
        cover += solid
        if spot.z_mm > -1:
            shade += self._shade(ground, spot, radius, thick, from_low) * (1 - through) + self._bored(ground, spot, hole, thick) * through

    @staticmethod
    def _worn(x: Field, y: Field, from_top: Field, angle_rad: float, phase: float) -> tuple[Field, Field]:
        """Uneven paint, and flecks where it has chipped off the edge; both 0..1 and turning with the disc."""
        turn = np.arctan2(y, x) - angle_rad + phase
        rough = 0.5 + 0.5 * np.sin(turn * 2 + phase + 1.7 * np.sin(turn + from_top * 0.25))
        flecks = soft(np.sin(turn * 7 + 2.1 * np.sin(turn * 3 + phase)) + 0.6 * np.sin(turn * 17 + 3 * phase), 0.1, 0.9)
        return rough, flecks

    def _bored(self, ground: Field, spot: Spot, hole: float, thick: float) -> Field:
        """Share of light lost at the bottom of the hole: only where the lamp shines through it, and some of the sky above it."""
        sx, sy, softness = self._lamp
        reach = math.hypot(sx, sy) * thick
        shifted = np.hypot(ground[..., 0] - np.float32(spot.x_mm + sx * thick), ground[..., 1] - np.float32(spot.y_mm + sy * thick))
        lit = soft(hole - shifted, -(1.0 + softness * reach / 2), 1.0 + softness * reach / 2)
        out: Field = 0.85 - 0.55 * lit / (1 + softness)
        return out

    def _shade(self, ground: Field, spot: Spot, radius: float, thick: float, from_low: Field) -> Field:
        """Share of light lost on the table: cast shadow with penumbra, and the dark crease where wood meets wood."""
        look = self._look
        sx, sy, softness = self._lamp
        high = spot.z_mm + thick
        reach = math.hypot(sx, sy) * high
        blur_mm = 1.2 + softness * reach / 2
        low_x, low_y = spot.x_mm + sx * spot.z_mm, spot.y_mm + sy * spot.z_mm
        inside = _capsule(ground, low_x, low_y, radius, spot.x_mm + sx * high, spot.y_mm + sy * high, radius)
        cast = soft(inside, -blur_mm, blur_mm) * look.shadow
        crease = 0.45 * np.exp(-np.maximum(from_low - radius, 0) / 2.2 - max(spot.z_mm, 0) / 4)
        out: Field = (1 - (1 - cast) * (1 - crease)).astype(np.float32)
        return out


def _capsule(ground: Field, x0: float, y0: float, r0: float, x1: float, y1: float, r1: float) -> Field:
    """Signed distance inside the hull of two circles of nearly equal radius (positive inside), mm."""
    dx, dy = x1 - x0, y1 - y0
    long2 = max(dx * dx + dy * dy, 1e-9)
    px, py = ground[..., 0] - np.float32(x0), ground[..., 1] - np.float32(y0)
    t = np.clip((px * dx + py * dy) / long2, 0, 1)
    out: Field = (r0 + (r1 - r0) * t - np.hypot(px - dx * t, py - dy * t)).astype(np.float32)
    return out
