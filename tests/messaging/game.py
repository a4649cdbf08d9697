"""A game without a camera, for fault tests: run as a program it plays into a folder until it has logged the entries asked for.

Its rulings are a pure function of the log's lines, like the real ones, so that a restart must give the same messages again.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from device import topics
from device.messaging import Publisher
from device.storage import Ledger, LogLine, MatchLog, Outbox
from device.storage.outbox import Message
from rules.facts import Entry, Judge, Match, Player, Position, Stroke

MATCH = Entry(
    match=Match(
        id="m1",
        ruleset="lnf-2008",
        format="singles",
        sets=5,
        players={"S": Player(name="A", colour="red"), "N": Player(name="B", colour="black")},
        first_turn="S",
    )
)
STROKE = Entry(stroke=Stroke(side="S", before=Position(), timeline=[], after=Position()))
WARNING = Entry(judge=Judge(command="warning", side="N"))


def rule(line: LogLine) -> list[Message]:
    """Two messages for a stroke, one for a judge's entry, none for a match."""
    if line.value.match is not None:
        return []
    common: dict[str, Any] = {"match_id": line.match_id, "at": line.at, "entry": line.entry}
    ruling: Message = (topics.RULING, common | {"kind": "ruling"})
    return [ruling] if line.value.stroke is None else [(topics.STROKE, common | {"kind": "stroke"}), ruling]


def entry(number: int) -> Entry:
    """The n-th entry of the game: each fifth is a judge's."""
    return WARNING if number % 5 == 0 else STROKE


def play(folder: Path, url: str, entries: int, pause_s: float) -> None:
    """Log entries up to the number asked for, and stay until the broker has everything."""
    log, recovered = MatchLog.open(folder / "match.jsonl")
    with log, Outbox.open(folder / "outbox") as outbox:
        ledger = Ledger(log, outbox, rule)
        ledger.resume(recovered.lines)
        with Publisher(url, "t1", outbox) as publisher:
            if not recovered.lines:
                ledger.record(MATCH)
            for number in range(max(len(recovered.lines), 1), entries + 1):
                ledger.record(entry(number))
                publisher.publish_state(topics.DISCS, {"entry": number})
                time.sleep(pause_s)
            if not publisher.wait_drained(20.0):
                raise SystemExit(f"not drained: {publisher.connection}")


if __name__ == "__main__":
    play(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
