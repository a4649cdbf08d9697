"""Pictures of a printed board through a known camera, for tests: every pixel's ray meets the board's plane."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np

from calibration.board import Layout
from calibration.opencv_adapter import charuco_board, undistorted

DOTS_PER_MM = 4.0
SIZE = (800, 600)
K = np.array([[720.0, 0, 396.0], [0, 721.0, 305.0], [0, 0, 1.0]])
DIST = np.array([-0.12, 0.05, 0.0004, -0.0003, 0.0])


def board_picture(layout: Layout, *, legacy: bool = False) -> np.ndarray:
    """The bare board, grey, DOTS_PER_MM, with a white margin of one square."""
    square = round(layout.square_mm * DOTS_PER_MM)
    if layout.kind == "charuco":
        board = charuco_board(layout.columns, layout.rows, layout.square_mm, layout.marker_mm, layout.markers, legacy=legacy)
        picture = board.generateImage((layout.columns * square, layout.rows * square))
    else:
        picture = np.kron((np.add.outer(np.arange(layout.rows + 1), np.arange(layout.columns + 1)) % 2) * 255, np.ones((square, square)))
    return cv2.copyMakeBorder(np.asarray(picture, np.uint8), square, square, square, square, cv2.BORDER_CONSTANT, value=255)


@lru_cache(maxsize=1)
def _rays() -> np.ndarray:
    x, y = np.meshgrid(np.arange(SIZE[0], dtype=float), np.arange(SIZE[1], dtype=float))
    rays = undistorted(np.stack([x.ravel(), y.ravel()], 1), K, DIST)
    return np.c_[rays, np.ones(len(rays))]


def seen(board: np.ndarray, tilt_deg: tuple[float, float], centre_px: tuple[float, float], distance_mm: float, seed: int = 0) -> np.ndarray:
    """The board tilted about x and y, its middle at a pixel and a distance, with noise."""
    rotation = cv2.Rodrigues(np.radians([*tilt_deg, 0.0]))[0]
    middle = np.append(undistorted(np.array([centre_px], float), K, DIST)[0], 1.0) * distance_mm
    rays = _rays()
    normal = rotation[:, 2]
    hit = rays * ((normal @ middle) / (rays @ normal))[:, None] - middle
    on_board = (hit @ rotation[:, :2]) * DOTS_PER_MM + np.array(board.shape[::-1]) / 2 - 0.5
    maps = on_board.astype(np.float32).reshape(SIZE[1], SIZE[0], 2)
    smooth = cv2.GaussianBlur(board, (0, 0), 0.5 * DOTS_PER_MM * distance_mm / K[0, 0])
    picture = cv2.remap(smooth, maps[..., 0], maps[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=120)
    noise = np.random.default_rng(seed).normal(0, 2, picture.shape)
    return np.clip(picture * 0.8 + 20 + noise, 0, 255).astype(np.uint8)


def good_views(board: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Ten views as a careful person takes them."""
    places = [
        ((0, 0), (400, 300), 330),
        ((28, 0), (400, 280), 330),
        ((-28, 5), (400, 320), 330),
        ((5, 30), (380, 300), 330),
        ((0, -30), (420, 300), 330),
        ((20, 20), (220, 220), 330),
        ((-20, 20), (600, 220), 330),
        ((20, -25), (220, 400), 330),
        ((-25, -20), (600, 400), 330),
        ((25, 10), (560, 300), 280),
    ]
    return [(f"view {i}", seen(board, tilt, at, far, i)) for i, (tilt, at, far) in enumerate(places)]
