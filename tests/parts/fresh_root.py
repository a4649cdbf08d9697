"""A fresh Debian in a folder, made by debootstrap from the mirror that this machine's apt uses, and booted by systemd-nspawn."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from tests.parts.brokers import answers, wait_until

REPOSITORY = Path(__file__).parents[2]
SUITE = "bookworm"  # Raspberry Pi OS bookworm's own
# As README and docs/appliance.md name them, without picamera2, which only the Pi's own archive has, and what every Pi's image has.
PACKAGES = ("git", "python3-venv", "mosquitto", "mosquitto-clients", "openssl", "systemd-sysv", "dbus", "udev", "ca-certificates")
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
MAKE_S, BOOT_S = 900, 120
PORTS = (1883, 8080, 8883, 8884)  # the machine's own network is used, or pip would find nothing


def mirror() -> str:
    """The first Debian mirror of this machine's apt."""
    sources = Path("/etc/apt")
    for file in (sources / "sources.list", *sorted((sources / "sources.list.d").glob("*"))):
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
        if found := re.search(r"^(?:URIs:|deb(?:\s+\[[^\]]*\])?)\s+(\S+://\S+)", text, flags=re.MULTILINE):
            return found[1]
    pytest.skip("apt on this machine names no mirror")


class FreshRoot:
    """A context: inside it, `run` runs commands in the booted root."""

    def __init__(self, folder: Path) -> None:
        if os.geteuid() != 0:
            pytest.skip("only root can make and boot a root")
        for tool, package in (("debootstrap", "debootstrap"), ("systemd-nspawn", "systemd-container"), ("nsenter", "util-linux")):
            if shutil.which(tool) is None:
                pytest.skip(f"{tool} is not installed (Debian: {package})")
        if taken := [port for port in PORTS if answers(port)]:
            pytest.skip(f"ports {taken} of this machine are taken")
        self.folder = folder
        self._cache = folder.with_name("pip-cache")
        self._log = folder.with_name("boot.log")
        self._process: subprocess.Popen[bytes] | None = None
        self._leader = 0

    def __enter__(self) -> Self:
        made = subprocess.run(
            ["debootstrap", "--variant=minbase", SUITE, str(self.folder), mirror()],
            capture_output=True, text=True, timeout=MAKE_S, check=False,
        )  # fmt: skip
        if made.returncode != 0:
            pytest.skip(f"debootstrap cannot make a root here: {made.stdout[-300:]}")
        shutil.copy("/etc/resolv.conf", self.folder / "etc" / "resolv.conf")
        shell = f"apt-get update -qq && apt-get install -y -qq --no-install-recommends {' '.join(PACKAGES)}"
        subprocess.run(
            ["chroot", str(self.folder), "sh", "-c", shell],
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"},
            check=True, capture_output=True, timeout=MAKE_S,
        )  # fmt: skip
        # Whoever this machine trusts is trusted there too.
        shutil.copy(CERTIFICATES, self.folder / CERTIFICATES.relative_to("/"))
        self._cache.mkdir(exist_ok=True)
        self._boot()
        return self

    def _boot(self) -> None:
        command = ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "-D", str(self.folder), "-M", f"novuss-{os.getpid()}"]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*command, f"--bind={self._cache}:/pip-cache", "--boot"], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")

        def is_up() -> bool:
            first = children.read_text(encoding="ascii").split() if children.exists() else []
            self._leader = int(first[0]) if first else 0
            return bool(self._leader) and self.run("systemctl is-system-running").stdout.strip() in {"running", "degraded"}

        if not wait_until(is_up, BOOT_S):
            said = self._log.read_text(encoding="utf-8", errors="replace")[-500:]
            self._stop()
            pytest.skip(f"systemd does not start in a container here: {said}")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._process is None:
            return
        self.run("systemctl poweroff")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(60)
        self._process.kill()
        self._process.wait()

    def run(self, shell: str, timeout_s: float = MAKE_S) -> subprocess.CompletedProcess[str]:
        """A command in the booted root."""
        inside = ["nsenter", "-t", str(self._leader), "-m", "-u", "-i", "-p", "-r", "-w", "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
        pip = [f"PIP_CERT={CERTIFICATES}", "PIP_CACHE_DIR=/pip-cache", "PIP_DEFAULT_TIMEOUT=180", "LANG=C.UTF-8", "COLUMNS=200"]
        return subprocess.run([*inside, *pip, "bash", "-c", shell], capture_output=True, text=True, timeout=timeout_s, check=False)

    def ok(self, shell: str) -> str:
        """A command that must succeed; what it printed."""
        done = self.run(shell)
        assert done.returncode == 0, f"{shell}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        return done.stdout.strip()

    def until(self, shell: str, wanted: str, timeout_s: float = 120.0) -> None:
        """Wait until a command prints something."""
        deadline = time.monotonic() + timeout_s
        while (said := self.run(shell).stdout.strip()) != wanted:
            assert time.monotonic() < deadline, f"{shell}: {said}\n{self.run('journalctl -n 40 --no-pager -o cat').stdout}"
            time.sleep(0.5)

    def check_out(self, target: str = "root/novuss") -> Path:
        """A clean checkout of this repository inside the root; its place seen from here."""
        place = self.folder / target
        files = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, check=True).stdout.decode().split("\0")
        for name in filter(None, files):
            if (source := REPOSITORY / name).is_file():
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, place / name)
        return place
