"""Settings as TOML: shown with where each value came from, written as an example, and changed in a person's own file line by line."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from device.settings.layers import Loaded
from device.settings.records import Key, Settings, keys, sections
from rules.errors import Bug

_WIDTH: Final = 44  # columns before the remark: most keys with their values fit
_HIDDEN: Final = "***"


def show(loaded: Loaded) -> str:
    """Every setting in force as TOML, each with its origin as a remark; passwords are hidden."""
    lines = [f"# {loaded.file}" if loaded.file is not None else "# no settings file"]
    for section in sections():
        lines += ["", f"[{section}]"]
        for key in _keys_of(section):
            value = key.of(loaded.settings)
            written = f"# {key.name.partition('.')[2]} is not set" if value is None else _line(key, without_password(value))
            lines.append(f"{written:<{_WIDTH}} # {loaded.origins[key.name]}")
    return "\n".join(lines) + "\n"


def plain(settings: Settings) -> dict[str, dict[str, object]]:
    """Every setting as JSON has it; passwords are hidden."""
    return {section: {key.name.partition(".")[2]: _plain(without_password(key.of(settings))) for key in _keys_of(section)}
            for section in sections()}  # fmt: skip


def example() -> str:
    """A settings file with every key explained, all of them commented out: the file that changes nothing."""
    lines = ["# Settings of novuss. A line without its # overrides the default that it shows."]
    for section, purpose in sections().items():
        lines += ["", *(f"# {sentence.strip()}" for sentence in purpose.splitlines()), f"[{section}]"]
        for key in _keys_of(section):
            value = "..." if key.default is None else _written(key.default)
            when = "" if key.live else " (from the next start)"
            lines += [f"# {key.does}{when}", f"#{key.name.partition('.')[2]} = {value}"]
    return "\n".join(lines) + "\n"


def changed(text: str, values: Mapping[str, object]) -> str:
    """A settings file's text with some values set; every other line, remarks included, stays as it is. None takes a key out."""
    for name, value in values.items():
        text = _with(text, keys()[name], value)
    tables = tomllib.loads(text)
    for name, value in values.items():
        section, _, field = name.partition(".")
        if tables.get(section, {}).get(field) != _plain(value):
            raise Bug(f"{name} could not be written into the settings file")
    return text


def without_password(value: object) -> object:
    """The value as people may see it."""
    if not isinstance(value, str) or "@" not in value or "://" not in value:
        return value
    parts = urlsplit(value)
    users, _, host = parts.netloc.rpartition("@")
    user, has_password, _ = users.partition(":")
    return urlunsplit(parts._replace(netloc=f"{user}:{_HIDDEN}@{host}")) if has_password else value


def _keys_of(section: str) -> list[Key]:
    return [key for key in keys().values() if key.section == section]


def _with(text: str, key: Key, value: object) -> str:
    section, _, field = key.name.partition(".")
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if re.match(rf"\s*\[\s*{section}\s*\]", line)]
    if not starts:
        return text if value is None else "\n".join([*lines, *([""] if lines else []), f"[{section}]", _line(key, value)]) + "\n"
    begin = starts[0] + 1
    end = next((number for number in range(begin, len(lines)) if lines[number].lstrip().startswith("[")), len(lines))
    at = next((number for number in range(begin, end) if re.match(rf"\s*{field}\s*=", lines[number])), None)
    new = [] if value is None else [_line(key, value)]
    if at is None:
        # After the section's last line that says something, so that remarks before the next section stay with it.
        at = max((number for number in range(begin, end) if lines[number].strip() and not lines[number].lstrip().startswith("#")),
                 default=begin - 1) + 1  # fmt: skip
        lines[at:at] = new
    else:
        lines[at : at + 1] = new
    return "\n".join(lines) + "\n"


def _line(key: Key, value: object) -> str:
    return f"{key.name.partition('.')[2]} = {_written(value)}"


def _written(value: object) -> str:
    """A TOML value; JSON's strings, numbers and booleans are TOML's too, but for DEL."""
    return json.dumps(_plain(value), ensure_ascii=False).replace("\x7f", "\\u007F")


def _plain(value: object) -> object:
    return str(value) if isinstance(value, Path) else value
