"""`novuss config`: the settings in force, each with where it came from."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from cyclopts import App, Parameter

from device.messaging.address import PASSWORD_FILE_VARIABLE, USER_VARIABLE
from device.settings import Loaded, Settings, find_file, load
from device.settings.text import example as example_file
from device.settings.text import plain, show

# Arguments of `novuss watch` and `novuss board` by the key that they override; a switch says what it turns off.
FLAGS: Final = {
    "source": "camera.source",
    "lens": "camera.lens",
    "calibration": "camera.calibration",
    "camera": "camera.name",
    "south": "table.south",
    "table": "table.name",
    "lang": "table.lang",
    "match": "match.file",
    "ruleset": "match.ruleset",
    "sets": "match.sets",
    "first_turn": "match.first_turn",
    "record": "data.log",
    "data": "data.folder",
    "evidence": "data.evidence_folder",
    "mqtt": "mqtt.url",
    "host": "board.host",
    "port": "board.port",
}
SWITCHES: Final = {"no_mqtt": "mqtt.enabled", "no_board": "board.enabled", "no_evidence": "data.evidence"}


def config(
    *watch_flags: Annotated[str, Parameter(allow_leading_hyphen=True)],
    config: Path | None = None,
    example: Annotated[bool, Parameter(negative="")] = False,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Print the settings in force, each with where it came from: default, file, environment, flag.

    The file is the one that is named, or that NOVUSS_CONFIG names, or ~/.config/novuss/novuss.toml, or /etc/novuss/novuss.toml.
    NOVUSS_SECTION_KEY in the environment overrides it, a flag overrides that.

    Examples:

    - `novuss config`: what `novuss watch` would use
    - `novuss config --port 9000 --table 7`: the same with flags of `novuss watch`
    - `novuss config --example > novuss.toml`: a file with every key explained

    Parameters
    ----------
    watch_flags
        Flags of `novuss watch`, as they would be given there.
    config
        Settings file.
    example
        Print a settings file with every key explained and nothing set.
    json
        Print settings and origins as JSON.
    """
    if example:
        sys.stdout.write(example_file())
        return
    loaded = read(config, _as_watch_reads(watch_flags))
    if json:
        origins = {name: str(origin) for name, origin in loaded.origins.items()}
        value = {"file": loaded.file and str(loaded.file), "settings": plain(loaded.settings), "origins": origins}
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")
    else:
        sys.stdout.write(show(loaded))


def read(config: Path | None, arguments: dict[str, Any], environ: Mapping[str, str] = os.environ) -> Loaded:
    """Settings from every layer; `arguments` are those of the command's function."""
    flags = {key: arguments.get(name) for name, key in FLAGS.items()}
    flags |= {key: False for name, key in SWITCHES.items() if arguments.get(name)}
    return load(find_file(config, environ), environ, flags)


def login(settings: Settings) -> dict[str, str]:
    """Broker user and password file as the variables in which every client of this process looks for them."""
    values = {USER_VARIABLE: settings.mqtt.user, PASSWORD_FILE_VARIABLE: settings.mqtt.password_file}
    return {variable: str(value) for variable, value in values.items() if value is not None}


def export_login(settings: Settings) -> None:
    """The login into the environment, which has the last word where it says something already."""
    for variable, value in login(settings).items():
        os.environ.setdefault(variable, value)


def _as_watch_reads(words: tuple[str, ...]) -> dict[str, Any]:
    from device.commands.watch import watch

    app = App(name="novuss config")
    app.default(watch)
    _, bound, _ = app.parse_args(list(words), exit_on_error=False, print_error=False)
    return dict(bound.arguments)
