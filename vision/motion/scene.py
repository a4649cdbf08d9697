"""The table as it was last at rest, the bare table under the discs, and what has changed against it.

Two full pictures are kept: `reference` (with every resting disc) and `bare` (what is under the discs, filled in from around until it has
been seen). Change is looked for on a quarter-size picture: 16 pixels averaged leave noise of about one grey level.
"""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from rules.table import HALF_MM, POCKET_RADIUS_MM, POCKETS_MM, RAIL_WIDTH_MM, TOWARD, ZONE_LINE_MM, Side
from vision.motion.outline import Outline

Image = NDArray[np.uint8]
Mask = NDArray[np.bool_]

SHRINK: Final = 4  # full picture px per px of the small one: a piece is still 7 px wide
_CHANGE_LEVELS: Final = 11  # grey levels; averaged noise is 1-2, a lamp's ripple up to 6
_CHANGE_SHARE: Final = 0.05  # of the reference: bright places ripple more
_GAIN_DEAD: Final = 0.01  # smaller common changes are noise of the median
_GAIN_STEP: Final = 8  # every eighth small pixel is enough for the lamps' level
_FILL_MM: Final = 3.0  # margin around a disc that is filled in: blurred edge and contact shadow
_SAME_LEVELS: Final = 2.0  # mean change over a disc's place that leaves it as it was: a piece shifted by 0.25 mm makes more
_MASKS: Final = 2000  # masks kept for discs that stay where they are: about a megabyte
_TURN = np.linspace(0, 2 * np.pi, 32, endpoint=False)
_CIRCLE: Final = np.stack([np.cos(_TURN), np.sin(_TURN)], axis=1)  # 32 corners stay within 0.5 % of a radius
_BEFORE_ZONE_MM: Final = 25.0  # a striker put down with the line in its hole, or a little too far in
_OUTSIDE_MM: Final = 90.0  # width of the frame around the rails in which an arm is looked for


def _ring(camera: Camera, centre_mm: tuple[float, float], radius_mm: float, height_mm: float) -> NDArray[np.float64]:
    angle = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    return camera.to_px(np.c_[centre_mm[0] + radius_mm * np.cos(angle), centre_mm[1] + radius_mm * np.sin(angle), np.full(48, height_mm)])


def _square(camera: Camera, half_mm: float, height_mm: float) -> NDArray[np.float64]:
    side = np.linspace(-half_mm, half_mm, 24)
    low, high = np.full(24, -half_mm), np.full(24, half_mm)
    xy = np.r_[np.c_[side, low], np.c_[high, side], np.c_[side[::-1], high], np.c_[low, side[::-1]]]
    return camera.to_px(np.c_[xy, np.full(len(xy), height_mm)])


def hull_px(outline: Outline, margin_mm: float) -> NDArray[np.float32]:
    """Closed outline (N, 2) px of both faces of a disc, grown by a margin."""
    upper = outline.centre_px + (outline.shape.radius_mm + margin_mm) * (_CIRCLE @ outline.to_px.T)
    both = np.concatenate([upper, upper + outline.to_px @ outline.lean_mm])
    hull = cv2.convexHull(both.astype(np.float32)).reshape(-1, 2)
    return np.asarray(hull, dtype=np.float32)


class Scene:
    """Reference pictures of one camera; changed only by the watcher."""

    def __init__(self, camera: Camera) -> None:
        self._camera = camera
        width, height = camera.lens.width // SHRINK, camera.lens.height // SHRINK
        self.size = (width, height)
        self.surface = self._mask(_square(camera, HALF_MM, 0.0))
        table = self._mask(_square(camera, HALF_MM + RAIL_WIDTH_MM, 0.0))
        self.watched = self._mask(_square(camera, HALF_MM + RAIL_WIDTH_MM + _OUTSIDE_MM, 0.0))
        self.outside: Mask = self.watched & ~table
        pockets = np.zeros((height, width), np.uint8)
        for centre in POCKETS_MM.values():
            cv2.fillPoly(pockets, [self._small(_ring(camera, centre, POCKET_RADIUS_MM, 0.0))], 1)
        self.pockets: Mask = pockets.astype(bool)
        self.reference: Image | None = None
        self.bare: Image | None = None
        self.small_reference: Image = np.zeros((height, width, 3), np.uint8)
        self._masks: dict[tuple[float, float, float, float], tuple[NDArray[np.uint8], tuple[int, int]]] = {}
        self._kept: Image | None = None
        self._small_kept: Image = self.small_reference
        self._limit: Image = np.zeros((height, width), np.uint8)
        self.small: Image = np.zeros((height, width, 3), np.uint8)
        self.change: Image = np.zeros((height, width), np.uint8)
        self.gain: NDArray[np.float64] = np.ones(3)

    def _small(self, outline_px: NDArray[np.float64]) -> NDArray[np.int32]:
        return np.rint((outline_px - (SHRINK - 1) / 2) / SHRINK).astype(np.int32)

    def _mask(self, outline_px: NDArray[np.float64]) -> Mask:
        out = np.zeros((self.size[1], self.size[0]), np.uint8)
        cv2.fillPoly(out, [self._small(outline_px)], 1)
        return out.astype(bool)

    def zone_box(self, side: Side) -> tuple[slice, slice]:
        """Rows and columns of the small picture that hold a side's zone."""
        toward = np.array(TOWARD[side], dtype=np.float64)
        across = np.array([-toward[1], toward[0]]) * HALF_MM
        corners = [toward * depth + way for depth in (ZONE_LINE_MM - _BEFORE_ZONE_MM, HALF_MM) for way in (across, -across)]
        px = self._small(self._camera.to_px(np.c_[np.array(corners), np.zeros(4)]))
        low, high = np.maximum(px.min(0), 0), np.maximum(px.max(0) + 1, 0)
        return slice(int(low[1]), int(high[1])), slice(int(low[0]), int(high[0]))

    def shrink(self, image: Image) -> Image:
        """Quarter-size picture."""
        # Two halvings take a third of the time of one quartering.
        half = cv2.resize(image, (self.size[0] * 2, self.size[1] * 2), interpolation=cv2.INTER_AREA)
        return np.asarray(cv2.resize(half, self.size, interpolation=cv2.INTER_AREA), dtype=np.uint8)

    def _take_small(self, small: Image) -> None:
        self.small_reference = small
        self._limit = (_CHANGE_LEVELS + _CHANGE_SHARE * small.max(axis=2)).astype(np.uint8)

    def settle(self, image: Image, outlines: list[Outline]) -> None:
        """Take a picture of the table at rest as the new reference; what lies under the discs is kept or filled in."""
        covered = np.zeros(image.shape[:2], np.uint8)
        for outline in outlines:
            cv2.fillConvexPoly(covered, np.rint(hull_px(outline, _FILL_MM)).astype(np.int32), 255)
        bare = image.copy()
        if self.bare is not None:
            known = covered.astype(bool)
            bare[known] = self.bare[known]
        else:
            _fill(bare, covered)
        self.reference, self.bare = image.copy(), bare
        self._take_small(self.shrink(image))

    def refresh(self, image: Image, share: float) -> None:
        """Follow slow changes of light while nothing moves."""
        if self.reference is None or self.bare is None:
            return
        self.reference = np.asarray(cv2.addWeighted(image, share, self.reference, 1 - share, 0), dtype=np.uint8)
        self._take_small(self.shrink(self.reference))

    def keep(self) -> None:
        """Remember the table at rest, whatever is lifted or learned from now on: what looks as it did then has not moved."""
        if self.reference is not None:
            self._kept, self._small_kept = self.reference.copy(), self.small_reference.copy()

    def keep_place(self, image: Image, outline: Outline) -> None:
        """Remember one disc's place as it is now."""
        if self._kept is None:
            return
        mask, (y0, y1, x0, x1) = self._window(outline)
        self._kept[y0:y1, x0:x1][mask] = image[y0:y1, x0:x1][mask]
        _reduce(self._kept, self._small_kept, (y0, y1, x0, x1))

    def is_kept(self, outline: Outline) -> bool:
        """Whether a disc's place looks as it did when it was remembered."""
        mask, (x, y) = self.patch_mask(outline, 1.0)
        if not mask.any():
            return False
        part = np.s_[y : y + mask.shape[0], x : x + mask.shape[1]]
        inside = mask.astype(bool)
        then = self._small_kept[part][inside] * self.gain
        return float(np.abs(self.small[part][inside] - then).max(axis=1).mean()) < _SAME_LEVELS

    def put_back(self, outline: Outline) -> None:
        """A disc that was thought to have left lies where it lay."""
        self._patch(outline, self._kept)

    def lift(self, outline: Outline) -> None:
        """A disc has left its place: show the bare table there from now on."""
        self._patch(outline, self.bare)

    def learn(self, image: Image, outline: Outline) -> None:
        """The place of a disc that has left is seen free: take it as it is."""
        self._patch(outline, image)
        if self.bare is None:
            return
        mask, (y0, y1, x0, x1) = self._window(outline)
        self.bare[y0:y1, x0:x1][mask] = image[y0:y1, x0:x1][mask]

    def _window(self, outline: Outline) -> tuple[Mask, tuple[int, int, int, int]]:
        hull = np.rint(hull_px(outline, _FILL_MM)).astype(np.int32)
        width, height = self._camera.lens.width, self._camera.lens.height
        x0, y0 = np.maximum(hull.min(0), 0) // SHRINK * SHRINK
        x1, y1 = np.minimum(-(-(hull.max(0) + 1) // SHRINK) * SHRINK, (width // SHRINK * SHRINK, height // SHRINK * SHRINK))
        mask = np.zeros((max(y1 - y0, 0), max(x1 - x0, 0)), np.uint8)
        if mask.size:
            cv2.fillConvexPoly(mask, hull - (x0, y0), 1)
        return mask.astype(bool), (int(y0), int(y1), int(x0), int(x1))

    def _patch(self, outline: Outline, source: Image | None) -> None:
        if self.reference is None or source is None:
            return
        mask, (y0, y1, x0, x1) = self._window(outline)
        if not mask.size:
            return
        self.reference[y0:y1, x0:x1][mask] = source[y0:y1, x0:x1][mask]
        _reduce(self.reference, self.small_reference, (y0, y1, x0, x1))

    def compare(self, image: Image) -> Mask:
        """Changed places of the small picture; the lamps' common level is taken out first."""
        self.small = self.shrink(image)
        now = self.small[::_GAIN_STEP, ::_GAIN_STEP].reshape(-1, 3).astype(np.float64)
        then = self.small_reference[::_GAIN_STEP, ::_GAIN_STEP].reshape(-1, 3).astype(np.float64)
        self.gain = np.median((now + 1) / (then + 1), axis=0)
        reference = self.small_reference
        if np.any(np.abs(self.gain - 1) > _GAIN_DEAD):
            reference = np.clip(reference * self.gain.astype(np.float32), 0, 255).astype(np.uint8)
        blue, green, red = cv2.split(cv2.absdiff(self.small, reference))
        self.change = np.asarray(cv2.max(cv2.max(blue, green), red), dtype=np.uint8)
        out: Mask = (self.change > self._limit) & self.watched
        return out

    def patch_mask(self, outline: Outline, margin_mm: float) -> tuple[NDArray[np.uint8], tuple[int, int]]:
        """Small-picture mask of a disc and its top-left corner (x, y); not to be written to."""
        x, y = outline.axis_mm
        key = (outline.shape.radius_mm, margin_mm, round(float(x), 1), round(float(y), 1))
        known = self._masks.get(key)
        if known is None:
            if len(self._masks) >= _MASKS:
                self._masks.clear()
            known = self._masks[key] = self._draw(outline, margin_mm)
        return known

    def _draw(self, outline: Outline, margin_mm: float) -> tuple[NDArray[np.uint8], tuple[int, int]]:
        hull = self._small(hull_px(outline, margin_mm).astype(np.float64))
        low = np.maximum(hull.min(0), 0)
        high = np.minimum(hull.max(0) + 1, self.size)
        mask = np.zeros(np.maximum(high - low, 0)[::-1], np.uint8)
        if mask.size:
            cv2.fillConvexPoly(mask, hull - low, 1)
        return mask, (int(low[0]), int(low[1]))

    def changed_under(self, outline: Outline) -> float:
        """Mean change in grey levels over a disc's own place."""
        mask, (x, y) = self.patch_mask(outline, -2.0)
        if not mask.any():
            return 0.0
        part = self.change[y : y + mask.shape[0], x : x + mask.shape[1]]
        return float(part[mask.astype(bool)].mean())


def _reduce(full: Image, small: Image, window: tuple[int, int, int, int]) -> None:
    """Take a window, a multiple of small pixels, over into the small picture."""
    y0, y1, x0, x1 = window
    part = cv2.resize(full[y0:y1, x0:x1], ((x1 - x0) // SHRINK, (y1 - y0) // SHRINK), interpolation=cv2.INTER_AREA)
    small[y0 // SHRINK : y1 // SHRINK, x0 // SHRINK : x1 // SHRINK] = part


def _fill(image: Image, covered: NDArray[np.uint8]) -> None:
    """Fill covered places from around, island by island: inpainting the whole picture at once takes seconds."""
    count, _, boxes, _ = cv2.connectedComponentsWithStats(covered)
    height, width = covered.shape
    for x, y, w, h, _area in boxes[1:count]:
        x0, y0, x1, y1 = max(x - 8, 0), max(y - 8, 0), min(x + w + 8, width), min(y + h + 8, height)
        image[y0:y1, x0:x1] = cv2.inpaint(image[y0:y1, x0:x1], covered[y0:y1, x0:x1], 5, cv2.INPAINT_TELEA)
