"""Which candidates are discs, one disc a place, and how each lies: flat, on a rail, on a pocket's edge, or not on the table at all."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibration import Camera
from rules.facts import Pose
from rules.table import HALF_MM, POCKET_RADIUS_MM, POCKETS_MM, RAIL_HEIGHT_MM, RAIL_WIDTH_MM, Kind
from vision.discs.candidates import Candidate, candidates
from vision.discs.kinds import look, piece_colour
from vision.discs.rays import to_light
from vision.discs.topview import MM_PER_PX, PLANE_MM, TopView

Array = NDArray[np.float64]

LEAST_PIECE: Final = 0.30  # candidate score; true pieces under the poorest light reach this, and the fit has to confirm them
LEAST_STRIKER: Final = 0.55  # a striker's rim and hole are longer and clearer; rings of other things are common at this size
# Circles below these are discs only where the network says so: dark strikers in diffuse light, worn pieces in a rail's shadow.
DOUBTFUL_PIECE: Final = 0.20
DOUBTFUL_STRIKER: Final = 0.42
SURE_DISC: Final = 0.9  # probability from which the network's word that a doubtful circle is a disc is taken
LEAST_RAISED: Final = 0.5  # on rails and pocket edges there are more edges than on the surface, and fewer discs
RIVAL: Final = 0.9  # an overlapping circle of at least this share of the chosen one's score may be the right one
OVERLAP: Final = 0.80  # two discs' axes are never nearer than this share of their radii's sum (1 but for the view's own error)
GLARE: Final = 1.6  # times the wood's median light: more than grain and uneven lamps make
GLARE_REACH_MM: Final = 8.0  # around the rim
OUTSIDE_MM: Final = 3.0  # a flat disc's rim may seem this far within the rail
CIRCLE_OFF_MM: Final = 4.0  # a circle lies this far off its disc's axis, and more where the disc is dark
EDGE_MM: Final = 3.0  # a pocket's own rim is rounded and its projection this uncertain
LEAST_ON_WOOD: Final = 0.12  # share of a face that stands over the table when a disc hangs on a pocket's edge


@dataclass(frozen=True, slots=True)
class Chosen:
    """A candidate taken for a disc: rough axis in mm (on the surface it lies on), kind, pose, height of that surface in mm.

    `glaring`: the table around it mirrors a lamp; `redness`: see `kinds.look`; `rivals`: axes (x, y) of overlapping circles that
    scored nearly as well; `doubtful`: no disc unless the network says so, with `least_disc` as its probability; `hangs`: on a pocket's edge
    if it turns out not to lie flat.
    """

    candidate: Candidate
    x_mm: float
    y_mm: float
    kind: Kind
    pose: Pose
    base_mm: float
    glaring: bool
    redness: float
    rivals: tuple[tuple[float, float], ...] = ()
    doubtful: bool = False
    hangs: bool = False
    least_disc: float = SURE_DISC


class Disk(NamedTuple):
    """What a disc covers of the table: axis and radius, mm."""

    x_mm: float
    y_mm: float
    radius_mm: float


def overlap(one: Disk, other: Disk) -> bool:
    """Whether two discs would lie in each other: their places may still be some millimetres off themselves."""
    return math.hypot(one.x_mm - other.x_mm, one.y_mm - other.y_mm) < OVERLAP * (one.radius_mm + other.radius_mm)


def axis_mm(camera: Camera, one: Candidate, base_mm: float = 0.0) -> tuple[float, float]:
    """Axis of a candidate if its disc lies `base_mm` above the table."""
    px = camera.to_px([[one.x_mm, one.y_mm, PLANE_MM]])
    x, y = camera.to_mm(px, base_mm + one.solid.height_mm)[0]
    return float(x), float(y)


def _face(view: TopView, one: Candidate) -> tuple[Array, Array]:
    """Places (N, 2) mm on the upper faces' plane and linear light (N, 3) of the flat of a candidate's face."""
    column, row = TopView.to_px([[one.x_mm, one.y_mm]])[0]
    inner = (one.solid.hole_radius_mm + 2.0) / MM_PER_PX
    outer = (one.solid.radius_mm - 3.0) / MM_PER_PX
    reach = int(outer) + 1
    top, left = max(0, int(row) - reach), max(0, int(column) - reach)
    patch = view.image[top : int(row) + reach + 1, left : int(column) + reach + 1]
    y, x = np.mgrid[top : top + patch.shape[0], left : left + patch.shape[1]]
    distance = np.hypot(x - column, y - row)
    flat = (distance > inner) & (distance < outer)
    return TopView.to_mm(np.stack([x[flat], y[flat]], axis=1)), to_light(patch[flat])


def _glaring(view: TopView, one: Candidate, wood: Array) -> bool:
    column, row = TopView.to_px([[one.x_mm, one.y_mm]])[0].astype(int)
    reach = int((one.solid.radius_mm + GLARE_REACH_MM) / MM_PER_PX)
    patch = view.image[max(0, row - reach) : row + reach + 1, max(0, column - reach) : column + reach + 1]
    bright = np.percentile(to_light(patch.reshape(-1, 3)).mean(axis=1), 85)  # the disc itself covers about half
    return bool(bright > GLARE * wood.mean())


def on_surface(x_mm: float, y_mm: float, radius_mm: float, off_mm: float) -> bool:
    """Whether a flat disc can lie there: inside the rails, its axis not over a pocket. `off_mm`: how far off the place may be."""
    limit = HALF_MM - radius_mm + OUTSIDE_MM + off_mm
    return abs(x_mm) <= limit and abs(y_mm) <= limit and _from_pocket(np.array([[x_mm, y_mm]]))[0] > -off_mm


def _from_pocket(points_mm: Array) -> Array:
    """Distance (N,) of points (N, 2) from the nearest pocket's edge, negative over the hole."""
    centres = np.array(list(POCKETS_MM.values()))
    away: Array = np.linalg.norm(points_mm[:, None] - centres, axis=2).min(axis=1) - POCKET_RADIUS_MM
    return away


def _on_rail(x_mm: float, y_mm: float) -> bool:
    return HALF_MM - EDGE_MM < max(abs(x_mm), abs(y_mm)) < HALF_MM + RAIL_WIDTH_MM + EDGE_MM


def _hangs_on_edge(camera: Camera, places: Array, light: Array, wood: Array) -> bool:
    """Whether part of a face over a pocket stands before the table's wood: a disc in the bag is cut off there."""
    height = camera.centre_mm[2]
    behind = camera.centre_mm[:2] + (places - camera.centre_mm[:2]) * (height / (height - PLANE_MM))
    outside = _from_pocket(behind) > EDGE_MM
    return bool(outside.mean() >= LEAST_ON_WOOD) and piece_colour(*look(light[outside], wood)) is not None


def _pose(camera: Camera, one: Candidate, places: Array, light: Array, wood: Array) -> tuple[Pose, float] | None:
    """How a candidate lies and the height of what it lies on; None when it is no disc on the table."""
    x, y = axis_mm(camera, one)
    over = _from_pocket(np.array([[x, y]]))[0] <= 0
    if on_surface(x, y, one.solid.radius_mm, CIRCLE_OFF_MM) and (not over or _hangs_on_edge(camera, places, light, wood)):
        return "flat", 0.0
    if one.large or one.score < LEAST_RAISED:
        return None
    if _on_rail(*axis_mm(camera, one, RAIL_HEIGHT_MM)):
        return "on_rail", RAIL_HEIGHT_MM
    return ("on_edge", 0.0) if _may_hang(camera, one, places, light, wood) else None


def _may_hang(camera: Camera, one: Candidate, places: Array, light: Array, wood: Array) -> bool:
    """Whether a circle may be a piece that hangs on a pocket's edge."""
    over = _from_pocket(np.array([axis_mm(camera, one)]))[0] <= 0
    return bool(over) and not one.large and one.score >= LEAST_RAISED and _hangs_on_edge(camera, places, light, wood)


def _is_doubtful(one: Candidate) -> bool:
    return one.score < (LEAST_STRIKER if one.large else LEAST_PIECE)


def choose(view: TopView, camera: Camera, wood: Array) -> list[Chosen]:
    """Discs among the candidates, best first; no two overlap. Doubtful ones come last and must lie flat.

    `wood` (3,) is the table's linear light, BGR.
    """
    chosen: list[Chosen] = []
    # What is doubtful must not take the place of what is not.
    for doubtful, one in sorted(((_is_doubtful(one), one) for one in candidates(view)), key=lambda pair: (pair[0], -pair[1].score)):
        if one.score < (DOUBTFUL_STRIKER if one.large else DOUBTFUL_PIECE):
            continue
        places, light = _face(view, one)
        if not len(light):
            continue
        found = _pose(camera, one, places, light, wood)
        redness, brightness = look(light, wood)
        kind: Kind | None = "striker" if one.large else piece_colour(redness, brightness)
        if found is None or kind is None:
            continue
        pose, base = found
        if doubtful and pose != "flat":
            continue
        x, y = axis_mm(camera, one, base)
        over = _overlapped(chosen, x, y, one.solid.radius_mm)
        if over is None:
            hangs = pose == "flat" and _may_hang(camera, one, places, light, wood)
            chosen.append(Chosen(one, x, y, kind, pose, base, _glaring(view, one, wood), redness, doubtful=doubtful, hangs=hangs))
            continue
        first = chosen[over]
        if doubtful and not first.doubtful:
            continue
        if first.candidate.large == one.large and one.score >= RIVAL * first.candidate.score and pose == first.pose:
            chosen[over] = replace(first, rivals=(*first.rivals, (x, y)))
    return chosen


def _overlapped(chosen: list[Chosen], x_mm: float, y_mm: float, radius_mm: float) -> int | None:
    here = Disk(x_mm, y_mm, radius_mm)
    return next((k for k, one in enumerate(chosen) if overlap(here, Disk(one.x_mm, one.y_mm, one.candidate.solid.radius_mm))), None)
