"""A piece in a hand: found where it is within what is told, and never where there is none."""

from __future__ import annotations

import math

import pytest

from rules.facts import Held
from tests.parts.laying import Filmed, Laying, laying
from virtual_table import Look, random_camera
from vision.motion.in_hand import find_held


def look_for(film: Filmed, table: Laying, kinds: tuple[str, ...], at: tuple[float, float]) -> Held | None:
    return find_held(film.frame.image, table.camera, kinds, at, 140.0, film.seen.discs, film.hands)  # type: ignore[arg-type]


def off_mm(held: Held, x_mm: float, y_mm: float) -> float:
    return math.hypot(held.x_mm - x_mm, held.y_mm - y_mm)


@pytest.mark.parametrize("kind", ["red", "black"])
@pytest.mark.parametrize(("x", "y", "height"), [(20.0, -440.0, 0.0), (20.0, -440.0, 30.0), (-30.0, 60.0, 20.0), (250.0, 380.0, 10.0)])
def test_it_is_found_within_twice_its_sigma(kind: str, x: float, y: float, height: float) -> None:
    table = laying()
    held = look_for(table.film((kind, x, y, height)), table, (kind,), (x + 40, max(y - 30, -485.0)))  # type: ignore[arg-type]
    assert held is not None
    assert held.kind == kind
    assert off_mm(held, x, y) < 2 * held.sigma_mm
    assert held.sigma_mm > 1.5, "how high it is held is not known"


def test_the_farther_from_the_camera_s_foot_the_less_is_known() -> None:
    table = laying()
    near, far = (look_for(table.film(("red", x, y, 12.0)), table, ("red",), (x, y)) for x, y in ((0.0, -20.0), (300.0, -440.0)))
    assert near is not None
    assert far is not None
    assert near.sigma_mm < far.sigma_mm


@pytest.mark.parametrize("at", [(20.0, -440.0), (-58.0, 330.0), (-212.0, 131.0)])
def test_an_empty_hand_holds_nothing(at: tuple[float, float]) -> None:
    """Beside pieces that lie there, and over them."""
    table = laying()
    assert look_for(table.film(hand_at=at), table, ("red", "black"), at) is None


def test_no_hand_no_piece_in_it_and_another_colour_is_another_piece() -> None:
    table = laying()
    assert look_for(table.film(), table, ("red", "black"), (-212.0, 131.0)) is None
    film = table.film(("red", 20.0, -200.0, 12.0))
    assert look_for(film, table, ("black",), (20.0, -200.0)) is None
    assert look_for(film, table, ("black", "red"), (20.0, -200.0)) is not None


def test_a_colour_that_lies_nowhere_on_the_table_is_not_guessed() -> None:
    table = laying()
    film = table.film(("red", 20.0, -200.0, 12.0))
    blacks = [disc for disc in film.seen.discs if disc.kind != "red"]
    assert find_held(film.frame.image, table.camera, ("red",), (20.0, -200.0), 140.0, blacks, film.hands) is None


def test_hard_shadows_of_hand_and_piece_are_no_black_pieces() -> None:
    table = Laying(random_camera(4), Look(seed=5, lamp="warm_side", shadow=0.7, wear=0.2))
    assert look_for(table.film(("red", 60.0, -250.0, 25.0)), table, ("black",), (60.0, -250.0)) is None
    assert look_for(table.film(hand_at=(60.0, -250.0)), table, ("black",), (60.0, -250.0)) is None
