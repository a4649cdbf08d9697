"""The clock begins once a stroke, when the striker is with the player and everything lies right."""

from __future__ import annotations

import msgspec

from device.shot_clock import ShotClock
from rules.facts import Entry, SeenDisc, SeenDiscs
from rules.fold import start, step
from tests.rules.logs import match, stroke

BOARD = "r1@150,160 r2@-60,-300 b1@-150,260 b2@200,-100"


def picture(*discs: tuple[str, float, float]) -> SeenDiscs:
    return SeenDiscs(discs=[SeenDisc(kind=kind, x_mm=x, y_mm=y, sigma_mm=0.1) for kind, x, y in discs])  # type: ignore[arg-type]


HERE, THERE, IN_HAND = picture(("striker", 0, -200)), picture(("striker", 0, 200)), picture(("red", 0, 0))


def test_it_begins_once_when_the_striker_is_with_the_player() -> None:
    clock, state = ShotClock(), start(msgspec.convert(match(), Entry).match)
    assert not clock.begins(HERE, None, moving=False)
    assert not clock.begins(HERE, state, moving=True)
    assert not clock.begins(THERE, state, moving=False)
    assert clock.begins(IN_HAND, state, moving=False)
    assert not clock.begins(HERE, state, moving=False)


def test_it_waits_for_what_is_to_be_laid_out_and_begins_again_after_each_stroke() -> None:
    clock, state = ShotClock(), start(msgspec.convert(match(), Entry).match)
    assert clock.begins(HERE, state, moving=False)
    state, _ = step(state, msgspec.convert(stroke("S", BOARD, "b1"), Entry))
    assert not clock.begins(THERE, state, moving=False), "the penalty piece is missing"
    assert clock.begins(picture(("striker", 0, 200), ("red", 0.2, 485.1)), state, moving=False)
