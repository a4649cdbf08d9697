"""The table as seen from straight above at the height of the pieces' upper faces: there every piece is the same circle.

One view of fixed scale, so that searching costs the same for every camera. Large pictures are averaged down first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration import Camera
from rules.table import HALF_MM, PIECE_THICKNESS_MM, RAIL_WIDTH_MM

Array = NDArray[np.float64]

MM_PER_PX: Final = 1.0  # about one camera pixel in the coarsest mode
PLANE_MM: Final = PIECE_THICKNESS_MM
# Rails included, and discs on them seen up to 25 mm further out.
REACH_MM: Final = HALF_MM + RAIL_WIDTH_MM + 25.0
NODE_PX: Final = 20  # the lens is smooth: its map is taken on nodes this far apart and interpolated


@dataclass(frozen=True, slots=True)
class TopView:
    """`image` uint8 BGR (side, side, 3), x to the right, y downwards from -REACH; read-only."""

    image: NDArray[np.uint8]

    @staticmethod
    def to_px(points_mm: ArrayLike) -> Array:
        """Points (N, 2) mm on the plane of the upper faces -> pixels of the view."""
        out: Array = (np.asarray(points_mm, dtype=np.float64) + REACH_MM) / MM_PER_PX
        return out

    @staticmethod
    def to_mm(points_px: ArrayLike) -> Array:
        """Pixels of the view (N, 2) -> mm on the plane of the upper faces."""
        out: Array = np.asarray(points_px, dtype=np.float64) * MM_PER_PX - REACH_MM
        return out


def view_from_above(image: NDArray[np.uint8], camera: Camera) -> TopView:
    """Rectify `image` (uint8 BGR) to the plane of the upper faces."""
    factor = max(1, int(camera.px_per_mm(0.0, 0.0, PLANE_MM) * MM_PER_PX))
    if factor > 1:
        height, width = (size // factor for size in image.shape[:2])
        image = np.asarray(
            cv2.resize(image[: height * factor, : width * factor], (width, height), interpolation=cv2.INTER_AREA), dtype=np.uint8
        )
    side = int(2 * REACH_MM / MM_PER_PX / NODE_PX + 1) * NODE_PX + 1
    nodes = np.arange(0, side, NODE_PX, dtype=np.float64)
    at = TopView.to_mm(np.stack(np.meshgrid(nodes, nodes), axis=-1).reshape(-1, 2))
    px = (camera.to_px(np.c_[at, np.full(len(at), PLANE_MM)]) + 0.5) / factor - 0.5
    coarse = px.reshape(len(nodes), len(nodes), 2).astype(np.float32)
    # Nodes are corners of the fine grid, so the fine map is taken at exact fractions of the coarse one.
    fine = (np.arange(side) / NODE_PX).astype(np.float32)
    grid_x, grid_y = np.meshgrid(fine, fine)
    maps = cv2.remap(coarse, grid_x, grid_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    view = cv2.remap(image, maps[:, :, 0], maps[:, :, 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
    out = np.asarray(view, dtype=np.uint8)
    out.flags.writeable = False
    return TopView(out)
