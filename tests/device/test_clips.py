"""Clips with truth through the whole product: the ruling is the one that the true facts give, and a real subscriber gets it once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.clips import differences
from benchmarks.truth import load
from tests.parts.brokers import Mosquitto, Subscriber, wait_until

CLIPS = Path(__file__).parents[3] / "shared" / "photoreal" / "clips"
TRUTHS = sorted(CLIPS.glob("*.json"))


@pytest.mark.skipif(not TRUTHS, reason="the rendered clips with truth are not beside this checkout")
@pytest.mark.parametrize("path", TRUTHS, ids=lambda path: path.stem)
def test_the_ruling_on_a_clip_is_the_one_that_its_truth_gives(
    path: Path, tmp_path: Path, mosquitto: Mosquitto, subscribe: Callable[..., Subscriber]
) -> None:
    subscriber = subscribe(mosquitto.port)
    assert differences(path.with_suffix(".mp4"), load(path), tmp_path, "--mqtt", mosquitto.url) == []
    wait_until(lambda: len(subscriber.seqs()) >= 2)
    assert [(topic.split("/")[2], p["seq"], p["match_id"]) for topic, p in subscriber.messages() if "seq" in p] == [
        ("stroke", 1, path.stem),
        ("ruling", 2, path.stem),
    ]
