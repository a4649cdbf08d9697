"""As much of JSON Schema 2020-12 as the product's own schemas use; what it does not know it refuses, so that nothing goes unchecked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
SAYS_NOTHING = {"title", "description", "default", "$schema", "$defs"}
KNOWN = SAYS_NOTHING | {
    *("$ref", "type", "enum", "const", "anyOf", "properties", "required", "additionalProperties", "propertyNames"),
    *("items", "prefixItems", "minItems", "maxItems", "minimum"),
}


def problems(value: Any, schema: Mapping[str, Any] | bool, root: Mapping[str, Any], where: str = "$") -> Iterator[str]:
    """Everything in which a JSON value is not what the schema says; a field that it does not name is one too."""
    if isinstance(schema, bool):
        if not schema:
            yield f"{where}: must not be there"
        return
    assert schema.keys() <= KNOWN, schema.keys() - KNOWN
    if "$ref" in schema:
        yield from problems(value, resolved(schema["$ref"], root), root, where)
    if "anyOf" in schema:
        tries = [list(problems(value, option, root, where)) for option in schema["anyOf"]]
        if all(tries):
            yield min(tries, key=len)[0]
    kind = schema.get("type")
    if kind is not None and not TYPES[kind](value):
        yield f"{where}: {value!r} is no {kind}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{where}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r} is none of {schema['enum']}"
    if "minimum" in schema and value < schema["minimum"]:
        yield f"{where}: {value} is below {schema['minimum']}"
    if isinstance(value, dict):
        yield from _of_object(value, schema, root, where)
    if isinstance(value, list):
        yield from _of_array(value, schema, root, where)


def resolved(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of the document that a reference leads to."""
    found: Any = root
    for step in reference.removeprefix("#/").split("/"):
        found = found[step]
    return found  # type: ignore[no-any-return]


def _of_object(value: dict[str, Any], schema: Mapping[str, Any], root: Mapping[str, Any], where: str) -> Iterator[str]:
    named = schema.get("properties", {})
    yield from (f"{where}: {name} is missing" for name in schema.get("required", ()) if name not in value)
    for name, part in value.items():
        if name in named:
            yield from problems(part, named[name], root, f"{where}.{name}")
        elif "additionalProperties" in schema:
            yield from problems(part, schema["additionalProperties"], root, f"{where}.{name}")
        elif named:
            yield f"{where}: {name} is not in the schema"
        if "propertyNames" in schema:
            yield from problems(name, schema["propertyNames"], root, f"{where} key")


def _of_array(value: list[Any], schema: Mapping[str, Any], root: Mapping[str, Any], where: str) -> Iterator[str]:
    first = schema.get("prefixItems", [])
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        yield f"{where}: {len(value)} members"
    for number, part in enumerate(value):
        inside = first[number] if number < len(first) else schema.get("items", True)
        yield from problems(part, inside, root, f"{where}[{number}]")
