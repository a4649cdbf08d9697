"""The state between entries: the match topic's record, and what would be wrong with it."""

import msgspec
import pytest

from rules.fold import match_state, problems, start
from rules.log import fold_line, read_entry
from rules.ruling import MatchResult
from rules.state import START_OFFSETS_MM
from rules.table import clearances_mm, hole_radius_mm, is_striker, thickness_mm
from tests.rules.logs import judge, lines, match, stroke

BOARD = "r1@150,150 r2@-150,200 b1@-30,230 b2@260,-80"


def folded(*entries):
    state = None
    for n, line in enumerate(lines(*entries), 1):
        state, _ = fold_line(state, line, n)
    return state


def test_the_match_topic():
    ready = match_state(folded(match()))
    assert folded(match()).match.id == "t"
    assert (ready["status"], ready["turn"], ready["winner_known"]) == ("ready", "S", False)
    log = [match(), stroke("S", BOARD, "b1", after="b1@-40,230"), judge("warning", side="N", clause="19.1.a")]
    playing = match_state(folded(*log))
    assert playing["players"]["N"] == {"name": "Berta", "colour": "black"}
    assert (playing["status"], playing["turn"], playing["set"]) == ("playing", "N", 1)
    assert (playing["penalty_pieces"], playing["warnings"], playing["on_table"]) == ({"S": 1, "N": 0}, {"S": 0, "N": 1}, {"S": 3, "N": 2})
    won = match_state(folded(*log, judge("award_set", side="N", clause="16.1.c")))
    assert (won["sets_won"], won["players"]["S"]["name"]) == ({"S": 1, "N": 0}, "Berta")
    assert won["finished"] == [{"set": 1, "first": "Anna", "winner": "Berta", "clause": "16.1.c"}]
    over = match_state(folded(*log, judge("end_match")))
    assert (over["status"], over["turn"], over["winner_known"]) == ("over", None, True)
    assert msgspec.json.decode(msgspec.json.encode(over)) == over


def replaced(**parts):
    state = start(read_entry(lines(match())[0], 1).match)
    inner = {k: v for k, v in parts.items() if k in type(state.core.set).__struct_fields__ and k != "rules"}
    outer = {k: v for k, v in parts.items() if k not in inner}
    new_set = msgspec.structs.replace(state.core.set, **inner)
    return msgspec.structs.replace(state, core=msgspec.structs.replace(state.core, set=new_set, **outer))


def disc(name):
    return read_entry(lines(stroke("S", f"{name}@0,0"))[0], 1).stroke.before.discs[0]


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"seats": ("S", "W")}, "stand at"),
        ({"turn": "W"}, "nobody's side"),
        ({"debt": (-1, 0)}, "negative debt"),
        ({"sets_won": (4, 3)}, "sets won of 5"),
        ({"warnings": (3, 0)}, "third warning"),
        ({"interrupted": 0}, "interrupted"),
        ({"board": (disc("r1"), disc("r1"))}, "twice"),
    ],
)
def test_every_inconsistency_is_listed(parts, said):
    found = problems(replaced(**parts))
    assert any(said in p for p in found), found


def test_several_problems_are_all_listed_and_none_where_none_is():
    assert len(problems(replaced(debt=(-1, 0), turn="W"))) == 2
    assert problems(replaced()) == []
    won = folded(match(), judge("award_set", side="S"))
    lost = msgspec.structs.replace(won, core=msgspec.structs.replace(won.core, sets_won=(0, 0)))
    assert any("on the sheet" in p for p in problems(lost))
    given = MatchResult(winner=None, player=None, sets=[0, 0], clause="23.1")
    assert problems(replaced(over=given, warnings=(3, 0))) == []


def test_the_tables_figures():
    assert START_OFFSETS_MM == (-105.0, -75.0, -45.0, -15.0, 15.0, 45.0, 75.0, 105.0)
    assert (thickness_mm("red"), thickness_mm("striker"), hole_radius_mm("striker")) == (12.0, 14.5, 5.05)
    assert is_striker("striker")
    clear = clearances_mm("red", 0.0, -380.0)
    assert clear["S"] == pytest.approx(5.5)
    assert clear["circle"] == pytest.approx(-259.5)
    measured = clearances_mm("red", 0.0, -380.0, {"S": 371.0, "N": 370.0, "W": 370.0, "E": 370.0}, (0.0, 0.0, 125.0))
    assert measured["S"] == pytest.approx(4.5)
