"""The appliance as a new user installs it, in a fresh Debian that systemd has booted: `make try-install`; minutes, and only for root."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.parts.fresh_root import FreshRoot

pytestmark = pytest.mark.slow
INSTALL = "cd /root/novuss && systemd/install.sh"
NOVUSS = "/opt/novuss/current/bin/novuss"
MOST_EXPOSED = 2.0  # systemd's own figure, 0 to 10
HEARD = "mosquitto_sub -h 127.0.0.1 -u board -P $(cat /etc/novuss/broker/passwords/board) -t novuss/1/{} -C 1 -W 240"


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FreshRoot]:
    with FreshRoot(tmp_path_factory.mktemp("fresh") / "root") as root:
        yield root


def exposure(machine: FreshRoot, unit: str) -> float:
    found = re.search(r"exposure level for \S+: ([\d.]+)", machine.ok(f"systemd-analyze security --no-pager {unit}"))
    assert found
    return float(found[1])


def configuration(machine: FreshRoot) -> dict[str, tuple[int, bytes]]:
    files = [path for folder in ("etc/novuss", "etc/systemd/system") for path in (machine.folder / folder).rglob("*")]
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in files if path.is_file() and not path.is_symlink()}


def release(checkout: Path, version: str) -> None:
    file = checkout / "pyproject.toml"
    file.write_text(re.sub(r'^version = ".*"', f'version = "{version}"', file.read_text(encoding="utf-8"), flags=re.M), encoding="utf-8")


def test_installed_run_upgraded_rolled_back_and_removed(machine: FreshRoot) -> None:
    checkout = machine.check_out()
    machine.ok(INSTALL)
    machine.until("systemctl is-active mosquitto novuss-board | sort -u", "active")
    # Before it is set up, the monitor says what to do.
    machine.until("journalctl -u novuss --no-pager -o cat | grep -q 'run `novuss setup`' && echo told", "told")
    assert "Traceback" not in machine.ok("journalctl --no-pager -o cat; true")

    # Set up: here is no camera, so the virtual table.
    machine.ok(f"systemctl stop novuss && {NOVUSS} config --config /etc/novuss/novuss.toml > /dev/null")
    machine.ok("sed -i 's/^source = .*/source = \"virtual\"/; /^calibration/d' /etc/novuss/novuss.toml && systemctl start novuss")
    assert json.loads(machine.ok(HEARD.format("status")))["state"] == "online"
    assert json.loads(machine.ok(HEARD.format("ruling")))["schema"] == "novuss.ruling/1"
    assert json.loads(machine.ok("curl -s http://127.0.0.1:8080/healthz || python3 -c \"import urllib.request as u; "
                                 "print(u.urlopen('http://127.0.0.1:8080/healthz').read().decode())\""))["monitor"] == "online"  # fmt: skip
    for unit in ("novuss.service", "novuss-board.service", "mosquitto.service"):
        assert exposure(machine, unit) <= MOST_EXPOSED, unit
    findings = {finding["name"]: finding for finding in json.loads(machine.ok(f"{NOVUSS} doctor --json"))["findings"]}
    assert {findings[name]["level"] for name in ("settings", "packages", "model", "folder", "secrets", "broker", "service")} == {"ok"}

    # Pulled out of the world, it comes back.
    machine.ok("kill -9 $(systemctl show -p MainPID --value novuss)")
    machine.until("systemctl show -p NRestarts --value novuss", "1")
    machine.until("systemctl is-active novuss", "active")

    before, first = configuration(machine), machine.ok("readlink /opt/novuss/current")
    machine.ok(INSTALL)
    assert configuration(machine) == before, "a second run changes nothing that is right"
    assert machine.ok("readlink /opt/novuss/previous") == first

    release(checkout, "9.9.9")
    machine.ok("sed -i '/picture/d' /etc/novuss/broker/acl")
    machine.ok(INSTALL)
    machine.ok("grep -q picture /etc/novuss/broker/acl")
    assert machine.ok(f"{NOVUSS} --version") == "9.9.9"
    machine.until("systemctl is-active novuss", "active")
    release(checkout, "not a version")
    assert machine.run(INSTALL).returncode == 1
    assert machine.ok(f"{NOVUSS} --version") == "9.9.9", "what cannot be installed changes nothing"
    machine.ok("cd /root/novuss && systemd/install.sh rollback")
    assert machine.ok(f"{NOVUSS} --version") != "9.9.9"
    machine.until("systemctl is-active novuss novuss-board mosquitto | sort -u", "active")

    machine.ok("cd /root/novuss && systemd/install.sh remove")
    assert machine.run("systemctl cat novuss").returncode != 0
    assert (machine.folder / "etc/novuss/novuss.toml").exists()
    assert not (machine.folder / "opt/novuss").exists()
    machine.ok("cd /root/novuss && systemd/install.sh remove --purge")
    assert not (machine.folder / "etc/novuss").exists()
    assert not (machine.folder / "var/lib/novuss").exists()
