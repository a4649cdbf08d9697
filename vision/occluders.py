"""What is over the table and does not belong to it: hands, arms, cues, heads, things. See models/occluders.md for the figures.

A frame is rectified to the table, coarsely, and a network says of every cell how likely something covers it from the camera's view.
Shadows, discs, powder and mirrored lamps cover nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration import Camera
from rules.errors import InputUnusable
from rules.table import HALF_MM, POCKETS_MM, RAIL_WIDTH_MM
from vision.runtime import MODELS, loaded, open_model

Array = NDArray[np.float64]
Image = NDArray[np.uint8]

MODEL: Final = MODELS / "occluders.onnx"
CELLS: Final = 160  # of the grid, each way: a finger is more than two cells wide, a cue one and a half
HALF_SEEN_MM: Final = 576.0  # half the grid's side: rails, and a hand's breadth beyond them
STEP_MM: Final = 2 * HALF_SEEN_MM / CELLS
COVERED: Final = 0.5  # probability from which a cell counts as covered
SMALL_MM: Final = 4.2  # a pixel of the picture that cells are taken from: means of many pixels carry little noise
BLACK: Final = 0.02  # of the sensor's white; darker than that, logarithms would show noise only
FARTHEST: Final = 4.0  # of a cell's light from the table's, as a logarithm
_KEPT: Final = 4  # cameras whose rectification is kept; one is looked through at a time
_EVERY: Final = 2  # every second cell each way is enough for the table's usual light
_CODE: Final = np.log(BLACK + (np.arange(256) / 255) ** 2.2).astype(np.float32)


def centres_mm(cells: int = CELLS) -> Array:
    """Middles of the grid's cells, table mm, (cells, cells, 2); the first row is the table's north, the first column its west."""
    along = (np.arange(cells) + 0.5) * (2 * HALF_SEEN_MM / cells) - HALF_SEEN_MM
    return np.stack(np.meshgrid(along, -along), axis=-1)


def _place() -> NDArray[np.float32]:
    """How far each cell is inward from the rails and from the nearest pocket's middle, tenths of a metre, (2, CELLS, CELLS)."""
    at = centres_mm()
    rail = (HALF_MM - np.abs(at).max(axis=2)) / 100
    pocket = np.min([np.hypot(at[..., 0] - x, at[..., 1] - y) for x, y in POCKETS_MM.values()], axis=0) / 100
    return np.stack([np.clip(rail, -1, 2), np.clip(pocket, 0, 2)]).astype(np.float32)


_PLACE: Final = _place()
_ON_TABLE: Final = np.abs(centres_mm()).max(axis=2) < HALF_MM
ON_RAILS_TOO: Final = np.abs(centres_mm()).max(axis=2) < HALF_MM + RAIL_WIDTH_MM


def round_px(reach_px: int) -> NDArray[np.uint8]:
    """A round neighbourhood, (2 reach + 1, 2 reach + 1): what masks grow or close their gaps by."""
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach_px + 1, 2 * reach_px + 1)), dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class Cover:
    """`chance` (CELLS, CELLS) float32: probability that something covers the cell from the camera's view; `seen` of the same shape:
    whether the picture shows the cell. The grid lies on the table (z = 0), +-`HALF_SEEN_MM`, its first row north, its first column west.
    """

    chance: NDArray[np.float32]
    seen: NDArray[np.bool_]

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Cells of table and rails that are covered, (CELLS, CELLS)."""
        return np.asarray((self.chance > COVERED) & self.seen & ON_RAILS_TOO)

    @property
    def share(self) -> float:
        """Share of table and rails that is covered, 0..1."""
        return float(np.mean(self.mask[ON_RAILS_TOO]))

    def hides(self, points_mm: ArrayLike, margin_mm: float = 0.0) -> NDArray[np.bool_]:
        """Whether points on the table (N, 2) mm are covered, or lie within a margin of what is; (N,). Points beyond the grid are not."""
        points = np.asarray(points_mm, dtype=np.float64).reshape(-1, 2)
        mask = self.mask.astype(np.uint8)
        if margin_mm > 0:
            reach = round(margin_mm / STEP_MM)
            mask = np.asarray(cv2.dilate(mask, round_px(reach)))
        row, column = _cell_of(points)
        inside = (column >= 0) & (column < CELLS) & (row >= 0) & (row < CELLS)
        out = np.zeros(len(points), bool)
        out[inside] = mask[row[inside], column[inside]] > 0
        return out

    def in_picture(self, camera: Camera, width: int, height: int, least: float = COVERED) -> NDArray[np.bool_]:
        """Which pixels of the camera's picture, made smaller to that size, are covered with more than a probability, (height, width)."""
        at = _columns_and_rows(camera, width, height)
        mask = ((self.chance > least) & self.seen & ON_RAILS_TOO).astype(np.uint8)
        return np.asarray(cv2.remap(mask, *at, cv2.INTER_NEAREST, borderMode=cv2.BORDER_CONSTANT), dtype=bool)


def _cell_of(points_mm: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Row and column of the cells that hold points (N, 2); beyond the grid they are below 0 or not below CELLS."""
    column = np.floor((points_mm[:, 0] + HALF_SEEN_MM) / STEP_MM).astype(np.int64)
    return np.floor((HALF_SEEN_MM - points_mm[:, 1]) / STEP_MM).astype(np.int64), column


@lru_cache(maxsize=_KEPT)
def _view(camera: Camera) -> tuple[Array, NDArray[np.bool_], float]:
    """Where each cell's middle is in the full picture (CELLS, CELLS, 2), whether it is in it, and px per mm."""
    points = np.concatenate([centres_mm(), np.zeros((CELLS, CELLS, 1))], axis=2).reshape(-1, 3)
    px = camera.to_px(points).reshape(CELLS, CELLS, 2)
    seen = (px >= 0).all(axis=2) & (px[..., 0] <= camera.lens.width - 1) & (px[..., 1] <= camera.lens.height - 1)
    return px, seen, camera.px_per_mm(0.0, 0.0)


@lru_cache(maxsize=_KEPT)
def _columns_and_rows(camera: Camera, width: int, height: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Column and row of the cell that each pixel of a picture of that size shows; the other way round than `_maps`."""
    scale = np.array([camera.lens.width / width, camera.lens.height / height])
    px = (np.stack(np.meshgrid(np.arange(width), np.arange(height)), axis=-1).reshape(-1, 2) + 0.5) * scale - 0.5
    row, column = _cell_of(camera.to_mm(px, 0.0))
    return column.reshape(height, width).astype(np.float32), row.reshape(height, width).astype(np.float32)


@lru_cache(maxsize=_KEPT)
def _maps(camera: Camera, width: int, height: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Column and row of each cell's middle in a picture of that size."""
    px, _, _ = _view(camera)
    scale = np.array([width / camera.lens.width, height / camera.lens.height])
    at = ((px + 0.5) * scale - 0.5).astype(np.float32)
    return np.ascontiguousarray(at[..., 0]), np.ascontiguousarray(at[..., 1])


def rectified(picture: Image, camera: Camera) -> tuple[Image, NDArray[np.bool_]]:
    """A picture as the table's cells see it.

    Parameters
    ----------
    picture
        uint8 BGR (height, width, 3) of the camera's size, or the same made smaller.
    camera
        Calibrated camera of that picture.

    Returns
    -------
    cells : uint8 BGR (CELLS, CELLS, 3), black where the picture shows nothing.
    seen : bool (CELLS, CELLS), where it shows something.
    """
    _, seen, px_per_mm = _view(camera)
    shrink = int(px_per_mm * SMALL_MM * picture.shape[1] / camera.lens.width + 0.5)
    small = picture
    if shrink > 1:
        size = picture.shape[1] // shrink, picture.shape[0] // shrink
        if shrink % 2 == 0:  # a halving before takes a fraction of the time
            small = np.asarray(cv2.resize(small, (size[0] * shrink // 2, size[1] * shrink // 2), interpolation=cv2.INTER_AREA))
        small = np.asarray(cv2.resize(small, size, interpolation=cv2.INTER_AREA))
    columns, rows = _maps(camera, small.shape[1], small.shape[0])
    cells = cv2.remap(small, columns, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    cells[~seen] = 0
    return np.asarray(cells, dtype=np.uint8), seen


def features(cells: Image, seen: NDArray[np.bool_]) -> NDArray[np.float32]:
    """What the network is given, (5, CELLS, CELLS): light of each cell against the table's usual one, as logarithms, 0 where unseen; and
    its place, since rails and pockets look alike wherever they are.
    """
    light = _CODE[cells]
    usual = np.median(light[::_EVERY, ::_EVERY][(_ON_TABLE & seen)[::_EVERY, ::_EVERY]], axis=0)
    light = np.clip(light - usual, -FARTHEST, FARTHEST)
    light[~seen] = 0
    return np.concatenate([light.transpose(2, 0, 1), _PLACE])


class Occluders:
    """The loaded network; safe to share between threads."""

    def __init__(self, path: Path = MODEL) -> None:
        self._session = open_model(path)

    @staticmethod
    @cache
    def load() -> Occluders | None:
        """The shipped network, or None (with a warning that says why) where it or its runtime can't be loaded."""
        return loaded(Occluders, "occluder network", "hands are told by what changes only")

    def cover(self, picture: Image, camera: Camera) -> Cover:
        """What covers the table in one picture.

        Parameters
        ----------
        picture
            uint8 BGR (height, width, 3) of the camera's size, or the same made smaller down to a quarter, which takes less time.
        camera
            Calibrated camera of that picture.

        Returns
        -------
        Cover
            Calibrated probabilities for each cell of a grid over the table.

        Raises
        ------
        InputUnusable
            When the picture has not the proportions that the camera is calibrated for.
        """
        across, down = picture.shape[1] / camera.lens.width, picture.shape[0] / camera.lens.height
        if picture.ndim != 3 or picture.dtype != np.uint8 or abs(across - down) > 0.01:
            raise InputUnusable(f"a picture of uint8 BGR in the camera's proportions is needed, not {picture.dtype} of {picture.shape}")
        cells, seen = rectified(picture, camera)
        logit = self._session.run(["logit"], {"cells": features(cells, seen)[None]})[0][0]
        return Cover(np.asarray(1 / (1 + np.exp(-logit)), dtype=np.float32), seen)
