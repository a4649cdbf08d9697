"""A judge's whole day through a real browser: a match from the form to the sheet, and a log that folds to the same state."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from device.sheet import log_as_html
from rules.facts import Disc
from rules.fold import match_state
from rules.state import START_DEPTH_MM, START_OFFSETS_MM
from scoreboard.server import Scoreboard
from tests.parts.brokers import Mosquitto, free_port
from tests.parts.browser import SHOTS
from tests.scoreboard.board_rig import Open, sign_in, wait_until
from tests.scoreboard.table_rig import RealTable, stroke

pytestmark = [pytest.mark.browser, pytest.mark.broker]
PASSWORD = "ripa-un-kija"
CLOSE_MM = -374.4  # r1 here is as near to S's line as makes no odds
STROKES = 30


class Day:
    """A table whose strokes are made here, and its console in a browser."""

    def __init__(self, table: RealTable, page: Any) -> None:
        self.table = table
        self.page = page
        self.strokes = 0

    def stroke(self, **how: Any) -> int:
        """A stroke by whoever has the turn; its entry's number, once its card is there."""
        side = self.table.state.core.set.turn
        self.strokes += 1
        entry = self.table.enter(stroke(side, how.pop("first", "r1" if side == "S" else "b1"), **how)).entry
        self.card(entry).wait_for()
        return entry

    def card(self, entry: int) -> Any:
        return self.page.locator(f'[data-card][data-entry="{entry}"]')

    def send(self) -> None:
        """Send what the window shows, and wait for the answer."""
        before = len(self.table.lines())
        self.page.get_by_role("dialog").get_by_role("button", name="Send").click()
        wait_until(lambda: len(self.table.lines()) > before)

    def until_turn(self, side: str) -> None:
        while self.table.state.core.set.turn != side:
            self.stroke()


@pytest.fixture
def day(broker: Mosquitto, open_page: Open, tmp_path: Path) -> Iterator[Day]:
    table = RealTable(broker, tmp_path)
    sheet = lambda lang: log_as_html(table.path, lang)  # noqa: E731 - a callable is what the board takes
    board = Scoreboard(broker.url, "t1", port=free_port(), judge_password=PASSWORD, sheet=sheet)
    board.start()
    try:
        page = open_page(f"{board.url}/judge?lang=en")
        sign_in(page, "Zane", PASSWORD)
        yield Day(table, page)
    finally:
        board.stop()
        table.close()


def row(kind: str, y_mm: float) -> list[Disc]:
    return [Disc(id=f"{kind[0]}{n}", kind=kind, x_mm=x, y_mm=y_mm) for n, x in enumerate(START_OFFSETS_MM, 1)]  # type: ignore[arg-type]


def start_match(day: Day) -> None:
    page = day.page
    day.table.see([*row("red", START_DEPTH_MM), *row("black", -START_DEPTH_MM)])
    page.get_by_text("New match", exact=True).click()
    page.get_by_text("On the table: S red, N black").wait_for()
    form = page.locator("form[data-match]")
    form.get_by_label("Number of sets").fill("3")
    form.get_by_label("First on the sheet").first.fill("Anna")
    form.get_by_label("Second on the sheet").first.fill("Berta")
    form.get_by_label("First turn").select_option("knock_out")
    form.get_by_label("Round").fill("2")
    form.get_by_role("button", name="Begin the match").click()
    page.get_by_role("dialog").get_by_text("Berta begins").wait_for()
    day.send()
    page.locator("[data-part=set]", has_text="Set 1 of 3").wait_for()


def review(day: Day, reading: str) -> None:
    day.until_turn("S")
    entry = day.stroke(y_mm=CLOSE_MM)
    day.card(entry).get_by_role("button", name=f"Red piece {reading}").click()
    day.send()


def override(day: Day, entry: int, verdict: str) -> None:
    card = day.card(entry)
    card.locator("[data-part=override] summary").click()
    card.locator("[data-part=override] select[name=clause]").select_option(verdict)
    card.get_by_role("button", name="Override", exact=True).click()
    day.send()


def test_a_judge_s_whole_day(day: Day) -> None:
    page, table = day.page, day.table
    start_match(day)
    assert table.state.core.set.turn == "N", "22.1.b: in the second round the second named begins"
    for _ in range(4):
        day.stroke()
    review(day, "light")
    override(day, day.stroke(), "17.1.j")
    review(day, "dark")
    two_back = day.stroke()
    day.stroke()
    last = day.stroke()
    assert last == two_back + 2
    day.card(two_back).get_by_role("button", name="Void").click()
    page.get_by_role("dialog").get_by_text(f"Entry {last}", exact=True).wait_for()
    page.screenshot(path=str(SHOTS / "judge-void-1280x800.png"))
    day.send()
    page.locator(f'[data-card][data-entry="{two_back}"][data-gone="yes"]').wait_for()
    override(day, day.stroke(first="b2" if table.state.core.set.turn == "S" else "r2"), "lawful")
    warn = page.locator('form[data-command="warning"]')
    warn.locator("select[name=side]").select_option(label="Berta")
    warn.locator("select[name=clause]").select_option("19.1.e")
    warn.get_by_role("button", name="Give warning").click()
    day.send()
    review(day, "light")

    day.until_turn("S")
    both = {"left": ("r1", "b1"), "fall": ("r1", "b1")}
    replayed = day.stroke(**both)
    day.card(replayed).get_by_text("20.5").first.wait_for()
    assert (match_state(table.state)["set"], match_state(table.state)["finished"][0]["winner"]) == (1, None)
    while day.strokes < STROKES - 1:
        day.stroke()
    side = table.state.core.set.turn
    own, other = ("r1", "b1") if side == "S" else ("b1", "r1")
    won = day.stroke(first=own, left=(own, other), fall=(own,))
    day.card(won).get_by_text("20.3").first.wait_for()
    assert day.strokes == STROKES

    ahead = max(match_state(table.state)["sets_won"], key=lambda s: match_state(table.state)["sets_won"][s])
    award = page.locator('form[data-command="award_set"]')
    award.locator("select[name=side]").select_option(ahead)
    award.get_by_role("button", name="Award set").click()
    page.get_by_role("dialog").locator("tr", has_text="Match").get_by_text("over").wait_for()
    day.send()
    page.get_by_role("link", name="Match sheet").click()
    sheet = page.locator("section")
    sheet.get_by_text(re.compile("2 : 0|0 : 2")).wait_for()
    for said in ("replayed", "19.1.e", "Anna – Berta"):
        assert said in str(sheet.text_content())
    page.screenshot(path=str(SHOTS / "sheet-1280x800.png"))

    assert table.folded() == match_state(table.state)
    commands = [line["judge"] for line in table.lines() if "judge" in line]
    assert Counter(c["command"] for c in commands) == {"resolve": 3, "override": 2, "void": 1, "warning": 1, "award_set": 1}
    assert all(c["by"] == "Zane" for c in commands)
    assert all(line["at"] for line in table.lines())
    assert table.lines()[0]["match"]["by"] == "Zane"
