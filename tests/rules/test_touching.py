"""16.1.b, e, f, k, 17.1.k-o, 12.13, 12.24, 21.5: hands, cue and striker where they should not be."""

import pytest

from tests.rules.logs import clauses, incident, match, row, rule, spots, stroke, touched

BOARD = "r1@-200,220 r2@150,150 b1@-30,200 b2@260,-80"


@pytest.mark.parametrize("by", ["hand", "cue"])
def test_touch_at_the_own_turn(by):
    ruling = rule(incident("S", BOARD, touched("b2", "S", by), after="b2@266,-84"))[0]
    assert (clauses(ruling), ruling["turn"], ruling["next"]) == (["17.1.n"], "passes", "N")
    assert spots(ruling["place"]) == [(0, 485)]
    assert spots(ruling["restore"]) == [(260, -80)]


def test_touch_with_the_striker_in_placing_it():
    assert clauses(rule(incident("S", BOARD, touched("r1", "S", "striker")))[0]) == ["17.1.k"]
    before = {"event": "touched", "discs": ["r1"], "side": "S", "by": "striker", "t": -1.0}
    log = stroke("S", BOARD, "r1", "in r1 NW")
    log["stroke"]["timeline"].insert(0, before)
    ruling = rule(log)[0]
    assert (clauses(ruling), ruling["lawful"], ruling["turn"]) == (["17.1.k"], True, "passes")


def test_touching_without_moving_is_a_fault_too():
    ruling = rule(incident("S", BOARD, touched("b2", "S")))[0]
    assert (clauses(ruling), ruling["restore"]) == (["17.1.n"], [])


def test_touch_in_the_opponents_turn_is_paid_when_their_series_ends():
    log = [
        incident("N", BOARD, touched("b1", "N"), after="b1@-40,210"),
        stroke("S", BOARD, "r1", "in r1 NW"),
        stroke("S", BOARD.replace("r1@-200,220", ""), "r2"),
    ]
    first, second, third = rule(*log)
    assert (clauses(first), first["turn"], first["next"], first["place"]) == (["17.1.o"], "continues", "S", [])
    assert (first["penalty_pieces"], spots(first["restore"])) == (1, [(-30, 200)])
    assert (second["place"], second["next"]) == ([], "S")
    assert (third["next"], spots(third["place"]), third["penalty_pieces"]) == ("S", [(0, -485)], 0)
    assert third["next_reason"] == ["18.1.a", "17.1.o"]


def test_two_faults_in_the_opponents_turn_are_two_penalty_pieces():
    log = [
        incident("N", BOARD, touched("b1", "N"), after="b1@-40,210"),
        incident("N", BOARD, touched("r1", "N"), after="r1@-210,210"),
        stroke("S", BOARD, "r1"),
    ]
    assert spots(rule(*log)[-1]["place"]) == [(0, -485), (30, -485)]  # halves alike: the stroke was made from x > 0


@pytest.mark.parametrize(
    ("side", "ids", "after", "lost"),
    [
        ("S", "b1+b2", "b1@-40,210 b2@270,-80", True),
        ("N", "b1+b2", "b1@-40,210 b2@270,-80", True),
        ("S", "b1+b2", "b1@-40,210", False),
        ("S", "b1+b2", "b1@-40,210 b2@260.7,-80.7", False),  # less than a millimetre
        ("S", "b1", "b1@-40,210 r1@-210,225", True),  # pushed along
    ],
)
def test_two_pieces_moved_by_hand(side, ids, after, lost):
    ruling = rule(incident(side, BOARD, touched(ids, side), after=after))[0]
    assert (ruling["set"] is not None) is lost
    if lost:
        assert ruling["set"]["clause"] == "16.1.e"
        assert ruling["set"]["side"] == {"S": "N", "N": "S"}[side]


def test_each_of_two_hands_answers_for_what_it_named():
    log = incident(None, BOARD, touched("b1", "N"), touched("r1", "S"), after="b1@-40,210 r1@-210,225")
    assert clauses(rule(log)[0]) == ["17.1.o", "17.1.n"]


def test_a_piece_in_the_hand_loses_the_set():
    ruling = rule(incident("N", BOARD, {"event": "lifted", "disc": "r1", "side": "N"}))[0]
    assert ruling["set"] == {"result": "won", "clause": "16.1.f", "side": "S", "player": "Anna"}
    striker = incident("S", BOARD + " *@0,0", {"event": "lifted", "disc": "striker", "side": "S"})
    assert rule(striker)[0]["set"] is None


def test_moving_the_last_piece_in_the_opponents_turn_loses_the_set():
    last = "r1@-200,220 r2@150,150 b1@-30,200"
    assert rule(incident("N", last, touched("b1", "N"), after="b1@-40,200"))[0]["set"]["clause"] == "16.1.f"
    assert rule(incident("N", last, touched("r1", "N"), after="r1@-210,220"))[0]["set"] is None
    assert clauses(rule(incident("S", last, touched("b1", "S"), after="b1@-40,200"))[0]) == ["17.1.n"]


@pytest.mark.parametrize(
    ("event", "named", "lost"),
    [
        ({"event": "touched", "discs": ["striker"], "side": "S", "by": "cue"}, ["17.1.m"], None),
        ({"event": "touched", "discs": ["striker"], "side": "S", "by": "hand"}, ["17.1.m"], None),
        ({"event": "touched", "discs": ["striker"], "side": "N", "by": "hand"}, ["17.1.o"], None),
        ({"event": "lifted", "disc": "striker", "side": "S"}, ["17.1.l"], None),
        ({"event": "touched", "discs": ["r1"], "side": "S", "by": "hand"}, ["16.1.k"], "N"),
        ({"event": "touched", "discs": ["r1"], "side": "N", "by": "cue"}, ["16.1.k"], "S"),
        ({"event": "touched", "discs": ["b2"], "side": "S", "by": "hand"}, ["17.1.n"], None),
        ({"event": "touched", "discs": ["b2"], "side": "N", "by": "hand"}, ["17.1.o"], None),
        ({"event": "lifted", "disc": "b2", "side": "N"}, ["16.1.f"], "S"),
        ({"event": "touched", "discs": ["b1", "b2"], "side": "S", "by": "hand"}, ["16.1.e"], "N"),
    ],
)
def test_hands_in_a_stroke(event, named, lost):
    ruling = rule(stroke("S", BOARD, "r1", event, after="r1@-200,300 b2@265,-80 b1@-30,220"))[0]
    assert clauses(ruling) == named
    assert (ruling["set"] or {}).get("side") == lost


def test_after_the_rest_the_striker_may_be_taken():
    lifted = {"event": "lifted", "disc": "striker", "side": "S"}
    assert clauses(rule(stroke("S", BOARD, "r1", {"event": "rest"}, lifted))[0]) == []


def test_falls_by_itself_between_strokes():
    board = BOARD + " r5@399,398!"
    ruling = rule(incident(None, board, "in r5 NE"))[0]
    assert (ruling["faults"], spots(ruling["restore"]), ruling["on_table"]) == ([], [(399, 398)], {"S": 3, "N": 2})


SHAKEN = {"event": "table_shaken", "moved": ["r1", "b1"]}


def test_a_table_shaken_before_the_set_is_put_right():
    start = f"{row('r', 485)} {row('b', -485)}"
    ruling = rule(incident("N", start, SHAKEN, after="r1@-110,470 b1@-110,-470"))[0]
    assert (ruling["set"], spots(ruling["restore"]), ruling["told"]) == (None, [(-105, 485), (-105, -485)], ["12.24"])


@pytest.mark.parametrize("opening", [(), (stroke("S", BOARD, "r1"),)])
def test_a_table_shaken_in_the_set_loses_it(opening):
    ruling = rule(*opening, incident("N", BOARD, SHAKEN, after="r1@-205,220 b1@-35,200"))[-1]
    assert ruling["set"] == {"result": "won", "clause": "16.1.b", "side": "S", "player": "Anna"}


def test_a_shaken_table_on_which_nothing_moved_is_nothing():
    assert rule(stroke("S", BOARD, "r1"), incident("N", BOARD, {**SHAKEN, "moved": []}))[1]["set"] is None


def test_nobody_knows_who_shook_the_table():
    log = [stroke("S", BOARD, "r1"), incident(None, BOARD, {"event": "table_shaken", "moved": ["r1"]}, after="r1@-205,220")]
    ruling = rule(*log)[1]
    assert ruling["status"] == "review"
    assert [a["assume"] for a in ruling["alternatives"]] == [{"shaken": "nobody"}, {"shaken": "S"}, {"shaken": "N"}]


def test_in_doubles_the_partner_at_turn_pays_or_the_one_who_will_have_it_next():
    doubles = match(form="doubles")
    own = rule(doubles, incident("N", BOARD, touched("b1", "N"), after="b1@-40,210"))[0]
    assert own["faults"] == [{"clause": "17.1.n", "side": "N", "pays": "S"}]
    assert (own["next"], spots(own["place"])) == ("W", [(0, 485)])
    log = [doubles, incident("E", BOARD, touched("b1", "E"), after="b1@-40,210"), stroke("S", BOARD, "r1")]
    theirs, end = rule(*log)
    assert theirs["faults"] == [{"clause": "17.1.o", "side": "E", "pays": "W"}]
    assert (end["next"], spots(end["place"])) == ("N", [(485, 0)])


def test_an_incident_without_positions_uses_the_last_known_ones():
    log = [stroke("S", BOARD, "r1", after="r1@-200,300"), {"incident": {"side": "N", "timeline": [{"t": 0, **touched("b1", "N")}]}}]
    assert clauses(rule(*log)[1]) == ["17.1.n"]
    assert spots(rule(*log)[1]["restore"]) == [(-30, 200)]


def test_touching_a_piece_in_placing_the_striker_is_no_part_of_the_stroke():
    log = stroke("S", BOARD, "r1", "in r1 NW")
    log["stroke"]["timeline"].insert(0, {"t": -1.0, "event": "contact", "discs": ["striker", "b2"]})
    ruling = rule(log)[0]
    assert (ruling["lawful"], clauses(ruling), ruling["next"]) == (True, ["17.1.k"], "N")


@pytest.mark.parametrize(
    ("side", "place", "told"),
    [
        ("S", (0, -375.5), False),
        ("S", (0, -374), True),
        ("S", (364.5, -440), False),
        ("S", (366, -440), True),
        ("S", (0, 440), True),
        ("N", (0, 440), False),
    ],
)
def test_a_misplaced_striker_is_pointed_out(side, place, told):
    placed = {"event": "placed", "x_mm": place[0], "y_mm": place[1], "t": 0.0}
    ruling = rule(match(first=side), stroke(side, BOARD, placed, "r1" if side == "S" else "b1"))[0]
    assert (ruling.get("told") == ["12.3"]) is told
    assert ruling["faults"] == []


def test_the_striker_may_be_touched_between_strokes():
    assert rule(incident("S", BOARD + " *@0,0", touched("striker", "S")))[0]["faults"] == []


def test_two_touches_of_one_piece_are_one_fault_at_the_own_turn():
    ruling = rule(incident("S", BOARD, touched("b1", "S"), touched("b1", "S"), after="b1@-40,200"))[0]
    assert (clauses(ruling), ruling["penalty_pieces"], len(ruling["restore"])) == (["17.1.n"], 1, 1)


def test_pieces_that_touch_each_other_before_the_cue_are_nothing():
    log = stroke("S", BOARD, "r1", "in r1 NW")
    log["stroke"]["timeline"].insert(0, {"t": -1.0, "event": "contact", "discs": ["r2", "b2"]})
    assert rule(log)[0]["turn"] == "continues"


def test_a_set_is_lost_once_and_for_the_first_reason():
    lift = {"event": "lifted", "disc": "r1", "side": "N"}
    ruling = rule(incident(None, BOARD, lift, {"event": "lifted", "disc": "b1", "side": "S"}))[0]
    assert (clauses(ruling), ruling["set"]["side"]) == (["16.1.f", "16.1.f"], "S")


HAND_AT = {"event": "touched", "discs": ["r1"], "side": "S", "by": "hand"}


@pytest.mark.parametrize(
    ("before_it", "want"),
    [
        ((), ["16.1.k"]),
        (({"event": "on_side", "disc": "r1"},), ["17.1.n"]),
        (("on r1 b1",), ["17.1.n"]),
        (("over r1 W",), []),
        (("in r1 NW",), []),
    ],
)
def test_12_16_a_piece_on_its_side_stacked_or_off_the_table_is_not_in_motion(before_it, want):
    assert clauses(rule(stroke("S", BOARD, "r1", *before_it, HAND_AT, after="r1@-190,230"))[0]) == want


def test_12_16_a_piece_that_is_struck_again_moves_again():
    ruling = rule(stroke("S", BOARD, "r1", {"event": "on_side", "disc": "r1"}, "b1>r1", HAND_AT, after="r1@-190,230"))[0]
    assert clauses(ruling) == ["16.1.k"]


def test_a_piece_that_left_over_a_rail_may_be_picked_up():
    lift = {"event": "lifted", "disc": "r1", "side": "S"}
    ruling = rule(stroke("S", BOARD, "r1", "over r1 W", lift))[0]
    assert (clauses(ruling), ruling["set"], spots(ruling["place"])) == ([], None, [(0, 0)])
    assert rule(stroke("S", BOARD, "r1", lift))[0]["set"]["clause"] == "16.1.f"


SET_UP = f"{row('r', 485)} {row('b', -485)}"


@pytest.mark.parametrize(
    "events",
    [(touched("r1+r2", "N"),), (touched("r1", "S"),), ({"event": "lifted", "disc": "r1", "side": "S"},)],
)
def test_12_2_pieces_are_set_up_by_hand_before_the_first_stroke(events):
    ruling = rule(incident("S", SET_UP, *events, after="r2@-80,470"))[0]
    assert (ruling["faults"], ruling["set"], ruling["turn"], ruling["told"]) == ([], None, "continues", ["12.24"])
    assert (-75.0, 485.0) in spots(ruling["restore"])
    assert ruling["on_table"] == {"S": 8, "N": 8}


def test_12_2_but_not_with_cue_or_striker_nor_once_the_set_has_begun():
    assert clauses(rule(incident("S", SET_UP, touched("r1", "S", "striker"), after="r1@-110,480"))[0]) == ["17.1.k"]
    log = [stroke("S", SET_UP, "r1"), incident("N", SET_UP, touched("r1+r2", "N"), after="r1@-110,470 r2@-80,460")]
    assert rule(*log)[1]["set"]["clause"] == "16.1.e"


def hand(ids, side, by="hand"):
    return touched(ids, side, by)


def test_a_piece_moved_by_hand_during_a_stroke_goes_back():
    own = rule(stroke("S", BOARD, "r1", "in r1 NW", hand("b2", "S"), after="b2@270,-90"))[0]
    assert (clauses(own), [(r["id"], r["clause"]) for r in own["restore"]], spots(own["restore"])) == (
        ["17.1.n"], [("b2", "9.1.h")], [(260, -80)],
    )  # fmt: skip
    theirs = rule(stroke("S", BOARD, "r1", "in r1 NW", hand("b2", "N"), after="b2@270,-90"))[0]
    assert (clauses(theirs), theirs["turn"]) == (["17.1.o"], "continues")
    assert [(r["id"], r["clause"]) for r in theirs["restore"]] == [("b2", "17.1.o")]


def test_so_does_one_moved_in_placing_the_striker():
    log = stroke("S", BOARD, "r1", "in r1 NW", after="b2@270,-90")
    log["stroke"]["timeline"].insert(0, {"t": -1.0, "event": "contact", "discs": ["striker", "b2"]})
    ruling = rule(log)[0]
    assert (clauses(ruling), spots(ruling["restore"])) == (["17.1.k"], [(260, -80)])


def test_what_the_stroke_itself_moved_stays_though_a_hand_had_touched_it():
    log = stroke("S", BOARD, "r1", "r1>b2", after="b2@270,-90")
    log["stroke"]["timeline"].insert(0, {"t": -1.0, **hand("b2", "S")})
    ruling = rule(log)[0]
    assert (clauses(ruling), ruling["restore"]) == (["17.1.n"], [])


def test_a_dark_piece_moved_by_hand_is_none_that_a_penal_stroke_knocked_out():
    board = BOARD + " r3@0,-400 r4@50,0"
    log = stroke("S", board, "b1", "r1>r3", hand("r4", "S"), after="r3@0,-300 r4@160,0")
    ruling = rule(log)[0]
    assert ruling["set"] is None
    assert sorted((r["id"], r["clause"]) for r in ruling["restore"]) == [("r3", "13.8"), ("r4", "9.1.h")]


def test_the_last_piece_moved_in_the_opponents_stroke_loses_the_set():
    board = "r1@-200,220 r2@150,150 b1@-30,200"
    assert rule(stroke("S", board, "r1", hand("b1", "N"), after="b1@-40,210"))[0]["set"]["clause"] == "16.1.f"
    assert rule(stroke("S", board, "r1", hand("b1", "S"), after="b1@-40,210"))[0]["set"] is None
    assert rule(stroke("S", board, "r1", hand("b1", "N")))[0]["set"] is None  # touched, not moved


@pytest.mark.parametrize(("who", "winner"), [("N", "S"), ("S", "N")])
def test_a_table_shaken_during_a_stroke_loses_the_set(who, winner):
    shaken = {"event": "table_shaken", "moved": ["b2"], "side": who}
    ruling = rule(stroke("S", BOARD, "r1", shaken, after="b2@270,-90"))[0]
    assert (ruling["set"]["clause"], ruling["set"]["side"]) == ("16.1.b", winner)


def test_during_a_stroke_too_nobody_may_know_who_shook_it():
    shaken = {"event": "table_shaken", "moved": ["b2"]}
    ruling = rule(stroke("S", BOARD, "r1", shaken, after="b2@270,-90"))[0]
    assert [a["assume"] for a in ruling["alternatives"]] == [{"shaken": "nobody"}, {"shaken": "S"}, {"shaken": "N"}]


def test_a_touch_that_is_not_certain_is_a_review():
    unsure = touched("b1+b2", "S") | {"confidence": 0.6}
    ruling = rule(incident("S", BOARD, unsure, after="b1@-40,210 b2@270,-80"))[0]
    assert ruling["status"] == "review"
    assert [a["assume"] for a in ruling["alternatives"]] == [{"b1+b2": "touched"}, {"b1+b2": "untouched"}]
    assert [bool(a["ruling"]["set"]) for a in ruling["alternatives"]] == [True, False]


def test_a_lift_that_is_not_certain_is_a_review():
    unsure = {"event": "lifted", "disc": "b1", "side": "S", "t": 0.0, "confidence": 0.4}
    ruling = rule(incident("S", BOARD, unsure))[0]
    assert [a["assume"] for a in ruling["alternatives"]] == [{"b1": "untouched"}, {"b1": "touched"}]
