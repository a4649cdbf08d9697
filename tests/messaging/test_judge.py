"""Judge commands over the broker: obeyed once, answered with their correlation id, whatever is sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device.messaging import JudgeRequest, Publisher
from device.messaging.judge import LONGEST_COMMAND, REMEMBERED, JudgeDesk
from device.messaging.link import Incoming
from device.storage import Outbox
from rules.errors import InputUnusable
from rules.facts import Judge
from rules.orders import SetClock, StartMatch
from tests.parts.brokers import Mosquitto, Subscriber, publish_until, wait_until

WARNING = '{"command":"warning","side":"N","clause":"19.1.e","correlation":"c-1"}'


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    with Outbox.open(tmp_path / "outbox") as outbox:
        yield outbox


def incoming(payload: str | bytes, *, retained: bool = False, correlation: bytes | None = None) -> Incoming:
    return Incoming("novuss/t1/judge", payload.encode() if isinstance(payload, str) else payload, retained, correlation)


class Desk:
    """A desk and what went out of it."""

    def __init__(self, handler: Callable[[JudgeRequest], None] | None = None) -> None:
        self.requests: list[JudgeRequest] = []
        self.sent: list[tuple[dict[str, object], bytes | None]] = []
        self._desk = JudgeDesk(handler or self.requests.append, lambda payload, data: self.sent.append((json.loads(payload), data)))
        self.receive = self._desk.receive


@pytest.mark.parametrize("version", ["mqttv311", "mqttv5"])
def test_a_command_is_handed_over_and_answered(
    mosquitto: Mosquitto, subscribe: Callable[..., Subscriber], outbox: Outbox, version: str
) -> None:
    subscriber = subscribe(mosquitto.port, "novuss/t1/judge/result")
    requests: list[JudgeRequest] = []
    with Publisher(mosquitto.url, "t1", outbox, on_judge=requests.append) as publisher:
        assert publisher.wait_connected(5)
        publish_until(lambda: requests, mosquitto.port, "novuss/t1/judge", WARNING, "-V", version)
        threading.Thread(target=requests[0].accept, kwargs={"entry": 7}).start()
        assert wait_until(subscriber.messages)
    assert len(requests) == 1
    assert (requests[0].command.command, requests[0].command.side, requests[0].correlation) == ("warning", "N", "c-1")
    answer = {"schema": "novuss.judge_result/1", "correlation": "c-1", "accepted": True, "entry": 7}
    assert all(message == ("novuss/t1/judge/result", answer) for message in subscriber.messages())


def test_mqtt_5_correlation_data_comes_back_as_such(mosquitto: Mosquitto, subscribe: Callable[..., Subscriber], outbox: Outbox) -> None:
    subscriber = subscribe(mosquitto.port, "novuss/t1/judge/result")
    with Publisher(f"{mosquitto.url}?protocol=5", "t1", outbox, on_judge=lambda request: request.accept()) as publisher:
        assert publisher.wait_connected(5)
        options = ("-V", "5", "-D", "publish", "correlation-data", "d-1")
        publish_until(subscriber.messages, mosquitto.port, "novuss/t1/judge", WARNING, *options)
    assert subscriber.messages()[0][1]["correlation"] == "d-1"


def test_a_handler_that_raises_is_a_refusal_and_the_connection_goes_on(
    mosquitto: Mosquitto, subscribe: Callable[..., Subscriber], outbox: Outbox, expected_errors: None
) -> None:
    subscriber = subscribe(mosquitto.port)

    def raising(_request: JudgeRequest) -> None:
        raise ZeroDivisionError

    with Publisher(mosquitto.url, "t1", outbox, on_judge=raising) as publisher:
        assert publisher.wait_connected(5)
        publish_until(lambda: subscriber.messages("/judge/result"), mosquitto.port, "novuss/t1/judge", WARNING)
        outbox.put("ruling", {})
        assert publisher.wait_drained(5)
        assert publisher.connection.failures == 0
    assert subscriber.messages("/judge/result")[0][1]["accepted"] is False
    assert "fault of novuss itself" in subscriber.messages("/judge/result")[0][1]["error"]


def test_a_named_error_is_told_to_the_judge() -> None:
    def refusing(_request: JudgeRequest) -> None:
        raise InputUnusable("entry 9 is not there")

    desk = Desk(refusing)
    desk.receive(incoming(WARNING))
    assert desk.sent == [
        ({"schema": "novuss.judge_result/1", "correlation": "c-1", "accepted": False, "error": "entry 9 is not there"}, None)
    ]


def test_a_repeated_command_is_answered_again_not_obeyed_again() -> None:
    desk = Desk()
    desk.receive(incoming(WARNING))
    desk.receive(incoming(WARNING))
    assert (len(desk.requests), desk.sent) == (1, [])
    desk.requests[0].accept(entry=3)
    desk.receive(incoming(WARNING))
    assert len(desk.requests) == 1
    assert [answer["entry"] for answer, _ in desk.sent] == [3, 3]


def test_only_the_first_answer_counts(caplog: pytest.LogCaptureFixture) -> None:
    desk = Desk()
    desk.receive(incoming(WARNING))
    desk.requests[0].accept()
    desk.requests[0].refuse("late")
    assert [answer["accepted"] for answer, _ in desk.sent] == [True]
    assert "answered twice" in caplog.text


def test_a_retained_command_is_not_obeyed() -> None:
    desk = Desk()
    desk.receive(incoming(WARNING, retained=True))
    assert desk.requests == []
    assert "retained" in str(desk.sent[0][0]["error"])


@pytest.mark.parametrize(
    "payload", ["", "null", "[]", '{"command":"explode"}', '{"side":"N"}', '{"command":"warning","side":"Q"}', b"\xff\xfe", "[" * 60_000]
)
def test_what_is_no_command_is_refused_with_the_reason(payload: str | bytes) -> None:
    desk = Desk()
    desk.receive(incoming(payload, correlation=b"\xff"))
    assert desk.requests == []
    assert "no judge command" in str(desk.sent[0][0]["error"])
    assert desk.sent[0][1] == b"\xff"


def test_a_huge_command_is_refused_unread() -> None:
    desk = Desk()
    desk.receive(incoming('{"command":"warning","by":"' + "x" * LONGEST_COMMAND + '"}'))
    assert desk.requests == []
    assert "bytes long" in str(desk.sent[0][0]["error"])


def test_memory_for_repeats_is_bounded() -> None:
    desk = Desk(lambda request: request.accept())
    for number in range(REMEMBERED + 5):
        desk.receive(incoming(WARNING, correlation=str(number).encode()))
    desk.receive(incoming(WARNING, correlation=b"0"))
    assert len(desk.sent) == REMEMBERED + 6


@given(st.binary(max_size=300) | st.text(max_size=100).map(str.encode))
def test_any_bytes_get_an_answer(payload: bytes) -> None:
    desk = Desk(lambda request: request.accept())
    desk.receive(incoming(payload))
    assert len(desk.sent) == 1


def test_a_match_to_start_the_clock_and_a_question_are_told_apart() -> None:
    desk = Desk()
    players = '{"S":{"name":"A","colour":"red"},"N":{"name":"B","colour":"black"}}'
    match = f'{{"id":"m","ruleset":"casual","format":"singles","sets":3,"players":{players},"first_turn":"S"}}'
    desk.receive(incoming(f'{{"command":"start_match","match":{match},"by":"Zane"}}'))
    desk.receive(incoming('{"command":"clock","span":"between"}'))
    desk.receive(incoming('{"command":"void","entry":3,"preview":true}'))
    desk.receive(incoming('{"command":"clock","span":"a while"}'))
    kinds = [(type(r.command), r.preview) for r in desk.requests]
    assert kinds == [(StartMatch, False), (SetClock, False), (Judge, True)]
    assert desk.sent[0][0]["accepted"] is False
