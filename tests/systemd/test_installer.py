"""The installer in a root of its own, with a stand-in for the package: twice, upgraded, failed, rolled back, removed."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

INSTALLER = Path(__file__).parents[2] / "systemd" / "install.sh"
# Says its version, or fails at its start; as `novuss broker FOLDER --renew` it leaves a note where the access list is.
STAND_IN = """import sys

def main():
    if sys.argv[1:2] == ["broker"]:
        with open(sys.argv[2] + "/acl", "w") as acl:
            acl.write(" ".join(sys.argv[3:]) + " by {version}")
        return
    raise SystemExit(1 - {works:d} or print({version!r}))
"""


class Machine:
    """A root to install into, and a package with the console script that the units name."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self._folder = folder
        (self.root / "etc/NetworkManager").mkdir(parents=True)
        self.release("1")

    def release(self, version: str, *, works: bool = True) -> None:
        """Make a wheel whose program prints this version, or fails at its start."""
        self.package = self._folder / f"novuss_stand_in-{version}-py3-none-any.whl"
        info = f"novuss_stand_in-{version}.dist-info"
        files = {
            "novuss_stand_in.py": STAND_IN.format(works=works, version=version),
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: novuss-stand-in\nVersion: {version}\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{info}/entry_points.txt": "[console_scripts]\nnovuss = novuss_stand_in:main\n",
        }
        with zipfile.ZipFile(self.package, "w") as wheel:
            for name, text in files.items():
                wheel.writestr(name, text)
            wheel.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"]))

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {
            "DESTDIR": str(self.root),
            "SOURCE": str(self.package),
            "PYTHON": sys.executable,
            "PIP_ARGS": "--no-index --no-deps",
        }
        return subprocess.run(
            ["bash", str(INSTALLER), *arguments], env=environment, capture_output=True, text=True, timeout=120, check=False
        )

    def install(self) -> None:
        done = self.run()
        assert done.returncode == 0, done.stderr

    def says(self) -> str:
        return subprocess.run([self.root / "opt/novuss/current/bin/novuss"], capture_output=True, text=True, check=False).stdout.strip()

    def files(self) -> dict[str, tuple[int, bytes]]:
        found = {}
        for path in self.root.rglob("*"):
            if path.is_file() and "opt" not in path.relative_to(self.root).parts:
                found[str(path.relative_to(self.root))] = (path.stat().st_mtime_ns, path.read_bytes())
        return found


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.slow
def test_installed_twice_upgraded_rolled_back_and_removed(machine: Machine) -> None:
    machine.install()
    assert machine.says() == "1"
    files = machine.files()
    assert {name for name in files if not name.startswith("etc/novuss/")} == {
        "etc/systemd/system/novuss.service",
        "etc/systemd/system/novuss-board.service",
        "etc/systemd/system/mosquitto.service.d/novuss.conf",
        "etc/sysusers.d/novuss.conf",
        "etc/udev/rules.d/70-novuss.rules",
        "etc/NetworkManager/conf.d/novuss-wifi.conf",
    }
    assert stat.S_IMODE((machine.root / "etc/novuss/mqtt-password").stat().st_mode) == 0o600

    # What a person wrote stays, and nothing else is touched.
    (machine.root / "etc/novuss/novuss.env").write_text("NOVUSS_WATCH=virtual\n")
    files = machine.files()
    machine.release("2")
    machine.install()
    assert machine.says() == "2"
    assert machine.files() == files

    assert machine.run("rollback").returncode == 0
    assert machine.says() == "1"
    assert machine.run("rollback").returncode == 0
    assert machine.says() == "2"

    log = machine.root / "var/lib/novuss/match.jsonl"
    log.parent.mkdir(parents=True)
    log.touch()
    assert machine.run("remove").returncode == 0
    assert set(machine.files()) == {name for name in files if name.startswith("etc/novuss/")} | {"var/lib/novuss/match.jsonl"}
    assert not (machine.root / "opt/novuss").exists()
    machine.install()
    assert (machine.root / "etc/novuss/novuss.env").read_text() == "NOVUSS_WATCH=virtual\n"
    assert machine.run("remove", "--purge").returncode == 0
    assert machine.files() == {}


@pytest.mark.slow
def test_an_upgrade_renews_the_brokers_access_list_and_keeps_passwords(machine: Machine) -> None:
    machine.install()
    assert not (machine.root / "etc/novuss/broker").exists(), "a broker of one's own elsewhere is left alone"
    broker = machine.root / "etc/novuss/broker"
    (broker / "passwords").mkdir(parents=True)
    for name in ("acl", "users", "passwords/1"):
        (broker / name).write_text("as it was")
    machine.release("2")
    machine.install()
    assert (broker / "acl").read_text() == "--renew by 2"
    assert [(broker / name).read_text() for name in ("users", "passwords/1")] == ["as it was"] * 2


@pytest.mark.slow
def test_a_version_that_does_not_start_changes_nothing(machine: Machine) -> None:
    machine.install()
    machine.release("2", works=False)
    failed = machine.run()
    assert failed.returncode == 1
    assert "does not start; the version that was there goes on running" in failed.stderr
    assert machine.says() == "1"
    assert len(list((machine.root / "opt/novuss/versions").iterdir())) == 1


@pytest.mark.slow
def test_a_version_that_cannot_be_installed_changes_nothing(machine: Machine) -> None:
    machine.install()
    machine.package.write_bytes(b"no wheel")
    failed = machine.run()
    assert failed.returncode == 1
    assert "goes on running" in failed.stderr
    assert machine.says() == "1"
    assert machine.run("rollback").returncode == 1


def test_wrong_usage_prints_what_it_can_do(machine: Machine) -> None:
    done = machine.run("explode")
    assert done.returncode == 2
    assert "rollback" in done.stderr
    assert machine.files() == {}
