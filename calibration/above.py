"""A piece of a picture as seen from straight above, at a stated height over the table: there a length is the same everywhere."""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera

Image = NDArray[np.uint8]

_NODES: Final = 17  # a side; the lens is smooth: its map is taken on so many points and interpolated


def from_above(
    image: Image,
    camera: Camera,
    centre_mm: tuple[float, float],
    px_per_mm: float,
    size_px: tuple[int, int],
    height_mm: float,
    *,
    factor: int = 1,
    interpolation: int = cv2.INTER_LINEAR,
    beyond: tuple[int, int, int] = (0, 0, 0),
) -> Image:
    """Turn a part of a picture to look straight down on a plane.

    Parameters
    ----------
    image : uint8 (rows, columns) or (rows, columns, 3)
        Picture of `camera`, made smaller `factor` times.
    centre_mm, px_per_mm, size_px
        Table point (x, y) in the middle of the view, the view's scale, and its (width, height).
    height_mm
        Height of the plane above the table.
    interpolation, beyond
        OpenCV's way to sample, and the colour where the picture has ended.

    Returns
    -------
    uint8 (height, width) or (height, width, 3)
        x of the table to the right, y upward.
    """
    width, height = size_px
    grid_x, grid_y = np.meshgrid(np.linspace(0, width - 1, _NODES), np.linspace(0, height - 1, _NODES))
    mm_x = centre_mm[0] + (grid_x.ravel() - width / 2) / px_per_mm
    mm_y = centre_mm[1] - (grid_y.ravel() - height / 2) / px_per_mm
    px = (camera.to_px(np.c_[mm_x, mm_y, np.full(mm_x.size, height_mm)]) + 0.5) / factor - 0.5
    nodes = px.reshape(_NODES, _NODES, 2).astype(np.float32)
    fine_x = np.linspace(0, _NODES - 1, width, dtype=np.float32)
    fine_y = np.linspace(0, _NODES - 1, height, dtype=np.float32)
    maps = cv2.remap(nodes, *np.meshgrid(fine_x, fine_y), cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    seen = cv2.remap(image, maps[:, :, 0], maps[:, :, 1], interpolation, borderMode=cv2.BORDER_CONSTANT, borderValue=beyond)
    return np.asarray(seen, dtype=np.uint8)
