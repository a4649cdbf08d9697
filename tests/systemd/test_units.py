"""The units as systemd itself judges them, in a root of their own: no unknown setting, exposure at most 2.0."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

UNITS = Path(__file__).parents[2] / "systemd"
HIGHEST_EXPOSURE = 2.0
# Debian's unit, as far as the drop-in builds on it.
MOSQUITTO = """[Unit]
Description=Mosquitto MQTT Broker
After=network.target
Wants=network.target

[Service]
Type=notify
NotifyAccess=main
ExecStart=/usr/sbin/mosquitto -c /etc/mosquitto/mosquitto.conf
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
ExecStartPre=/bin/mkdir -m 740 -p /var/log/mosquitto

[Install]
WantedBy=multi-user.target
"""
SERVICES = ["novuss.service", "novuss-board.service", "mosquitto.service"]


def analyze(*arguments: str) -> subprocess.CompletedProcess[str]:
    if (program := shutil.which("systemd-analyze")) is None:
        pytest.skip("systemd-analyze is not installed (Debian: systemd)")
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with the units where the installer puts them, and programs for them to name."""
    root = tmp_path_factory.mktemp("root")
    units = root / "etc/systemd/system"
    units.mkdir(parents=True)
    for unit in UNITS.glob("*.service"):
        shutil.copy(unit, units)
    (units / "mosquitto.service").write_text(MOSQUITTO)
    shutil.copytree(UNITS / "mosquitto.service.d", units / "mosquitto.service.d")
    for program in ("opt/novuss/current/bin/novuss", "usr/sbin/mosquitto", "bin/kill", "bin/mkdir"):
        (root / program).parent.mkdir(parents=True, exist_ok=True)
        (root / program).write_text("#!/bin/sh\n")
        (root / program).chmod(0o755)
    for target in ("multi-user", "network", "network-online", "time-sync", "sysinit", "basic", "shutdown"):
        (units / f"{target}.target").write_text("[Unit]\n")
    return root


@pytest.mark.parametrize("service", SERVICES)
def test_exposure(root: Path, service: str) -> None:
    judged = analyze("security", "--offline=true", f"--root={root}", service)
    found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", judged.stdout)
    assert found is not None, judged.stderr
    assert float(found[1]) <= HIGHEST_EXPOSURE


@pytest.mark.parametrize("service", SERVICES)
def test_systemd_knows_every_setting(root: Path, service: str) -> None:
    judged = analyze("verify", f"--root={root}", "--man=no", "--recursive-errors=no", service)
    complaints = [line for line in judged.stderr.splitlines() if service in line or "novuss.conf" in line]
    assert complaints == []


def test_a_setting_that_does_not_exist_would_be_noticed(root: Path, tmp_path: Path) -> None:
    copy = tmp_path / "root"
    shutil.copytree(root, copy)
    unit = copy / "etc/systemd/system/novuss.service"
    unit.write_text(unit.read_text().replace("WatchdogSec=", "WatchDogSeconds="))
    judged = analyze("verify", f"--root={copy}", "--man=no", "--recursive-errors=no", "novuss.service")
    assert "WatchDogSeconds" in judged.stderr


def test_the_monitor_is_watched_and_never_given_up() -> None:
    text = (UNITS / "novuss.service").read_text()
    for setting in ("Type=notify", "WatchdogSec=30", "Restart=always", "StartLimitIntervalSec=0", "MemoryMax=", "LogRateLimitBurst="):
        assert setting in text


def test_no_unit_has_a_password_in_it() -> None:
    for file in UNITS.rglob("*"):
        if file.is_file():
            assert not re.search(r"://[^/\s]*:[^/\s]*@|PASSWORD=", file.read_text()), file
