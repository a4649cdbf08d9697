"""Which part of a disc every line of sight meets, as smooth functions of the disc's place and size.

Outline of the solid, crest (the widest ring of the rounded upper edge), flat of the face, rim of the hole, and floor seen through
it. Each is a signed distance in mm (negative inside) with its gradient, so that the fit needs no numerical differences.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from vision.discs.rays import Rays
from vision.discs.solid import EDGE_ROUNDING_MM

Array = NDArray[np.float64]

FOOT_MM: Final = 0.5  # the lower edge is rounded too: the outline leaves the table this far up, mm
# In a lamp's reflection the lacquer mirrors the wall: what stands out dark reaches down to the mirrored crest, mm.
MIRRORED_FOOT_MM: Final = -10.5
FACE_IN_MM: Final = 2.7  # the face begins to bend down this far inside the radius, mm
HOLE_DOWN_MM: Final = 1.0  # and lies this much below the face's height: faces are turned a little hollow
HOLE_OUT_MM: Final = 0.2  # the hole's rim is rounded: its dark starts a little outside the bored radius, mm
LEAST_RIM_MM: Final = 0.3  # seen flat from the side the rim shrinks; below this its coordinate would jump

STATE: Final = 5  # x, y, radius, height, foot


@dataclass(frozen=True, slots=True)
class Curve:
    """Signed distance (N,) in mm and its derivatives (N, 5) by x, y, radius, height and foot."""

    distance: Array
    gradient: Array

    def cover(self, blur_mm: float) -> Array:
        """Share of each pixel's light that comes from inside, 0..1, for a Gaussian blur."""
        inside: Array = ndtr(self.distance / -blur_mm)
        return inside

    def density(self, blur_mm: float) -> Array:
        """Minus the derivative of `cover` by the distance, 1/mm."""
        out: Array = np.exp(-0.5 * (self.distance / blur_mm) ** 2) / (blur_mm * math.sqrt(2 * math.pi))
        return out


@dataclass(frozen=True, slots=True)
class Curves:
    """The curves, the directions (N, 2) from the axis at outline and face, and the distance (N,) from the axis at the face."""

    outline: Curve
    crest: Curve
    face: Curve
    hole: Curve
    floor: Curve
    outline_direction: Array
    face_direction: Array
    face_distance: Array

    def rim(self) -> Curve:
        """Coordinate across the rounded edge, 0 at the flat of the face, 1 at the crest, clipped there."""
        inner, outer = self.face.distance, self.crest.distance
        width = np.maximum(inner - outer, LEAST_RIM_MM)
        place = np.clip(inner / width, 0.0, 1.0)
        slope = (inner[:, None] * self.crest.gradient - outer[:, None] * self.face.gradient) / (width * width)[:, None]
        return Curve(place, slope * ((place > 0) & (place < 1))[:, None])


def _circle(offset: Array, radius: float, radius_grows: float, rise: Array | None) -> tuple[Curve, Array, Array]:
    distance = np.sqrt(offset[:, 0] ** 2 + offset[:, 1] ** 2) + 1e-9
    unit = offset / distance[:, None]
    gradient = np.empty((len(offset), STATE))
    gradient[:, :2] = -unit
    gradient[:, 2] = -radius_grows
    gradient[:, 3] = 0.0 if rise is None else (unit * rise).sum(axis=1)
    gradient[:, 4] = 0.0
    return Curve(distance - radius, gradient), unit, distance


def outline_distance(rays: Rays, state: Array) -> Array:
    """Signed distance (N,) in mm of every line of sight from the solid with `state` = x, y, radius, height, foot."""
    offset, _ = _nearest(rays, state)
    out: Array = np.sqrt(offset[:, 0] ** 2 + offset[:, 1] ** 2) - state[2]
    return out


def _nearest(rays: Rays, state: Array) -> tuple[Array, Array]:
    """Offset from the axis (N, 2) and height (N,) where a line of sight passes nearest to it between foot and crest."""
    from_axis = rays.floor_mm - state[:2]
    slope = rays.slope
    free = -(from_axis * slope).sum(axis=1) / ((slope * slope).sum(axis=1) + 1e-12)
    height = np.clip(free, state[4], state[3] - EDGE_ROUNDING_MM)
    return from_axis + slope * height[:, None], height


def curves(rays: Rays, state: Array, hole_radius_mm: float) -> Curves:
    """Distances of every line of sight from the solid with `state` = x, y, radius, height, foot in mm."""
    radius, height = float(state[2]), float(state[3])
    slope = rays.slope
    from_axis = rays.floor_mm - state[:2]
    nearest, at_height = _nearest(rays, state)
    at_crest = at_height >= height - EDGE_ROUNDING_MM - 1e-9
    outline, outline_unit, _ = _circle(nearest, radius, 1.0, slope * at_crest[:, None])
    outline.gradient[:, 4] = (outline_unit * slope).sum(axis=1) * (at_height <= state[4] + 1e-9)
    crest, _, _ = _circle(from_axis + slope * (height - EDGE_ROUNDING_MM), radius, 1.0, slope)
    face, face_unit, face_distance = _circle(from_axis + slope * height, radius - FACE_IN_MM, 1.0, slope)
    hole, _, _ = _circle(from_axis + slope * (height - HOLE_DOWN_MM), hole_radius_mm + HOLE_OUT_MM, 0.0, slope)
    floor, _, _ = _circle(from_axis, hole_radius_mm + HOLE_OUT_MM, 0.0, None)
    return Curves(outline, crest, face, hole, floor, outline_unit, face_unit, face_distance)
