"""Arms that are none: shades that reach over the table, and the bare place of a hand that lay there from the beginning."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.truth import camera_of
from rules.facts import SeenDisc, SeenDiscs
from rules.table import HALF_MM
from tests.vision.test_motion_hands import strip
from virtual_table import VirtualTable, random_camera, random_look
from virtual_table.hands import covered_px
from vision.motion.arms import Arms
from vision.motion.scene import Scene
from vision.motion.tracks import Tracker
from vision.occluders import CELLS, HALF_SEEN_MM, STEP_MM, Cover, Occluders
from vision.watcher import Watcher

FRAME_S = 1 / 60


class Network:
    """Says of every picture that one square of the table is covered, or nothing; counts its looks."""

    def __init__(self, monkeypatch, *, at_mm=None, chance=0.9):
        self.chance = np.zeros((CELLS, CELLS), np.float32)
        if at_mm is not None:
            row, column = int((HALF_SEEN_MM - at_mm[1]) / STEP_MM), int((at_mm[0] + HALF_SEEN_MM) / STEP_MM)
            self.chance[row - 4 : row + 5, column - 4 : column + 5] = chance
        self.looks = 0
        monkeypatch.setattr(Occluders, "load", staticmethod(lambda: self))

    def cover(self, picture, camera):
        del picture, camera
        self.looks += 1
        return Cover(self.chance, np.ones((CELLS, CELLS), bool))


def followed(camera, changed, seconds, *, moves=lambda number: False):
    """Arms after so many seconds of a picture that has changed in the same places."""
    scene = Scene(camera)
    arms = Arms(camera, scene, Tracker(camera, scene, 0.004), ("S", "N"))
    mask, still_s = changed(scene), 0.0
    for number in range(round(seconds / FRAME_S)):
        still_s = 0.0 if moves(number) else still_s + FRAME_S
        arms.look(mask, number * FRAME_S, still_s)
    return arms


def shade(scene, camera):
    return strip(scene, camera, (0, -HALF_MM - 200), (0, 0), 120.0) & scene.watched


def test_what_is_wide_and_still_and_no_arm_to_the_network_is_none(camera, monkeypatch):
    network = Network(monkeypatch)
    assert followed(camera, lambda scene: shade(scene, camera), 0.1).foreign.side == "S"
    arms = followed(camera, lambda scene: shade(scene, camera), 0.4)
    assert arms.foreign.side is None
    assert not arms.foreign.present
    assert not arms.foreign.islands
    assert network.looks > 0


def test_a_faint_shade_that_shows_in_speckles_is_none_either(camera, monkeypatch):
    Network(monkeypatch)
    rng = np.random.default_rng(3)

    def speckled(scene):
        return shade(scene, camera) & (rng.random(scene.surface.shape) < 0.35)

    assert followed(camera, speckled, 0.5).foreign.side is None


@pytest.mark.parametrize("chance", [0.9, 0.3])
def test_an_arm_of_which_the_network_sees_or_suspects_a_part_stays_one(camera, monkeypatch, chance):
    Network(monkeypatch, at_mm=(0, -300), chance=chance)
    assert followed(camera, lambda scene: shade(scene, camera), 1.0).foreign.side == "S"


@pytest.mark.parametrize(("tip_mm", "half_wide_mm"), [((0, 0), 16.0), ((0, -HALF_MM + 30), 55.0)])
def test_a_cue_or_fingers_over_the_rail_that_the_network_misses_stay_an_arm(camera, monkeypatch, tip_mm, half_wide_mm):
    """Of a wood-coloured hand on the rail it saw nothing: a struck striker was taken for a touched piece, and a lifted piece was told."""
    Network(monkeypatch)
    arm = followed(camera, lambda scene: strip(scene, camera, (0, -HALF_MM - 200), tip_mm, half_wide_mm) & scene.watched, 1.0)
    assert arm.foreign.side == "S"


def test_what_moves_is_an_arm_whatever_the_network_says(camera, monkeypatch):
    network = Network(monkeypatch)
    assert followed(camera, lambda scene: shade(scene, camera), 1.0, moves=lambda number: True).foreign.side == "S"
    assert not network.looks
    again = followed(camera, lambda scene: shade(scene, camera), 1.0, moves=lambda number: number == 59)
    assert again.foreign.side == "S"


def test_without_the_network_change_alone_tells_arms(camera, monkeypatch):
    monkeypatch.setattr(Occluders, "load", staticmethod(lambda: None))
    assert followed(camera, lambda scene: shade(scene, camera), 1.0).foreign.side == "S"


def test_the_network_looks_ten_to_thirteen_times_a_second_at_what_stands_still(camera, monkeypatch):
    network = Network(monkeypatch, at_mm=(0, -300))
    followed(camera, lambda scene: shade(scene, camera), 1.0)
    assert 10 <= network.looks <= 13


class Filmed:
    """A virtual table from a while before something happens, seen by a watcher that is told which discs can be seen."""

    def __init__(self, nothing, seed, from_s):
        self.table = VirtualTable(seed, look=random_look(seed), camera=random_camera(seed), nothing=nothing, fps=20.0)
        self.watcher = Watcher(camera_of(self.table.camera), detector=self._detect)
        self.frame = None
        self.run(0.2)
        self.table.skip(round((from_s - 0.3) * self.table.fps))

    def run(self, until_s):
        while (frame := self.table.next_frame()) is not None and frame.t_ns < until_s * 1e9:
            self.frame = frame
            self.watcher.push(frame.image, frame.t_ns, frame.seq)

    def _detect(self, image, camera):
        del image
        now_s = self.frame.t_ns / 1e9
        hidden = covered_px(self.table.camera, self.table.shapes_at(now_s))
        seen = []
        for disc in self.table.truth_at(now_s):
            x, y = np.rint(camera.to_px([[disc.x_mm, disc.y_mm, 12.0]])[0]).astype(int)
            if not hidden[y, x]:
                seen.append(SeenDisc(kind=disc.kind, x_mm=disc.x_mm, y_mm=disc.y_mm, sigma_mm=0.1))
        return SeenDiscs(discs=seen)


def test_somebody_who_steps_into_the_light_does_not_hold_up_the_table():
    filmed = Filmed("shade", 622, 1.9)
    filmed.run(3.0)
    assert not filmed.watcher.hands
    assert not filmed.watcher.moving


def test_a_hand_that_lay_there_from_the_beginning_leaves_and_what_it_hid_is_known():
    filmed = Filmed("leave", 602, 2.9)
    there = sorted((d.kind, d.x_mm, d.y_mm) for d in filmed.table.truth_at(0.0))
    assert len(filmed.watcher.discs.discs) < len(there)
    filmed.run(4.3)
    assert not filmed.watcher.hands
    assert not filmed.watcher.moving
    known = sorted((d.kind, d.x_mm, d.y_mm) for d in filmed.watcher.discs.discs)
    assert [disc[0] for disc in known] == [disc[0] for disc in there]
    assert np.abs(np.array([disc[1:] for disc in known]) - [disc[1:] for disc in there]).max() < 1.0
