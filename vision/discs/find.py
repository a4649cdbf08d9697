"""From a picture to its discs: candidates, one disc a place, a fit of each beside its neighbours, kind."""

from __future__ import annotations

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
from vision.discs.solid import solid_of
from vision.discs.topview import MM_PER_PX, PLANE_MM, TopView, view_from_above

Array = NDArray[np.float64]

LEAST_PIECE: Final = 0.36  # candidate score; true pieces under the poorest light seen reach 0.4
LEAST_STRIKER: Final = 0.55  # a striker's rim and hole are longer and clearer; rings of other things are common at this size
OVERLAP: Final = 0.80  # two discs' axes are never nearer than this share of their radii's sum (1 but for the view's own error)
NEAR_MM: Final = 62.0  # discs whose axes are further apart share no pixel of a patch
LEAST_SHIFT_MM: Final = 1.0  # below this upper and lower edge lie within the fit's reach of each other
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


def on_surface(x_mm: float, y_mm: float, radius_mm: float) -> bool:
    """Whether a flat disc can lie there: inside the rails, its axis not over a pocket."""
    limit = HALF_MM - radius_mm + OUTSIDE_MM
    if abs(x_mm) > limit or abs(y_mm) > limit:
        return False
    return all(np.hypot(x_mm - px, y_mm - py) > POCKET_RADIUS_MM for px, py in POCKETS_MM.values())


def _best_fit(
    image: NDArray[np.uint8], camera: Camera, place: tuple[float, float], kind: Kind, near: list[Neighbour], *, first: bool
) -> Fit | None:
    """Fit from the place and, the first time, from where the disc would be if its lower edge had been taken for the upper."""
    starts = [place]
    away = np.array(place) - camera.centre_mm[:2]
    shift = away * solid_of(kind).height_mm / camera.centre_mm[2]
    if first and np.hypot(*shift) > LEAST_SHIFT_MM:
        starts.append((place[0] + float(shift[0]), place[1] + float(shift[1])))
    fits = [fit for start in starts if (fit := fit_disc(image, camera, *start, kind, near)) is not None]
    return min(fits, key=lambda fit: fit.cost, default=None)


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
    fits: list[Fit | None] = [None] * len(chosen)
    for _ in range(2):  # the second time beside neighbours whose places are fitted, too
        for index, (x, y) in enumerate(places):
            near = [
                Neighbour(*places[other], kinds[other])
                for other in range(len(places))
                if other != index and np.hypot(x - places[other][0], y - places[other][1]) < NEAR_MM
            ]
            if fits[index] is not None and not near:
                continue
            fits[index] = _best_fit(image, camera, (x, y), kinds[index], near, first=fits[index] is None)
        places = [(fit.x_mm, fit.y_mm) if fit is not None else place for fit, place in zip(fits, places, strict=True)]
    return [
        Found(kind, fit, one.rim, one.hole)
        for (one, _, kind), fit in zip(chosen, fits, strict=True)
        if fit is not None and on_surface(fit.x_mm, fit.y_mm, one.solid.radius_mm)
    ]
