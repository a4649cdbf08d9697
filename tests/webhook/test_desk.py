"""What an entry brings that a club's software wants to hear: told once, over restarts, and taken back when a judge decides otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from device.interface import schema_of
from device.referee import NewMatch, Referee
from device.storage import MatchLog, Outbox
from device.webhook.desk import BEGIN, NewsDesk, open_news
from rules.facts import Entry, Judge
from tests.messaging import game
from tests.parts.json_schema import problems

AWARD = Entry(judge=Judge(command="award_set", side="N"))
END = Entry(judge=Judge(command="award_match", side="N"))


def play(folder: Path, entries: Sequence[Entry], *, tells: bool = True) -> None:
    """One run of a table over the log in `folder`."""
    log, recovered = MatchLog.open(folder / "match.jsonl")
    with log, Outbox.open(folder / "outbox") as outbox, open_news(folder / "webhook") as waiting:
        desk = NewsDesk(waiting, "7") if tells else NewsDesk()
        referee = Referee(log, recovered, outbox, lambda *_: None, NewMatch(), lambda *_: None, news=desk)
        referee.begin(game.MATCH, resume=True)
        for entry in entries:
            referee.enter(entry)


def told(folder: Path) -> list[dict[str, Any]]:
    with open_news(folder / "webhook") as waiting:
        return [msgspec.json.decode(item.payload) for item in waiting.read(1, 1000) if item.topic != BEGIN]


def events(folder: Path) -> list[tuple[str, int]]:
    return [(news["event"], news["entry"]) for news in told(folder)]


def test_sets_and_the_match_are_told_as_they_end(tmp_path: Path) -> None:
    play(tmp_path, [game.STROKE, AWARD, game.STROKE, AWARD, END, game.STROKE])
    assert events(tmp_path) == [("set", 2), ("set", 4), ("match", 5)]
    first, _, last = told(tmp_path)
    assert first["set"]["winner"] == "B"
    assert first["match"]["sets_won"] == {"N": 0, "S": 1}, "sides are changed after a set"
    assert last["match"]["result"]["player"] == "B"
    assert (first["table"], first["match_id"]) == ("7", "m1")


def test_what_is_told_is_what_its_schema_says(tmp_path: Path) -> None:
    play(tmp_path, [AWARD, Entry(judge=Judge(command="void", entry=1)), END])
    assert [event for event, _ in events(tmp_path)] == ["set", "correction", "match"]
    schema = schema_of("News")
    assert [problem for news in told(tmp_path) for problem in problems(news, schema, schema)] == []


def test_restarts_tell_nothing_twice(tmp_path: Path) -> None:
    for entry in (game.STROKE, AWARD, game.STROKE, AWARD):
        play(tmp_path, [entry])
        play(tmp_path, [])
    assert events(tmp_path) == [("set", 2), ("set", 4)]


def test_what_a_crash_kept_from_being_told_is_told_at_the_next_start(tmp_path: Path) -> None:
    play(tmp_path, [AWARD])
    play(tmp_path, [game.STROKE, AWARD], tells=False)
    play(tmp_path, [])
    assert events(tmp_path) == [("set", 1), ("set", 3)]


def test_who_begins_to_listen_hears_nothing_of_what_was_before(tmp_path: Path) -> None:
    play(tmp_path, [AWARD, game.STROKE], tells=False)
    play(tmp_path, [AWARD])
    assert events(tmp_path) == [("set", 3)]


def test_a_disk_that_is_full_at_the_first_start_makes_no_news_of_what_was_before(tmp_path: Path) -> None:
    from rules.errors import StorageFailed

    play(tmp_path, [AWARD, game.STROKE], tells=False)
    log, recovered = MatchLog.open(tmp_path / "match.jsonl")
    with log, Outbox.open(tmp_path / "outbox") as outbox, open_news(tmp_path / "webhook") as waiting:
        put, tries = waiting.put_entry, []

        def full_once(*words: Any) -> tuple[int, ...]:
            tries.append(words)
            if len(tries) == 1:
                raise StorageFailed("no space")
            return put(*words)

        waiting.put_entry = full_once  # type: ignore[method-assign]
        referee = Referee(log, recovered, outbox, lambda *_: None, NewMatch(), lambda *_: None, news=NewsDesk(waiting, "7"))
        referee.begin(game.MATCH, resume=True)
        referee.enter(AWARD)
    assert events(tmp_path) == [("set", 3)]


def test_a_disk_that_is_full_stops_no_ruling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rules.errors import StorageFailed

    def full(*_: object) -> None:
        raise StorageFailed("no space")

    with monkeypatch.context() as patched:
        log, recovered = MatchLog.open(tmp_path / "match.jsonl")
        with log, Outbox.open(tmp_path / "outbox") as outbox, open_news(tmp_path / "webhook") as waiting:
            waiting.put("begin", {})
            patched.setattr(waiting, "put_entry", full)
            referee = Referee(log, recovered, outbox, lambda *_: None, NewMatch(), lambda *_: None, news=NewsDesk(waiting, "7"))
            referee.begin(game.MATCH, resume=True)
            assert referee.enter(AWARD) is not None
    play(tmp_path, [])
    assert events(tmp_path) == [("set", 1)]
