"""Which part of a disc every pixel of a patch shows, as smooth functions of the disc's place and size.

Five nested curves: outline of the solid ⊃ crest of the rounded edge ⊃ flat of the face ⊃ rim of the hole ⊃ floor seen through it.
Each is a signed distance in mm (negative inside) with its gradient, so that the fit needs no numerical differences.
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
CREST_IN_MM: Final = 0.6  # the rounded edge turns from lit like the face to lit like the wall this far inside the radius, mm
CREST_DOWN_MM: Final = 0.2  # and this far below the face, mm
FACE_IN_MM: Final = 1.7  # the flat of the face ends this far inside the radius, mm
HOLE_OUT_MM: Final = 0.2  # the hole's rim is rounded: its dark starts a little outside the bored radius, mm

STATE: Final = 4  # x, y, radius, height


@dataclass(frozen=True, slots=True)
class Curve:
    """Signed distance (N,) in mm and its derivatives (N, 4) by x, y, radius and height."""

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
    """The five curves, and the directions (N, 2) from the axis at outline and face."""

    outline: Curve
    crest: Curve
    face: Curve
    hole: Curve
    floor: Curve
    outline_direction: Array
    face_direction: Array
    face_distance: Array


def _circle(offset: Array, radius: float, radius_grows: float, rise: Array | None) -> tuple[Curve, Array, Array]:
    distance = np.sqrt(offset[:, 0] ** 2 + offset[:, 1] ** 2) + 1e-9
    unit = offset / distance[:, None]
    gradient = np.empty((len(offset), STATE))
    gradient[:, :2] = -unit
    gradient[:, 2] = -radius_grows
    gradient[:, 3] = 0.0 if rise is None else (unit * rise).sum(axis=1)
    return Curve(distance - radius, gradient), unit, distance


def curves(rays: Rays, state: Array, hole_radius_mm: float) -> Curves:
    """Distances of every line of sight from the solid with `state` = x, y, radius, height in mm."""
    radius, height = float(state[2]), float(state[3])
    slope = rays.slope
    from_axis = rays.floor_mm - state[:2]
    # A line of sight meets the solid where it passes nearest to the axis between foot and crest.
    nearest = np.clip(-(from_axis * slope).sum(axis=1) / ((slope * slope).sum(axis=1) + 1e-12), FOOT_MM, height - EDGE_ROUNDING_MM)
    at_top = nearest >= height - EDGE_ROUNDING_MM - 1e-9
    outline, outline_unit, _ = _circle(from_axis + slope * nearest[:, None], radius, 1.0, slope * at_top[:, None])
    crest, _, _ = _circle(from_axis + slope * (height - CREST_DOWN_MM), radius - CREST_IN_MM, 1.0, slope)
    upper = from_axis + slope * height
    face, face_unit, face_distance = _circle(upper, radius - FACE_IN_MM, 1.0, slope)
    hole_gradient = face.gradient.copy()
    hole_gradient[:, 2] = 0.0
    hole = Curve(face_distance - (hole_radius_mm + HOLE_OUT_MM), hole_gradient)
    floor, _, _ = _circle(from_axis, hole_radius_mm + HOLE_OUT_MM, 0.0, None)
    return Curves(outline, crest, face, hole, floor, outline_unit, face_unit, face_distance)
