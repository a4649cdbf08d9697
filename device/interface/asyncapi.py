"""The AsyncAPI 3 document of what a table says and hears on MQTT, made from the topics and the records.

`docs/asyncapi.json` is written from it by `novuss schema -o docs/asyncapi.json`, and a test holds it against the code.
"""

from __future__ import annotations

import importlib.metadata
from typing import Any, Final

import msgspec

from device import topics
from device.interface.records import HEARD, MESSAGES
from device.interface.schemas import components
from device.topics import Topic

_REF: Final = "#/components/schemas/"


def document() -> dict[str, Any]:
    """The whole document as JSON values."""
    kinds = [record for records in MESSAGES.values() for record in records]
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Novuss table",
            "version": importlib.metadata.version("novuss"),
            "description": "What a table monitor publishes and takes on MQTT. docs/mqtt.md says how to listen and what `seq` promises.",
            "license": {"name": "MIT"},
        },
        "defaultContentType": "application/json",
        "servers": {
            "hall": {"host": "hall.local:8883", "protocol": "secure-mqtt", "description": "A broker as `novuss broker` sets it up."},
            "table": {"host": "127.0.0.1:1883", "protocol": "mqtt", "description": "The same broker, from its own machine."},
        },
        "channels": {_name(topic): _channel(topic) for topic in MESSAGES},
        "operations": {_operation(topic): _does(topic) for topic in MESSAGES},
        "components": {
            "messages": {record.__name__: _message(record) for record in kinds},
            "schemas": components(kinds, _REF),
            "parameters": {"table": {"description": "Name of the table: letters, digits, '.', '_' and '-'."}},
        },
    }


def as_text() -> str:
    """The document as it is kept."""
    return msgspec.json.format(msgspec.json.encode(document()), indent=1).decode() + "\n"


def _name(topic: Topic) -> str:
    return topic.name.replace("/", "_")


def _channel(topic: Topic) -> dict[str, Any]:
    return {
        "address": f"{topics.PREFIX}/{{table}}/{topic.name}",
        "messages": {record.__name__: {"$ref": f"#/components/messages/{record.__name__}"} for record in MESSAGES[topic]},
        "parameters": {"table": {"$ref": "#/components/parameters/table"}},
    }


def _operation(topic: Topic) -> str:
    return f"{'hears' if topic in HEARD else 'says'}_{_name(topic)}"


def _does(topic: Topic) -> dict[str, Any]:
    return {
        "action": "receive" if topic in HEARD else "send",
        "channel": {"$ref": f"#/channels/{_name(topic)}"},
        "bindings": {"mqtt": {"qos": topic.qos, "retain": topic.retained, "bindingVersion": "0.2.0"}},
    }


def _message(record: type[msgspec.Struct]) -> dict[str, Any]:
    summary = (record.__doc__ or "").strip().split("\n", maxsplit=1)[0]
    return {"name": record.__name__, "summary": summary, "contentType": "application/json", "payload": {"$ref": _REF + record.__name__}}
