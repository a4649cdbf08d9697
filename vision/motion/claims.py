"""Who gets what was found: discs that are not where they were expected may ask for the same place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from vision.motion.predict import Body
from vision.motion.smear import Fit
from vision.motion.track import SAME_MM

_EXPECTED: Final = 0.004  # of the gain for a millimetre from where it was expected: like discs differ little in gain
CLEARLY: Final = 0.1  # gain by which a place found elsewhere must beat the expected one


def beats(found: Fit, weak: Fit | None, handicap: float) -> bool:
    """Whether a place found elsewhere is better than the one where the disc was expected, which has this handicap, of the gain."""
    return weak is None or found.gain > weak.gain - handicap


def first_asked(asked: Mapping[str, Fit], bodies: Mapping[str, Body]) -> str:
    """Who gets what was found first; a piece fits into a striker's face but no striker onto a piece, so of these two the striker."""
    name = max(asked, key=lambda name: _claim(asked[name], bodies[name]))
    same = [n for n, fit in asked.items() if float(np.hypot(*(fit.axis_mm - asked[name].axis_mm))) < SAME_MM]
    return max(same, key=lambda n: (bodies[n].shape.radius_mm, n == name))


def _claim(found: Fit, body: Body) -> float:
    """How strongly a disc asks for what was found, the highest first."""
    return found.gain * found.explained - _EXPECTED * float(np.hypot(*(found.axis_mm - body.at_mm)))
