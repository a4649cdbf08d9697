"""Everything that can be set, in one typed record: key, type, limits, default, what it does, its flag, and whether it needs a restart."""

from __future__ import annotations

import typing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from rules.table import Side
from rules.words import Lang

PREFIX: Final = "NOVUSS"
LAST_PORT: Final = 65535


def _does(what: str, *, flag: str | None = None, live: bool = False) -> Meta:
    return Meta(description=what, extra={"flag": flag, "live": live})


class TableSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which table this is, and how it lies in the picture."""

    name: Annotated[
        str,
        Meta(pattern=r"^[\w-][\w.-]{0,63}$"),
        _does("name in topics and folder names: letters, digits, '.', '_' and '-', 64 at most", flag="--table"),
    ] = "table"
    south: Annotated[Literal["bottom", "left", "top", "right"], _does("where side S lies in the picture", flag="--south")] = "bottom"
    lang: Annotated[Lang, _does("language of the rulings on the terminal", flag="--lang", live=True)] = "en"


class CameraSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where pictures come from, and how the camera is held still; from `number` on only for `picamera`."""

    source: Annotated[
        str | None, _does("picamera, virtual, a video file or a folder of stills; not set: the camera on a Pi, else virtual", flag="SOURCE")
    ] = None
    lens: Annotated[Path | None, _does("lens file (novuss lens); the table is then found at every start", flag="--lens")] = None
    calibration: Annotated[Path | None, _does("calibration file (novuss calibrate): lens and place of the table", flag="--calibration")] = (
        None
    )
    name: Annotated[str | None, _does("kind of camera where there is no lens file: gs, hq, hqbin, module3", flag="--camera")] = None
    number: Annotated[int, Meta(ge=0, le=3), _does("which camera of this machine, counted from 0")] = 0
    exposure_us: Annotated[
        int, Meta(ge=100, le=30000), _does("exposure in microseconds; 4000 smears 20 mm at 5 m/s; less needs more light", live=True)
    ] = 4000
    gain: Annotated[float, Meta(ge=1, le=16), _does("analogue gain; more is brighter and noisier", live=True)] = 2.0
    mains_hz: Annotated[
        Literal[0, 50, 60],
        _does("lamps that flicker with the mains: the exposure becomes a multiple of half a period (10 or 8.3 ms); 0: as set", live=True),
    ] = 0
    red_gain: Annotated[
        Annotated[float, Meta(ge=0.1, le=32)] | None, _does("white balance, red; not set: measured once at the start, then held")
    ] = None
    blue_gain: Annotated[
        Annotated[float, Meta(ge=0.1, le=32)] | None, _does("white balance, blue; not set: measured once at the start, then held")
    ] = None
    focus_dioptre: Annotated[
        Annotated[float, Meta(ge=0, le=15)] | None,
        _does("Module 3: lens position, 1 / distance in metres; not set: found once, then held", live=True),
    ] = None


class MatchSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The match that begins when the table shows a start position."""

    ruleset: Annotated[Literal["lnf-2008", "lnf-current", "casual"], _does("rules", flag="--ruleset", live=True)] = "lnf-2008"
    sets: Annotated[int, Meta(ge=1, le=99), _does("sets of the match", flag="--sets", live=True)] = 5
    first_turn: Annotated[Side | None, _does("side with the first turn", flag="--first-turn", live=True)] = None
    file: Annotated[Path | None, _does("file with a match entry, instead of the above", flag="--match")] = None


class MqttSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The broker. Its password is never written here, but in a file of its own that only this service reads."""

    enabled: Annotated[bool, _does("send rulings to a broker, and serve the board", flag="--no-mqtt")] = True
    url: Annotated[
        str | None, _does("mqtt://HOST, mqtts://HOST?ca=FILE, ws://..., wss://...; not set: a broker is built in", flag="--mqtt")
    ] = None
    user: Annotated[str | None, _does("user at the broker")] = None
    password_file: Annotated[Path | None, _does("file that holds the user's password and nothing else, mode 600")] = None
    home_assistant: Annotated[bool, _does("tell Home Assistant on that broker how to show this table's health")] = False


class BoardSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The scoreboard."""

    enabled: Annotated[bool, _does("serve it from `novuss watch`", flag="--no-board")] = True
    host: Annotated[str, _does("address to listen on; 0.0.0.0 for everybody in the network", flag="--host")] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=LAST_PORT), _does("port; the next free one when it is taken", flag="--port")] = 8080


class WebhookSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A club's own software that hears by HTTP POST when a set or a match ends. What is secret stands in files that others cannot read."""

    url: Annotated[str | None, _does("http:// or https:// address to post to; not set: nobody is told")] = None
    url_file: Annotated[Path | None, _does("file that holds the address, where the address itself is the secret; mode 640")] = None
    headers_file: Annotated[Path | None, _does("file with headers, one a line, e.g. Authorization: Bearer ...; mode 640")] = None
    template: Annotated[Path | None, _does("what to post, as a Jinja template: .json, .xml, .form, text; not set: everything as JSON")] = (
        None
    )


class DataSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is kept, and where."""

    folder: Annotated[Path | None, _does("log, outbox and evidence; not set: the user's data folder", flag="--data")] = None
    log: Annotated[Path | None, _does("match log; not set: in the folder", flag="--record")] = None
    evidence: Annotated[bool, _does("keep clips and stills of the rulings", flag="--no-evidence")] = True
    evidence_folder: Annotated[Path | None, _does("where they go; not set: beside the log", flag="--evidence")] = None


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file."""

    table: TableSettings = TableSettings()
    camera: CameraSettings = CameraSettings()
    match: MatchSettings = MatchSettings()
    mqtt: MqttSettings = MqttSettings()
    board: BoardSettings = BoardSettings()
    webhook: WebhookSettings = WebhookSettings()
    data: DataSettings = DataSettings()


@dataclass(frozen=True, slots=True)
class Key:
    """One thing that can be set; `name` is SECTION.KEY."""

    name: str
    type: Any
    default: object
    does: str
    flag: str | None
    live: bool

    @property
    def section(self) -> str:
        """The table of the file that it stands in."""
        return self.name.partition(".")[0]

    @property
    def variable(self) -> str:
        """Its environment variable."""
        return f"{PREFIX}_{self.name.replace('.', '_').upper()}"

    @property
    def is_path(self) -> bool:
        """Whether it names a file or folder."""
        return Path in typing.get_args(typing.get_args(self.type)[0])

    def of(self, settings: Settings) -> object:
        """Its value."""
        section, _, field = self.name.partition(".")
        value: object = getattr(getattr(settings, section), field)
        return value


@cache
def keys() -> dict[str, Key]:
    """Every key by name, in the file's order."""
    found: dict[str, Key] = {}
    for section in msgspec.structs.fields(Settings):
        hints = typing.get_type_hints(section.type, include_extras=True)
        for field in msgspec.structs.fields(section.type):
            notes = [note for note in hints[field.name].__metadata__ if note.extra is not None]
            extra = notes[0].extra
            name = f"{section.name}.{field.name}"
            found[name] = Key(name, hints[field.name], field.default, notes[0].description, extra["flag"], extra["live"])
    return found


def sections() -> dict[str, str]:
    """Each section with what it is for."""
    return {field.name: (field.type.__doc__ or "").strip() for field in msgspec.structs.fields(Settings)}
