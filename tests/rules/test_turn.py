"""12.9, 12.10, 18.1, 19, 15.3: the turn, the clock and warnings."""

import pytest

from tests.rules.logs import clauses, incident, judge, match, rule, stroke

BOARD = "r1@-150,200 r2@250,150 b1@160,-20 b2@-300,-60"


@pytest.mark.parametrize(
    ("events", "turn", "reasons"),
    [
        (("r1", "in r1 NW"), "continues", []),
        (("r1",), "passes", ["18.1.a"]),
        (("r1", "in r1 NW", "in b1 NE"), "passes", ["18.1.b"]),
        (("r1", "in b1 NE"), "passes", ["18.1.a"]),
        (("r1", "in r1 NW", "over b1 E"), "passes", ["18.1.c"]),
        (("r1", "in r1 NW", "over r2 E"), "passes", ["18.1.c"]),
        (("r1", "in r1 NW", "in * NE"), "passes", ["18.1.d"]),
        (("r1", "in r1 NW", "over * NE"), "passes", ["18.1.d"]),
        (("r1", "in r1 NW", "hit"), "passes", ["18.1.d"]),
        (("b1", "in r1 NW"), "passes", ["18.1.d"]),
        (("r1", "in r1 NW", "back 5.49"), "continues", []),
        (("r1", "in r1 NW", "back 5.5"), "continues", []),
        (("r1", "in r1 NW", "back 5.51"), "passes", ["18.1.e"]),
        (("r1", "in r1 NW", "back -2", "back 90"), "passes", ["18.1.e"]),
    ],
)
def test_turn(events, turn, reasons):
    ruling = rule(stroke("S", BOARD, *events))[0]
    assert (ruling["turn"], ruling["next_reason"]) == (turn, reasons)
    assert ruling["next"] == ("S" if turn == "continues" else "N")


@pytest.mark.parametrize(("events", "clause"), [(("r1", "in * NE"), "17.1.d"), (("r1", "over * N"), "17.1.e"), (("r1", "hit"), "17.1.j")])
def test_the_end_of_a_lawful_stroke_may_earn_a_penalty(events, clause):
    ruling = rule(stroke("S", BOARD, *events))[0]
    assert (ruling["lawful"], clauses(ruling), ruling["penalty_pieces"]) == (True, [clause], 1)


def test_a_dark_piece_before_the_stroke_excuses_the_return():
    ruling = rule(stroke("S", BOARD + " r3@0,-430", "r1", "in r1 NW", "back 60"))[0]
    assert ruling["turn"] == "continues"
    own = rule(stroke("S", BOARD + " b3@0,-430", "r1", "in r1 NW", "back 60"))[0]
    assert own["turn"] == "passes"


def time(side, seconds, board=BOARD):
    return incident(side, board, {"event": "time", "elapsed_s": seconds})


def test_thirty_seconds():
    first, second, third = rule(time("S", 30.0), time("S", 30.1), time("S", 35.1))
    assert (first["turn"], "told" in first) == ("continues", False)
    assert (second["turn"], second["told"]) == ("continues", ["19.3"])
    assert third["turn"] == "continues"  # five seconds are not over
    gone = rule(time("S", 30.1), time("S", 35.2))[-1]
    assert (gone["turn"], gone["next_reason"], gone["penalty_pieces"], gone["next"]) == ("passes", ["18.1.g"], 0, "N")


def test_every_later_overrun_costs_turn_and_penalty_piece_also_in_the_next_set():
    told, _, again = rule(time("S", 31), stroke("S", BOARD, "r1", "in r1 NW"), time("S", 31))
    assert told["faults"] == []
    assert (clauses(again), again["penalty_pieces"], again["next"]) == (["17.1.r"], 1, "N")
    log = [time("S", 31), judge("award_set", side="N"), stroke("S", BOARD, "b1"), time("N", 31)]
    assert clauses(rule(*log)[-1]) == ["17.1.r"]  # Anna stands at N in the second set


def test_the_clock_of_the_other_side_means_nothing():
    assert rule(time("N", 99))[0]["turn"] == "continues"


def test_overrun_seen_in_the_stroke_itself():
    late = {"event": "time", "elapsed_s": 31.0, "t": 0.0}
    assert rule(stroke("S", BOARD, late, "r1", "in r1 NW"))[0]["told"] == ["19.3"]
    second = rule(stroke("S", BOARD, late, "r1", "in r1 NW"), stroke("S", BOARD, late, "r2", "in r2 NW"))[1]
    assert clauses(second) == ["17.1.r"]


def test_warnings_follow_the_player_and_the_third_gives_the_rest_away():
    log = [
        judge("warning", side="N", clause="19.1.a"),
        judge("award_set", side="N"),
        judge("warning", side="S", clause="19.1.b"),
        judge("award_set", side="S"),
        judge("warning", side="N", clause="19.1.c"),
    ]
    rulings = rule(*log)
    assert [r["warnings"] for r in rulings] == [{"S": 0, "N": 1}, {"S": 0, "N": 1}, {"S": 2, "N": 0}, {"S": 2, "N": 0}, {"S": 0, "N": 3}]
    assert rulings[-1]["match"] == {"winner": "S", "player": "Anna", "sets": [3, 2], "clause": "15.3"}
    assert rulings[-1]["set"]["clause"] == "15.3"
    assert rulings[-1]["next"] is None


def test_third_warning_in_an_even_match_may_end_it_drawn():
    log = [match(sets=4), judge("award_set", side="N"), judge("award_set", side="S")]
    log += [judge("warning", side="N", clause="19.1.j")] * 3
    assert rule(*log)[-1]["match"] == {"winner": None, "player": None, "sets": [2, 2], "clause": "15.3"}
