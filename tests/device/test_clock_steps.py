"""Wall time stepped by up to twelve hours in mid-game, as NTP does on a machine without a battery clock: only dates may differ."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from device import health
from device.clock import WallTime
from device.messaging.judge import JudgeRequest
from device.referee import NewMatch, Referee
from device.storage.match_log import MatchLog, read_lines
from device.storage.outbox import Outbox
from rules.facts import Entry, Judge, SeenDiscs
from rules.orders import SetClock
from rules.ruling import Ruling
from rules.start_position import colours_at_start
from tests.device.test_referee import MATCH, stroke
from tests.device.test_start_position import STRIKER, row

ROOT = Path(__file__).parents[2]
ROOMS = ("rules", "calibration", "vision", "device", "scoreboard", "virtual_table")
ENTRIES = 24
HALF_A_DAY = timedelta(hours=12)
# Where wall time is read, and why it may be: everything else orders and measures by monotonic or the sensor's time.
MAY_ASK = {
    "device/clock.py": "the one place for people's time",
    "device/health.py": "age of a calibration, None where it cannot be",
    "device/commands/watch.py": "seed and name of a virtual match",
    "calibration/find.py": "date of a calibration",
    "scoreboard/judge_pages.py": "name of a match, with a random part",
    "scoreboard/journal.py": "dates of what judges did",
    "scoreboard/store.py": "age of a retained clock at a page's first sight of it",
}
WALL = {("time", "time"), ("time", "time_ns"), ("datetime", "now"), ("datetime", "utcnow"), ("datetime", "today"), ("date", "today")}


def steady() -> Iterator[timedelta]:
    return itertools.repeat(timedelta())


def stepped(pattern: tuple[int, ...]) -> Callable[[], Iterator[timedelta]]:
    def steps() -> Iterator[timedelta]:
        for sign in itertools.cycle(pattern):
            yield sign * HALF_A_DAY

    return steps


STEPS = {
    "forward once": stepped((0,) * 9 + (1,) * 1000),
    "back once": stepped((0,) * 9 + (-1,) * 1000),
    "to and fro": stepped((0, 1, -1, 1, 0, -1)),
}


class Game:
    """A game under a wall clock that is stepped while it is read."""

    def __init__(self, folder: Path, steps: Callable[[], Iterator[timedelta]], patch: pytest.MonkeyPatch) -> None:
        self._offsets = steps()
        self._reads = 0
        self.log = folder / "match.jsonl"
        self.outbox = folder / "outbox"
        self.published: list[tuple[str, Any]] = []
        self.rulings: list[Ruling] = []
        patch.setattr("device.referee.wall_time", self.wall)

    def wall(self) -> WallTime:
        self._reads += 1
        moment = datetime(2026, 5, 1, 23, 59, 50, tzinfo=UTC) + timedelta(seconds=self._reads) + next(self._offsets)
        return WallTime(moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"), self._reads % 2 == 0)

    def play(self, *, restart_after: int = 0) -> Game:
        self._run(0, restart_after or ENTRIES)
        if restart_after:
            self._run(restart_after, ENTRIES)
        return self

    def _run(self, first: int, end: int) -> None:
        log, recovered = MatchLog.open(self.log, self.wall)
        with log, Outbox.open(self.outbox) as outbox:
            referee = Referee(
                log,
                recovered,
                outbox,
                lambda topic, value: self.published.append((topic.name, _undated(msgspec.to_builtins(value)))),
                NewMatch(),
                lambda ruling, _: self.rulings.append(ruling),
            )
            referee.begin(MATCH, resume=True)
            for number in range(first, end):
                referee.judge(JudgeRequest(SetClock(command="clock", span="stroke", by="judge"), None, lambda _: None))
                referee.enter(Entry(stroke=stroke("S" if number % 2 == 0 else "N", "r1" if number % 3 else "b1")))
            self.sent = [(item.seq, item.topic, _undated(msgspec.json.decode(item.payload))) for item in outbox.read(1, 1000)]


def _undated(value: object) -> object:
    """Without the dates that people read."""
    if isinstance(value, dict):
        return {key: _undated(inner) for key, inner in value.items() if key not in {"at", "clock_synchronised"}}
    return [_undated(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("restart_after", [0, 11])
@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_a_stepped_clock_changes_no_ruling_no_order_and_no_state(
    steps: Callable[[], Iterator[timedelta]], restart_after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = []
    for name, offsets in (("right", steady), ("stepped", steps)):
        (tmp_path / name).mkdir()
        games.append(Game(tmp_path / name, offsets, monkeypatch).play(restart_after=restart_after))
    right, wrong = games
    assert len(right.rulings) == ENTRIES
    assert wrong.rulings == right.rulings
    assert wrong.published == right.published
    assert wrong.sent == right.sent
    assert [seq for seq, _, _ in wrong.sent] == sorted({seq for seq, _, _ in wrong.sent})
    lines = read_lines(wrong.log).lines
    assert [line.entry for line in lines] == list(range(ENTRIES + 1))
    assert sorted(line.at or "" for line in lines) != [line.at for line in lines] or steps is STEPS["forward once"], "the clock was stepped"


def test_two_matches_at_the_same_wall_time_have_two_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moment = WallTime("2026-05-01T12:00:00.000Z", synchronised=False)
    monkeypatch.setattr("device.referee.wall_time", lambda: moment)
    seen = SeenDiscs(discs=[*row("N", "red"), *row("S", "black"), STRIKER])
    assert colours_at_start(seen.discs)
    log, recovered = MatchLog.open(tmp_path / "log.jsonl", lambda: moment)
    with log, Outbox.open(tmp_path / "outbox") as outbox:
        referee = Referee(log, recovered, outbox, lambda *_: None, NewMatch(), lambda *_: None)
        for _ in range(2):
            referee.consider_start(seen)
            referee.consider_start(seen)
            referee.enter(Entry(judge=Judge(command="end_match")))
    names = [line.match_id for line in read_lines(tmp_path / "log.jsonl").lines if line.value.match is not None]
    assert len(names) == len(set(names)) == 2


def test_the_age_of_a_calibration_from_the_future_says_nothing() -> None:
    assert health.age_s((datetime.now(UTC) + HALF_A_DAY).isoformat()) is None
    assert health.age_s((datetime.now(UTC) - HALF_A_DAY).isoformat()) == pytest.approx(12 * 3600, abs=60)


def test_nothing_but_what_is_listed_asks_for_wall_time() -> None:
    asking = set()
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and (node.value.id, node.attr) in WALL:
                    asking.add(str(path.relative_to(ROOT)))
    assert asking == MAY_ASK.keys()
