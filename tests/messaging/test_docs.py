"""The subscriber's page says what the code does."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from device import topics
from device.broker_files import ROLES
from device.messaging import backoff, replay
from device.storage import outbox

PAGE = (Path(__file__).parents[2] / "docs" / "mqtt.md").read_text(encoding="utf-8")
ALL_TOPICS = {value.name: value for value in vars(topics).values() if isinstance(value, topics.Topic)}


def test_the_table_of_topics_is_that_of_the_code() -> None:
    rows = re.findall(r"^\| ((?:`[a-z/]+`(?:, )?)+) \| (yes|no|in)[^|]*\| (\d) \|", PAGE, flags=re.MULTILINE)
    told = {name: (retained == "yes", int(qos)) for names, retained, qos in rows for name in re.findall(r"[a-z/]+", names)}
    assert told == {name: (topic.retained, topic.qos) for name, topic in ALL_TOPICS.items()}


@pytest.mark.parametrize("line", re.findall(r"^\$ (mosquitto_(?:sub|pub) .*)$", PAGE, flags=re.MULTILINE))
def test_the_example_commands_name_topics_that_exist(line: str) -> None:
    words = shlex.split(line.split("  #", maxsplit=1)[0])
    _, _, name = words[words.index("-t") + 1].split("/", maxsplit=2) if words[words.index("-t") + 1] != "novuss/#" else ("", "", "#")
    assert name == "#" or name in ALL_TOPICS


def test_the_figures_are_those_of_the_code() -> None:
    assert f"at most {replay.LONGEST_REPLAY} messages" in PAGE
    assert f"at least the last {outbox.KEEP_SENT:,} messages" in PAGE
    assert f"pauses of at most\n{backoff.LONGEST_S:g} s" in PAGE
    for role in ROLES:
        assert f"`{role}`" in PAGE
