"""The line of sight of every pixel of a patch, in table mm: where it meets z = 0 and how it runs above.

Along a straight line of sight x and y are linear in z, so one point and one slope per pixel give the place at every height.
Over a patch of some dozen pixels both are smooth: the exact inverse of the lens is taken on 25 nodes and a cubic laid through.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration import Camera

Array = NDArray[np.float64]

NODES_PER_SIDE = 5  # a bicubic surface through 5 x 5 nodes leaves less than 1e-4 mm over any patch used here
REFERENCE_HEIGHT_MM = 12.0  # any height above zero would do to find the slope


@dataclass(frozen=True, slots=True)
class Rays:
    """Lines of sight of the pixels `left`..`left+width-1`, `top`..`top+height-1`, row by row,
    every `stride`-th of both.

    `floor_mm` (N, 2): where each meets z = 0; `slope` (N, 2): mm sideways per mm of height.
    """

    left: int
    top: int
    width: int
    height: int
    floor_mm: Array
    slope: Array
    mm_per_px: float
    stride: int = 1

    def cut(self, image: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The patch of `image` that belongs to these rays, (N, 3)."""
        patch = image[self.top : self.top + self.height : self.stride, self.left : self.left + self.width : self.stride]
        return patch.reshape(-1, patch.shape[2])

    def only(self, chosen: NDArray[np.intp]) -> Rays:
        """Some of the rays; what is cut no longer matches them."""
        return replace(self, floor_mm=self.floor_mm[chosen], slope=self.slope[chosen])


def cubic(unit: Array) -> Array:
    """Terms (N, 10) of a cubic surface at points (N, 2) of the square -1..1."""
    u, v = unit[:, 0], unit[:, 1]
    one = np.ones_like(u)
    across, along = (one, u, u * u, u * u * u), (one, v, v * v, v * v * v)
    return np.stack([across[i] * along[j] for i in range(4) for j in range(4 - i)], axis=1)


def rays_around(camera: Camera, x_mm: float, y_mm: float, half_mm: float, height_mm: float, stride: int = 1) -> Rays | None:
    """Rays of every `stride`-th pixel of a square patch about (x, y, height); None when it lies outside the picture."""
    scale = camera.px_per_mm(x_mm, y_mm, height_mm)
    centre = camera.to_px([[x_mm, y_mm, height_mm]])[0]
    reach = half_mm * scale
    left, top = (max(0, int(np.floor(value - reach))) for value in centre)
    right = min(camera.lens.width - 1, int(np.ceil(centre[0] + reach)))
    bottom = min(camera.lens.height - 1, int(np.ceil(centre[1] + reach)))
    if right - left < 4 or bottom - top < 4:
        return None
    node_x = np.linspace(left, right, NODES_PER_SIDE)
    node_y = np.linspace(top, bottom, NODES_PER_SIDE)
    nodes = np.stack(np.meshgrid(node_x, node_y), axis=-1).reshape(-1, 2)
    floor = camera.to_mm(nodes, 0.0)
    slope = (camera.to_mm(nodes, REFERENCE_HEIGHT_MM) - floor) / REFERENCE_HEIGHT_MM
    middle = np.array([(left + right) / 2, (top + bottom) / 2])
    half = np.array([(right - left) / 2, (bottom - top) / 2])
    unit_nodes = (nodes - middle) / half
    surface = np.linalg.lstsq(cubic(unit_nodes), np.c_[floor, slope], rcond=None)[0]
    grid_x, grid_y = np.meshgrid(np.arange(left, right + 1, stride), np.arange(top, bottom + 1, stride))
    u = (grid_x.ravel() - middle[0]) / half[0]
    v = (grid_y.ravel() - middle[1]) / half[1]
    values = cubic(np.stack([u, v], axis=1)) @ surface
    return Rays(left, top, right - left + 1, bottom - top + 1, values[:, :2], values[:, 2:], 1 / scale, stride)


def _linear_light() -> NDArray[np.float32]:
    """sRGB code value 0..255 -> linear light 0..255, shape (256,); edges mix in light, not in code values (IEC 61966-2-1)."""
    code = np.arange(256) / 255.0
    light = np.where(code <= 0.04045, code / 12.92, ((code + 0.055) / 1.055) ** 2.4)
    return (255.0 * light).astype(np.float32)


LINEAR_LIGHT = _linear_light()


def to_light(pixels: NDArray[np.uint8]) -> Array:
    """Code values (..., 3) -> linear light (..., 3), 0..255."""
    return np.asarray(cv2.LUT(pixels, LINEAR_LIGHT), dtype=np.float64)


def to_brightness(pixels: NDArray[np.uint8]) -> Array:
    """Code values (N, 3) BGR -> linear light of the luma (N,), 0..255.

    Luma only: cameras smooth and subsample colour (denoising, 4:2:0), so that edges in it lie softer and elsewhere.
    """
    luma = pixels.astype(np.float64) @ np.array([0.114, 0.587, 0.299])  # BT.601, as JPEG and H.264 code it
    return np.asarray(np.interp(luma, np.arange(256), LINEAR_LIGHT), dtype=np.float64)
