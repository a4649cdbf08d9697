"""Close-ups of discs for the networks: one scale, one direction of sight, light as a share of the wood's.

A patch is laid on the plane of the disc's upper face, 20 samples per radius, turned so that the camera looks outward along its
first axis: what differs between tables, sizes and cameras is taken out before a network looks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Protocol

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from vision.discs.rays import LINEAR_LIGHT
from vision.discs.solid import Solid

Array = NDArray[np.float64]

SIDE: Final = 64  # samples along a patch's side
PER_RADIUS: Final = 20.0  # samples along a disc's radius
FLOOR: Final = 0.02  # share of the wood's light below which noise is all there is
SPREAD: Final = 2.0  # logarithms are divided by this to lie within about -2..1
COARSEST_PX: Final = 1.3  # samples further apart than this many pixels are means of finer ones
_NODES: Final = 5


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


def cubic(unit: Array) -> Array:
    """Terms (N, 10) of a cubic surface at points (N, 2) of the square -1..1."""
    u, v = unit[:, 0], unit[:, 1]
    one = np.ones_like(u)
    across, along = (one, u, u * u, u * u * u), (one, v, v * v, v * v * v)
    return np.stack([across[i] * along[j] for i in range(4) for j in range(4 - i)], axis=1)


_NODE_UNIT: Final = np.stack(np.meshgrid(np.linspace(-1, 1, _NODES), np.linspace(-1, 1, _NODES)), -1).reshape(-1, 2)
_FROM_NODES: Final = np.linalg.pinv(cubic(_NODE_UNIT))


def _samples(fine: int) -> Array:
    """Positions in units of half a side, (SIDE * fine) squared, rows along the second direction."""
    ticks = ((np.arange(SIDE * fine) + 0.5) / (SIDE * fine)) * 2 - 1
    return cubic(np.stack(np.meshgrid(ticks, ticks), -1).reshape(-1, 2))


_SAMPLES: Final = {fine: _samples(fine) for fine in (1, 2, 3)}


def place_patch(sight: Sight, centre_mm: ArrayLike, solid: Solid) -> tuple[Frame, NDArray[np.float32]]:
    """Frame of a disc's patch and the pixels (n, n, 2) to sample, n = SIDE times 1, 2 or 3."""
    centre = np.asarray(centre_mm, dtype=np.float64)
    eye = sight.centre_mm
    away = centre - eye[:2]
    size = float(np.hypot(*away))
    first = away / size if size > 1.0 else np.array([1.0, 0.0])
    axes = np.array([first, [-first[1], first[0]]])
    step = solid.radius_mm / PER_RADIUS
    points = np.empty((_NODES * _NODES, 3))
    points[:, :2] = centre + (_NODE_UNIT * (step * SIDE / 2)) @ axes
    points[:, 2] = solid.height_mm
    surface = _FROM_NODES @ sight.to_px(points)
    sample_px = math.sqrt(abs(float(np.linalg.det(np.stack([surface[4], surface[1]]))))) * 2 / SIDE
    fine = min(3, max(1, math.ceil(sample_px / COARSEST_PX)))
    grid = (_SAMPLES[fine] @ surface).reshape(SIDE * fine, SIDE * fine, 2).astype(np.float32)
    return Frame(centre, axes, step, size / float(eye[2]), sample_px), grid


def take_patch(image: NDArray[np.uint8], grid_px: NDArray[np.float32], wood: Array) -> NDArray[np.float32]:
    """One patch (3, SIDE, SIDE): logarithm of the light as a share of the wood's (3,), both BGR."""
    x, y = grid_px[..., 0], grid_px[..., 1]
    left, top = max(0, int(x.min()) - 2), max(0, int(y.min()) - 2)
    cut = image[top : int(y.max()) + 3, left : int(x.max()) + 3]
    if not cut.size:
        return np.zeros((3, SIDE, SIDE), dtype=np.float32)
    light = cv2.LUT(cut, LINEAR_LIGHT)
    seen = cv2.remap(light, x - left, y - top, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    if len(seen) != SIDE:
        seen = cv2.resize(seen, (SIDE, SIDE), interpolation=cv2.INTER_AREA)
    share = np.log(seen / wood.astype(np.float32) + FLOOR) / SPREAD
    return np.ascontiguousarray(share.transpose(2, 0, 1), dtype=np.float32)
