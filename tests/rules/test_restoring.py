"""13.5-13.9, 16.1.a, 16.1.d, 17.1.h, 17.1.p: what goes back after a penal stroke."""

import pytest

from tests.rules.logs import clauses, match, rule, stroke

BOARD = "r1@200,280 r3@0,20 r4@-100,-440 b1@0,-180 b2@250,100 b3@20,-40 b4@-200,440"

TABLE = [
    # events, positions after, restored
    ("opponent's light piece into their zone", ("b1",), "b1@0,440", ["b1"]),
    ("... just not dark there", ("b1",), "b1@0,374.4", []),
    ("opponent's light piece into the circle", ("b2",), "b2@50,50", ["b2"]),
    ("opponent's light piece into the player's own zone stays", ("b2",), "b2@250,-440", []),
    ("opponent's dark piece from circle to zone stays", ("b3",), "b3@20,430", []),
    ("opponent's dark piece within the circle stays", ("b3",), "b3@40,-20", []),
    ("opponent's dark piece that becomes light stays", ("b4",), "b4@-200,300", []),
    ("own dark piece out of the circle", ("b1", "b1>r3"), "r3@0,200 b1@0,-150", ["r3"]),
    ("own dark piece from the circle into the own zone is still dark", ("b1", "b1>r3"), "r3@0,-430 b1@0,-150", []),
    ("own dark piece moved within the circle by another piece stays", ("b1", "b1>r3"), "r3@0,60 b1@0,-150", []),
    ("own dark piece touched by the striker and only moved", ("r3",), "r3@0,70", ["r3"]),
    ("own light piece stays", ("b2", "b2>r1"), "r1@200,330 b2@220,150", []),
    ("opponent's piece over a rail", ("b1", "over b1 N"), "", ["b1"]),
    ("opponent's dark piece over a rail", ("b3", "over b3 N"), "", ["b3"]),
    ("own dark piece over a rail", ("b1", "b1>r3", "over r3 N"), "b1@0,-150", ["r3"]),
    ("own dark piece pocketed", ("b1", "b1>r3", "in r3 NE"), "b1@0,-150", ["r3"]),
    ("own light piece pocketed stays in", ("b2", "b2>r1", "in r1 NE"), "b2@220,150", []),
    ("opponent's piece pocketed stays in", ("b2", "in b2 NE"), "", []),
]


@pytest.mark.parametrize(("why", "events", "after", "back"), TABLE, ids=[row[0] for row in TABLE])
def test_after_a_penal_stroke(why, events, after, back):
    ruling = rule(stroke("S", BOARD, *events, after=after))[0]
    assert ruling["lawful"] is False
    assert [r["id"] for r in ruling["restore"]] == back
    start = {token.split("@")[0]: token.split("@")[1] for token in BOARD.split()}
    for item in ruling["restore"]:
        assert f"{item['x_mm']:g},{item['y_mm']:g}" == start[item["id"]]


@pytest.mark.parametrize("events", [("r1", "r1>b1"), ("r1", "r1>r3", "in * NE")])
def test_a_stroke_that_began_lawfully_restores_nothing(events):
    ruling = rule(stroke("S", BOARD, *events, after="b1@0,440 r3@0,250 r1@100,100"))[0]
    assert ruling["lawful"] is True
    assert ruling["restore"] == []
    assert clauses(ruling) == (["17.1.d"] if "in * NE" in events else [])


def test_two_own_dark_pieces_out_lose_the_set_one_does_not():
    two = rule(stroke("S", "r1@200,280 r3@0,20 r5@50,50 b1@0,-180", "b1", after="r3@0,200 r5@150,150 b1@5,-150"))[0]
    assert two["set"] == {"result": "won", "clause": "16.1.a", "side": "N", "player": "Berta"}
    one = rule(stroke("S", "r1@200,280 r3@0,20 r5@50,50 b1@0,-180", "b1", after="r3@0,200 r5@60,60 b1@5,-150"))[0]
    assert one["set"] is None
    lawful = rule(stroke("S", "r1@200,280 r3@0,20 r5@50,50 b1@0,-180", "r1", "in * NE", after="r3@0,200 r5@150,150"))[0]
    assert lawful["set"] is None


@pytest.mark.parametrize(
    ("events", "after", "lost"),
    [
        (("r3",), "r3@0,70 b1@0,-150 b2@260,120", True),
        (("r3",), "r3@0,70 b1@0,-150", False),  # one other only
        (("r3",), "r3@0,70 b1@0,-150 b2@250.7,100.7", False),  # the second by less than a millimetre
        (("r3",), "r3@0,70 b1@0,-150 b2@251,101", True),
        (("r4",), "r4@-60,-440 b1@0,-150 b2@260,120", True),
        (("b5",), "b1@0,-150 b2@260,120", True),  # any piece in the own zone
        (("b1",), "b2@260,120 b4@-200,430 b1@0,-170", False),  # not in the own zone
        (("rail W", "r4"), "r4@-60,-440 b1@0,-150 b2@260,120", False),  # not directly
    ],
)
def test_own_zone_or_dark_piece_first_and_two_others_moved(events, after, lost):
    ruling = rule(stroke("S", BOARD + " b5@300,-450", *events, after=after))[0]
    assert (ruling["set"] is not None and ruling["set"]["clause"] == "16.1.d") is lost


def test_in_doubles_only_driving_into_the_circle_is_restored():
    board = "r1@200,280 b1@0,-180 b2@250,100"
    zone = rule(match(form="doubles"), stroke("S", board, "rail E", "b2", after="b2@440,100"))[0]
    assert zone["restore"] == []
    circle = rule(match(form="doubles"), stroke("S", board, "rail E", "b2", after="b2@40,50"))[0]
    assert [r["id"] for r in circle["restore"]] == ["b2"]


@pytest.mark.parametrize(
    ("form", "events", "after", "named"),
    [
        ("doubles", ("r1",), "r1@220,290 b2@440,100", ["17.1.t"]),
        ("doubles", ("r1",), "r1@220,290 b2@-440,100", ["17.1.t"]),  # either opponent's strip
        ("doubles", ("r1",), "r1@220,290 b2@374.5,100", ["17.1.t"]),
        ("doubles", ("r1",), "r1@220,290 b2@374.4,100", []),
        ("doubles", ("rail E", "r1"), "r1@220,290 b2@440,100", []),  # not direct
        ("doubles", ("r1",), "r1@220,290 b2@100,440", []),  # the partner's strip
        ("singles", ("r1",), "r1@220,290 b2@100,440", []),
    ],
)
def test_driving_into_the_opponents_rear_zone_in_doubles(form, events, after, named):
    ruling = rule(match(form=form), stroke("S", "r1@200,280 b1@0,-180 b2@250,100", *events, after=after))[0]
    assert clauses(ruling) == named
    assert ruling["lawful"] is True
    assert ruling["restore"] == []


def test_a_taken_old_place_is_said_and_the_nearest_free_one_named():
    # An own light piece rolled to where the restored r3 lay.
    ruling = rule(stroke("S", "r1@200,280 r3@0,20 b1@0,-180 r5@150,-100", "b1", after="r3@0,250 b1@50,-150 r5@5,22"))[0]
    (back,) = ruling["restore"]
    assert back["id"] == "r3"
    assert back["moved_aside"] is True
    assert ((back["x_mm"] - 5) ** 2 + (back["y_mm"] - 22) ** 2) ** 0.5 >= 30
    assert (back["x_mm"] ** 2 + (back["y_mm"] - 20) ** 2) ** 0.5 < 40
