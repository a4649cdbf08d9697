"""Which kind a disc is: striker by its size, red or black by its face against the table's own wood.

Dividing by the wood's light, taken from the same picture, cancels lamp colour and white balance: wood is (1, 1, 1) by definition,
black reflects all channels alike or the red ones least, red reflects red well above green whatever its shade.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rules.table import Kind
from vision.discs.rays import to_light
from vision.discs.topview import REACH_MM, TopView

Array = NDArray[np.float64]

WOOD_REACH_MM: Final = 480.0  # where the playing surface is surely seen
RED_OVER_GREEN: Final = 0.28  # log of red/green against wood: crimson under a warm lamp lies above 0.4, black below 0.1
BLACK_AT_MOST: Final = -0.45  # log of a black face's light against wood: dark wood and window glare still lie below -0.7
BLACK_REDNESS: Final = -0.25  # a face this much greyer than wood is painted, and near a lamp it may be nearly as light
LIT_BLACK_AT_MOST: Final = -0.2
LEAST_LIGHT: Final = 0.3  # linear light, 0..255: below one code value's step


def wood_light(view: TopView) -> Array:
    """Median linear light (3,) BGR of the playing surface; discs and hands cover far less than half of it."""
    margin = int(REACH_MM - WOOD_REACH_MM)
    surface = to_light(view.image[margin:-margin:4, margin:-margin:4].reshape(-1, 3))
    return np.maximum(np.median(surface, axis=0), LEAST_LIGHT)


def look(light: Array, wood: Array) -> tuple[float, float]:
    """Log of red over green and log of the light, both against wood, for light (N, 3) BGR of a face."""
    ratio = np.maximum(np.median(light, axis=0), LEAST_LIGHT) / wood
    return math.log(ratio[2] / ratio[1]), math.log(float(ratio.mean()))


def piece_colour(redness: float, brightness: float) -> Kind | None:
    """Colour of a disc of a piece's size; None for what looks like wood, paper, skin: no piece."""
    if redness >= RED_OVER_GREEN:
        return "red"
    dark = BLACK_AT_MOST if redness > BLACK_REDNESS else LIT_BLACK_AT_MOST
    return "black" if brightness <= dark else None
