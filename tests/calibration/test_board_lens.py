"""A lens from a printed board: right where the views are good, refused with the reason where they are not."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration.board import CHARUCO, CHESSBOARD, Layout, pdf_of, sheet
from calibration.board_lens import lens_from_pictures
from calibration.opencv_adapter import charuco_board, find_charuco, undistorted
from rules.errors import InputUnusable, LensMismatch
from tests.calibration.board_scene import DIST, SIZE, K, board_picture, good_views, seen


@pytest.fixture(scope="module")
def charuco_views():
    return good_views(board_picture(CHARUCO))


def worst_px(lens) -> float:
    """Largest distance over the picture between where the two lenses put a ray, after the best common rotation is left in."""
    x, y = np.meshgrid(np.linspace(20, SIZE[0] - 20, 15), np.linspace(20, SIZE[1] - 20, 11))
    px = np.stack([x.ravel(), y.ravel()], 1)
    rays = undistorted(px, K, DIST)
    back, _ = cv2.projectPoints(np.c_[rays, np.ones(len(rays))], np.zeros(3), np.zeros(3), lens.k_matrix, lens.dist_coeffs)
    shift = back.reshape(-1, 2) - px
    return float(np.linalg.norm(shift - shift.mean(axis=0), axis=1).max())


def test_charuco_gives_the_lens(charuco_views):
    fit = lens_from_pictures(charuco_views)
    assert fit.layout == CHARUCO
    assert fit.views == 10
    assert fit.held_out_px < 0.3
    assert fit.lens.K[0][0] == pytest.approx(K[0, 0], rel=0.005)
    assert worst_px(fit.lens) < 1.0


def test_chessboard_gives_the_lens():
    fit = lens_from_pictures(good_views(board_picture(CHESSBOARD)), CHESSBOARD)
    assert fit.lens.K[0][0] == pytest.approx(K[0, 0], rel=0.006)


def test_legacy_even_row_board_is_recognised():
    views = good_views(board_picture(CHARUCO, legacy=True))
    fit = lens_from_pictures(views)
    assert fit.layout == CHARUCO
    assert fit.views == 10


def test_three_flat_views_are_refused():
    board = board_picture(CHARUCO)
    views = [(f"flat {i}", seen(board, (0, 0), at, 330, i)) for i, at in enumerate([(300, 300), (400, 300), (500, 300)])]
    with pytest.raises(InputUnusable, match="only 3 different views"):
        lens_from_pictures(views)


def test_many_flat_views_are_refused_although_their_rms_is_small():
    board = board_picture(CHARUCO)
    places = [(x, y) for x in (230, 400, 570) for y in (230, 300, 380)]
    views = [(f"flat {i}", seen(board, (0, 0), at, 330, i)) for i, at in enumerate(places)]
    with pytest.raises(InputUnusable, match="focal length"):
        lens_from_pictures(views)


def test_views_of_the_middle_only_are_refused(charuco_views):
    board = board_picture(CHARUCO)
    tilts = [(0, 0), (35, 0), (-35, 0), (0, 35), (0, -35), (30, 30), (-30, 30), (30, -30)]
    views = [(f"middle {i}", seen(board, tilt, (400, 300), 480, i)) for i, tilt in enumerate(tilts)]
    with pytest.raises(InputUnusable, match="cover"):
        lens_from_pictures(views)


def test_the_same_picture_again_is_no_further_view(charuco_views):
    with pytest.raises(InputUnusable, match="only 2 different views"):
        lens_from_pictures([*charuco_views[:2]] * 5)


def test_no_board_and_dark_pictures_are_refused():
    noise = np.random.default_rng(1).integers(0, 255, (480, 640)).astype(np.uint8)
    with pytest.raises(InputUnusable, match="no board seen"):
        lens_from_pictures([("noise", noise)] * 3)
    with pytest.raises(InputUnusable, match="no board seen"):
        lens_from_pictures([("dark", np.zeros((480, 640), np.uint8))] * 3)


def test_pictures_of_two_sizes_are_refused(charuco_views):
    with pytest.raises(LensMismatch):
        lens_from_pictures([*charuco_views, ("other", np.zeros((300, 400), np.uint8))])


def test_another_board_is_named_as_such():
    other = Layout("charuco", 5, 7, 30.0, 21.0, markers="DICT_5X5_100")
    with pytest.raises(InputUnusable, match=r"another board|no board"):
        lens_from_pictures(good_views(board_picture(other))[:4], Layout("charuco", 9, 12, 20.0, 15.0))


def test_the_sheet_is_a_board_that_is_found():
    page = sheet(CHARUCO)
    board = charuco_board(CHARUCO.columns, CHARUCO.rows, CHARUCO.square_mm, CHARUCO.marker_mm, CHARUCO.markers, legacy=False)
    view = find_charuco(page, board)
    assert len(view.object_mm) == (CHARUCO.columns - 1) * (CHARUCO.rows - 1)
    measured_mm = np.linalg.norm(view.image_px[-1] - view.image_px[0]) / 300 * 25.4
    assert measured_mm == pytest.approx(np.linalg.norm(view.object_mm[-1] - view.object_mm[0]), rel=0.002)


def test_pdf_has_the_sheets_true_size():
    data = pdf_of(sheet(CHESSBOARD))
    assert data.startswith(b"%PDF-1.4")
    box = data.split(b"/MediaBox [")[1].split(b"]")[0].split()
    assert [float(v) / 72 * 25.4 for v in box[2:]] == pytest.approx([210, 297], abs=0.1)
    place = int(data.rsplit(b"startxref\n", 1)[1].split()[0])
    assert data[place : place + 4] == b"xref"


@pytest.mark.parametrize(("eye", "published_focal_px"), [("left", 535.9), ("right", 537.6)])
def test_opencvs_own_sample_pictures(eye, published_focal_px):
    folder = Path("/usr/share/doc/opencv-doc/examples/data")
    paths = sorted(folder.glob(f"{eye}[0-9]*.jpg"))
    if not paths:
        pytest.skip("Debian's package opencv-doc is not installed")
    fit = lens_from_pictures([(path.name, cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)) for path in paths])
    assert fit.views >= 12
    assert fit.held_out_px < 0.3
    assert fit.lens.K[0][0] == pytest.approx(published_focal_px, rel=0.01)
    with pytest.raises(InputUnusable, match="views"):
        lens_from_pictures([(path.name, cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)) for path in paths[:3]])
