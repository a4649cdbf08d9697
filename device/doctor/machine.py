"""The machine: card, clock, supply, heat, folders, service."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from device import health
from device.doctor.finding import Finding
from device.evidence.shelf import FLOOR_MB
from device.settings import Settings

ROOMY_MB: Final = 2500  # the quota of evidence and what must stay free beside it
HOT_C: Final = 80.0  # here a Pi begins to slow down
WARM_C: Final = 70.0  # ten degrees before it: the hall's summer is not over
ASK_S: Final = 5.0  # systemd answers in milliseconds
SERVICE: Final = "novuss.service"
USER: Final = "novuss"
_OTHERS: Final = stat.S_IRGRP | stat.S_IROTH


def disk(folder: Path) -> Finding:
    """Room for log, outbox and evidence."""
    place = existing(folder)
    free_mb = shutil.disk_usage(place).free // 1_000_000
    text = f"{free_mb} MB free at {place}"
    if free_mb < FLOOR_MB:
        return Finding("disk", "wrong", text, f"nothing is filmed below {FLOOR_MB} MB: delete files, or `novuss evidence quota` smaller")
    if free_mb < ROOMY_MB:
        return Finding("disk", "warning", text, "make room before a tournament, or set a smaller `novuss evidence quota`")
    return Finding("disk", "ok", text)


def clock(machine: health.Machine) -> Finding:
    """Whether the date is right; rulings do not depend on it."""
    if machine.clock_synchronised:
        return Finding("clock", "ok", "kept by a time daemon")
    return Finding(
        "clock",
        "warning",
        "not synchronised: dates in log and evidence may be wrong; rulings and timers are not affected",
        "connect the network and wait a minute, see `timedatectl`; or fit a clock battery (Pi 5)",
    )


def supply(machine: health.Machine) -> Finding:
    """The Pi firmware's word on voltage and throttling."""
    if machine.throttling is None:
        return Finding("supply", "skipped", "this machine does not report its supply voltage (only a Raspberry Pi does)")
    now, before = machine.throttling.now, machine.throttling.since_boot
    remedy = "use the official power supply and a short, thick cable; nothing else from the same supply"
    if "under_voltage" in now:
        return Finding("supply", "wrong", f"now: {', '.join(now)}", remedy)
    if "under_voltage" in before:
        return Finding("supply", "warning", f"since the start: {', '.join(before)}", remedy)
    if now or before:
        return Finding("supply", "warning", f"held back: {', '.join(now or before)}", "fit a cooler, or move it out of the lamps' heat")
    return Finding("supply", "ok", "never low, never held back since the start")


def temperature(machine: health.Machine) -> Finding:
    """The processor's temperature."""
    heat = machine.temperature_c
    if heat is None:
        return Finding("temperature", "skipped", "this machine has no sensor that says")
    remedy = "fit a cooler, or move it out of the lamps' heat"
    if heat >= HOT_C:
        return Finding("temperature", "wrong", f"{heat:.0f} degrees C: it slows down", remedy)
    if heat >= WARM_C:
        return Finding("temperature", "warning", f"{heat:.0f} degrees C", remedy)
    return Finding("temperature", "ok", f"{heat:.0f} degrees C")


def folder(place: Path) -> Finding:
    """Whether log and outbox can be written."""
    if not place.exists():
        above = existing(place)
        if os.access(above, os.W_OK):
            return Finding("folder", "ok", f"{place} will be made")
        return Finding("folder", "wrong", f"{place} is not there and {above} cannot be written to", _own(place))
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        return Finding("folder", "wrong", f"{place} cannot be written to ({error.strerror})", _own(place))
    if os.geteuid() == 0 and (user := _service_user()) is not None and place.stat().st_uid != user:
        return Finding("folder", "wrong", f"{place} does not belong to the service's user {USER}", f"sudo chown -R {USER}: {place}")
    if place.stat().st_mode & stat.S_IWOTH:
        return Finding("folder", "warning", f"{place} can be written to by everybody", f"sudo chmod o-w {place}")
    return Finding("folder", "ok", f"{place} can be written to")


def secrets(settings: Settings) -> Finding:
    """Whether the password's file is there, and nobody else's."""
    file = settings.mqtt.password_file
    if file is None:
        return Finding("secrets", "ok", "no password file is named")
    try:
        mode = file.stat().st_mode
        has_text = bool(file.read_text(encoding="utf-8").strip())
    except OSError as error:
        return Finding("secrets", "wrong", f"{file} cannot be read ({error.strerror})", f"sudo chown novuss {file}; or name another file")
    if not has_text:
        return Finding("secrets", "wrong", f"{file} is empty", "write the broker user's password into it (`novuss broker` made one)")
    if mode & _OTHERS:
        return Finding("secrets", "warning", f"{file} can be read by others", f"sudo chmod 600 {file}")
    return Finding("secrets", "ok", f"{file} is readable by its owner only")


def service() -> Finding:
    """The systemd unit, where there is one."""
    state = service_state()
    if state is None:
        return Finding("service", "skipped", f"{SERVICE} is not installed here (sudo systemd/install.sh does it)")
    active, enabled = state
    if active == "active" and enabled == "enabled":
        return Finding("service", "ok", "runs, and starts with the machine")
    if active in {"failed", "activating"}:
        return Finding(
            "service", "wrong", f"{SERVICE} is {active}", "journalctl -u novuss -n 50 says why; then sudo systemctl restart novuss"
        )
    if active != "active":
        return Finding("service", "warning", f"{SERVICE} is {active}", "sudo systemctl enable --now novuss")
    return Finding(
        "service", "warning", f"{SERVICE} runs, but is {enabled}", "sudo systemctl enable novuss, so that it starts with the machine"
    )


def service_state() -> tuple[str, str] | None:
    """ActiveState and UnitFileState of the monitor's unit; None where systemd does not know it."""
    if (program := shutil.which("systemctl")) is None:
        return None
    command = [program, "show", SERVICE, "--property=LoadState,ActiveState,UnitFileState"]
    try:
        asked = subprocess.run(command, capture_output=True, text=True, timeout=ASK_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = dict(line.split("=", 1) for line in asked.stdout.splitlines() if "=" in line)
    if said.get("LoadState") != "loaded":
        return None
    return said.get("ActiveState", "unknown"), said.get("UnitFileState", "unknown")


def existing(place: Path) -> Path:
    """The nearest folder above that is there."""
    return next(path for path in (place, *place.absolute().parents) if path.exists())


def _service_user() -> int | None:
    try:
        return pwd.getpwnam(USER).pw_uid
    except KeyError:
        return None


def _own(place: Path) -> str:
    return f"sudo install -d -o novuss -g novuss -m 750 {place}; or name another: [data] folder"
