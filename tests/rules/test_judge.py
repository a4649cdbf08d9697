"""9.1, 14-19: the judge's commands; void, resolve and override fold again what follows."""

import pytest

from rules.fold import preview
from rules.log import fold_line, read_entry
from tests.rules.logs import clauses, incident, judge, lines, match, rule, spots, stroke, touched

BOARD = "r1@150,150 r2@-150,200 b1@-30,230 b2@260,-80"
PENAL = stroke("S", BOARD, "b2", after="b2@280,60")
LAWFUL = stroke("S", BOARD, "r1", "in r1 NE")
KEEP = ("lawful", "faults", "turn", "next", "penalty_pieces", "debt", "place", "restore", "on_table", "set", "match", "next_reason")


def bare(ruling):
    return {k: ruling[k] for k in KEEP}


@pytest.mark.parametrize(
    ("clause", "side", "turn", "next_side", "pieces", "result"),
    [
        ("17.1.s", "S", "passes", "N", 1, None),
        ("17.1.g", "S", "passes", "N", 1, None),
        ("17.1.l", "N", "continues", "S", 1, None),  # paid when this series ends
        ("18.1.f", "S", "passes", "N", 0, None),
        ("18.1.h", "S", "passes", "N", 0, None),
        ("16.1.c", "S", "continues", "S", 0, ("won", "N")),
        ("16.1.i", "N", "continues", "S", 0, ("won", "S")),
        ("16.1.j", "N", "continues", "S", 0, ("won", "S")),
    ],
)
def test_a_fault_is_sanctioned_as_if_seen(clause, side, turn, next_side, pieces, result):
    ruling = rule(judge("fault", side=side, clause=clause))[0]
    assert clauses(ruling) == [clause]
    assert (ruling["turn"], ruling["penalty_pieces"]) == (turn, pieces)
    assert (ruling["set"] and (ruling["set"]["result"], ruling["set"]["side"])) == result
    if result:
        assert ruling["set"]["clause"] == clause
    else:
        assert ruling["next"] == next_side


def test_a_fault_of_the_stroke_just_made_is_paid_at_once_though_the_turn_has_passed():
    made, fault = rule(stroke("S", BOARD, "r1"), judge("fault", side="S", clause="17.1.s"))
    assert made["next"] == "N"
    assert (fault["next"], spots(fault["place"]), fault["turn"]) == ("N", [(0, 485)], "continues")


def test_a_fault_while_the_opponents_have_the_turn_waits_for_the_end_of_their_series():
    fault, end = rule(judge("fault", side="N", clause="17.1.n"), stroke("S", BOARD, "r1"))
    assert (fault["place"], fault["next"]) == ([], "S")
    assert (spots(end["place"]), end["next"]) == ([(0, -485)], "S")


@pytest.mark.parametrize("clause", ["19.1.e", "12.20", "3.6", "3.7", "12.7", "12.18", "21.9"])
def test_a_fault_may_be_a_warning(clause):
    assert rule(judge("fault", side="N", clause=clause))[0]["warnings"] == {"S": 0, "N": 1}


@pytest.mark.parametrize("clause", ["15.1", "15.2", "14.1", "3.5", "3.2"])
def test_a_fault_may_lose_the_match(clause):
    ruling = rule(judge("fault", side="N", clause=clause))[0]
    assert ruling["match"] == {"winner": "S", "player": "Anna", "sets": [0, 0], "clause": clause}


def test_fifteen_three_gives_the_rest_away():
    assert rule(judge("fault", side="N", clause="15.3"))[0]["match"]["sets"] == [5, 0]


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (judge("fault", side="S", clause="11.2"), "11.2"),
        (judge("fault", side="N", clause="18.1.f"), "18.1.f"),
        (judge("fault", side="N", clause="16.1.g"), "16.1.g"),
        (judge("fault", side="S", clause="16.1.h"), "16.1.h"),
        (judge("void", entry=7), "9.1.j"),
        (judge("resolve", entry=1, assume={"r1": "dark"}), "9.1.j"),
        (judge("debt_forgotten", side="N"), "17.4"),
    ],
)
def test_what_cannot_be_is_refused_with_its_clause_and_changes_nothing(command, why):
    first, refused, after = rule(stroke("S", BOARD, "r1", "in r1 NE"), command, stroke("S", BOARD, "r2", "in r2 NW"))
    assert refused["refused"].startswith(why)
    assert refused["next"] == first["next"] == after["next"] == "S"


def test_first_listed_players_wrong_first_stroke_is_called_only_until_the_next_stroke():
    called = rule(stroke("S", BOARD, "r1"), judge("fault", side="S", clause="16.1.g"))[1]
    assert called["set"]["clause"] == "16.1.g"
    late = rule(stroke("S", BOARD, "r1"), stroke("N", BOARD, "b1"), judge("fault", side="S", clause="16.1.g"))[2]
    assert late["refused"].startswith("16.1.g")


def test_void_takes_back_what_followed_from_the_entry():
    penal, void, after = rule(PENAL, judge("void", entry=1), LAWFUL)
    assert penal["next"] == "N"
    assert (void["kind"], void["next"], void["set"], void["place"]) == ("judge", "S", None, [])
    assert after["lawful"] is True
    assert void["refolded"][0]["entry"] == 1


def test_void_of_a_warning_and_of_a_void():
    log = [judge("warning", side="N", clause="19.1.a"), judge("void", entry=1), judge("void", entry=2)]
    assert [r["warnings"]["N"] for r in rule(*log)] == [1, 0, 1]
    assert "refused" in rule(*log[:2], judge("void", entry=1))[2]


def test_void_works_after_the_end_of_set_and_match():
    log = [match(sets=1), judge("award_set", side="N"), judge("void", entry=1), LAWFUL]
    ended, void, after = rule(*log)
    assert ended["match"]["winner"] == "N"
    assert (void["match"], void["next"]) == (None, "S")
    assert after["lawful"] is True


def test_void_refolds_all_that_follows():
    # Without the first stroke, which lost the turn, N's stroke is out of turn.
    log = [stroke("S", BOARD, "r1"), stroke("N", BOARD, "b1"), judge("void", entry=1)]
    void = rule(*log)[2]
    assert [r["entry"] for r in void["refolded"]] == [1, 2]
    assert clauses(void["refolded"][1]["ruling"]) == ["17.1.o"]
    assert void["next"] == "S"


@pytest.mark.parametrize(
    ("part", "want"),
    [
        ({"lawful": True}, {"lawful": True, "faults": [], "penalty_pieces": 0, "place": [], "next": "N", "next_reason": ["18.1.a"]}),
        ({"faults": []}, {"faults": [], "penalty_pieces": 0, "next": "N"}),
        ({"turn": "continues"}, {"turn": "continues", "next": "S"}),
        ({"next": "S"}, {"turn": "continues", "next": "S"}),
        ({"penalty_pieces": 0}, {"penalty_pieces": 0, "place": [], "next": "N"}),
        ({"lawful": True, "faults": [], "turn": "continues", "next": "S", "penalty_pieces": 0, "place": []}, {"next": "S", "place": []}),
        ({"set": {"result": "won", "side": "S", "clause": "16.1.c"}}, {"next": "S"}),
        ({"debt": {"S": 2}}, {"debt": {"S": 2, "N": 0}}),
        ({"restore": [{"id": "b2", "x_mm": 260, "y_mm": -80}]}, {"next": "N"}),
        ({"faults": [{"clause": "16.1.c", "side": "S"}]}, {}),
        ({"place": [{"kind": "red", "id": "r9", "x_mm": 60, "y_mm": 485}]}, {"next": "N"}),
        ({"on_table": {"S": 5}}, {"next": "N"}),
        ({"match": {"winner": "S", "player": "Anna", "sets": [1, 0], "clause": "15.2"}}, {"next": None}),
        ({"turn": "passes"}, {"turn": "passes", "next": "N"}),
        ({"set": None}, {"set": None}),
    ],
)
def test_override(part, want):
    penal, override = rule(PENAL, judge("override", entry=1, ruling=part))
    assert penal["penalty_pieces"] == 1
    for key, value in want.items():
        assert override[key] == value, key
    if (part.get("set") or {}).get("side"):
        assert override["set"]["player"] == "Anna"
    if part.get("faults"):
        assert override["set"]["clause"] == "16.1.c"


def test_override_refolds_what_follows():
    log = [PENAL, stroke("N", BOARD, "b1"), judge("override", entry=1, ruling={"turn": "continues"})]
    override = rule(*log)[2]
    assert clauses(override["refolded"][1]["ruling"]) == ["17.1.o"]


def test_overriding_what_is_voided_or_is_itself_an_edit_is_refused():
    log = [PENAL, judge("void", entry=1), judge("override", entry=1, ruling={"lawful": True})]
    assert "refused" in rule(*log)[2]
    assert "refused" in rule(*log[:2], judge("override", entry=2, ruling={"next": "S"}))[2]


def test_awards_and_ends():
    assert rule(judge("award_set", side="N"))[0]["set"] == {"result": "won", "clause": "9.1.j", "side": "N", "player": "Berta"}
    assert rule(judge("award_set", side="N", clause="16.1.c"))[0]["set"]["clause"] == "16.1.c"
    award = rule(judge("award_match", side="N", clause="15.1"))[0]
    assert (award["match"]["winner"], award["match"]["clause"], award["next"]) == ("N", "15.1", None)
    assert rule(judge("end_match"))[0]["match"] == {"winner": None, "player": None, "sets": [0, 0], "clause": "23.1"}
    ahead = rule(judge("award_set", side="S"), judge("end_match"))[1]
    assert ahead["match"] == {"winner": "N", "player": "Anna", "sets": [1, 0], "clause": "23.1"}


def test_start_set_starts_the_set_afresh():
    first, again = rule(PENAL, judge("start_set"))
    assert (first["next"], again["next"], again["set"]) == ("N", "S", None)
    assert rule(PENAL, judge("start_set", side="N"))[1]["next"] == "N"


def test_preview_changes_nothing_and_shows_what_would():
    state = None
    for n, line in enumerate(lines(match(), PENAL, stroke("N", BOARD, "b1")), 1):
        state, _ = fold_line(state, line, n)
    command = read_entry(lines(judge("void", entry=1))[0], 1)
    shown = preview(state, command)
    assert [r.entry for r in shown.refolded] == [1, 2]
    assert state.count == 2
    assert not state.commands


def test_entries_between_strokes_can_be_voided():
    log = [incident("S", BOARD, touched("b2", "S"), after="b2@266,-84"), judge("void", entry=1), LAWFUL]
    assert rule(*log)[2]["turn"] == "continues"


def test_void_reaches_back_over_chunks_of_history():
    log = [stroke("S" if n % 2 == 0 else "N", BOARD, "r1" if n % 2 == 0 else "b1") for n in range(600)]
    ruling = rule(*log, judge("void", entry=599), judge("void", entry=3))[-1]
    assert "refused" not in ruling
    assert ruling["refolded"][0]["entry"] == 3


def test_a_judge_may_call_the_clock():
    told, again = rule(judge("fault", side="S", clause="19.3"), judge("fault", side="S", clause="19.3"))
    assert (told["told"], told["turn"]) == (["19.3"], "continues")
    assert (clauses(again), again["next"]) == (["17.1.r"], "N")
    assert "refused" in rule(judge("fault", side="N", clause="19.3"))[0]


def test_an_entry_too_far_back_cannot_be_edited(monkeypatch):
    monkeypatch.setattr("rules.fold.CHUNK", 4)
    monkeypatch.setattr("rules.fold.KEPT_CHUNKS", 2)
    log = [judge("warning", side="N", clause="19.1.a"), *[judge("debt_forgotten", side="S")] * 20]
    assert rule(*log, judge("void", entry=1))[-1]["refused"] == "9.1.j: entry 1 is too far back"


def test_commands_that_nothing_can_reach_any_more_are_forgotten(monkeypatch):
    monkeypatch.setattr("rules.fold.CHUNK", 4)
    monkeypatch.setattr("rules.fold.KEPT_CHUNKS", 2)
    log = [match()]
    for n in range(30):
        log += [judge("warning", side="SN"[n % 2], clause="19.1.a"), judge("void", entry=2 * n + 1)]
    state = None
    for n, line in enumerate(lines(*log), 1):
        state, ruling = fold_line(state, line, n)
        assert ruling is None or not isinstance(ruling.refused, str)
    assert (len(state.commands), state.core.warnings) == (6, (0, 0))
    again = lines(judge("void", entry=59), judge("void", entry=60), judge("void", entry=2))
    rulings = []
    for n, line in enumerate(again, 100):
        state, ruling = fold_line(state, line, n)
        rulings.append(ruling)
    assert rulings[0].refused == "9.1.j: entry 59 is already taken back"
    assert (rulings[1].warnings, rulings[2].refused) == ({"S": 0, "N": 1}, "9.1.j: entry 2 is too far back")


def test_an_override_may_leave_a_review_open():
    near = stroke("S", "r1@150,160 r3@-60,-374.7~0.3 b1@-150,260", "r3")
    counted = rule(near, judge("override", entry=1, ruling={"on_table": {"N": 5}}))[1]
    assert (counted["status"], [a["ruling"]["on_table"]["N"] for a in counted["alternatives"]]) == ("review", [5, 5])


def test_a_judge_says_what_went_in():
    log = stroke("S", BOARD, "r1", "in r1 NE")
    none = rule(log, judge("override", entry=1, ruling={"pocketed": []}))[1]
    assert (none["pocketed"], none["next"], none["on_table"]) == ([], "N", {"S": 2, "N": 2})
    more = stroke("S", BOARD + " r3@0,300", "r1", "in r1 NE")
    both = rule(more, judge("override", entry=1, ruling={"pocketed": ["r1", "r2"]}))[1]
    assert (both["pocketed"], both["on_table"]) == (["r1", "r2"], {"S": 1, "N": 2})
    other = rule(log, judge("override", entry=1, ruling={"pocketed": ["r2", "b1"]}))[1]
    assert (other["next_reason"], other["on_table"]) == (["18.1.b"], {"S": 1, "N": 1})


def test_a_judge_may_name_faults_and_how_the_set_ends_at_once():
    part = {"faults": [{"clause": "16.1.c", "side": "S"}], "set": None}
    assert rule(PENAL, judge("override", entry=1, ruling=part))[1]["set"] is None


def test_overriding_the_place_of_a_piece_that_is_not_there_changes_no_board():
    ruling = rule(PENAL, judge("override", entry=1, ruling={"restore": [{"id": "b9", "x_mm": 0, "y_mm": 0}]}))[1]
    assert ruling["restore"][0]["id"] == "b9"
    assert ruling["on_table"] == {"S": 3, "N": 2}


def test_a_judge_may_let_a_decided_match_go_on():
    log = [match(), *[judge("award_set", side=side) for side in "SNS"]]
    assert rule(*log)[-1]["match"]["sets"] == [3, 0]
    on = rule(*log, judge("override", entry=3, ruling={"match": None}), judge("award_set", side="S"))
    assert (on[3]["match"], on[3]["next"]) == (None, "S")
    assert on[4]["set"]["player"] == "Berta"


def test_a_match_given_by_override_is_as_given():
    part = {"match": {"winner": "N", "player": "Berta", "sets": [0, 1], "clause": "15.2"}}
    assert rule(PENAL, judge("override", entry=1, ruling=part))[1]["match"] == part["match"]


def test_voiding_a_warning_after_the_end_leaves_the_end():
    log = [match(sets=1), judge("warning", side="N", clause="19.1.a"), judge("award_set", side="S"), judge("void", entry=1)]
    ruling = rule(*log)[-1]
    assert (ruling["match"], ruling["next"], ruling["warnings"]["N"]) == (None, None, 0)


def test_a_set_that_a_command_ends_again_is_shown_with_it():
    again = rule(judge("award_set", side="S"), judge("void", entry=1), judge("void", entry=2))[2]
    assert (again["set"]["side"], again["set"]["clause"], again["next"]) == ("S", "9.1.j", "S")
