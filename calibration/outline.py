"""Where the table might be when its pockets are no dark discs (pale cloth): the frame's straight edges as two pairs of lines.

Only guesses leave this module, as from `coarse`; it is slower and is asked only when the pockets gave nothing.
"""

from __future__ import annotations

from itertools import combinations
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.coarse import pose_of_corners
from calibration.features import rails
from calibration.lens import Lens
from calibration.optics import View
from rules.table import HALF_MM, RAIL_HEIGHT_MM, RAIL_WIDTH_MM

Array = NDArray[np.float64]

SMALL_PX: Final = 480  # short side searched: a rail is 20 px wide, grain is gone
FAMILY_RAD: Final = np.radians(14.0)  # opposite rails converge by this much at 15 degrees of tilt
LINES: Final = 7  # per direction: three edges of each of two rails, and one that is none
APART_PX: Final = 5.0
SQUARE: Final = 0.78  # shorter over longer side of a tilted square
SMALLEST: Final = 0.45  # of the short side
VOTES: Final = 60  # pixels of edge on one line, an eighth of the short side
MOST_QUADS: Final = 300  # of 441 at most; each costs a tenth of a millisecond
ON_PX: Final = 1.5
# What a quadrilateral of strong edges can be: half side and height above the surface.
LEVELS: Final = ((HALF_MM, 0.0), (HALF_MM, RAIL_HEIGHT_MM), (HALF_MM + RAIL_WIDTH_MM, RAIL_HEIGHT_MM))


def outline_guesses(gray: NDArray[np.uint8], lens: Lens, most: int = 4) -> list[View]:
    """Poses worth refining, best supported by edges first."""
    k = SMALL_PX / min(gray.shape)
    small = cv2.GaussianBlur(cv2.resize(gray, None, fx=k, fy=k, interpolation=cv2.INTER_AREA), (0, 0), 1.5)
    matrix = lens.k_matrix
    matrix[:2] *= k
    flat = cv2.undistort(small, matrix, lens.dist_coeffs)
    edges = cv2.Canny(flat, 20, 50)
    found = cv2.HoughLines(edges, 1, np.radians(0.5), VOTES)
    if found is None:
        return []
    lines = np.asarray(found, dtype=np.float64).reshape(-1, np.asarray(found).shape[-1])[:400, :2]
    angle = np.angle(np.sum(np.exp(4j * lines[:60, 1]))) / 4
    families = []
    for quarter in (0.0, np.pi / 2):
        off = (lines[:, 1] - angle - quarter + np.pi / 2) % np.pi - np.pi / 2
        families.append(_distinct(lines[np.abs(off) < FAMILY_RAD]))
    quads: list[tuple[float, Array]] = []
    for (i, a), (j, b) in combinations(enumerate(families[0]), 2):
        for (m, c), (n, d) in combinations(enumerate(families[1]), 2):
            quad = np.array([_cross(a, c), _cross(a, d), _cross(b, d), _cross(b, c)])
            sides = np.linalg.norm(quad - np.roll(quad, -1, axis=0), axis=1)
            if np.isfinite(quad).all() and sides.min() > max(SQUARE * sides.max(), SMALLEST * SMALL_PX):
                quads.append((float(i + j + m + n), quad))
    quads.sort(key=lambda item: item[0])
    out: list[tuple[float, View]] = []
    inverse = np.linalg.inv(matrix)
    far_px = np.asarray(cv2.distanceTransform(255 - edges, cv2.DIST_L2, 3), dtype=np.float32)
    frame = np.concatenate([f.points_mm[:, ::8].reshape(-1, 3) for f in rails(0.5)])
    for _, quad in quads[:MOST_QUADS]:
        normal = np.c_[quad, np.ones(4)] @ inverse.T
        order = np.argsort(np.arctan2(*(normal[:, :2] - normal[:, :2].mean(axis=0)).T[::-1]))
        for half, height in LEVELS:
            corners = np.array([(x * half, y * half, height) for x, y in ((-1, -1), (-1, 1), (1, 1), (1, -1))])
            view = pose_of_corners(lens, corners, normal[order, :2])
            if view is not None:
                out.append((_on_edges(View(view.pose, matrix, np.zeros(5)), frame, far_px), view))
    out.sort(key=lambda item: -item[0])
    return [view for _, view in out[:most]]


def _on_edges(view: View, points_mm: Array, far_px: NDArray[np.float32]) -> float:
    """Share of the frame's points that lie on an edge of the picture."""
    px = np.round(view.to_px(points_mm)).astype(int)
    height, width = far_px.shape
    inside = (px >= 0).all(axis=1) & (px[:, 0] < width) & (px[:, 1] < height)
    return float((far_px[px[inside, 1], px[inside, 0]] <= ON_PX).sum() / len(px))


def _distinct(lines: Array) -> list[Array]:
    kept: list[Array] = []
    middle = SMALL_PX / 2
    for line in lines:
        # Compare where lines pass the middle of the picture: rho alone jumps where theta wraps.
        place = _place(line, middle)
        if all(abs(place - _place(other, middle)) > APART_PX for other in kept):
            kept.append(line)
        if len(kept) == LINES:
            break
    return kept


def _place(line: Array, middle: float) -> float:
    sign = 1.0 if np.cos(line[1]) + np.sin(line[1]) > 0 else -1.0
    return float(sign * (line[0] - middle * (np.cos(line[1]) + np.sin(line[1]))))


def _cross(a: Array, b: Array) -> Array:
    normals = np.array([[np.cos(a[1]), np.sin(a[1])], [np.cos(b[1]), np.sin(b[1])]])
    if abs(np.linalg.det(normals)) < 0.1:
        return np.full(2, np.nan)
    met: Array = np.linalg.solve(normals, np.array([a[0], b[0]]))
    return met
