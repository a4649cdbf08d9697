"""Guided placing on the camera's picture: distances on the table and in a hand, on board, console and phone, and when it goes."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from device import topics
from device.live_view import picture_of
from rules.facts import Picture, SeenDisc
from rules.ruling import Place
from scoreboard.hall import Hall
from scoreboard.ruling_view import ruling_view
from scoreboard.server import Scoreboard
from scoreboard.state import PICTURE_LASTS_S, Snapshot, Unreadable, apply, connected
from scoreboard.view import picture_view
from tests.parts.brokers import Mosquitto, free_port
from tests.parts.browser import SHOTS
from tests.parts.laying import LYING, Filmed, laying
from tests.scoreboard import board_game as game
from tests.scoreboard.board_rig import Open, Table, sign_in, wait_until
from tests.scoreboard.test_judge import PASSWORD

PLACE = {"kind": "red", "id": "r9", "x_mm": 20.0, "y_mm": 440.0, "clause": "17.3"}
WANTED = Place(**PLACE)  # type: ignore[arg-type]
MATCH = {**game.MATCH, "placing": [PLACE], "guided_placing": True}
RULING = game.fault(2, place=[PLACE], restore=[], margins=[])
SIZES = [(360, 640), (1280, 800), (1920, 1080)]


def live(*more: tuple[str, str, float, float], at_rest: bool = True) -> dict[str, Any]:
    """The live picture of the discs that lie there, and more about which a hand may be."""
    record = game.seen([*LYING, *more])
    for disc in record["discs"]:
        disc["at_rest"] = at_rest or disc["id"] not in {d[0] for d in more}
    return record


def shown(film: Filmed, places: list[Place] | None = None) -> Picture:
    return picture_of(film.frame, laying().camera, film.seen, film.hands, [WANTED] if places is None else places)


def pictured(x_mm: float = 33.0, y_mm: float = 428.0) -> Picture:
    """A hand that brings a red piece."""
    picture = shown(laying().film(("red", x_mm, y_mm, 14.0)))
    assert picture.held is not None
    return picture


def fold(*messages: tuple[topics.Topic, Any], start: Snapshot | None = None, at_s: float = 100.0) -> Snapshot:
    now = start or connected(Snapshot(), broker=True)
    for topic, record in messages:
        payload = record if isinstance(record, bytes) else msgspec.json.encode(record)
        now, _ = apply(now, topic.name, payload, retained=False, at_s=at_s)
    return now


ASKED = ((topics.MATCH, MATCH), (topics.RULING, RULING))


def held(x_mm: float, y_mm: float, sigma_mm: float = 3.0, kind: str = "red") -> Picture:
    found = {"kind": kind, "x_mm": x_mm, "y_mm": y_mm, "sigma_mm": sigma_mm}
    return msgspec.convert({"half_mm": 130.0, "jpeg": "/9j/", "held": found}, Picture)


# --- what is said -----------------------------------------------------------------------------------------------------


def test_a_piece_in_a_hand_is_told_as_about_and_never_as_in_place() -> None:
    view = ruling_view(fold(*ASKED, (topics.PICTURE, held(32.3, 440.5))), "en")
    assert view["lines"] == [("Place a red piece (17.3) – in hand, about 12\u00a0mm toward\u00a0W", False)]
    assert view["following"] == "in hand, about 12\u00a0mm toward\u00a0W"
    assert view["targets"] == [["red", 20.0, 440.0, 32.3, 440.5, False, True]]
    over = ruling_view(fold(*ASKED, (topics.PICTURE, held(20.1, 440.0))), "en")
    assert over["lines"] == [("Place a red piece (17.3) – in hand, over its place", False)]
    assert over["waits"] == "The next stroke waits"


def test_a_piece_that_a_hand_is_at_is_green_only_when_it_lies_at_rest() -> None:
    there = ("r9", "red", 20.2, 440.1)
    at_hand = ruling_view(fold(*ASKED, (topics.DISCS, live(there, at_rest=False))), "en")
    assert at_hand["lines"] == [("Place a red piece (17.3) – in hand, over its place", False)]
    lies = ruling_view(fold(*ASKED, (topics.DISCS, live(there))), "en")
    assert (lies["lines"], lies["following"], lies["waits"]) == ([("Place a red piece (17.3) – in place", True)], "", "")


def test_what_the_log_accepts_is_not_waited_for_but_is_green_only_within_half_a_millimetre() -> None:
    view = ruling_view(fold(*ASKED, (topics.DISCS, live(("r9", "red", 20.7, 440.0)))), "en")
    assert view["lines"] == [("Place a red piece (17.3) – still 0.7\u00a0mm toward\u00a0W", False)]
    assert view["waits"] == "", "0.5 mm and twice its sigma of 0.15"


def test_a_piece_in_a_hand_is_for_the_nearest_place_of_its_kind_that_is_still_open() -> None:
    other = {**PLACE, "id": "r8", "x_mm": -300.0}
    black = {**PLACE, "kind": "black", "id": "b9", "x_mm": 60.0}
    match = {**MATCH, "placing": [PLACE, other, black]}
    ruled = (topics.RULING, game.fault(2, place=[PLACE, other, black], restore=[]))

    def about(*messages: tuple[topics.Topic, Any]) -> list[bool]:
        return [target[6] for target in ruling_view(fold((topics.MATCH, match), ruled, *messages), "en")["targets"]]

    assert about((topics.PICTURE, held(50.0, 440.0))) == [True, False, False]
    assert about((topics.DISCS, live(("r9", "red", 20.0, 440.0))), (topics.PICTURE, held(50.0, 440.0))) == [False, True, False]
    assert about((topics.PICTURE, held(0.0, 0.0, kind="black"))) == [False, False, True]
    assert about((topics.PICTURE, held(0.0, 0.0, kind="striker"))) == [False, False, False]


def test_a_neighbour_that_lay_there_before_is_not_told_to_move() -> None:
    neighbour, new = ("r7", "red", 46.0, 455.0), ("r12", "red", 60.0, 440.0)
    stroke = {"entry": 2, "before": {"discs": [{"id": d[0], "kind": d[1], "x_mm": d[2], "y_mm": d[3]} for d in (*LYING, neighbour)]}}

    def says(*messages: tuple[topics.Topic, Any]) -> str:
        return str(ruling_view(fold(*ASKED, *messages), "en")["following"])

    assert says((topics.DISCS, live(neighbour))) == "Place a red piece (17.3)", "30 mm off: it touches the place"
    assert says((topics.STROKE, stroke), (topics.DISCS, live(neighbour))) == "Place a red piece (17.3)"
    assert says((topics.STROKE, stroke), (topics.DISCS, live(neighbour, new))) == "still 40\u00a0mm toward\u00a0W"
    assert says((topics.DISCS, live(neighbour, ("r7", "red", 25.0, 440.0)))) == "still 5.0\u00a0mm toward\u00a0W"


def test_a_piece_to_put_back_is_known_by_its_name_wherever_it_lies() -> None:
    back = {"id": "b3", "x_mm": -340.0, "y_mm": 89.0, "clause": "13.8"}
    match = (topics.MATCH, {**MATCH, "placing": [{**back, "kind": "black"}]})
    ruled = (topics.RULING, game.fault(2, place=[], restore=[back]))
    assert ruling_view(fold(match, ruled, (topics.DISCS, live())), "en")["following"] == "still 200\u00a0mm toward\u00a0S"


def test_an_older_table_that_says_nothing_of_rest_counts_as_before() -> None:
    record = game.seen([("r9", "red", 20.2, 440.1)])
    assert ruling_view(fold(*ASKED, (topics.DISCS, record)), "en")["lines"][0][1]
    assert "at_rest" not in msgspec.to_builtins(SeenDisc(kind="red", x_mm=0.0, y_mm=0.0, sigma_mm=0.1))


def test_the_picture_goes_when_it_is_taken_away_when_it_ages_and_when_the_table_or_broker_goes() -> None:
    now = fold(*ASKED, (topics.PICTURE, held(30.0, 440.0)))
    assert picture_view(now, "/table/t1") == {"src": "/table/t1/picture.jpg?n=1", "x": 0.0, "y": 0.0, "half": 130.0}
    later = 100.0 + PICTURE_LASTS_S
    assert fold((topics.DISCS, live()), start=now, at_s=later).camera is not None
    aged, changed = apply(now, "discs", msgspec.json.encode(live()), retained=False, at_s=later + 0.1)
    assert "picture" in changed
    assert "ruling" in changed
    ended = [
        aged,
        fold((topics.PICTURE, Picture()), start=now),
        fold((topics.STATUS, game.OFFLINE), start=now),
        connected(now, broker=False),
    ]
    for without in ended:
        assert picture_view(without, "") == {"src": ""}
        assert ruling_view(without, "en")["targets"] == [["red", 20.0, 440.0, None, None, False, False]]
    assert fold((topics.PICTURE, held(1.0, 1.0)), start=aged).camera_count == 2


@pytest.mark.parametrize(
    "record",
    [
        b"\xff\xd8\xff",
        {"jpeg": "PHNjcmlwdD4=", "half_mm": 100},
        {"jpeg": "/9j/", "half_mm": 0},
        {"jpeg": "/9j/", "half_mm": 1e9},
        {"jpeg": 7},
    ],
)
def test_what_is_no_picture_of_a_table_is_left_out(record: object) -> None:
    with pytest.raises(Unreadable, match="picture"):
        fold((topics.PICTURE, record))
    long = {"jpeg": b"\xff\xd8\xff" + bytes(1_000_000), "half_mm": 100}
    with pytest.raises(Unreadable, match="picture"):
        fold((topics.PICTURE, long))


# --- in the browser ---------------------------------------------------------------------------------------------------


def got(url: str, path: str) -> tuple[int, str, bytes]:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=8)
    try:
        connection.request("GET", path)
        with connection.getresponse() as answer:
            return answer.status, str(answer.getheader("content-type")), answer.read()
    finally:
        connection.close()


@pytest.fixture
def desk(broker: Mosquitto) -> Iterator[Scoreboard]:
    board = Scoreboard(broker.url, "t1", port=free_port(), judge_password=PASSWORD)
    board.start()
    wait_until(lambda: board.is_connected)
    yield board
    board.stop()


@pytest.mark.broker
def test_everybody_may_look_at_the_newest_picture_and_its_absence_is_no_fault(desk: Scoreboard, table: Table) -> None:
    assert got(desk.url, "/picture.jpg") == (204, "None", b"")
    table.send(topics.PICTURE, held(0.0, 0.0))
    wait_until(lambda: got(desk.url, "/picture.jpg?n=1")[0] == 200)
    assert got(desk.url, "/picture.jpg?n=0") == (200, "image/jpeg", b"\xff\xd8\xff")


@pytest.mark.broker
def test_the_hall_hands_on_each_table_s_own_picture(broker: Mosquitto, table: Table) -> None:
    hall = Hall(broker.url, port=free_port())
    url = hall.start()
    try:
        table.send(topics.STATUS, game.ONLINE)
        wait_until(lambda: hall.tables == ("t1",))
        table.send(topics.PICTURE, held(0.0, 0.0))
        wait_until(lambda: got(url, "/table/t1/picture.jpg")[0] == 200)
        assert got(url, "/table/t2/picture.jpg")[0] == 404
    finally:
        hall.stop()


def ask(table: Table, page: Any) -> None:
    """A piece is to be placed, and the page says so."""
    table.send(topics.STATUS, game.ONLINE)
    for topic, record in ASKED:
        table.send(topic, record)
    table.send(topics.DISCS, live())
    page.locator("[data-line]", has_text="Place a red piece").wait_for()


def show(table: Table, page: Any, picture: Picture) -> None:
    """Send a picture and wait until it is on the page with its marks."""
    table.send(topics.DISCS, live())
    table.send(topics.PICTURE, picture)
    page.locator("[data-part=live]").wait_for()
    view = f"{picture.x_mm - picture.half_mm:g} {-picture.y_mm - picture.half_mm:g}"
    page.locator(f'.live svg[viewBox^="{view}"]').wait_for()


def is_sane(page: Any, width: int) -> None:
    assert page.evaluate("document.querySelector('.live img').naturalWidth") == 480
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.getAnimations().length") == 0


@pytest.mark.browser
@pytest.mark.broker
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_place_is_shown_on_the_picture_and_on_the_table(
    desk: Scoreboard, table: Table, open_page: Open, width: int, height: int
) -> None:
    in_hand = pictured()
    page = open_page(f"{desk.url}/?lang=en&theme=dark", width, height)
    ask(table, page)
    assert page.locator("[data-part=live]").is_hidden()
    nodes = page.evaluate("document.querySelectorAll('*').length")
    show(table, page, in_hand)
    page.locator("[data-part=ruling] [data-line]", has_text="in hand, about").wait_for()
    page.locator(".live figcaption", has_text="toward\u00a0W").wait_for()
    for where in (".live", ".table"):
        assert page.locator(f'{where} [data-target="0"].about').get_attribute("visibility") == "visible"
    is_sane(page, width)
    line = page.locator("[data-line]", has_text="in hand").bounding_box()
    figure = page.locator("[data-part=live]").bounding_box()
    place = page.locator('.table [data-target="0"] .ring').bounding_box()
    assert line is not None
    assert figure is not None
    assert place is not None
    assert line["y"] + line["height"] <= height, "seen without scrolling"
    if width > 900:
        assert figure["y"] >= place["y"] + place["height"] or figure["x"] >= place["x"] + place["width"], (
            "the place on the table is not hidden"
        )
        assert figure["y"] + figure["height"] <= height
    page.screenshot(path=str(SHOTS / f"placing-hand-board-{width}x{height}.png"), full_page=width < 900)

    table.send(topics.PICTURE, shown(laying().film(laid=(("r9", "red", 21.4, 440.0),))))
    table.send(topics.DISCS, live(("r9", "red", 21.4, 440.0)))
    page.locator(".live figcaption", has_text="still 1.4\u00a0mm toward\u00a0W").wait_for()
    page.screenshot(path=str(SHOTS / f"placing-near-board-{width}x{height}.png"))
    table.send(topics.DISCS, live(("r9", "red", 20.2, 440.0)))
    page.locator("[data-part=ruling] [data-line].done", has_text="in place").wait_for()
    assert page.locator('.live [data-target="0"].done').count() == 1
    page.screenshot(path=str(SHOTS / f"placing-done-board-{width}x{height}.png"))
    table.send(topics.PICTURE, Picture())
    page.locator("[data-part=live]").wait_for(state="hidden")
    assert page.evaluate("document.querySelectorAll('*').length") == nodes


@pytest.mark.browser
@pytest.mark.broker
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_console_shows_it_and_may_ask_for_the_whole_table(
    desk: Scoreboard, table: Table, open_page: Open, width: int, height: int
) -> None:
    heard: list[dict[str, Any]] = []

    def obey(order: dict[str, Any]) -> None:
        heard.append(order)
        table.send(topics.JUDGE_RESULT, {"correlation": order["correlation"], "accepted": True})

    table.on_judge(obey)
    in_hand = pictured()
    page = open_page(f"{desk.url}/judge?lang=en&theme=light", width, height)
    sign_in(page, "Zane", PASSWORD)
    ask(table, page)
    show(table, page, in_hand)
    page.locator("[data-part=placing] [data-line]", has_text="in hand, about").wait_for()
    is_sane(page, width)
    page.screenshot(path=str(SHOTS / f"placing-hand-console-{width}x{height}.png"), full_page=True)
    table.send(topics.PICTURE, Picture())
    page.locator("[data-part=live]").wait_for(state="hidden")

    button = page.get_by_role("button", name="Camera picture")
    button.click()
    wait_until(lambda: len(heard) == 1)
    show(table, page, shown(laying().film(), []))
    page.locator('[data-do="show_table"][aria-pressed="true"]').wait_for()
    button.click()
    wait_until(lambda: len(heard) == 2)
    assert [(order["command"], order["show"], order["by"]) for order in heard] == [
        ("show_table", True, "Zane"),
        ("show_table", False, "Zane"),
    ]


@pytest.mark.browser
@pytest.mark.broker
def test_a_picture_of_which_nothing_comes_any_more_goes_by_itself(desk: Scoreboard, table: Table, open_page: Open) -> None:
    page = open_page(f"{desk.url}/?lang=en")
    ask(table, page)
    show(table, page, pictured())

    def tick() -> bool:
        table.send(topics.DISCS, live())
        page.wait_for_timeout(100)
        return bool(page.locator("[data-part=live]").is_hidden())

    assert wait_until(tick) > PICTURE_LASTS_S - 1.0
    assert page.locator("[data-line]", has_text="in hand").count() == 0


@pytest.mark.browser
@pytest.mark.broker
def test_nodes_and_animations_stay_as_they_are_over_many_pictures(desk: Scoreboard, table: Table, open_page: Open) -> None:
    page = open_page(f"{desk.url}/?lang=en")
    ask(table, page)
    pictures = [pictured(), pictured(10.0, 425.0)]
    show(table, page, pictures[0])
    nodes = page.evaluate("document.querySelectorAll('*').length")
    for n in range(100):
        table.send(topics.PICTURE, pictures[n % 2])
    page.locator('.live img[src$="n=101"]').wait_for()
    assert page.evaluate("document.querySelectorAll('*').length") == nodes
    assert page.evaluate("document.getAnimations().length") == 0
