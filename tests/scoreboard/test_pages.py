"""The pages in a real browser, fed by a real broker."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from device import topics
from scoreboard.server import Scoreboard
from tests.parts.brokers import Mosquitto, free_port
from tests.parts.browser import SHOTS
from tests.scoreboard import board_game as game
from tests.scoreboard.board_rig import Open, Table

pytestmark = [pytest.mark.browser, pytest.mark.broker]
STALE_S = 3.0 + 1.0  # the promise, and a second for a busy machine
BACK_S = 5.0
SIZES = [(360, 640), (1280, 800), (1920, 1080)]


def text(page: Any, part: str) -> str:
    return str(page.locator(f'[data-part="{part}"]').first.text_content())


def link(page: Any) -> str:
    return str(page.locator("body").get_attribute("data-link"))


def until(page: Any, is_so: Callable[[], bool], timeout_s: float = 8.0) -> float:
    """Like `wait_until`, while the page's own events go on."""
    start = time.monotonic()
    while not is_so():
        assert time.monotonic() - start < timeout_s, "waited too long"
        page.wait_for_timeout(30)
    return time.monotonic() - start


def play(table: Table, seed: int = 0) -> None:
    table.send(topics.STATUS, game.ONLINE)
    table.send(topics.MATCH, game.MATCH)
    table.send(topics.DISCS, game.seen(game.wander(game.mid_game(), seed) if seed else game.mid_game()))


def keep_live(page: Any, table: Table, is_so: Callable[[], bool], timeout_s: float = 8.0) -> float:
    def tick() -> bool:
        table.send(topics.DISCS, game.seen(game.mid_game()))
        return is_so()

    return until(page, tick, timeout_s)


def test_page_opened_first_waits_and_then_shows_the_game(scoreboard: Scoreboard, table: Table, open_page: Open) -> None:
    page = open_page(f"{scoreboard.url}/?lang=en")
    until(page, lambda: link(page) == "waiting")
    assert text(page, "title") == "No ruling yet"
    assert page.locator('[data-slot][visibility="visible"]').count() == 0

    play(table)
    until(page, lambda: link(page) == "live" and page.locator('[data-slot][visibility="visible"]').count() == 12)

    assert [page.locator(f'[data-team="{n}"] [data-part=name]').text_content() for n in (0, 1)] == ["Bērziņš Jānis", "Anna Ozoliņa"]
    assert page.locator('[data-team="1"]').get_attribute("class") == "team playing"
    assert page.locator('[data-team="0"] [data-part=debt]').text_content() == "1"
    assert text(page, "set") == "Set 3 of 5"


def test_ruling_appears_within_a_blink(scoreboard: Scoreboard, table: Table, open_page: Open) -> None:
    play(table)
    page = open_page(f"{scoreboard.url}/?lang=en")
    keep_live(page, table, lambda: link(page) == "live")
    table.send(topics.RULING, game.fault())
    until(page, lambda: text(page, "title") == "Fault", 2.0)
    assert page.locator("[data-part=ruling]").get_attribute("data-state") == "fault"
    assert page.locator("[data-clause]:visible").all_text_contents() == ["17.1.h", "17.1.p"]
    assert text(page, "margin-value") == "+2.3\u00a0±\u00a00.8\u00a0mm"
    assert page.locator('.table [data-target][visibility="visible"]').count() == 2


def test_review_and_no_call_never_look_like_no_fault(scoreboard: Scoreboard, table: Table, open_page: Open) -> None:
    play(table)
    page = open_page(f"{scoreboard.url}/?lang=en")
    records = {"lawful": game.ruling(), "fault": game.fault(), "review": game.review(), "no_call": game.no_call(), "won": game.set_won()}
    shown = (
        "Array.from(document.querySelectorAll('[data-sign]')).filter(e => getComputedStyle(e).display !== 'none').map(e => e.dataset.sign)"
    )
    for state, record in {**records, "note": game.warning()}.items():
        table.send(topics.RULING, record)
        until(page, lambda: page.locator("[data-part=ruling]").get_attribute("data-state") == state)  # noqa: B023 - used at once
        assert (text(page, "title") == "Lawful stroke") == (state == "lawful")
        assert page.evaluate(shown) == [state]


def test_discs_move_and_come_to_rest(scoreboard: Scoreboard, table: Table, open_page: Open) -> None:
    play(table)
    page = open_page(scoreboard.url)
    striker = page.locator('[data-slot="32"]')
    until(page, lambda: striker.get_attribute("transform") == "translate(-74.00 431.00)")
    table.send(topics.DISCS, game.seen([("striker", "striker", 26.0, -331.0)]))
    until(page, lambda: striker.get_attribute("transform") == "translate(26.00 331.00)")
    assert page.locator('[data-slot][visibility="visible"]').count() == 1


def test_stale_mark_comes_with_the_broker_s_end_and_goes_with_its_return(
    scoreboard: Scoreboard, broker: Mosquitto, table: Table, open_page: Open
) -> None:
    play(table)
    page = open_page(f"{scoreboard.url}/?lang=en")
    keep_live(page, table, lambda: link(page) == "live")
    broker.stop()
    assert until(page, page.locator("[data-part=stale]").is_visible) < STALE_S
    assert text(page, "why") == "No connection to the message broker"
    broker.start()
    table.wait_connected()
    play(table, seed=3)
    assert keep_live(page, table, lambda: link(page) == "live") < BACK_S
    assert page.locator("[data-part=stale]").is_hidden()


def test_stale_mark_when_the_monitor_goes_offline_or_its_camera_falls_silent(scoreboard: Scoreboard, table: Table, open_page: Open) -> None:
    play(table)
    page = open_page(f"{scoreboard.url}/?lang=en")
    keep_live(page, table, lambda: link(page) == "live")
    assert until(page, page.locator("[data-part=stale]").is_visible) < 3 + 1 + STALE_S - 3
    assert text(page, "why") == "No picture from the camera"
    keep_live(page, table, lambda: link(page) == "live")
    table.send(topics.STATUS, game.OFFLINE)
    until(page, lambda: text(page, "why") == "The table monitor is offline", STALE_S)


def test_server_restart_is_noticed_and_healed(broker: Mosquitto, table: Table, open_page: Open) -> None:
    port = free_port()
    first = Scoreboard(broker.url, "t1", port=port)
    url = first.start()
    play(table)
    page = open_page(f"{url}/?lang=en")
    keep_live(page, table, lambda: link(page) == "live")
    start = time.monotonic()
    first.stop()
    assert time.monotonic() - start < 1.0, "open streams must not hold the server up"
    assert until(page, page.locator("[data-part=stale]").is_visible) < STALE_S
    assert text(page, "why") == "No connection to the board's server"
    second = Scoreboard(broker.url, "t1", port=port)
    assert second.start() == url
    try:
        table.send(topics.RULING, game.ruling(9))
        assert keep_live(page, table, lambda: link(page) == "live" and text(page, "set") == "Set 3 of 5") < BACK_S
    finally:
        second.stop()


def test_nodes_stay_the_same_over_many_updates(scoreboard: Scoreboard, table: Table, open_page: Open) -> None:
    play(table)
    page = open_page(scoreboard.url)
    until(page, lambda: page.locator('[data-slot][visibility="visible"]').count() == 12)
    nodes = page.evaluate("document.querySelectorAll('*').length")
    records = [game.ruling, game.fault, game.review, game.no_call]
    for n in range(400):
        table.send(topics.DISCS, game.seen(game.wander(game.mid_game(), n)))
        if n % 10 == 0:
            table.send(topics.RULING, records[n // 10 % 4](n))
    until(page, lambda: page.locator("[data-part=ruling]").get_attribute("data-state") == "no_call")
    assert page.evaluate("document.querySelectorAll('*').length") == nodes
    assert page.evaluate("document.getAnimations().length") == 0


def test_language_of_the_address(scoreboard: Scoreboard, table: Table, open_page: Open) -> None:
    play(table)
    table.send(topics.RULING, game.ruling())
    for lang, title in {"lv": "Pareizs sitiens", "en": "Lawful stroke", "de": "Richtiger Stoß"}.items():
        page = open_page(f"{scoreboard.url}/?lang={lang}")
        until(page, lambda: text(page, "title") == title)  # noqa: B023 - used at once
        assert page.locator("html").get_attribute("lang") == lang


def test_everything_that_can_be_chosen_is_reached_by_keyboard(scoreboard: Scoreboard, open_page: Open) -> None:
    page = open_page(f"{scoreboard.url}/?lang=lv&theme=dark")
    seen = []
    for _ in range(5):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.textContent"))
    assert seen == ["Latviešu", "English", "Deutsch", "Gaišs", "Tumšs"]
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**theme=light**")
    assert page.locator("html").get_attribute("data-theme") == "light"
    assert page.locator("html").get_attribute("lang") == "lv"


def test_overlay_is_transparent_and_its_parts_are_chosen(scoreboard: Scoreboard, table: Table, open_page: Open) -> None:
    play(table)
    table.send(topics.RULING, game.fault())
    page = open_page(f"{scoreboard.url}/overlay?lang=en", 1920, 1080)
    keep_live(page, table, lambda: text(page, "title") == "Fault" and link(page) == "live")
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(SHOTS / "overlay-1920x1080.png"), omit_background=True)
    assert (
        page.evaluate("getComputedStyle(document.body).backgroundColor + getComputedStyle(document.documentElement).backgroundColor").count(
            "rgba(0, 0, 0, 0)"
        )
        == 2
    )
    page.goto(f"{scoreboard.url}/overlay?parts=score")
    assert page.locator("[data-team]").count() == 2
    assert page.locator("[data-part=ruling], [data-part=table]").count() == 0
    page.goto(f"{scoreboard.url}/overlay?parts=ruling&lang=en")
    until(page, page.get_by_text("Stale", exact=True).is_visible)


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_pictures_for_people_and_nothing_wider_than_the_screen(
    scoreboard: Scoreboard, table: Table, open_page: Open, width: int, height: int
) -> None:
    play(table)
    table.send(topics.RULING, game.fault())
    page = open_page(f"{scoreboard.url}/?lang=en&theme=dark", width, height)
    SHOTS.mkdir(parents=True, exist_ok=True)
    for theme in ("dark", "light"):
        page.goto(f"{scoreboard.url}/?lang=en&theme={theme}")
        keep_live(page, table, lambda: link(page) == "live" and page.locator('[data-slot][visibility="visible"]').count() == 12)
        page.screenshot(path=str(SHOTS / f"board-{width}x{height}-{theme}.png"))
        size = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
        assert size[0] <= width
        if width > 900:
            assert size[1] <= height, "a television shows no scroll bar"
            assert page.evaluate("(e => e.scrollHeight <= e.clientHeight + 1)(document.querySelector('.ruling'))")
