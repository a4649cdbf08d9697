"""A small training from nothing: scenes are right, the network learns, the exported file answers alike."""

import hashlib

import numpy as np
import pytest

pytest.importorskip("torch", reason="the extra `train` is not installed (make train installs it)")
pytest.importorskip("numba", reason="the extra `train` is not installed (make train installs it)")

import torch

from models.training.card import answers_of_file, calibration, card
from models.training.dataset import KINDS, POSES, samples_of
from models.training.export import export
from models.training.learn import answers_of, disc_inputs, make_honest, train, unroll
from models.training.quantise import quantise
from models.training.store import joined, some
from vision.discs.eyes import BATCH, Eyes
from vision.discs.patches import FIRST_RING, LAST_RING, PER_RADIUS, RAYS, RINGS, SIDE

SCENES = 30


@pytest.fixture(scope="module")
def samples():
    return joined([samples_of(number) for number in range(SCENES)])


def test_the_same_scene_is_always_the_same(samples):
    again = samples_of(3)
    of = samples.scene == 3
    assert np.array_equal(again.patches, samples.patches[of])
    assert np.array_equal(again.shift, samples.shift[of], equal_nan=True)


def test_a_disc_asked_for_is_where_the_truth_says(samples):
    """The hole's middle stands out from the ring around it at the true place, more than at places beside it."""
    flat = np.flatnonzero((samples.pose == POSES.index("flat")) & (np.abs(samples.shift).max(axis=1) < 1.5))
    ticks = np.arange(64) - 31.5
    contrast = []
    for k in flat:
        for aside in (0.0, 8.0):
            x, y = samples.shift[k] + aside
            away = np.hypot(ticks[None, :] - x, ticks[:, None] - y)
            light = samples.patches[k].astype(np.float32).mean(axis=0)
            contrast.append(abs(light[away < 4].mean() - light[(away > 7) & (away < 10)].mean()))
    here, beside = np.array(contrast).reshape(-1, 2).T
    assert (here > beside).mean() > 0.8


def test_a_shift_of_a_disc_is_a_wave_of_its_edge():
    ticks = np.arange(SIDE) - (SIDE - 1) / 2
    places = [(0.0, 0.0), (3.0, 0.0), (0.0, -2.0)]
    discs = [np.hypot(*np.meshgrid(ticks - x, ticks - y)) < PER_RADIUS for x, y in places]
    patches = torch.from_numpy(np.repeat(np.stack(discs)[:, None], 3, axis=1).astype(np.float32))
    for mode in ("bilinear", "bicubic"):
        edge = unroll(patches, mode).numpy()[:, 0].sum(axis=1) * (LAST_RING - FIRST_RING) / (RINGS - 1)
        turned = np.arange(RAYS) * 2 * np.pi / RAYS
        wave = 2 * np.array([edge @ np.cos(turned), edge @ np.sin(turned)]).T / RAYS
        assert wave == pytest.approx(np.array(places), abs=0.2)


def test_a_short_training_learns_and_its_export_answers_alike(samples, tmp_path):
    said = []
    network = train(samples, 6, 1, said.append)
    losses = [float(text.rsplit(" ", 1)[1]) for text in said]
    assert losses[-1] < losses[0] - 0.5
    assert make_honest(network, samples) > 0
    path = tmp_path / "discs.onnx"
    export(network, path, "a trial run")
    before, bytes_before = answers_of(network, samples), path.stat().st_size
    assert answers_of_file(path, samples).shift == pytest.approx(before.shift, abs=1e-3)
    assert "all of it in numbers of 32 bits" in card(path, samples)
    quantise(path, disc_inputs(some(samples, 3 * BATCH), BATCH))
    after = answers_of_file(path, samples)
    assert 0 < np.abs(after.shift - before.shift).mean() < 0.1
    assert (after.kind.argmax(axis=1) == before.kind.argmax(axis=1)).mean() > 0.97
    assert path.stat().st_size < bytes_before
    text = card(path, samples)
    assert hashlib.sha256(path.read_bytes()).hexdigest() in text
    for told in (
        "Trained on a trial run;",
        "IR 8; most of the work in numbers of 8 bits",
        "95 % ellipse",
        "kind and pose, lamp ",
        "Curve of the pose",
        "Not for",
    ):
        assert told in text, told
    Eyes(path)


def test_calibration_error_of_honest_and_of_boastful_answers():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, len(KINDS), 4000)
    boast = np.where(np.arange(len(KINDS)) == truth[:, None], 9.0, 0.0)
    wrong = rng.random(4000) < 0.4
    boast[wrong] = np.roll(boast[wrong], 1, axis=1)
    assert calibration(boast, truth)[0] == pytest.approx(0.4, abs=0.05)


def test_some_samples_are_taken_evenly(samples):
    few = some(samples, 10)
    assert len(few.kind) == len(few.patches) == 10
    assert np.ptp(few.scene) > SCENES / 2
    assert len(some(few, 100).kind) == 10
