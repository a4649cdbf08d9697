"""A camera that is not there at the start: waited for in the process, told to systemd and in health, and watched once it is there."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import msgspec
import pytest

from device import topics
from device.camera_wait import wait_for_camera
from device.interface import schema_of
from device.service import Service
from device.sources.frame import CameraMissing, Source
from device.sources.virtual import VirtualSource
from rules.errors import SourceFailed
from tests.parts.json_schema import problems


class Slot:
    """A place where a camera appears at the third look."""

    def __init__(self, *meets: Exception) -> None:
        self._meets = list(meets)
        self.source = VirtualSource(seed=1, realtime=False)

    def open(self) -> Source:
        if self._meets:
            raise self._meets.pop(0)
        return self.source


def test_a_missing_camera_is_waited_for_and_told_everywhere(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.setblocking(False)
        service = Service(lambda: True, {"NOTIFY_SOCKET": str(tmp_path / "notify")})
        slot = Slot(CameraMissing("camera 0: no camera"), CameraMissing("camera 0: somebody else has it"))
        sent: list[tuple[topics.Topic, Any]] = []
        said: list[str] = []
        paused: list[float] = []
        found = wait_for_camera(
            slot.open,
            CameraMissing("camera 0: no camera"),
            lambda topic, payload: sent.append((topic, payload)),
            service,
            said.append,
            tmp_path,
            paused.append,
        )
        assert found is slot.source
        heard = [systemd.recv(4096).decode() for _ in range(6)]
    assert said == ["camera 0: no camera; waiting for it", "camera 0: somebody else has it; waiting for it"]
    assert len(paused) == 3
    assert heard[::2] == ["EXTEND_TIMEOUT_USEC=30000000"] * 3, "a start that waits is no hang"
    assert heard[1] == "STATUS=waiting for the camera: camera 0: no camera"
    schema = schema_of("Health")
    for topic, payload in sent:
        assert topic == topics.HEALTH
        assert list(problems(msgspec.json.decode(msgspec.json.encode(payload)), schema, schema)) == []
    assert sent[-1][1]["camera"]["state"] == "missing"
    assert sent[-1][1]["stopped"] == "camera 0: somebody else has it"


def test_what_no_waiting_mends_is_raised(tmp_path: Path) -> None:
    slot = Slot(SourceFailed("picamera2 cannot be imported here"))
    with pytest.raises(SourceFailed, match="cannot be imported"):
        wait_for_camera(slot.open, CameraMissing("x"), lambda *_: None, Service(lambda: True, {}), lambda _: None, tmp_path, lambda _: None)
