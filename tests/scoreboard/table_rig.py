"""A table without a camera: the real referee with its log, outbox and publisher, fed with strokes by hand."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import msgspec

from device import topics
from device.messaging import JudgeRequest, Publisher
from device.referee import NewMatch, Referee
from device.storage import Outbox
from device.storage.match_log import MatchLog
from rules.facts import Disc, Entry, Match, Picture, SeenDisc, SeenDiscs
from rules.fold import State, match_state
from rules.log import fold_line
from rules.ruling import Ruling
from tests.parts.brokers import Mosquitto


class RealTable:
    """What `novuss watch` runs behind its camera."""

    def __init__(self, broker: Mosquitto, folder: Path, name: str = "t1") -> None:
        self.path = folder / "log.jsonl"
        self._log, recovered = MatchLog.open(self.path)
        self._outbox = Outbox.open(folder / "outbox")
        self._one_at_a_time = threading.Lock()
        self._publisher = Publisher(broker.url, name, self._outbox, on_judge=self._judge)
        self._referee = Referee(self._log, recovered, self._outbox, self._publisher.publish_state, NewMatch(), lambda *_: None)
        self._publisher.start()
        assert self._publisher.wait_connected(8)

    def begin(self, match: Match) -> None:
        with self._one_at_a_time:
            self._referee.begin(match, resume=False)

    def enter(self, entry: dict[str, Any]) -> Ruling:
        with self._one_at_a_time:
            ruling = self._referee.enter(msgspec.convert(entry, Entry))
        assert ruling is not None
        return ruling

    def see(self, discs: list[Disc]) -> None:
        """Publish a live picture."""
        seen = [SeenDisc(kind=d.kind, x_mm=d.x_mm, y_mm=d.y_mm, sigma_mm=0.1, id=d.id) for d in discs]
        self._publisher.publish_state(topics.DISCS, SeenDiscs(discs=seen))

    def show(self, picture: Picture) -> None:
        """Publish what the camera sees."""
        self._publisher.publish_state(topics.PICTURE, picture)

    @property
    def state(self) -> State:
        state = self._referee.state
        assert state is not None
        return state

    def lines(self) -> list[dict[str, Any]]:
        return [msgspec.json.decode(line) for line in self.path.read_bytes().splitlines()]

    def folded(self) -> dict[str, Any]:
        """The state that the log alone leads to."""
        state: State | None = None
        for n, line in enumerate(self.path.read_bytes().splitlines(), 1):
            state, _ = fold_line(state, line, n)
        assert state is not None
        return match_state(state)

    def _judge(self, request: JudgeRequest) -> None:
        with self._one_at_a_time:
            self._referee.judge(request)

    def close(self) -> None:
        self._publisher.close()
        self._outbox.close()
        self._log.close()


def stroke(
    side: str, first: str, y_mm: float = 0.0, left: tuple[str, ...] = ("r1", "r2", "b1", "b2"), fall: tuple[str, ...] = ()
) -> dict[str, Any]:
    """A direct stroke onto `first`, with `left` on the table and `fall` falling; r1 near y = -374.5 may or may not be dark for S."""
    places = {"r1": (200.0, y_mm), "r2": (-250.0, 100.0), "b1": (-200.0, 200.0), "b2": (250.0, 250.0)}
    kinds = {"r": "red", "b": "black"}
    pieces = [{"id": i, "kind": kinds[i[0]], "x_mm": places[i][0], "y_mm": places[i][1], "sigma_mm": 0.3} for i in left]
    striker = {"id": "striker", "kind": "striker", "x_mm": 0.0, "y_mm": -430.0 if side == "S" else 430.0}
    falls = [{"t": 0.5 + n / 10, "event": "pocket", "disc": i, "pocket": "NE"} for n, i in enumerate(fall)]
    timeline = [
        {"t": 0.0, "event": "struck"},
        {"t": 0.2, "event": "contact", "discs": ["striker", first]},
        *falls,
        {"t": 1.5, "event": "rest"},
    ]
    if fall:
        # What falls without having been touched would go back (12.13).
        timeline.insert(2, {"t": 0.3, "event": "contact", "discs": ["striker", *fall]})
    after = [piece for piece in pieces if piece["id"] not in fall]
    return {"stroke": {"side": side, "before": {"discs": [*pieces, striker]}, "timeline": timeline, "after": {"discs": [*after, striker]}}}
