"""Two looks at one disc made one: the fit of its outline and the network's close-up.

Both miss in ways of their own (lamps pull the outline, wear and strange light pull the network), so that their mean is better than
either, and how far they lie apart says more than the doubt of each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.discs.eyes import Opinion

Array = NDArray[np.float64]

# Chips, shadows and turning tolerance move an edge by more than its noise: sigma grows by a factor and by a part of a pixel.
SCATTER_FACTOR: Final = 1.35
LEAST_SIGMA_PX: Final = 0.12
RELATED: Final = 0.25  # correlation of the two looks' errors, which see the same picture: 0.25 away from the camera, 0.32 across
# Squared sigmas apart, per axis, from which the outline is believed less the farther it is off: where a rail's shade hides an edge the fit
# takes another one, and its own scatter does not show that; the network misses by about its sigma however far they lie apart.
DISBELIEVED: Final = 2.0
CONTRADICTION: Final = 3.5  # sigmas apart at which two looks can't both be right


@dataclass(frozen=True, slots=True)
class Place:
    """An axis on the table in mm with one sigma per axis."""

    x_mm: float
    y_mm: float
    sigma_mm: float


def fitted_sigma_mm(fit_sigma_mm: float, spread_mm: float, px_per_mm: float) -> float:
    """One sigma per axis of a fitted place, from its scatter and from how far apart the likely places lie."""
    return math.hypot(SCATTER_FACTOR * fit_sigma_mm, spread_mm, LEAST_SIGMA_PX / px_per_mm)


def _apart(fitted: Place, opinion: Opinion) -> tuple[float, float, float, float]:
    """Variances (mm²) of the fitted place and of the network's, their covariance, and the variance of how far they lie apart."""
    one, other = fitted.sigma_mm**2, float(np.trace(opinion.covariance)) / 2
    both = RELATED * math.sqrt(one * other)
    return one, other, both, one + other - 2 * both


def contradict(fitted: Place, opinion: Opinion) -> bool:
    """Whether a fitted place and the network's lie so far apart that one of them is wrong."""
    return float(np.hypot(*opinion.shift_mm)) > CONTRADICTION * math.sqrt(_apart(fitted, opinion)[3])


def fuse(fitted: Place, opinion: Opinion) -> Place:
    """The best linear mean of a fitted place and of the network's, whose shift is from that place.

    Errors are taken as isotropic, with correlation `RELATED` (Bar-Shalom and Campo 1986); the fit's have a heavy tail, so that its
    variance grows with what it is off. Where the looks contradict each other, the sigma covers both.
    """
    off2 = float(np.dot(opinion.shift_mm, opinion.shift_mm)) / 2 / _apart(fitted, opinion)[3]
    looser = replace(fitted, sigma_mm=fitted.sigma_mm * math.sqrt(max(1.0, off2 / DISBELIEVED)))
    one, other, both, apart2 = _apart(looser, opinion)
    share = min(1.0, max(0.0, (one - both) / apart2))  # of the network's look
    x, y = fitted.x_mm + share * float(opinion.shift_mm[0]), fitted.y_mm + share * float(opinion.shift_mm[1])
    sigma = math.sqrt((1 - share) ** 2 * one + share**2 * other + 2 * share * (1 - share) * both)
    if contradict(fitted, opinion):
        sigma = max(sigma, float(np.hypot(*opinion.shift_mm)) / 2)
    return Place(x, y, sigma)
