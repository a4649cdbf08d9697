"""The machine under the monitor, for the `health` topic and doctor: heat, supply voltage, card, memory, clock. What can't be read is None.

Everything is read from files of the kernel; only on a Pi whose kernel lacks them is `vcgencmd` asked.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from device.clock import is_synchronised

# Bits of the Pi firmware's get_throttled; the same ones 16 places up mean "since boot".
THROTTLED_BITS: Final = {0: "under_voltage", 1: "frequency_capped", 2: "throttled", 3: "soft_temperature_limit"}
SINCE_BOOT: Final = 16
THROTTLED_FILE: Final = "sys/devices/platform/soc/soc:firmware/get_throttled"
# Seconds; it answers in milliseconds, and health must not wait for a firmware that hangs.
VCGENCMD_TIMEOUT_S: Final = 1.0
# Thermal zones that are the processor's, best first: Raspberry Pi, then PCs; else the first zone there is.
CPU_ZONES: Final = ("cpu-thermal", "x86_pkg_temp", "acpitz")


class Throttling(msgspec.Struct, frozen=True):
    """What the Pi's firmware holds back, now and at any time since boot: a weak supply or heat."""

    now: list[str]
    since_boot: list[str]


class Machine(msgspec.Struct, frozen=True):
    """One sample."""

    temperature_c: float | None
    throttling: Throttling | None
    disk_free_mb: int | None
    disk_total_mb: int | None
    memory_mb: int | None
    open_files: int | None
    clock_synchronised: bool


def sample(folder: Path, root: Path = Path("/")) -> Machine:
    """Measure now; `folder` is where log and recordings go."""
    disk = None
    with contextlib.suppress(OSError):
        disk = shutil.disk_usage(folder)
    return Machine(
        temperature_c=temperature_c(root),
        throttling=throttling(root),
        disk_free_mb=None if disk is None else disk.free // 1_000_000,
        disk_total_mb=None if disk is None else disk.total // 1_000_000,
        memory_mb=_memory_mb(root),
        open_files=_open_files(root),
        clock_synchronised=is_synchronised(),
    )


def temperature_c(root: Path = Path("/")) -> float | None:
    """The processor's temperature, or None where no sensor says."""
    zones: dict[str, float] = {}
    for zone in sorted((root / "sys/class/thermal").glob("thermal_zone*")):
        kind, reading = _text(zone / "type"), _text(zone / "temp")
        if kind is not None and reading is not None and reading.lstrip("-").isdigit():
            zones.setdefault(kind, int(reading) / 1000)
    return next((zones[kind] for kind in CPU_ZONES if kind in zones), next(iter(zones.values()), None))


def throttling(root: Path = Path("/")) -> Throttling | None:
    """The firmware's word on supply and heat; None on a machine that is no Raspberry Pi."""
    text = _text(root / THROTTLED_FILE) or _vcgencmd(root)
    try:
        bits = int((text or "").removeprefix("throttled="), 16)
    except ValueError:
        return None
    return Throttling(
        now=[name for bit, name in THROTTLED_BITS.items() if bits >> bit & 1],
        since_boot=[name for bit, name in THROTTLED_BITS.items() if bits >> bit + SINCE_BOOT & 1],
    )


def age_s(made_at: str | None) -> float | None:
    """Seconds of wall time since an ISO 8601 moment, e.g. a calibration's `made_at`; None where that says nothing.

    A clock that was set back, or not yet set, would make it negative: that says nothing either.
    """
    try:
        made = datetime.fromisoformat(made_at or "")
    except ValueError:
        return None
    age = (datetime.now(UTC) - (made if made.tzinfo else made.replace(tzinfo=UTC))).total_seconds()
    return age if age >= 0 else None


def _vcgencmd(root: Path) -> str | None:
    if (program := shutil.which("vcgencmd", path=str(root / "usr/bin"))) is None:
        return None
    try:
        asked = subprocess.run([program, "get_throttled"], capture_output=True, text=True, timeout=VCGENCMD_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return asked.stdout.strip()


def _memory_mb(root: Path) -> int | None:
    """Resident set of this process."""
    pages = (_text(root / "proc/self/statm") or "").split()
    return int(pages[1]) * os.sysconf("SC_PAGE_SIZE") // 1_000_000 if len(pages) > 1 and pages[1].isdigit() else None


def _open_files(root: Path) -> int | None:
    try:
        return sum(1 for _ in (root / "proc/self/fd").iterdir())
    except OSError:
        return None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
