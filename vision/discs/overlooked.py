"""Pieces that no circle shows: dark ones side by side in the shade of a rail, whose edges are as faint as grain, as all stand at a start.

Every place that is painted and empty so far is shown to the network; where it is sure of a flat disc, one may lie.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from rules.table import HALF_MM
from vision.discs.candidates import Candidate
from vision.discs.kinds import LEAST_LIGHT, piece_colour
from vision.discs.looks import Ask
from vision.discs.rays import to_light
from vision.discs.select import DOUBTFUL_PIECE, OVERLAP, Chosen, on_surface
from vision.discs.solid import PIECE
from vision.discs.topview import MM_PER_PX, TopView

Array = NDArray[np.float64]

STEP_MM: Final = 4.0  # of the places shown: the network knows a disc that is 2 mm aside
RIM_MM: Final = 3.0  # of a face that is left out: worn paint, and what lies beside
WORTH_SETTLING: Final = 0.5  # probability from which a place is moved to where the network has its disc, and shown again
SETTLES: Final = 2  # times
LEAST_DISC: Final = 0.97  # probability from which a piece may lie there
MOST: Final = 400  # places shown, a millisecond each, the most strongly painted first; more are so in deep shade only


def overlooked(view: TopView, wood: Array, taken: Sequence[tuple[float, float, float]], ask: Ask) -> list[tuple[Chosen, float]]:
    """Places that no disc has taken and that the network takes for pieces, with its probability.

    Parameters
    ----------
    view : the table from above.
    wood : (3,) its linear light, BGR.
    taken : axis (x, y) and radius, mm, of every disc that has been found.
    ask : the network's opinion on places in the same picture.
    """
    places, looks = _painted(view, wood)
    free = [k for k, (x, y) in enumerate(places) if on_surface(x, y, PIECE.radius_mm, 0.0) and _is_free(x, y, taken)]
    colours = [piece_colour(*looks[k]) for k in free]
    shown = [(places[k], looks[k], colour) for k, colour in zip(free, colours, strict=True) if colour is not None]
    if not shown:
        return []
    shown = sorted(shown, key=lambda one: one[1][1] - abs(one[1][0]))[:MOST]
    opinions = ask(np.array([place for place, _, _ in shown]), [colour for _, _, colour in shown])
    out: list[tuple[Chosen, float]] = []
    for opinion, (place, look, colour) in sorted(zip(opinions, shown, strict=True), key=lambda one: -one[0].disc):
        if opinion.disc < WORTH_SETTLING:
            break
        known = [*taken, *((one.x_mm, one.y_mm, PIECE.radius_mm) for one, _ in out)]
        if not _is_free(place[0], place[1], known):
            continue
        at = place
        for _ in range(SETTLES):
            at = at + ask(at[None], [colour])[0].shift_mm
        x, y = (float(v) for v in at)
        disc = ask(at[None], [colour])[0].disc
        if _is_free(x, y, known) and disc >= LEAST_DISC:
            circle = Candidate(x, y, False, DOUBTFUL_PIECE, 0.0)
            out.append((Chosen(circle, x, y, colour, "flat", 0.0, False, look[0], doubtful=True, least_disc=LEAST_DISC), disc))
    return out


def _is_free(x_mm: float, y_mm: float, taken: Sequence[tuple[float, float, float]]) -> bool:
    return all(np.hypot(x_mm - x, y_mm - y) >= OVERLAP * (PIECE.radius_mm + radius) for x, y, radius in taken)


def _painted(view: TopView, wood: Array) -> tuple[Array, list[tuple[float, float]]]:
    """Places (N, 2) mm all over the playing surface, and redness and brightness of a face there, as `kinds.look` has them."""
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
    looks = np.stack([np.log(ratio[:, 2] / ratio[:, 1]), np.log(ratio.mean(axis=1))], axis=1)
    return places, [(float(redness), float(brightness)) for redness, brightness in looks]
