"""Default, file, environment, flag: each overrides the one before, key by key, and each value remembers which of them gave it."""

from __future__ import annotations

import difflib
import os
import re
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import msgspec
from platformdirs import user_config_path

from device.settings.records import PREFIX, Key, Settings, keys, sections
from rules.errors import InputUnusable, NovussError, WrongUsage

FILE_VARIABLE: Final = "NOVUSS_CONFIG"
SYSTEM_FILE: Final = Path("/etc/novuss/novuss.toml")
FILE_NAME: Final = "novuss.toml"
# A setting of some hundred lines is a few kilobytes; more is not a settings file.
MOST_BYTES: Final = 1_000_000
# Secrets keep these names; they are read where they are used and are never shown.
SECRET_VARIABLES: Final = frozenset({"NOVUSS_MQTT_PASSWORD"})
_NEAR: Final = 0.6  # difflib's own default: two letters wrong in eight

Kind = Literal["default", "file", "environment", "flag"]
_RANK: Final[dict[Kind, int]] = {"default": 0, "file": 1, "environment": 2, "flag": 3}


@dataclass(frozen=True, slots=True)
class Origin:
    """Which layer gave a value, and where in it: a file's line, a variable, a flag."""

    kind: Kind = "default"
    where: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.where}".strip()


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings in force, where each came from, and the file that was read (None: there is none)."""

    settings: Settings
    origins: Mapping[str, Origin]
    file: Path | None


def check(name: str, value: object) -> None:
    """Whether a setting may have this value; InputUnusable says what it may be."""
    raw = str(value) if isinstance(value, Path) else value
    _typed(keys()[name], raw, "settings", InputUnusable, strict=True)


def find_file(named: Path | None = None, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The settings file: the named one, NOVUSS_CONFIG, the user's, the machine's; None where there is none.

    Raises InputUnusable where one is named and is not there.
    """
    if named is None and environ.get(FILE_VARIABLE):
        named = Path(environ[FILE_VARIABLE])
    if named is not None:
        if not named.is_file():
            raise InputUnusable(f"{named}: no such settings file; `novuss setup` or `novuss config --example` makes one")
        return named
    return next((path for path in (*_own_file(), SYSTEM_FILE) if _is_file(path)), None)


def _own_file() -> list[Path]:
    """The user's own file; a service's user may have no home at all."""
    try:
        return [user_config_path("novuss") / FILE_NAME]
    except RuntimeError:
        return []


def _is_file(path: Path) -> bool:
    """Also False where the way there is closed, as a home is to a service."""
    return os.path.isfile(path)  # noqa: PTH113 (Path.is_file raises there)


def load(file: Path | None, environ: Mapping[str, str] = os.environ, flags: Mapping[str, object] | None = None) -> Loaded:
    """Merge the layers. `flags` are values by key (`table.name`); None means not given.

    Raises InputUnusable for what is wrong in the file or a variable, WrongUsage for a flag; each names place and remedy.
    """
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = dict.fromkeys(keys(), Origin())
    for layer in (_from_file(file), _from_environment(environ), _from_flags(flags or {})):
        for name, (value, origin) in layer.items():
            values[name], origins[name] = value, origin
    _settle(values, origins)
    tables: dict[str, dict[str, Any]] = {section: {} for section in sections()}
    for name, value in values.items():
        section, _, field = name.partition(".")
        tables[section][field] = value
    made = {field.name: field.type(**tables[field.name]) for field in msgspec.structs.fields(Settings)}
    return Loaded(Settings(**made), origins, file)


_Layer = dict[str, tuple[Any, Origin]]


def _from_file(file: Path | None) -> _Layer:
    if file is None:
        return {}
    text = read_settings(file)
    try:
        tables = tomllib.loads(text)
    # ValueError: TOML's own errors, and numbers of thousands of digits; RecursionError: brackets in brackets, deeper than any setting.
    except (ValueError, RecursionError) as error:
        raise InputUnusable(f'{file}: is not TOML: {error}; text stands in "quotes", a section\'s name in [brackets]') from error
    layer: _Layer = {}
    for section, table in tables.items():
        where = f"{file}:{line_of(text, section, None)}"
        if section not in sections():
            raise InputUnusable(f"{where}: there is no section [{section}]; {_nearest(section, list(sections()), '[{}]')}")
        if not isinstance(table, dict):
            raise InputUnusable(f"{where}: {section} is a section: write [{section}] and its keys below")
        for field, raw in table.items():
            name = f"{section}.{field}"
            where = f"{file}:{line_of(text, section, field)}"
            key = _known(name, where)
            value = _typed(key, raw, where, InputUnusable, strict=True)
            if isinstance(value, Path):
                value = file.parent / value.expanduser()
            _refuse_open_secret(file, where, name, value)
            layer[name] = (value, Origin("file", where))
    return layer


def read_settings(file: Path) -> str:
    """The file's text; InputUnusable where it cannot be read as text."""
    try:
        with file.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise InputUnusable(f"{file}: is larger than {MOST_BYTES // 1_000_000} MB, which is no settings file")
        return data.decode()
    except OSError as error:
        raise InputUnusable(f"{file}: settings cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        raise InputUnusable(f"{file}: is not UTF-8 text (byte {error.start}); save it as UTF-8") from error


def _from_environment(environ: Mapping[str, str]) -> _Layer:
    layer: _Layer = {}
    by_variable = {key.variable: key for key in keys().values()}
    starts = tuple(f"{PREFIX}_{section.upper()}_" for section in sections())
    for variable, text in sorted(environ.items()):
        if not variable.startswith(starts) or variable in SECRET_VARIABLES or not text:
            continue
        key = by_variable.get(variable)
        if key is None:
            raise InputUnusable(f"environment: there is no setting {variable}; {_nearest(variable, list(by_variable))}")
        origin = Origin("environment", variable)
        layer[key.name] = (_typed(key, text, f"environment {variable}", InputUnusable, strict=False), origin)
    return layer


def _from_flags(flags: Mapping[str, object]) -> _Layer:
    layer: _Layer = {}
    for name, given in flags.items():
        if given is None:
            continue
        key = keys()[name]
        flag = key.flag or name
        raw = str(given) if key.is_path else given
        layer[name] = (_typed(key, raw, f"{flag} {given}", WrongUsage, strict=True), Origin("flag", flag))
    return layer


def _settle(values: dict[str, Any], origins: dict[str, Origin]) -> None:
    """Keys that speak of the same thing: the stronger layer's word holds, and one layer must not say both."""

    def rank(name: str) -> int:
        return _RANK[origins[name].kind] if name in values else -1

    lens, calibration = "camera.lens", "camera.calibration"
    if values.get(lens) is not None and values.get(calibration) is not None:
        if rank(lens) == rank(calibration):
            error = WrongUsage if origins[lens].kind == "flag" else InputUnusable
            what = "--lens and --calibration exclude each other" if error is WrongUsage else f"{origins[lens]}: {lens} beside {calibration}"
            raise error(f"{what}: a calibration holds its lens; leave one out")
        weaker = min(lens, calibration, key=rank)
        values[weaker] = None
    for switch, place in (("mqtt.enabled", "mqtt.url"), ("data.evidence", "data.evidence_folder")):
        if values.get(switch) is False and values.get(place) is not None:
            if rank(place) > rank(switch):
                values[switch], origins[switch] = True, origins[place]
            elif rank(place) == rank(switch) == _RANK["flag"]:
                raise WrongUsage(f"{origins[place].where} and {origins[switch].where} exclude each other")


def _known(name: str, where: str) -> Key:
    if (key := keys().get(name)) is not None:
        return key
    section, _, field = name.partition(".")
    if field == "password":
        raise InputUnusable(f"{where}: passwords do not stand here, where everybody can read them; write it to a file and name that: "
                            "password_file in [mqtt]")  # fmt: skip
    inside = [known.partition(".")[2] for known in keys() if known.startswith(f"{section}.")]
    if difflib.get_close_matches(field, inside, 1, _NEAR):
        raise InputUnusable(f"{where}: there is no {field} in [{section}]; {_nearest(field, inside)}")
    elsewhere = [known for known in keys() if known.partition(".")[2] == field]
    if elsewhere:
        raise InputUnusable(f"{where}: there is no {field} in [{section}]; it belongs in [{elsewhere[0].partition('.')[0]}]")
    raise InputUnusable(f"{where}: there is no {field} in [{section}]; {_nearest(name, list(keys()))}")


def _nearest(wrong: str, right: list[str], form: str = "{}") -> str:
    near = difflib.get_close_matches(wrong, right, 1, _NEAR)
    if near:
        return f"did you mean {form.format(near[0])}?"
    return f"there are {', '.join(form.format(word) for word in right)}"


def _typed(key: Key, raw: object, where: str, error: type[NovussError], *, strict: bool) -> object:
    try:
        return msgspec.convert(raw, key.type, strict=strict, dec_hook=_decode)
    except msgspec.ValidationError as wrong:
        said = "not of this form" if "regex" in str(wrong) else str(wrong).replace("`", "").replace("Expected", "expected")
        shown = "" if error is WrongUsage else f"{key.name} = {raw!r}: "
        raise error(f"{where}: {shown}{said} ({key.does})") from wrong


def _decode(wanted: type, raw: object) -> Path:
    if wanted is Path and isinstance(raw, str):
        return Path(raw)
    raise msgspec.ValidationError(f"expected a file's or folder's name, got {type(raw).__name__}")


def _refuse_open_secret(file: Path, where: str, name: str, value: object) -> None:
    if name != "mqtt.url" or not isinstance(value, str):
        return
    try:
        password = urlsplit(value if "://" in value else f"mqtt://{value}").password
    except ValueError:
        return  # what is wrong with the address is said by whoever connects
    if password and file.stat().st_mode & stat.S_IROTH:
        raise InputUnusable(f"{where}: the address holds a password and everybody can read this file; write the password to a file of "
                            "mode 600 and name it: password_file in [mqtt]")  # fmt: skip


def line_of(text: str, section: str, field: str | None) -> int:
    """The line, counted from 1, on which a section or a key of it stands; 1 where it is written in another way."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if found := re.match(r"\s*\[\s*([\w-]+)\s*\]", line):
            inside = found[1] == section
            if inside and field is None:
                return number
        elif inside and field is not None and re.match(rf"\s*[\"']?{re.escape(field)}[\"']?\s*=", line):
            return number
    return 1
