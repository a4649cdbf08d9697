"""The match in figures: drawings that say what the numbers say, and the page in a browser."""

from __future__ import annotations

import http.client
import re
from typing import Any
from xml.etree import ElementTree

import pytest

from rules.stats import Figures, PlayerFigures, WayFigures
from scoreboard.drawing import Rect, as_svg
from scoreboard.server import Scoreboard
from scoreboard.stats_view import drawings, stats_view
from scoreboard.words import LANGS
from tests.parts.browser import SHOTS
from tests.scoreboard.board_rig import Open
from tests.scoreboard.table_rig import RealTable, stroke
from tests.scoreboard.test_judge import MATCH

SIZES = [(360, 640), (1280, 800), (1920, 1080)]


def player(name: str = "Anna", colour: Any = "red", **more: Any) -> PlayerFigures:
    known: dict[str, Any] = {
        "strokes": 4,
        "pocketed": 2,
        "ways": {"direct": WayFigures(4, 3, 2)},
        "speeds_mm_s": [1200.0, 3400.0],
        "series": [(0, 2), (2, 1)],
        "striker_rests": [(0, 0, 3), (24, 24, 1)],
        "piece_rests": [],
    }
    return PlayerFigures(name=name, colour=colour, **(known | more))


FIGURES = Figures(match_id="m", strokes=8, players=[player(), player("Jānis <b>", "black")])


def test_numbers_are_put_into_words() -> None:
    view = stats_view(FIGURES, "en")["players"][0]
    assert view["ways"][0] == ["4", "3", "2", "50 %"]
    assert view["ways"][2] == ["0", "0", "0", "–"]
    assert [value for _, value in view["figures"]] == ["2.3 m/s", "3.4 m/s", "2"]
    assert stats_view(None, "en") == {"count": 0, "players": []}


@pytest.mark.parametrize("lang", LANGS)
def test_every_drawing_is_valid_svg_and_escapes_names(lang: Any) -> None:
    found = drawings(FIGURES, lang, "light")
    assert sorted(found) == ["pieces-1", "pieces-2", "series", "speeds", "striker-1", "striker-2", "ways"]
    for drawing in found.values():
        ElementTree.fromstring(as_svg(drawing))
    assert "<b>" not in as_svg(found["striker-2"])


def test_the_map_is_warmest_where_most_came_to_rest_and_has_south_below() -> None:
    cells = [s for s in drawings(FIGURES, "en", "light")["striker-1"].shapes if isinstance(s, Rect)][1:]
    warmest = max(cells, key=lambda cell: cell.opacity)
    assert (warmest.x, warmest.y) == (min(c.x for c in cells), max(c.y for c in cells))


def test_no_drawing_fails_on_a_match_without_strokes_or_with_four_of_a_colour() -> None:
    empty = player(ways={}, speeds_mm_s=[], series=[], striker_rests=[])
    for people in ([], [empty], [empty] * 4):
        for drawing in drawings(Figures(match_id="m", strokes=0, players=people), "lv", "dark").values():
            as_svg(drawing)


@pytest.mark.browser
@pytest.mark.broker
def test_the_page_counts_strokes_as_they_come(scoreboard: Scoreboard, real: RealTable, open_page: Open) -> None:
    page = open_page(f"{scoreboard.url}/stats?lang=en&theme=dark")
    page.get_by_text("No stroke yet.").wait_for()
    real.begin(MATCH)
    real.enter(stroke("S", "r1", fall=("r1",)))
    direct = page.locator('[data-player="0"] [data-way]').first
    direct.get_by_text("100 %").wait_for()
    real.enter(stroke("S", "r2"))
    direct.get_by_text("50 %").wait_for()
    assert page.locator('[data-player="1"] [data-part=name]').text_content() == "Berta"
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.wait_for_function("() => [...document.images].filter(i => i.src).every(i => i.complete && i.naturalWidth > 0)")
        page.screenshot(path=str(SHOTS / f"stats-{width}x{height}.png"), full_page=True)


@pytest.mark.broker
def test_pictures_are_served_by_name_only(scoreboard: Scoreboard) -> None:
    for name, status in (("ways.svg", 200), ("striker-1.svg", 404), ("../healthz.svg", 404), ("nothing.svg", 404)):
        connection = http.client.HTTPConnection(re.sub("^http://", "", scoreboard.url), timeout=5)
        connection.request("GET", f"/stats/{name}")
        assert connection.getresponse().status == status, name
        connection.close()
