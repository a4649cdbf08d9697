"""The judge's console: who gets in, what is refused, and commands through a real browser and broker."""

from __future__ import annotations

import http.client
import json
import logging
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest

from device import topics
from rules.facts import Disc, Match, Player
from rules.fold import match_state
from scoreboard.cards_view import cards_view
from scoreboard.server import Scoreboard
from scoreboard.sessions import SHUT_S, TRIES, Sessions
from scoreboard.state import Snapshot, apply
from tests.parts.brokers import Mosquitto, free_port
from tests.parts.browser import SHOTS
from tests.scoreboard import board_game as game
from tests.scoreboard.board_rig import Open, Table, sign_in, wait_until
from tests.scoreboard.table_rig import RealTable, stroke

PASSWORD = "ripa-un-kija"
ADMIN = "galvenais"


@pytest.fixture
def desk(broker: Mosquitto) -> Iterator[Scoreboard]:
    board = Scoreboard(broker.url, "t1", port=free_port(), judge_password=PASSWORD, admin_password=ADMIN)
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


def signed_in(url: str, name: str = "Zane", password: str = PASSWORD) -> str:
    status, answer = post(url, "/judge/sign-in", urlencode({"name": name, "password": password}))
    assert status == 303
    cookie = answer["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    return cookie.split(";")[0]


MATCH = Match(
    id="day",
    ruleset="lnf-2008",
    format="singles",
    sets=3,
    players={"S": Player(name="Anna", colour="red"), "N": Player(name="Berta", colour="black")},
    first_turn="S",
)
WARNING = json.dumps({"command": "warning", "side": "N", "clause": "19.1.e"})


def test_strangers_are_refused_and_logged(desk: Scoreboard, table: Table, caplog: pytest.LogCaptureFixture) -> None:
    heard: list[Any] = []
    table.on_judge(heard.append)
    for cookie in ("", "novuss_judge=guess"):
        assert post(desk.url, "/judge/command", WARNING, cookie=cookie)[0] == 403
    cookie = signed_in(desk.url)
    assert post(desk.url, "/judge/command", WARNING, cookie=cookie, origin="http://evil.example")[0] == 403
    assert post(desk.url, "/judge/sign-in", "name=x&password=y", origin="http://evil.example")[0] == 403
    assert post(desk.url, "/judge/sign-in", "name=x&password=y")[0] == 303
    assert post(desk.url, "/judge/match", "{}")[0] == 403
    assert post(desk.url, "/judge/preview", WARNING)[0] == 403
    assert http_get(desk.url, "/judge/events", "") == 403
    assert http_get(desk.url, "/judge/events", "", upgrade="websocket", connection="Upgrade", sec_websocket_version="13") == 403
    assert caplog.text.count("refused") == 9
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
    assert status == 200
    assert json.loads(answer["body"]) == {"accepted": False, "error": "15.3: the match is over"}
    assert "judge Zane" in caplog.text


@pytest.mark.parametrize("body", ["{", "[]", '{"command":"format_disk"}', '{"command":"start_match"}', "x" * 20_000])
def test_what_is_no_command_goes_nowhere(desk: Scoreboard, table: Table, body: str) -> None:
    heard: list[Any] = []
    table.on_judge(heard.append)
    assert post(desk.url, "/judge/command", body, cookie=signed_in(desk.url))[0] in (400, 413)
    assert heard == []


def test_signing_out_ends_the_session(desk: Scoreboard) -> None:
    cookie = signed_in(desk.url)
    assert post(desk.url, "/judge/sign-out", "", cookie=cookie)[0] == 303
    assert post(desk.url, "/judge/command", WARNING, cookie=cookie)[0] == 403


def test_guessing_shuts_the_door_for_a_while() -> None:
    now_s = 0.0
    sessions = Sessions({"judge": "right"}, lambda: now_s)
    assert all(sessions.sign_in("A", "wrong") is None for _ in range(TRIES))
    assert sessions.is_shut
    assert sessions.sign_in("A", "right") is None
    now_s = SHUT_S + 1
    token = sessions.sign_in("  A   B ", "right")
    session = sessions.of(token)
    assert session is not None
    assert (session.name, session.role) == ("A B", "judge")
    now_s += 13 * 3600
    assert sessions.of(token) is None


def test_without_a_password_nobody_gets_in() -> None:
    for password in (None, ""):
        sessions = Sessions({"judge": password}, lambda: 0.0)
        assert not sessions.is_open
        assert sessions.sign_in("A", "") is None
    assert Sessions({"judge": "x"}, lambda: 0.0).sign_in("  ", "x") is None, "a judge has a name"


def test_roles_have_passwords_of_their_own() -> None:
    sessions = Sessions({"judge": "one", "admin": "two"}, lambda: 0.0)
    tokens = [sessions.sign_in(name, password) for name, password in (("A", "one"), ("B", "two"), ("C", "three"))]
    assert [s and s.role for s in map(sessions.of, tokens)] == ["judge", "admin", None]
    assert sessions.end(sessions.all[0].key) == "A"
    assert [s.name for s in sessions.all] == ["B"]


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


def test_cards_say_what_judges_did_and_what_is_taken_back() -> None:
    now = Snapshot()

    def did(seq: int, **command: Any) -> dict[str, Any]:
        return {**game.warning(seq), "judge": {"by": "Zane", **command}}

    records = [game.ruling(1), game.ruling(2), did(3, command="confirm", entry=1), did(4, command="void", entry=2)]
    for record in (*records, did(5, command="void", entry=4), did(6, command="void"), did(7, command="warning", side="N", clause="19.1.e")):
        now, _ = apply(now, "ruling", msgspec.json.encode(record), retained=False, at_s=0.0)
    now, _ = apply(now, "match", msgspec.json.encode(game.MATCH), retained=True, at_s=0.0)
    cards = {c["entry"]: (c["title"], c["tag"]) for c in cards_view(now, "en")["cards"]}
    assert cards[7] == ("Warning · Bērziņš Jānis · 19.1.e · (Zane)", "")
    assert cards[1] == ("Lawful stroke", "confirmed by Zane")
    assert cards[2] == ("Lawful stroke", ""), "the void was taken back itself"
    assert cards[4][1] == "taken back"


@pytest.mark.browser
@pytest.mark.broker
def test_a_judge_decides_in_the_browser_and_sees_first_what_it_changes(desk: Scoreboard, real: RealTable, open_page: Open) -> None:
    real.begin(MATCH)
    real.enter(stroke("S", "r1", y_mm=-374.4))
    page = open_page(f"{desk.url}/judge?lang=en")
    sign_in(page, "Zane", PASSWORD)
    page.get_by_role("button", name="Red piece light").click()
    window = page.get_by_role("dialog")
    assert "Entry 1" in str(window.text_content())
    window.get_by_role("button", name="Cancel").click()
    assert len(real.lines()) == 2, "asking changes nothing"
    page.get_by_role("button", name="Red piece light").click()
    window.get_by_role("button", name="Send").click()
    page.get_by_text("Done: entry 2").wait_for()

    page.locator('[data-entry="1"]').get_by_role("button", name="Confirm").click()
    page.get_by_text("confirmed by Zane").wait_for()
    warn = page.locator('form[data-command="warning"]')
    warn.locator("select[name=side]").select_option("N")
    warn.locator("select[name=clause]").select_option("19.1.e")
    warn.get_by_role("button").click()
    page.locator("tr", has_text="Warnings · Berta").get_by_text("1").wait_for()
    real.enter(stroke("N", "b1"))
    window.get_by_role("button", name="Send").click()
    page.get_by_text("Done: entry 5").wait_for()
    page.locator('[data-entry="1"]').get_by_role("button", name="Void").click()
    page.screenshot(path=str(SHOTS / "judge-preview-1280x800.png"))
    window.get_by_role("button", name="Send").click()
    page.get_by_text("Done: entry 6").wait_for()
    assert [line["judge"] for line in real.lines() if "judge" in line] == [
        {"command": "resolve", "entry": 1, "assume": {"r1": "light"}, "by": "Zane"},
        {"command": "confirm", "entry": 1, "by": "Zane"},
        {"command": "warning", "side": "N", "clause": "19.1.e", "by": "Zane"},
        {"command": "void", "entry": 1, "by": "Zane"},
    ]
    assert real.folded() == match_state(real.state)
    page.set_viewport_size({"width": 360, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.screenshot(path=str(SHOTS / "judge-360x640.png"), full_page=True)


@pytest.mark.browser
@pytest.mark.broker
def test_a_refused_command_says_why_before_it_is_sent(desk: Scoreboard, real: RealTable, open_page: Open) -> None:
    real.begin(MATCH)
    page = open_page(f"{desk.url}/judge?lang=en")
    sign_in(page, "Zane", PASSWORD)
    page.get_by_role("button", name="Debt forgotten").click()
    page.get_by_text("Not done: 17.4").wait_for()
    page.get_by_role("button", name="Swap places").click()
    page.get_by_text("Not done: 22.3: only pairs change places").wait_for()
    page.get_by_role("button", name="Stroke 30 s").click()
    page.locator("[data-part=clock]", has_text="0:2").wait_for()
    page.get_by_role("button", name="Stop").click()
    page.locator("[data-part=clock]").wait_for(state="hidden")
    assert len(real.lines()) == 1


@pytest.mark.browser
@pytest.mark.broker
def test_a_command_given_before_the_page_s_script_came_is_not_lost(desk: Scoreboard, real: RealTable, open_page: Open) -> None:
    real.begin(MATCH)
    page = open_page(f"{desk.url}/judge?lang=en")

    def come_late(route: Any) -> None:
        time.sleep(1.0)
        route.continue_()

    page.route("**/judge.js", come_late)
    sign_in(page, "Zane", PASSWORD)
    page.get_by_role("button", name="Debt forgotten").click()
    page.get_by_text("Not done: 17.4").wait_for()


@pytest.mark.browser
@pytest.mark.broker
def test_placing_is_guided_on_console_board_and_phone(desk: Scoreboard, real: RealTable, open_page: Open) -> None:
    real.begin(msgspec.structs.replace(MATCH, guided_placing=True))
    real.enter(stroke("S", "b1"))
    console = open_page(f"{desk.url}/judge?lang=en")
    sign_in(console, "Zane", PASSWORD)
    board = open_page(f"{desk.url}/?lang=en&theme=light")
    phone = open_page(f"{desk.url}/?lang=en&theme=light", 360, 640)
    for page in (console, board, phone):
        page.get_by_text("The next stroke waits").wait_for()
    real.see([Disc(id="r9", kind="red", x_mm=3.0, y_mm=485.0)])
    for page in (console, board, phone):
        page.locator("[data-line]", has_text="3.0\u00a0mm toward\u00a0W").wait_for()
        assert page.locator('.table [data-target][visibility="visible"]').count() == 1
    line = phone.locator("[data-line]", has_text="3.0").bounding_box()
    assert line is not None
    assert line["y"] + line["height"] <= 640, "on a phone it is seen without scrolling"
    real.see([Disc(id="r9", kind="red", x_mm=0.2, y_mm=485.0)])
    for page in (console, board, phone):
        page.locator("[data-line].done", has_text="in place").wait_for()
        page.get_by_text("The next stroke waits").wait_for(state="hidden")
    board.screenshot(path=str(SHOTS / "placing-board-1280x800.png"))
    phone.screenshot(path=str(SHOTS / "placing-phone-360x640.png"))
    real.see([Disc(id="r9", kind="red", x_mm=9.0, y_mm=480.0)])
    console.get_by_role("button", name="Wave through").click()
    console.get_by_role("dialog").get_by_role("button", name="Send").click()
    console.locator("[data-part=placing]").wait_for(state="hidden")
    assert match_state(real.state)["placing"] == []
    assert real.lines()[-1]["judge"] == {"command": "wave_through", "by": "Zane"}


@pytest.mark.broker
def test_only_an_admin_breaks_off_a_match_and_a_clause_must_be_in_the_book(desk: Scoreboard, real: RealTable) -> None:
    judge, admin = signed_in(desk.url), signed_in(desk.url, "Ilze", ADMIN)
    form = {"format": "singles", "ruleset": "lnf-2008", "sets": 3, "first": ["Anna"], "second": ["Berta"], "colour": "red"}

    def begin(cookie: str, **more: Any) -> tuple[int, dict[str, Any]]:
        status, answer = post(desk.url, "/judge/match", json.dumps(form | more), cookie=cookie)
        return status, json.loads(answer["body"])

    assert begin(judge)[1]["accepted"]
    real.enter(stroke("S", "r1"))
    assert "end that match first" in begin(judge)[1]["error"]
    assert begin(judge, force=True) == (403, {"accepted": False, "error": "breaking off a match is for admins only"})
    assert begin(admin, force=True)[1]["accepted"]
    assert [line["match"]["by"] for line in real.lines() if "match" in line] == ["Zane", "Ilze"]
    odd = json.dumps({"command": "warning", "side": "N", "clause": "19.1.z"})
    answer = json.loads(post(desk.url, "/judge/preview", odd, cookie=judge)[1]["body"])
    assert "no such clause" in answer["error"]


@pytest.mark.browser
@pytest.mark.broker
def test_an_admin_reads_the_journal_and_signs_others_out(desk: Scoreboard, open_page: Open) -> None:
    post(desk.url, "/judge/command", WARNING)
    judge = signed_in(desk.url)
    page = open_page(f"{desk.url}/judge?lang=en")
    sign_in(page, "Ilze", ADMIN)
    page.get_by_role("link", name="Journal").click()
    page.locator("tr", has_text="a stranger").wait_for()
    page.screenshot(path=str(SHOTS / "journal-1280x800.png"))
    assert http_get(desk.url, "/judge/journal", judge) == 403
    page.get_by_role("button", name="Sign out Zane").click()
    page.locator("tr", has_text="end of Zane's session").wait_for()
    assert post(desk.url, "/judge/command", WARNING, cookie=judge)[0] == 403


def http_get(url: str, path: str, cookie: str, **headers: str) -> int:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=8)
    try:
        connection.request("GET", path, headers={"cookie": cookie} | {key.replace("_", "-"): value for key, value in headers.items()})
        return connection.getresponse().status
    finally:
        connection.close()
