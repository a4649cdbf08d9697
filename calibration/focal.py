"""Start value for a focal length that nobody gave: the one under which the rails' edges stand where the flat lines say they must.

At z = 0 focal length and camera height trade off against each other unless the view is tilted; the rails' upper edges, 25 mm up,
lie some 9 mm further out and break the tie. Shadows lie between those edges, so nothing is followed step by step: every focal
length is tried, and the one whose predicted edges meet the strongest steps in the picture is the start of the real fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.features import ROUNDING_MM, ROUNDING_SIGMA_MM, Feature
from calibration.fit import Solution, solve
from calibration.nominal import LensPrior
from calibration.optics import View
from calibration.profiles import Marks, filtered

Array = NDArray[np.float64]

FACTORS: Final = np.exp(np.linspace(-0.36, 0.36, 25))  # steps of 3 %, a quarter of a millimetre at a rail's upper edge
HELD: Final = 0.002  # of the focal length: fixed for one trial
REACH_MM: Final = 9.0  # to either side: the steps that compete for being the edge
WIDTH_MM: Final = 0.6  # what counts as meeting
ROUNDINGS_MM: Final = np.array([0.3, 0.7, 1.1, 1.5])
EDGE_WORTH: Final = 3.0  # log-likelihood of one edge met
OUTER_WORTH: Final = 0.5  # a frame's width varies more than its place, and its own shadow lies beside it
FLAT_WORTH: Final = 1 / 6  # per unit of chi2: neighbouring marks of a line err together, about three by three


def focal_start(
    grays: Sequence[NDArray[np.float32]],
    view: View,
    flat: Sequence[Marks],
    rails: Sequence[Feature],
    prior: LensPrior,
    table: dict[str, tuple[float, float]],
) -> Solution:
    """Solution of the flat marks with the most plausible focal length.

    Parameters
    ----------
    flat : marks of everything at z = 0.
    rails : the rails' upper edges, as `features.rails` names them.
    """
    trials: list[tuple[float, Solution]] = []
    for factor in FACTORS:
        mean, sigma = prior.mean.copy(), prior.sigma.copy()
        mean[0] *= factor
        sigma[0] = HELD * mean[0]
        solution = solve(view, flat, LensPrior(prior.start, mean, sigma), table=table)
        edges = sum(_edges_met(gray, solution.view, rails) for gray in grays) / len(grays)
        rounding = -0.5 * ((ROUNDINGS_MM - ROUNDING_MM) / ROUNDING_SIGMA_MM) ** 2
        off = (prior.mean[0] * (factor - 1)) / prior.sigma[0]
        score = float(np.max(EDGE_WORTH * edges + rounding)) - FLAT_WORTH * solution.cost - 0.5 * off**2
        trials.append((score, solution))
    return max(trials, key=lambda trial: trial[0])[1]


def _edges_met(gray: NDArray[np.float32], view: View, rails: Sequence[Feature]) -> Array:
    """For each of ROUNDINGS_MM: sum over the rails' edges of how strong the step at the predicted place is, 1 = strongest around."""
    total = np.zeros(len(ROUNDINGS_MM))
    for rail in rails:
        response, steps_px = filtered(gray, view, rail, REACH_MM * view.px_per_mm)
        if not len(response):
            continue
        steps_mm = steps_px / view.px_per_mm
        strongest = response[:, np.abs(steps_mm) < REACH_MM].max(axis=1, keepdims=True)
        typical = np.median(response / (strongest + 1e-6), axis=0)
        outward = float(np.sign(rail.columns["rounding"][1][0] @ rail.across_mm[0, 0]))
        places = outward * (ROUNDINGS_MM - ROUNDING_MM)
        nearness = np.exp(-0.5 * ((steps_mm[None, :] - places[:, None]) / WIDTH_MM) ** 2)
        total += (OUTER_WORTH if rail.name.endswith("outer") else 1.0) * (typical * nearness).max(axis=1)
    return total
