"""The one place that knows how OpenCV 4.x and 5.x differ: calls and array shapes are normalised here.

Of the board functions only the detector classes, `matchImagePoints` and `calibrateCamera` are used: they exist, and mean the
same, in every supported release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from rules.errors import InputUnusable

Array = NDArray[np.float64]
Gray = NDArray[np.uint8]

SEARCH_PX: Final = 2000  # longer side of the picture that is searched: board search grows with area and can run for minutes
SUBPIX_SHARE: Final = 0.25  # of the distance between corners: the window in which a corner is refined must hold no other
FEWEST_CORNERS: Final = 8  # of one view; fewer say less than the six numbers of its pose


@dataclass(frozen=True, slots=True)
class BoardView:
    """Corners of one board in one picture: `object_mm` (n, 3) on the board, `image_px` (n, 2); `markers` found, also without corners."""

    object_mm: Array
    image_px: Array
    markers: int


def undistorted(points_px: Array, k_matrix: Array, dist: Array) -> Array:
    """Pixels (N, 2) -> directions (N, 2) in the plane one ahead of the camera, converged.

    The default five rounds leave errors of 0.01 px and more at the edge of a wide lens; the call that takes more is
    `undistortPointsIter` in 4.x and an argument of `undistortPoints` in 5.x.
    """
    points = np.ascontiguousarray(points_px, dtype=np.float64).reshape(-1, 1, 2)
    criteria = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 40, 1e-10)
    if hasattr(cv2, "undistortPointsIter"):
        return np.asarray(cv2.undistortPointsIter(points, k_matrix, dist, None, None, criteria), dtype=np.float64).reshape(-1, 2)
    return np.asarray(cv2.undistortPoints(points, k_matrix, dist, criteria=criteria), dtype=np.float64).reshape(-1, 2)


def dictionary(name: str) -> cv2.aruco.Dictionary:
    """A predefined marker dictionary by OpenCV's own name, as DICT_5X5_100."""
    number = getattr(cv2.aruco, name, None)
    if not name.startswith("DICT_") or number is None:
        raise InputUnusable(f"marker dictionary {name!r} is not known to OpenCV (for example DICT_5X5_100)")
    return cv2.aruco.getPredefinedDictionary(number)


def charuco_board(columns: int, rows: int, square_mm: float, marker_mm: float, markers: str, *, legacy: bool) -> cv2.aruco.CharucoBoard:
    """A ChArUco board of columns x rows squares; `legacy` is the layout that even-row boards had before OpenCV 4.6."""
    board = cv2.aruco.CharucoBoard((columns, rows), square_mm, marker_mm, dictionary(markers))
    board.setLegacyPattern(legacy)
    return board


def find_charuco(gray: Gray, board: cv2.aruco.CharucoBoard) -> BoardView:
    """Corners of a ChArUco board; empty where none is seen."""
    small, scale = _for_search(gray)
    corners, ids, _, marker_ids = cv2.aruco.CharucoDetector(board).detectBoard(small)
    markers = 0 if marker_ids is None else int(np.size(marker_ids))
    if corners is None or ids is None or np.size(ids) < FEWEST_CORNERS:
        return BoardView(np.zeros((0, 3)), np.zeros((0, 2)), markers)
    px = np.asarray(corners, dtype=np.float32).reshape(-1, 1, 2)
    numbers = np.asarray(ids, dtype=np.int32).reshape(-1, 1)
    object_mm, _ = board.matchImagePoints(px, numbers)  # type: ignore[call-overload]  # the stubs know marker boards only
    object_mm = np.asarray(object_mm, dtype=np.float64).reshape(-1, 3)
    return BoardView(object_mm, _refined(gray, _to_full(px.reshape(-1, 2), scale)), markers)


def find_chessboard(gray: Gray, columns: int, rows: int, square_mm: float) -> BoardView:
    """Inner corners of a chessboard with columns x rows of them; empty where it is not seen whole."""
    small, scale = _for_search(gray)
    none = BoardView(np.zeros((0, 3)), np.zeros((0, 2)), 0)
    flags = cv2.CALIB_CB_ADAPTIVE_THRESH | cv2.CALIB_CB_NORMALIZE_IMAGE | cv2.CALIB_CB_FAST_CHECK
    found, corners = cv2.findChessboardCorners(small, (columns, rows), flags=flags)
    if not found:
        return none
    grid = np.mgrid[0:columns, 0:rows].T.reshape(-1, 2) * square_mm
    object_mm = np.c_[grid, np.zeros(len(grid))].astype(np.float64)
    return BoardView(object_mm, _refined(gray, _to_full(np.asarray(corners, dtype=np.float32).reshape(-1, 2), scale)), 0)


def calibrate_camera(
    views: Sequence[BoardView], size_px: tuple[int, int], *, fix_k3: bool
) -> tuple[float, Array, Array, list[Array], list[Array]]:
    """RMS px, K (3, 3), dist (5,), and rvec, tvec (3,) per view."""
    flags = cv2.CALIB_FIX_K3 if fix_k3 else 0
    # Both lists in float32: 4.x accepts nothing else.
    objects = [v.object_mm.astype(np.float32) for v in views]
    images = [v.image_px.astype(np.float32).reshape(-1, 1, 2) for v in views]
    start = np.array([[max(size_px), 0, (size_px[0] - 1) / 2], [0, max(size_px), (size_px[1] - 1) / 2], [0, 0, 1.0]])
    rms, k_matrix, dist, rvecs, tvecs = cv2.calibrateCamera(
        objects, images, size_px, start, np.zeros(5), flags=flags | cv2.CALIB_USE_INTRINSIC_GUESS
    )
    five = np.ravel(np.asarray(dist, dtype=np.float64))[:5]
    return (
        float(rms),
        np.asarray(k_matrix, dtype=np.float64),
        five,
        [np.ravel(np.asarray(r, dtype=np.float64)) for r in rvecs],
        [np.ravel(np.asarray(t, dtype=np.float64)) for t in tvecs],
    )


def _for_search(gray: Gray) -> tuple[Gray, float]:
    scale = min(1.0, SEARCH_PX / max(gray.shape))
    if scale == 1.0:
        return gray, 1.0
    return np.asarray(cv2.resize(gray, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), dtype=np.uint8), scale


def _to_full(px: NDArray[np.float32], scale: float) -> Array:
    full: Array = (np.asarray(px, dtype=np.float64) + 0.5) / scale - 0.5
    return full


def _refined(gray: Gray, px: Array) -> Array:
    apart = np.linalg.norm(px[:, None] - px[None, :], axis=2)
    np.fill_diagonal(apart, np.inf)
    window = int(np.clip(apart.min() * SUBPIX_SHARE, 2, 15))
    criteria = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 40, 1e-3)
    corners = cv2.cornerSubPix(gray, px.astype(np.float32).reshape(-1, 1, 2), (window, window), (-1, -1), criteria)
    return np.asarray(corners, dtype=np.float64).reshape(-1, 2)
