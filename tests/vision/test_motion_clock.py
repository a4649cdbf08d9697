"""The thirty seconds for a stroke: what counts, what does not, and when it is told."""

from __future__ import annotations

import numpy as np

from vision.motion.clock import StrokeClock, holder
from vision.motion.track import Track


def run(clock, seconds, side, *, start=0.0, hindered=False):
    told = []
    for frame in range(int(seconds * 10) + 1):
        said = clock.tick(start + frame / 10, side, hindered=hindered)
        if said is not None:
            told.append(round(said, 1))
    return told


def test_it_is_told_past_thirty_seconds_and_once_more_after_the_grace():
    assert run(StrokeClock(), 80, "S") == [30.1, 35.4]


def test_a_stroke_or_another_side_starts_it_anew():
    clock = StrokeClock()
    assert run(clock, 25, "S") == []
    assert run(clock, 25, "N", start=25.1) == []
    clock.restart()
    assert run(clock, 25, "N", start=50.2) == []


def test_what_is_hindered_unknown_or_not_filmed_does_not_count():
    clock = StrokeClock()
    assert run(clock, 20, "S") == []
    assert run(clock, 20, "S", start=20.1, hindered=True) == []
    assert run(clock, 20, None, start=40.2) == []
    assert clock.tick(100.0, "S", hindered=False) is None
    assert run(clock, 9, "S", start=100.1) == []
    assert run(clock, 2, "S", start=109.2) == [30.1]


def test_the_striker_is_with_who_holds_it_or_has_it_on_their_side():
    def striker(y, **more):
        return Track("striker", "striker", np.array([10.0, y]), **more)

    assert holder(striker(-420.0), None, ("S", "N")) == "S"
    assert holder(striker(420.0), "S", ("S", "N")) == "N"
    assert holder(striker(0.0), None, ("S", "N")) is None
    assert holder(striker(0.0, state="lost", by_limb=True), "N", ("S", "N")) == "N"
    assert holder(striker(0.0, state="lost"), "N", ("S", "N")) is None
    assert holder(None, "S", ()) is None
