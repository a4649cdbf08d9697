"""Starting, stopping, ports, headers and the stream, without a browser."""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from device import topics
from scoreboard.server import BoardNotStarted, Scoreboard
from scoreboard.web import listening_socket
from tests.parts.brokers import Mosquitto, free_port
from tests.scoreboard import board_game as game
from tests.scoreboard.board_rig import Table, wait_until

NOWHERE = "mqtt://127.0.0.1:1"  # nothing listens there


@contextmanager
def asked(url: str, path: str, method: str = "GET") -> Iterator[http.client.HTTPResponse]:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=5)
    try:
        connection.request(method, path)
        with connection.getresponse() as response:
            yield response
    finally:
        connection.close()


def monitor(url: str) -> str:
    with asked(url, "/healthz") as answer:
        return str(json.load(answer)["monitor"])


def test_a_taken_port_is_no_failure_and_the_real_address_is_told() -> None:
    with listening_socket("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        board = Scoreboard(NOWHERE, "t1", port=port)
        url = board.start()
        try:
            assert url == board.url != f"http://127.0.0.1:{port}"
            with asked(url, "/") as answer:
                assert answer.status == 200
        finally:
            board.stop()


def test_an_address_that_is_not_ours_is_refused_in_one_sentence() -> None:
    with pytest.raises(BoardNotStarted, match=re.escape("203.0.113.1")):
        Scoreboard(NOWHERE, "t1", host="203.0.113.1").start()


def test_stop_is_quick_with_a_stream_open_and_without_a_broker() -> None:
    board = Scoreboard(NOWHERE, "t1", port=free_port())
    with asked(board.start(), "/events") as stream:
        assert stream.readline() == b"retry: 1000\n"
        start = time.monotonic()
        board.stop()
        assert time.monotonic() - start < 1.0
    board.stop()
    with pytest.raises(BoardNotStarted):
        _ = board.url


@pytest.mark.parametrize("path", ["/", "/overlay", "/healthz", "/static/board.js", "/static/nothing", "/events"])
def test_every_answer_carries_the_safe_headers(path: str) -> None:
    board = Scoreboard(NOWHERE, "<b>t1", port=free_port())
    try:
        with asked(board.start(), path) as answer:
            policy = str(answer.getheader("content-security-policy"))
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert answer.getheader("x-content-type-options") == "nosniff"
            body = answer.read().decode() if path in ("/", "/overlay") else ""
        assert not any(inline in body for inline in ("<b>t1", "style=", "onclick"))
    finally:
        board.stop()


def test_nothing_is_written_over_http() -> None:
    board = Scoreboard(NOWHERE, "t1", port=free_port())
    try:
        url = board.start()
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            with asked(url, "/", method) as answer:
                assert answer.status == 405
    finally:
        board.stop()


@pytest.mark.broker
def test_stream_starts_with_everything_and_beats_each_second(scoreboard: Scoreboard, table: Table) -> None:
    table.send(topics.STATUS, game.ONLINE)
    table.send(topics.MATCH, game.MATCH)
    wait_until(lambda: monitor(scoreboard.url) == "online")
    beats: list[float] = []
    seen: dict[str, Any] = {}
    event = ""
    with asked(scoreboard.url, "/events?lang=de") as stream:
        while len(beats) < 3:
            line = stream.readline().decode().strip()
            if line.startswith("event: "):
                event = line.removeprefix("event: ")
            elif line.startswith("data: "):
                seen[event] = json.loads(line.removeprefix("data: "))
                if event == "link":
                    beats.append(time.monotonic())
    assert set(seen) == {"link", "discs", "picture", "match", "ruling", "clock", "evidence"}
    assert seen["match"]["set"] == "Satz 3 von 5"
    assert 0.7 < beats[2] - beats[1] < 1.4


@pytest.mark.broker
def test_a_board_opened_late_asks_the_table_for_the_last_ruling(broker: Mosquitto, table: Table) -> None:
    """The table answers on `replay/result`, as device.messaging does."""
    requests: list[dict[str, Any]] = []

    def answer(request: dict[str, Any]) -> None:
        requests.append(request)
        mine = {"correlation": request["correlation"]}
        if request["from"] <= 7:
            table.send(topics.REPLAY_RESULT, {**mine, "seq": 7, "topic": "ruling", "payload": game.fault(7)})
        table.send(topics.REPLAY_RESULT, {**mine, "from": request["from"], "to": 7, "next": None, "done": True})

    table.on_replay(answer)
    table.send(topics.STATUS, game.ONLINE)
    board = Scoreboard(broker.url, "t1", port=free_port())
    try:
        with asked(board.start(), "/events?lang=en") as stream:
            start = time.monotonic()
            while b'"title":"Fault"' not in stream.readline():
                assert time.monotonic() - start < 5
        assert len(requests) == 2
    finally:
        board.stop()


@pytest.mark.broker
def test_a_message_that_cannot_be_read_is_said_and_left_out(scoreboard: Scoreboard, table: Table, caplog: pytest.LogCaptureFixture) -> None:
    table.send(topics.MATCH, b"{broken")
    wait_until(lambda: "match" in caplog.text)
    table.send(topics.STATUS, game.ONLINE)
    wait_until(lambda: monitor(scoreboard.url) == "online")
