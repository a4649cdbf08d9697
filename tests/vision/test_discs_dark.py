"""Dark pieces that geometry alone mistakes for their own shadow or for red ones, or overlooks on a pocket's edge."""

from __future__ import annotations

from collections import Counter

import msgspec
import numpy as np
import pytest

from benchmarks.filmed import Studio
from benchmarks.truth import camera_of
from calibration import Camera, Lens
from calibration.find import find_table
from virtual_table import Spot, VirtualTable, random_camera, random_look
from vision.detect import detect

# By studio: seeds of the camera, the lamp and the table that each was first seen under.
PLACES = {
    7606: ((-432.4, 304.0),),  # an open place, the shadow of one lamp beside it
    7615: ((-306.0, 452.0), (-485.0, 421.0)),  # only the shadow's circle is seen; beside a mouth, only a large circle
    7620: ((-437.0, -384.4),),  # a millimetre from the hole
    7623: ((384.0, 435.0),),  # a millimetre from the hole, the shadow on the wood behind it
}


@pytest.mark.parametrize("seed", PLACES)
def test_a_black_piece_is_found_where_it_lies_and_not_where_its_shadow_does(seed):
    studio = Studio(seed)
    places = [*PLACES[seed], (150.0, -60.0)]
    studio.renderer.rest([Spot(f"b{k}", "black", x, y, 0.0, 0.0) for k, (x, y) in enumerate(places)])
    found = detect(studio.renderer.frame(), studio.camera).discs
    assert len(found) == len(places)
    for place in places:
        nearest = min(found, key=lambda one: np.hypot(one.x_mm - place[0], one.y_mm - place[1]))
        assert np.hypot(nearest.x_mm - place[0], nearest.y_mm - place[1]) < 1.5
        assert nearest.kind == "black"


def test_black_pieces_on_greenish_wood_are_black():
    table = VirtualTable(514, look=random_look(514), camera=random_camera(514), nothing="tidy")
    frame = table.next_frame()
    assert frame is not None
    camera = Camera(find_table([frame.image], msgspec.convert(table.lens, Lens)).calibration)
    found = Counter(one.kind for one in detect(frame.image, camera).discs)
    assert found == Counter(one.kind for one in table.truth_at(0.0))


@pytest.mark.parametrize("seed", [5021, 5052, 5063])
def test_a_row_of_black_pieces_in_the_shade_of_its_rail_is_found_to_the_last(seed):
    # Their edges are as faint as grain: no circle shows some of them, or one between their shadows and them.
    table = VirtualTable(seed, look=random_look(seed))
    frame = table.next_frame()
    assert frame is not None
    found = detect(frame.image, camera_of(table.camera)).discs
    true = table.truth_at(0.0)
    assert len(found) == len(true)
    for one in true:
        assert min(np.hypot(one.x_mm - disc.x_mm, one.y_mm - disc.y_mm) for disc in found if disc.kind == one.kind) < 1.0


def test_two_black_pieces_at_the_edge_of_a_dark_pocket_are_found_in_every_picture():
    # A fit on another edge than the upper one shows no hole; the network says where to begin anew.
    table = VirtualTable(824, look=random_look(824), mishaps=("hand", "cue", "striker", "lift", "shake"))
    true = table.truth_at(0.0)
    for _ in range(3):
        frame = table.next_frame()
        assert frame is not None
        found = detect(frame.image, camera_of(table.camera)).discs
        assert max(min(np.hypot(one.x_mm - disc.x_mm, one.y_mm - disc.y_mm) for disc in found) for one in true) < 1.5
