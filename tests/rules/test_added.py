"""Events that the camera missed, put in by the judge; confirmations; clauses that are not in the book."""

import pytest

from rules.errors import LogUnusable
from tests.rules.logs import incident, judge, match, rule, stroke, touched

BOARD = "r1@150,160 r2@-60,-300 b1@-150,260 b2@200,-100"
LAWFUL = stroke("S", BOARD, "r1")


def added(log, entry=1, **more):
    return rule(*log, judge("add_event", entry=entry, **more))[-1]


def test_a_piece_that_fell_unseen_counts_and_the_turn_stays():
    found = added([LAWFUL], event={"event": "pocket", "disc": "r1", "pocket": "NE"})
    assert (found["pocketed"], found["next"], found["on_table"]) == (["r1"], "S", {"S": 1, "N": 2})
    assert found["refolded"][0]["entry"] == 1


def test_a_rail_before_the_first_piece_changes_the_verdict():
    dark = stroke("S", "r1@0,-440 b1@-150,260", "r1")
    assert rule(dark)[0]["lawful"] is False
    assert added([dark], when="first", event={"event": "rail", "disc": "striker", "rail": "N"})["lawful"] is True
    assert added([dark], when="last", event={"event": "rail", "disc": "striker", "rail": "N"})["lawful"] is False


def test_what_play_went_on_with_is_folded_again_and_can_be_taken_back():
    log = [LAWFUL, stroke("N", BOARD, "b1"), judge("add_event", entry=1, event={"event": "pocket", "disc": "b1", "pocket": "NW"})]
    assert [r["entry"] for r in rule(*log)[2]["refolded"]] == [1]
    back = rule(*log, judge("void", entry=3))[3]
    assert back["refolded"][0]["ruling"]["pocketed"] == []


def test_a_touch_that_the_camera_missed_is_sanctioned():
    event = {"event": "touched", "discs": ["r1", "b1"], "side": "S", "by": "hand"}
    assert {f["clause"] for f in added([LAWFUL], event=event)["faults"]} & {"16.1.e", "17.1.n", "16.1.k"}


@pytest.mark.parametrize(
    ("event", "why"),
    [
        ({"event": "pocket", "disc": "r7", "pocket": "NE"}, "unknown disc"),
        ({"event": "pocket", "disc": "r1", "pocket": "middle"}, "add_event"),
        ({"event": "explosion"}, "add_event"),
        ({"event": "struck"}, "beginning"),
        (None, "add_event"),
    ],
)
def test_what_cannot_be_is_refused(event, why):
    with pytest.raises(LogUnusable, match=why):
        added([LAWFUL], **({} if event is None else {"event": event}))


def test_between_strokes_a_clause_says_more_than_an_event():
    log = [LAWFUL, incident("N", BOARD, touched("r1", "N"))]
    assert added(log, entry=2, event={"event": "pocket", "disc": "r1", "pocket": "NE"})["refused"].startswith("9.1.j")


def test_confirming_changes_nothing_and_needs_a_ruling_in_force():
    found = rule(LAWFUL, judge("confirm", entry=1), judge("confirm", entry=9), judge("void", entry=1), judge("confirm", entry=1))
    assert "refused" not in found[1]
    assert found[1]["next"] == "N"
    assert ["refused" in found[n] for n in (2, 4)] == [True, True]


def test_a_review_is_not_confirmed_but_resolved():
    close = stroke("S", "r1@0,-374.4~0.3 r2@-60,-300 b1@-150,260", "r1")
    assert "choose a reading" in rule(close, judge("confirm", entry=1))[1]["refused"]


def test_a_clause_that_is_not_in_the_book_is_refused():
    for command in ("warning", "fault", "award_set", "award_match"):
        assert "no such clause" in rule(judge(command, side="S", clause="19.1.z"))[0]["refused"]
    assert "refused" not in rule(match(), judge("warning", side="S", clause="19.1"))[0]
