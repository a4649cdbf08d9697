"""Judge commands from the broker: decoded, told apart from repeats, answered once with their correlation id."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from device.messaging.link import Incoming
from rules.errors import UNREADABLE, NovussError
from rules.facts import Judge
from rules.orders import KINDS, Order

_log = logging.getLogger(__name__)

# Answers kept so that a command that is sent again is answered again, not obeyed again: a tournament day of one table.
REMEMBERED = 1000
# Bytes; the longest command is an override with a whole ruling, about 4 kB.
LONGEST_COMMAND = 64 * 1024

Answer = Mapping[str, Any]
Send = Callable[[bytes, bytes | None], None]


class JudgeRequest:
    """One command and the way to answer it, at once or later, from any thread; only the first answer counts.

    With `preview` it is only asked what the command would do.
    """

    def __init__(self, command: Order, correlation: str | None, answer: Callable[[Answer], None], *, preview: bool = False) -> None:
        self.command = command
        self.correlation = correlation
        self.preview = preview
        self._answer = answer

    def accept(self, **details: Any) -> None:  # noqa: ANN401 - whatever the answer's JSON is to carry
        """The command was logged; `details` (entry, ruling ...) go into the answer."""
        self._answer({"accepted": True} | details)

    def refuse(self, why: str) -> None:
        """The command was not obeyed."""
        self._answer({"accepted": False, "error": why})


class JudgeDesk:
    """Takes `judge` messages, hands valid new ones to `handler`, and sends the answers out by `send(payload, correlation)`."""

    def __init__(self, handler: Callable[[JudgeRequest], None], send: Send) -> None:
        self._handler = handler
        self._send = send
        # None while a command is being worked on.
        self._answers: OrderedDict[bytes, bytes | None] = OrderedDict()

    def receive(self, message: Incoming) -> None:
        """Handle one message; a handler that raises becomes a refusal, never an end of the connection."""
        try:
            correlation = message.correlation or _correlation_in(message.payload)
            if message.retained:
                # A retained command would be obeyed again at each start.
                raise _Refused("retained commands are not obeyed; send it without the retain flag")
            if correlation is not None and correlation in self._answers:
                if (known := self._answers[correlation]) is not None:
                    self._send(known, message.correlation)
                return
            command, preview = _decoded(message.payload)
        except _Refused as refusal:
            self._reply(None, message.correlation, {"accepted": False, "error": str(refusal)})
            return
        if correlation is not None:
            self._answers[correlation] = None
            if len(self._answers) > REMEMBERED:
                self._answers.popitem(last=False)
        answer = _once(lambda answer: self._reply(correlation, message.correlation, answer))
        request = JudgeRequest(command, _text(correlation), answer, preview=preview)
        try:
            self._handler(request)
        except NovussError as error:
            request.refuse(str(error))
        except Exception:
            _log.exception("a judge's command failed: %s", command)
            request.refuse("a fault of novuss itself; its journal has the details")

    def _reply(self, correlation: bytes | None, property_data: bytes | None, answer: Answer) -> None:
        payload = {"schema": "novuss.judge_result/1", "correlation": _text(correlation or property_data)} | dict(answer)
        encoded = msgspec.json.encode(payload)
        if correlation is not None and correlation in self._answers:
            self._answers[correlation] = encoded
        self._send(encoded, property_data)


class _Refused(NovussError):
    """The message is no command to obey."""


class _Envelope(msgspec.Struct, frozen=True):
    command: str = ""
    preview: bool = False


class _Correlated(msgspec.Struct, frozen=True):
    correlation: str | None = None


def _correlation_in(payload: bytes) -> bytes | None:
    """The MQTT 3.1.1 way: a field of the payload."""
    if len(payload) > LONGEST_COMMAND:
        raise _Refused(f"a command is at most {LONGEST_COMMAND} bytes long")
    try:
        found = msgspec.json.decode(payload, type=_Correlated).correlation
    except UNREADABLE:
        return None
    return found.encode() if found is not None else None


def _decoded(payload: bytes) -> tuple[Order, bool]:
    if len(payload) > LONGEST_COMMAND:
        raise _Refused(f"a command is at most {LONGEST_COMMAND} bytes long")
    try:
        envelope = msgspec.json.decode(payload, type=_Envelope)
        return msgspec.json.decode(payload, type=KINDS.get(envelope.command, Judge)), envelope.preview
    except UNREADABLE as error:
        raise _Refused(f"no judge command: {error}") from error


def _text(correlation: bytes | None) -> str | None:
    return None if correlation is None else correlation.decode(errors="replace")


def _once(answer: Callable[[Answer], None]) -> Callable[[Answer], None]:
    pending = [answer]

    def first(value: Answer) -> None:
        # pop() is one step for the interpreter: of two threads answering, one finds it empty.
        try:
            pending.pop()(value)
        except IndexError:
            _log.warning("a judge's command was answered twice; the second answer is dropped: %s", value)

    return first
