"""Judge commands to the table and its answers: published on `judge` with a correlation id, answered on `judge/result`."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from typing import Any, Final

import msgspec

from device import topics
from rules.errors import UNREADABLE
from rules.orders import Order

ANSWER_S: Final = 5.0  # a table that hasn't answered by then is off or out of reach


class CommandFailed(Exception):
    """The command was not obeyed; the text says why, for the judge."""


class Desk:
    """Commands on their way. `send` belongs to the event loop, `answered` to the MQTT thread."""

    def __init__(self, publish: Callable[[topics.Topic, bytes], bool]) -> None:
        self._publish = publish
        self._waiting: dict[str, tuple[asyncio.AbstractEventLoop, asyncio.Future[dict[str, Any]]]] = {}

    async def send(self, order: Order, by: str, *, preview: bool = False) -> dict[str, Any]:
        """Publish an order in somebody's name and wait for the table's answer; with `preview` only ask. Raises `CommandFailed`."""
        correlation = uuid.uuid4().hex
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[dict[str, Any]] = loop.create_future()
        self._waiting[correlation] = (loop, answer)
        record = {key: value for key, value in msgspec.to_builtins(order).items() if value is not None}
        record |= {"by": by, "correlation": correlation} | ({"preview": True} if preview else {})
        try:
            if not self._publish(topics.JUDGE, msgspec.json.encode(record)):
                raise CommandFailed("no connection to the broker")
            found = await asyncio.wait_for(answer, ANSWER_S)
        except TimeoutError:
            raise CommandFailed("the table has not answered; look at the last rulings before sending it again") from None
        finally:
            del self._waiting[correlation]
        if not found.get("accepted"):
            raise CommandFailed(str(found.get("error", "refused")))
        return found

    def answered(self, payload: bytes) -> None:
        """An answer came; those to other clients are not ours."""
        try:
            record = msgspec.json.decode(payload)
        except UNREADABLE:
            return
        if not isinstance(record, dict):
            return
        loop, answer = self._waiting.get(str(record.get("correlation")), (None, None))
        if loop is not None and answer is not None:
            loop.call_soon_threadsafe(_resolve, answer, record)


def _resolve(answer: asyncio.Future[dict[str, Any]], record: dict[str, Any]) -> None:
    if not answer.done():
        answer.set_result(record)
