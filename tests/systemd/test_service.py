"""What the process tells systemd, heard on a real notification socket."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from device.service import Service


class Heard:
    """A notification socket like systemd's, a clock to set, and a broker to switch on."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind("\0" + path[1:] if path.startswith("@") else path)
        self._socket.setblocking(False)
        self.now_s = 100.0
        self.broker = False
        environ = {"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "8000000", "WATCHDOG_PID": str(os.getpid())}
        self.service = Service(lambda: self.broker, environ, lambda: self.now_s)

    def messages(self) -> list[str]:
        found = []
        while True:
            try:
                found.append(self._socket.recv(4096).decode())
            except BlockingIOError:
                return found

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(params=["path", "abstract"])
def heard(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Heard]:
    heard = Heard(f"@novuss-test-{os.getpid()}" if request.param == "abstract" else str(tmp_path / "notify"))
    yield heard
    heard.close()


def test_ready_after_the_first_frame_and_the_first_broker_answer(heard: Heard) -> None:
    assert heard.messages() == []
    heard.service.frame()
    assert heard.messages() == ["EXTEND_TIMEOUT_USEC=30000000\nSTATUS=waiting for the broker"]
    heard.now_s += 4
    heard.service.frame()
    assert heard.messages() == []
    heard.broker = True
    heard.service.frame()
    assert heard.messages() == ["READY=1\nWATCHDOG=1"]


def test_pings_come_with_new_frames_only_and_not_with_each(heard: Heard) -> None:
    heard.broker = True
    heard.service.frame()
    heard.messages()
    pings = 0
    for _ in range(600):
        heard.now_s += 1 / 60
        heard.service.frame()
        pings += len(heard.messages())
    # Ten seconds with a watchdog of eight: one each two seconds.
    assert pings in {4, 5}
    heard.now_s += 60
    assert heard.messages() == []


def test_a_lost_broker_does_not_stop_the_pings(heard: Heard) -> None:
    heard.broker = True
    heard.service.frame()
    heard.broker = False
    heard.messages()
    heard.now_s += 3
    heard.service.frame()
    assert heard.messages() == ["WATCHDOG=1"]


def test_status_is_one_line_and_stopping_is_said(heard: Heard) -> None:
    heard.service.status("camera\nmissing")
    heard.service.stopping()
    assert heard.messages() == ["STATUS=camera missing", "STOPPING=1"]


@pytest.mark.parametrize("environ", [{}, {"NOTIFY_SOCKET": "/nowhere/notify"}])
def test_without_systemd_nothing_happens(environ: dict[str, str]) -> None:
    service = Service(lambda: True, environ)
    service.frame()
    service.status("x")
    service.stopping()


def test_a_watchdog_that_is_meant_for_another_process_is_left_alone(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.setblocking(False)
        now = [0.0]
        environ = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "8000000", "WATCHDOG_PID": "1"}
        service = Service(lambda: True, environ, lambda: now[0])
        service.frame()
        assert b"READY" in systemd.recv(100)
        now[0] += 60
        service.frame()
        with pytest.raises(BlockingIOError):
            systemd.recv(100)
