"""Pieces that no circle shows: dark ones side by side in the shade of a rail, whose edges are as faint as grain, as all stand at a start.

Every place that is painted and empty so far is shown to the network; where it is sure of a flat disc, one may lie.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from rules.table import HALF_MM, Kind
from vision.discs.candidates import Candidate
from vision.discs.kinds import LEAST_LIGHT, piece_colour
from vision.discs.looks import Ask
from vision.discs.rays import to_light
from vision.discs.select import DOUBTFUL_PIECE, Chosen, Disk, on_surface, overlap
from vision.discs.solid import PIECE
from vision.discs.topview import MM_PER_PX, TopView

Array = NDArray[np.float64]

STEP_MM: Final = 4.0  # of the places shown: the network knows a disc that is 2 mm aside
RIM_MM: Final = 3.0  # of a face that is left out: worn paint, and what lies beside
WORTH_SETTLING: Final = 0.5  # probability from which a place is moved to where the network has its disc, and shown again
SETTLES: Final = 2  # times
LEAST_DISC: Final = 0.97  # probability from which a piece may lie there
MOST: Final = 400  # places shown, a millisecond each, the most strongly painted first; more are so in deep shade only


def overlooked(view: TopView, wood: Array, taken: Sequence[Disk], ask: Ask) -> list[tuple[Chosen, float]]:
    """Places that no disc has taken and that the network takes for pieces, with its probability.

    Parameters
    ----------
    view : the table from above.
    wood : (3,) its linear light, BGR.
    taken : what every disc that has been found covers.
    ask : the network's opinion on places in the same picture.
    """
    painted = sorted(_painted(view, wood), key=lambda one: one[1][1] - abs(one[1][0]))
    free = ((at, look, colour) for at, look, colour in painted if on_surface(*at, PIECE.radius_mm, 0.0) and _is_free(*at, taken))
    shown = list(islice(free, MOST))
    if not shown:
        return []
    opinions = ask(np.array([at for at, _, _ in shown]), [colour for _, _, colour in shown])
    out: list[tuple[Chosen, float]] = []
    for opinion, (at, look, colour) in sorted(zip(opinions, shown, strict=True), key=lambda one: -one[0].disc):
        if opinion.disc < WORTH_SETTLING:
            break
        known = [*taken, *(Disk(one.x_mm, one.y_mm, PIECE.radius_mm) for one, _ in out)]
        if not _is_free(*at, known):
            continue
        place = np.array([at])
        for _ in range(SETTLES):
            place = place + ask(place, [colour])[0].shift_mm
        x, y = (float(v) for v in place[0])
        disc = ask(place, [colour])[0].disc
        if _is_free(x, y, known) and disc >= LEAST_DISC:
            circle = Candidate(x, y, False, DOUBTFUL_PIECE, 0.0)
            out.append((Chosen(circle, x, y, colour, "flat", 0.0, False, look[0], doubtful=True, least_disc=LEAST_DISC), disc))
    return out


def _is_free(x_mm: float, y_mm: float, taken: Sequence[Disk]) -> bool:
    return not any(overlap(Disk(x_mm, y_mm, PIECE.radius_mm), other) for other in taken)


def _painted(view: TopView, wood: Array) -> list[tuple[tuple[float, float], tuple[float, float], Kind]]:
    """Places (x, y), mm, whose face has a piece's colour: with redness and brightness, as `kinds.look` has them, and that colour."""
    limit = HALF_MM - PIECE.radius_mm
    ticks = np.arange(-limit, limit + STEP_MM / 2, STEP_MM)
    places = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    outer, inner = PIECE.radius_mm - RIM_MM, PIECE.hole_radius_mm + 1.0
    reach = int(outer / MM_PER_PX)
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1] * MM_PER_PX
    ring = ((np.hypot(x, y) < outer) & (np.hypot(x, y) > inner)).astype(np.float32)
    light = cv2.filter2D(to_light(view.image).astype(np.float32), -1, ring / ring.sum())
    column, row = np.rint(TopView.to_px(places)).astype(int).T
    ratio = np.maximum(light[row, column], LEAST_LIGHT) / wood
    looks = zip(np.log(ratio[:, 2] / ratio[:, 1]).tolist(), np.log(ratio.mean(axis=1)).tolist(), strict=True)
    return [
        ((x, y), look, colour) for (x, y), look in zip(places.tolist(), looks, strict=True) if (colour := piece_colour(*look)) is not None
    ]
