"""Changes of the settings file while a table is watched: what needs no restart is taken over, the rest is named."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from device.settings.layers import Loaded
from device.settings.records import Settings, keys
from rules.errors import NovussError

_log = logging.getLogger(__name__)

LOOK_EVERY_S: Final = 2.0  # people wait for what they changed; a look costs one stat


class LiveSettings:
    """Looks at the settings file now and then, in a thread of its own; a context.

    `reload` reads all layers again; `take_over` gets the settings with those changes that need no restart, and only when there are some.
    """

    def __init__(
        self,
        loaded: Loaded,
        reload: Callable[[], Loaded],
        take_over: Callable[[Settings], None],
        said: Callable[[str], None],
        look_every_s: float = LOOK_EVERY_S,
    ) -> None:
        self._start = loaded
        self._in_force = loaded.settings
        self._reload = reload
        self._take_over = take_over
        self._said = said
        self._every_s = look_every_s
        self._stamp = _stamp(loaded.file)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="settings", daemon=True)
        self.waiting: tuple[str, ...] = ()  # keys whose change waits for a restart
        self.problem: str | None = None

    def __enter__(self) -> LiveSettings:
        if self._start.file is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def figures(self) -> dict[str, object]:
        """For the health topic."""
        return {"restart_needed_for": list(self.waiting), "problem": self.problem}

    def _run(self) -> None:
        while not self._ended.wait(self._every_s):
            stamp = _stamp(self._start.file)
            # An editor may take the file away for a moment to put the new one in its place.
            if stamp is not None and stamp != self._stamp:
                self._stamp = stamp
                self.look()

    def look(self) -> None:
        """Read the file again now."""
        try:
            new = self._reload().settings
            live = _merged(self._in_force, new)
            if live != self._in_force:
                self._take_over(live)
        except NovussError as error:
            if str(error) != self.problem:
                self.problem = str(error)
                _log.warning("settings stay as they were: %s", error)
            return
        self.problem = None
        for name, key in keys().items():
            if key.live and key.of(live) != key.of(self._in_force):
                self._said(f"settings: {name} is now {key.of(live)}")
        self._in_force = live
        waiting = tuple(name for name, key in keys().items() if not key.live and key.of(new) != key.of(self._start.settings))
        for name in waiting:
            if name not in self.waiting:
                self._said(f"settings: {name} changes at the next start")
        self.waiting = waiting


def _merged(old: Settings, new: Settings) -> Settings:
    """`old`, with those values of `new` that need no restart."""
    parts: dict[str, dict[str, object]] = {}
    for name, key in keys().items():
        if key.live:
            section, _, field = name.partition(".")
            parts.setdefault(section, {})[field] = key.of(new)
    made = {section: msgspec.structs.replace(getattr(old, section), **fields) for section, fields in parts.items()}
    return msgspec.structs.replace(old, **made)


def _stamp(file: Path | None) -> tuple[int, int, int] | None:
    try:
        found = None if file is None else file.stat()
    except OSError:
        return None
    return None if found is None else (found.st_mtime_ns, found.st_size, found.st_ino)
