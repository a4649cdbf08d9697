"""The board against the rule book itself: rulings as `rules.fold` makes them, and a judge's work that folds to the same state."""

from __future__ import annotations

import http.client
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest

from device import topics
from rules.facts import Entry, Judge
from rules.fold import State, match_state, start, step
from scoreboard.server import Scoreboard
from scoreboard.state import Snapshot, apply
from scoreboard.view import section_view
from scoreboard.words import LANGS
from tests.parts.brokers import Mosquitto, free_port
from tests.scoreboard.board_rig import Table, wait_until

CASES = Path(__file__).parents[3] / "shared" / "bench" / "rule_cases.jsonl"
MATCH: dict[str, Any] = {
    "match": {
        "id": "day", "ruleset": "lnf-2008", "format": "singles", "sets": 3, "first_turn": "S",
        "players": {"S": {"name": "Anna", "colour": "red"}, "N": {"name": "Berta", "colour": "black"}},
    }
}  # fmt: skip
PASSWORD = "kija"


def stroke(side: str, first: str, y_mm: float = 0.0) -> dict[str, Any]:
    """A direct stroke onto `first`, a piece at x = 200; near y = -374.5 nobody can tell whether it is dark for S."""
    discs = [
        {"id": "r1", "kind": "red", "x_mm": 200.0, "y_mm": y_mm, "sigma_mm": 0.3},
        {"id": "r2", "kind": "red", "x_mm": -250.0, "y_mm": 100.0, "sigma_mm": 0.3},
        {"id": "b1", "kind": "black", "x_mm": -200.0, "y_mm": 200.0, "sigma_mm": 0.3},
        {"id": "b2", "kind": "black", "x_mm": 250.0, "y_mm": 250.0, "sigma_mm": 0.3},
        {"id": "striker", "kind": "striker", "x_mm": 0.0, "y_mm": -430.0 if side == "S" else 430.0},
    ]
    timeline = [{"t": 0.0, "event": "struck"}, {"t": 0.2, "event": "contact", "discs": ["striker", first]}, {"t": 1.5, "event": "rest"}]
    return {"stroke": {"side": side, "before": {"discs": discs}, "timeline": timeline, "after": {"discs": discs}}}


def record(ruling: Any, seq: int, match_id: str) -> dict[str, Any]:
    return {**msgspec.to_builtins(ruling), "seq": seq, "match_id": match_id}


@pytest.mark.skipif(not CASES.exists(), reason=f"{CASES} is not here")
def test_every_ruling_of_the_rule_cases_can_be_shown() -> None:
    shown = 0
    for line in CASES.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        state: State | None = None
        now = Snapshot()
        for seq, raw in enumerate(case.get("log", [])):
            entry = msgspec.convert(raw, Entry)
            if entry.match is not None:
                state = start(entry.match)
                continue
            assert state is not None
            state, ruling = step(state, entry)
            for topic, value in (("ruling", record(ruling, seq, state.match.id)), ("match", match_state(state))):
                now, _ = apply(now, topic, msgspec.json.encode(value), retained=False, at_s=0.0)
            for lang in LANGS:
                views = {name: section_view(name, now, lang, 0.0) for name in ("match", "ruling", "cards", "discs")}  # type: ignore[arg-type]
                assert views["ruling"]["title"], case["id"]
                assert (views["ruling"]["state"] == "review") == (ruling.status == "review")
            shown += 1
    assert shown > 50


class Referee:
    """What the monitor does with facts and judge commands, without its disk and camera."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.log = [msgspec.convert(MATCH, Entry)]
        first = self.log[0].match
        assert first is not None
        self.state = start(first)
        self._seq = 0
        table.on_judge(self._judge)
        table.send(topics.STATUS, {"state": "online"})
        self._announce(None)

    def enter(self, entry: Entry) -> Any:
        self.state, ruling = step(self.state, entry)
        self.log.append(entry)
        self._seq += 1
        self._table.send(topics.RULING, record(ruling, self._seq, self.state.match.id))
        self._announce(ruling)
        return ruling

    def _announce(self, ruling: Any) -> None:
        last = None if ruling is None else msgspec.to_builtins(ruling)
        self._table.send(topics.MATCH, {**match_state(self.state), "last_ruling": last})

    def _judge(self, command: dict[str, Any]) -> None:
        ruling = self.enter(Entry(judge=msgspec.convert(command, Judge)))
        refused = ruling.refused if isinstance(ruling.refused, str) else None
        answer = {"accepted": refused is None, "entry": ruling.entry, "error": refused}
        self._table.send(topics.JUDGE_RESULT, {"correlation": command["correlation"], **answer})


@pytest.mark.broker
def test_what_a_judge_does_at_the_console_is_what_the_log_folds_to(broker: Mosquitto, table: Table) -> None:
    board = Scoreboard(broker.url, "t1", port=free_port(), judge_password=PASSWORD)
    connection = http.client.HTTPConnection(board.start().removeprefix("http://"), timeout=8)

    def post(path: str, body: str, cookie: str = "") -> http.client.HTTPResponse:
        connection.request("POST", path, body, {"cookie": cookie})
        answer = connection.getresponse()
        answer.read()
        return answer

    try:
        wait_until(lambda: board.is_connected)
        referee = Referee(table)
        cookie = str(post("/judge/sign-in", urlencode({"name": "Zane", "password": PASSWORD})).getheader("set-cookie")).split(";")[0]
        assert referee.enter(msgspec.convert(stroke("S", "r1", y_mm=-374.4), Entry)).status == "review"
        commands = [
            {"command": "resolve", "entry": 1, "assume": {"r1": "light"}},
            {"command": "warning", "side": "S", "clause": "19.1.e"},
            {"command": "override", "entry": 1, "ruling": {"lawful": False, "faults": [{"clause": "17.1.j", "side": "S"}]}},
            {"command": "void", "entry": 4},
            {"command": "award_set", "side": "N"},
        ]
        assert [post("/judge/command", json.dumps(command), cookie).status for command in commands] == [200] * len(commands)
        assert post("/judge/command", json.dumps({"command": "debt_forgotten", "side": "S"}), cookie).status == 409

        first = referee.log[0].match
        assert first is not None
        again = start(first)
        for entry in referee.log[1:]:
            again, _ = step(again, entry)
        assert match_state(again) == match_state(referee.state)
        assert sorted(match_state(again)["sets_won"].values()) == [0, 1]
        assert all(entry.judge is None or entry.judge.by == "Zane" for entry in referee.log)
    finally:
        connection.close()
        board.stop()
