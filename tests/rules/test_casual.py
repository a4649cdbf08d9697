"""002: the short rules, where they say otherwise than the 2008 ones."""

import pytest

from tests.rules.logs import clauses, column, match, rule, spots, stroke

CASUAL = match("casual")
LIGHT = "r1@-150,200 r3@-40,30 r4@280,-440 b1@60,250 b2@-260,-120"
DARK = "r3@-40,30 r4@280,-440 b1@60,250 b2@-260,-120"


@pytest.mark.parametrize(
    ("board", "events", "lawful", "named"),
    [
        (LIGHT, ("r1",), True, []),
        (LIGHT, ("rail E", "r3"), False, ["17.1.h"]),  # a side rail does not open the circle
        (LIGHT, ("rail N", "r3"), True, []),
        (LIGHT, ("rail N", "r4"), True, []),
        (LIGHT, ("r3",), False, ["17.1.h"]),
        (LIGHT, ("b1",), False, ["17.1.b"]),
        (LIGHT, ("rail N", "b1"), False, ["17.1.c"]),
        (LIGHT, (), False, ["17.1.a"]),
        (DARK, ("rail N",), True, []),
        (DARK, ("b1", "rail N"), True, []),  # the opposite rail at any time
        (DARK, ("b1",), False, ["17.1.b", "17.1.f"]),
        (DARK, ("rail E", "b1"), False, ["17.1.f"]),
        (DARK, ("r3", "rail N"), False, ["17.1.h"]),  # a dark piece before it stays forbidden
        (DARK, ("rail E", "r3"), False, ["17.1.f", "17.1.h"]),
    ],
)
def test_first_contact(board, events, lawful, named):
    ruling = rule(CASUAL, stroke("S", board, *events))[0]
    assert (ruling["lawful"], sorted(clauses(ruling))) == (lawful, named)
    assert all(f["source"].startswith("002") for f in ruling["faults"])


@pytest.mark.parametrize(("depth", "turn"), [(-5.6, "continues"), (-5.5, "passes"), (0, "passes"), (80, "passes")])
def test_the_line_showing_costs_the_turn_without_exception(depth, turn):
    assert rule(CASUAL, stroke("S", LIGHT, "r1", "in r1 NW", f"back {depth}"))[0]["turn"] == turn


@pytest.mark.parametrize(
    ("events", "named", "place"),
    [
        (("r1", "over b1 N"), ["17.1.p"], (0, 0)),
        (("b1", "over b1 N"), ["17.1.b", "17.1.p"], (0, 0)),
        (("rail E", "r1", "over b1 N"), [], (0, 0)),  # no direct stroke
    ],
)
def test_a_direct_stroke_over_the_rail_earns_a_penalty_and_the_piece_goes_to_the_centre(events, named, place):
    board = "r1@-150,200 b1@60,250 b2@-260,-120"
    ruling = rule(CASUAL, stroke("S", board, *events))[0]
    assert clauses(ruling) == named
    assert spots(ruling["place"])[0] == place
    assert ruling["restore"] == []


def test_a_penal_rebound_over_the_rail_is_restored_as_in_2008():
    ruling = rule(CASUAL, stroke("S", LIGHT, "rail E", "b1", "over b1 N"))[0]
    assert [r["id"] for r in ruling["restore"]] == ["b1"]


@pytest.mark.parametrize(
    ("board", "place"),
    [
        ("r1@200,80 r2@10,485 b1@-260,-120", (-20, 485)),
        ("r1@-200,80 r2@-5,485 b1@-260,-120", (25, 485)),
        ("r1@200,80 r2@-10,485 r3@-300,0 r4@-310,50 b1@-260,-120", (20, 485)),
        ("r1@-200,80 r5@-220,200 r2@10,485 b1@-260,-120", (40, 485)),  # not the nearer side: the half with fewer own pieces
        ("r1@-200,80 b1@-260,-120", (0, 485)),
    ],
)
def test_penalty_place_taken(board, place):
    assert spots(rule(CASUAL, stroke("S", board, "b1"))[0]["place"]) == [place]


def test_doubles_and_the_agreed_penalty_stroke():
    board = "r1@200,280 r2@-200,-200 b1@0,-180 b2@250,100"
    drive = stroke("S", board, "r1", after="r1@220,290 b2@440,100")
    back = stroke("W", board, "b1", after="b1@0,-190 r2@-200,-450")
    plain = rule(match("casual", "doubles"), drive, back)
    assert clauses(plain[0]) == ["17.1.t"]
    assert plain[0]["faults"][0]["source"] == "002 Dubultspēles 3"
    assert "penalty_stroke" not in plain[0]
    assert clauses(plain[1]) == ["17.1.t"]
    agreed = rule(match("casual", "doubles", penalty_stroke=True), drive, back, stroke("W", board, "b1"))
    assert agreed[0]["penalty_stroke"] == "W"
    assert (agreed[1]["faults"], agreed[1]["next"], agreed[1]["told"]) == ([], "W", ["17.1.t"])
    assert agreed[2]["next"] == "N"


def test_a_federation_match_knows_no_penalty_stroke():
    board = "r1@200,280 r2@-200,-200 b1@0,-180 b2@250,100"
    drive = stroke("S", board, "r1", after="r1@220,290 b2@440,100")
    assert "penalty_stroke" not in rule(match(form="doubles", penalty_stroke=True), drive)[0]


def test_doubles_penalty_needs_fewer_than_sixteen_and_a_moved_row():
    board = f"{column('b', 485)} {column('b', -485, first=9)} r1@0,0"
    ruling = rule(match("casual", "doubles", first="W"), stroke("W", board, "r1"))[0]
    assert ruling["debt"]["W"] == 1


@pytest.mark.parametrize(
    ("place", "free"),
    [
        ("-450,0", True),
        ("-450,374.4", True),  # the corner's line is still in its hole there
        ("-390,374.6", False),
        ("-390,-380", False),
    ],
)
def test_the_penalty_stroke_may_not_drive_into_the_corner(place, free):
    """002 doubles 4: "nedrīkst iesist pretinieka kauliņu pašā laukuma stūrī"."""
    board = "r1@200,280 r2@-200,-200 b1@0,-180 b2@250,100"
    drive = stroke("W", board, "b1", after="b1@0,-170 r2@-200,-450")
    back = stroke("N", board, "r1", after=f"r1@210,290 b1@{place}")
    ruling = rule(match("casual", "doubles", penalty_stroke=True, first="W"), drive, back)[1]
    assert clauses(ruling) == ([] if free else ["17.1.t"])
