"""A game without a camera, for fault tests: run as a program it plays into a folder until it has logged the entries asked for.

Log, outbox, referee, rules and publisher are the real ones; only what the camera would have seen is made up.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from device import topics
from device.messaging import Publisher
from device.referee import NewMatch, Referee, messages
from device.storage import MatchLog, Outbox
from device.storage.match_log import read_lines
from rules.facts import Contact, Disc, Entry, Judge, Match, Player, Position, Rest, Stroke, Struck
from rules.fold import State, match_state, start, step

MATCH = Match(
    id="m1",
    ruleset="lnf-2008",
    format="singles",
    sets=5,
    players={"S": Player(name="A", colour="red"), "N": Player(name="B", colour="black")},
    first_turn="S",
)
TABLE = Position(
    discs=[
        Disc(id="r1", kind="red", x_mm=0.0, y_mm=485.0),
        Disc(id="b1", kind="black", x_mm=0.0, y_mm=-485.0),
        Disc(id="striker", kind="striker", x_mm=0.0, y_mm=-440.0),
    ]
)
STROKE = Entry(
    stroke=Stroke(side="S", before=TABLE, timeline=[Struck(t=0.0), Contact(t=0.2, discs=["striker", "r1"]), Rest(t=1.0)], after=TABLE)
)


def entry(number: int) -> Entry:
    """The n-th entry of the game: each fifth is a judge's, with nothing to forget."""
    return Entry(judge=Judge(command="debt_forgotten", side="N")) if number % 5 == 0 else STROKE


@contextmanager
def table(log_path: Path, outbox: Outbox) -> Iterator[Referee]:
    """A referee over a log that is new or goes on."""
    log, recovered = MatchLog.open(log_path)
    with log:
        referee = Referee(log, recovered, outbox, lambda *_: None, NewMatch(), lambda *_: None)
        referee.begin(MATCH, resume=True)
        yield referee


def folded(log_path: Path) -> tuple[State, dict[int, tuple[str, str]]]:
    """What the fold of a log says: the state, and by seq the message that every subscriber must know."""
    state: State | None = None
    known: dict[int, tuple[str, str]] = {}
    for line in read_lines(log_path).lines:
        if line.value.match is not None:
            state = start(line.value.match)
            continue
        assert state is not None
        state, ruling = step(state, line.value)
        for topic, payload in messages(line, ruling):
            assert isinstance(topic, topics.Topic)
            seq = len(known) + 1
            known[seq] = (topics.path("t1", topic), as_heard({"seq": seq} | dict(payload)))
    assert state is not None
    return state, known


def as_heard(payload: Any) -> str:
    """One spelling for equal JSON."""
    return json.dumps(msgspec.to_builtins(payload), sort_keys=True)


def play(folder: Path, url: str, entries: int, pause_s: float) -> None:
    """Log entries up to the number asked for, and stay until the broker has everything."""
    log = folder / "match.jsonl"
    with Outbox.open(folder / "outbox") as outbox, table(log, outbox) as referee, Publisher(url, "t1", outbox) as publisher:
        for number in range(len(read_lines(log).lines), entries + 1):
            referee.enter(entry(number))
            assert referee.state is not None
            publisher.publish_state(topics.MATCH, match_state(referee.state))
            time.sleep(pause_s)
        if not publisher.wait_drained(20.0):
            raise SystemExit(f"not drained: {publisher.connection}")


if __name__ == "__main__":
    play(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
