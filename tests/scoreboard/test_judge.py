"""The judge's console: who gets in, what is refused, and commands through a real browser and broker."""

from __future__ import annotations

import http.client
import json
import logging
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest

from device import topics
from scoreboard.cards_view import cards_view
from scoreboard.server import Scoreboard
from scoreboard.sessions import SHUT_S, TRIES, Sessions
from scoreboard.state import Snapshot, apply
from tests.parts.brokers import Mosquitto, free_port
from tests.parts.browser import SHOTS
from tests.scoreboard import board_game as game
from tests.scoreboard.board_rig import Table, wait_until

PASSWORD = "ripa-un-kija"


@pytest.fixture
def desk(broker: Mosquitto) -> Iterator[Scoreboard]:
    board = Scoreboard(broker.url, "t1", port=free_port(), judge_password=PASSWORD)
    board.start()
    wait_until(lambda: board.is_connected)
    yield board
    board.stop()


def post(url: str, path: str, body: str, **headers: str) -> tuple[int, dict[str, str]]:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=8)
    try:
        connection.request("POST", path, body, {key.replace("_", "-"): value for key, value in headers.items()})
        with connection.getresponse() as answer:
            return answer.status, {**{k.lower(): v for k, v in answer.getheaders()}, "body": answer.read().decode()}
    finally:
        connection.close()


def signed_in(url: str, name: str = "Zane") -> str:
    status, answer = post(url, "/judge/sign-in", urlencode({"name": name, "password": PASSWORD}))
    assert status == 303
    cookie = answer["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    return cookie.split(";")[0]


WARNING = json.dumps({"command": "warning", "side": "N", "clause": "19.1.e"})


def test_strangers_are_refused_and_logged(desk: Scoreboard, table: Table, caplog: pytest.LogCaptureFixture) -> None:
    heard: list[Any] = []
    table.on_judge(heard.append)
    for cookie in ("", "novuss_judge=guess"):
        assert post(desk.url, "/judge/command", WARNING, cookie=cookie)[0] == 403
    cookie = signed_in(desk.url)
    assert post(desk.url, "/judge/command", WARNING, cookie=cookie, origin="http://evil.example")[0] == 403
    assert post(desk.url, "/judge/sign-in", "name=x&password=y", origin="http://evil.example")[0] == 403
    assert caplog.text.count("refused") == 4
    assert PASSWORD not in caplog.text
    assert heard == []


def test_a_signed_in_judge_s_command_carries_the_name_and_is_answered(
    desk: Scoreboard, table: Table, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    heard: list[dict[str, Any]] = []

    def obey(command: dict[str, Any]) -> None:
        heard.append(command)
        answer = {"accepted": command["command"] == "warning", "entry": 12, "error": "15.3: the match is over"}
        table.send(topics.JUDGE_RESULT, {"correlation": command["correlation"], **answer})

    table.on_judge(obey)
    cookie = signed_in(desk.url)
    assert post(desk.url, "/judge/command", WARNING, cookie=cookie)[1]["body"] == '{"accepted":true,"entry":12}'
    assert {k: heard[0][k] for k in ("command", "side", "clause", "by")} == {
        "command": "warning",
        "side": "N",
        "clause": "19.1.e",
        "by": "Zane",
    }
    status, answer = post(desk.url, "/judge/command", '{"command":"end_match"}', cookie=cookie)
    assert status == 409
    assert "15.3" in answer["body"]
    assert "judge Zane" in caplog.text


@pytest.mark.parametrize("body", ["{", "[]", '{"command":"format_disk"}', "x" * 20_000])
def test_what_is_no_command_goes_nowhere(desk: Scoreboard, table: Table, body: str) -> None:
    heard: list[Any] = []
    table.on_judge(heard.append)
    assert post(desk.url, "/judge/command", body, cookie=signed_in(desk.url))[0] == 400
    assert heard == []


def test_signing_out_ends_the_session(desk: Scoreboard) -> None:
    cookie = signed_in(desk.url)
    assert post(desk.url, "/judge/sign-out", "", cookie=cookie)[0] == 303
    assert post(desk.url, "/judge/command", WARNING, cookie=cookie)[0] == 403


def test_guessing_shuts_the_door_for_a_while() -> None:
    now_s = 0.0
    sessions = Sessions("right", lambda: now_s)
    assert all(sessions.sign_in("A", "wrong") is None for _ in range(TRIES))
    assert sessions.is_shut
    assert sessions.sign_in("A", "right") is None
    now_s = SHUT_S + 1
    token = sessions.sign_in("  A   B ", "right")
    assert sessions.name_of(token) == "A B"
    now_s += 13 * 3600
    assert sessions.name_of(token) is None


def test_without_a_password_nobody_gets_in() -> None:
    for password in (None, ""):
        sessions = Sessions(password, lambda: 0.0)
        assert not sessions.is_open
        assert sessions.sign_in("A", "") is None
    assert Sessions("x", lambda: 0.0).sign_in("  ", "x") is None, "a judge has a name"


def test_cards_show_each_entry_once_as_it_stands_now() -> None:
    now = Snapshot()
    for record in (game.ruling(1), game.fault(2), game.review(3), game.resolved(7), {**game.ruling(8), "match_id": "another"}):
        now, _ = apply(now, "ruling", msgspec.json.encode(record), retained=False, at_s=0.0)
    now, _ = apply(now, "match", msgspec.json.encode(game.MATCH), retained=True, at_s=0.0)
    cards = cards_view(now, "en")["cards"]
    assert [(c["entry"], c["state"], c["tag"]) for c in cards] == [
        (7, "note", ""),
        (3, "fault", "corrected"),
        (2, "fault", ""),
        (1, "lawful", ""),
    ]


@pytest.mark.browser
@pytest.mark.broker
def test_a_judge_resolves_a_review_in_the_browser(desk: Scoreboard, table: Table, chromium: Any) -> None:
    commands: list[dict[str, Any]] = []

    def obey(command: dict[str, Any]) -> None:
        commands.append(command)
        table.send(topics.JUDGE_RESULT, {"correlation": command["correlation"], "accepted": True, "entry": 20 + len(commands)})

    table.on_judge(obey)
    table.send(topics.STATUS, game.ONLINE)
    table.send(topics.MATCH, game.MATCH)
    table.send(topics.DISCS, game.seen(game.mid_game()))
    for record in (game.ruling(1), game.fault(2), game.review(3)):
        table.send(topics.RULING, record)
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB")
    try:
        page = context.new_page()
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(f"{desk.url}/judge?lang=en")
        page.get_by_label("Judge's name").fill("Zane")
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_selector('[data-card="2"]:visible')
        SHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(SHOTS / "judge-1280x800.png"))

        page.get_by_role("button", name="Red piece light").click()
        page.get_by_text("Done: entry 21").wait_for()
        page.locator('[data-card="1"]').get_by_role("button", name="Void").click()
        assert len(commands) == 1, "a weighty command needs a second press"
        page.locator('[data-card="1"]').get_by_role("button", name="Press again").click()
        page.get_by_text("Done: entry 22").wait_for()
        table.send(topics.RULING, game.ruling(4))
        page.wait_for_selector('[data-card="3"]:visible')
        page.locator('[data-card="1"]').get_by_role("button", name="Void").click()
        table.send(topics.RULING, game.ruling(5))
        page.wait_for_selector('[data-card="4"]:visible')
        assert page.get_by_role("button", name="Press again").count() == 0, "cards that move disarm what was begun"
        page.locator('form[data-command="warning"] select[name=side]').select_option("N")
        page.locator('form[data-command="warning"] select[name=clause]').select_option("19.1.e")
        page.get_by_role("button", name="Give warning").click()
        page.get_by_text("Done: entry 23").wait_for()

        plain = [{k: v for k, v in c.items() if k not in ("correlation", "schema")} for c in commands]
        assert plain == [
            {"command": "resolve", "entry": 3, "assume": {"r5": "light"}, "by": "Zane"},
            {"command": "void", "entry": 2, "by": "Zane"},
            {"command": "warning", "side": "N", "clause": "19.1.e", "by": "Zane"},
        ]
        page.set_viewport_size({"width": 360, "height": 640})
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.screenshot(path=str(SHOTS / "judge-360x640.png"), full_page=True)
        assert said == []
    finally:
        context.close()
