"""What goes over a real broker while a virtual match is played, held against the AsyncAPI document that other people read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from device import topics
from device.cli import main
from device.interface import MESSAGES, announcement, as_text, document, schema_of
from device.interface.schemas import records
from rules.facts import Entry
from tests.device.running import Watch
from tests.parts.brokers import Mosquitto, Subscriber, publish_until, wait_until
from tests.parts.json_schema import problems, resolved

PAGE = Path(__file__).parents[2] / "docs" / "asyncapi.json"
PREFIX = f"{topics.PREFIX}/table/"
COMMANDS = (
    {"command": "warning", "side": "N", "clause": "19.1.e", "correlation": "j-1"},
    {"command": "warning", "side": "N", "clause": "nothing", "correlation": "j-2"},
    {"command": "warning", "side": "S", "clause": "19.1.e", "preview": True, "correlation": "j-3"},
    {"command": "clock", "span": "ready", "correlation": "j-4"},
    {"command": "void", "entry": 1, "correlation": "j-5"},
    {"command": "confirm", "entry": 2, "correlation": "j-6"},
)


def wrong_in(topic: str, payload: Any) -> list[str]:
    """What is wrong with a message according to the document; the record that fits best says it."""
    kept = document()
    channel = next(c for c in kept["channels"].values() if c["address"] == f"{topics.PREFIX}/{{table}}/{topic}")
    options = [resolved(message["$ref"], kept)["payload"] for message in channel["messages"].values()]
    return min((list(problems(payload, option, kept)) for option in options), key=len)


@pytest.fixture
def monitor(mosquitto: Mosquitto, tmp_path: Path) -> Iterator[Watch]:
    settings = tmp_path / "novuss.toml"
    settings.write_text("[mqtt]\nhome_assistant = true\n", encoding="utf-8")
    started = Watch(tmp_path, "--seed", "3", "--mqtt", mosquitto.url, "--no-board", "--config", str(settings))
    yield started
    started.make_sure_it_ended()


def test_the_kept_document_is_the_codes() -> None:
    assert PAGE.read_text(encoding="utf-8") == as_text(), "docs/asyncapi.json is old: novuss schema -o docs/asyncapi.json"


def test_every_reference_leads_somewhere_and_every_topic_is_there() -> None:
    kept = document()

    def references(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            yield from (part for key, part in value.items() if key == "$ref")
            for part in value.values():
                yield from references(part)
        elif isinstance(value, list):
            for part in value:
                yield from references(part)

    assert all(resolved(reference, kept) for reference in references(kept))
    assert set(MESSAGES) == {value for value in vars(topics).values() if isinstance(value, topics.Topic)}, (
        "a topic without its record: device/interface/records.py, MESSAGES"
    )
    for name in records():
        alone = schema_of(name)
        assert all(resolved(reference, alone) for reference in references(alone))


@pytest.mark.broker
def test_every_message_of_a_virtual_match_is_what_the_document_says(
    monitor: Watch, mosquitto: Mosquitto, subscribe: Callable[..., Subscriber]
) -> None:
    subscriber = subscribe(mosquitto.port)
    homes = subscribe(mosquitto.port, "homeassistant/#", ready_topic="homeassistant/ready")
    monitor.wait_for(2)
    for command in COMMANDS:

        def answered(correlation: str = str(command["correlation"])) -> bool:
            return any(payload["correlation"] == correlation for _, payload in subscriber.messages("judge/result"))

        publish_until(answered, mosquitto.port, f"{PREFIX}judge", json.dumps(command))
    for request in ('{"from":1,"correlation":"r-1"}', '{"from":"x"}'):
        done = len(answers_of(subscriber))
        publish_until(lambda done=done: len(answers_of(subscriber)) > done, mosquitto.port, f"{PREFIX}replay", request)
    # Whether the player of this match is careless, and whether there is anything to place, is chance.
    wanted = set(MESSAGES) - {topics.INCIDENT, topics.EVIDENCE, topics.PICTURE}
    heard = lambda: {topic for topic, _ in subscriber.messages()} >= {PREFIX + topic.name for topic in wanted}  # noqa: E731
    assert wait_until(heard, 60)
    assert monitor.end()[0] == 0, monitor.said()
    for topic, payload in subscriber.messages():
        name = topic.removeprefix(PREFIX)
        heard_by_table = name in {topics.JUDGE.name, topics.REPLAY.name}
        assert wrong_in(name, payload) == [] or (heard_by_table and payload.get("from") == "x"), (topic, payload)
    assert {payload["state"] for topic, payload in subscriber.messages("/status")} == {"online", "offline"}
    topic, payload = announcement("table")
    assert homes.messages() == [(topic, json.loads(payload))]


def answers_of(subscriber: Subscriber) -> list[Any]:
    return [payload for _, payload in subscriber.messages("replay/result") if payload.get("done")]


def test_the_log_of_the_documents_is_what_its_schema_says() -> None:
    page = (PAGE.parent / "files.md").read_text(encoding="utf-8")
    assert '{"judge":{"command":"warning","side":"N","clause":"19.1.e"}}' in page
    schema = schema_of(Entry.__name__)
    assert list(problems({"judge": {"command": "warning", "side": "N", "clause": "19.1.e"}}, schema, schema)) == []
    assert list(problems({"judge": {"command": "warming", "side": "N"}}, schema, schema)) != []


def test_one_record_is_printed_and_a_wrong_name_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["schema", "RulingMessage"])
    assert ended.value.code == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["properties"]["schema"] == {"const": "novuss.ruling/1"}
    with pytest.raises(SystemExit) as ended:
        main(["schema", "Rulings"])
    assert ended.value.code == 2
    assert "RulingMessage" in capsys.readouterr().err


def test_what_home_assistant_is_told_names_figures_that_health_has() -> None:
    from jinja2 import Environment

    topic, payload = announcement("hall.1")
    assert topic == "homeassistant/device/novuss_hall_1/config"
    told = json.loads(payload)
    assert told["state_topic"] == "novuss/hall.1/health"
    good = {
        "fps": 60.0,
        "dropped_frames": 3,
        "latency_ms": {"median": 9.0, "p99": 14.5},
        "temperature_c": 51.2,
        "disk_free_mb": 9000,
        "memory_mb": 300,
        "drift_px": 0.1,
        "stopped": None,
        "throttling": {"now": [], "since_boot": []},
        "clock_synchronised": True,
        "settings": {"problem": None},
        "camera": {"state": "running", "complaints": []},
    }
    bad = good | {
        "stopped": "the camera has moved",
        "throttling": {"now": ["under_voltage"]},
        "clock_synchronised": False,
        "settings": {"problem": "line 3"},
        "camera": {"state": "missing"},
    }
    assert good.keys() <= schema_of("Health")["properties"].keys()

    def shown(health: dict[str, Any]) -> dict[str, str]:
        return {
            key: Environment(autoescape=False).from_string(part["value_template"]).render(value_json=health)
            for key, part in told["components"].items()
        }

    alarms = {key for key, part in told["components"].items() if part["platform"] == "binary_sensor"}
    assert {key: shown(good)[key] for key in alarms} == dict.fromkeys(alarms, "OFF")
    assert {key: shown(bad)[key] for key in alarms} == dict.fromkeys(alarms, "ON")
    assert shown(good)["latency_ms_p99"] == "14.5"
    assert shown(good | {"camera": {"state": "running"}})["camera"] == "OFF"
    without_camera = {key: value for key, value in good.items() if key != "camera"} | {"throttling": None}
    assert {shown(without_camera)[key] for key in alarms} == {"OFF"}
