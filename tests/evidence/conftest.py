"""A table that films a stroke: the real recorder, a real broker, a real board."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from device import topics
from device.evidence import Shelf
from device.evidence.clerk import Clerk
from device.evidence.gallery import ShelfGallery
from device.evidence.recorder import Recorder
from device.messaging.judge import JudgeRequest
from device.messaging.publisher import Publisher
from device.referee import NewMatch, Referee
from device.storage.match_log import MatchLog
from device.storage.outbox import Outbox
from rules.facts import Entry
from scoreboard.server import Scoreboard
from tests.evidence import filmed
from tests.parts.brokers import Mosquitto, free_port, wait_until

PASSWORD = "linden tree"


class FilmedTable:
    """What `novuss watch` runs, its camera replaced by frames that are drawn."""

    def __init__(self, broker: Mosquitto, folder: Path) -> None:
        self.folder = folder / "evidence"
        self.shelf = Shelf(self.folder, floor_mb=0)
        self.log, recovered = MatchLog.open(folder / "log.jsonl")
        self.outbox = Outbox.open(folder / "outbox")
        self.publisher = Publisher(broker.url, "t1", self.outbox, on_judge=self._judge)
        self.recorder = Recorder(self.shelf, filmed.camera(), "t1", self.publisher.publish_state, patient=True)
        self.referee = Referee(
            self.log, recovered, self.outbox, self.publisher.publish_state, NewMatch(), lambda *_: None, Clerk(self.recorder)
        )
        self._one_at_a_time = threading.Lock()
        self.recorder.start()
        self.publisher.start()
        assert self.publisher.wait_connected(8)
        with self._one_at_a_time:
            self.referee.begin(filmed.MATCH, resume=False)

    def _judge(self, request: JudgeRequest) -> None:
        with self._one_at_a_time:
            self.referee.judge(request)

    def film(self, image: Any) -> None:
        for frame, moving, busy in filmed.frames(image, 6.8, first_s=2.0):
            self.recorder.offer(frame, moving, busy=busy)

    def rule(self, fact: Any = None) -> str | None:
        """Rule on the stroke; the name of its evidence."""
        with self._one_at_a_time:
            assert self.referee.enter(Entry(stroke=fact or filmed.stroke())) is not None
        return msgspec.json.decode((self.log.path).read_bytes().splitlines()[-1]).get("evidence")

    def seen(self) -> None:
        from rules.facts import SeenDisc, SeenDiscs

        discs = [SeenDisc(id=i, kind=kind, x_mm=x, y_mm=y, sigma_mm=0.2) for i, kind, x, y in filmed.DISCS]  # type: ignore[arg-type]
        self.publisher.publish_state(topics.DISCS, SeenDiscs(discs=discs))

    def close(self) -> None:
        self.recorder.close(5.0)
        self.publisher.close()
        self.outbox.close()
        self.log.close()


@pytest.fixture(scope="session")
def image() -> Any:
    return filmed.picture(filmed.CONTACT_S)


@pytest.fixture
def table(mosquitto: Mosquitto, tmp_path: Path) -> Iterator[FilmedTable]:
    table = FilmedTable(mosquitto, tmp_path)
    yield table
    table.close()


@pytest.fixture
def board(mosquitto: Mosquitto, table: FilmedTable) -> Iterator[Scoreboard]:
    board = Scoreboard(mosquitto.url, "t1", port=free_port(), judge_password=PASSWORD, gallery=ShelfGallery(table.folder))
    board.start()
    assert wait_until(lambda: board.is_connected)
    yield board
    board.stop()
