"""Everybody can use every page: axe-core finds nothing serious at any size, and all that can be done can be done by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from device.live_view import picture_of
from device.sheet import log_as_html
from rules.facts import Disc
from scoreboard.hall import Hall
from scoreboard.server import Scoreboard
from tests.parts.brokers import Mosquitto, free_port
from tests.parts.laying import laying
from tests.scoreboard import board_game as game
from tests.scoreboard.board_rig import sign_in, wait_until
from tests.scoreboard.table_rig import RealTable, stroke
from tests.scoreboard.test_judge import ADMIN, MATCH, PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.broker]
AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"  # made by `make node_modules/axe-core/axe.min.js`
# Every size and both themes; colours are the same at every size.
VIEWS = {"light": [(360, 640), (1920, 1080)], "dark": [(1280, 800)]}
RUN = """where => axe.run(where, {resultTypes: ["violations"]}).then(r => r.violations
    .filter(v => ["serious", "critical"].includes(v.impact)).map(v => [v.id, v.nodes[0].html]))"""


class Rooms:
    """A table in the middle of a match, its board with console, and the hall's page."""

    def __init__(self, broker: Mosquitto, folder: Path) -> None:
        self.table = RealTable(broker, folder)
        self.board = Scoreboard(
            broker.url,
            "t1",
            port=free_port(),
            judge_password=PASSWORD,
            admin_password=ADMIN,
            sheet=lambda lang: log_as_html(self.table.path, lang),
        )
        self.hall = Hall(broker.url, port=free_port())
        self.board.start()
        self.hall.start()
        self.table.begin(MATCH)
        self.table.see([Disc(id=i, kind=kind, x_mm=x, y_mm=y) for i, kind, x, y in game.mid_game()])  # type: ignore[arg-type]
        self.table.enter(stroke("S", "r1", fall=("r1",)))
        self.table.enter(stroke("S", "r1", y_mm=-374.4))
        self.table.enter(stroke("N", "r2"))
        wait_until(lambda: self.hall.tables == ("t1",))
        film = laying().film(("red", 20.0, 440.0, 14.0))
        self.picture = picture_of(film.frame, laying().camera, film.seen, film.hands, self.table.state.core.set.awaiting)

    def close(self) -> None:
        self.hall.stop()
        self.board.stop()
        self.table.close()


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rooms]:
    broker = Mosquitto(tmp_path_factory.mktemp("mosquitto")).start()
    rooms = Rooms(broker, tmp_path_factory.mktemp("table"))
    yield rooms
    rooms.close()
    broker.stop()


@pytest.fixture
def page(chromium: Any, rooms: Rooms) -> Iterator[Any]:
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB", bypass_csp=True)
    page = context.new_page()
    page.goto(f"{rooms.board.url}/judge?lang=en")
    sign_in(page, "Ilze", ADMIN)
    yield page
    context.close()


def opened(page: Any, rooms: Rooms, name: str, theme: str) -> None:
    """Bring a page into the state that has most on it."""
    base = rooms.hall.url if name == "hall" else rooms.board.url
    path = {
        "board": "/", "hall": "/", "overlay": "/overlay", "stats": "/stats", "journal": "/judge/journal",
        "sheet": "/judge/sheet", "sign-in": "/judge",
    }  # fmt: skip
    page.goto(f"{base}{path.get(name, '/judge')}?lang=lv&theme={theme}")
    if name in ("board", "overlay"):
        page.locator('[data-part=ruling][data-state="fault"]').wait_for()
    if name in ("board", "console"):
        rooms.table.show(rooms.picture)
        page.locator("[data-part=live]").wait_for()
    if name == "hall":
        page.locator(".place").wait_for()
    if name == "stats":
        page.locator('[data-player="0"]').wait_for()
    if name in ("console", "window"):
        page.locator('[data-card="1"]').wait_for()
        for summary in page.locator('[data-card="0"] summary, [data-part=wizard] summary').all():
            summary.click()
    if name == "window":
        page.locator('[data-card="0"] [data-part=void]').click()
        page.get_by_role("dialog").wait_for()


@pytest.mark.parametrize("name", ["board", "overlay", "hall", "stats", "console", "window", "journal", "sheet", "sign-in"])
def test_axe_finds_nothing_serious_at_any_size(page: Any, rooms: Rooms, name: str) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not here: make node_modules/axe-core/axe.min.js (needs npm)")
    if name == "sign-in":
        page.context.clear_cookies()
    script = AXE.read_text(encoding="utf-8")
    for theme, sizes in VIEWS.items():
        opened(page, rooms, name, theme)
        page.evaluate(script)
        for width, height in [(1920, 1080)] if name == "overlay" else sizes:
            page.set_viewport_size({"width": width, "height": height})
            assert page.evaluate(RUN, "dialog" if name == "window" else "html") == [], (name, theme, width)
            if name != "sheet":  # which is paper
                assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", ["board", "hall", "stats", "console", "journal"])
def test_everything_that_can_be_pressed_is_reached_by_tab_and_shows_the_focus(page: Any, rooms: Rooms, name: str) -> None:
    opened(page, rooms, name, "dark")
    count = page.evaluate("""() => {
        const all = Array.from(document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']"));
        const isShown = e => e.checkVisibility({visibilityProperty: true}) && !e.disabled && e.type !== "hidden";
        window.left = new Set(all.filter(isShown));
        return window.left.size;
    }""")
    unseen = []
    for _ in range(count + 5):
        page.keyboard.press("Tab")
        shown = page.evaluate("""() => {
            const e = document.activeElement;
            window.left.delete(e);
            const {outlineStyle, outlineWidth} = getComputedStyle(e);
            return e === document.body || (outlineStyle !== "none" && parseFloat(outlineWidth) >= 1) ? "" : e.outerHTML.slice(0, 80);
        }""")
        unseen += [shown] if shown else []
    assert unseen == []
    assert page.evaluate("Array.from(window.left, e => e.outerHTML.slice(0, 80))") == []


def reach(page: Any, script: str) -> None:
    """Press Tab until the focus is where the script wants it."""
    for _ in range(150):
        page.keyboard.press("Tab")
        if page.evaluate(f"(e => Boolean({script}))(document.activeElement)"):
            return
    pytest.fail(f"Tab does not reach {script}")


def test_the_console_is_worked_by_keyboard_alone(page: Any, rooms: Rooms) -> None:
    before = len(rooms.table.lines())
    page.locator('[data-card="0"]').wait_for()
    reach(page, 'e.name === "side" && e.form.dataset.command === "warning"')
    page.keyboard.press("Tab")
    page.keyboard.type("19.1.e")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("dialog").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="hidden")
    assert page.evaluate("document.activeElement.textContent") == "Give warning", "the focus goes back to where it was"
    page.keyboard.press("Enter")
    page.get_by_role("dialog").wait_for()
    reach(page, 'e.dataset.part === "ask-send"')
    page.keyboard.press("Enter")
    wait_until(lambda: len(rooms.table.lines()) == before + 1)
    assert rooms.table.lines()[-1]["judge"]["clause"] == "19.1.e"
