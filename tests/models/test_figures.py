"""Figures of the cards, which need nothing of the extra `train`."""

import numpy as np
import pytest

from models.training.figures import call_ms, curve_table, overlap, reliability


def test_overlap_counts_cells_in_both_over_cells_in_either():
    a, b = np.zeros((2, 4, 4), bool)
    a[:2], b[1:3] = True, True
    assert overlap(a, b) == pytest.approx(1 / 3)
    assert np.isnan(overlap(a & ~a, b & ~b))


def test_honest_probabilities_have_no_calibration_error_and_boasts_have_theirs():
    rng = np.random.default_rng(3)
    said = rng.random(40_000)
    error, curve = reliability(said, rng.random(len(said)) < said)
    assert error < 0.01
    assert sum(count for _, _, count in curve) == len(said)
    assert all(abs(p - share) < 0.05 for p, share, _ in curve)
    assert reliability(np.full(1000, 0.9), np.arange(1000) % 2 == 0)[0] == pytest.approx(0.4)
    assert curve_table([(0.951, 0.5, 7)]) == "| 0.95 | 0.50 | 7 |"


def test_a_call_is_timed_by_its_own_thread():
    assert 0 <= call_ms(lambda: None) < 1
