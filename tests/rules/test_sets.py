"""16.1.g, h, 17.5, 20.2-20.6, 21.1, 21.7, 23.1: sets and the match."""

import pytest

from rules.log import fold_line
from tests.rules.logs import clauses, incident, judge, lines, match, row, rule, spots, stroke, touched

OPEN = "r1@150,150 r2@-200,100 b1@-30,230 b2@260,-80"
LAST = "r1@150,150 b1@-30,230"
BOTH_STRUCK = (stroke("S", OPEN, "r1"), stroke("N", OPEN, "b1"))  # neither first series is left


def last(*entries):
    return rule(*entries)[-1]


def set_of(ruling):
    return ruling["set"] and (ruling["set"]["result"], ruling["set"].get("side"), ruling["set"]["clause"])


@pytest.mark.parametrize(
    ("board", "events", "result"),
    [
        (LAST, ("r1", "in r1 NE"), ("won", "S", "20.3")),
        (LAST + " b2@260,-80", ("r1", "in r1 NE", "in b2 SE"), ("won", "S", "20.3")),
        (LAST, ("r1", "in r1 NE", "back 50"), ("won", "S", "20.3")),
        (LAST, ("r1", "in r1 NE", "in * NW"), None),  # a penalty piece earned
        (LAST, ("b1", "in r1 NE"), None),
        (LAST, ("r1", "over r1 NE"), None),
        (LAST, ("r1", "in b1 NE"), ("won", "N", "20.3")),  # the opponent's last piece
        (OPEN, ("r1", "in b1 NE", "in b2 NW"), ("won", "N", "20.3")),
        (LAST, ("r1", "in r1 NE", "in b1 NW"), ("replay", None, "20.5")),
        (LAST, ("r1", "in r1 NE", "in b1 NW", "in * SE"), ("won", "N", "20.5")),
        (LAST, ("b1", "in r1 NE", "in b1 NW"), ("won", "N", "20.5")),
        (OPEN, ("r1", "in r1 NE"), None),
    ],
)
def test_end_of_a_set(board, events, result):
    assert set_of(last(*BOTH_STRUCK, stroke("S", board, *events))) == result


@pytest.mark.parametrize("ruleset", ["lnf-2008", "lnf-current", "casual"])
def test_both_last_pieces_replay_with_sides_and_first_turn_unchanged(ruleset):
    ruling = last(match(ruleset), *BOTH_STRUCK, stroke("S", LAST, "r1", "in r1 NE", "in b1 NW"))
    assert (set_of(ruling), ruling["next"], ruling["match"]) == (("replay", None, "20.5"), "S", None)
    assert ruling["set"].get("source") == ("001 Vienspēles" if ruleset == "lnf-current" else None)


FULL = f"{row('r', 485)} {row('b', -485)}"
ALL_RED = tuple(f"in r{n} NE" for n in range(1, 9))
ALL_BLACK = tuple(f"in b{n} SE" for n in range(1, 9))
BLACK_ONLY = row("b", -485)
RAN_OUT = stroke("S", FULL, "r4", *ALL_RED)


def test_first_series_run_out_interrupts():
    ruling = last(RAN_OUT)
    assert (ruling["turn"], ruling["next"], ruling["set"], ruling["next_reason"]) == ("interrupted", "N", None, ["20.4"])


@pytest.mark.parametrize(
    ("first_tail", "second", "result"),
    [
        ((), ("b4",), ("won", "S", "20.4")),
        ((), ("b4", *ALL_BLACK[:7]), None),  # goes on
        ((), ("b4", *ALL_BLACK), ("replay", None, "20.4")),
        ((), ("b4", *ALL_BLACK, "back 40"), ("won", "S", "20.4")),
        ((), ("b4", *ALL_BLACK, "in * NE"), ("won", "S", "20.4")),
        (("back 40",), ("b4", *ALL_BLACK), ("won", "N", "20.4")),
        (("back 40",), ("b4",), ("won", "S", "20.4")),
        (("back 40",), ("b4", *ALL_BLACK, "back 40"), ("replay", None, "20.4")),
        (("in b8 SW",), ("b4", *ALL_BLACK[:7]), ("won", "N", "20.4")),
    ],
)
def test_the_opponents_first_series(first_tail, second, result):
    board = BLACK_ONLY if "in b8 SW" not in first_tail else row("b", -485, count=7)
    assert set_of(last(stroke("S", FULL, "r4", *ALL_RED, *first_tail), stroke("N", board, *second))) == result


def test_a_penalty_in_the_last_stroke_of_the_first_series_is_no_run_out():
    ruling = last(stroke("S", FULL, "r4", *ALL_RED, "in * NE"))
    assert (ruling["turn"], ruling["set"], spots(ruling["place"])) == ("passes", None, [(0, 485)])


def test_run_out_replay_swaps_sides_and_first_turn_and_counts_as_no_set():
    state, ruling = None, None
    for n, line in enumerate(lines(match(), RAN_OUT, stroke("N", BLACK_ONLY, "b4", *ALL_BLACK)), 1):
        state, ruling = fold_line(state, line, n)
    assert ruling.next == "S"
    assert state.names == {"S": "Berta", "N": "Anna"}
    assert (state.core.set.number, state.core.sets_won) == (1, (0, 0))
    after = rule(match(), RAN_OUT, stroke("N", BLACK_ONLY, "b4", *ALL_BLACK), judge("award_set", side="S"))[-1]
    assert after["set"]["player"] == "Berta"
    assert after["next"] == "N"  # second set: the first turn is Berta's by the match sheet, and the sides have changed again


def test_a_fault_after_the_interruption_is_punished_at_once_and_play_goes_on():
    log = [RAN_OUT, incident("S", BLACK_ONLY, touched("b1", "S"), after="b1@-110,-470"), stroke("N", BLACK_ONLY, "b4")]
    fault, stroke_after = rule(*log)[1:]
    assert (fault["next"], spots(fault["place"]), fault["penalty_pieces"]) == ("N", [(0, 485)], 1)
    assert spots(fault["restore"]) == [(-105, -485)]
    assert (stroke_after["set"], stroke_after["next"]) == (None, "S")
    win = rule(*log[:2], stroke("N", BLACK_ONLY + " r9@0,485", "b4", *ALL_BLACK))[-1]
    assert set_of(win) == ("won", "N", "20.3")


def test_a_log_that_begins_in_mid_set_has_no_first_series_to_interrupt():
    assert set_of(last(stroke("S", LAST, "r1", "in r1 NE"))) == ("won", "S", "20.3")


def test_debts_are_laid_out_first_when_all_eight_are_in_and_the_turn_is_kept():
    board = "r1@-300,300 r2@-250,300 r3@-200,300 r4@-150,300 r5@-100,300 r6@-50,300 r7@200,300 r8@300,300 b1@0,-200 b2@100,-200"
    log = [stroke("S", board, "b1", after="b1@0,-190"), stroke("N", board, "b1", after="b1@0,-180")]
    ruling = last(*log, stroke("S", board, "r1", *ALL_RED))
    assert (ruling["turn"], ruling["set"], spots(ruling["place"]), ruling["debt"]["S"]) == ("continues", None, [(0, 485)], 0)
    theirs = last(*log, stroke("S", board, "r7", "in r7 NE"), stroke("S", board, "r1", "in r1 NE"), stroke("S", board, "r1", *ALL_RED))
    assert theirs["next"] == "S"


def test_the_opponents_debt_is_laid_out_when_their_last_piece_is_pocketed():
    board = f"r1@-300,300 r2@-250,300 {row('b', -485)}"
    log = [
        stroke("S", board, "r1"),
        stroke("N", board, "r1"),  # a debt for N
        stroke("S", board, "r1", *ALL_BLACK),
    ]
    ruling = last(*log)
    assert (ruling["set"], ruling["debt"]["N"], spots(ruling["place"]), ruling["next"]) == (None, 0, [(0, -485)], "N")


DARK = "r1@0,30 r2@200,-440 b1@-40,0 b2@100,440"


def test_three_misses_each_with_dark_pieces_only():
    turn = [stroke("S", DARK, "rail N"), stroke("N", DARK, "rail S")]
    rulings = rule(*turn * 3)
    assert [r["set"] for r in rulings[:5]] == [None] * 5
    assert (set_of(rulings[5]), rulings[5]["next"]) == (("replay", None, "20.6"), "S")
    light = rule(*turn * 2, stroke("S", DARK, "rail N"), stroke("N", DARK + " r3@100,100", "rail S"))
    assert light[-1]["set"] is None
    touching = rule(*turn * 2, stroke("S", DARK, "rail N", "b1", after="b1@-41,1"), stroke("N", DARK, "rail S"))
    assert touching[-1]["set"] is None


def test_first_turn_alternates_and_sides_change():
    log = [judge("award_set", side="S"), judge("award_set", side="S"), judge("award_set", side="S")]
    rulings = rule(*log)
    assert [r["set"]["player"] for r in rulings] == ["Anna", "Berta", "Anna"]
    # set 2: Berta begins and stands at S; set 3: Anna begins and stands at S again
    assert [r["next"] for r in rulings] == ["S", "S", "S"]


@pytest.mark.parametrize(
    ("sets", "everything", "winners", "result"),
    [
        (5, False, "AAA", {"winner": "S", "player": "Anna", "sets": [3, 0], "clause": "23.1"}),
        (5, False, "ABABA", {"winner": "S", "player": "Anna", "sets": [3, 2], "clause": "23.1"}),
        (5, True, "AAA", None),
        (5, True, "AAABB", {"winner": "S", "player": "Anna", "sets": [3, 2], "clause": "23.1"}),
        (4, False, "AABB", {"winner": None, "player": None, "sets": [2, 2], "clause": "23.1"}),
        (1, False, "B", {"winner": "N", "player": "Berta", "sets": [0, 1], "clause": "23.1"}),
    ],
)
def test_end_of_the_match(sets, everything, winners, result):
    at = {"A": ("S", "N"), "B": ("N", "S")}
    log = [judge("award_set", side=at[w][n % 2]) for n, w in enumerate(winners)]
    ruling = last(match(sets=sets, play_all_sets=everything), *log)
    if result and len(winners) % 2 == 0 and result["winner"]:
        result = {**result, "winner": {"S": "N", "N": "S"}[result["winner"]]}
    assert ruling["match"] == result


def test_nothing_counts_after_the_end():
    ruling = last(match(sets=1), judge("award_set", side="S"), stroke("S", OPEN, "b1"))
    assert (ruling["faults"], ruling["place"], ruling["next"], ruling["told"]) == ([], [], None, ["23.1"])
    refused = last(match(sets=1), judge("award_set", side="S"), judge("warning", side="N", clause="19.1.a"))
    assert refused["refused"].startswith("23.1")


def test_the_first_listed_player_opening_a_set_out_of_turn_loses_it():
    assert set_of(last(match(first="N"), stroke("S", OPEN, "r1"))) == ("won", "N", "16.1.g")


def test_any_other_stroke_out_of_turn_is_undone_and_paid_later():
    other = last(match(first="S"), stroke("N", OPEN, "b1", "in b1 NE", after="b2@270,-90"))
    assert (clauses(other), other["set"], other["next"]) == (["17.1.o"], None, "S")
    assert sorted(r["id"] for r in other["restore"]) == ["b1", "b2"]
    assert other["on_table"] == {"S": 2, "N": 2}
    later = rule(stroke("S", OPEN, "r1"), stroke("S", OPEN, "r1"))[1]
    assert (clauses(later), later["set"]) == (["17.1.o"], None)


D = {"form": "doubles"}


def test_doubles_out_of_turn_loses_the_set():
    assert set_of(last(match(**D), stroke("N", OPEN, "r1"))) == ("won", "E", "16.1.h")


def test_doubles_players_move_on_clockwise_and_the_first_turn_stays_at_its_side():
    state = None
    for n, line in enumerate(lines(match(**D), judge("award_set", side="S")), 1):
        state, ruling = fold_line(state, line, n)
    assert state.names == {"W": "Anna", "N": "Berta", "E": "Cilda", "S": "Dita"}
    assert ruling.next == "S"


SIXTEEN_RED = f"{row('r', 485)} {row('r', -485, first=9)}"
SIXTEEN_BLACK = f"{row('b', 300)} {row('b', -300, first=9)}"
IN_RED = tuple(f"in r{n} NE" for n in range(1, 17))
IN_BLACK = tuple(f"in b{n} NE" for n in range(1, 17))


def test_doubles_sixteen_in_the_first_series():
    first = stroke("S", f"{SIXTEEN_RED} {SIXTEEN_BLACK}", "r4", *IN_RED)
    assert (last(match(**D), first)["turn"], last(match(**D), first)["next"]) == ("interrupted", "W")
    assert set_of(last(match(**D), first, stroke("W", SIXTEEN_BLACK, "b1"))) == ("won", "S", "21.7")
    replay = last(match(**D), first, stroke("W", SIXTEEN_BLACK, "b1", *IN_BLACK))
    assert (set_of(replay), replay["next"]) == (("replay", None, "21.1"), "W")


def test_doubles_second_players_sixteen_win_the_set():
    board = f"{SIXTEEN_RED} {SIXTEEN_BLACK}"
    ruling = last(match("lnf-current", **D), stroke("S", board, "r4"), stroke("W", board, "b1", *IN_BLACK))
    assert set_of(ruling) in {("won", "W", "20.3"), ("won", "W", "21.7")}


def test_a_fault_in_the_first_players_run_out_costs_the_opponent_the_only_series():
    touch = incident("N", FULL, touched("b1", "N", "cue"), after="b1@-110,-470")
    assert set_of(last(touch, RAN_OUT)) == ("won", "S", "20.4")
