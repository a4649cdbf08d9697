"""The mask of what is over the table: on hands and cues of the virtual table, which the network has not learned from, and on none."""

import logging

import cv2
import numpy as np
import pytest

from benchmarks.occluders import looks
from models.training.figures import overlap
from rules.errors import InputUnusable
from tests.vision.test_discs import QUIET, SCENE, camera_of
from virtual_table import overhead, random_camera, random_look, render_still
from vision import occluders as occluders_module
from vision.detect import detect, outlines
from vision.occluders import CELLS, HALF_SEEN_MM, ON_RAILS_TOO, STEP_MM, Cover, Occluders, centres_mm, features, rectified


@pytest.fixture(scope="module")
def network():
    loaded = Occluders.load()
    assert loaded is not None
    return loaded


@pytest.fixture(scope="module")
def turned():
    optics = overhead(rotation_deg=77.0, tilt_deg=9.0)
    return render_still(SCENE, optics, QUIET, 3), camera_of(optics)


def overlay(image, camera, cover):
    """The picture with what is covered in green; for a person to look at."""
    out = image.copy()
    for row, column in np.argwhere(cover.mask):
        x, y = centres_mm()[row, column]
        corners = np.array([[x + a * STEP_MM / 2, y + b * STEP_MM / 2, 0.0] for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
        cv2.fillConvexPoly(out, np.rint(camera.to_px(corners)).astype(np.int32), (0, 255, 0))
    return out


def blank(mask):
    return Cover(mask.astype(np.float32), np.ones((CELLS, CELLS), bool))


def test_cells_lie_where_the_table_says_whatever_the_cameras_turn(turned):
    image, camera = turned
    cells, seen = rectified(image, camera)
    assert cells.shape == (CELLS, CELLS, 3)
    assert seen[ON_RAILS_TOO].mean() > 0.97
    for _, kind, x, y in SCENE[:6]:
        row, column = int((HALF_SEEN_MM - y) / STEP_MM), int((x + HALF_SEEN_MM) / STEP_MM)
        near = cells[row - 1 : row + 2, column - 1 : column + 2].reshape(-1, 3).mean(axis=0)
        assert near[2] > near[1] + 40 if kind == "red" else near.max() < 90


@pytest.mark.parametrize("mode", ["gs", "hq"])
def test_a_smaller_picture_shows_the_same_cells(mode):
    optics = random_camera(31, mode)
    image, camera = render_still(SCENE, optics, QUIET, 3), camera_of(optics)
    whole, _ = rectified(image, camera)
    small = cv2.resize(image, (image.shape[1] // 4, image.shape[0] // 4), interpolation=cv2.INTER_AREA)
    cells, _ = rectified(small, camera)
    assert np.abs(cells.astype(int) - whole)[ON_RAILS_TOO].mean() < 2.5


def test_features_do_not_depend_on_the_exposure():
    rng = np.random.default_rng(1)
    light, seen = rng.uniform(0.2, 0.45, (CELLS, CELLS, 3)), np.ones((CELLS, CELLS), bool)
    seen[:3] = False
    one, other = (features(np.rint(255 * (light * gain) ** (1 / 2.2)).astype(np.uint8), seen) for gain in (1.0, 2.0))
    assert np.abs(one - other)[:, 3:].mean() < 0.03
    assert not one[:3, :3].any()
    assert one.shape == (5, CELLS, CELLS)


def test_points_are_told_from_the_cell_they_lie_in():
    mask = np.zeros((CELLS, CELLS), bool)
    row, column = 40, 100
    mask[row, column] = True
    x, y = centres_mm()[row, column]
    cover = blank(mask)
    points = [(x, y), (x + 1.2 * STEP_MM, y), (x, y + 1.2 * STEP_MM), (5000.0, 0.0), (-HALF_SEEN_MM - 1, 0.0)]
    assert cover.hides(points).tolist() == [True, False, False, False, False]
    assert cover.hides(points, 8.0).tolist() == [True, True, True, False, False]
    assert cover.share == pytest.approx(1 / ON_RAILS_TOO.sum())


def test_cells_are_found_again_in_the_picture(turned):
    image, camera = turned
    mask = np.zeros((CELLS, CELLS), bool)
    mask[30:60, 90:110] = True
    width, height = image.shape[1] // 4, image.shape[0] // 4
    pictured = blank(mask).in_picture(camera, width, height)
    again, _ = rectified(cv2.merge([pictured.astype(np.uint8) * 255] * 3), camera)
    assert overlap(mask, again[..., 0] > 127) > 0.9


@pytest.mark.parametrize(("seed", "act"), [(9000, "tidy"), (9005, "tidy"), (9001, "lean"), (9007, "pass_striker")])
def test_hands_are_told_cell_by_cell(network, seed, act, tmp_path):
    overlaps = []
    for number, (image, camera, truth) in enumerate(looks(seed, act)):
        cover = network.cover(image, camera)
        if truth.sum() >= 20:
            overlaps.append(overlap(truth, cover.mask))
            shown = overlay(image, camera, cover)
            cv2.imwrite(str(tmp_path / f"{number}.png"), shown)
            green = (shown == (0, 255, 0)).all(axis=2)
            assert green.sum() > 0.5 * cover.mask.sum() * (STEP_MM * camera.px_per_mm(0, 0)) ** 2
    assert len(overlaps) >= 1
    assert np.mean(overlaps) > 0.6


@pytest.mark.parametrize("seed", range(9100, 9106))
def test_discs_lamps_lines_and_pockets_cover_nothing(network, seed):
    optics = random_camera(seed)
    cover = network.cover(render_still(SCENE, optics, random_look(seed), seed), camera_of(optics))
    assert cover.mask.sum() <= 3
    assert cover.chance[ON_RAILS_TOO].mean() < 0.002


def test_a_shadow_covers_nothing(network, turned):
    image, camera = turned
    dark = np.ones(image.shape[:2], np.float32)
    cv2.line(dark, (300, 0), (760, 600), 0.55, 90)
    dark = cv2.GaussianBlur(dark, (0, 0), 9)
    assert network.cover((image * dark[..., None]).astype(np.uint8), camera).mask.sum() <= 5


def test_ten_pictures_a_second_reckon_the_cells_places_once(network, turned, monkeypatch):
    """What a picture costs is measured by `benchmarks occluders`; this is what keeps it low."""
    image, camera = turned
    small = cv2.resize(image, (image.shape[1] // 4, image.shape[0] // 4), interpolation=cv2.INTER_AREA)
    first = [network.cover(picture, camera) for picture in (image, small)]

    def again(*_):
        raise AssertionError("the cells' places are reckoned again")

    monkeypatch.setattr(type(camera), "to_px", again)
    monkeypatch.setattr(type(camera), "to_mm", again)
    for picture, cover in zip((image, small), first, strict=True):
        assert np.array_equal(network.cover(picture, camera).chance, cover.chance)


def test_discs_are_not_reported_where_a_sleeve_is_seen(turned, monkeypatch):
    image, camera = turned
    mask = np.abs(centres_mm() - (-300.0, 200.0)).max(axis=2) < 40  # r1, and nothing else
    sleeve = type("Sleeve", (), {"cover": lambda *_: blank(mask)})()
    monkeypatch.setattr(Occluders, "load", staticmethod(lambda: sleeve))
    assert len(detect(image, camera).discs) == len(SCENE) - 1
    assert len(detect(image, camera, geometry_alone=True).discs) == len(SCENE)


def test_a_piece_that_a_finger_holds_is_still_reported(turned, monkeypatch):
    image, camera = turned
    mask = (np.abs(centres_mm() - (-300.0, 200.0)).max(axis=2) < 40) & (centres_mm()[..., 0] < -300)
    finger = type("Finger", (), {"cover": lambda *_: blank(mask)})()
    monkeypatch.setattr(Occluders, "load", staticmethod(lambda: finger))
    assert len(detect(image, camera).discs) == len(SCENE)


def test_what_covers_the_table_is_outlined_in_the_picture(turned):
    image, camera = turned
    at = centres_mm()
    hand = (np.abs(at[..., 0] - 200) < 45) & (at[..., 1] < -150)
    hand &= ~((np.abs(at[..., 1] + 300) < STEP_MM) & (at[..., 0] > 150))  # a cuff that was missed
    cue = (np.abs(at[..., 0] + at[..., 1] + 300) < 14) & (at[..., 0] < -150) & (at[..., 0] > -480)
    phone = np.abs(at - (-100.0, 350.0)).max(axis=2) < 40
    speck = np.abs(at - (300.0, 300.0)).max(axis=2) < STEP_MM
    found = outlines(blank(hand | cue | phone | speck), camera)
    assert [one.kind for one in found] == ["hand", "cue", "other"]
    for one, mask in zip(found, (hand, cue, phone), strict=True):
        drawn = cv2.fillPoly(np.zeros(image.shape[:2], np.uint8), [np.rint(one.polygon_px).astype(np.int32)], 255)
        again, _ = rectified(cv2.merge([drawn] * 3), camera)
        assert overlap(mask & ON_RAILS_TOO, again[..., 0] > 127) > 0.8


@pytest.mark.parametrize(("seed", "act"), [(9000, "tidy"), (9001, "lean")])
def test_detect_tells_where_hands_are(network, seed, act):
    image, camera, truth = max(looks(seed, act), key=lambda look: look[2].sum())
    assert truth.sum() > 100
    told = detect(image, camera).occluders
    assert "hand" in {one.kind for one in told}
    drawn = cv2.fillPoly(np.zeros(image.shape[:2], np.uint8), [np.rint(one.polygon_px).astype(np.int32) for one in told], 255)
    again, _ = rectified(cv2.merge([drawn] * 3), camera)
    assert overlap(truth, again[..., 0] > 127) > 0.6
    assert detect(image, camera, geometry_alone=True).occluders == []


def test_a_picture_of_other_proportions_is_refused(network, turned):
    image, camera = turned
    with pytest.raises(InputUnusable, match="proportions"):
        network.cover(image[:700], camera)


def test_without_the_model_none_is_in_use_and_the_log_says_why(monkeypatch, caplog, tmp_path):
    Occluders.load.cache_clear()
    monkeypatch.setattr(occluders_module.Occluders.__init__, "__defaults__", (tmp_path / "none.onnx",))
    try:
        with caplog.at_level(logging.WARNING):
            assert Occluders.load() is None
    finally:
        Occluders.load.cache_clear()
    assert "occluder network not in use" in caplog.text
    assert "none.onnx" in caplog.text
