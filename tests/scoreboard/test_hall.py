"""The hall page with a hundred tables on one broker."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from typing import Any

import pytest

from device import topics
from scoreboard.hall import MAX_TABLES, Hall
from scoreboard.hall_view import natural
from tests.parts.brokers import Mosquitto, free_port
from tests.parts.browser import SHOTS
from tests.scoreboard import board_game as game
from tests.scoreboard.board_rig import Table, wait_until

pytestmark = pytest.mark.broker
TABLES = 100


@pytest.fixture
def hall(broker: Mosquitto) -> Iterator[Hall]:
    hall = Hall(broker.url, port=free_port())
    hall.start()
    yield hall
    hall.stop()


def players(n: int) -> dict[str, Any]:
    return {"S": {"name": f"Anna {n}", "colour": "red"}, "N": {"name": f"Jānis {n}", "colour": "black"}}


def test_tables_are_sorted_as_people_count() -> None:
    assert sorted(["t10", "t2", "A", "t1", "7"], key=natural) == ["A", "t1", "t2", "t10", "7"]


@pytest.mark.browser
def test_a_hundred_tables_and_who_needs_a_judge(hall: Hall, broker: Mosquitto, chromium: Any) -> None:
    table = Table(broker)
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB")
    try:
        page = context.new_page()
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(f"{hall.url}/?lang=en&theme=dark")
        assert page.get_by_text("No table on this broker yet.").is_visible()
        for n in range(1, TABLES + 1):
            table.name = f"t{n}"
            table.send(topics.STATUS, game.ONLINE)
            table.send(topics.MATCH, {**game.MATCH, "players": players(n)})
            table.send(topics.DISCS, game.seen(game.mid_game()))
            table.send(topics.RULING, game.review(1) if n % 25 == 0 else game.ruling(1))
        page.get_by_text("Waiting for a judge: 4").wait_for()
        page.wait_for_selector(f'[data-part="tables"] > :nth-child({TABLES})')
        assert page.locator(".place").first.locator("[data-part=name]").text_content() == "t1"
        SHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(SHOTS / "hall-1280x800.png"))

        page.get_by_label("only those waiting for a judge").check()
        assert page.locator(".place:visible [data-part=name]").all_text_contents() == ["t25", "t50", "t75", "t100"]
        page.get_by_label("Search").fill("Anna 75")
        assert page.locator(".place:visible").count() == 1
        page.set_viewport_size({"width": 360, "height": 640})
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.locator(".place:visible a").click()
        page.wait_for_selector("body.board")
        page.locator('[data-part="title"]', has_text="Judge decides").wait_for()
        assert page.locator('[data-team="1"] [data-part=name]').text_content() == "Anna 75"
        assert said == []
    finally:
        context.close()
        table.stop()


def test_an_unknown_table_is_not_found_and_names_are_bounded(hall: Hall, broker: Mosquitto) -> None:
    connection = http.client.HTTPConnection(hall.url.removeprefix("http://"), timeout=5)
    try:
        connection.request("GET", "/table/nowhere/")
        assert connection.getresponse().status == 404
    finally:
        connection.close()
    table = Table(broker)
    for n in range(MAX_TABLES + 20):
        table.name = f"x{n}"
        table.send(topics.STATUS, game.ONLINE)
    wait_until(lambda: len(hall.tables) == MAX_TABLES)
    table.stop()
