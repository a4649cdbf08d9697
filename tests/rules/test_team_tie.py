"""22.4, 23.2: team ties."""

import contextlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.errors import InputUnusable
from rules.team_tie import Points, Team, begin_last, games, leader, over, record, score, start_tie, substitute, to_play

HOME = Team("Home", ("A1", "A2", "A3"), ("AR", "AS"))
GUESTS = Team("Guests", ("B1", "B2", "B3"), ("BR",))


def tie(ruleset="lnf-2008", **more):
    return start_tie((HOME, GUESTS), 3, ruleset, **more)


def play(now, *winners):
    """The next games in order, won by these."""
    for winner in winners:
        now = record(now, to_play(now)[0].numbers, winner)
    return now


def refused(why, call, *args):
    with pytest.raises(InputUnusable, match=why):
        call(*args)


def test_numbers_meet_shifted_by_one_each_round():
    one = tie()
    assert [g.players for g in games(one)] == [("A1", "B1"), ("A2", "B2"), ("A3", "B3")]
    two = play(one, 0, 1, None)
    assert [(g.round, g.numbers) for g in games(two)] == [(2, (1, 2)), (2, (2, 3)), (2, (3, 1))]
    three = play(two, 0, 1, None)
    assert [g.players for g in games(three)] == [("A1", "B3"), ("A2", "B1"), ("A3", "B2")]


def test_guests_have_the_first_turn_in_the_first_round():
    assert {g.first for g in games(tie())} == {1}
    assert {g.first for g in games(play(tie(), 0, 1, None))} == {0}
    assert {g.first for g in games(tie(first_turns=(0,)))} == {0}


def test_a_reserve_plays_from_the_next_round_on():
    now = substitute(tie(), 0, 2, "AR")
    assert games(now)[1].players[0] == "A2"
    now = play(now, 0, 1, None)
    assert [g.players[0] for g in games(now)] == ["A1", "AR", "A3"]
    assert [g.players[0] for g in games(play(now, 0, 1, None))] == ["A1", "AR", "A3"]


def test_whoever_was_replaced_comes_back_only_to_the_old_number():
    now = play(substitute(tie(), 0, 2, "AR"), 0, 1, None)
    refused(r"22\.4: A2 belongs to number 2", substitute, now, 0, 1, "A2")
    back = play(substitute(now, 0, 2, "A2"), 0, 1, None)
    assert [g.players[0] for g in games(back)] == ["A1", "A2", "A3"]


def test_a_reserve_replaces_only_one_number():
    now = play(substitute(tie(), 0, 2, "AR"), 0, 1, None)
    refused(r"22\.4: AR belongs to number 2 .* reserve", substitute, now, 0, 1, "AR")
    assert substitute(now, 0, 1, "AS").orders[-1][0] == ("AS", "AR", "A3")
    other = substitute(now, 0, 2, "AS")  # the reserve may be replaced by another one
    assert other.orders[-1][0] == ("A1", "AS", "A3")


def test_a_change_taken_back_before_it_counts_binds_nobody():
    now = substitute(substitute(tie(), 0, 2, "AR"), 0, 2, "A2")
    assert substitute(now, 0, 1, "AR").orders[-1][0] == ("AR", "A2", "A3")


def test_both_teams_may_announce_changes():
    now = substitute(substitute(tie(), 0, 1, "AR"), 1, 3, "BR")
    assert now.orders[-1] == (("AR", "A2", "A3"), ("B1", "B2", "BR"))


@pytest.mark.parametrize(
    ("team", "number", "player", "why"),
    [
        (0, 1, "A1", "has number 1 already"),
        (0, 1, "A2", "belongs to number 2"),
        (0, 1, "BR", "neither"),
        (0, 1, "Nobody", "neither"),
        (0, 0, "AR", "no number 0"),
        (1, 4, "BR", "no number 4"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(team, number, player, why):
    now = tie()
    before = msgspec.json.encode(now)
    refused(rf"22\.4.*{why}", substitute, now, team, number, player)
    assert msgspec.json.encode(now) == before


def test_changes_are_announced_before_the_last_game_of_a_round_begins():
    now = play(tie(), 0, 1)
    assert substitute(now, 0, 1, "AR").orders[-1][0][0] == "AR"
    begun = begin_last(now)
    refused(r"22\.4: .* before the last game", substitute, begun, 0, 1, "AR")
    next_round = play(begun, None)
    assert substitute(next_round, 0, 1, "AR").orders[-1][0][0] == "AR"
    refused("still to be played", begin_last, next_round)


def test_the_current_rules_want_them_before_its_result():
    begun = begin_last(play(tie("lnf-current"), 0, 1))
    assert substitute(begun, 0, 1, "AR").orders[-1][0][0] == "AR"


def test_there_is_no_change_for_a_round_that_does_not_come():
    last = play(tie(play_all=True), 0, 1, None, 0, 1, None)
    refused("next round, and there is none", substitute, last, 0, 1, "AR")
    refused("next round, and there is none", substitute, play(tie(), 0, 0, 0, 0, 0), 0, 1, "AR")


def test_the_points_of_the_games_are_those_of_the_team():
    now = play(tie(), 0, 1, None, 0)
    assert (score(now), leader(now)) == ((5, 3), 0)
    assert leader(play(tie(), 1)) == 1
    assert leader(play(tie(), None)) is None
    assert score(play(tie(points=Points(won=3, drawn=1, lost=0)), 0, None)) == (4, 1)


def test_the_tie_ends_once_one_team_cannot_be_reached():
    four = play(tie(), 0, 0, 0, 0)  # 8:0 with five games to come
    assert not over(four)
    five = play(four, 0)
    assert over(five)
    assert games(five) == to_play(five) == ()
    refused(r"23\.2.*3 against 1", record, five, (3, 1), 0)


def test_all_are_played_where_so_announced():
    now = play(tie(play_all=True), *[0] * 8)
    assert not over(now)
    assert over(play(now, 1))


def test_a_lead_that_can_be_levelled_does_not_end_it():
    now = play(tie(), 0, 0, 0, 0, 1, None, None)  # 10:4 - 8:2 and two drawn, two games to come
    assert score(now) == (10, 4)
    assert over(now)
    level = play(tie(), 0, 0, 0, None, None, None, 1)  # 9:5, two games to come: 9:9 is possible
    assert score(level) == (9, 5)
    assert not over(level)


def test_a_game_is_played_once_and_in_its_round():
    now = play(tie(), 0)
    refused(r"22\.4.*1 against 1", record, now, (1, 1), 0)
    refused(r"22\.4.*1 against 2", record, now, (1, 2), 0)
    assert over(now) is False


@pytest.mark.parametrize(
    ("teams", "rounds", "ruleset", "why"),
    [
        ((HOME, Team("Guests", ("B1", "A1", "B3"))), 3, "lnf-2008", "A1 is listed twice"),
        ((HOME, Team("Guests", ("B1", "B2"))), 2, "lnf-2008", "3 players against 2"),
        ((Team("Home", ()), Team("Guests", ())), 1, "lnf-2008", "0 players against 0"),
        ((HOME, GUESTS), 0, "lnf-2008", "0 rounds"),
        ((HOME, GUESTS), 3, "club", "unknown ruleset 'club'"),
    ],
)
def test_a_tie_that_cannot_be_played(teams, rounds, ruleset, why):
    with pytest.raises(InputUnusable, match=why):
        start_tie(teams, rounds, ruleset)


@given(st.lists(st.tuples(st.sampled_from([0, 1]), st.integers(1, 3), st.sampled_from([*HOME.players, *HOME.reserves, *GUESTS.reserves]),
                          st.sampled_from([0, 1, None])), max_size=30))  # fmt: skip
def test_whatever_is_announced_a_reserve_has_one_number_and_a_player_the_own(changes):
    now = tie(play_all=True)
    for team, number, player, winner in changes:
        with contextlib.suppress(InputUnusable):
            now = substitute(now, team, number, player)
        now = play(now, winner) if to_play(now) else now
        for n, of in enumerate((HOME, GUESTS)):
            for name in (*of.players, *of.reserves):
                numbers = {k for order in now.orders for k, who in enumerate(order[n], 1) if who == name}
                assert len(numbers) <= 1
                if name in of.players:
                    assert numbers == {of.players.index(name) + 1}
        assert sum(score(now)) == 2 * len(now.results)
