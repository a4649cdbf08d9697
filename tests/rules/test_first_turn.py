"""22.1-22.3: who has the first turn, and who stands where."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.errors import InputUnusable
from rules.first_turn import Pairing, circle_schedule, knock_out_first, may_swap, seat_doubles, swap_others, team_first
from rules.log import fold_line
from tests.rules.logs import judge, lines, match, rule, stroke

ANNA, BERTA = "Anna", "Berta"


def test_a_circle_of_six_is_bergers_table():
    named = [[(p.first, p.second) for p in r.pairings] for r in circle_schedule("123456")]
    assert named == [
        [("1", "6"), ("2", "5"), ("3", "4")],
        [("6", "4"), ("5", "3"), ("1", "2")],
        [("2", "6"), ("3", "1"), ("4", "5")],
        [("6", "5"), ("1", "4"), ("2", "3")],
        [("3", "6"), ("4", "2"), ("5", "1")],
    ]


def test_in_a_circle_of_an_odd_number_everyone_rests_once():
    rounds = circle_schedule("12345")
    assert sorted(r.rests for r in rounds) == ["1", "2", "3", "4", "5"]
    assert all(r.rests is None for r in circle_schedule("1234"))


@given(st.integers(2, 40))
def test_in_a_circle_everyone_meets_everyone_once_and_begins_as_often_as_not(count):
    players = [str(n) for n in range(count)]
    rounds = circle_schedule(players)
    pairs = [p for r in rounds for p in r.pairings]
    assert sorted(tuple(sorted((p.first, p.second))) for p in pairs) == sorted(
        tuple(sorted((a, b))) for n, a in enumerate(players) for b in players[:n]
    )
    for r in rounds:
        at_table = [name for p in r.pairings for name in (p.first, p.second)]
        assert sorted([*at_table, *([r.rests] if r.rests else [])]) == sorted(players)
    for name in players:
        assert abs(sum(p.first == name for p in pairs) - sum(p.second == name for p in pairs)) <= 1


@pytest.mark.parametrize("drawn", [[], ["A"], ["A", "B", "A"]])
def test_no_circle_of_too_few_or_of_one_player_twice(drawn):
    with pytest.raises(InputUnusable, match=r"22\.1\.a"):
        circle_schedule(drawn)


@pytest.mark.parametrize(("number", "first"), [(1, ANNA), (2, BERTA), (3, ANNA), (10, BERTA)])
def test_knock_out_goes_by_the_round(number, first):
    assert knock_out_first(Pairing(ANNA, BERTA), number) == first


def test_knock_out_by_lot_goes_by_the_lot():
    assert knock_out_first(Pairing(ANNA, BERTA), 1, drawn=BERTA) == BERTA
    with pytest.raises(InputUnusable, match=r"22\.1\.b: Cilda"):
        knock_out_first(Pairing(ANNA, BERTA), 1, drawn="Cilda")


def test_rounds_are_numbered_from_one():
    for call in (lambda: knock_out_first(Pairing(ANNA, BERTA), 0), lambda: team_first(0)):
        with pytest.raises(InputUnusable, match="round 0"):
            call()


def test_guests_begin_the_first_round_unless_announced_otherwise():
    assert [team_first(n) for n in (1, 2, 3)] == [1, 0, 1]
    assert [team_first(n, announced=(0, 0)) for n in (1, 2, 3)] == [0, 0, 1]


def test_doubles_are_seated_as_announced_and_the_others_may_swap():
    seating = seat_doubles(("Anna", "Cilda"), ("Berta", "Dita"), "S")
    assert seating.players == {"S": "Anna", "W": "Berta", "N": "Cilda", "E": "Dita"}
    swapped = swap_others(seating)
    assert swapped.players == {"S": "Anna", "W": "Dita", "N": "Cilda", "E": "Berta"}
    assert swap_others(swapped) == seating
    assert seat_doubles(("Anna", "Cilda"), ("Berta", "Dita"), "E").players == {"E": "Anna", "S": "Berta", "W": "Cilda", "N": "Dita"}


def test_one_player_is_not_seated_twice():
    with pytest.raises(InputUnusable, match=r"22\.3"):
        seat_doubles(("Anna", "Cilda"), ("Berta", "Anna"), "S")


@pytest.mark.parametrize(
    ("number", "sets", "won", "play_all", "may"),
    [
        (1, 5, (0, 0), False, True),
        (1, 5, (0, 0), True, True),
        (2, 5, (1, 0), False, False),
        (5, 5, (2, 2), False, True),
        (4, 5, (2, 1), False, False),
        (5, 5, (2, 2), True, False),  # played to the end, not to a victory
        (4, 4, (2, 1), False, False),  # an even set
        (5, 5, (3, 1), False, False),  # a judge has let a decided match go on
    ],
)
def test_when_places_may_be_changed(number, sets, won, play_all, may):
    assert may_swap(number, sets, won, play_all) is may


BOARD = "r1@150,150 r2@-150,200 b1@-30,230 b2@260,-80"
SWAP = judge("swap_places", side="W")


def names_after(*log):
    state = None
    for n, line in enumerate(lines(*log), 1):
        state, ruling = fold_line(state, line, n)
    return state.names, ruling


def test_the_judge_notes_that_the_opponents_have_changed_places():
    names, ruling = names_after(match(form="doubles"), SWAP)
    assert names == {"S": "Anna", "W": "Dita", "N": "Cilda", "E": "Berta"}
    assert (ruling.next, ruling.turn) == ("S", "continues")
    warned = rule(match(form="doubles"), SWAP, judge("warning", side="E", clause="19.1.a"), judge("swap_places", side="E"))[-1]
    assert warned["warnings"] == {"S": 0, "W": 1, "N": 0, "E": 0}  # it follows the player


def test_they_may_do_so_again_in_the_deciding_set():
    log = [match(form="doubles", sets=3), judge("award_set", side="S"), judge("award_set", side="S")]
    assert "refused" not in rule(*log, judge("swap_places", side="E"))[-1]
    assert rule(*log[:2], judge("swap_places", side="E"))[-1]["refused"].startswith("22.3")


@pytest.mark.parametrize(
    "log",
    [
        [match(), judge("swap_places", side="N")],
        [match(form="doubles"), judge("swap_places", side="N")],
        [match(form="doubles"), stroke("S", BOARD, "r1"), SWAP],
    ],
    ids=["singles", "the pair that begins", "the set has begun"],
)
def test_what_22_3_does_not_allow_is_refused(log):
    assert rule(*log)[-1]["refused"].startswith("22.3")


def test_players_stay_when_a_set_is_played_again():
    replay = judge("override", entry=1, ruling={"set": {"result": "replay", "clause": "21.1"}})
    log = [match(form="doubles"), stroke("S", BOARD, "r1"), replay, judge("swap_places", side="S"), judge("swap_places", side="W")]
    assert all(r["refused"].startswith("22.3") for r in rule(*log)[2:])


def test_a_change_of_places_can_be_taken_back():
    names, ruling = names_after(match(form="doubles"), SWAP, judge("void", entry=1))
    assert names == {"S": "Anna", "W": "Berta", "N": "Cilda", "E": "Dita"}
    assert ruling.next == "S"
