"""12.11, 12.13, 12.14, 17.3-17.6, 21.6: where pieces are laid."""

import pytest

from tests.rules.logs import clauses, column, judge, match, row, rule, spots, stroke

CENTRE = "b8@0,0"
POINTS = {"N": (0.0, 109.5), "E": (109.5, 0.0), "S": (0.0, -109.5), "W": (-109.5, 0.0)}
FAR = "r1@300,300 b1@-300,-300"
DIAGONAL = round(109.5 / 2**0.5, 1)


def over(rail, taken, *, more=""):
    board = f"{FAR} r2@300,200 {taken} {more}"
    return rule(stroke("S", board, "r1", "r1>r2", f"over r2 {rail}", after="r1@310,320"))[0]


@pytest.mark.parametrize(
    ("rail", "taken", "place"),
    [
        ("N", "", (0, 0)),
        ("N", "b8@29,0", (0, 109.5)),
        ("N", "b8@30,0", (0, 0)),  # touching is not overlapping
        ("E", CENTRE, POINTS["E"]),
        ("S", CENTRE, POINTS["S"]),
        ("E", f"{CENTRE} b7@109.5,0", POINTS["S"]),  # clockwise seen from above
        ("S", f"{CENTRE} b7@0,-109.5", POINTS["W"]),
        ("E", f"{CENTRE} b7@109.5,0 b6@0,-109.5", POINTS["W"]),
        ("E", f"{CENTRE} b7@109.5,0 b6@0,-109.5 b5@-109.5,0", POINTS["N"]),
        ("E", f"{CENTRE} b7@109.5,0 b6@0,-109.5 b5@-109.5,0 b4@0,109.5", (54.75, 0)),
        ("E", f"{CENTRE} b7@109.5,0 b6@0,-109.5 b5@-109.5,0 b4@0,109.5 b3@54.75,0", (0, -54.75)),
        ("NE", "", (0, 0)),
        ("NE", CENTRE, (DIAGONAL, DIAGONAL)),
        ("SW", CENTRE, (-DIAGONAL, -DIAGONAL)),
        ("NW", CENTRE, (-DIAGONAL, DIAGONAL)),
        ("SE", CENTRE, (DIAGONAL, -DIAGONAL)),
    ],
)
def test_over_a_rail(rail, taken, place):
    ruling = over(rail, taken)
    assert spots(ruling["place"]) == [(pytest.approx(place[0], abs=0.06), pytest.approx(place[1], abs=0.06))]
    assert ruling["place"][0]["clause"] == "12.14"
    assert ruling["next_reason"] == ["18.1.a", "18.1.c"]
    assert ruling["faults"] == []


def test_nine_places_taken_is_said():
    ring = "b7@109.5,0 b6@0,-109.5 b5@-109.5,0 b4@0,109.5 b3@54.75,0 b2@-54.75,0 r3@0,54.75 r4@0,-54.75"
    ruling = over("E", f"{CENTRE} {ring}")
    assert ruling["place"] == []
    assert ruling["unplaced"] == [{"id": "r2", "kind": "red", "clause": "12.14"}]


def test_of_two_over_the_rail_the_one_that_the_striker_touched_takes_the_centre():
    ruling = rule(stroke("S", "r1@200,80 b1@330,130 r5@-200,0", "r1", "r1>b1", "over b1 E", "over r1 N"))[0]
    assert {p["id"]: s for p, s in zip(ruling["place"], spots(ruling["place"]), strict=True)} == {"r1": (0, 0), "b1": (109.5, 0)}


def test_staying_on_the_rail_is_over_it_and_costs_the_turn_only():
    ruling = rule(stroke("S", "r1@200,80 r2@-200,0 b1@330,130", "r1", "in r1 NE", "r2", "over r2 W"))[0]
    assert (ruling["turn"], ruling["next_reason"], ruling["penalty_pieces"]) == ("passes", ["18.1.c"], 0)


def penal(board, x=-260, side="S"):
    return rule(stroke(side, f"{board} *@{x},-430", "b1", after="b1@-250,60"))[0]


BASE = "r1@200,80 b1@-260,-120"


@pytest.mark.parametrize(
    ("board", "x", "place"),
    [
        (BASE, 0, (0, 485)),
        (f"{BASE} r2@30,485", 0, (0, 485)),  # touching
        (f"{BASE} r2@29,485", 0, (-1, 485)),
        (f"{BASE} r2@10,485", 0, (-20, 485)),
        (f"{BASE} r2@-10,485", 0, (20, 485)),
        (f"{BASE} r2@0,485 r3@260,250 r4@-300,200 b2@-150,300", 0, (-30, 485)),  # fewer own: 1 : 2
        (f"{BASE} r2@0,485 r4@-300,200 b2@-150,300 b3@150,-300", 0, (30, 485)),  # own 1 : 1, pieces 3 : 2
        (f"{BASE} r2@0,485 r4@-300,200 b2@150,300", -100, (-30, 485)),  # all equal: whence the stroke was made
        (f"{BASE} r2@0,485 r4@-300,200 b2@150,300", 100, (30, 485)),
        (f"{BASE} r2@0,485 r4@-300,200 b2@150,300", 0, (30, 485)),  # from the midline: the player's right hand
        (f"{BASE} r2@15,485 r3@-15,485", 0, (-45, 485)),  # equal distances: own 1 : 2, x > 0 has two
        (f"{BASE} b2@0,465", 0, (-22.4, 485)),  # a piece that stands off the rail a little
        (f"{BASE} b2@0,455", 0, (0, 485)),
    ],
)
def test_penalty_piece(board, x, place):
    ruling = penal(board, x)
    assert spots(ruling["place"]) == [place]
    assert ruling["place"][0]["clause"] == "17.3"
    assert ruling["place"][0]["kind"] == "red"


def test_penalty_piece_of_the_other_side_lies_at_the_other_rail():
    ruling = rule(match(first="N"), stroke("N", "r1@200,80 b1@-260,-120", "r1"))[0]
    assert spots(ruling["place"]) == [(0, -485)]
    assert ruling["place"][0]["kind"] == "black"


@pytest.mark.parametrize(("side", "rail", "place"), [("W", "r", (485, 0)), ("N", "r", (0, -485)), ("E", "r", (-485, 0))])
def test_penalty_piece_in_doubles_lies_opposite_the_player(side, rail, place):
    other = "r1" if side in "WE" else "b1"
    ruling = rule(match(form="doubles", first=side), stroke(side, "r1@200,80 b1@-260,-120", other))[0]
    assert spots(ruling["place"]) == [place]


START = f"{row('r', 485)} {row('b', -485)}"


def test_all_eight_on_the_table_make_a_debt_and_seven_do_not():
    full = rule(stroke("S", START, "b1", after="b1@-105,-440"))[0]
    assert (full["debt"], full["place"], full["penalty_pieces"]) == ({"S": 1, "N": 0}, [], 1)
    seven = rule(stroke("S", START.replace("r8@105.0,485", ""), "b1", after="b1@-105,-440"))[0]
    assert seven["debt"] == {"S": 0, "N": 0}
    assert spots(seven["place"]) == [(105, 485)]


def test_debts_are_laid_out_all_at_once_as_far_as_there_is_room():
    board = "r1@-300,300 r2@-250,300 r3@-200,300 r4@-150,300 r5@-100,300 r6@-50,300 r7@200,300 r8@300,300 b1@0,-200 b2@100,-200"
    fewer = board.replace("r7@200,300 r8@300,300", "")
    entries = [
        stroke("S", board, "b1", after="b1@0,-190"),
        stroke("N", board, "b1", after="b1@0,-180"),
        stroke("S", board, "b1", after="b1@0,-170"),
        stroke("N", board, "b1", after="b1@0,-160"),
        stroke("S", board, "b1", after="b1@0,-150"),
        stroke("N", board, "b1", after="b1@0,-140"),
        stroke("S", board, "r7", "in r7 NE", "r8", "in r8 NW", after="b1@0,-140"),
        stroke("S", fewer, "r1", after="r1@-300,330"),
    ]
    rulings = rule(*entries)
    assert [r["debt"]["S"] for r in rulings] == [1, 1, 2, 2, 3, 3, 3, 1]
    assert spots(rulings[-1]["place"]) == [(0, 485), (30, 485)]
    assert [p["clause"] for p in rulings[-1]["place"]] == ["17.6", "17.6"]
    assert rulings[-1]["on_table"]["S"] == 8


def test_a_debt_that_is_forgotten_is_gone():
    rulings = rule(stroke("S", START, "b1", after="b1@-105,-440"), judge("debt_forgotten", side="S"))
    assert rulings[-1]["debt"]["S"] == 0
    assert "refused" not in rulings[-1]
    again = rule(stroke("S", START, "b1", after="b1@-105,-440"), judge("debt_forgotten", side="N"))
    assert again[-1]["refused"].startswith("17.4")
    assert again[-1]["debt"]["S"] == 1


def test_in_doubles_the_row_opposite_must_have_been_moved():
    board = f"{row('r', 485)} {row('r', -485, first=9)} {column('b', 485)} {column('b', -485, first=9)}".replace("r9@-105.0,-485", "")
    still = rule(match(form="doubles"), stroke("S", board, "b1", after="b1@440,-105"))[0]
    assert (still["debt"]["S"], still["place"]) == (1, [])
    moved = rule(match(form="doubles"), stroke("S", board, "b1", after="b1@440,-105 r1@-105,470"))[0]
    assert (moved["debt"]["S"], len(moved["place"])) == (0, 1)


def test_a_piece_on_another_goes_beside_it_where_it_leans():
    ruling = rule(stroke("S", "r1@200,80 b1@-200,-120 b2@100,200", "r1", "on r1 b2", after="r1@110,200"))[0]
    assert spots(ruling["place"]) == [(130, 200)]
    assert ruling["place"][0]["clause"] == "12.11"
    dead_on_top = rule(stroke("S", "r1@100,80 b1@-200,-120 b2@100,200", "r1", "on r1 b2", after="r1@100,200"))[0]
    assert spots(dead_on_top["place"]) == [(100, 170)]  # the side it came from
    both_there = rule(stroke("S", "r1@100,80 b1@-200,-120 b2@100,200", "r1", "on r1 b2", after="r1@100,80 b2@100,80"))[0]
    assert spots(both_there["place"]) == [(100, 110)]  # the side that the other came from
    never_moved = rule(stroke("S", "r1@200,0 b1@-200,-120 b2@200,0", "r1", "on r1 b2"))[0]
    assert spots(never_moved["place"]) == [(170, 0)]
    blocked = rule(stroke("S", "r1@200,80 b1@-200,-120 b2@100,200 b3@132,200", "r1", "on r1 b2", after="r1@110,200"))[0]
    (place,) = blocked["place"]
    assert 29.9 < ((place["x_mm"] - 100) ** 2 + (place["y_mm"] - 200) ** 2) ** 0.5 < 31


def test_a_piece_on_the_striker_goes_where_the_striker_was():
    ruling = rule(stroke("S", "r1@200,80 b1@-200,-120", "r1", "on r1 *", after="r1@120,210 *@118,208"))[0]
    assert spots(ruling["place"]) == [(118, 208)]


def test_a_piece_that_falls_untouched_goes_back_and_a_touched_one_counts():
    board = "r1@200,80 r2@399,398! b1@-200,-120"
    alone = rule(stroke("S", board, "r1", "in r2 NE"))[0]
    assert (alone["pocketed"], spots(alone["restore"]), alone["turn"]) == ([], [(399, 398)], "passes")
    hit = rule(stroke("S", board, "r1", "r1>r2", "in r2 NE"))[0]
    assert (hit["pocketed"], hit["restore"], hit["turn"]) == (["r2"], [], "continues")
    unseen_contact = rule(stroke("S", "r1@200,80 r2@200,300 b1@-200,-120", "r1", "in r2 NE"))[0]
    assert unseen_contact["pocketed"] == ["r2"]
    late = rule(stroke("S", board, "r1", "r1>r2", {"event": "rest"}, "in r2 NE"))[0]
    assert late["pocketed"] == []
    assert late["restore"][0]["clause"] == "12.13"


def test_one_penalty_piece_for_all_faults_of_a_stroke():
    ruling = rule(stroke("S", "r1@200,80 b1@0,0 b2@100,0", "b1", "hit", "in * NE"))[0]
    assert clauses(ruling) == ["17.1.b", "17.1.d", "17.1.j"]
    assert (ruling["penalty_pieces"], len(ruling["place"])) == (1, 1)


def test_a_rail_without_room_for_a_penalty_piece_is_said():
    wall = " ".join(f"b{n + 2}@{-406 + 58 * n},485" for n in range(15))
    ruling = rule(stroke("S", f"r1@200,80 b1@-260,-120 {wall}", "b1"))[0]
    assert (ruling["place"], ruling["debt"]["S"], ruling["unplaced"]) == ([], 1, [{"id": "r9", "kind": "red", "clause": "17.3"}])
    half = " ".join(f"b{n + 2}@{58 * n},485" for n in range(8))
    assert spots(rule(stroke("S", f"r1@200,80 b1@-260,-120 {half}", "b1"))[0]["place"]) == [(-30, 485)]
    other = " ".join(f"b{n + 2}@{-58 * n},485" for n in range(8))
    assert spots(rule(stroke("S", f"r1@200,80 b1@-260,-120 {other}", "b1"))[0]["place"]) == [(30, 485)]


def test_beside_a_piece_in_the_corner_stays_on_the_table():
    ruling = rule(stroke("S", "r1@200,80 b1@-200,-120 b2@485,0", "r1", "on r1 b2", after="r1@488,0"))[0]
    (place,) = ruling["place"]
    assert place["x_mm"] <= 485.001
    assert ((place["x_mm"] - 485) ** 2 + place["y_mm"] ** 2) ** 0.5 >= 29.99


def test_what_happened_to_a_disc_last_counts():
    ruling = rule(stroke("S", "r1@200,80 r2@-200,0 b1@330,130", "r1", "over r1 N", "in r1 NE", "in r1 NE"))[0]
    assert (ruling["pocketed"], ruling["place"], ruling["turn"]) == (["r1"], [], "continues")


def test_a_piece_that_lay_on_another_and_then_fell_is_laid_nowhere():
    ruling = rule(stroke("S", "r1@150,150 r2@-200,100 b1@-30,230 b2@0,0", "r1", "on b1 r2", "in b1 NW"))[0]
    assert (ruling["place"], ruling["pocketed"]) == ([], ["b1"])


def test_12_11_a_piece_that_touched_something_outside_and_came_back_is_over_the_rail():
    log = stroke("S", "r1@150,150 r2@-200,100 b1@-30,230", "r1", "over r1 N")
    back = {"id": "r1", "kind": "red", "x_mm": 40.0, "y_mm": 300.0}
    log["stroke"]["after"]["discs"].append(back)
    ruling = rule(log)[0]
    assert (spots(ruling["place"]), ruling["next_reason"]) == ([(0, 0)], ["18.1.a", "18.1.c"])
    assert ruling["on_table"] == {"S": 2, "N": 1}
