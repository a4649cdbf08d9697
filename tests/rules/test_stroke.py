"""11.4, 13.1-13.4, 17.1.a, b, c, f, h, i: first contact."""

import pytest

from tests.rules.logs import clauses, match, rule, stroke

LIGHT = "r1@-150,200 r3@-40,30 r4@280,-440 b1@60,250 b2@-260,-120"  # r1 light, r3 in the circle, r4 in the own zone
DARK = "r3@-40,30 r4@280,-440 b1@60,250 b2@-260,-120"

TABLE = [
    # position, events, lawful, clauses
    ("direct own light", LIGHT, ("r1",), True, []),
    ("direct own light, then anything", LIGHT, ("r1", "b1", "r3"), True, []),
    ("direct own circle piece", LIGHT, ("r3",), False, ["17.1.h"]),
    ("direct own zone piece", LIGHT, ("r4",), False, ["17.1.h"]),
    ("direct opponent", LIGHT, ("b1",), False, ["17.1.b"]),
    ("direct both at once", LIGHT, ("r1+b1",), False, ["17.1.b"]),
    ("direct both at equal t", LIGHT, ("r1", "=b1"), False, ["17.1.b"]),
    ("direct two light at once", "r1@-150,200 r2@-120,200 b1@60,250", ("r1+r2",), True, []),
    ("direct light and dark at once", LIGHT, ("r1+r3",), False, ["17.1.h"]),
    ("opponent first, then an own dark piece", LIGHT, ("b1", "r3"), False, ["17.1.b", "17.1.h"]),
    ("miss with light pieces", LIGHT, (), False, ["17.1.a"]),
    ("miss with light pieces after the opposite rail", LIGHT, ("rail N",), False, ["17.1.a"]),
    ("miss with light pieces after a side rail", LIGHT, ("rail W",), False, ["17.1.a"]),
    ("side rail, own light", LIGHT, ("rail E", "r1"), True, []),
    ("side rail, own circle piece", LIGHT, ("rail E", "r3"), True, []),
    ("side rail, own zone piece", LIGHT, ("rail E", "r4"), False, ["17.1.h"]),
    ("side rail, opponent", LIGHT, ("rail E", "b1"), False, ["17.1.c"]),
    ("side rail, both at once", LIGHT, ("rail E", "r1+b1"), False, ["17.1.a"]),
    ("side rail after the piece is direct", LIGHT, ("r3", "rail E"), False, ["17.1.h"]),
    ("opposite rail, own zone piece", LIGHT, ("rail N", "r4"), True, []),
    ("opposite rail, own circle piece", LIGHT, ("rail N", "r3"), True, []),
    ("opposite rail, opponent, light pieces", LIGHT, ("rail N", "b1"), False, ["17.1.c"]),
    ("side rail before the opposite changes nothing", LIGHT, ("rail E", "rail N", "r4"), True, []),
    ("side rail after the opposite changes nothing", LIGHT, ("rail N", "rail E", "r4"), True, []),
    ("own rail opens no dark piece", LIGHT, ("rail S", "r3"), False, ["17.1.h"]),
    ("own rail, own light", LIGHT, ("rail S", "r1"), True, []),
    ("own rail, opponent", LIGHT, ("rail S", "b1"), False, ["17.1.c"]),
    ("opposite after side counts for a zone piece", LIGHT, ("rail S", "rail W", "rail N", "r4"), True, []),
    ("rail of another disc opens nothing", LIGHT, ({"event": "rail", "disc": "r1", "rail": "N"}, "r4"), False, ["17.1.h"]),
    ("only dark: opposite rail, nothing", DARK, ("rail N",), True, []),
    ("only dark: opposite rail, opponent", DARK, ("rail N", "b1"), True, []),
    ("only dark: opposite rail, both at once", DARK, ("rail N", "b1+r3"), True, []),
    ("only dark: opposite rail, own zone piece", DARK, ("rail N", "r4"), True, []),
    ("only dark: side rail, circle piece", DARK, ("rail W", "r3"), True, []),
    ("only dark: side rail, nothing", DARK, ("rail W",), False, ["17.1.i"]),
    ("only dark: side rail, opponent", DARK, ("rail W", "b1"), False, ["17.1.i"]),
    ("only dark: side rail, zone piece", DARK, ("rail W", "r4"), False, ["17.1.h", "17.1.i"]),
    ("only dark: side rail, circle piece and opponent at once", DARK, ("rail W", "r3+b1"), False, ["17.1.a", "17.1.h"]),
    ("only dark: side rail, circle and zone piece at once", DARK, ("rail W", "r3+r4"), False, ["17.1.h"]),
    ("only dark: nothing at all", DARK, (), False, ["17.1.f"]),
    ("only dark: own rail only", DARK, ("rail S",), False, ["17.1.f"]),
    ("only dark: direct opponent", DARK, ("b1",), False, ["17.1.b", "17.1.f"]),
    ("only dark: direct opponent, opposite rail afterwards", DARK, ("b1", "rail N"), False, ["17.1.b", "17.1.f"]),
    ("only dark: direct own circle piece", DARK, ("r3",), False, ["17.1.h", "17.1.f"]),
]


@pytest.mark.parametrize(("why", "before", "events", "lawful", "named"), TABLE, ids=[row[0] for row in TABLE])
def test_first_contact(why, before, events, lawful, named):
    ruling = rule(stroke("S", before, *events))[0]
    assert (ruling["lawful"], sorted(clauses(ruling))) == (lawful, sorted(named))
    assert ruling["penalty_pieces"] == (0 if lawful else 1)
    assert ruling["next"] == "N"


@pytest.mark.parametrize(
    ("place", "lawful"),
    [
        ("-60,-374.49", True),  # the line shows by a hundredth of a millimetre
        ("-60,-374.5", False),  # just no longer: dark
        ("-60,-374.51", False),
        ("0,120.51", True),
        ("0,120.5", False),
        ("120.49,0", False),
        ("0,374.6", True),  # the opponent's zone is not the player's dark area
        ("374.6,0", True),
    ],
)
def test_dark_and_light_at_the_limit(place, lawful):
    assert rule(stroke("S", f"r1@150,160 r2@{place} b1@-300,260", "r2"))[0]["lawful"] is lawful


def test_each_player_has_a_dark_strip_of_their_own():
    south, north = rule(
        stroke("S", "r1@0,430 r2@100,160 b1@-200,-430", "r1", after="r1@0,400"),
        stroke("N", "r1@0,400 r2@100,160 b1@-200,-430", "b1", after="b1@-200,-400"),
    )
    assert south["lawful"] is True
    assert north["lawful"] is True


def test_in_doubles_the_partners_pieces_are_own_and_the_strip_is_the_players():
    board = "r1@-430,0 r2@0,-430 b1@200,200 r5@150,-200"
    free = rule(match(form="doubles"), stroke("S", board, "r1"))[0]
    assert free["lawful"] is True  # dark for nobody at S: it lies in W's strip
    shut = rule(match(form="doubles"), stroke("S", board, "r2"))[0]
    assert clauses(shut) == ["17.1.h"]


def test_margins_and_what_was_seen_go_with_the_ruling():
    ruling = rule(stroke("S", "r1@0,-370.1~0.02 r2@100,100 b1@0,300", "r1"))[0]
    assert ruling["seen"]["way"] == "direct"
    assert ruling["seen"]["first"] == [{"id": "r1", "own": True, "dark": False}]
    assert ruling["margins"] == [{"id": "r1", "zone": "S", "clearance_mm": -4.4, "sigma_mm": 0.02}]


def test_a_piece_that_does_not_show_is_hidden_not_gone():
    log = stroke("S", LIGHT, "r1")
    log["stroke"]["after"]["discs"] = [d for d in log["stroke"]["after"]["discs"] if d["id"] != "b1"]
    assert rule(log)[0]["on_table"] == {"S": 3, "N": 2}


def test_the_striker_need_not_have_been_seen_before():
    log = stroke("S", LIGHT, {"event": "placed", "x_mm": 0, "y_mm": -430, "t": 0.0}, "r1", "in r1 NE")
    log["stroke"]["before"]["discs"] = [d for d in log["stroke"]["before"]["discs"] if d["kind"] != "striker"]
    assert rule(log)[0]["turn"] == "continues"


def test_the_striker_may_be_listed_anywhere():
    first = rule(stroke("S", "*@10,-430 r1@150,150 b1@-30,230", "b1"))[0]
    last = rule(stroke("S", "r1@150,150 b1@-30,230 *@10,-430", "b1"))[0]
    assert first == last
    assert [f["clause"] for f in first["faults"]] == ["17.1.b"]


def test_a_stroke_whose_start_was_not_seen_is_ruled_on_all_the_same():
    seen = stroke("S", "r1@150,150 b1@-30,230", "r1", "in r1 NE")
    unseen = {"stroke": {**seen["stroke"], "timeline": seen["stroke"]["timeline"][1:]}}
    assert rule(seen) == rule(unseen)
