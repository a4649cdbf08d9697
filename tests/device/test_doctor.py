"""The doctor: every fault is found, said with its remedy, and hides no other."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from device.broker_files import acl_text
from device.doctor import Finding, camera, exit_status, machine, network, software
from device.doctor import round as doctors_round
from device.health import Machine, Throttling
from device.settings import Settings
from tests.device.fake_picamera import World, camera_class
from tests.device.running import NOVUSS
from tests.parts.brokers import Mosquitto

FINE = Machine(50.0, Throttling([], []), 9000, 9000, 100, 10, clock_synchronised=True)


def settings(**sections: dict[str, object]) -> Settings:
    return msgspec.convert(sections, Settings, dec_hook=lambda wanted, raw: wanted(raw))


def by_name(findings: object) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("check", "change", "level", "words", "remedy"),
    [
        (machine.clock, {"clock_synchronised": False}, "warning", "not synchronised", "timedatectl"),
        (machine.supply, {"throttling": Throttling(["under_voltage"], ["under_voltage"])}, "wrong", "now: under_voltage", "power supply"),
        (machine.supply, {"throttling": Throttling([], ["under_voltage"])}, "warning", "since the start", "power supply"),
        (machine.supply, {"throttling": Throttling(["throttled"], ["throttled"])}, "warning", "throttled", "cooler"),
        (machine.supply, {"throttling": None}, "skipped", "does not report", ""),
        (machine.temperature, {"temperature_c": 82.0}, "wrong", "82 degrees", "cooler"),
        (machine.temperature, {"temperature_c": 72.0}, "warning", "72 degrees", "cooler"),
        (machine.temperature, {"temperature_c": None}, "skipped", "no sensor", ""),
        (machine.clock, {}, "ok", "kept", ""),
        (machine.supply, {}, "ok", "never", ""),
        (machine.temperature, {}, "ok", "50 degrees", ""),
    ],
)
def test_the_machine(check: Callable[[Machine], Finding], change: dict[str, object], level: str, words: str, remedy: str) -> None:
    found = check(msgspec.structs.replace(FINE, **change))
    assert found.level == level
    assert words in found.text
    assert remedy in found.remedy
    assert bool(found.remedy) == (level in {"warning", "wrong"}), "what is wrong has a remedy, what is right has none"


@pytest.mark.parametrize(("free_mb", "level"), [(100, "wrong"), (1000, "warning"), (9000, "ok")])
def test_a_full_card(free_mb: int, level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: types.SimpleNamespace(free=free_mb * 1_000_000))
    assert machine.disk(tmp_path / "not" / "yet").level == level


def test_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert machine.folder(tmp_path).level == "ok"
    assert "will be made" in machine.folder(tmp_path / "new").text
    assert machine.folder(Path("/proc/novuss")).level in {"ok", "wrong"}
    if os.geteuid() == 0:
        monkeypatch.setattr(machine, "_service_user", lambda: 12345)
        assert "chown -R novuss" in machine.folder(tmp_path).remedy
        monkeypatch.setattr(machine, "_service_user", lambda: None)
    tmp_path.chmod(0o777)
    assert machine.folder(tmp_path).level == "warning"

    def full(**_: object) -> object:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    found = machine.folder(tmp_path)
    assert (found.level, "Read-only" in found.text, "install -d -o novuss" in found.remedy) == ("wrong", True, True)


@pytest.mark.parametrize(
    ("content", "mode", "level", "remedy"),
    [
        ("secret", 0o600, "ok", ""),
        ("secret", 0o644, "warning", "chmod 600"),
        ("\n", 0o600, "wrong", "write the"),
        (None, 0, "wrong", "chown"),
    ],
)
def test_secrets(content: str | None, mode: int, level: str, remedy: str, tmp_path: Path) -> None:
    file = tmp_path / "password"
    if content is not None:
        file.write_text(content)
        file.chmod(mode)
    found = machine.secrets(settings(mqtt={"password_file": str(file)}))
    assert (found.level, remedy in found.remedy) == (level, True)
    assert "secret" not in found.text + found.remedy or "secrets" in found.text


@pytest.mark.parametrize(
    ("said", "level", "remedy"),
    [
        ("LoadState=loaded\nActiveState=active\nUnitFileState=enabled", "ok", ""),
        ("LoadState=loaded\nActiveState=active\nUnitFileState=disabled", "warning", "enable novuss"),
        ("LoadState=loaded\nActiveState=inactive\nUnitFileState=enabled", "warning", "enable --now"),
        ("LoadState=loaded\nActiveState=failed\nUnitFileState=enabled", "wrong", "journalctl"),
        ("LoadState=not-found\nActiveState=inactive\nUnitFileState=", "skipped", ""),
        ("System has not been booted with systemd", "skipped", ""),
    ],
)
def test_the_service(said: str, level: str, remedy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")
    monkeypatch.setattr("subprocess.run", lambda *_, **__: types.SimpleNamespace(stdout=said))
    found = machine.service()
    assert (found.level, remedy in found.remedy) == (level, True)


def test_packages_that_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert software.packages().level == "ok"
    two = [types.SimpleNamespace(metadata={"Name": name}) for name in ("opencv-python", "opencv-python-headless", "numpy")]
    monkeypatch.setattr(software, "distributions", lambda: two)
    assert "break each other" in software.packages().text
    monkeypatch.setattr(software, "distributions", list)
    monkeypatch.setattr(software, "_version", lambda name: "4.10.0" if name.startswith("opencv") else "2.1")
    found = software.packages()
    assert (found.level, "opencv-python-headless is 4.10.0, 5.x is needed" in found.text) == ("wrong", True)
    assert "pip install 'opencv-python-headless>=5,<6'" in found.remedy


@pytest.mark.parametrize(
    ("status", "level", "words"), [(0, "ok", "the networks load"), (1, "warning", "ImportError: no"), (-4, "warning", "dies with signal 4")]
)
def test_a_network_that_does_not_load(status: int, level: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    done = subprocess.CompletedProcess([], status, stdout="", stderr="Traceback\nImportError: no")
    monkeypatch.setattr("subprocess.run", lambda *_, **__: done)
    found = software.model()
    assert (found.level, words in found.text) == (level, True)


def test_a_taken_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        found = network.board_port(settings(board={"port": port}))
    assert (found.level, "taken" in found.text) == ("warning", True)
    assert network.board_port(settings(board={"port": port})).level == "ok"
    assert network.board_port(settings(board={"host": "192.0.2.1"})).level == "wrong"
    assert network.board_port(settings(board={"enabled": False})).level == "skipped"


def test_a_broker_that_is_not_there() -> None:
    found = network.broker(settings(mqtt={"url": "mqtt://127.0.0.1:1"}))
    assert (found.level, "systemctl start mosquitto" in found.remedy) == ("wrong", True)
    assert network.broker(settings(mqtt={"url": "http://x"})).level == "wrong"
    assert network.broker(settings()).level == "ok"
    assert network.broker(settings(mqtt={"enabled": False})).level == "skipped"


@pytest.mark.broker
def test_a_broker_that_answers(mosquitto: Mosquitto) -> None:
    assert network.broker(settings(mqtt={"url": mosquitto.url})).level == "ok"


@pytest.mark.parametrize(
    ("change", "level", "words"),
    [
        (lambda text: text, "ok", "this version's"),
        (lambda text: text.replace("pattern write novuss/%u/picture\n", ""), "wrong", "refuses: %u write novuss/%u/picture"),
        (lambda text: text.replace("user judge", "user other"), "wrong", "judge read novuss/#, judge write novuss/+/judge"),
        (lambda _: "", "wrong", "more"),
        (lambda text: text + "user me\ntopic read #\n", "warning", "not what this version writes"),
    ],
)
def test_the_brokers_access_list(change: Callable[[str], str], level: str, words: str, tmp_path: Path) -> None:
    assert network.access_list(tmp_path).level == "skipped"
    (tmp_path / "acl").write_text(change(acl_text()))
    found = network.access_list(tmp_path)
    assert (found.level, words in found.text) == (level, True), found
    assert ("--renew" in found.remedy) == (level != "ok")


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    world = World()
    module = types.ModuleType("picamera2")
    module.Picamera2 = camera_class(world)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "picamera2", module)
    monkeypatch.setattr(camera, "WATCHED_S", 0.3)
    return world


PI = {"source": "picamera"}


def examined(chosen: dict[str, object], *, busy: bool = False) -> dict[str, Finding]:
    return by_name(camera.camera_and_table(settings(camera=chosen), busy=busy))


def test_no_camera(world: World) -> None:
    world.connected = False
    found = examined(PI)
    assert (found["camera"].level, "reseat" in found["camera"].text) == ("wrong", True)
    assert found["lens"].level == "warning", "what can be looked at without a camera is"


@pytest.mark.parametrize(("lost", "level"), [(1, "ok"), (3, "wrong")])
def test_rate_and_light_of_a_camera(lost: int, level: str, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def paced(metadata: dict[str, object]) -> dict[str, object]:
        time.sleep(max(0.0, (world.clock.now_ns - time.monotonic_ns()) / 1e9))
        world.next_stamps = [lost]
        return metadata

    world.clock.now_ns = time.monotonic_ns()
    world.change = paced
    monkeypatch.setattr(camera, "check", lambda *_: None)
    found = examined(PI)
    assert found["camera"].level == "ok"
    assert found["rate"].level == level, found["rate"].text
    assert found["exposure"].level == "warning", "the stand-in's picture is black"
    assert world.held == 0


def test_a_camera_that_the_service_has(world: World) -> None:
    assert examined(PI, busy=True)["camera"].level == "skipped"
    assert world.opened == 0


def test_a_dark_picture_without_a_table_and_a_lens_that_is_missing(tmp_path: Path) -> None:
    import cv2
    import numpy as np

    for number in range(2):
        cv2.imwrite(str(tmp_path / f"{number}.png"), np.full((300, 400, 3), 20, np.uint8))
    found = examined({"source": str(tmp_path), "lens": str(tmp_path / "lens.json")})
    assert (found["exposure"].level, "more light" in found["exposure"].remedy) == ("warning", True)
    assert (found["lens"].level, "novuss lens" in found["lens"].remedy) == ("wrong", True)
    assert (found["table"].level, "off the table's lines" in found["table"].remedy) == ("wrong", True)
    assert examined({"source": str(tmp_path / "none.mp4")})["camera"].level == "wrong"


def test_one_fault_hides_no_other_and_a_broken_settings_file_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "novuss.toml"
    file.write_text("[bord]\n")
    monkeypatch.setattr(camera, "camera_and_table", lambda *_, **__: iter(()))
    monkeypatch.setattr(software, "model", lambda: Finding("model", "wrong", "no"))
    found = by_name(doctors_round.examine(file, {}))
    assert "did you mean [board]?" in found["settings"].text
    assert found["model"].level == "wrong"
    assert {"disk", "clock", "supply", "temperature", "broker", "access", "board", "service", "folder", "secrets"} <= found.keys()


def test_warnings_are_nothing_wrong() -> None:
    assert exit_status([Finding("a", "warning", ""), Finding("b", "skipped", "")]) == 0
    assert exit_status([Finding("a", "wrong", "")]) == 1


def test_for_machines_and_by_status(tmp_path: Path) -> None:
    file = tmp_path / "novuss.toml"
    file.write_text(f"[camera]\nsource = '{tmp_path}/none.mp4'\n[data]\nfolder = '{tmp_path}'\n")
    done = subprocess.run([NOVUSS, "doctor", "--config", str(file), "--json"], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1, done.stderr
    answer = json.loads(done.stdout)
    assert answer["ok"] is False
    assert {"name": "camera", "level": "wrong"}.items() <= next(f for f in answer["findings"] if f["name"] == "camera").items()
