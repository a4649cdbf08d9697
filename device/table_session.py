"""Everything that runs beside the frame path of one table: log, outbox, broker, publisher, board; opened and closed together."""

from __future__ import annotations

import contextlib
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final

from device.interface.home_assistant import announcement
from device.messaging.broker import EmbeddedBroker
from device.messaging.judge import JudgeRequest
from device.messaging.publisher import Publisher
from device.sheet import log_as_html
from device.storage.match_log import MatchLog, Recovered
from device.storage.outbox import Outbox
from device.webhook import Courier, NewsDesk, Receiver, open_news

CONNECT_WAIT_S: Final = 5.0  # a broker on the same network answers in milliseconds; after this, going on beats waiting
DRAIN_WAIT_S: Final = 30.0  # a recording is not done before its rulings are sent


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """Where a table's data lies and who hears of it."""

    table: str
    log: Path
    outbox: Path
    evidence: Path | None = None
    mqtt: str | None = None  # None: the built-in broker
    with_mqtt: bool = True
    with_board: bool = True
    host: str = "127.0.0.1"
    port: int = 8080
    open_browser: bool = False
    home_assistant: bool = False
    receiver: Receiver | None = None


class TableSession:
    """A context: inside it, what is put into `outbox` reaches the broker and the board."""

    log: MatchLog
    recovered: Recovered
    outbox: Outbox
    publisher: Publisher | None
    news: NewsDesk
    courier: Courier | None

    def __init__(self, settings: SessionSettings, on_judge: Callable[[JudgeRequest], None], said: Callable[[str], None]) -> None:
        self._settings = settings
        self._on_judge = on_judge
        self._said = said
        self._open = contextlib.ExitStack()
        self.publisher = None
        self.news, self.courier = NewsDesk(), None

    def __enter__(self) -> TableSession:
        with contextlib.ExitStack() as opened:
            log, self.recovered = MatchLog.open(self._settings.log)
            self.log = opened.enter_context(log)
            self.outbox = opened.enter_context(Outbox.open(self._settings.outbox))
            for damage in (self.recovered.damage, self.outbox.damage):
                if damage is not None:
                    self._said(str(damage))
            self._said(f"match log: {self._settings.log}")
            if self._settings.receiver is not None:
                self._tell(opened, self._settings.receiver)
            if self._settings.with_mqtt:
                self._connect(opened)
            self._open = opened.pop_all()
        return self

    def _tell(self, opened: contextlib.ExitStack, receiver: Receiver) -> None:
        folder = self._settings.outbox / "webhook"
        waiting = opened.enter_context(open_news(folder))
        self.news = NewsDesk(waiting, self._settings.table)
        self.courier = opened.enter_context(Courier(waiting, receiver.post, folder))
        self._said(f"webhook: {receiver.check()}")

    def _connect(self, opened: contextlib.ExitStack) -> None:
        settings = self._settings
        url = settings.mqtt
        if url is None:
            broker = opened.enter_context(EmbeddedBroker())
            url = broker.url
            self._said(f"broker: {broker.public_url} and {broker.websocket_url} (built in)")
        announced = announcement(settings.table) if settings.home_assistant else None
        self.publisher = opened.enter_context(Publisher(url, settings.table, self.outbox, on_judge=self._on_judge, announced=announced))
        if not self.publisher.wait_connected(CONNECT_WAIT_S):
            self._said(f"{self.publisher.connection.reason}; going on, rulings wait in the outbox")
        elif settings.mqtt is not None:
            self._said(f"broker: {self.publisher.connection.broker}")
        if settings.with_board:
            from device.evidence.gallery import ShelfGallery
            from scoreboard.server import Scoreboard

            sheet = partial(log_as_html, settings.log)
            gallery = None if settings.evidence is None else ShelfGallery(settings.evidence)
            board = Scoreboard(url, settings.table, settings.host, settings.port, sheet=sheet, gallery=gallery)
            address = board.start()
            opened.callback(board.stop)
            self._said(f"scoreboard: {address}")
            if settings.open_browser:
                webbrowser.open(address)

    def drain(self) -> int:
        """Wait until everything ruled has been sent; how many messages could not be."""
        if self.publisher is None or self.publisher.wait_drained(DRAIN_WAIT_S):
            return 0
        return self.outbox.waiting

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._open.close()
