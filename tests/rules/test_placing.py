"""What is to be laid out and put back: known to the state, and, where the match wants it, waited for by the next stroke (9.1.h, 12.17)."""

import pytest

from rules.fold import State, match_state
from rules.log import fold_line
from rules.words import say
from tests.rules.logs import judge, lines, match, rule, stroke

BOARD = "r1@150,160 r2@-60,-300 b1@-150,260 b2@200,-100"
PENAL = stroke("S", BOARD, "b1")
LAID = BOARD + " r9@0,485"


def placing(*entries):
    state: State | None = None
    for n, line in enumerate(lines(*entries), 1):
        state, _ = fold_line(state, line, n)
    return [(p["id"], p["x_mm"], p["y_mm"], p["clause"]) for p in match_state(state)["placing"]]


def test_the_state_knows_what_is_to_be_laid_out_until_the_next_stroke():
    assert placing(match(), PENAL) == [("r9", 0.0, 485.0, "17.3")]
    assert placing(match(), PENAL, judge("warning", side="N", clause="19.1.a")) == [("r9", 0.0, 485.0, "17.3")]
    assert placing(match(), PENAL, stroke("N", LAID, "b1", "in b1 NE")) == []
    assert placing(match(), PENAL, judge("void", entry=1)) == []
    assert placing(match(), PENAL, judge("wave_through")) == []


def test_what_goes_back_is_named_with_its_kind():
    driven = stroke("S", "r1@150,160 b1@0,360", "b1", after="b1@0,420")
    assert placing(match(), driven) == [("r9", 0.0, 485.0, "17.3"), ("b1", 0.0, 360.0, "13.6")]


def test_a_match_that_does_not_wait_rules_on():
    assert rule(PENAL, stroke("N", BOARD, "b1", "in b1 NE"))[1]["status"] == "final"


@pytest.mark.parametrize(
    ("lies", "waits"), [("0,485", False), ("0.3,484.7", False), ("3,485", True), ("3,485~1.5", False), ("400,0", True)]
)
def test_a_stroke_before_the_piece_lies_within_half_a_millimetre_waits(lies, waits):
    found = rule(match(guided_placing=True), PENAL, stroke("N", f"{BOARD} r9@{lies}", "b1", "in b1 NE"))[1]
    assert found["status"] == ("review" if waits else "final")


EARLY = [match(guided_placing=True), PENAL, stroke("N", BOARD, "b1", "in b1 NE")]


def test_the_judge_waves_it_through_before_or_after():
    assert rule(*EARLY[:2], judge("wave_through"), EARLY[2])[2]["status"] == "final"
    after = rule(*EARLY, judge("resolve", entry=2, assume={"placing": "waved"}))
    assert (after[2]["pocketed"], after[2]["next"]) == (["b1"], "N")
    again = rule(*EARLY, judge("resolve", entry=2, assume={"placing": "again"}))
    assert (again[2]["refolded"][0]["ruling"]["told"], again[2]["next"], again[2]["on_table"]) == (["12.17"], "N", {"S": 3, "N": 2})
    assert placing(*EARLY, judge("resolve", entry=2, assume={"placing": "again"})) == [("r9", 0.0, 485.0, "17.3")]


def test_waving_through_what_nobody_waits_for_is_refused():
    assert rule(stroke("S", BOARD, "r1"), judge("wave_through"))[1]["refused"].startswith("9.1.h")


@pytest.mark.parametrize("lang", ["lv", "en", "de"])
def test_the_question_has_words(lang):
    said = say(rule(*EARLY)[1], lang)
    assert "placing" not in said
    assert "waved" not in said
