"""Discs reach into nothing, and what a lamp does to all of them alike is taken back."""

from dataclasses import replace

import numpy as np
import pytest

from virtual_table import Look, overhead, render_still
from vision.discs import Neighbour, fit_disc
from vision.discs.fit import Room
from vision.discs.lamp import lamp_pull, without_pull
from vision.discs.regions import FOOT_MM


@pytest.fixture(scope="module")
def fit(camera):
    scene = [("r1", "red", 60.0, 485.0), ("b1", "black", 90.2, 485.0)]
    image = render_still(scene, overhead(), Look(wear=0.15, lamp="panels"), 3)
    found = fit_disc(image, camera, 60.6, 484.0, "red", [Neighbour(90.2, 485.0, "black")])
    assert found is not None
    return found


def state(x, y):
    return np.array([x, y, 15.0, 12.0, FOOT_MM])


def test_nothing_presses_a_free_disc():
    room = Room(railed=True, places=np.array([[40.0, 0.0]]), radii=np.array([15.0]))
    information, pull = room.press(state(0.0, 0.0))
    assert not information.any()
    assert not pull.any()


@pytest.mark.parametrize(("x", "y", "along"), [(485.4, 0.0, (-1, 0)), (-485.4, 0.0, (1, 0)), (0.0, 485.4, (0, -1)), (0.0, -485.4, (0, 1))])
def test_a_rail_presses_inwards(x, y, along):
    _, pull = Room(railed=True, places=np.zeros((0, 2)), radii=np.zeros(0)).press(state(x, y))
    assert pull[:2] / np.linalg.norm(pull[:2]) == pytest.approx(along)
    assert pull[2] < 0


def test_a_neighbour_presses_away_unless_its_place_is_absurd():
    room = Room(railed=False, places=np.array([[29.0, 0.0]]), radii=np.array([15.0]))
    assert room.press(state(0.0, 0.0))[1][0] < 0
    assert not room.press(state(10.0, 0.0))[1].any()


def test_a_disc_at_a_rail_stays_on_the_table(fit):
    assert fit.y_mm + fit.radius_mm < 500.15
    assert np.hypot(fit.x_mm - 60.0, fit.y_mm - 485.0) < 0.5


def test_a_lamps_pull_goes_against_the_holes(camera, fit):
    fits = [replace(fit, apart_mm=np.array([0.4, 0.0]), apart_covariance=np.eye(2) * 0.01) for _ in range(12)]
    pull = lamp_pull(fits, camera)
    assert -0.3 < pull[0] < -0.05
    assert pull[1] == 0.0
    free = replace(fit, free=np.eye(2))
    assert without_pull(free, pull)[0] == pytest.approx(fit.x_mm - pull[0])
    held = replace(fit, free=np.zeros((2, 2)))
    assert without_pull(held, pull) == pytest.approx((fit.x_mm, fit.y_mm))


def test_no_discs_no_pull(camera):
    assert not lamp_pull([], camera).any()
