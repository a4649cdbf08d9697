"""One table's voice on the broker: rulings from the outbox, the live picture, judge commands, replays.

All network work is done in one thread of its own; `publish_state` and the outbox only leave work for it, so that nothing here can
hold up the frame path. Each outbox message is acknowledged by the broker before it is marked sent; whatever was not is sent again,
in order, under the same seq, by the next connection or the next start.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import logging
import os
import socket
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from device import topics
from device.clock import WallTime, wall_time
from device.messaging.address import Protocol, parse_url
from device.messaging.backoff import Backoff
from device.messaging.judge import JudgeDesk, JudgeRequest
from device.messaging.link import BrokerUnreachable, Incoming, Link, LinkLost, open_link
from device.messaging.replay import ReplayDesk
from device.storage.outbox import Outbox
from device.topics import Topic
from rules.errors import BrokerRefused, Bug, InputUnusable, NovussError

_log = logging.getLogger(__name__)

# Messages sent and not yet acknowledged; mosquitto's own default window, so that it never holds any back.
WINDOW = 20
# Seconds the thread sleeps when nothing happens; it is woken for everything it has to do, this only paces the keepalive check.
IDLE_S = 0.5
# Seconds for the broker to take the goodbye and to hand it back; a dead one is not waited for longer.
GOODBYE_S = 1.0
# Seconds without any acknowledgement while some are due: a broker that still answers pings has lost them; send again.
ACKNOWLEDGE_S = 20.0
# Answers to judges that wait for the connection; the oldest is dropped, whoever asked asks again.
WAITING_ANSWERS = 100
# Seconds of connection after which the next failure counts as the first again.
SETTLED_S = 10.0


class Connection(msgspec.Struct, frozen=True):
    """How things stand with the broker, for health, doctor and the board.

    `waiting` messages are in the outbox, `acknowledge_ms` is how long the broker took to acknowledge the last one.
    """

    connected: bool
    broker: str
    reason: str | None
    waiting: int
    failures: int
    acknowledge_ms: float | None = None


class Publisher:
    """Publishes one table; reconnects by itself until closed."""

    def __init__(
        self,
        url: str,
        table: str,
        outbox: Outbox,
        *,
        on_judge: Callable[[JudgeRequest], None] | None = None,
        wall: Callable[[], WallTime] = wall_time,
        backoff: Backoff | None = None,
        announced: tuple[str, bytes] | None = None,
    ) -> None:
        if not table or any(letter in "+#/\0" for letter in table):
            raise InputUnusable(f"table name {table!r}: it becomes part of a topic, so no +, #, / and not empty")
        self._address = parse_url(url)
        self._table = table
        self._outbox = outbox
        self._wall = wall
        self._backoff = backoff or Backoff()
        # A retained message for others than listeners of this table, told anew to each broker: its whole topic and its payload.
        self._announced = announced
        self._version: Protocol = "5"
        self._since = wall()
        self._changed = threading.Condition()
        self._states: OrderedDict[Topic, bytes] = OrderedDict()
        self._unsent_states: set[Topic] = set()
        self._answers: deque[tuple[bytes, bytes | None]] = deque(maxlen=WAITING_ANSWERS)
        # seq → when it was sent (s, monotonic), None once acknowledged; in the order they were sent.
        self._flight: OrderedDict[int, float | None] = OrderedDict()
        self._acknowledge_ms: float | None = None
        self._replay = ReplayDesk(outbox)
        self._judges = JudgeDesk(on_judge or _no_judge, self._answer)
        self._connected = False
        self._idle = False
        self._last_error: NovussError = BrokerUnreachable("not started")
        self._reason: str | None = str(self._last_error)
        self._failures = 0
        self._closing = self._has_heard_itself = False
        self._process = os.getpid()
        self._wake_in, self._wake_out = socket.socketpair()
        self._wake_out.setblocking(False)
        self._wake_in.setblocking(False)
        self._thread = threading.Thread(target=self._run, name=f"mqtt-{table}", daemon=True)
        outbox.on_put = self._wake

    def start(self) -> None:
        """Begin to connect, in the background."""
        self._thread.start()

    def publish_state(self, topic: Topic, payload: Mapping[str, Any] | msgspec.Struct) -> None:
        """Let subscribers see the newest value of a retained topic; an older one still waiting is replaced. Never blocks."""
        if os.getpid() != self._process:
            raise Bug("a publisher does not survive a fork: start child processes with the spawn method")
        encoded = msgspec.json.encode(payload)
        with self._changed:
            self._states[topic] = encoded
            self._unsent_states.add(topic)
        self._wake()

    def wait_connected(self, timeout_s: float) -> bool:
        """Whether the broker has let us in within the time. Raises BrokerRefused as soon as it says no."""
        with self._changed:
            self._changed.wait_for(lambda: self._connected or isinstance(self._last_error, BrokerRefused), timeout_s)
            if not self._connected and isinstance(self._last_error, BrokerRefused):
                raise BrokerRefused(str(self._last_error))
            return self._connected

    def wait_drained(self, timeout_s: float) -> bool:
        """Whether everything put so far has been acknowledged by the broker within the time."""
        with self._changed:
            return self._changed.wait_for(self._is_drained, timeout_s)

    @property
    def connection(self) -> Connection:
        """How things stand now."""
        with self._changed:
            return Connection(self._connected, str(self._address), self._reason, self._outbox.waiting, self._failures, self._acknowledge_ms)

    def close(self, timeout_s: float = 2.0) -> None:
        """Say goodbye (status offline) and stop; what waits in the outbox goes out at the next start."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._wake()
        self._outbox.on_put = _nothing
        if self._thread.ident is None:
            self._close_pipe()
        else:
            self._thread.join(timeout_s)

    def __enter__(self) -> Publisher:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- the thread ---------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._closing:
            try:
                self._converse()
            except (LinkLost, BrokerUnreachable, BrokerRefused) as error:
                self._lost(error)
            except Exception as error:
                # A fault of ours must not silence the table: reported in full, then tried again.
                _log.exception("publishing failed")
                self._lost(Bug(f"publishing failed: {error}"))
            if not self._closing:
                self._sleep(self._backoff.next_s())
        self._close_pipe()

    def _converse(self) -> None:
        link = self._connect()
        opened = time.monotonic()
        try:
            for topic in (topics.JUDGE, topics.REPLAY, topics.STATUS):
                link.subscribe(self._path(topic))
            self._say_status(link, "online")
            if self._announced is not None:
                link.publish(*self._announced, qos=1, retain=True)
            with self._changed:
                self._connected, self._reason = True, None
                # An old picture would pass for a new one.
                self._unsent_states = {topic for topic in self._states if topic.retained}
                self._changed.notify_all()
            _log.info("connected to %s", self._address)
            self._flight.clear()
            self._sent_up_to, self._progress = self._outbox.sent_seq, time.monotonic()
            while not self._closing:
                self._send_what_fits(link)
                link.pump(IDLE_S, self._wake_in)
                self._note_idle(link)
                if self._flight and time.monotonic() - self._progress > ACKNOWLEDGE_S:
                    raise LinkLost(f"{self._address}: the broker acknowledged nothing for {ACKNOWLEDGE_S:g} s")
                if time.monotonic() - opened > SETTLED_S:
                    self._backoff.reset()
            self._say_goodbye(link)
        finally:
            link.abandon()
            self._replay.forget()
            with self._changed:
                self._connected = self._idle = False

    def _connect(self) -> Link:
        will = (self._path(topics.STATUS), self._status("offline"))
        client_id = f"novuss-{self._table}"
        # The version that worked is tried first next time.
        link, self._version = open_link(self._address, client_id, will, self._received, first=self._version, give_up=lambda: self._closing)
        return link

    def _lost(self, error: NovussError) -> None:
        with self._changed:
            is_news = str(error) != self._reason
            self._connected, self._reason, self._last_error = False, str(error), error
            self._failures += 1
            self._changed.notify_all()
        if is_news:
            _log.warning("%s; %d messages wait in the outbox", error, self._outbox.waiting)

    def _send_what_fits(self, link: Link) -> None:
        with contextlib.suppress(IndexError):
            while link.unacknowledged < WINDOW:
                payload, correlation = self._answers.popleft()
                link.publish(self._path(topics.JUDGE_RESULT), payload, qos=1, correlation=correlation)
        # States wait for the window too, or a broker that acknowledges nothing would fill the memory with old ones.
        if not link.is_congested and link.unacknowledged < WINDOW:
            self._send_states(link)
        if (room := WINDOW - link.unacknowledged) > 0:
            for item in self._outbox.read(self._sent_up_to + 1, room):
                now_s = time.monotonic()
                if not self._flight:
                    self._progress = now_s
                self._flight[item.seq] = now_s
                self._sent_up_to = item.seq
                on_ack = partial(self._acknowledged, item.seq)
                link.publish(f"{topics.PREFIX}/{self._table}/{item.topic}", item.payload, qos=1, on_ack=on_ack)
        while link.unacknowledged < WINDOW and (payload_again := self._replay.next_payload()) is not None:
            link.publish(self._path(topics.REPLAY_RESULT), payload_again, qos=1)

    def _send_states(self, link: Link) -> None:
        with self._changed:
            due = [(topic, self._states[topic]) for topic in self._states if topic in self._unsent_states]
            if due:
                self._unsent_states.clear()
                self._idle = False
        for topic, payload in due:
            link.publish(self._path(topic), payload, qos=topic.qos, retain=topic.retained)

    def _note_idle(self, link: Link) -> None:
        with self._changed:
            self._idle = not link.unacknowledged and not link.is_congested
            self._changed.notify_all()

    def _acknowledged(self, seq: int, refused: str | None) -> None:
        if refused is not None:
            raise BrokerRefused(f"{self._address}: the broker refuses {self._table}'s messages: {refused}")
        self._progress = time.monotonic()
        if (sent_s := self._flight[seq]) is not None:
            self._acknowledge_ms = (self._progress - sent_s) * 1e3
        self._flight[seq] = None
        done = 0
        while self._flight and self._flight[oldest := next(iter(self._flight))] is None:
            del self._flight[oldest]
            done = oldest
        if done:
            self._backoff.reset()
            self._outbox.mark_sent(done)

    def _received(self, message: Incoming) -> None:
        if message.topic == self._path(topics.JUDGE):
            self._judges.receive(message)
        elif message.topic == self._path(topics.REPLAY):
            self._replay.receive(message)
        elif message.payload == self._status("offline"):
            self._has_heard_itself = True

    def _say_goodbye(self, link: Link) -> None:
        """The last word, heard back first: when its sender goes, a broker may drop what it acknowledged and has not handed on."""
        self._has_heard_itself = False
        self._say_status(link, "offline")
        deadline = time.monotonic() + GOODBYE_S
        while (link.unacknowledged or not self._has_heard_itself) and (left_s := deadline - time.monotonic()) > 0:
            link.pump(left_s, None)
        link.close()

    def _say_status(self, link: Link, state: str) -> None:
        link.publish(self._path(topics.STATUS), self._status(state), qos=topics.STATUS.qos, retain=True)

    def _status(self, state: str) -> bytes:
        status = {
            "schema": "novuss.status/1",
            "state": state,
            "version": importlib.metadata.version("novuss"),
            "since": self._since.at,
            "clock_synchronised": self._since.synchronised,
        }
        # The last will is written long before it is sent; only "online" knows how far the counter is.
        return msgspec.json.encode(status if state == "offline" else status | {"next_seq": self._outbox.next_seq})

    # --- small parts --------------------------------------------------------------------------------------------------

    def _answer(self, payload: bytes, correlation: bytes | None) -> None:
        self._answers.append((payload, correlation))
        self._wake()

    def _is_drained(self) -> bool:
        return self._idle and self._outbox.waiting == 0 and not self._unsent_states and not self._answers

    def _path(self, topic: Topic) -> str:
        return topics.path(self._table, topic)

    def _wake(self) -> None:
        # A full pipe means that the thread is going to wake up anyway; a closed one that there is none any more.
        with contextlib.suppress(BlockingIOError, OSError):
            self._wake_out.send(b"\0")

    def _close_pipe(self) -> None:
        self._wake_in.close()
        self._wake_out.close()

    def _sleep(self, seconds: float) -> None:
        """Wait for the next try, unless closing cuts it short."""
        with self._changed:
            self._changed.wait_for(lambda: self._closing, seconds)


def _no_judge(request: JudgeRequest) -> None:
    request.refuse("this table takes no judge commands")


def _nothing() -> None:
    """Nobody listens to the outbox."""
