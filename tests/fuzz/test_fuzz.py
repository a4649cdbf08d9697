"""A few hundred inputs for each target, always the same ones; `make fuzz` makes others for minutes."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.fuzz import seeds
from tests.fuzz.mutate import Mutator
from tests.fuzz.targets import TARGETS
from tests.fuzz.videos import videos

INPUTS = {"broker": 60, "http": 200, "videos": 100}
SEED = 1


@pytest.fixture(autouse=True)
def no_reports_of_refused_inputs(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)


@pytest.mark.parametrize("name", TARGETS)
def test_mutated_inputs_are_taken_or_refused(name: str) -> None:
    inputs = Mutator(TARGETS[name].seeds(), SEED)
    with ExitStack() as stack:
        take = TARGETS[name].open(stack)
        for data in TARGETS[name].seeds():
            take(data)
        for _ in range(INPUTS.get(name, 300)):
            take(inputs.next())


def test_the_same_seed_makes_the_same_inputs() -> None:
    first, again = (Mutator(TARGETS["orders"].seeds(), 7) for _ in range(2))
    assert [first.next() for _ in range(200)] == [again.next() for _ in range(200)]


DEEP = b'{"a":' * 3000


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("board", b"ruling " + DEEP),
        ("board", b"discs " + DEEP),
        ("files", DEEP),
        ("settings", b"[a]\nx = " + b"[" * 3000),
        ("settings", b"[board]\nport = " + b"9" * 5000),
        ("files", b"mqtts://h?ca=" + b"x" * 5000),
        ("files", b"mqtts://h?ca=%00"),
        ("files", seeds.FILES[1].replace(b"[1460,0,727]", b"[1460,0]")),
        ("files", seeds.FILES[1].replace(b'"rms_px"', b'"covariance":[[1],[2]],"rms_px"')),
        ("pictures", b"P6 1 9999999999999 255\n"),
        ("pictures", b"P6 40000 40000 255\n"),
    ],
    ids=(
        "deep ruling",
        "deep discs",
        "deep file",
        "deep settings",
        "long number",
        "long CA name",
        "CA name of nothing",
        "a matrix that is none",
        "a covariance that is none",
        "endless picture",
        "huge picture",
    ),
)
def test_found_by_fuzzing(name: str, data: bytes) -> None:
    with ExitStack() as stack:
        TARGETS[name].open(stack)(data)


def test_a_client_that_leaves_in_the_middle_is_no_fault_of_the_boards() -> None:
    order = TARGETS["http"].seeds()[-3]
    with ExitStack() as stack:
        take = TARGETS["http"].open(stack)
        for _ in range(2):
            take(order[:-5])


def test_an_origin_that_is_no_address_is_another_page() -> None:
    order = TARGETS["http"].seeds()[-3].replace(b"Origin: http://localhost", b"Origin: http://localhos]t")
    with ExitStack() as stack:
        take = TARGETS["http"].open(stack)
        for _ in range(2):
            take(order)


def test_a_video_with_a_damaged_title_is_refused(tmp_path: Path) -> None:
    from device.sources.video import VideoSource
    from rules.errors import InputUnusable

    good = videos()[0]
    assert good.count(b"Lavf") >= 1
    (tmp_path / "clip.mp4").write_bytes(good.replace(b"Lavf", b"L\x87vf"))
    with pytest.raises(InputUnusable, match="not a video"):
        VideoSource(tmp_path / "clip.mp4")
