"""Home Assistant's MQTT discovery: one retained message that tells it how to read a table's `health` and `status`."""

from __future__ import annotations

import importlib.metadata
import re
from typing import Any, Final, NamedTuple

import msgspec

from device import topics

# Its default prefix, which nearly nobody changes.
PREFIX: Final = "homeassistant"
_OURS: Final = "novuss_"
# Seconds; health comes every second, so after this a figure says nothing any more.
EXPIRES_S: Final = 60


class _Figure(NamedTuple):
    """A number in health: its place there, what it is called, its unit, Home Assistant's word for its kind."""

    where: str
    name: str
    unit: str | None = None
    kind: str | None = None


class _Alarm(NamedTuple):
    """Something in health that is well or not: when it is not, in Home Assistant's template language."""

    key: str
    name: str
    wrong: str


_FIGURES: Final = (
    _Figure("fps", "Frames per second", "fps"),
    _Figure("dropped_frames", "Dropped frames"),
    _Figure("latency_ms.p99", "Latency (99th percentile)", "ms", "duration"),
    _Figure("temperature_c", "Processor temperature", "°C", "temperature"),
    _Figure("disk_free_mb", "Free disk", "MB", "data_size"),
    _Figure("memory_mb", "Memory", "MB", "data_size"),
    _Figure("drift_px", "Camera moved by", "px"),
)
_ALARMS: Final = (
    _Alarm("stopped", "No calls are made", "value_json.stopped"),
    _Alarm("camera", "Camera", "value_json.camera is defined and (value_json.camera.state != 'running' or value_json.camera.complaints)"),
    _Alarm("supply", "Supply voltage", "value_json.throttling and 'under_voltage' in value_json.throttling.now"),
    _Alarm("clock", "Clock not set", "not value_json.clock_synchronised"),
    _Alarm("settings", "Settings file", "value_json.settings.problem"),
)


def topic(identity: str) -> str:
    """Where Home Assistant looks for the message of a device."""
    return f"{PREFIX}/device/{_OURS}{identity}/config"


def announcement(table: str) -> tuple[str, bytes]:
    """Topic and payload of the discovery message of one table; the topic's last part takes fewer letters than a table's name."""
    letters = re.sub(r"[^A-Za-z0-9_-]", "_", table)
    identity = f"{_OURS}{letters}"
    version = importlib.metadata.version("novuss")
    payload = {
        "device": {"identifiers": [identity], "name": f"Novuss table {table}", "model": "Table monitor", "sw_version": version},
        "origin": {"name": "novuss", "sw_version": version},
        "availability": [{"topic": topics.path(table, topics.STATUS), "value_template": "{{ value_json.state }}"}],
        "state_topic": topics.path(table, topics.HEALTH),
        "components": {figure.where.replace(".", "_"): _sensor(identity, figure) for figure in _FIGURES}
        | {alarm.key: _problem(identity, alarm) for alarm in _ALARMS},
    }
    return topic(letters), msgspec.json.encode(payload)


def _sensor(identity: str, figure: _Figure) -> dict[str, Any]:
    parts = {
        "platform": "sensor",
        "unique_id": f"{identity}_{figure.where.replace('.', '_')}",
        "name": figure.name,
        # What health does not know is null, and stays unknown there.
        "value_template": f"{{{{ value_json.{figure.where} }}}}",
        "state_class": "measurement",
        "entity_category": "diagnostic",
        "expire_after": EXPIRES_S,
    }
    return parts | {key: value for key, value in {"unit_of_measurement": figure.unit, "device_class": figure.kind}.items() if value}


def _problem(identity: str, alarm: _Alarm) -> dict[str, Any]:
    return {
        "platform": "binary_sensor",
        "unique_id": f"{identity}_{alarm.key}",
        "name": alarm.name,
        "device_class": "problem",
        "value_template": f"{{{{ 'ON' if {alarm.wrong} else 'OFF' }}}}",
        "entity_category": "diagnostic",
        "expire_after": EXPIRES_S,
    }
