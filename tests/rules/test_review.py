"""11.2 and contract: what the camera cannot settle, both readings folded; a review only where the rulings differ."""

import pytest

from tests.rules.logs import clauses, incident, judge, match, rule, stroke, touched

NEAR = "r3@-60,-374.7~0.3"
BOARD = f"r1@150,160 {NEAR} b1@-150,260"


def assumed(ruling):
    return [a["assume"] for a in ruling["alternatives"]]


def test_both_readings_of_a_piece_near_the_line():
    ruling = rule(stroke("S", BOARD, "r3", after="r3@120,-300"))[0]
    assert ruling["status"] == "review"
    assert assumed(ruling) == [{"r3": "dark"}, {"r3": "light"}]
    dark, light = (a["ruling"] for a in ruling["alternatives"])
    assert (dark["lawful"], light["lawful"]) == (False, True)
    assert (ruling["lawful"], ruling["faults"], ruling["next"]) == (None, None, "N")  # what they share stands


@pytest.mark.parametrize(
    ("board", "events", "after"),
    [
        ("r1@150,160 r3@-60,-374.7~0.05 b1@-150,260", ("r3",), ""),  # two sigma away
        (BOARD, ("r1",), ""),  # the piece near the line decides nothing
        (BOARD, ("rail N", "r3"), ""),  # lawful either way
        (f"{NEAR} r1@150,160 b1@-150,260", ("b1",), ""),  # penal either way
    ],
)
def test_no_review_where_every_reading_rules_alike(board, events, after):
    ruling = rule(stroke("S", board, *events, after=after))[0]
    assert ruling["status"] == "final"
    assert "alternatives" not in ruling


def test_whether_light_pieces_exist_may_be_the_question():
    ruling = rule(stroke("S", f"{NEAR} r4@0,0 b1@-150,260", "rail N"))[0]
    assert assumed(ruling) == [{"r3": "dark"}, {"r3": "light"}]
    assert [a["ruling"]["lawful"] for a in ruling["alternatives"]] == [True, False]


def test_whether_a_piece_was_driven_in_may_be_the_question():
    ruling = rule(stroke("S", "r1@150,160 b1@0,200 b2@200,200", "b1", after="b1@0,374.4~0.2"))[0]
    assert [[r["id"] for r in a["ruling"]["restore"]] for a in ruling["alternatives"]] == [[], ["b1"]]
    assert ruling["penalty_pieces"] == 1


def test_returned_too_close_to_call():
    ruling = rule(stroke("S", "r1@150,160 r2@-200,200 b1@-150,260", "r1", "in r1 NE", "back 5.6~0.2"))[0]
    assert assumed(ruling) == [{"returned": "past"}, {"returned": "short"}]
    assert [a["ruling"]["next"] for a in ruling["alternatives"]] == ["N", "S"]
    assert (ruling["turn"], ruling["next"]) == (None, None)


@pytest.mark.parametrize(
    ("events", "readings"),
    [
        (("b1?0.6", "r1"), [{"b1": "touched"}, {"b1": "untouched"}]),
        (("b1?0.3", "r1"), [{"b1": "untouched"}, {"b1": "touched"}]),
        (("r1+b1?0.6",), [{"r1+b1": "together"}, {"r1+b1": "r1"}, {"r1+b1": "b1"}]),
        (("rail N?0.7", "r4"), [{"N": "touched"}, {"N": "untouched"}]),
        (("rail N", "=r4"), [{"N": "touched"}, {"N": "untouched"}]),
    ],
)
def test_contacts_that_are_not_certain(events, readings):
    ruling = rule(stroke("S", "r1@150,160 r4@0,-440 b1@-150,260", *events))[0]
    assert assumed(ruling) == readings


def pocket(disc, where, confidence):
    return {"event": "pocket", "disc": disc, "pocket": where, "confidence": confidence}


def test_a_disc_that_nobody_saw_fall_for_sure_is_a_question():
    ruling = rule(stroke("S", "r1@150,160 b1@-150,260", "r1", pocket("r1", "NE", 0.6)))[0]
    assert assumed(ruling) == [{"r1 NE": "fallen"}, {"r1 NE": "stays"}]
    assert [a["ruling"]["next"] for a in ruling["alternatives"]] == ["S", "N"]
    assert ruling["next"] is None
    assert rule(stroke("S", "r1@150,160 b1@-150,260", "r1", pocket("r1", "NE", 0.96)))[0]["status"] == "final"


def test_a_striker_that_may_have_fallen_is_a_question_and_the_likelier_answer_comes_first():
    ruling = rule(stroke("S", "r1@150,160 b1@-150,260", "r1", pocket("striker", "NW", 0.3)))[0]
    assert assumed(ruling) == [{"striker NW": "stays"}, {"striker NW": "fallen"}]
    assert [clauses(a["ruling"]) for a in ruling["alternatives"]] == [[], ["17.1.d"]]


def test_a_judge_says_whether_a_disc_fell():
    rulings = rule(
        stroke("S", "r1@150,160 b1@-150,260", "r1", pocket("r1", "NE", 0.6)), judge("resolve", entry=1, assume={"r1 NE": "stays"})
    )
    assert rulings[-1]["status"] == "final"


def test_a_piece_that_may_have_fallen_between_strokes_is_put_back_if_it_did():
    ruling = rule(incident(None, "r1@430,380 b1@0,0", pocket("r1", "NE", 0.5)))[0]
    assert {tuple(a["assume"].items()) for a in ruling["alternatives"]} == {(("r1 NE", "fallen"),), (("r1 NE", "stays"),)}


@pytest.mark.parametrize("events", [("b1?0.96", "r1"), ("r1?0.5", "r2"), ("r1", "b1?0.5")])
def test_uncertain_contacts_that_decide_nothing(events):
    assert rule(stroke("S", "r1@150,160 r2@150,200 b1@-150,260", *events))[0]["status"] == "final"


def test_resolving_folds_again_what_follows():
    log = [stroke("S", BOARD, "r3", "in r3 SE"), judge("resolve", entry=1, assume={"r3": "dark"})]
    review, dark = rule(*log)
    assert (review["status"], review["next"]) == ("review", None)
    assert (dark["kind"], dark["lawful"], dark["next"], clauses(dark)) == ("judge", False, "N", ["17.1.h"])
    light = rule(log[0], judge("resolve", entry=1, assume={"r3": "light"}))[1]
    assert (light["lawful"], light["next"], light["turn"], light["faults"]) == (True, "S", "continues", [])


def test_play_that_goes_on_settles_an_open_review_until_the_judge_says_otherwise():
    first = stroke("S", BOARD, "r3", "in r3 SE")
    for side, piece in (("S", "r1"), ("N", "b1")):
        ruling = rule(first, stroke(side, "r1@150,160 b1@-150,260", piece))[1]
        assert (ruling["status"], ruling["faults"]) == ("final", [])
    between = rule(first, judge("warning", side="N", clause="19.1.a"), stroke("S", "r1@150,160 b1@-150,260", "r1"))
    assert between[2]["faults"] == []
    still = rule(first, incident("N", "r1@150,160 b1@-150,260 b2@0,0", touched("b1", "N")), stroke("S", "r1@150,160 b1@-150,260", "r1"))
    assert still[2]["faults"] == []


def test_several_questions_are_crossed_and_idle_ones_dropped():
    board = "r3@-60,-374.7~0.3 r5@60,-374.6~0.3 r4@0,0 b1@-150,260"
    ruling = rule(stroke("S", board, "r3"))[0]
    assert {"r3": "light"} in assumed(ruling)
    assert all(len(a["ruling"]["faults"]) for a in ruling["alternatives"] if a["assume"].get("r3") == "dark")


def test_a_resolve_that_settles_nothing_is_refused():
    assert "refused" in rule(stroke("S", BOARD, "r1"), judge("resolve", entry=1, assume={"r3": "dark"}))[1]


def test_too_many_questions_are_cut_off():
    many = " ".join(f"r{n}@{-200 + 40 * n},-374.7~0.5" for n in range(1, 9))
    ruling = rule(match(), stroke("S", f"{many} b1@-150,260", "rail N"))[0]
    assert ruling["status"] == "review"
    assert len(ruling["alternatives"]) <= 64
