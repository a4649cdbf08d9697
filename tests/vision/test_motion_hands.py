"""Arms: whose they are, and what they are beside; what may be a disc that they have put down."""

from __future__ import annotations

import numpy as np
import pytest

from rules.table import HALF_MM
from vision.motion.arrivals import may_be_disc
from vision.motion.cover import Cover
from vision.motion.hands import Foreign, HandFinder
from vision.motion.outline import outline_at, shape_of
from vision.motion.scene import SHRINK, Scene
from vision.motion.smear import Fit


def strip(scene, camera, start_mm, end_mm, wide_mm=30.0):
    """Small-picture mask of a straight arm."""
    rows, columns = np.indices(scene.surface.shape)
    px = np.c_[columns.ravel(), rows.ravel()] * SHRINK + (SHRINK - 1) / 2
    mm = camera.to_mm(px, 0.0)
    a, b = np.array(start_mm, float), np.array(end_mm, float)
    along = np.clip((mm - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
    off = np.hypot(*(mm - a - along[:, None] * (b - a)).T)
    return (off < wide_mm).reshape(scene.surface.shape)


def test_an_arm_that_comes_in_over_a_corner_is_one_of_those_who_play(camera):
    scene = Scene(camera)
    arm = strip(scene, camera, (-HALF_MM - 110, -300), (-200, -200)) & scene.watched
    nobody = np.zeros_like(arm)
    assert HandFinder(camera, scene).find(arm, nobody).side == "W"
    assert HandFinder(camera, scene, ("S", "N")).find(arm, nobody).side == "S"


def test_a_cue_that_shows_in_parts_may_have_moved_what_its_tip_is_beside(camera):
    scene = Scene(camera)
    piece = outline_at(camera, np.array([0.0, 0.0]), shape_of("red"))
    nothing = np.zeros(scene.surface.shape, bool)
    tip = strip(scene, camera, (0.0, -34.0), (0.0, -26.0), 6.0)
    cover = Cover(scene)
    cover.update(Foreign(nothing, "S", 0, (), tip))
    assert cover.is_beside_part(piece)
    cover.update(Foreign(nothing, None, 0, (), tip))
    assert not cover.is_beside_part(piece)
    cover.update(Foreign(nothing, "S", 0, (), nothing))
    assert not cover.is_beside_part(piece)


@pytest.mark.parametrize(("face", "hole", "may"), [(160, 90, True), (160, 158, False), (60, 67, True), (130, 135, False)])
def test_the_hole_of_a_dark_striker_need_not_be_darker_than_its_face(face, hole, may):
    assert may_be_disc(Fit(np.zeros(2), 1.0, face, hole, 0.95, 0.1), 180.0) == may


def test_a_disc_that_flies_over_a_rail_is_no_arm(camera):
    scene = Scene(camera)
    nobody = np.zeros(scene.surface.shape, bool)
    flying = strip(scene, camera, (-100, HALF_MM - 20), (-100, HALF_MM + 60), 15.0) & scene.watched
    assert HandFinder(camera, scene).find(flying, nobody).side == "N"
    assert HandFinder(camera, scene).find(flying, nobody, flying=True).side is None
    arm = strip(scene, camera, (-100, HALF_MM + 110), (-100, HALF_MM - 150), 60.0) & scene.watched
    assert HandFinder(camera, scene).find(arm, nobody, flying=True).side == "N"


def test_an_arm_that_was_there_before_the_stroke_stays_one(camera):
    scene = Scene(camera)
    nobody = np.zeros(scene.surface.shape, bool)
    cue = strip(scene, camera, (0, -HALF_MM - 110), (0, -HALF_MM + 60), 8.0) & scene.watched
    finder = HandFinder(camera, scene)
    assert finder.find(cue, nobody).side == "S"
    assert finder.find(cue, nobody, flying=True).side == "S"
