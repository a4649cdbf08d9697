"""Who gets what was found: discs that are not where they were expected may ask for the same place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np

from vision.motion.predict import Body
from vision.motion.smear import Fit
from vision.motion.track import SAME_MM, Track

_EXPECTED: Final = 0.004  # of the gain for a millimetre from where it was expected: like discs differ little in gain
_MAY_FLY: Final = 0.1  # of the gain, for one that comes to a rail so fast that it may go over it
_HEIR_MM: Final = 20.0  # a frame's way at 1.2 m/s: what goes faster is found by its way
_EXCHANGED_MM: Final = 8.0  # by less two pieces are astray because the blow came a little earlier or later
CLEARLY: Final = 0.1  # gain by which a place found elsewhere must beat the expected one


def beats(found: Fit, weak: Fit | None, handicap: float) -> bool:
    """Whether a place found elsewhere is better than the one where the disc was expected, which has this handicap, of the gain."""
    return weak is None or found.gain > weak.gain - handicap


def first_asked(asked: Mapping[str, Fit], bodies: Mapping[str, Body]) -> str:
    """Who gets what was found first: what may have gone over a rail comes last.

    A piece fits into a striker's face but no striker onto a piece, so of these two the striker.
    """
    name = max(asked, key=lambda name: (not bodies[name].flown, _claim(asked[name], bodies[name])))
    same = [n for n, fit in asked.items() if float(np.hypot(*(fit.axis_mm - asked[name].axis_mm))) < SAME_MM]
    return max(same, key=lambda n: (bodies[n].shape.radius_mm, n == name))


def heir_of(found: Fit, flown: Track, unfound: Iterable[Track]) -> str:
    """Who is where a disc was found that may have gone over a rail: one like it that was last seen near there and has not been found."""
    away = {t.id: float(np.hypot(*(found.axis_mm - t.at_mm))) for t in unfound if t.kind == flown.kind and t.flown_mm is None}
    nearest = min(away, key=lambda name: away[name], default=flown.id)
    return nearest if away.get(nearest, np.inf) < _HEIR_MM else flown.id


def are_exchanged(one: Fit, expected: Body, other: Fit, other_expected: Body) -> bool:
    """Whether two like pieces were found one where the other one was: both together are clearly nearer to where they were expected then."""
    places, bodies = (one.axis_mm, other.axis_mm), (expected.at_mm, other_expected.at_mm)
    as_found = sum(float(np.hypot(*(place - at))) for place, at in zip(places, bodies, strict=True))
    if as_found < _EXCHANGED_MM:
        return False
    exchanged = sum(float(np.hypot(*(place - at))) for place, at in zip(places, reversed(bodies), strict=True))
    return exchanged < as_found - _EXCHANGED_MM


def _claim(found: Fit, body: Body) -> float:
    """How strongly a disc asks for what was found, the highest first."""
    away = float(np.hypot(*(found.axis_mm - body.at_mm)))
    return found.gain * found.explained - _EXPECTED * away - (0.0 if body.flown_mm is None else _MAY_FLY)
