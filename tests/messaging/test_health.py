"""The machine's health on machines that do not exist here: a Pi's files are laid out in a folder."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from device import health


def lay(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_this_machine_answers_and_the_answer_is_json(tmp_path: Path) -> None:
    machine = health.sample(tmp_path)
    assert (machine.disk_free_mb or 0) > 0
    assert (machine.memory_mb or 0) > 5
    assert (machine.open_files or 0) > 2
    assert msgspec.json.decode(msgspec.json.encode(machine), type=health.Machine) == machine


def test_nothing_to_read_is_none_not_a_failure(tmp_path: Path) -> None:
    machine = health.sample(tmp_path / "gone", root=tmp_path)
    assert (machine.temperature_c, machine.throttling, machine.disk_free_mb, machine.memory_mb, machine.open_files) == (None,) * 5


@pytest.mark.parametrize(
    ("zones", "expected"),
    [
        ([("cpu-thermal", "48312\n")], 48.312),
        ([("acpitz", "20000"), ("x86_pkg_temp", "61000")], 61.0),
        ([("gpu", "33000")], 33.0),
        ([("cpu-thermal", "-5000")], -5.0),
        ([("cpu-thermal", "nonsense")], None),
        ([], None),
    ],
)
def test_the_processor_s_temperature(tmp_path: Path, zones: list[tuple[str, str]], expected: float | None) -> None:
    for number, (kind, reading) in enumerate(zones):
        lay(tmp_path / f"sys/class/thermal/thermal_zone{number}", type=kind, temp=reading)
    assert health.temperature_c(tmp_path) == expected


@pytest.mark.parametrize(
    ("text", "now", "since_boot"),
    [
        ("0", [], []),
        ("50000", [], ["under_voltage", "throttled"]),
        ("0x50005", ["under_voltage", "throttled"], ["under_voltage", "throttled"]),
        ("e0008", ["soft_temperature_limit"], ["frequency_capped", "throttled", "soft_temperature_limit"]),
    ],
)
def test_throttling_now_and_since_boot_are_told_apart(tmp_path: Path, text: str, now: list[str], since_boot: list[str]) -> None:
    path = tmp_path / health.THROTTLED_FILE
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert health.throttling(tmp_path) == health.Throttling(now, since_boot)


def vcgencmd(root: Path, script: str) -> None:
    program = root / "usr/bin/vcgencmd"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def test_vcgencmd_is_asked_where_the_kernel_says_nothing(tmp_path: Path) -> None:
    vcgencmd(tmp_path, 'test "$1" = get_throttled && echo throttled=0x20002')
    assert health.throttling(tmp_path) == health.Throttling(["frequency_capped"], ["frequency_capped"])


@pytest.mark.parametrize("script", ["exit 1", "echo error=1", "exec sleep 5"])
def test_a_vcgencmd_that_fails_or_hangs_is_none(tmp_path: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "VCGENCMD_TIMEOUT_S", 0.1)
    vcgencmd(tmp_path, script)
    assert health.throttling(tmp_path) is None


def test_age_of_a_calibration() -> None:
    hour_ago = datetime.now(UTC) - timedelta(hours=1)
    assert health.age_s(hour_ago.isoformat()) == pytest.approx(3600, abs=5)
    assert health.age_s(hour_ago.isoformat().replace("+00:00", "Z")) == pytest.approx(3600, abs=5)
    assert health.age_s((datetime.now(UTC) + timedelta(hours=12)).isoformat()) is None
    assert health.age_s("yesterday") is None
    assert health.age_s(None) is None
