"""The ablation of `python -m benchmarks ablation`: what is left out is left out as in the product, and what is found is counted."""

from collections import Counter

import pytest

from benchmarks import nudges
from benchmarks.ablation import NETWORKS, classical, line, network_alone, only, quiet, touched
from benchmarks.stills import Tally
from device.networks import in_use
from tests.vision.test_discs import QUIET, SCENE, camera_of
from virtual_table import overhead, render_still


@pytest.fixture(scope="module")
def still():
    optics = overhead(tilt_deg=6.0)
    truth = [{"kind": kind, "x_mm": x, "y_mm": y, "pose": "flat", "dark_area_clearance_mm": {}} for _, kind, x, y in SCENE]
    picture = {"camera": {"model": "gs"}, "lighting": "rendered", "pieces": truth}
    return picture, render_still(SCENE, optics, QUIET, 3), camera_of(optics)


@pytest.mark.parametrize("names", NETWORKS.values(), ids=NETWORKS)
def test_only_the_named_networks_are_in_use_and_all_are_afterwards(names):
    with only(*names):
        assert in_use() == {"discs": "discs" in names, "occluders": "occluders" in names}
    assert in_use() == {"discs": True, "occluders": True}


@pytest.mark.parametrize("detector", [classical, network_alone])
def test_discs_of_a_still_are_counted_and_timed(still, detector):
    tally = Tally()
    assert tally.still(*still, detector)[:2] == (len(SCENE), 0)
    assert tally.count["found"] == tally.count["demanded"] == len(SCENE)
    assert not tally.count["wrong_kind"]
    assert max(tally.errors["all"]) < 1.0
    assert line(tally).startswith(f"found {len(SCENE)}/{len(SCENE)}  phantoms 0  wrong kinds 0  wrong poses 0")
    assert len(tally.look_ms) == 1


def test_what_is_missed_and_what_is_not_there_are_counted(still):
    picture, _, _ = still
    tally = Tally()
    assert tally.picture(picture, []) == (0, 0, 0.0)
    assert tally.count["missed"] == len(SCENE)
    assert "found 0/" in line(tally)


def test_a_quiet_table_without_networks_tells_nothing():
    told = quiet((), range(506, 507), 1.5)
    assert told.startswith("pieces told touched or lifted 0  false incidents 0  false strokes 0  discs misplaced 0")
    assert in_use() == {"discs": True, "occluders": True}


def test_what_never_happened_to_touched_pieces_is_a_figure_too(monkeypatch):
    monkeypatch.setattr(nudges, "play", lambda *_: {"hand": Counter(right=3), "nothing": Counter(invented=0)})
    assert touched((), range(1)) == "right 3  invented 0"
