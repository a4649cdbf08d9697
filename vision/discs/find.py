"""From a picture to its discs: the chosen candidates, a first look at each for its place, then the fit beside its neighbours."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration import Camera
from rules.facts import Pose
from rules.table import Kind
from vision.discs.fit import Fit, Neighbour, fit_disc
from vision.discs.regions import FOOT_MM, MIRRORED_FOOT_MM
from vision.discs.select import OVERLAP, Chosen, choose, on_surface
from vision.discs.solid import solid_of
from vision.discs.topview import view_from_above

Array = NDArray[np.float64]

NEAR_MM: Final = 62.0  # discs whose axes are further apart share no pixel of a patch
FIRST_LOOK_MM: Final = 0.9  # the first fit only has to tell upper from lower edge: pixels this far apart will do
FIRST_STIFFNESS: Final = 30.0  # of the first fit's appearance, see `fit_disc`
FIRST_STEPS: Final = 8  # enough to come within the final fit's reach
FIRST_MARGIN_MM: Final = -1.5  # of neighbours in the first fit: their places are some millimetres off
HOLE_SAYS: Final = 0.2  # weight of the hole's contrast against the cost of the whole, both as ratios
LEAST_EVIDENCE: Final = 0.35  # candidate score times the hole's contrast in sigmas
SHADOW_REDNESS: Final = -0.08  # a shadow on wood keeps the wood's colour, 0 within 0.05; black paint is greyer, about -0.4
SHADOWY_EVIDENCE: Final = 0.9  # of what may be a shadow
LIKELY: Final = 0.05  # difference of doubt within which two places are hardly told apart
LEAST_SHIFT_MM: Final = 1.0  # below this upper and lower edge lie within the fit's reach of each other
MOVED_MM: Final = 1.0  # a neighbour that moved further makes a new first look worth while
TILTED_SIGMA_MM: Final = 3.0  # of a disc on a pocket's edge, whose place is the middle of its face


@dataclass(frozen=True, slots=True)
class Found:
    """One disc, before the camera's own uncertainty is added.

    `sigma_mm` per axis is the fit's own; `spread_mm` per axis says how far apart places lie that were hardly told apart.
    """

    kind: Kind
    pose: Pose
    x_mm: float
    y_mm: float
    sigma_mm: float
    spread_mm: float
    rim: float
    hole: float


@dataclass(frozen=True, slots=True)
class _Look:
    """A first fit: place, foot, how little it convinces, and how far other likely places lie from it (rms per axis, mm)."""

    x_mm: float
    y_mm: float
    foot_mm: float
    doubt: float = math.inf
    spread_mm: float = 0.0


def _near(looks: list[_Look], chosen: list[Chosen], index: int) -> list[Neighbour]:
    """The other discs that may share pixels with one."""
    here = looks[index]
    return [
        Neighbour(look.x_mm, look.y_mm, one.kind, one.base_mm)
        for other, (look, one) in enumerate(zip(looks, chosen, strict=True))
        if other != index and math.hypot(here.x_mm - look.x_mm, here.y_mm - look.y_mm) < NEAR_MM
    ]


def _first_look(image: NDArray[np.uint8], camera: Camera, one: Chosen, near: list[Neighbour]) -> _Look:
    """The likeliest place by quick, stiff fits from the candidate's place and from further away from the camera's foot.

    A candidate may have taken the lower edge, or something between both, for the upper one.
    """
    place = np.array([one.x_mm, one.y_mm])
    shift = (place - camera.centre_mm[:2]) * (solid_of(one.kind).height_mm / camera.centre_mm[2])
    parts = np.arange(0.0, 1.01, 0.5) if np.hypot(*shift) > LEAST_SHIFT_MM else np.zeros(1)
    starts = [*(place + parts[:, None] * shift), *one.rivals]
    looks = [_look(image, camera, one, near, float(x), float(y), FOOT_MM) for x, y in starts]
    best = min(looks, key=lambda look: look.doubt)
    if one.glaring:
        looks.append(_look(image, camera, one, near, best.x_mm, best.y_mm, MIRRORED_FOOT_MM))
        best = min(looks, key=lambda look: look.doubt)
    if not math.isfinite(best.doubt):
        return best
    likely = np.array([math.exp((best.doubt - look.doubt) / LIKELY) for look in looks])
    apart = np.array([(look.x_mm - best.x_mm) ** 2 + (look.y_mm - best.y_mm) ** 2 for look in looks])
    spread = math.sqrt(float((likely * apart).sum() / likely.sum()) / 2)
    return _Look(best.x_mm, best.y_mm, best.foot_mm, best.doubt, spread)


def _look(image: NDArray[np.uint8], camera: Camera, one: Chosen, near: list[Neighbour], x_mm: float, y_mm: float, foot_mm: float) -> _Look:
    stride = max(1, int(camera.px_per_mm(x_mm, y_mm) * FIRST_LOOK_MM))
    fit = fit_disc(
        image,
        camera,
        x_mm,
        y_mm,
        one.kind,
        near,
        base_mm=one.base_mm,
        stride=stride,
        stiff=FIRST_STIFFNESS,
        foot_mm=foot_mm,
        margin_mm=FIRST_MARGIN_MM,
        steps=FIRST_STEPS,
    )
    if fit is None or _impossible(one, fit) or _overlaps(fit, near):
        return _Look(x_mm, y_mm, foot_mm)
    # A wrong place explains the light hardly worse, but it has no hole where the solid has one.
    doubt = math.log(fit.cost) - HOLE_SAYS * math.log(max(fit.hole, 0.1))
    return _Look(fit.x_mm, fit.y_mm, foot_mm, doubt)


def _impossible(one: Chosen, fit: Fit) -> bool:
    return one.pose == "flat" and not on_surface(fit.x_mm, fit.y_mm, fit.radius_mm)


def _overlaps(fit: Fit, near: list[Neighbour]) -> bool:
    """Whether a fit lies where another disc is; those may still be some millimetres off themselves."""
    return any(
        math.hypot(fit.x_mm - other.x_mm, fit.y_mm - other.y_mm) < OVERLAP * (fit.radius_mm + solid_of(other.kind).radius_mm)
        for other in near
    )


def _confirmed(one: Chosen, fit: Fit) -> bool:
    """Whether circle and fit together show a disc: shadows and stains have a rim, but no hole in its middle."""
    shadowy = one.kind == "black" and one.redness > SHADOW_REDNESS
    return one.candidate.score * fit.hole >= (SHADOWY_EVIDENCE if shadowy else LEAST_EVIDENCE)


def _first_looks(image: NDArray[np.uint8], camera: Camera, chosen: list[Chosen]) -> list[_Look]:
    rough = [_Look(one.x_mm, one.y_mm, FOOT_MM) for one in chosen]
    looks = list(rough)
    for index, one in enumerate(chosen):
        if one.pose != "on_edge":
            looks[index] = _first_look(image, camera, one, _near(looks, chosen, index))
    moved = [math.hypot(look.x_mm - was.x_mm, look.y_mm - was.y_mm) > MOVED_MM for look, was in zip(looks, rough, strict=True)]
    for index, one in enumerate(chosen):
        here = looks[index]
        # Only those seen later moved under this one's first look.
        beside = any(
            moved[other] and math.hypot(here.x_mm - looks[other].x_mm, here.y_mm - looks[other].y_mm) < NEAR_MM
            for other in range(index + 1, len(chosen))
        )
        if beside and one.pose != "on_edge":
            looks[index] = _first_look(image, camera, one, _near(looks, chosen, index))
    return looks


def find_discs(image: NDArray[np.uint8], camera: Camera) -> list[Found]:
    """Every disc on the table in `image` (uint8 BGR), those in the pockets' bags left out."""
    chosen = choose(view_from_above(image, camera), camera)
    looks = _first_looks(image, camera, chosen)
    found: list[Found] = []
    for index, one in enumerate(chosen):
        look, rim, hole = looks[index], one.candidate.rim, one.candidate.hole
        if one.pose == "on_edge":
            found.append(Found(one.kind, one.pose, one.x_mm, one.y_mm, 0.0, TILTED_SIGMA_MM, rim, hole))
            continue
        near = _near(looks, chosen, index)
        fit: Fit | None = fit_disc(image, camera, look.x_mm, look.y_mm, one.kind, near, base_mm=one.base_mm, foot_mm=look.foot_mm)
        if fit is None or _impossible(one, fit) or not _confirmed(one, fit):
            continue
        looks[index] = _Look(fit.x_mm, fit.y_mm, look.foot_mm, look.doubt, look.spread_mm)
        found.append(Found(one.kind, one.pose, fit.x_mm, fit.y_mm, fit.sigma_mm, look.spread_mm, rim, hole))
    return found
