"""What the renderer draws is where the camera model says it is."""

import math

import cv2
import numpy as np
import pytest

from rules.table import hole_radius_mm, radius_mm, thickness_mm
from virtual_table import Look, Renderer, Spot, overhead, random_camera, random_look, render_still
from virtual_table.discs import DiscPainter
from virtual_table.renderer import instants

PLAIN = Look(noise=0.0, grain=0.0, wear=0.0, blur_px=0.0, glare=0.0, line_fade=0.0, line_broken=0.0)


def circle(camera, x, y, z, radius):
    a = np.linspace(0, 2 * math.pi, 120, endpoint=False)
    return camera.to_px(np.c_[x + radius * np.cos(a), y + radius * np.sin(a), np.full_like(a, z)])


def polygon_cover(shape, polygons, ss=12):
    """Area coverage of the union of convex polygons by plain supersampling (pixel centres are integers)."""
    rows, columns = shape
    big = np.zeros((rows * ss, columns * ss), dtype=bool)
    v, u = np.mgrid[0 : rows * ss, 0 : columns * ss]
    points = np.stack([(u + 0.5) / ss - 0.5, (v + 0.5) / ss - 0.5], axis=-1)
    for polygon in polygons:
        inside = np.ones(big.shape, dtype=bool)
        hull = cv2.convexHull(polygon.astype(np.float32)).reshape(-1, 2)
        turn = np.sign(cv2.contourArea(hull, oriented=True))
        for p, q in zip(hull, np.roll(hull, -1, axis=0), strict=True):
            inside &= turn * ((q[0] - p[0]) * (points[..., 1] - p[1]) - (q[1] - p[1]) * (points[..., 0] - p[0])) >= 0
        big |= inside
    return big.reshape(rows, ss, columns, ss).mean(axis=(1, 3))


def moments(cover):
    rows, columns = np.mgrid[0 : cover.shape[0], 0 : cover.shape[1]]
    total = cover.sum()
    return total, np.array([(columns * cover).sum() / total, (rows * cover).sum() / total])


def paint(camera, spots, pad=34):
    middle = camera.to_px([[spots[0].x_mm, spots[0].y_mm, 0.0]])[0].round().astype(int)
    box = (slice(middle[1] - pad, middle[1] + pad), slice(middle[0] - pad, middle[0] + pad))
    painted = DiscPainter(camera.centre_mm, PLAIN).paint(camera.ground_mm[box], camera.px_per_mm(spots[0].x_mm, spots[0].y_mm), spots)
    return painted, np.array([middle[0] - pad, middle[1] - pad])


@pytest.mark.parametrize("seed", range(4))
def test_ground_map_is_the_inverse_of_the_lens(seed):
    camera = random_camera(seed)
    rng = np.random.default_rng(seed)
    columns, rows = rng.integers(0, camera.width, 400), rng.integers(0, camera.height, 400)
    ground = camera.ground_mm[rows, columns]
    back = camera.to_px(np.c_[ground, np.zeros(len(ground))])
    assert np.abs(back - np.c_[columns, rows]).max() < 0.002


@pytest.mark.parametrize(("x", "y"), [(0.0, 0.0), (470.0, 250.0), (-410.0, -300.0)])
@pytest.mark.parametrize("kind", ["red", "striker"])
def test_silhouette_is_that_of_the_projected_solid(kind, x, y):
    camera = overhead(728, 544, tilt_deg=7.0)
    painted, corner = paint(camera, [Spot("d", kind, x, y)], pad=20)
    radius = radius_mm(kind)
    hull = np.concatenate([circle(camera, x, y, z, radius) for z in (0.0, thickness_mm(kind))]) - corner
    truth = polygon_cover(painted.cover.shape, [hull])
    low, top = (circle(camera, x, y, z, hole_radius_mm(kind)) - corner for z in (0.0, thickness_mm(kind)))
    through = polygon_cover(truth.shape, [low]) * polygon_cover(truth.shape, [top])
    solid = truth - np.minimum(through, truth)
    (area, centre), (true_area, true_centre) = moments(painted.cover), moments(solid)
    assert centre == pytest.approx(true_centre, abs=0.03)
    assert math.sqrt(area / math.pi) == pytest.approx(math.sqrt(true_area / math.pi), abs=0.04)


@pytest.mark.parametrize(("x", "y"), [(0.0, 20.0), (-330.0, 250.0)])
def test_hole_shows_the_table_where_the_axis_is(x, y):
    camera = overhead(1456, 1088, tilt_deg=4.0)
    painted, corner = paint(camera, [Spot("d", "striker", x, y)], pad=14)
    radius = hole_radius_mm("striker")
    seen = polygon_cover(painted.cover.shape, [circle(camera, x, y, 0.0, radius) - corner])
    seen = np.minimum(seen, polygon_cover(painted.cover.shape, [circle(camera, x, y, thickness_mm("striker"), radius) - corner]))
    rows, columns = np.mgrid[0 : seen.shape[0], 0 : seen.shape[1]]
    middle = camera.to_px([[x, y, 0.0]])[0] - corner
    near = np.hypot(columns - middle[0], rows - middle[1]) < 10
    (area, centre), (true_area, true_centre) = moments((1 - painted.cover) * near), moments(seen)
    assert centre == pytest.approx(true_centre, abs=0.05)
    assert math.sqrt(area / math.pi) == pytest.approx(math.sqrt(true_area / math.pi), abs=0.05)


def test_lines_lie_where_the_look_says():
    camera = overhead(1456, 1088)
    look = Look(noise=0.0, grain=0.0, glare=0.0, line_fade=0.0, line_broken=0.0, zone_line_mm=(370.0, 371.0, 369.4, 370.2))
    picture = render_still([], camera, look).astype(float).sum(axis=2)
    for x, y, step in ((200.0, 371.0, (0, 1)), (-250.0, -370.0, (0, 1)), (-369.4, 200.0, (1, 0)), (370.2, -120.0, (1, 0))):
        at = camera.to_px([[x, y, 0.0]])[0]
        column, row = at.round().astype(int)
        span = np.arange(-5, 6)
        values = picture[row + span, column] if step == (0, 1) else picture[row, column + span]
        dark = np.maximum(np.median(values) - values, 0)
        found = (dark * span).sum() / dark.sum() + (row if step == (0, 1) else column)
        # The line is not quite parallel to the pixels: project the crossing with this very column or row.
        along = camera.to_px([[x + 1, y, 0.0], [x - 1, y, 0.0]] if step == (0, 1) else [[x, y + 1, 0.0], [x, y - 1, 0.0]])
        slope = (along[0] - along[1])[1 if step == (0, 1) else 0] / (along[0] - along[1])[0 if step == (0, 1) else 1]
        true = at[1] + slope * (column - at[0]) if step == (0, 1) else at[0] + slope * (row - at[1])
        assert found == pytest.approx(true, abs=0.05)


def test_motion_blur_is_as_long_as_the_way_in_the_exposure():
    camera = overhead(1456, 1088, tilt_deg=0.0, rotation_deg=0.0, dist=(0.0, 0.0, 0.0, 0.0, 0.0))
    scale = camera.px_per_mm(0, 0)
    speed, exposure = 5000.0, 0.004
    times = instants(0.0, exposure, speed, scale)
    assert len(times) >= 15
    spots = [Spot("d", "red", speed * (t - exposure / 2), 0.0) for t in times]
    moving, _ = paint(camera, spots)
    still, _ = paint(camera, [Spot("d", "red", 0.0, 0.0)])

    def variance(cover):
        columns = np.arange(cover.shape[1])
        line = cover.sum(axis=0) / cover.sum()
        return (line * columns**2).sum() - (line * columns).sum() ** 2

    length = math.sqrt(12 * (variance(moving.cover) - variance(still.cover)))
    assert length == pytest.approx(speed * exposure * scale, rel=0.02)
    assert moving.cover.sum() == pytest.approx(still.cover.sum(), rel=0.01)


def test_rolling_shutter_shears_a_moving_disc_and_only_that():
    still = overhead(728, 544, tilt_deg=0.0, rotation_deg=0.0, dist=(0.0, 0.0, 0.0, 0.0, 0.0))
    rolling = overhead(728, 544, tilt_deg=0.0, rotation_deg=0.0, dist=(0.0, 0.0, 0.0, 0.0, 0.0), readout_s=0.02)
    pictures = []
    for camera in (still, rolling):
        renderer = Renderer(camera, PLAIN)
        pictures.append(renderer.frame([[Spot("d", "black", 0.0, 150.0, vx_mm_s=4000.0)]]).astype(float).sum(axis=2))
        blank = renderer.frame().astype(float).sum(axis=2)
    dark = [np.maximum(blank - p, 0) for p in pictures]
    (_, a), (_, b) = moments(dark[0]), moments(dark[1])
    assert b == pytest.approx(a, abs=0.05)
    rows = [np.flatnonzero(d.sum(axis=1) > 200) for d in dark]

    def slope(d, rows):
        columns = np.arange(d.shape[1])
        return np.polyfit(rows, [(d[r] * columns).sum() / d[r].sum() for r in rows], 1)[0]

    expected = 4000 * 0.02 / 543 * still.px_per_mm(0, 150)
    assert slope(dark[1], rows[0][3:-3]) - slope(dark[0], rows[0][3:-3]) == pytest.approx(expected, rel=0.1)


def test_moved_away_disc_leaves_nothing_behind():
    renderer = Renderer(overhead(728, 544), Look(noise=0.0))
    empty = renderer.frame()
    renderer.rest([Spot("r1", "red", 100.0, 50.0), Spot("b1", "black", 131.0, 50.0)])
    both = renderer.frame()
    renderer.rest([Spot("b1", "black", 131.0, 50.0)])
    renderer.rest([])
    assert (renderer.frame() == empty).all()
    renderer.rest([Spot("b1", "black", 131.0, 50.0), Spot("r1", "red", 100.0, 50.0)])
    assert (renderer.frame() == both).all()


def test_resting_and_moving_discs_look_alike():
    camera = overhead(728, 544)
    renderer = Renderer(camera, Look(noise=0.0))
    renderer.rest([Spot("r1", "red", -200.0, 300.0)])
    kept = renderer.frame().astype(int)
    renderer.rest([])
    drawn = renderer.frame([[Spot("r1", "red", -200.0, 300.0)]]).astype(int)
    assert np.abs(kept - drawn).max() <= 1


@pytest.mark.parametrize("seed", range(3))
def test_random_tables_are_plausible_pictures(seed):
    picture = render_still([("r1", "red", 0.0, 0.0), ("b1", "black", 60.0, 0.0)], overhead(364, 272), random_look(seed))
    assert random_look(seed) == random_look(seed)
    assert picture.dtype == np.uint8
    assert 40 < picture.mean() < 230
    assert (picture >= 254).mean() < 0.25


def test_noise_differs_between_frames_and_has_the_stated_size():
    renderer = Renderer(overhead(364, 272), Look(noise=2.0))
    a, b = (renderer.frame(number=n).astype(float) for n in (0, 1))
    difference = (a - b)[..., 1]
    assert 1.0 < difference.std() / math.sqrt(2) < 3.0
    assert (renderer.frame(number=1) == b).all()
