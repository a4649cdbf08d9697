"""A match in figures: kinds of strokes, speeds off rails, series, where pieces rest; the same from the log at once and stroke by stroke."""

import math

import msgspec
import pytest

from rules.facts import Entry
from rules.fold import start, step
from rules.stats import CELL_MM, figures, shot_of, shots_of, speed_mm_s
from tests.rules.logs import judge, match, stroke

BOARD = "r1@150,160 r2@-60,-300 b1@-150,260 b2@200,-100"


def folded(*log):
    entries = [msgspec.convert(entry, Entry) for entry in log]
    state = start(entries[0].match)
    shots = {}
    for entry in entries[1:]:
        core = state.core
        state, ruling = step(state, entry)
        if entry.stroke is not None:
            shots[ruling.entry] = shot_of(core, entry.stroke, ruling.entry, ruling)
    return state, shots


def player(state, n):
    return msgspec.to_builtins(figures(state.match, shots_of(state)).players[n])


LOG = [
    match(),
    stroke("S", BOARD, "r1", "in r1 NE"),
    stroke("S", BOARD.replace("r1@150,160 ", "r3@0,0 "), "rail N", "r3", "in r3 SW"),
    stroke("S", BOARD, "r2"),
    stroke("N", BOARD, "b1"),
    stroke("S", BOARD, "b1", after="b1@-170,300"),
]


def test_kinds_of_strokes_and_what_they_brought():
    state, _ = folded(*LOG)
    ways = player(state, 0)["ways"]
    assert ways["direct"] == {"strokes": 3, "lawful": 2, "scored": 1}
    assert ways["opposite"] == {"strokes": 1, "lawful": 1, "scored": 1}
    assert (player(state, 0)["pocketed"], player(state, 1)["strokes"]) == (2, 1)


def test_series_are_counted_by_turns():
    state, _ = folded(*LOG)
    assert player(state, 0)["series"] == [(0, 1), (2, 1)]
    assert player(state, 1)["series"] == [(0, 1)]


def test_what_moved_is_counted_where_it_came_to_rest():
    state, _ = folded(*LOG)
    assert player(state, 0)["piece_rests"] == [(int((500 - 170) // CELL_MM), int((500 + 300) // CELL_MM), 1)]
    assert sum(times for _, _, times in player(state, 0)["striker_rests"]) == 4


def test_stroke_by_stroke_is_the_same_as_all_at_once():
    state, shots = folded(*LOG)
    assert shots == shots_of(state)


def test_what_the_judge_takes_back_does_not_count():
    state, _ = folded(*LOG, judge("void", entry=1))
    assert player(state, 0)["ways"]["direct"]["strokes"] == 2
    state, _ = folded(*LOG, judge("override", entry=1, ruling={"lawful": False, "faults": [{"clause": "17.1.j", "side": "S"}]}))
    assert player(state, 0)["ways"]["direct"]["scored"] == 0


@pytest.mark.parametrize("rails", [(), ("N",), ("E", "N")])
def test_speed_is_that_of_the_straight_way_off_rails(rails):
    """A striker that runs at 2,000 mm/s over mirrored tables meets its piece when this says so."""
    speed, place, reach = 2000.0, (10.0, -430.0), 500.0 - 22.25
    x, y = piece = (-100.0, 150.0)
    for rail in reversed(rails):
        x, y = (2 * reach - x, y) if rail == "E" else (x, 2 * reach - y)
    took = (math.hypot(x - place[0], y - place[1]) - 22.25 - 15.0) / speed
    events = [{"t": 0.0, "event": "struck"}]
    events += [{"t": took * (n + 1) / 4, "event": "rail", "disc": "striker", "rail": rail} for n, rail in enumerate(rails)]
    events.append({"t": took, "event": "contact", "discs": ["striker", "r1"]})
    discs = [{"id": "r1", "kind": "red", "x_mm": piece[0], "y_mm": piece[1]}]
    discs.append({"id": "striker", "kind": "striker", "x_mm": place[0], "y_mm": place[1]})
    record = {"stroke": {"side": "S", "before": {"discs": discs}, "timeline": events, "after": {"discs": discs}}}
    assert speed_mm_s(msgspec.convert(record, Entry).stroke) == pytest.approx(speed, abs=1)


def test_no_speed_where_nothing_was_met_or_the_times_cannot_be():
    assert speed_mm_s(msgspec.convert(stroke("S", BOARD), Entry).stroke) is None
    hasty = stroke("S", BOARD, "r1")
    hasty["stroke"]["timeline"][1]["t"] = 0.001
    assert speed_mm_s(msgspec.convert(hasty, Entry).stroke) is None
