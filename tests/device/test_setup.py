"""Set-up with somebody who answers: on the virtual table, on a stand-in for a Pi's camera, on a real broker."""

from __future__ import annotations

import stat
import subprocess
import sys
import types
from pathlib import Path

import cv2
import numpy as np
import pytest

from device.settings import load
from device.setup import STEPS, Bench
from device.setup import bench as bench_module
from device.setup.measure import light, sharpness
from rules.errors import InputUnusable, NovussError
from tests.device.fake_picamera import World, camera_class
from tests.device.running import NOVUSS
from tests.parts.brokers import Mosquitto


class Somebody:
    """Answers by what a question is about; the default for everything else."""

    def __init__(self, **answers: str) -> None:
        self.answers = answers
        self.said: list[str] = []
        self.patience = 5

    def say(self, text: str) -> None:
        self.said.append(text)

    def show(self, text: str) -> None:
        self.said.append(text)

    def ask(self, question: str, default: str = "", *, hidden: bool = False) -> str:
        word = question.split(maxsplit=1)[0].strip(",:").lower()
        assert hidden == (word == "password")
        return self.answers.get(word, default)

    def has_enough(self) -> bool:
        self.patience -= 1
        return self.patience == 0

    def heard(self, words: str) -> bool:
        return any(words in line for line in self.said)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "novuss.toml"


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    world = World("imx708", (2304, 1296))
    module = types.ModuleType("picamera2")
    module.Picamera2 = camera_class(world)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "picamera2", module)
    # The stand-in's clock is not this machine's.
    world.change = lambda metadata: metadata | {"SensorTimestamp": bench_module_time()}
    return world


def bench_module_time() -> int:
    import time

    return time.monotonic_ns()


def test_the_virtual_table_from_nothing_to_a_settings_file(file: Path) -> None:
    talk = Somebody(camera="virtual", name="7", sets="3")
    with Bench(talk, file, {}) as bench:
        for step in STEPS.values():
            step(bench)
    loaded = load(file, {})
    assert (loaded.settings.camera.source, loaded.settings.table.name, loaded.settings.match.sets) == ("virtual", "7", 3)
    assert "port" not in file.read_text(), "only what was changed is written"
    for words in ("virtual table, 1456x1088", "sharpness", "brightness", "its lines fit to", "brings its own"):
        assert talk.heard(words), words
    report = cv2.imread(str(file.with_name("table.png")))
    assert report is not None
    assert report.shape[0] > 1000


def test_a_persons_remarks_stay_and_a_wrong_answer_changes_nothing(file: Path) -> None:
    file.write_text('# hall B\n[table]\nname = "7"  # by the door\n', encoding="utf-8")
    before = file.read_text(encoding="utf-8")
    with Bench(Somebody(name="a b"), file, {}) as bench, pytest.raises(InputUnusable, match="letters, digits"):
        STEPS["names"](bench)
    assert file.read_text(encoding="utf-8") == before
    assert list(file.parent.iterdir()) == [file]
    with Bench(Somebody(sets="9"), file, {}) as bench:
        STEPS["names"](bench)
    assert file.read_text(encoding="utf-8") == f"{before}\n[match]\nsets = 9\n"


def test_a_camera_that_locks_by_itself_is_held_as_it_was_found(world: World, file: Path) -> None:
    talk = Somebody(camera="picamera", exposure="3000", gain="4.5", lamps="50")
    with Bench(talk, file, {}) as bench:
        for name in ("camera", "focus", "exposure"):
            STEPS[name](bench)
    camera = load(file, {}).settings.camera
    assert (camera.focus_dioptre, camera.blue_gain) == (0.87, 1.5)
    assert (camera.exposure_us, camera.gain, camera.mains_hz) == (3000, 4.5, 50)
    assert talk.heard("too dark"), "the stand-in's picture is black"
    assert talk.heard("0.87 dioptre")
    assert world.held == 0


@pytest.mark.parametrize(
    ("question", "words"), [("exposure", "exposure_us = 'bright'"), ("gain", "gain = 'bright'"), ("lamps", "mains_hz = 'bright'")]
)
def test_what_is_no_number_is_told_with_what_it_is_for(question: str, words: str, world: World, file: Path) -> None:
    with Bench(Somebody(camera="picamera", **{question: "bright"}), file, {}) as bench:
        STEPS["camera"](bench)
        with pytest.raises(InputUnusable, match=words):
            STEPS["exposure"](bench)
    assert world.held == 0


def test_a_camera_that_the_service_has_is_not_touched(world: World, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_module, "service_state", lambda: ("active", "enabled"))
    with Bench(Somebody(camera="picamera"), file, {}) as bench, pytest.raises(InputUnusable, match="systemctl stop novuss"):
        STEPS["camera"](bench)
    assert world.opened == 0


def test_a_picture_without_a_table_is_told(tmp_path: Path, file: Path) -> None:
    (tmp_path / "stills").mkdir()
    for number in range(2):
        cv2.imwrite(str(tmp_path / "stills" / f"{number}.png"), np.full((300, 400, 3), 90, np.uint8))
    with Bench(Somebody(camera=str(tmp_path / "stills")), file, {}) as bench:
        STEPS["camera"](bench)
        with pytest.raises(NovussError, match=r"the table was not found: .*hands and things"):
            STEPS["table"](bench)


@pytest.mark.broker
def test_a_broker_is_tried_and_its_password_kept_apart(mosquitto: Mosquitto, file: Path) -> None:
    talk = Somebody(broker=mosquitto.url, user="7", password="secret")
    with Bench(talk, file, {}) as bench:
        STEPS["broker"](bench)
    password = load(file, {}).settings.mqtt.password_file
    assert password is not None
    assert password.read_text() == "secret\n"
    assert stat.S_IMODE(password.stat().st_mode) == 0o600
    assert "secret" not in file.read_text() + "".join(talk.said)
    assert talk.heard("answers")


def test_a_broker_that_is_not_there_is_told_and_kept(file: Path) -> None:
    talk = Somebody(broker="mqtt://127.0.0.1:1")
    with Bench(talk, file, {}) as bench:
        STEPS["broker"](bench)
    assert talk.heard("systemctl start mosquitto")
    assert load(file, {}).settings.mqtt.url == "mqtt://127.0.0.1:1"


def test_sharpness_falls_with_blur_and_not_with_light() -> None:
    rng = np.random.default_rng(1)
    scene = np.repeat(np.repeat(rng.integers(40, 200, (60, 80, 1), np.uint8), 8, 0), 8, 1).repeat(3, 2)
    figures = [sharpness(np.asarray(cv2.GaussianBlur(scene, (0, 0), s), np.uint8)) for s in (0.5, 1.0, 2.0, 4.0)]
    assert figures == sorted(figures, reverse=True)
    assert sharpness((scene * 0.5).astype(np.uint8)) == pytest.approx(sharpness(scene), rel=0.05)


@pytest.mark.parametrize(
    ("levels", "words"),
    [([120] * 8, None), ([10] * 8, "too dark"), ([220] * 8, "too bright"), ([255] * 8, "mirror"), ([120, 126] * 4, "flickers")],
)
def test_what_the_light_is_like(levels: list[int], words: str | None) -> None:
    advice = light([np.full((100, 100, 3), level, np.uint8) for level in levels]).advice()
    assert (advice == ()) if words is None else any(words in line for line in advice)


def test_nobody_at_the_terminal_is_one_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [NOVUSS, "setup", "names", "--config", str(tmp_path / "n.toml")],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert "novuss setup --yes" in done.stderr
    assert "Traceback" not in done.stderr
