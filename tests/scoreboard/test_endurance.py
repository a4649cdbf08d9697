"""What takes minutes: ten thousand updates, and the time from MQTT to the page. `pytest -m slow tests/scoreboard` runs them."""

from __future__ import annotations

import statistics
import time
from typing import Any

import pytest

from device import topics
from device.live_view import picture_of
from rules.ruling import Place
from scoreboard.server import Scoreboard
from tests.parts.laying import laying
from tests.scoreboard import board_game as game
from tests.scoreboard.board_rig import Table

pytestmark = [
    pytest.mark.browser,
    pytest.mark.broker,
    pytest.mark.slow,
]
UPDATES = 10_000
P95_MS = 150.0
PLACE = Place(kind="red", id="r9", x_mm=0.0, y_mm=485.0, clause="17.3")


@pytest.fixture
def page(chromium: Any, scoreboard: Scoreboard, table: Table) -> Any:
    table.send(topics.STATUS, game.ONLINE)
    table.send(topics.MATCH, game.MATCH)
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(f"{scoreboard.url}/?lang=en")
    page.wait_for_selector('[data-link="live"], [data-link="waiting"]')
    yield page
    context.close()


def heap_and_nodes(page: Any) -> tuple[float, int]:
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")["usedSize"]
    session.detach()
    return used, page.evaluate("document.querySelectorAll('*').length")


def test_nodes_and_heap_are_flat_over_ten_thousand_updates(page: Any, table: Table) -> None:
    records = [game.ruling, game.fault, game.review, game.no_call]
    film = laying().film(("red", 20.0, 440.0, 14.0))
    pictures = [picture_of(film.frame, laying().camera, film.seen, film.hands, places) for places in ([], [PLACE])]

    def updates(first: int, last: int) -> None:
        for n in range(first, last):
            table.send(topics.DISCS, game.seen(game.wander(game.mid_game(), n)))
            if n % 10 == 0:
                table.send(topics.RULING, records[n // 10 % 4](n))
                table.send(topics.PICTURE, pictures[n // 10 % 2])
            if n % 5 == 0:
                page.wait_for_timeout(20)

    updates(0, 500)
    heap, nodes = heap_and_nodes(page)
    updates(500, UPDATES)
    heap_after, nodes_after = heap_and_nodes(page)
    print(f"nodes {nodes} → {nodes_after}, heap {heap / 1e6:.2f} → {heap_after / 1e6:.2f} MB")
    assert nodes_after == nodes
    assert heap_after < 1.05 * heap


def test_a_ruling_is_on_the_page_within_150_ms(page: Any, table: Table) -> None:
    page.evaluate("""() => {
        window.shown = [];
        const panel = document.querySelector('[data-part=ruling]');
        const shown = () => requestAnimationFrame(() => window.shown.push(Date.now()));
        new MutationObserver(shown).observe(panel, {attributeFilter: ['data-state']});
    }""")
    took = []
    for n in range(60):
        sent = time.time() * 1000
        table.send(topics.RULING, (game.ruling if n % 2 else game.review)(n + 1))
        page.wait_for_function("n => window.shown.length > n", arg=n)
        took.append(page.evaluate("window.shown.at(-1)") - sent)
    p95 = statistics.quantiles(took, n=20)[-1]
    print(f"median {statistics.median(took):.0f} ms, p95 {p95:.0f} ms")
    assert p95 <= P95_MS
