"""Close-ups of discs for the networks: one scale, one direction of sight, light as a share of the wood's.

A patch is laid on the plane of the disc's upper face, 20 samples per radius, turned so that the camera looks outward along its
first axis: what differs between tables, sizes and cameras is taken out before a network looks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Protocol

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from vision.discs.rays import LINEAR_LIGHT, NODES_PER_SIDE, cubic
from vision.discs.solid import Solid

Array = NDArray[np.float64]

SIDE: Final = 64  # samples along a patch's side
PER_RADIUS: Final = 20.0  # samples along a disc's radius
FLOOR: Final = 0.02  # share of the wood's light below which noise is all there is
SPREAD: Final = 2.0  # logarithms are divided by this to lie within about -2..1
RINGS: Final = 36  # that the surroundings of a place are unrolled into, from the middle outward
RAYS: Final = 64  # around it; two neighbours are two samples apart at a disc's edge
FIRST_RING, LAST_RING = 0.5, 30.3  # samples from the middle; a patch ends a little farther out
COARSEST_PX: Final = 1.3  # samples further apart than this many pixels are means of finer ones


class Sight(Protocol):
    """What a patch asks of a camera."""

    @property
    def centre_mm(self) -> Array: ...  # noqa: D102

    def to_px(self, points_mm: ArrayLike) -> Array: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a patch lies: `axes` (2, 2) rows are its first (outward from the camera) and second direction on the table, `step_mm`
    one sample; `slope` mm sideways per mm of height of the line of sight, `sample_px` one sample in pixels.
    """

    centre_mm: Array
    axes: Array
    step_mm: float
    slope: float
    sample_px: float

    def to_table_mm(self, shift: ArrayLike) -> Array:
        """A shift (2,) in samples of the patch as one on the table, mm."""
        out: Array = (np.asarray(shift, dtype=np.float64) * self.step_mm) @ self.axes
        return out

    def from_table_mm(self, shift_mm: ArrayLike) -> Array:
        """A shift (2,) on the table in mm as one in samples of the patch."""
        out: Array = self.axes @ np.asarray(shift_mm, dtype=np.float64) / self.step_mm
        return out


_NODE_UNIT: Final = np.stack(np.meshgrid(np.linspace(-1, 1, NODES_PER_SIDE), np.linspace(-1, 1, NODES_PER_SIDE)), -1).reshape(-1, 2)
_FROM_NODES: Final = np.linalg.pinv(cubic(_NODE_UNIT))


@dataclass(frozen=True, eq=False)
class Layout:
    """How samples lie about a place, in samples from its middle: `places` (rows, columns, 2), each as wide as the vectors `down` and
    `right` (rows, columns, 2) toward the next row and column.
    """

    places: Array
    down: Array
    right: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.places.shape[0], self.places.shape[1]

    @cache  # noqa: B019 - there are two layouts, and each picture's cameras ask for one of three
    def terms(self, fine: int) -> Array:
        """Terms (rows x fine x columns x fine, 10) of the cubic surface where each sample is the mean of `fine` x `fine` pixels."""
        part = (np.arange(fine) + 0.5) / fine - 0.5
        divided = (
            self.places[:, None, :, None]
            + part[:, None, None, None] * self.down[:, None, :, None]
            + part[:, None] * self.right[:, None, :, None]
        )
        return cubic(divided.reshape(-1, 2) / (SIDE / 2))


def _square() -> Layout:
    ticks = np.arange(SIDE) - (SIDE - 1) / 2
    places = np.stack(np.meshgrid(ticks, ticks), -1)
    return Layout(places, np.broadcast_to([0.0, 1.0], places.shape), np.broadcast_to([1.0, 0.0], places.shape))


def ring_positions() -> Array:
    """Where rings and rays lie, (RINGS, RAYS, 2): samples from the middle along a patch's first and second direction."""
    away, turned = np.linspace(FIRST_RING, LAST_RING, RINGS), np.arange(RAYS) * (2 * math.pi / RAYS)
    out: Array = away[:, None, None] * np.stack([np.cos(turned), np.sin(turned)], -1)
    return out


def _rings() -> Layout:
    places = ring_positions()
    outward = places / np.hypot(places[..., 0], places[..., 1])[..., None]
    return Layout(places, outward, np.stack([-outward[..., 1], outward[..., 0]], -1))


SQUARE: Final = _square()  # for people, and for training, which turns and shifts it
UNROLLED: Final = _rings()  # for the network: a disc's edge lies straight there, and a shift of the disc is a wave of it


def place_patches(
    sight: Sight, centres_mm: ArrayLike, solids: Sequence[Solid], layout: Layout = SQUARE
) -> list[tuple[Frame, NDArray[np.float32]]]:
    """Frames of discs' patches about centres (N, 2) mm, and the pixels (rows n, columns n, 2) to sample for each, n = 1, 2 or 3."""
    centres = np.asarray(centres_mm, dtype=np.float64).reshape(-1, 2)
    eye = sight.centre_mm
    away = centres - eye[:2]
    size = np.hypot(away[:, 0], away[:, 1])
    first = np.where(size[:, None] > 1.0, away / np.maximum(size, 1.0)[:, None], (1.0, 0.0))
    axes = np.stack([first, np.stack([-first[:, 1], first[:, 0]], axis=1)], axis=1)
    step = np.array([solid.radius_mm for solid in solids]) / PER_RADIUS
    points = np.empty((len(centres), NODES_PER_SIDE**2, 3))
    points[:, :, :2] = centres[:, None] + _NODE_UNIT @ axes * (step * (SIDE / 2))[:, None, None]
    points[:, :, 2] = np.array([solid.height_mm for solid in solids])[:, None]
    surfaces = _FROM_NODES @ sight.to_px(points.reshape(-1, 3)).reshape(len(centres), -1, 2)
    sample_px = np.sqrt(np.abs(np.linalg.det(surfaces[:, (4, 1)]))) * (2 / SIDE)
    rows, columns = layout.shape
    out = []
    for k, surface in enumerate(surfaces):
        fine = min(3, max(1, math.ceil(sample_px[k] / COARSEST_PX)))
        grid = (layout.terms(fine) @ surface).reshape(rows * fine, columns * fine, 2).astype(np.float32)
        frame = Frame(centres[k], axes[k], float(step[k]), float(size[k] / eye[2]), float(sample_px[k]))
        out.append((frame, grid))
    return out


def take_patches(
    image: NDArray[np.uint8], grids_px: Sequence[NDArray[np.float32]], wood: Array, layout: Layout = SQUARE
) -> NDArray[np.float32]:
    """Patches (N, 3, rows, columns): logarithm of the light as a share of the wood's (3,), both BGR."""
    light = np.stack([_light(image, grid, layout) for grid in grids_px]).transpose(0, 3, 1, 2)
    share = np.log(light / wood.astype(np.float32)[:, None, None] + np.float32(FLOOR)) / np.float32(SPREAD)
    return np.ascontiguousarray(share, dtype=np.float32)


def _light(image: NDArray[np.uint8], grid_px: NDArray[np.float32], layout: Layout) -> NDArray[np.float32]:
    """Linear light (rows, columns, 3) at the pixels of one patch."""
    x, y = grid_px[..., 0], grid_px[..., 1]
    left, top = max(0, int(x.min()) - 2), max(0, int(y.min()) - 2)
    cut = image[top : int(y.max()) + 3, left : int(x.max()) + 3]
    rows, columns = layout.shape
    if not cut.size:
        return np.zeros((rows, columns, 3), dtype=np.float32)
    light = cv2.LUT(cut, LINEAR_LIGHT)
    seen = cv2.remap(light, x - left, y - top, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    if len(seen) != rows:
        seen = cv2.resize(seen, (columns, rows), interpolation=cv2.INTER_AREA)
    return np.asarray(seen, dtype=np.float32)
