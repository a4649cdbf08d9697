"""The referee keeps what it ruled: log, outbox and retained state are one, whenever the process ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from device import topics
from device.messaging.judge import JudgeRequest
from device.referee import NewMatch, Referee
from device.storage.match_log import MatchLog, read_lines
from device.storage.outbox import Outbox
from rules.errors import EntryUnusable
from rules.facts import (
    Contact,
    Disc,
    Entry,
    Incident,
    Judge,
    Lifted,
    Match,
    Player,
    Position,
    Rest,
    SeenDisc,
    SeenDiscs,
    Stroke,
    Struck,
    Touched,
)
from rules.orders import Order, SetClock, StartMatch
from rules.ruling import Ruling
from rules.table import Side
from tests.device.test_start_position import row

MATCH = Match(
    id="m1",
    ruleset="lnf-2008",
    format="singles",
    sets=3,
    players={"S": Player(name="Anna", colour="red"), "N": Player(name="Bruno", colour="black")},
    first_turn="S",
)
DISCS = [
    Disc(id="r1", kind="red", x_mm=-150, y_mm=200),
    Disc(id="r2", kind="red", x_mm=200, y_mm=80),
    Disc(id="b1", kind="black", x_mm=60, y_mm=250),
    Disc(id="b2", kind="black", x_mm=-260, y_mm=-120),
]


def stroke(side: Side = "S", first: str = "r1") -> Stroke:
    """A stroke that touches one piece first and pockets nothing."""
    striker = Disc(id="striker", kind="striker", x_mm=0, y_mm=-430 if side == "S" else 430)
    return Stroke(
        side=side,
        before=Position(discs=[*DISCS, striker]),
        timeline=[Struck(t=0.0), Contact(t=0.2, discs=["striker", first]), Rest(t=1.5)],
        after=Position(discs=[*DISCS, Disc(id="striker", kind="striker", x_mm=10, y_mm=0)]),
    )


class Table:
    """A referee with real files in a folder, and what it published."""

    def __init__(self, folder: Path, waiting_limit: int = 1000) -> None:
        self.state: dict[str, Any] = {}
        self.clock: dict[str, Any] = {}
        self.rulings: list[Ruling] = []
        self.log, recovered = MatchLog.open(folder / "log.jsonl")
        self.outbox = Outbox.open(folder / "outbox", waiting_limit=waiting_limit)
        self.referee = Referee(self.log, recovered, self.outbox, self._publish, NewMatch(), lambda ruling, _: self.rulings.append(ruling))

    def _publish(self, topic: topics.Topic, payload: Any) -> None:
        if topic is topics.MATCH:
            self.state = msgspec.to_builtins(payload)
        if topic is topics.CLOCK:
            self.clock = msgspec.to_builtins(payload)

    def sent(self) -> list[tuple[int, str, dict[str, Any]]]:
        return [(i.seq, i.topic, msgspec.json.decode(i.payload)) for i in self.outbox.read(1, 1000)]

    def close(self) -> None:
        self.log.close()
        self.outbox.close()


def test_a_stroke_becomes_a_ruling_in_log_outbox_and_state(tmp_path: Path) -> None:
    table = Table(tmp_path)
    table.referee.begin(MATCH, resume=False)
    table.referee.enter(Entry(stroke=stroke()))
    assert [(seq, topic) for seq, topic, _ in table.sent()] == [(1, "stroke"), (2, "ruling")]
    ruling = table.sent()[1][2]
    assert (ruling["match_id"], ruling["entry"], ruling["lawful"], ruling["turn"], ruling["next"]) == ("m1", 1, True, "passes", "N")
    assert ruling["evidence"] is None
    assert ruling["evidence_missing"]
    assert table.state["turn"] == "N"
    assert table.state["last_ruling"]["entry"] == 1
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) == 2
    table.close()


def test_a_restart_knows_all_and_sends_nothing_under_a_new_seq(tmp_path: Path) -> None:
    first = Table(tmp_path)
    first.referee.begin(MATCH, resume=True)
    first.referee.enter(Entry(stroke=stroke()))
    sent, state = first.sent(), first.state
    first.close()
    again = Table(tmp_path)
    again.referee.begin(MATCH, resume=True)
    assert again.sent() == sent
    assert again.state == state
    again.referee.enter(Entry(stroke=stroke("N", "b1")))
    assert [seq for seq, _, _ in again.sent()] == [1, 2, 3, 4]
    again.close()


def test_what_a_crash_kept_from_the_outbox_is_put_there_once(tmp_path: Path) -> None:
    table = Table(tmp_path)
    table.referee.begin(MATCH, resume=False)
    table.referee.enter(Entry(stroke=stroke()))
    whole = table.sent()
    table.close()
    # The power went between the log's fsync and the outbox's: the log has the stroke, the outbox nothing.
    for path in (tmp_path / "outbox").iterdir():
        path.unlink()
    again = Table(tmp_path)
    assert again.sent() == whole
    again.close()


def test_a_full_outbox_holds_rulings_back_until_there_is_room(tmp_path: Path) -> None:
    table = Table(tmp_path, waiting_limit=2)
    table.referee.begin(MATCH, resume=False)
    table.referee.enter(Entry(stroke=stroke()))
    table.referee.enter(Entry(stroke=stroke("N", "b1")))
    assert not table.referee.retry()
    assert [seq for seq, _, _ in table.sent()] == [1, 2]
    table.outbox.mark_sent(2)
    assert table.referee.retry()
    assert [(seq, payload["entry"]) for seq, _, payload in table.sent()] == [(1, 1), (2, 1), (3, 2), (4, 2)]
    table.close()


def test_facts_that_cannot_be_ruled_on_change_nothing(tmp_path: Path) -> None:
    table = Table(tmp_path)
    table.referee.begin(MATCH, resume=False)
    bad = msgspec.structs.replace(stroke(), timeline=[Struck(t=1.0), Contact(t=0.5, discs=["striker", "r1"])])
    with pytest.raises(EntryUnusable):
        table.referee.enter(Entry(stroke=bad))
    assert table.sent() == []
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) == 1
    table.close()


def test_hands_that_put_back_what_the_ruling_asks_are_no_incident(tmp_path: Path) -> None:
    table = Table(tmp_path)
    table.referee.begin(MATCH, resume=False)
    over = msgspec.structs.replace(
        stroke(first="b2"),
        timeline=[Struck(t=0.0), Contact(t=0.2, discs=["striker", "b2"]), Rest(t=1.5)],
        after=Position(discs=[*DISCS[:3], Disc(id="b2", kind="black", x_mm=0, y_mm=440)]),
    )
    ruling = table.referee.enter(Entry(stroke=over))
    assert ruling is not None
    assert [r.id for r in ruling.restore or []] == ["b2"]
    assert table.referee.enter(Entry(incident=Incident(side="S", timeline=[Lifted(t=3.0, disc="b2", side="S")]))) is None
    touched = Incident(side="S", timeline=[Touched(t=4.0, discs=["r1"], side="S", by="hand")])
    assert table.referee.enter(Entry(incident=touched)) is not None
    table.close()


def test_a_start_position_seen_twice_begins_a_match(tmp_path: Path) -> None:
    table = Table(tmp_path)
    start = SeenDiscs(discs=[*row("N", "red"), *row("S", "black")])
    table.referee.consider_start(start)
    table.referee.consider_start(SeenDiscs(discs=[SeenDisc(kind="red", x_mm=0, y_mm=0, sigma_mm=0.1)]))
    table.referee.consider_start(start)
    assert not table.referee.has_match
    table.referee.consider_start(start)
    assert table.referee.has_match
    assert table.state["players"]["S"]["colour"] == "red"
    table.close()


def test_a_judge_is_answered_with_entry_and_ruling_or_with_the_reason(tmp_path: Path) -> None:
    table = Table(tmp_path)
    answers: list[Any] = []
    command = Judge(command="warning", side="N", clause="19.1.e")
    table.referee.judge(JudgeRequest(command, None, answers.append))
    table.referee.begin(MATCH, resume=False)
    table.referee.judge(JudgeRequest(command, None, answers.append))
    table.referee.judge(JudgeRequest(Judge(command="warning", side="W", clause="19.1.e"), None, answers.append))
    table.referee.judge(JudgeRequest(Judge(command="void", entry=99), None, answers.append))
    assert [a["accepted"] for a in answers] == [False, True, False, False], "a refused command is never answered as accepted"
    assert "99" in answers[3]["error"]
    assert answers[1]["entry"] == 1
    assert answers[1]["ruling"]["warnings"]["N"] == 1
    table.close()


def asked(table: Table, command: Order, *, preview: bool = False) -> dict[str, Any]:
    answers: list[Any] = []
    table.referee.judge(JudgeRequest(command, None, answers.append, preview=preview))
    return dict(answers[0])


def test_a_preview_tells_both_states_and_keeps_nothing(tmp_path: Path) -> None:
    table = Table(tmp_path)
    table.referee.begin(MATCH, resume=False)
    table.referee.enter(Entry(stroke=stroke()))
    sent = table.sent()
    found = asked(table, Judge(command="void", entry=1), preview=True)
    assert (found["before"]["turn"], found["after"]["turn"], found["ruling"]["refolded"][0]["entry"]) == ("N", "S", 1)
    assert "99" in asked(table, Judge(command="void", entry=99), preview=True)["error"]
    assert table.sent() == sent
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) == 2
    table.close()


def test_a_judge_starts_a_match_but_not_over_one_that_is_played(tmp_path: Path) -> None:
    table = Table(tmp_path)
    begin = StartMatch(command="start_match", match=MATCH, by="Zane")
    assert asked(table, begin, preview=True)["accepted"]
    assert not table.referee.has_match
    assert asked(table, begin)["match"]["by"] == "Zane"
    table.referee.enter(Entry(stroke=stroke()))
    assert "end that match first" in asked(table, begin)["error"]
    nobody = msgspec.structs.replace(MATCH, ruleset="mine")
    assert "unknown ruleset" in asked(table, msgspec.structs.replace(begin, match=nobody, force=True))["error"]
    assert asked(table, msgspec.structs.replace(begin, force=True))["accepted"]
    assert [line.value.match.by for line in read_lines(tmp_path / "log.jsonl").lines if line.value.match] == ["Zane", "Zane"]
    table.close()


def test_the_clock_runs_until_a_stroke_is_made(tmp_path: Path) -> None:
    table = Table(tmp_path)
    table.referee.begin(MATCH, resume=False)
    assert table.clock["run"] is False
    assert asked(table, SetClock(command="clock", span="stroke", by="Zane"))["accepted"]
    assert (table.clock["run"], table.clock["limit_s"], table.clock["by"]) == (True, 30.0, "Zane")
    asked(table, SetClock(command="clock", span="between", by="Zane"))
    asked(table, SetClock(command="clock", span="stroke"))
    assert table.clock["span"] == "between", "the monitor's own clock does not take a judge's away"
    table.referee.enter(Entry(stroke=stroke()))
    assert table.clock["run"] is False
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) == 2, "the clock is no entry"
    table.close()


def test_a_judge_s_command_is_told_with_its_ruling(tmp_path: Path) -> None:
    table = Table(tmp_path)
    table.referee.begin(MATCH, resume=False)
    asked(table, Judge(command="warning", side="N", clause="19.1.e", by="Zane"))
    told = table.sent()[0][2]
    assert told["judge"] == {"command": "warning", "side": "N", "clause": "19.1.e", "by": "Zane"}
    assert told["at"]
    table.close()
