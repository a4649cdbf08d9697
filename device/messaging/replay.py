"""Subscribers that were away ask for what they missed; it comes again under its old seq on `replay/result`."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import msgspec

from device.messaging.link import Incoming
from device.storage.outbox import Outbox
from rules.errors import UNREADABLE

# Messages for one request: enough for a set, little enough that live rulings are never far behind it; the answer says where to go on.
LONGEST_REPLAY = 500
# Requests waiting; one more is refused, so that a broken client can't fill the memory.
WAITING_REQUESTS = 20
# Messages read from disk at a time.
CHUNK = 20
# Bytes; {"from":…,"to":…,"correlation":…}.
LONGEST_REQUEST = 1024


class ReplayRequest(msgspec.Struct, frozen=True):
    """`{"from": seq, "to": seq}`, both included; without `to`, up to the newest."""

    first: int = msgspec.field(name="from")
    last: int | None = msgspec.field(name="to", default=None)
    correlation: str | None = None


class _Message(msgspec.Struct, frozen=True):
    seq: int
    topic: str
    payload: msgspec.Raw
    correlation: str | None
    schema: str = "novuss.replay_message/1"


class _Done(msgspec.Struct, frozen=True):
    first: int = msgspec.field(name="from")
    last: int = msgspec.field(name="to")
    sent: int
    missing: list[tuple[int, int]]
    next: int | None
    correlation: str | None
    done: bool = True
    schema: str = "novuss.replay_done/1"


class _Refused(msgspec.Struct, frozen=True):
    error: str
    correlation: str | None = None
    done: bool = True
    schema: str = "novuss.replay_done/1"


class ReplayDesk:
    """Requests in, payloads for `replay/result` out, a few at a time."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._jobs: deque[Iterator[bytes]] = deque()

    def receive(self, message: Incoming) -> None:
        """Take a request; what is no request gets an answer too."""
        if message.retained:
            return
        self._jobs.append(self._answers(message.payload) if len(self._jobs) < WAITING_REQUESTS else _refusal("too many requests at once"))

    def next_payload(self) -> bytes | None:
        """The next payload to publish, or None when all requests are answered."""
        while self._jobs:
            if (payload := next(self._jobs[0], None)) is not None:
                return payload
            self._jobs.popleft()
        return None

    def forget(self) -> None:
        """The connection ended: who asked will ask again."""
        self._jobs.clear()

    def _answers(self, raw: bytes) -> Iterator[bytes]:
        try:
            request = msgspec.json.decode(raw[:LONGEST_REQUEST], type=ReplayRequest)
        except UNREADABLE as error:
            yield from _refusal(f'ask with {{"from": seq, "to": seq}}: {error}')
            return
        newest = self._outbox.next_seq - 1
        wanted = newest if request.last is None else min(request.last, newest)
        first = max(request.first, 1)
        last = min(wanted, first + LONGEST_REPLAY - 1)
        at, sent, missing = first, 0, []
        while at <= last:
            items = [item for item in self._outbox.read(at, CHUNK) if item.seq <= last]
            if not items:
                break
            for item in items:
                if item.seq > at:
                    missing.append((at, item.seq - 1))
                yield msgspec.json.encode(_Message(item.seq, item.topic, msgspec.Raw(item.payload), request.correlation))
                at, sent = item.seq + 1, sent + 1
        if at <= last:
            missing.append((at, last))
        yield msgspec.json.encode(_Done(first, last, sent, missing, last + 1 if last < wanted else None, request.correlation))


def _refusal(why: str) -> Iterator[bytes]:
    yield msgspec.json.encode(_Refused(why))
