"""A part of the light goes: somebody stands before a lamp or a window, or one of two lamps is switched off."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from virtual_table.shading import GAMMA, Field, Image, soft


class Shade(NamedTuple):
    """Beyond a line, `beyond_mm` from the middle of the table in direction `toward_rad`, a share `depth` of the light is gone.

    It fades in over `soft_mm` to both sides of the line.
    """

    depth: float
    beyond_mm: float
    toward_rad: float
    soft_mm: float


def shaded(image: Image, ground_mm: Field, shade: Shade) -> Image:
    """An encoded picture in a shade that falls on table and floor alike; `ground_mm` (height, width, 2): what each pixel shows."""
    along = ground_mm[..., 0] * np.cos(shade.toward_rad) + ground_mm[..., 1] * np.sin(shade.toward_rad) - shade.beyond_mm
    left = (1 - shade.depth * soft(along, -shade.soft_mm, shade.soft_mm)) ** GAMMA
    return np.asarray(np.rint(image * left.astype(np.float32)[..., None]), dtype=np.uint8)
