"""Subscribers that were away ask for the gap and get it, under the seq it had."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from device.messaging import Publisher
from device.messaging.link import Incoming
from device.messaging.replay import LONGEST_REPLAY, WAITING_REQUESTS, ReplayDesk
from device.storage import Outbox
from tests.parts.brokers import Mosquitto, Subscriber, publish, wait_until


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    with Outbox.open(tmp_path / "outbox", keep_sent=10) as outbox:
        yield outbox


def ask(desk: ReplayDesk, payload: bytes | str, *, retained: bool = False) -> list[dict[str, object]]:
    desk.receive(Incoming("novuss/t1/replay", payload.encode() if isinstance(payload, str) else payload, retained, None))
    answers = []
    while (answer := desk.next_payload()) is not None:
        answers.append(json.loads(answer))
    return answers


def test_a_subscriber_that_was_away_gets_the_gap(mosquitto: Mosquitto, subscribe: Callable[..., Subscriber], outbox: Outbox) -> None:
    with Publisher(mosquitto.url, "t1", outbox) as publisher:
        for number in range(8):
            outbox.put("ruling", {"entry": number})
        assert publisher.wait_drained(5)
        subscriber = subscribe(mosquitto.port)
        outbox.put("ruling", {"entry": 8})
        assert wait_until(lambda: subscriber.seqs() == [9])
        publish(mosquitto.port, "novuss/t1/replay", '{"from":3,"to":8,"correlation":"gap"}')
        assert wait_until(lambda: subscriber.messages("/replay/result")[-1:] and "done" in subscriber.messages("/replay/result")[-1][1])
    *again, done = [payload for _, payload in subscriber.messages("/replay/result")]
    assert [message["payload"] for message in again] == [{"seq": seq, "entry": seq - 1} for seq in range(3, 9)]
    assert {message["topic"] for message in again} == {"ruling"}
    assert done == {
        "from": 3,
        "to": 8,
        "sent": 6,
        "missing": [],
        "next": None,
        "correlation": "gap",
        "done": True,
        "schema": "novuss.replay_done/1",
    }
    # Those who were there are not troubled with it a second time.
    assert subscriber.seqs() == [9]


def test_what_is_no_longer_kept_is_named(outbox: Outbox) -> None:
    for number in range(40):
        outbox.put("ruling", {"entry": number})
        outbox.mark_sent(number + 1)
    oldest = outbox.read(1, 1)[0].seq
    *again, done = ask(ReplayDesk(outbox), '{"from":1,"to":40}')
    assert [message["seq"] for message in again] == list(range(oldest, 41))
    assert done["missing"] == [[1, oldest - 1]]


def test_a_long_replay_says_where_to_go_on(outbox: Outbox) -> None:
    for number in range(LONGEST_REPLAY + 10):
        outbox.put("ruling", {"entry": number})
    *again, done = ask(ReplayDesk(outbox), '{"from":1}')
    assert (len(again), done["next"]) == (LONGEST_REPLAY, LONGEST_REPLAY + 1)
    *rest, done = ask(ReplayDesk(outbox), f'{{"from":{done["next"]}}}')
    assert (len(rest), done["next"]) == (10, None)


def test_beyond_the_newest_there_is_nothing(outbox: Outbox) -> None:
    outbox.put("ruling", {})
    assert ask(ReplayDesk(outbox), '{"from":2,"to":9}')[0]["sent"] == 0
    assert ask(ReplayDesk(outbox), '{"from":5,"to":3}')[0]["sent"] == 0


def test_retained_and_too_many_requests(outbox: Outbox) -> None:
    desk = ReplayDesk(outbox)
    assert ask(desk, '{"from":1}', retained=True) == []
    for _ in range(WAITING_REQUESTS):
        desk.receive(Incoming("novuss/t1/replay", b'{"from":1}', retained=False, correlation=None))
    assert ask(desk, '{"from":1}')[-1]["error"] == "too many requests at once"
    for _ in range(3):
        desk.receive(Incoming("novuss/t1/replay", b'{"from":1}', retained=False, correlation=None))
    desk.forget()
    assert desk.next_payload() is None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=100) | st.builds(lambda a, b: f'{{"from":{a},"to":{b}}}'.encode(), st.integers(), st.integers()))
def test_any_bytes_get_an_end(outbox: Outbox, payload: bytes) -> None:
    answers = ask(ReplayDesk(outbox), payload)
    assert answers[-1]["done"] is True
