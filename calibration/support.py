"""How much of each line is really in the picture, and whether that is enough to believe the pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from calibration.fit import Solution
from calibration.profiles import Marks
from rules.errors import TableNotFound

GOOD_WEIGHT: Final = 0.5  # a mark within 2.5 sigma of the fitted line
MEASURED_SHARE: Final = 0.25  # a quarter of a line fixes its place to a tenth of a millimetre
# Shares a line must show. A line that is not there shows 0.05 to 0.2 of its stretches by chance (grain, noise), the faintest
# real one with discs and a hand over it 0.4; of the circle 0.25 at most by chance, 0.75 really.
LINE_SHARE: Final = 0.3
CIRCLE_SHARE: Final = 0.4
STRAIGHT_SHARE: Final = 0.6  # of a midline or a diameter, which have few stretches
LEAST_STRAIGHT: Final = 3  # straight parts besides the circle and all four pockets
RIM_SHARE: Final = 0.5
# Strong marks that agree with one table: at least 0.75 with the right lens, at most 0.7 once a lens is wrong by half a millimetre
# on the table (focal length by a fifth, k1 by 0.03).
STRONG_SNR: Final = 6.0
AGREEMENT: Final = 0.65
SAFE_AGREEMENT: Final = 0.8
STRETCHED_SIGMAS: Final = 2.0  # pockets away from their lines; a wrong lens shows here when agreement is middling
TELL_SIGMAS: Final = 3.0


@dataclass(frozen=True, slots=True)
class LineSupport:
    """One feature's evidence: `stretches` it has, `good` of them agree with the fit; residual RMS of those in px."""

    name: str
    stretches: int
    good: int
    rms_px: float

    @property
    def share(self) -> float:
        """Share of the feature that agrees, 0 to 1; parts outside the picture count as missing."""
        return self.good / self.stretches if self.stretches else 0.0

    @property
    def is_measured(self) -> bool:
        """Enough to replace the nominal position."""
        return self.share >= MEASURED_SHARE


def supports(marks: Sequence[Marks], solution: Solution) -> list[LineSupport]:
    """Evidence per feature."""
    found = []
    at = 0
    for m in marks:
        weight = solution.weight[at : at + len(m.index)]
        residual = solution.residual_px[at : at + len(m.index)]
        at += len(m.index)
        agrees = weight > GOOD_WEIGHT
        rms = float(np.sqrt(np.mean(residual[agrees] ** 2))) if agrees.any() else float("nan")
        found.append(LineSupport(m.feature.name, len(m.feature.points_mm), int(agrees.sum()), rms))
    return found


def agreement(marks: Sequence[Marks], solution: Solution) -> float:
    """Share of clearly seen stretches of zone lines and circle that lie where the fit has them."""
    agreed = seen = at = 0
    for m in marks:
        weight = solution.weight[at : at + len(m.index)]
        at += len(m.index)
        if m.feature.name.startswith(("zone", "circle")):
            strong = m.snr > STRONG_SNR
            seen += int(strong.sum())
            agreed += int((weight[strong] > GOOD_WEIGHT).sum())
    return agreed / seen if seen else 0.0


def _stretch(marks: Sequence[Marks], solution: Solution) -> float:
    """Largest distance of a pocket's centre from nominal, in sigmas of its prior."""
    prior = {
        key: sigma for m in marks for key, (sigma, _) in m.feature.columns.items() if key.startswith("pocket") and key[-2:] in (" x", " y")
    }
    return max((abs(solution.table[key][0]) / sigma for key, sigma in prior.items()), default=0.0)


def judge(found: Sequence[LineSupport], marks: Sequence[Marks], solution: Solution) -> tuple[str, ...]:
    """Problems worth telling; raises TableNotFound where the pose cannot be believed."""
    share = {s.name: s.share for s in found}
    zones = {name: value for name, value in share.items() if name.startswith("zone")}
    lines = [name for name, value in zones.items() if value >= LINE_SHARE]
    rims = [name for name, value in share.items() if name.startswith("pocket") and value >= RIM_SHARE]
    has_circle = share.get("circle", 0.0) >= CIRCLE_SHARE
    both_ways = {name[-1] in "SN" for name in lines} == {True, False}
    # Grain hides the lines that run along it: pockets and circle then hold the other direction.
    by_circle = has_circle and len(lines) >= 2 and ((both_ways and len(rims) + len(lines) >= 5) or len(rims) == 4)
    agreed, stretch = agreement(marks, solution), _stretch(marks, solution)
    # Shade may hide one more; what is left of midlines and diameters then stands in for it, if all that is seen agrees well.
    straight = lines + [name for name, value in share.items() if name.startswith(("midline", "diameter")) and value >= STRAIGHT_SHARE]
    by_parts = has_circle and lines and len(rims) == 4 and len(straight) >= LEAST_STRAIGHT and agreed >= SAFE_AGREEMENT
    enough = by_circle or by_parts or (len(lines) == 4 and len(rims) >= 3)
    if not enough:
        seen = f"{len(lines)} of 4 zone lines, {'the' if has_circle else 'no'} circle, {len(rims)} of 4 pockets"
        raise TableNotFound(
            f"table not certain: only {seen} agree with one position; show the whole table, evenly lit and in focus, with its own lens file"
        )
    if agreed < AGREEMENT or (agreed < SAFE_AGREEMENT and stretch > STRETCHED_SIGMAS):
        raise TableNotFound(
            f"table not certain: only {agreed:.0%} of the lines seen agree with one flat table; is it this camera's lens file?"
        )
    problems = [f"{name}: {value:.0%} of it seen" for name, value in zones.items() if value < LINE_SHARE]
    if not has_circle:
        problems.append(f"circle: {share.get('circle', 0.0):.0%} of it seen")
    if stretch > TELL_SIGMAS:
        problems.append(f"pockets lie {stretch:.1f} sigma from where the lines put them: measure the lens again, or the table differs")
    return tuple(problems)
