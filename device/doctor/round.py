"""The doctor's round: every check in the order in which people would look, each by itself, so that one that fails hides no other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from platformdirs import user_data_path

from device import health
from device.doctor import camera, machine, network, software
from device.doctor.finding import Finding
from device.settings import Settings, find_file, load
from rules.errors import NovussError


def examine(config: Path | None = None, environ: Mapping[str, str] = os.environ) -> Iterator[Finding]:
    """Look at everything; findings come as they are made."""
    settings, found = _settings(config, environ)
    yield found
    folder = settings.data.folder or user_data_path("novuss") / settings.table.name
    sample = health.sample(machine.existing(folder))
    state = machine.service_state()
    checks: list[Callable[[], Finding]] = [
        software.packages,
        software.model,
        lambda: machine.folder(folder),
        lambda: machine.secrets(settings),
        lambda: machine.disk(folder),
        lambda: machine.clock(sample),
        lambda: machine.supply(sample),
        lambda: machine.temperature(sample),
        lambda: network.broker(settings, environ),
        network.access_list,
        lambda: network.board_port(settings),
        lambda: network.webhook(settings),
        machine.service,
    ]
    for check in checks:
        yield check()
    yield from camera.camera_and_table(settings, busy=state is not None and state[0] == "active")


def _settings(config: Path | None, environ: Mapping[str, str]) -> tuple[Settings, Finding]:
    try:
        loaded = load(find_file(config, environ), environ)
    except NovussError as error:
        return Settings(), Finding("settings", "wrong", str(error), "mend that line; everything below is looked at with the defaults")
    where = "no settings file, defaults are used" if loaded.file is None else str(loaded.file)
    return loaded.settings, Finding("settings", "ok", where)
