"""A camera that is not there when the monitor starts is waited for, and everybody is told: systemd, health, the terminal."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec

from device import health, networks, topics
from device.service import Service
from device.sources.frame import CameraMissing, Source
from device.timing import Timing

# Seconds between two tries: within the ten in which a table has to be back, and no load on a driver that is in trouble.
TRY_EVERY_S: Final = 3.0


def wait_for_camera(
    open_it: Callable[[], Source],
    missing: CameraMissing,
    publish: topics.Publish,
    service: Service,
    said: Callable[[str], None],
    folder: Path,
    sleep: Callable[[float], None] = time.sleep,
) -> Source:
    """The camera, once it is there; `missing` is what the first try met. Raises what opening it raises for any other reason."""
    told = ""
    while True:
        if str(missing) != told:
            told = str(missing)
            said(f"{told}; waiting for it")
        service.waiting(f"waiting for the camera: {told}")
        publish(topics.HEALTH, _health(told, folder))
        sleep(TRY_EVERY_S)
        try:
            return open_it()
        except CameraMissing as error:
            missing = error


def _health(why: str, folder: Path) -> dict[str, Any]:
    nothing_yet = {"calibration_age_s": None, "calibration_rms_px": None, "drift_px": None, "no_calls": 0, "evidence": None}
    seeing = {"networks": networks.in_use()}
    camera = {"model": "", "state": "missing", "reopened": 0, "failure": why, "colour_gains": [], "lens_dioptre": None}
    parts = {"source": "picamera", "waiting_facts": 0, "stopped": why, "camera": camera}
    settings: dict[str, Any] = {"settings": {"restart_needed_for": [], "problem": None}}
    machine: dict[str, Any] = msgspec.to_builtins(health.sample(folder))
    return {"schema": "novuss.health/1"} | Timing().figures() | parts | machine | nothing_yet | seeing | settings
