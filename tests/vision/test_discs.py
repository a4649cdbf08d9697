"""Discs are found where the renderer put them, told from what is no disc, and the mathematics beneath is exact."""

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from benchmarks.truth import camera_of
from calibration import Calibration, Camera, Lens
from device.commands.detect import detect as detect_command
from rules.errors import InputUnusable, LensMismatch
from virtual_table import Look, Spot, overhead, random_look, render_still
from vision.detect import detect
from vision.discs import Neighbour, fit_disc, outline_px, outlines_px, rings_px
from vision.discs.appearance import design, light_gradient
from vision.discs.fit import hidden_by
from vision.discs.rays import rays_around, to_brightness
from vision.discs.refit import refit, refit_many
from vision.discs.regions import FOOT_MM, curves

SCENE = [
    ("r1", "red", -300.0, 200.0),
    ("r2", "red", 100.0, 120.0),
    ("r3", "red", 129.5, 126.0),  # touches r2
    ("b1", "black", -420.0, -80.0),
    ("b2", "black", 60.0, -350.0),
    ("b3", "black", 300.0, 485.0),  # against the rail
    ("striker", "striker", 20.0, -450.0),
]
QUIET = Look(wear=0.15, lamp="panels")


@pytest.fixture(scope="module")
def still():
    optics = overhead()
    return render_still(SCENE, optics, QUIET, 3), camera_of(optics)


def pairs(seen, scene):
    """Each placed disc with the nearest report and its distance in mm."""
    out = []
    for _, kind, x, y in scene:
        near = min(seen.discs, key=lambda disc: np.hypot(disc.x_mm - x, disc.y_mm - y))
        out.append((kind, near, float(np.hypot(near.x_mm - x, near.y_mm - y))))
    return out


def test_rings_lie_on_their_circle():
    camera = camera_of(overhead())
    ring = rings_px(camera, [(200.0, -300.0)], 15.0, 12.0, 24)[0]
    back = camera.to_mm(ring, 12.0) - (200.0, -300.0)
    assert np.hypot(*back.T) == pytest.approx(np.full(24, 15.0), abs=1e-4)


def test_an_outline_holds_both_edges():
    camera = camera_of(overhead(tilt_deg=8.0))
    outline = outline_px(camera, 400.0, 380.0, "red").astype(np.float32)
    for height in (0.5, 10.0):
        for point in rings_px(camera, [(400.0, 380.0)], 14.8, height)[0]:
            assert cv2.pointPolygonTest(outline, point.tolist(), False) > 0
    several = outlines_px(camera, [(400.0, 380.0), (0.0, 0.0)], ["red", "striker"])
    assert several[0] == pytest.approx(outline)


def test_rays_are_the_cameras_own():
    camera = camera_of(overhead(tilt_deg=10.0))
    rays = rays_around(camera, 430.0, 400.0, 25.0, 6.0)
    assert rays is not None
    rows, columns = np.mgrid[rays.top : rays.top + rays.height, rays.left : rays.left + rays.width]
    pixels = np.stack([columns, rows], axis=-1).reshape(-1, 2)
    assert rays.floor_mm == pytest.approx(camera.to_mm(pixels, 0.0), abs=1e-3)
    assert rays.floor_mm + 12 * rays.slope == pytest.approx(camera.to_mm(pixels, 12.0), abs=1e-3)


def test_rays_outside_the_picture_are_none():
    assert rays_around(camera_of(overhead()), 5000.0, 0.0, 20.0, 6.0) is None


def test_gradients_are_those_of_the_curves():
    rays = rays_around(camera_of(overhead(tilt_deg=9.0)), 350.0, 300.0, 20.0, 6.0)
    assert rays is not None
    state = np.array([350.3, 299.6, 15.02, 12.05, FOOT_MM])
    here = curves(rays, state, 4.0)
    for index in range(5):
        step = np.zeros(5)
        step[index] = 1e-5
        up, down = curves(rays, state + step, 4.0), curves(rays, state - step, 4.0)
        for name in ("outline", "crest", "face", "hole", "floor"):
            slope = (getattr(up, name).distance - getattr(down, name).distance) / 2e-5
            given = getattr(here, name).gradient[:, index]
            # The outline has a crease where crest or foot takes over.
            assert np.mean(np.abs(slope - given) < 1e-3) > 0.97, (name, index)


def test_the_lights_gradient_is_that_of_the_model(still):
    image, camera = still
    rays = rays_around(camera, -300.0, 200.0, 20.0, 6.0)
    assert rays is not None
    light = to_brightness(rays.cut(image))
    state = np.array([-300.0, 200.0, 15.0, 12.0, FOOT_MM])
    shape = curves(rays, state, 4.0)
    model = design(shape, 15.0, 4.0, 1.0)
    levels = np.linalg.lstsq(np.r_[model.matrix, model.ridge], np.r_[light, np.zeros(len(model.ridge))], rcond=None)[0]
    analytic = light_gradient(shape, model, levels, 1.0)[:, 0]
    moved = state + (0.02, 0, 0, 0, 0)
    numeric = (design(curves(rays, moved, 4.0), 15.0, 4.0, 1.0).matrix @ levels - model.matrix @ levels) / 0.02
    # Only the levels' own change with direction is left out.
    assert np.corrcoef(analytic, numeric)[0, 1] > 0.9


def test_every_disc_is_found_in_its_place(still):
    image, camera = still
    seen = detect(image, camera)
    assert len(seen.discs) == len(SCENE)
    for kind, disc, error in pairs(seen, SCENE):
        assert disc.kind == kind
        assert disc.pose == "flat"
        assert error < 0.8
        assert error < 3.5 * disc.sigma_mm
        assert disc.clearance_mm == camera.clearances_mm(kind, disc.x_mm, disc.y_mm)
    assert np.median([error for _, _, error in pairs(seen, SCENE)]) < 0.4


@pytest.mark.parametrize("striker", ["bare", "red", "black"])
def test_a_striker_is_told_by_its_size(striker):
    optics = overhead()
    image = render_still([("striker", "striker", -120.0, -300.0), ("r1", "red", 80.0, 60.0)], optics, Look(striker=striker), 5)
    assert sorted(disc.kind for disc in detect(image, camera_of(optics)).discs) == ["red", "striker"]


@pytest.mark.parametrize("seed", [1, 4, 9])
def test_knots_glare_and_lines_are_no_discs(seed):
    optics = overhead()
    assert detect(render_still([], optics, random_look(seed), seed), camera_of(optics)).discs == []


def test_the_count_does_not_depend_on_noise():
    optics = overhead()
    counts = {len(detect(render_still(SCENE, optics, QUIET, seed), camera_of(optics)).discs) for seed in range(3)}
    assert counts == {len(SCENE)}


def test_a_disc_on_the_rail_is_not_flat():
    optics = overhead()
    image = render_still([Spot("r1", "red", 522.0, 40.0, 25.0), Spot("b1", "black", 0.0, 0.0)], optics, QUIET, 2)
    poses = {disc.kind: disc.pose for disc in detect(image, camera_of(optics)).discs}
    assert poses.get("black") == "flat"
    assert poses.get("red", "on_rail") == "on_rail"


def test_a_fit_finds_its_way_from_a_rough_place(still):
    image, camera = still
    fit = fit_disc(image, camera, -299.0, 200.8, "red")
    assert fit is not None
    assert np.hypot(fit.x_mm + 300.0, fit.y_mm - 200.0) < 0.5
    assert 0 < fit.sigma_mm < 0.3


def test_neighbours_hide_their_own_pixels():
    camera = camera_of(overhead())
    rays = rays_around(camera, 0.0, 0.0, 20.0, 6.0)
    assert rays is not None
    hidden = hidden_by(rays, [Neighbour(30.0, 0.0, "red")], 0.0)
    assert 0.0 < hidden.mean() < 0.4
    assert rays.floor_mm[hidden, 0].min() > 13.0


def test_a_known_disc_is_followed_quickly(still):
    image, camera = still
    flat = [row for row in SCENE if row[0] in {"r1", "b1", "b2", "striker"}]
    start = np.array([(x + 0.7, y - 0.6) for _, _, x, y in flat])
    found = refit_many(image, camera, start, [kind for _, kind, _, _ in flat])
    errors = np.hypot(*(found.centres_mm - [(x, y) for _, _, x, y in flat]).T)
    assert errors.max() < 1.2
    assert (found.quality > 0.3).all()
    x, y, sigma, quality = refit(image, camera, *start[0], flat[0][1])
    assert (x, y) == pytest.approx(tuple(found.centres_mm[0]))
    assert sigma > 0
    assert quality == pytest.approx(found.quality[0])


def test_nothing_to_follow(still):
    image, camera = still
    assert len(refit_many(image, camera, np.zeros((0, 2)), []).quality) == 0


def test_a_picture_of_another_size_is_refused():
    with pytest.raises(LensMismatch):
        detect(np.zeros((100, 100, 3), np.uint8), camera_of(overhead()))


def test_a_grey_picture_is_refused():
    with pytest.raises(InputUnusable, match="BGR"):
        detect(np.zeros((1088, 1456), np.uint8), camera_of(overhead()))


def test_the_command_prints_one_record(still, tmp_path, capsys):
    image, camera = still
    picture, calibration = tmp_path / "still.png", tmp_path / "cal.json"
    cv2.imwrite(str(picture), image)
    record = camera.calibration
    calibration.write_text(
        json.dumps(
            {
                "schema": record.schema,
                "lens": {"width": record.lens.width, "height": record.lens.height, "K": record.lens.K, "dist": record.lens.dist},
                "rvec": record.rvec,
                "tvec": record.tvec,
            }
        )
    )
    detect_command(picture, calibration=calibration)
    out = json.loads(capsys.readouterr().out)
    assert out["schema"] == "novuss.discs/1"
    assert out["image"] == "still.png"
    assert len(out["discs"]) == len(SCENE)


STILLS = Path(__file__).resolve().parents[3] / "shared" / "photoreal" / "stills"


@pytest.mark.slow
@pytest.mark.parametrize("stem", ["open_25_gs_panels_game", "open_00_gs_panels_empty"])
def test_path_traced_pictures(stem):
    if not STILLS.is_dir():
        pytest.skip("the path-traced pictures are not beside this checkout")
    truth = json.loads((STILLS / f"{stem}.json").read_text())
    given = truth["camera"]
    lens = Lens(width=given["width"], height=given["height"], K=given["K"], dist=given["dist"])
    camera = Camera(Calibration(lens=lens, rvec=given["rvec"], tvec=given["tvec"]))
    image = cv2.imread(str(STILLS / truth["image"]))
    seen = detect(image, camera)
    flat = [("", p["kind"], p["x_mm"], p["y_mm"]) for p in truth["pieces"] if p["pose"] == "flat" and p["occluded_fraction"] < 0.2]
    if not flat:
        assert seen.discs == []
        return
    errors = [error for _, _, error in pairs(seen, flat)]
    assert max(errors) < 0.8
    assert [disc.kind for _, disc, _ in pairs(seen, flat)] == [kind.replace("ripa", "striker") for _, kind, _, _ in flat]
