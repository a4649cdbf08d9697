"""Where a disc may be: places around which the edges of the view from above run along a circle of a disc's size.

The colour of disc and wood plays no part, so that bare strikers are found like red pieces, and a highlight, whose edge is soft
and follows no such circle, is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.discs.solid import PIECE, STRIKER, Solid
from vision.discs.topview import MM_PER_PX, TopView

Float = NDArray[np.float32]

RING_WIDTH_MM: Final = 1.3  # sigma of the ring that an edge may lie in: worn rims and the view's own error
SOFT_PX: Final = 0.8  # smoothing before the gradient: noise and wood fibre
EDGE_SHARE: Final = 0.065  # edge per px, as a share of the picture's median grey, that counts half: well above wood fibre
LEAST_EDGE_GREY: Final = 2.5  # but never below the noise of a dark picture, grey levels per px
LEAST_SCORE: Final = 0.18  # of 1 for a perfect edge all around; discs in rows under poor light reach about 0.25
HOLE_SHARE: Final = 0.6  # weight of the hole's edge, which is short and shallow, against the rim's
HOLE_REACH_MM: Final = 1.0  # the hole's circle may lie this far from the rim's: a chipped rim, the view's own error
PEAK_MM: Final = 5.0  # two candidates of one size are further apart than this


@dataclass(frozen=True, slots=True)
class Candidate:
    """A circle in the view from above: place on the plane of the upper faces in mm, and size.

    `rim` and `hole`: edge scores, at best 1, of the outer circle and of a hole's circle within.
    """

    x_mm: float
    y_mm: float
    large: bool
    rim: float
    hole: float

    @property
    def score(self) -> float:
        """Both together; a shadow or a knot has no hole in its middle."""
        return self.rim + HOLE_SHARE * self.hole

    @property
    def solid(self) -> Solid:
        """Nominal sizes."""
        return STRIKER if self.large else PIECE


def edge_field(view: TopView) -> tuple[Float, Float]:
    """Soft-clipped double-angle edge field: (gx² - gy²) and 2 gx gy, each pixel's length 0..1."""
    soft = cv2.GaussianBlur(view.image, (0, 0), SOFT_PX)
    height, width = view.image.shape[:2]
    best_x = np.zeros((height, width), np.float32)
    best_y, best = best_x.copy(), best_x.copy()
    for channel in cv2.split(soft):
        gx = cv2.Scharr(channel, cv2.CV_32F, 1, 0, scale=1 / 32)
        gy = cv2.Scharr(channel, cv2.CV_32F, 0, 1, scale=1 / 32)
        size = gx * gx + gy * gy
        stronger = size > best
        best_x[stronger], best_y[stronger], best[stronger] = gx[stronger], gy[stronger], size[stronger]
    strength = np.sqrt(best)
    half = max(LEAST_EDGE_GREY, EDGE_SHARE * float(np.median(soft)))
    share = strength / (strength + half) / np.maximum(best, 1e-6)
    return ((best_x * best_x - best_y * best_y) * share).astype(np.float32), (2 * best_x * best_y * share).astype(np.float32)


def _ring(radius_mm: float) -> tuple[Float, Float]:
    radius = radius_mm / MM_PER_PX
    half = int(np.ceil(radius + 3 * RING_WIDTH_MM / MM_PER_PX))
    y, x = np.mgrid[-half : half + 1, -half : half + 1].astype(np.float64)
    distance = np.hypot(x, y) + 1e-9
    ring = np.exp(-0.5 * ((distance - radius) / (RING_WIDTH_MM / MM_PER_PX)) ** 2)
    ring /= ring.sum()
    c, s = x / distance, y / distance
    return (ring * (c * c - s * s)).astype(np.float32), (ring * 2 * c * s).astype(np.float32)


def ring_score(field: tuple[Float, Float], radius_mm: float) -> Float:
    """Mean over the circle about each pixel of (edge across the circle) - (edge along it), -1..1."""
    even, odd = _ring(radius_mm)
    return np.asarray(
        cv2.filter2D(field[0], cv2.CV_32F, even, borderType=cv2.BORDER_REPLICATE)
        + cv2.filter2D(field[1], cv2.CV_32F, odd, borderType=cv2.BORDER_REPLICATE),
        dtype=np.float32,
    )


def candidates(view: TopView) -> list[Candidate]:
    """Circles of both sizes, best first."""
    field = edge_field(view)
    found: list[Candidate] = []
    near = np.ones((2 * int(HOLE_REACH_MM / MM_PER_PX) + 1,) * 2, np.uint8)
    for solid, large in ((PIECE, False), (STRIKER, True)):
        rim = ring_score(field, solid.radius_mm)
        hole = cv2.dilate(ring_score(field, solid.hole_radius_mm), near)
        window = 2 * int(PEAK_MM / MM_PER_PX) + 1
        both = rim + HOLE_SHARE * hole
        peak = (both >= cv2.dilate(both, np.ones((window, window), np.uint8))) & (rim > LEAST_SCORE)
        rows, columns = np.nonzero(peak)
        places = TopView.to_mm(np.stack([columns, rows], axis=1))
        found += [
            Candidate(float(x), float(y), large, float(rim[row, column]), float(hole[row, column]))
            for (x, y), row, column in zip(places, rows, columns, strict=True)
        ]
    return sorted(found, key=lambda one: -one.score)
