"""A first look at each chosen circle: where its disc most likely lies, by quick fits from several starts and the network's opinion on each.

A circle may be a disc's lower edge, its shadow or half of both; the right place is then some millimetres away from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration import Camera
from rules.table import HALF_MM, Kind
from vision.discs.eyes import Opinion
from vision.discs.fit import NEAR_MM, Fit, Manner, Neighbour, fit_disc
from vision.discs.regions import FOOT_MM, MIRRORED_FOOT_MM
from vision.discs.select import Chosen, Disk, on_surface, overlap
from vision.discs.solid import solid_of

Array = NDArray[np.float64]
# The network's opinions on places (N, 2) mm that may hold flat discs of these kinds, in the picture at hand.
Ask = Callable[[Array, list[Kind]], list[Opinion]]

FIRST_LOOK_MM: Final = 0.9  # the first fit only has to tell upper from lower edge: pixels this far apart will do
FIRST_STIFFNESS: Final = 30.0  # of the first fit's appearance, see `fit_disc`
FIRST_STEPS: Final = 8  # enough to come within the final fit's reach
FIRST_CONVERGED_MM: Final = 0.05  # the same
FIRST_MARGIN_MM: Final = -1.5  # of neighbours in the first fit: their places are some millimetres off
HOLE_SAYS: Final = 0.2  # weight of the hole's contrast against the cost of the whole, both as ratios
RAIL_SAYS: Final = 0.15  # of two such places the one touching a rail: discs start there, and stay there when they run into it
AT_RAIL_MM: Final = 0.7  # counts as touching: the doubt of a poor fit
LEAST_HOLE: Final = 0.1  # contrast that says no more than none
EDGES_SAY: Final = 0.2  # weight of the place's sharpness against the cost of the whole, both as ratios
NETWORK_SAYS: Final = 0.15  # the same of the network's odds: a shadow has an edge and a dark middle, but does not look like a disc
ODDS: Final = 4.0  # logarithm of the odds beyond which the network is no surer
APART_MM: Final = 1.0  # places further apart than this don't lead to the same fit
SAME_MM: Final = 0.6  # and closer than this the closest look makes one of them
OPEN: Final = 0.2  # difference of doubt in the first look that a closer look may turn round
LIKELY: Final = 0.05  # difference of doubt within which two places are hardly told apart
LEAST_SHIFT_MM: Final = 1.0  # below this upper and lower edge lie within the fit's reach of each other
MOVED_MM: Final = 1.0  # a neighbour that moved further makes a new first look worth while
RAIL_PULL_MM: Final = 8.0  # a circle taken for the rim of a disc at a rail lies at most about this far off
FIT_OFF_MM: Final = 1.5  # a poor fit at a pocket's edge is off by so much
SURE_ODDS: Final = 2.2  # logarithm of the odds from which a place needs no other beside it: a probability of 0.9
WORTH_A_LOOK: Final = 0.2  # probability of a place beside it from which that one is tried: it is some millimetres off itself
AROUND_MM: Final = (5.0, 9.0, 14.0)  # a disc whose shadow was chosen lies about its own height away, or less: by the lamp
_TURN: Final = np.arange(8) * np.pi / 4
AROUND: Final = np.concatenate([np.zeros((1, 2)), *(reach * np.stack([np.cos(_TURN), np.sin(_TURN)], axis=1) for reach in AROUND_MM)])


@dataclass(frozen=True, slots=True)
class Look:
    """A first fit: place, foot, how little it convinces, how far other likely places lie from it (rms per axis, mm), the likeliest
    other place that a closer look may prefer, and the network's log odds that a flat disc lies there, 0 where it was not asked.
    """

    x_mm: float
    y_mm: float
    foot_mm: float
    doubt: float = math.inf
    spread_mm: float = 0.0
    rival: Look | None = None
    odds: float = 0.0


def beside(looks: list[Look], chosen: list[Chosen], index: int, refused: Collection[int] = ()) -> list[Neighbour]:
    """The other discs that may share pixels with one."""
    here = looks[index]
    return [
        Neighbour(look.x_mm, look.y_mm, one.kind, one.base_mm)
        for other, (look, one) in enumerate(zip(looks, chosen, strict=True))
        if other != index and other not in refused and math.hypot(here.x_mm - look.x_mm, here.y_mm - look.y_mm) < NEAR_MM
    ]


def _first_look(image: NDArray[np.uint8], camera: Camera, one: Chosen, near: list[Neighbour], ask: Ask | None) -> Look:
    """The likeliest place by quick, stiff fits from the candidate's place and from further away from the camera's foot.

    A candidate may have taken the lower edge, or something between both, for the upper one; where the network sees no disc at the
    likeliest place, it says where else to look.
    """
    place = np.array([one.x_mm, one.y_mm])
    shift = (place - camera.centre_mm[:2]) * (solid_of(one.kind).height_mm / camera.centre_mm[2])
    parts = np.arange(0.0, 1.01, 0.5) if np.hypot(*shift) > LEAST_SHIFT_MM else np.zeros(1)
    starts = [*(place + parts[:, None] * shift), *one.rivals]
    if one.pose == "flat":
        starts += against_rails(place, solid_of(one.kind).radius_mm)
    looks = seconded(ask, one, [_look(image, camera, one, near, float(x), float(y), FOOT_MM) for x, y in starts])
    best = min(looks, key=lambda look: look.doubt)
    if ask is not None and one.pose == "flat" and best.odds < SURE_ODDS:
        (x, y), disc = best_around(ask, best, one.kind, AROUND[1:])
        looks += seconded(ask, one, [_look(image, camera, one, near, x, y, FOOT_MM)]) if disc > WORTH_A_LOOK else []
        best = min(looks, key=lambda look: look.doubt)
    if one.glaring:
        looks += seconded(ask, one, [_look(image, camera, one, near, best.x_mm, best.y_mm, MIRRORED_FOOT_MM)])
        best = min(looks, key=lambda look: look.doubt)
    if not math.isfinite(best.doubt):
        return best
    away = [look for look in looks if math.hypot(look.x_mm - best.x_mm, look.y_mm - best.y_mm) > APART_MM]
    rival = min(away, key=lambda look: look.doubt, default=Look(0.0, 0.0, FOOT_MM))
    return replace(best, spread_mm=spread_mm(best, looks, LIKELY), rival=rival if rival.doubt < best.doubt + OPEN else None)


def seconded(ask: Ask | None, one: Chosen, looks: list[Look]) -> list[Look]:
    """Looks at one flat disc with the network's opinion on each place taken into their doubt."""
    sound = [look for look in looks if math.isfinite(look.doubt)]
    if ask is None or one.pose != "flat" or not sound:
        return looks
    opinions = ask(np.array([(look.x_mm, look.y_mm) for look in sound]), [one.kind] * len(sound))
    odds = [_odds(opinion.disc) for opinion in opinions]
    return [replace(look, doubt=look.doubt - NETWORK_SAYS * of, odds=of) for look, of in zip(sound, odds, strict=True)]


def _odds(probability: float) -> float:
    within = min(max(probability, 1e-6), 1 - 1e-6)
    return min(max(math.log(within / (1 - within)), -ODDS), ODDS)


def best_around(ask: Ask, one: Chosen | Look, kind: Kind, around: Array = AROUND) -> tuple[tuple[float, float], float]:
    """The place around one, by (N, 2) mm, that looks most like a flat disc of a kind to the network, and its probability."""
    places = np.array([one.x_mm, one.y_mm]) + around
    seen = [opinion.disc for opinion in ask(places, [kind] * len(places))]
    x, y = places[best := int(np.argmax(seen))]
    return (float(x), float(y)), seen[best]


def spread_mm(best: Look, looks: list[Look], likely_within: float) -> float:
    """How far the other likely places lie from the best one: rms per axis, mm, weighted by how likely they are."""
    likely = np.array([math.exp((best.doubt - look.doubt) / likely_within) for look in looks])
    apart = np.array([(look.x_mm - best.x_mm) ** 2 + (look.y_mm - best.y_mm) ** 2 for look in looks])
    apart[apart < SAME_MM**2] = 0.0
    return math.sqrt(float((likely * apart).sum() / likely.sum()) / 2)


def against_rails(place: Array, radius_mm: float) -> list[Array]:
    """The places near one where a disc touches a rail: there shadow and rail blur the outline, and discs often lie there."""
    limit = HALF_MM - radius_mm
    close = np.abs(np.abs(place) - limit) < RAIL_PULL_MM
    return [np.where(close, np.sign(place) * limit, place)] if close.any() else []


def _look(image: NDArray[np.uint8], camera: Camera, one: Chosen, near: list[Neighbour], x_mm: float, y_mm: float, foot_mm: float) -> Look:
    stride = max(1, round(camera.px_per_mm(x_mm, y_mm) * FIRST_LOOK_MM))
    quick = Manner(one.base_mm, stride, FIRST_STIFFNESS, foot_mm, FIRST_MARGIN_MM, FIRST_STEPS, FIRST_CONVERGED_MM)
    fit = fit_disc(image, camera, x_mm, y_mm, one.kind, near, quick)
    if fit is None or is_impossible(one, fit) or _overlaps(fit, near):
        return Look(x_mm, y_mm, foot_mm)
    return Look(fit.x_mm, fit.y_mm, foot_mm, doubt_of(fit))


def doubt_of(fit: Fit) -> float:
    """How little a fit convinces.

    A wrong place explains the light hardly worse, but it has no hole, and fewer edges, where the solid has them.
    """
    shown = HOLE_SAYS * math.log(max(fit.hole, LEAST_HOLE)) - EDGES_SAY * math.log(fit.sharp_mm)
    return math.log(fit.cost) - shown - RAIL_SAYS * at_rail(fit.x_mm, fit.y_mm, fit.radius_mm)


def at_rail(x_mm: float, y_mm: float, radius_mm: float) -> bool:
    """Whether a disc touches a rail, as far as a fit can tell."""
    return abs(max(abs(x_mm), abs(y_mm)) + radius_mm - HALF_MM) < AT_RAIL_MM


def is_impossible(one: Chosen, fit: Fit) -> bool:
    """Whether a disc that lies flat cannot lie where it was fitted: over a pocket, in a rail."""
    return one.pose == "flat" and not on_surface(fit.x_mm, fit.y_mm, fit.radius_mm, FIT_OFF_MM)


def _overlaps(fit: Fit, near: list[Neighbour]) -> bool:
    """Whether a fit lies where another disc is."""
    return any(
        overlap(Disk(fit.x_mm, fit.y_mm, fit.radius_mm), Disk(other.x_mm, other.y_mm, solid_of(other.kind).radius_mm)) for other in near
    )


def first_looks(image: NDArray[np.uint8], camera: Camera, chosen: list[Chosen], ask: Ask | None) -> list[Look]:
    """The likeliest place of each chosen circle, in their order; those beside one that moved are looked at twice."""
    rough = [Look(one.x_mm, one.y_mm, FOOT_MM) for one in chosen]
    looks = list(rough)
    for index, one in enumerate(chosen):
        if one.pose != "on_edge":
            looks[index] = _first_look(image, camera, one, beside(looks, chosen, index), ask)
    moved = [math.hypot(look.x_mm - was.x_mm, look.y_mm - was.y_mm) > MOVED_MM for look, was in zip(looks, rough, strict=True)]
    for index, one in enumerate(chosen):
        here = looks[index]
        # Only those seen later moved under this one's first look.
        pushed = any(
            moved[other] and math.hypot(here.x_mm - looks[other].x_mm, here.y_mm - looks[other].y_mm) < NEAR_MM
            for other in range(index + 1, len(chosen))
        )
        if pushed and one.pose != "on_edge":
            looks[index] = _first_look(image, camera, one, beside(looks, chosen, index), ask)
    return looks
