"""From a picture to its discs: the chosen candidates, a first look at each for its place, then the fit beside its neighbours."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration import Camera
from rules.facts import Pose
from rules.table import PIECE_THICKNESS_MM, Kind
from vision.discs.eyes import POSES, Eyes, Opinion
from vision.discs.fit import Fit, Manner, Neighbour, fit_disc
from vision.discs.fuse import Place, contradict, fitted_sigma_mm, fuse
from vision.discs.kinds import wood_light
from vision.discs.lamp import DOUBT, lamp_pull, without_pull
from vision.discs.looks import (
    WORTH_A_LOOK,
    Ask,
    Look,
    against_rails,
    at_rail,
    beside,
    best_around,
    doubt_of,
    first_looks,
    is_impossible,
    seconded,
    spread_mm,
)
from vision.discs.overlooked import overlooked
from vision.discs.select import SURE_DISC, Chosen, Disk, choose, overlap
from vision.discs.solid import solid_of
from vision.discs.topview import view_from_above

Array = NDArray[np.float64]

CLOSE_LOOK_MM: Final = 0.6  # nearer pixels share grain and colour mosaic, and add time but hardly evidence
LEAST_EVIDENCE: Final = 0.35  # candidate score times the hole's contrast in sigmas
SHADOW_REDNESS: Final = -0.08  # a shadow on wood keeps the wood's colour, 0 within 0.05; black paint is greyer, about -0.4
SHADOWY_EVIDENCE: Final = 0.9  # of what may be a shadow
RIVAL_LIKELY: Final = 0.1  # the same for two closest looks: what is still open then is really hard to tell
TILTED_SIGMA_MM: Final = 3.0  # of a disc on a pocket's edge or on its side, whose place is the middle of what is seen
STACKED_SIGMA_MM: Final = 0.4  # how far a piece that lies on another may be tilted out of place
BEYOND_DOUBT: Final = 0.995  # probability from which no other place is looked for that a disc may lie at rather
SAME_PLACE_MM: Final = 3.0  # two places nearer than this are one; a fit on the wrong edge is farther off
CERTAIN_DISC: Final = 0.99  # probability from which it outweighs a hole that geometry does not see
SURE_POSE: Final = 0.75  # probability from which the network's word on how a disc lies is taken
# A raised disc shows by how much wall is below it, on the camera's side; where a neighbour stands there, or a rail's shade falls on it,
# hardly anything tells.
SURE_POSE_BEHIND: Final = 0.97
WALL_SIDE: Final = 0.5  # cosine of the angle from the camera's direction within which a neighbour stands before the wall
WALL_REACH_MM: Final = 36.0  # and from axis to axis: two pieces that touch, and the wall of a steep look
NEARER: Final = 0.5  # of the gap between fit and network: another fit must leave less than this
FARTHER: Final = (1.0, 1.7)  # shares of the network's shift, which is too short where it is far
FAR_MM: Final = 1.2  # the network has learned from places that are nearer than this, but for a few
OPEN_POSE: Final = 0.1  # probability that it lies otherwise from which that is an open question
NO_DISC: Final = 0.5  # probability of no disc from which what would be one only if it lay on its side or on another is none
POSE_DOUBT_MM: Final = 3.0  # how far off a place is when a disc lies otherwise than it was taken to lie


@dataclass(frozen=True, slots=True)
class Found:
    """One disc, before the camera's own uncertainty is added.

    `sigma_mm` per axis is that of fit and network together.
    """

    kind: Kind
    pose: Pose
    x_mm: float
    y_mm: float
    sigma_mm: float
    rim: float
    hole: float


def _confirmed(one: Chosen, fit: Fit) -> bool:
    """Whether circle and fit together show a disc: shadows and stains have a rim, but no hole in its middle.

    Of doubtful ones the network decides.
    """
    if one.doubtful:
        return True
    shadowy = one.kind == "black" and one.redness > SHADOW_REDNESS
    return one.candidate.score * fit.hole >= (SHADOWY_EVIDENCE if shadowy else LEAST_EVIDENCE)


def _final(
    image: NDArray[np.uint8], camera: Camera, one: Chosen, look: Look, near: list[Neighbour], ask: Ask | None
) -> tuple[Fit | None, Look]:
    """The fit with all pixels, and what is left of the first look's doubt; a rival place is looked at as closely."""
    stride = max(1, round(camera.px_per_mm(look.x_mm, look.y_mm) * CLOSE_LOOK_MM))
    closely = Manner(one.base_mm, stride, foot_mm=look.foot_mm)
    sound: list[tuple[bool, Look, Fit]] = []
    for first in (look, look.rival) if look.rival else (look,):
        fit = fit_disc(image, camera, first.x_mm, first.y_mm, one.kind, near, closely)
        if fit is not None and not is_impossible(one, fit):
            # Both looks count: the stiff one is less easily talked into a wrong place, the free one sees more.
            here = Look(fit.x_mm, fit.y_mm, look.foot_mm, doubt_of(fit) + (first.doubt if look.rival else 0.0))
            sound.append((not _confirmed(one, fit), seconded(ask, one, [here])[0] if look.rival else here, fit))
    if not sound:
        return None, look
    _, best, fit = min(sound, key=lambda found: (found[0], found[1].doubt))
    spread = spread_mm(best, [found[1] for found in sound], RIVAL_LIKELY) if len(sound) > 1 else look.spread_mm
    return fit, replace(best, spread_mm=spread)


def find_discs(image: NDArray[np.uint8], camera: Camera, network: Eyes | None) -> list[Found]:
    """Every disc on the table in `image` (uint8 BGR), those in the pockets' bags left out; by geometry alone without a `network`."""
    view = view_from_above(image, camera)
    wood = wood_light(view)
    ask: Ask | None = None if network is None else partial(network.look, image, camera, wood=wood, mirrored_too=True)
    found = _settled(image, camera, _screened(ask, choose(view, camera, wood)), ask)
    if ask is not None:
        sure = [_covered(disc) for _, disc, likely in found if likely >= BEYOND_DOUBT]
        more = [one for one, likely in overlooked(view, wood, sure, ask) if _is_better(one, likely, found)]
        if more:  # each is the neighbour of others, whose pixels it shares, and may be what another place was taken for
            kept = [one for one, disc, _ in found if not any(_overlaps(other, disc) for other in more)]
            found = _settled(image, camera, [*kept, *more], ask)
    return [disc for _, disc, _ in found]


def _settled(image: NDArray[np.uint8], camera: Camera, chosen: list[Chosen], ask: Ask | None) -> list[tuple[Chosen, Found, float]]:
    """Those of the chosen that are discs, with the network's probability of each that lies flat, 1 of others."""
    looks = first_looks(image, camera, chosen, ask)
    found: list[tuple[Chosen, Found, float]] = []
    fits: list[tuple[int, Fit]] = []
    refused: set[int] = set()
    # The least likely first, so that what is no disc pushes no disc aside.
    for index, one in reversed(list(enumerate(chosen))):
        look = looks[index]
        if one.pose == "on_edge":
            found.append((one, _on_edge(one), 1.0))
            continue
        near = beside(looks, chosen, index, refused)
        fit, settled = _final(image, camera, one, look, near, ask)
        if fit is not None and not _is_disc(ask, one, fit):
            fit = _tried_again(image, camera, ask, one, fit, near)
        if fit is None:
            refused.add(index)
            found += [(one, _on_edge(one), 1.0)] if one.hangs else []
            continue
        looks[index] = settled
        fits.append((index, fit))
    pull = lamp_pull([fit for _, fit in fits], camera)
    places = []
    for index, fit in fits:
        x, y = without_pull(fit, pull)
        spread = math.hypot(looks[index].spread_mm, DOUBT * float(np.hypot(*pull)))
        places.append(Place(x, y, fitted_sigma_mm(fit.sigma_mm, spread, camera.px_per_mm(x, y))))
    opinions = _opinions(ask, [chosen[index] for index, _ in fits], places)
    for (index, _), place, opinion in zip(fits, places, opinions, strict=True):
        one, near = chosen[index], beside(looks, chosen, index, refused)
        if one.doubtful and (opinion is None or opinion.disc < one.least_disc):
            continue
        if ask is not None and opinion is not None and _is_doubted(place, opinion):
            place, opinion = _looked_at_again(image, camera, ask, one, place, opinion, near)  # noqa: PLW2901
        pose, settled_at = _judged(image, camera, one, place, opinion, near)
        if opinion is not None and pose != one.pose and opinion.kind[-1] > NO_DISC:
            continue
        kind = one.kind if opinion is None else opinion.colour(one.kind)
        disc = Found(kind, pose, settled_at.x_mm, settled_at.y_mm, settled_at.sigma_mm, one.candidate.rim, one.candidate.hole)
        found.append((one, disc, opinion.disc if opinion is not None and pose == "flat" else 1.0))
    return found


def _is_better(one: Chosen, likely: float, found: list[tuple[Chosen, Found, float]]) -> bool:
    """Whether a place is none of those that were found, and likelier than those that a disc there would overlap."""
    for _, disc, other in found:
        if math.hypot(one.x_mm - disc.x_mm, one.y_mm - disc.y_mm) < SAME_PLACE_MM or (_overlaps(one, disc) and likely <= other):
            return False
    return True


def _overlaps(one: Chosen, disc: Found) -> bool:
    return overlap(Disk(one.x_mm, one.y_mm, one.candidate.solid.radius_mm), _covered(disc))


def _covered(disc: Found) -> Disk:
    return Disk(disc.x_mm, disc.y_mm, solid_of(disc.kind).radius_mm)


def _on_edge(one: Chosen) -> Found:
    return Found(one.kind, "on_edge", one.x_mm, one.y_mm, TILTED_SIGMA_MM, one.candidate.rim, one.candidate.hole)


def _screened(ask: Ask | None, chosen: list[Chosen]) -> list[Chosen]:
    """Without the doubtful ones that the network takes for no disc; a worn rim or a dark hole leaves geometry little to go by.

    A doubtful circle may lie beside its disc: it is moved to the place around it that looks most like one.
    """
    doubtful = [one for one in chosen if one.doubtful]
    if not doubtful:
        return chosen
    sure = [one for one in chosen if not one.doubtful]
    if ask is None:
        return sure
    for one in doubtful:
        (x, y), disc = best_around(ask, one, one.kind)
        if disc >= WORTH_A_LOOK:
            sure.append(replace(one, x_mm=x, y_mm=y))
    return sure


def _is_disc(ask: Ask | None, one: Chosen, fit: Fit) -> bool:
    """Whether a fit is on a disc, by its hole or by its looks."""
    return _confirmed(one, fit) or _recognised(ask, one, fit)


def _tried_again(image: NDArray[np.uint8], camera: Camera, ask: Ask | None, one: Chosen, fit: Fit, near: list[Neighbour]) -> Fit | None:
    """A fit that shows no disc, on another edge than its upper one, begun anew where the network has the disc; None if there is none."""
    if ask is None or one.pose != "flat":
        return None
    opinion = ask(np.array([(fit.x_mm, fit.y_mm)]), [one.kind])[0]
    if opinion.disc < SURE_DISC:
        return None
    return next((again for again in _fits_beyond(image, camera, one, fit, opinion, near) if _is_disc(ask, one, again)), None)


def _recognised(ask: Ask | None, one: Chosen, fit: Fit) -> bool:
    """Whether the network is certain of a flat disc whose hole shows as little as it does in dark paint on a dark spot."""
    if ask is None or one.pose != "flat":
        return False
    return ask(np.array([(fit.x_mm, fit.y_mm)]), [one.kind])[0].disc >= CERTAIN_DISC


def _opinions(ask: Ask | None, chosen: list[Chosen], places: list[Place]) -> list[Opinion | None]:
    """The network's opinion on every disc that seems to lie flat; None where there is no network."""
    out: list[Opinion | None] = [None] * len(chosen)
    flat = [k for k, one in enumerate(chosen) if one.pose == "flat"]
    if ask is not None and flat:
        opinions = ask(np.array([(places[k].x_mm, places[k].y_mm) for k in flat]), [chosen[k].kind for k in flat])
        for k, opinion in zip(flat, opinions, strict=True):
            out[k] = opinion
    return out


def _looked_at_again(
    image: NDArray[np.uint8], camera: Camera, ask: Ask, one: Chosen, place: Place, opinion: Opinion, near: list[Neighbour]
) -> tuple[Place, Opinion]:
    """The place to which a fit comes from where the network has the disc, if both agree better on that one; else what there was.

    Dark pieces in a rail's shade have two edges that a fit may take for the upper one.
    """
    best, gap = (place, opinion), float(np.hypot(*opinion.shift_mm)) * NEARER
    for fit in _fits_beyond(image, camera, one, place, opinion, near):
        there = Place(fit.x_mm, fit.y_mm, fitted_sigma_mm(fit.sigma_mm, 0.0, camera.px_per_mm(fit.x_mm, fit.y_mm)))
        second = ask(np.array([(fit.x_mm, fit.y_mm)]), [one.kind])[0]
        if float(np.hypot(*second.shift_mm)) < gap:
            best, gap = (there, second), float(np.hypot(*second.shift_mm))
    return best


def _fits_beyond(
    image: NDArray[np.uint8], camera: Camera, one: Chosen, place: Place | Fit, opinion: Opinion, near: list[Neighbour]
) -> Iterator[Fit]:
    """Fits that begin where the network has the disc."""
    stride = max(1, round(camera.px_per_mm(place.x_mm, place.y_mm) * CLOSE_LOOK_MM))
    here = np.array([place.x_mm, place.y_mm])
    starts = [here + share * opinion.shift_mm for share in FARTHER]
    for x, y in [*starts, *against_rails(starts[0], solid_of(one.kind).radius_mm)]:
        fit = fit_disc(image, camera, x, y, one.kind, near, Manner(one.base_mm, stride))
        if fit is not None and not is_impossible(one, fit):
            yield fit


def _is_doubted(place: Place, opinion: Opinion) -> bool:
    """Whether the network has a disc elsewhere: farther off than the doubt of both, or than it sees well."""
    return contradict(place, opinion) or float(np.hypot(*opinion.shift_mm)) > FAR_MM


def _judged(
    image: NDArray[np.uint8], camera: Camera, one: Chosen, place: Place, opinion: Opinion | None, near: list[Neighbour]
) -> tuple[Pose, Place]:
    """How a disc lies and where, from the fit and the network's opinion."""
    if opinion is None:
        return one.pose, place
    pose = POSES[int(opinion.pose.argmax())]
    hidden = _stands_behind(camera, place, near) or at_rail(place.x_mm, place.y_mm, solid_of(one.kind).radius_mm)
    enough = SURE_POSE_BEHIND if hidden else SURE_POSE
    if pose == "flat" or opinion.pose.max() < enough:
        at, other = fuse(place, opinion), float(opinion.pose[1:].sum())
        if pose == "flat" and other < OPEN_POSE:
            return "flat", at
        return "flat", replace(at, sigma_mm=math.hypot(at.sigma_mm, POSE_DOUBT_MM * math.sqrt(other)))
    if pose == "stacked":
        raised = fit_disc(image, camera, place.x_mm, place.y_mm, one.kind, near, Manner(PIECE_THICKNESS_MM))
        if raised is not None:
            sigma = fitted_sigma_mm(raised.sigma_mm, STACKED_SIGMA_MM, camera.px_per_mm(raised.x_mm, raised.y_mm))
            return pose, Place(raised.x_mm, raised.y_mm, sigma)
    return pose, replace(place, sigma_mm=TILTED_SIGMA_MM)


def _stands_behind(camera: Camera, place: Place, near: list[Neighbour]) -> bool:
    """Whether another disc hides the wall that a disc shows to the camera."""
    toward = camera.centre_mm[:2] - (place.x_mm, place.y_mm)
    toward /= max(float(np.hypot(*toward)), 1.0)
    for other in near:
        x, y = other.x_mm - place.x_mm, other.y_mm - place.y_mm
        away = math.hypot(x, y)
        if away < WALL_REACH_MM and x * toward[0] + y * toward[1] > WALL_SIDE * away:
            return True
    return False
