"""JSON Schemas (2020-12) of the records, by name, with the names of other records as `$ref` to `#/$defs` or wherever they are kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from device.interface.records import HEARD, MESSAGES, News
from rules.facts import Entry

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
# What a table says names its version always; what it hears and what stands in a log need not.
_SAID: Final = frozenset(record.__name__ for topic, kinds in MESSAGES.items() if topic not in HEARD for record in kinds)


def records() -> dict[str, type[msgspec.Struct]]:
    """Every record that stands for itself: the messages', the webhook's, and a line of the match log."""
    return {record.__name__: record for kinds in MESSAGES.values() for record in kinds} | {"News": News, "Entry": Entry}


def components(kinds: Iterable[type[msgspec.Struct]], kept_at: str) -> dict[str, Any]:
    """The schemas of these records and of all that they are made of, by name; references lead to `kept_at`NAME."""
    _, found = msgspec.json.schema_components(tuple(kinds), ref_template=kept_at + "{name}")
    return {name: _of_contract(schema) for name, schema in sorted(found.items())}


def schema_of(name: str) -> dict[str, Any]:
    """One record's schema, complete in itself. Raises KeyError where there is no such record."""
    parts = components((records()[name],), "#/$defs/")
    own = parts.pop(name)
    return {"$schema": DIALECT, **own, **({"$defs": parts} if parts else {})}


def _of_contract(schema: dict[str, Any]) -> dict[str, Any]:
    """Plain JSON Schema: which of several it is is told by `const` alone, and a record's `schema` has one value only."""
    plain: dict[str, Any] = _without_discriminator(schema)
    named = plain.get("properties", {}).get("schema", {})
    if "default" in named:
        plain["properties"]["schema"] = {"const": named["default"]}
        if plain["title"] in _SAID:
            plain["required"] = [*plain.get("required", []), "schema"]
    return plain


def _without_discriminator(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """OpenAPI's own word, which AsyncAPI writes in another way and JSON Schema does not know."""
    if isinstance(value, dict):
        return {key: _without_discriminator(part) for key, part in value.items() if key != "discriminator"}
    return [_without_discriminator(part) for part in value] if isinstance(value, list) else value
