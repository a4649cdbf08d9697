"""The watcher on the virtual table: whole strokes, and things that are no stroke."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.truth import camera_of
from rules.facts import Contact, Incident, Placed, Rail, SeenDisc, SeenDiscs, Stroke, Struck
from virtual_table import VirtualTable
from vision.watcher import Watcher


class Watched:
    """A virtual table seen by a watcher that is told where the discs lie at the start."""

    def __init__(self, **table):
        self.table = VirtualTable(**table)
        optics = self.table.camera
        self.camera = camera_of(optics)
        self.now_s = 0.0
        self.rng = np.random.default_rng(5)
        self.watcher = Watcher(self.camera, detector=self._detect)
        self.facts = []

    def _detect(self, image, camera):
        del image, camera
        there = [d for d in self.table.truth_at(self.now_s) if d.z_mm == 0]
        noise = self.rng.normal(0, 0.1, (len(there), 2))
        return SeenDiscs(
            discs=[SeenDisc(kind=d.kind, x_mm=d.x_mm + e[0], y_mm=d.y_mm + e[1], sigma_mm=0.1) for d, e in zip(there, noise, strict=True)]
        )

    def run(self, seconds):
        for frame in self.table:
            self.now_s = frame.t_ns / 1e9
            self.facts += self.watcher.push(frame.image, frame.t_ns, frame.seq)
            if self.now_s > seconds:
                break
        return self.facts


@pytest.fixture(scope="module")
def game():
    watched = Watched(seed=4)
    watched.run(7.0)
    return watched


def test_first_stroke_of_a_match_is_told_as_it_was(game):
    strokes = [fact for fact in game.facts if isinstance(fact, Stroke)]
    truth = [s for s in game.table.strokes if s["timeline"][-1]["t"] < game.now_s - 0.5]
    assert len(strokes) == len(truth) == 1
    told, true = strokes[0], truth[0]
    assert told.side == true["side"]
    start = next(e.t for e in told.timeline if isinstance(e, Struck))
    true_start = next(e["t"] for e in true["timeline"] if e["event"] == "struck")
    assert start == pytest.approx(true_start, abs=0.002)
    first = next(e for e in told.timeline if isinstance(e, Contact) and "striker" in e.discs)
    true_first = next(e for e in true["timeline"] if e["event"] == "contact" and "striker" in e["discs"])
    assert first.t - start == pytest.approx(true_first["t"] - true_start, abs=0.003)
    hit = {d.id: d for d in told.before.discs}[next(i for i in first.discs if i != "striker")]
    true_hit = {d["id"]: d for d in true["before"]["discs"]}[next(i for i in true_first["discs"] if i != "striker")]
    assert (hit.x_mm, hit.y_mm) == pytest.approx((true_hit["x_mm"], true_hit["y_mm"]), abs=1.0)
    placed = next(e for e in told.timeline if isinstance(e, Placed))
    true_placed = next(e for e in true["timeline"] if e["event"] == "placed")
    assert (placed.x_mm, placed.y_mm) == pytest.approx((true_placed["x_mm"], true_placed["y_mm"]), abs=1.0)
    rails = [e.rail for e in told.timeline if isinstance(e, Rail) and e.disc == "striker" and e.t < first.t]
    assert rails == [e["rail"] for e in true["timeline"] if e["event"] == "rail" and e["disc"] == "striker" and e["t"] < true_first["t"]]


def test_ids_are_stable_and_live_picture_is_complete(game):
    before = {d.id for d in next(f for f in game.facts if isinstance(f, Stroke)).before.discs}
    assert {f"r{i}" for i in range(1, 9)} | {f"b{i}" for i in range(1, 9)} | {"striker"} == before
    assert {d.id for d in game.watcher.discs.discs} <= before


@pytest.mark.parametrize("nothing", ["flicker", "lean"])
def test_nothing_happens(nothing):
    watched = Watched(seed=11, nothing=nothing)
    facts = watched.run(4.5)
    assert not [f for f in facts if isinstance(f, Stroke | Incident)]


def test_gaps_in_sequence_are_counted():
    watched = Watched(seed=11, nothing="still")
    for number in range(6):
        frame = watched.table.next_frame()
        if number % 2 == 0:
            watched.watcher.push(frame.image, frame.t_ns, frame.seq)
    assert watched.watcher.stats.dropped == 2
