"""The camera's picture for people: of which part, when, how often, and that nobody waits for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import cv2
import msgspec
import numpy as np
import pytest

from device import topics
from device.live_view import ASKED_S, SIDE_PX, WHOLE_MM, LiveView, picture_of
from device.sources.frame import Frame
from rules.facts import Disc, Entry, Match, Picture, Player, SeenDisc, SeenDiscs
from rules.fold import State, start, step
from rules.ruling import Place
from tests.parts.brokers import wait_until
from tests.parts.laying import LYING, laying
from tests.scoreboard.table_rig import stroke

PLACE = Place(kind="red", id="r9", x_mm=0.0, y_mm=485.0, clause="17.3")
MATCH = Match(
    id="m",
    ruleset="lnf-2008",
    format="singles",
    sets=3,
    players={"S": Player(name="Anna", colour="red"), "N": Player(name="Berta", colour="black")},
    first_turn="S",
    guided_placing=True,
)


def owing() -> State:
    """A match in which a red piece is to be laid out at (0, 485)."""
    state, _ = step(start(MATCH), msgspec.convert(stroke("S", "b1"), Entry))
    assert [(place.kind, place.x_mm, place.y_mm) for place in state.core.set.awaiting] == [("red", 0.0, 485.0)]
    return state


def seen(*discs: Disc, at_rest: bool = True) -> SeenDiscs:
    return SeenDiscs(
        discs=[SeenDisc(id=d.id, kind=d.kind, x_mm=d.x_mm, y_mm=d.y_mm, sigma_mm=0.15, at_rest=at_rest) for d in discs],
    )


LAID = Disc(id="r9", kind="red", x_mm=0.1, y_mm=485.0)


class Rig:
    """A view whose pictures are caught; `clock_s` is what it takes for the time."""

    def __init__(self) -> None:
        self.clock_s = 0.0
        self.sent: list[Picture] = []
        self.view = LiveView(laying().camera, self._publish, lambda: self.clock_s)
        self.image = laying().film().frame.image
        self.view.start()

    def _publish(self, topic: topics.Topic, payload: Any) -> None:
        assert topic == topics.PICTURE
        self.sent.append(payload)

    def offer(self, t_s: float, discs: SeenDiscs, state: State | None) -> None:
        self.view.offer(Frame(self.image, round(t_s * 1e9), 1), discs, None, state)

    def wait(self, pictures: int) -> None:
        assert wait_until(lambda: len(self.sent) >= pictures)


@pytest.fixture
def rig() -> Iterator[Rig]:
    rig = Rig()
    yield rig
    rig.view.close()


def decoded(picture: Picture) -> Any:
    assert picture.jpeg is not None
    return cv2.imdecode(np.frombuffer(picture.jpeg, np.uint8), cv2.IMREAD_COLOR)


def at_px(picture: Picture, x_mm: float, y_mm: float) -> tuple[int, int]:
    scale = SIDE_PX / (2 * picture.half_mm)
    return round((y_mm - picture.y_mm) * -scale + SIDE_PX / 2 - 0.5), round((x_mm - picture.x_mm) * scale + SIDE_PX / 2 - 0.5)


def test_a_piece_that_lies_at_a_place_is_seen_where_the_picture_says() -> None:
    table = laying()
    film = table.film()
    for places in ([], [PLACE]):
        picture = picture_of(film.frame, table.camera, film.seen, None, places)
        image = decoded(picture)
        assert image.shape == (SIDE_PX, SIDE_PX, 3)
        for _, kind, x_mm, y_mm in LYING:
            if kind != "red" or max(abs(x_mm - picture.x_mm), abs(y_mm - picture.y_mm)) > picture.half_mm - 20:
                continue
            row, column = at_px(picture, x_mm, y_mm)
            for away_mm, is_red in ((9.0, True), (-9.0, True), (21.0, False), (-21.0, False)):
                far = round(away_mm * SIDE_PX / (2 * picture.half_mm))
                for pixel in (image[row, column + far], image[row + far, column]):
                    assert (int(pixel[2]) - int(pixel[1]) > 60) == is_red


def test_it_shows_the_surroundings_of_the_places_and_nothing_beyond_the_rails() -> None:
    table = laying()
    film = table.film()
    near = picture_of(film.frame, table.camera, film.seen, None, [PLACE])
    assert near.x_mm == 0.0
    assert near.y_mm + near.half_mm <= WHOLE_MM
    assert abs(near.y_mm - 485.0) < near.half_mm
    far = picture_of(film.frame, table.camera, film.seen, None, [PLACE, msgspec.structs.replace(PLACE, y_mm=-485.0)])
    assert (far.x_mm, far.y_mm, far.half_mm) == (0.0, 0.0, WHOLE_MM)
    whole = picture_of(film.frame, table.camera, film.seen, None, [])
    assert whole.half_mm == WHOLE_MM
    assert all(5_000 < len(p.jpeg or b"") < 90_000 for p in (near, far, whole))


def test_it_survives_the_way_over_mqtt() -> None:
    table = laying()
    film = table.film(("red", 20.0, 440.0, 12.0))
    picture = picture_of(film.frame, table.camera, film.seen, film.hands, [PLACE])
    assert picture.held is not None
    assert msgspec.json.decode(msgspec.json.encode(picture), type=Picture) == picture


def test_pictures_come_only_while_something_is_to_be_placed_and_at_most_two_a_second(rig: Rig) -> None:
    state = owing()
    rig.offer(0.0, seen(), start(MATCH))
    for n in range(11):
        rig.offer(1.0 + n * 0.2, seen(), state)
        rig.wait(1 + n // 3)
    rig.offer(4.0, seen(LAID, at_rest=False), state)
    rig.wait(5)
    assert rig.sent[-1].jpeg is not None, "a hand is still at it"
    rig.offer(5.0, seen(LAID), state)
    rig.wait(6)
    assert rig.sent[-1] == Picture(), "it says once that there is nothing to be seen"
    for n in range(5):
        rig.offer(6.0 + n, seen(LAID), state)
    rig.view.close()
    assert len(rig.sent) == 6, "one every 0.6 s of the two, and what was said afterwards"


def test_a_judge_sees_the_whole_table_for_a_while(rig: Rig) -> None:
    rig.view.ask(show=True)
    rig.offer(1.0, seen(), None)
    rig.wait(1)
    assert rig.sent[0].half_mm == WHOLE_MM
    rig.clock_s = ASKED_S + 1.0
    rig.offer(2.0, seen(), None)
    rig.wait(2)
    assert rig.sent[-1].jpeg is None
    rig.view.ask(show=True)
    rig.offer(3.0, seen(), None)
    rig.wait(3)
    rig.view.ask(show=False)
    rig.offer(4.0, seen(), None)
    rig.wait(4)
    assert rig.sent[-1].jpeg is None


def test_a_clock_that_begins_anew_stops_no_pictures(rig: Rig) -> None:
    state = owing()
    rig.offer(100.0, seen(), state)
    rig.wait(1)
    rig.offer(1.0, seen(), state)
    rig.wait(2)


def test_a_network_or_disk_that_hangs_delays_no_frame_and_old_pictures_do_not_queue_up() -> None:
    let_go, begun = threading.Event(), threading.Event()
    sent: list[float | None] = []

    def hang(_topic: topics.Topic, payload: Any) -> None:
        begun.set()
        let_go.wait(20)
        sent.append(payload.t_s)

    view = LiveView(laying().camera, hang)
    view.start()
    image, state = laying().film().frame.image, owing()
    view.offer(Frame(image, 0, 0), seen(), None, state)
    assert begun.wait(20)
    started_s = time.perf_counter()
    for n in range(1, 50):
        view.offer(Frame(image, n * 1_000_000_000, n), seen(), None, state)
    took_s = time.perf_counter() - started_s
    let_go.set()
    assert wait_until(lambda: len(sent) >= 2)
    view.close()
    assert took_s < 0.5, "49 frames are left in no time"
    assert sent[:2] == [0.0, 49.0]


def test_a_fault_costs_a_picture_and_no_more(caplog: pytest.LogCaptureFixture) -> None:
    sent: list[Picture] = []

    def fail_once(_topic: topics.Topic, payload: Any) -> None:
        if payload.t_s == 0.0:
            raise RuntimeError("a fault of ours")
        sent.append(payload)

    view = LiveView(laying().camera, fail_once)
    view.start()
    image, state = laying().film().frame.image, owing()
    view.offer(Frame(image, 0, 0), seen(), None, state)
    assert wait_until(lambda: "could not be shown" in caplog.text)
    view.offer(Frame(image, 1_000_000_000, 1), seen(), None, state)
    assert wait_until(lambda: bool(sent))
    view.close()
    assert sent[0].jpeg is not None


def test_a_fault_in_saying_that_it_is_over_ends_no_later_picture(caplog: pytest.LogCaptureFixture) -> None:
    sent: list[Picture] = []

    def fail_at_the_end(_topic: topics.Topic, payload: Any) -> None:
        sent.append(payload)
        if payload.jpeg is None:
            raise RuntimeError("a fault of ours")

    view = LiveView(laying().camera, fail_at_the_end)
    view.start()
    image, state = laying().film().frame.image, owing()
    for n, now in enumerate((state, None, state)):
        view.offer(Frame(image, n * 1_000_000_000, n), seen(), None, now)
        assert wait_until(lambda n=n: len(sent) > n)
    view.close()
    assert "could not be shown" in caplog.text
