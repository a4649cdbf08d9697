"""A small training of the occluder network: truth is what is drawn, the network learns, the exported file answers alike."""

import hashlib

import numpy as np
import pytest

pytest.importorskip("torch", reason="the extra `train` is not installed (make train installs it)")
pytest.importorskip("numba", reason="the extra `train` is not installed (make train installs it)")

from models.training.bodies import ROD_COLUMNS, arm, below, cue, person
from models.training.casting import NOTHING, cast, shadow
from models.training.export import export_cover
from models.training.flats import filled, random_flat
from models.training.occluder_card import cover_card, logits_of_file
from models.training.occluder_learn import logits_of, make_sure, train_cover
from models.training.occluder_scene import FULL, PICTURES, THINGS, UNSEEN, covers_of
from models.training.store import joined
from vision.occluders import CELLS, HALF_SEEN_MM, ON_RAILS_TOO, Occluders, centres_mm

TABLES = 4
EYE = np.array([0.0, 0.0, 1400.0])
LAMP = np.array([0.6, 0.0, 0.8, 0.05, 0, 0, 0, 0.05, 0, 1.0, 1.0, 1.0])


@pytest.fixture(scope="module")
def samples():
    return joined([covers_of(number) for number in range(TABLES)])


def post(x, y, height):
    rod = np.zeros(ROD_COLUMNS)
    rod[0:4] = rod[4:8] = x, y, height, 30.0
    rod[8:14] = 0.4
    return rod[None]


def test_the_same_table_is_always_the_same(samples):
    again = covers_of(2)
    assert len(again.cells) == PICTURES
    assert np.array_equal(again.cells, samples.cells[samples.scene == 2])
    assert np.array_equal(again.cover, samples.cover[samples.scene == 2])


def test_some_tables_are_bare_and_none_is_hidden_altogether(samples):
    shares = [((cover > FULL // 2) & (cover != UNSEEN))[ON_RAILS_TOO].mean() for cover in samples.cover]
    assert min(shares) == 0.0
    assert max(shares) < 0.8
    assert 0.02 < np.mean(shares) < 0.3


def test_what_is_over_a_table_is_told_beside_the_cells(samples):
    covered = ((samples.cover > 0) & (samples.cover != UNSEEN)).any(axis=(1, 2))
    assert not covered[samples.over == 0].any()
    assert covered[samples.over > 0].mean() > 0.8  # some only pass beside the rails
    assert samples.over.max() < 1 << len(THINGS)


def test_what_is_high_up_is_seen_further_from_the_cameras_foot():
    light = np.ones(3)
    for height, seen_x in ((0.0, 300.0), (200.0, 350.0)):
        z, _ = cast(post(300.0, 0.0, height), EYE, HALF_SEEN_MM, CELLS, LAMP[None], light, light)
        assert centres_mm()[z > NOTHING][:, 0].mean() == pytest.approx(seen_x, abs=1.5)
        assert z.max() == pytest.approx(height + 30.0, abs=1.0)


def test_a_shadow_falls_away_from_the_lamp_and_is_no_cover():
    dark = shadow(post(0.0, 0.0, 160.0), LAMP, HALF_SEEN_MM, CELLS)
    where = centres_mm()[dark > 0.5]
    assert where[:, 0].mean() == pytest.approx(-120.0, abs=3.0)
    assert np.ptp(where[:, 0]) > np.ptp(where[:, 1])  # a low lamp draws it out


def test_bodies_stay_below_the_camera_and_reach_over_the_table():
    rng = np.random.default_rng(7)
    over = 0
    for make in (arm, cue, person) * 20:
        rods = below(make(rng), 1200.0)
        assert np.isfinite(rods).all()
        assert (rods[:, [3, 7]] > 0).all()
        assert (rods[:, [2, 6]] < 1200.0).all()
        over += bool((np.abs(rods[:, [0, 1]]).max(axis=1) < 500).any())
    assert over > 30


def test_flat_things_have_an_area():
    rng = np.random.default_rng(8)
    areas = [filled(random_flat(rng).outline_mm, 2000.0, 1000).sum() * 16 for _ in range(40)]
    assert min(areas) > 400
    assert max(areas) < 120_000


def test_a_short_training_learns_and_its_export_answers_alike(samples, tmp_path):
    said = []
    network = train_cover(samples, 4, 1, said.append)
    losses = [float(text.rsplit(" ", 1)[1]) for text in said]
    assert losses[-1] < losses[0]
    scale, _ = make_sure(network, samples)
    assert scale > 0
    path = tmp_path / "occluders.onnx"
    export_cover(network, path, "a trial run")
    assert logits_of_file(path, samples) == pytest.approx(logits_of(network, samples), abs=1e-2)
    text = cover_card(path, samples)
    assert hashlib.sha256(path.read_bytes()).hexdigest() in text
    for told in ("on a trial run;", "IR 8; all of it in numbers of 32 bits", "lamp ", "hands and arms alone", "calibration error"):
        assert told in text, told
    assert path.stat().st_size < 500_000
    Occluders(path)
