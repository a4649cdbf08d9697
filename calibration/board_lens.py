"""A lens from pictures of a printed board, accepted by what it says of views it has not seen, never by its own RMS alone.

Flat or central views give a small RMS and a wrong focal length; so views must be tilted and must reach the picture's corners,
and the focal length must not depend on which views are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.board import CHARUCO, CHESSBOARD, COMMON_CHESSBOARDS, Layout
from calibration.lens import Lens
from calibration.opencv_adapter import FEWEST_CORNERS, BoardView, calibrate_camera, charuco_board, find_charuco, find_chessboard
from rules.errors import InputUnusable, LensMismatch

Array = NDArray[np.float64]
Gray = NDArray[np.uint8]

FEWEST_VIEWS: Final = 6  # six numbers of pose each, nine of the lens: below this a view left out takes a sixth of the evidence
FOLDS: Final = 5
SAME_WIDTHS: Final = 0.006  # of the width: corners closer than this on average make two views one
GRID: Final = (8, 6)  # cells of the picture that coverage counts
COVERAGE: Final = 0.5  # of the cells; the middle alone is 0.25
REACH: Final = 0.7  # of the half diagonal, where distortion is largest and the table's corners lie
TILT_RAD: Final = np.radians(12.0)  # focal length comes from foreshortening, 2 % at this angle
TILTED_VIEWS: Final = 3
HELD_OUT_WIDTHS: Final = 5e-4  # of the picture's width: 0.7 px at 1456, a printed board glued to glass gives a third of it
FOCAL_SHARE: Final = 0.01  # by how much leaving out views may move the focal length (1 sigma)
K3_GAIN: Final = 0.97  # held-out error with k3 over without: a third coefficient must earn its place
DARK: Final = 20  # grey level of the brightest twentieth; below, no board can be seen and the search would take for ever


@dataclass(frozen=True, slots=True)
class LensFit:
    """A lens accepted: `held_out_px` RMS on views not used, `coverage` share of picture cells with corners, `unused` picture -> reason."""

    lens: Lens
    layout: Layout
    views: int
    held_out_px: float
    coverage: float
    unused: dict[str, str]


def lens_from_pictures(pictures: Sequence[tuple[str, Gray]], layout: Layout | None = None) -> LensFit:
    """Measure a lens.

    Parameters
    ----------
    pictures : name and uint8 grey picture, all of one size.
    layout : the board; None tries the printed ones and common chessboards.

    Raises
    ------
    LensMismatch
        The pictures differ in size.
    InputUnusable
        No board, too few or too similar views, or a lens that does not hold on views left out; says which and what to do.
    """
    if not pictures:
        raise InputUnusable("no pictures of a board given")
    sizes = {gray.shape for _, gray in pictures}
    if len(sizes) > 1:
        raise LensMismatch(f"board pictures have {len(sizes)} different sizes: a lens belongs to one camera mode")
    height, width = pictures[0][1].shape
    board, views, unused = _find_views(pictures, layout)
    _enough(views, (width, height), unused)
    fits = {fix: (_held_out(views, (width, height), fix_k3=fix), fix) for fix in (True, False)}
    fix_k3 = fits[True][0][0] * K3_GAIN <= fits[False][0][0]
    (held_out, focal_share), _ = fits[fix_k3]
    rms, k_matrix, dist, rvecs, _ = calibrate_camera(views, (width, height), fix_k3=fix_k3)
    tilts = np.array([_tilt_rad(r) for r in rvecs])
    tilted = int((tilts > TILT_RAD).sum())
    if tilted < TILTED_VIEWS or focal_share > FOCAL_SHARE:
        raise InputUnusable(
            f"the views do not fix the focal length ({tilted} of {len(views)} are tilted, it moves by {focal_share:.1%} "
            "when views are left out): take more with the board tilted 20 to 40 degrees, in different directions"
        )
    if held_out > HELD_OUT_WIDTHS * width:
        raise InputUnusable(
            f"the lens does not hold on views left out ({held_out:.2f} px): is the board flat, the focus fixed, every picture sharp?"
        )
    lens = Lens(width=width, height=height, K=k_matrix.tolist(), dist=dist.tolist(), rms_px=rms)
    return LensFit(lens, board, len(views), held_out, _coverage(views, (width, height)), unused)


def _find_views(pictures: Sequence[tuple[str, Gray]], layout: Layout | None) -> tuple[Layout, list[BoardView], dict[str, str]]:
    candidates = [layout] if layout is not None else [CHARUCO, CHESSBOARD, *COMMON_CHESSBOARDS]
    unused = {name: "too dark" for name, gray in pictures if np.percentile(gray[::4, ::4], 95) < DARK}
    bright = [(name, gray) for name, gray in pictures if name not in unused]
    markers_only = 0
    for candidate in candidates:
        # A board that is not seen in the first pictures is not the board of this set: keeps the search short.
        probe = bright if layout is not None else bright[:4]
        for legacy in (False, True):
            if legacy and not (candidate.kind == "charuco" and candidate.rows % 2 == 0):
                continue
            first = [_find(gray, candidate, legacy=legacy) for _, gray in probe]
            markers_only = max(markers_only, *(v.markers for v in first), 0) if first else markers_only
            if not any(len(v.object_mm) for v in first):
                continue
            views = first + [_find(gray, candidate, legacy=legacy) for _, gray in bright[len(probe) :]]
            kept = []
            for (name, _), view in zip(bright, views, strict=True):
                if len(view.object_mm) >= FEWEST_CORNERS:
                    kept.append(view)
                else:
                    unused[name] = "board not seen" if not view.markers else f"{view.markers} markers but no corners"
            return candidate, kept, unused
    if markers_only:
        raise InputUnusable(
            f"{markers_only} markers seen but no corners: another board than {candidates[0].words}; "
            "give its squares with --board, or print ours"
        )
    raise InputUnusable(
        "no board seen in any picture: show it whole for a chessboard, at least a third of it for ChArUco, sharp and evenly lit"
    )


def _find(gray: Gray, layout: Layout, *, legacy: bool) -> BoardView:
    if layout.kind == "chessboard":
        return find_chessboard(gray, layout.columns, layout.rows, layout.square_mm)
    return find_charuco(gray, charuco_board(layout.columns, layout.rows, layout.square_mm, layout.marker_mm, layout.markers, legacy=legacy))


def _enough(views: Sequence[BoardView], size_px: tuple[int, int], unused: dict[str, str]) -> None:
    # A view that repeats another (a camera on a stand, the same file twice) is no further evidence.
    distinct: list[BoardView] = []
    for view in views:
        if all(_apart(view, other) > SAME_WIDTHS * size_px[0] for other in distinct):
            distinct.append(view)
    if len(distinct) < FEWEST_VIEWS:
        why = "; ".join(f"{name}: {reason}" for name, reason in list(unused.items())[:3])
        raise InputUnusable(
            f"only {len(distinct)} different views of the board, {FEWEST_VIEWS} are needed, better 15, tilted and all over the picture"
            + (f" ({why})" if why else "")
        )
    coverage = _coverage(views, size_px)
    middle = np.array(size_px) / 2
    reach = max(float(np.linalg.norm(v.image_px - middle, axis=1).max()) for v in views) / float(np.linalg.norm(middle))
    if coverage < COVERAGE or reach < REACH:
        raise InputUnusable(
            f"the views cover {coverage:.0%} of the picture and reach {reach:.0%} of the way to its corners; "
            f"{COVERAGE:.0%} and {REACH:.0%} are needed: move the board into edges and corners"
        )


def _apart(a: BoardView, b: BoardView) -> float:
    """Mean distance in px of the corners that two views share."""
    place = {tuple(np.round(p[:2], 3)): q for p, q in zip(a.object_mm, a.image_px, strict=True)}
    gaps = [
        float(np.linalg.norm(place[key] - q))
        for p, q in zip(b.object_mm, b.image_px, strict=True)
        if (key := tuple(np.round(p[:2], 3))) in place
    ]
    return float(np.mean(gaps)) if gaps else float("inf")


def _coverage(views: Sequence[BoardView], size_px: tuple[int, int]) -> float:
    px = np.concatenate([v.image_px for v in views])
    cells = np.floor(px / np.array(size_px) * GRID).astype(int)
    return len({tuple(c) for c in np.clip(cells, 0, np.array(GRID) - 1)}) / (GRID[0] * GRID[1])


def _held_out(views: Sequence[BoardView], size_px: tuple[int, int], *, fix_k3: bool) -> tuple[float, float]:
    """RMS px on views left out, and by how much (share, 1 sigma) leaving views out moves the focal length."""
    squares, focal = [], []
    folds = min(FOLDS, len(views))
    for fold in range(folds):
        rest = [v for i, v in enumerate(views) if i % folds != fold]
        _, k_matrix, dist, _, _ = calibrate_camera(rest, size_px, fix_k3=fix_k3)
        focal.append(k_matrix[0, 0])
        for view in views[fold::folds]:
            _, rvec, tvec = cv2.solvePnP(view.object_mm, view.image_px, k_matrix, dist)
            px, _ = cv2.projectPoints(view.object_mm, rvec, tvec, k_matrix, dist)
            squares.append(np.sum((px.reshape(-1, 2) - view.image_px) ** 2, axis=1))
    moved = np.array(focal) / np.mean(focal) - 1
    jackknife = np.sqrt((folds - 1) / folds * np.sum(moved**2))
    return float(np.sqrt(np.concatenate(squares).mean())), float(jackknife)


def _tilt_rad(rvec: Array) -> float:
    rotation, _ = cv2.Rodrigues(rvec)
    return float(np.arccos(min(1.0, abs(float(rotation[2, 2])))))
