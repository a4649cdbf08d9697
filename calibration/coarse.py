"""Where the table might be: the four pockets as discs darker than what surrounds them, and every square they could be the corners of.

Only guesses leave this module. Each is a pose to be refined and then believed or refused by what the picture shows along
every line; a guess that is wrong costs time, never a wrong answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.lens import Lens
from calibration.opencv_adapter import undistorted
from calibration.optics import View, view_of
from rules.table import POCKET_RADIUS_MM, POCKETS_MM

Array = NDArray[np.float64]
South = Literal["bottom", "left", "top", "right"]

SMALL_PX: Final = 320  # short side of the picture that is searched: a pocket is still 8 to 16 px in radius
RADII_PX: Final = (8.0, 9.5, 11.5, 13.5, 16.0)  # table filling half to all of the short side, each good for +-10 %
SURROUND: Final = 1.25  # template reaches to this multiple of the radius; the rail begins at 1.3
CANDIDATES: Final = 14  # four pockets, and room for dark discs, sleeves and knots
LOWEST_SCORE: Final = 0.45  # normalised correlation; pockets score above 0.65, grain below 0.5
FARTHEST_MM: Final = 25.0  # corners of a guess from where its pose has them
MAX_TILT_RAD: Final = np.radians(35)  # twice what is promised: the guess itself is a few degrees off
HEIGHTS_MM: Final = (500.0, 4000.0)  # wide around the promised 1.1 to 1.7 m


def pocket_candidates(gray: NDArray[np.uint8]) -> Array:
    """Dark discs, best first: (n, 4) rows of x, y, radius in px of `gray`, and normalised correlation."""
    k = SMALL_PX / min(gray.shape)
    small = cv2.resize(gray, None, fx=k, fy=k, interpolation=cv2.INTER_AREA)
    # Logarithm: a pocket is a tenth of the wood's brightness under any lamp.
    picture = np.log(cv2.GaussianBlur(small, (0, 0), 1).astype(np.float32) + 8)
    best = np.full(picture.shape, -1, np.float32)
    radius = np.zeros(picture.shape, np.float32)
    for r in RADII_PX:
        size = int(np.ceil(SURROUND * r))
        y, x = np.mgrid[-size : size + 1, -size : size + 1]
        d = np.hypot(x, y)
        mask = (d <= SURROUND * r).astype(np.float32)
        area = float(mask.sum())
        disc = np.clip(d - r + 0.5, 0, 1).astype(np.float32)
        template = (disc - (disc * mask).sum() / area) * mask
        norm = float(np.linalg.norm(template))
        padded = cv2.copyMakeBorder(picture, size, size, size, size, cv2.BORDER_REPLICATE)
        product = cv2.filter2D(padded, -1, template)
        mean = cv2.filter2D(padded, -1, mask / area)
        spread = np.sqrt(np.maximum(cv2.filter2D(padded * padded, -1, mask / area) - mean * mean, 0) * area)
        # 0.3 of the log range in the denominator keeps flat noise from scoring like a faint pocket.
        score = (product / (spread * norm + 0.3 * norm))[size:-size, size:-size]
        better = score > best
        best[better] = score[better]
        radius[better] = r
    rows = []
    for _ in range(CANDIDATES):
        at = np.unravel_index(int(best.argmax()), best.shape)
        if best[at] < LOWEST_SCORE:
            break
        r = float(radius[at])
        rows.append(((at[1] + 0.5) / k - 0.5, (at[0] + 0.5) / k - 0.5, r / k, float(best[at])))
        cv2.circle(best, (int(at[1]), int(at[0])), round(r), -1.0, -1)
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


def _squares(points: Array) -> Iterator[tuple[Array, float]]:
    """Quadruples of candidates that a square could look like, in order around it, and triples completed by a fourth corner."""
    xy, r, score = points[:, :2], points[:, 2], points[:, 3]
    for four in combinations(range(len(points)), 4):
        index = list(four)
        if r[index].max() > 1.6 * r[index].min():
            continue
        quad = xy[index]
        centre = quad.mean(axis=0)
        order = np.argsort(np.arctan2(*(quad - centre).T[::-1]))
        quad = quad[order]
        sides = np.linalg.norm(quad - np.roll(quad, -1, axis=0), axis=1)
        diagonals = np.linalg.norm(quad[:2] - quad[2:], axis=1)
        expected = r[index].mean() * 870 / POCKET_RADIUS_MM
        if sides.min() < 0.75 * sides.max() or diagonals.min() < 0.8 * diagonals.max():
            continue
        if not 0.7 < sides.mean() / expected < 1.4:
            continue
        yield quad, float(score[index].sum())
    for three in combinations(range(min(len(points), 8)), 3):
        index = list(three)
        for corner in range(3):
            b, (a, c) = xy[index[corner]], (xy[i] for j, i in enumerate(index) if j != corner)
            u, v = a - b, c - b
            lu, lv = np.linalg.norm(u), np.linalg.norm(v)
            expected = r[index].mean() * 870 / POCKET_RADIUS_MM
            if min(lu, lv) < 0.75 * max(lu, lv) or abs(u @ v) > 0.25 * lu * lv or not 0.7 < (lu + lv) / 2 / expected < 1.4:
                continue
            quad = np.stack([b, a, a + c - b, c])
            order = np.argsort(np.arctan2(*(quad - quad.mean(axis=0)).T[::-1]))
            yield quad[order], float(score[index].sum()) + 0.3


def _from_above(normal: Array, half_mm: float) -> tuple[Array, Array]:
    """Pose looking straight down that fits a quadrilateral (4, 2) of undistorted corners SW, NW, NE, SE of a square best."""
    centre = normal.mean(axis=0)
    up = (normal[1] + normal[2] - normal[0] - normal[3]) / 2
    side = np.linalg.norm(normal - np.roll(normal, -1, axis=0), axis=1).mean()
    depth = 2 * half_mm / side
    yaw = np.arctan2(up[1], up[0])  # direction of table north in the picture
    north = np.array([np.cos(yaw), np.sin(yaw), 0])
    east = np.array([-north[1], north[0], 0])  # picture y points down: east is a quarter turn on
    rotation = np.stack([east, north, np.cross(east, north)], axis=1)
    rvec, _ = cv2.Rodrigues(rotation)
    return np.asarray(rvec, dtype=np.float64), np.array([[centre[0] * depth], [centre[1] * depth], [depth]])


def pose_of_corners(lens: Lens, corners_mm: Array, normal: Array) -> View | None:
    """A plausible pose that shows SW, NW, NE, SE corners (4, 3) mm at undistorted directions (4, 2), or None."""
    # From straight above: closed solutions swing to a wrong tilt when the view is nearly square on.
    start = _from_above(normal, float(corners_mm[2, 0]))
    refined = cv2.solvePnPRefineLM(corners_mm, np.ascontiguousarray(normal), np.eye(3), None, *start)
    view = view_of(lens, np.concatenate([np.ravel(v) for v in refined]))
    height = float(view.centre_mm[2])
    if view.tilt_rad > MAX_TILT_RAD or not HEIGHTS_MM[0] < height < HEIGHTS_MM[1]:
        return None
    rotation = np.asarray(cv2.Rodrigues(view.pose[:3])[0])
    seen = corners_mm @ rotation.T + view.pose[3:]
    miss_mm = np.linalg.norm(seen[:, :2] / seen[:, 2:] - normal, axis=1).max() * height
    return view if miss_mm < FARTHEST_MM else None


def _pooled(grays: Sequence[NDArray[np.uint8]]) -> Array:
    """Candidates of several pictures of one unmoved camera: what a hand hides in one shows in another."""
    every = np.concatenate([pocket_candidates(gray) for gray in grays])
    kept: list[Array] = []
    for row in every[np.argsort(-every[:, 3])]:
        if all(np.hypot(*(row[:2] - other[:2])) > other[2] for other in kept):
            kept.append(row)
    return np.array(kept[:CANDIDATES], dtype=np.float64).reshape(-1, 4)


def guesses(grays: Sequence[NDArray[np.uint8]], lens: Lens, most: int = 6) -> list[View]:
    """Poses worth refining, most promising first."""
    points = _pooled(grays)
    ranked = sorted(_squares(points), key=lambda item: -item[1])[: 4 * most]
    found: list[tuple[float, View]] = []
    # On the table SW, NW, NE, SE is clockwise from above, as ascending angle is in a picture with y down.
    corners = np.array([(*POCKETS_MM[name], 0.0) for name in ("SW", "NW", "NE", "SE")])
    for quad, score in ranked:
        view = pose_of_corners(lens, corners, undistorted(quad, lens.k_matrix, lens.dist_coeffs))
        if view is not None:
            miss = np.linalg.norm(view.to_px(corners) - quad, axis=1).max() / view.px_per_mm
            found.append((score - miss / FARTHEST_MM, view))
    found.sort(key=lambda item: -item[0])
    return [view for _, view in found[:most]]


def turned(view: View, south: South) -> View:
    """The same pose with the sides named so that S lies at the `south` of the picture."""
    wanted = {"bottom": (0, 1), "top": (0, -1), "left": (-1, 0), "right": (1, 0)}[south]
    rotation = np.asarray(cv2.Rodrigues(view.pose[:3])[0])
    best, best_dot = view, -np.inf
    for quarter in range(4):
        c, s = ((1, 0), (0, 1), (-1, 0), (0, -1))[quarter]
        turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
        pose = np.r_[np.asarray(cv2.Rodrigues(rotation @ turn)[0]).ravel(), view.pose[3:]]
        now = view.moved(pose)
        px = now.to_px(np.array([[0, 0, 0], [0, -300.0, 0]]))
        dot = float((px[1] - px[0]) @ wanted)
        if dot > best_dot:
            best, best_dot = now, dot
    return best
