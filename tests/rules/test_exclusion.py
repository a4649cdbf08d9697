"""3.2, 14, 15.1, 15.2: what lost matches lead to, and how a judge's commands carry them."""

import pytest

from rules.exclusion import excluded, points_annulled, sets_count
from rules.ruling import MatchResult
from tests.rules.logs import clauses, judge, match, rule, stroke

BOARD = "r1@150,150 r2@-150,200 b1@-30,230 b2@260,-80"


@pytest.mark.parametrize(
    ("lost", "clause"),
    [
        ([], None),
        (["20.3", "15.3", "20.3"], None),
        (["15.1"], None),
        (["15.1", "15.2"], None),  # one of each kind
        (["15.1", "20.3", "3.2"], "14.3"),
        (["15.2", "15.1", "15.2"], "14.2"),
        (["14.1"], "14.1"),
        (["3.5"], "14.4"),
        (["14.3"], "14.3"),  # the judge has named the exclusion itself
    ],
)
def test_who_is_excluded(lost, clause):
    assert excluded(lost) == clause


@pytest.mark.parametrize(("played", "matches", "annulled"), [(0, 9, True), (4, 9, True), (5, 10, True), (5, 9, False), (6, 10, False)])
def test_half_of_the_matches_or_fewer_annul_the_points(played, matches, annulled):
    assert points_annulled(played, matches) is annulled


@pytest.mark.parametrize(("clause", "count"), [("3.2", False), ("15.1", False), ("14.3", False), ("15.2", True), ("23.1", True)])
def test_sets_do_not_count_where_the_other_did_not_appear(clause, count):
    assert sets_count(MatchResult(winner="S", player="Anna", sets=[0, 0], clause=clause)) is count


@pytest.mark.parametrize("clause", ["3.2", "15.1", "14.3", "15.2", "14.1", "14.2", "14.4", "3.5"])
def test_fault_and_award_carry_a_lost_match_alike(clause):
    want = {"winner": "S", "player": "Anna", "sets": [0, 0], "clause": clause}
    fault, award = rule(judge("fault", side="N", clause=clause))[0], rule(judge("award_match", side="S", clause=clause))[0]
    assert fault["match"] == award["match"] == want
    assert (fault["next"], award["next"], clauses(fault)) == (None, None, [clause])


@pytest.mark.parametrize("clause", ["14.5", "14.9", "15.4", "3.3"])
def test_there_is_no_sanction_under_a_clause_that_does_not_exist(clause):
    assert rule(judge("fault", side="N", clause=clause))[0]["refused"].startswith(clause)


def test_unsporting_conduct_in_the_middle_of_a_match_keeps_the_sets_won():
    log = [match(), judge("award_set", side="N"), judge("fault", side="S", clause="15.2")]
    assert rule(*log)[-1]["match"] == {"winner": "N", "player": "Anna", "sets": [0, 1], "clause": "15.2"}


def test_away_between_sets_loses_the_set_to_come():
    for clause in ("16.1.j", "3.8"):
        ruling = rule(match(), judge("award_set", side="S"), judge("fault", side="S", clause=clause))[-1]
        assert clauses(ruling) == ["16.1.j"]
        assert (ruling["set"]["side"], ruling["set"]["player"], ruling["set"]["clause"]) == ("N", "Anna", "16.1.j")


@pytest.mark.parametrize(
    ("duty", "sanction"), [("12.8", "17.1.s"), ("12.17", "18.1.h"), ("12.21", "16.1.i"), ("12.22", "19.1.f"), ("11.4.e", "18.1.f")]
)
def test_a_duty_named_is_sanctioned_by_the_clause_that_sanctions_it(duty, sanction):
    log = stroke("S", BOARD, "r1", "in r1 NE")
    assert rule(log, judge("fault", side="S", clause=duty)) == rule(log, judge("fault", side="S", clause=sanction))
