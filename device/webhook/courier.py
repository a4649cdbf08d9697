"""Takes news from their outbox to the receiver, in order, again and again until each is taken; in a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from device.messaging.backoff import Backoff
from device.storage.outbox import Item, Outbox
from device.webhook.aside import Aside
from device.webhook.desk import BEGIN
from device.webhook.request import Refused, Untellable
from rules.errors import NovussError

_log = logging.getLogger(__name__)

Post = Callable[[Mapping[str, Any], str], None]
# Seconds: soon after a hiccup, every five minutes through a night in which the club's machine is off.
FIRST_S: Final = 1.0
LONGEST_S: Final = 300.0
# Tries of a piece of news that the receiver refuses for what it is, or that the template cannot tell, before those behind it go first: it
# may be a fault being mended.
TRIES: Final = 5
CLOSE_S: Final = 1.0


class Courier:
    """A context: inside it, what is put into `outbox` reaches the receiver."""

    def __init__(self, outbox: Outbox, post: Post, folder: Path, backoff: Backoff | None = None) -> None:
        self._outbox = outbox
        self._post = post
        self._aside = Aside(folder)
        self._backoff = backoff or Backoff(FIRST_S, LONGEST_S)
        self._changed = threading.Condition()
        self._closing = False
        self._problem: str | None = None
        self._refused = 0
        self._tries = 0  # of the one at hand, one after another, in which it was to blame itself
        self._thread = threading.Thread(target=self._run, name="webhook", daemon=True)
        outbox.on_put = self._wake

    def __enter__(self) -> Courier:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        # One that is being sent may take longer; it is sent again, under the same identity, at the next start.
        self._thread.join(CLOSE_S)

    def figures(self) -> dict[str, object]:
        """For the health topic."""
        return {"waiting": self._outbox.waiting, "refused": self._refused, "problem": self._problem}

    def _run(self) -> None:
        while not self._closing:
            try:
                self._work()
            except Exception as error:
                # A fault of ours must not silence the table: reported in full, then tried again.
                _log.exception("webhook failed")
                self._problem = f"a fault of novuss itself: {error}"
                self._pause()

    def _work(self) -> None:
        item = next(iter(self._outbox.read(self._outbox.sent_seq + 1, 1)), None)
        if item is None:
            with self._changed:
                self._changed.wait_for(lambda: self._closing or self._outbox.waiting > 0)
            return
        try:
            self._deliver(item)
        except NovussError as error:
            self._tries = self._tries + 1 if isinstance(error, Refused | Untellable) else 0
            if str(error) != self._problem:
                _log.warning("webhook: %s; it is tried again", error)
            self._problem = str(error)
            if self._tries < TRIES or not self._set_aside(item, str(error)):
                self._pause()
        else:
            self._problem = None
            self._taken(item)

    def _pause(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._closing, self._backoff.next_s())

    def _deliver(self, item: Item) -> None:
        if item.topic != BEGIN:
            news = msgspec.json.decode(item.payload, type=dict[str, Any])
            # A seq alone comes again when the outbox is lost, and the receiver would take the new one for done.
            number = f"{self._outbox.epoch}-{item.seq}" if self._outbox.epoch else f"{item.seq}"
            self._post(news, f"{news['table']}/{news['match_id']}/{number}")

    def _taken(self, item: Item) -> None:
        self._tries = 0
        self._backoff.reset()
        self._outbox.mark_sent(item.seq)

    def _set_aside(self, item: Item, why: str) -> bool:
        try:
            self._aside.keep(item.payload, why)
        except NovussError as error:
            _log.warning("webhook: %s", error)
            return False
        self._refused += 1
        _log.warning("webhook: given up after %d tries and set aside in %s: %s", TRIES, self._aside.path, why)
        self._taken(item)
        return True

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()
