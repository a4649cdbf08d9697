"""What the steps share: the person, the settings file that is kept after every step, and one open camera."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_config_path

from device.doctor.machine import service_state
from device.settings import Settings, find_file, load
from device.settings.layers import FILE_NAME, FILE_VARIABLE, SYSTEM_FILE, check, read_settings
from device.settings.records import keys
from device.settings.text import changed
from device.setup.talk import Talk
from device.sources.choose import PICAMERA, VIRTUAL, default_source, open_source
from device.sources.frame import Frame, Source
from device.storage.atomic import write_bytes, write_text
from rules.errors import InputUnusable, NovussError, StorageFailed

Image = NDArray[np.uint8]

STATE_FOLDER: Final = Path("/var/lib/novuss")
PASSWORD_FILE: Final = "mqtt-password"


class Bench:
    """A context; the camera is given back at its end. `file` is written after each step, so that nothing is lost by stopping."""

    def __init__(self, talk: Talk, config: Path | None = None, environ: Mapping[str, str] = os.environ) -> None:
        self.talk = talk
        self.environ = environ
        self.file = config or file_to_write(environ)
        self._source: Source | None = None
        # For whoever looks on: each picture taken, and the picture of what fits how well, as PNG.
        self.on_frame: Callable[[Image], None] = lambda _: None
        self.on_report: Callable[[bytes], None] = lambda _: None
        self.read_settings_again()

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self.close_source()

    def read_settings_again(self) -> None:
        """The settings as they now stand in the file."""
        self.settings: Settings = load(self.file if self.file.exists() else None, self.environ).settings

    def keep(self, values: Mapping[str, object]) -> None:
        """Write what differs from the settings in force; a setting that is not allowed raises and changes nothing."""
        values = {name: value for name, value in values.items() if not _same(keys()[name].of(self.settings), value)}
        for name, value in values.items():
            check(name, value)
        before = read_settings(self.file) if self.file.exists() else ""
        after = changed(before, values)
        if after == before:
            return
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageFailed(f"cannot make {self.file.parent}: {error.strerror}") from error
        write_text(self.file, after)
        self.read_settings_again()

    @property
    def chosen(self) -> str:
        """The source, as `novuss watch` would choose it."""
        return self.settings.camera.source or default_source()

    @property
    def is_live(self) -> bool:
        """Whether the picture changes while somebody turns the lens."""
        return self.chosen == PICAMERA

    def source(self) -> Source:
        """The camera, open."""
        if self._source is None:
            state = service_state()
            if self.is_live and state is not None and state[0] == "active":
                raise InputUnusable("the service has the camera: sudo systemctl stop novuss, then run this again")
            self._source = open_source(self.chosen, camera=self.settings.camera)
        return self._source

    def close_source(self) -> None:
        """Give the camera back; the next step opens it with the settings as they are then."""
        source, self._source = self._source, None
        if source is not None:
            source.close()

    def frames(self, count: int) -> list[Frame]:
        """The next frames; a recording that has ended begins anew."""
        found: list[Frame] = []
        while len(found) < count:
            frame = self.source().read()
            if frame is not None:
                found.append(frame)
            elif found:
                self.close_source()
                break
            else:
                self.close_source()
                if (frame := self.source().read()) is None:
                    raise InputUnusable(f"{self.chosen}: gave no frame")
                found.append(frame)
        self.on_frame(found[-1].image)
        return found

    def idle(self) -> None:
        """One more picture of a camera that is open, for whoever looks on; a recording is not run through."""
        if self._source is not None and self.chosen in {PICAMERA, VIRTUAL}:
            try:
                self.frames(1)
            except NovussError:
                self.close_source()  # the next step opens it again, and says what is wrong

    def place_for(self, name: str) -> Path:
        """Where a file of this table goes: with its data; for a service in the only folder that it may write to."""
        if self.settings.data.folder is not None:
            return self.settings.data.folder / name
        return (STATE_FOLDER if self.file == SYSTEM_FILE and STATE_FOLDER.is_dir() else self.file.parent) / name

    def keep_password(self, password: str) -> Path:
        """Write the broker's password to a file of its own, which only its owner can read."""
        path = self.settings.mqtt.password_file or self.file.with_name(PASSWORD_FILE)
        old = os.umask(0o077)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(path, password.encode() + b"\n")
        finally:
            os.umask(old)
        return path


def _same(now: object, new: object) -> bool:
    return now == new or (isinstance(now, Path) and str(now) == new)


def file_to_write(environ: Mapping[str, str]) -> Path:
    """The settings file in use, else where one is looked for: the machine's for root, the user's for others."""
    if environ.get(FILE_VARIABLE):
        return Path(environ[FILE_VARIABLE])
    return find_file(None, environ) or (SYSTEM_FILE if os.geteuid() == 0 else user_config_path("novuss") / FILE_NAME)
