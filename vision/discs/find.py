"""From a picture to its discs: candidates, one disc a place, a fit of each beside its neighbours, kind."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration import Camera
from rules.table import HALF_MM, POCKET_RADIUS_MM, POCKETS_MM, Kind
from vision.discs.candidates import Candidate, candidates
from vision.discs.fit import Fit, Neighbour, fit_disc
from vision.discs.kinds import look, piece_colour, wood_light
from vision.discs.rays import to_light
from vision.discs.regions import FOOT_MM, MIRRORED_FOOT_MM
from vision.discs.solid import solid_of
from vision.discs.topview import MM_PER_PX, PLANE_MM, TopView, view_from_above

Array = NDArray[np.float64]
Place = tuple[float, float, float]  # x, y, foot: mm

LEAST_PIECE: Final = 0.36  # candidate score; true pieces under the poorest light seen reach 0.4
LEAST_STRIKER: Final = 0.55  # a striker's rim and hole are longer and clearer; rings of other things are common at this size
OVERLAP: Final = 0.80  # two discs' axes are never nearer than this share of their radii's sum (1 but for the view's own error)
NEAR_MM: Final = 62.0  # discs whose axes are further apart share no pixel of a patch
FIRST_LOOK_MM: Final = 0.9  # the first fit only has to tell upper from lower edge: pixels this far apart will do
FIRST_STIFFNESS: Final = 30.0  # of the first fit's appearance, see `fit_disc`
HOLE_SAYS: Final = 0.2  # weight of the hole's contrast against the cost of the whole, both as ratios
FIRST_MARGIN_MM: Final = -1.5  # of neighbours in the first fit: their places are some millimetres off
LEAST_SHIFT_MM: Final = 1.0  # below this upper and lower edge lie within the fit's reach of each other
GLARE: Final = 1.6  # times the wood's median light: more than grain and uneven lamps make
GLARE_REACH_MM: Final = 8.0  # around the rim
OUTSIDE_MM: Final = 3.0  # a flat disc's rim may seem this far within the rail


@dataclass(frozen=True, slots=True)
class Found:
    """One disc lying flat on the table, before the camera's own uncertainty is added."""

    kind: Kind
    fit: Fit
    rim: float
    hole: float


def _axis(camera: Camera, one: Candidate) -> tuple[float, float]:
    px = camera.to_px([[one.x_mm, one.y_mm, PLANE_MM]])
    x, y = camera.to_mm(px, one.solid.height_mm)[0]
    return float(x), float(y)


def _face_light(view: TopView, one: Candidate) -> Array:
    """Linear light (N, 3) of the flat of a candidate's face."""
    column, row = TopView.to_px([[one.x_mm, one.y_mm]])[0]
    inner = (one.solid.hole_radius_mm + 2.0) / MM_PER_PX
    outer = (one.solid.radius_mm - 3.0) / MM_PER_PX
    reach = int(outer) + 1
    top, left = max(0, int(row) - reach), max(0, int(column) - reach)
    patch = view.image[top : int(row) + reach + 1, left : int(column) + reach + 1]
    y, x = np.mgrid[top : top + patch.shape[0], left : left + patch.shape[1]]
    distance = np.hypot(x - column, y - row)
    return to_light(patch[(distance > inner) & (distance < outer)])


def _glaring(view: TopView, one: Candidate, wood: Array) -> bool:
    """Whether the table around a candidate mirrors a lamp."""
    column, row = TopView.to_px([[one.x_mm, one.y_mm]])[0].astype(int)
    reach = int((one.solid.radius_mm + GLARE_REACH_MM) / MM_PER_PX)
    patch = view.image[max(0, row - reach) : row + reach + 1, max(0, column - reach) : column + reach + 1]
    bright = np.percentile(to_light(patch.reshape(-1, 3)).mean(axis=1), 85)  # the disc itself covers about half
    return bool(bright > GLARE * wood.mean())


def on_surface(x_mm: float, y_mm: float, radius_mm: float) -> bool:
    """Whether a flat disc can lie there: inside the rails, its axis not over a pocket."""
    limit = HALF_MM - radius_mm + OUTSIDE_MM
    if abs(x_mm) > limit or abs(y_mm) > limit:
        return False
    return all(np.hypot(x_mm - px, y_mm - py) > POCKET_RADIUS_MM for px, py in POCKETS_MM.values())


def _near(places: list[tuple[float, float]], kinds: list[Kind], index: int) -> list[Neighbour]:
    """The other discs that may share pixels with one."""
    x, y = places[index]
    return [
        Neighbour(*place, kind)
        for other, (place, kind) in enumerate(zip(places, kinds, strict=True))
        if other != index and np.hypot(x - place[0], y - place[1]) < NEAR_MM
    ]


def _first_look(
    image: NDArray[np.uint8], camera: Camera, place: tuple[float, float], kind: Kind, near: list[Neighbour], *, glaring: bool
) -> Place:
    """The likeliest place and foot by a quick, stiff fit from the candidate's place and from further away from the camera's foot.

    A candidate may have taken the lower edge, or something between both, for the upper one.
    """
    shift = (np.array(place) - camera.centre_mm[:2]) * (solid_of(kind).height_mm / camera.centre_mm[2])
    parts = np.arange(0.0, 1.01, 0.5) if np.hypot(*shift) > LEAST_SHIFT_MM else np.zeros(1)
    stride = max(1, int(camera.px_per_mm(*place) * FIRST_LOOK_MM))
    looks = [(float(x), float(y), FOOT_MM) for x, y in np.array(place) + parts[:, None] * shift]
    best = min((_doubt(image, camera, look, kind, near, stride) for look in looks), key=lambda found: found[0])
    if not glaring:
        return best[1]
    mirrored = _doubt(image, camera, (*best[1][:2], MIRRORED_FOOT_MM), kind, near, stride)
    return min(best, mirrored, key=lambda found: found[0])[1]


def _doubt(image: NDArray[np.uint8], camera: Camera, start: Place, kind: Kind, near: list[Neighbour], stride: int) -> tuple[float, Place]:
    """How little a first fit convinces, and its place."""
    x, y, foot = start
    fit = fit_disc(image, camera, x, y, kind, near, stride=stride, stiff=FIRST_STIFFNESS, foot_mm=foot, margin_mm=FIRST_MARGIN_MM)
    if fit is None:
        return math.inf, start
    # A wrong place explains the light hardly worse, but it has no hole where the solid has one.
    return math.log(fit.cost) - HOLE_SAYS * math.log(max(fit.hole, 0.1)), (fit.x_mm, fit.y_mm, foot)


def find_discs(image: NDArray[np.uint8], camera: Camera) -> list[Found]:
    """Every flat disc in `image` (uint8 BGR)."""
    view = view_from_above(image, camera)
    wood = wood_light(view)
    chosen: list[tuple[Candidate, tuple[float, float], Kind]] = []
    for one in candidates(view):
        if one.score < (LEAST_STRIKER if one.large else LEAST_PIECE):
            continue
        x, y = _axis(camera, one)
        if not on_surface(x, y, one.solid.radius_mm):
            continue
        if any(
            np.hypot(x - other_x, y - other_y) < OVERLAP * (one.solid.radius_mm + other.solid.radius_mm)
            for other, (other_x, other_y), _ in chosen
        ):
            continue
        face = _face_light(view, one)
        if len(face) == 0:
            continue
        kind: Kind | None = "striker" if one.large else piece_colour(*look(face, wood))
        if kind is not None:
            chosen.append((one, (x, y), kind))
    places = [place for _, place, _ in chosen]
    kinds = [kind for _, _, kind in chosen]
    feet = []
    for index, place in enumerate(places):
        x, y, foot = _first_look(
            image, camera, place, kinds[index], _near(places, kinds, index), glaring=_glaring(view, chosen[index][0], wood)
        )
        places[index] = (x, y)
        feet.append(foot)
    fits: list[Fit | None] = []
    for index, (x, y) in enumerate(places):
        fit = fit_disc(image, camera, x, y, kinds[index], _near(places, kinds, index), foot_mm=feet[index])
        fits.append(fit)
        if fit is not None:
            places[index] = (fit.x_mm, fit.y_mm)
    return [
        Found(kind, fit, one.rim, one.hole)
        for (one, _, kind), fit in zip(chosen, fits, strict=True)
        if fit is not None and on_surface(fit.x_mm, fit.y_mm, one.solid.radius_mm)
    ]
