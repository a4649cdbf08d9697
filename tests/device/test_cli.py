"""The command line on bad input: one clear sentence, the right exit status, nothing half-written."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

MATCH_LINE = (
    '{"match":{"id":"m","ruleset":"lnf-2008","format":"singles","sets":3,"first_turn":"S",'
    '"players":{"S":{"name":"A","colour":"red"},"N":{"name":"B","colour":"black"}}}}'
)
NOVUSS = str(Path(sys.executable).with_name("novuss"))


def novuss(*words: str | Path, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([NOVUSS, *map(str, words)], input=stdin, capture_output=True, text=True, check=False, timeout=120)


def one_sentence(done: subprocess.CompletedProcess[str], status: int, *words: str) -> None:
    assert done.returncode == status, done.stderr
    assert done.stdout == ""
    lines = [line for line in done.stderr.splitlines() if line.startswith("novuss: ")]
    assert "Traceback" not in done.stderr
    assert len(lines) >= 1, done.stderr
    for word in words:
        assert word in lines[0]


@pytest.fixture
def floor(tmp_path: Path) -> Path:
    """A sharp picture without a table: floor boards."""
    rng = np.random.default_rng(3)
    boards = np.repeat(rng.integers(60, 140, 12), 64)[:768].astype(np.float32)
    image = boards[:, None, None] + rng.normal(0, 6, (768, 1024, 3))
    path = tmp_path / "floor.png"
    cv2.imwrite(str(path), np.clip(image, 0, 255).astype(np.uint8))
    return path


@pytest.fixture
def lens(tmp_path: Path) -> Path:
    path = tmp_path / "lens.json"
    path.write_text(
        json.dumps(
            {
                "schema": "novuss.lens/1",
                "width": 640,
                "height": 480,
                "K": [[700, 0, 320], [0, 700, 240], [0, 0, 1]],
                "dist": [0, 0, 0, 0, 0],
            }
        )
    )
    return path


@pytest.mark.parametrize("command", ["detect", "calibrate", "strokes", "watch", "rule"])
def test_a_missing_file_is_named(command: str, tmp_path: Path) -> None:
    one_sentence(novuss(command, tmp_path / "nothing.here"), 1, "nothing.here")


@pytest.mark.parametrize("command", ["detect", "calibrate"])
@pytest.mark.parametrize(("content", "word"), [(b"", "empty"), (b"no picture at all", "not a picture")])
def test_what_is_no_picture_is_refused(command: str, content: bytes, word: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jpg"
    path.write_bytes(content)
    one_sentence(novuss(command, path), 1, "x.jpg", word)


@pytest.mark.parametrize("command", ["strokes", "watch"])
def test_what_is_no_video_is_refused(command: str, tmp_path: Path) -> None:
    path = tmp_path / "x.mp4"
    path.write_bytes(b"no video" * 100)
    words = [command, path, "--no-mqtt", "--record", tmp_path / "log.jsonl"] if command == "watch" else [command, path]
    one_sentence(novuss(*words), 1, "x.mp4", "not a video")
    assert not (tmp_path / "log.jsonl").exists()


@pytest.mark.parametrize("command", ["detect", "calibrate"])
def test_a_picture_without_a_table_is_refused_with_the_reason(command: str, floor: Path, tmp_path: Path) -> None:
    out = tmp_path / "cal.json"
    one_sentence(novuss(command, floor, *(["-o", out] if command == "calibrate" else [])), 1, "floor.png")
    assert list(tmp_path.iterdir()) == [floor]


@pytest.mark.parametrize("command", ["detect", "calibrate"])
def test_a_lens_of_another_size_is_refused_with_both_sizes(command: str, floor: Path, lens: Path) -> None:
    one_sentence(novuss(command, floor, "--lens", lens), 1, "1024x768", "640x480")


@pytest.mark.parametrize("content", ["", "{", "{}", '{"schema":"novuss.lens/1","width":1024,"height":768,"K":[[1]],"dist":[]}'])
def test_a_broken_lens_file_is_named(content: str, floor: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text(content)
    one_sentence(novuss("detect", floor, "--lens", bad), 1, "bad.json")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"table": {"zone_line_mm": {}}}, "four zone lines"),
        ({"tvec": [0, 0, -1500]}, "above the table"),
        ({"tvec": [0, 0, 0]}, "above the table"),
        ({"rvec": [1e300, 0, 0]}, "above the table"),
        ({"table": {"zone_line_mm": {"S": 1e200, "N": 370, "W": -370, "E": 370}}}, "no table has"),
    ],
)
def test_a_calibration_that_cannot_be_is_refused(change: dict[str, object], words: str, floor: Path, lens: Path, tmp_path: Path) -> None:
    whole = {"schema": "novuss.calibration/1", "lens": json.loads(lens.read_text()), "rvec": [3.14, 0, 0], "tvec": [0, 0, 1500]}
    path = tmp_path / "cal.json"
    path.write_text(json.dumps(whole | change))
    one_sentence(novuss("detect", floor, "--calibration", path), 1, "cal.json", words)


@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize("words", [("rule", "-"), ("config",), ("--version",)])
def test_a_full_disk_at_standard_output_is_said_in_one_sentence(words: tuple[str, ...], buffered: bool) -> None:
    log = f"{MATCH_LINE}\n" + '{"judge":{"command":"warning","side":"N","clause":"19.1.e"}}\n'
    # Set or empty: where it is set, nothing is left for the interpreter to write at exit, which then hides what it would say of it.
    environment = os.environ | {"PYTHONUNBUFFERED": "" if buffered else "1"}
    with open("/dev/full", "w", encoding="utf-8") as full:  # noqa: PTH123 - a device, not a file of ours
        done = subprocess.run(
            [NOVUSS, *words], input=log, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=environment
        )  # fmt: skip
    assert done.returncode == 1
    assert [line for line in done.stderr.splitlines() if line] == ["novuss: output cannot be written (No space left on device)"]


def test_a_broken_log_line_is_named(tmp_path: Path) -> None:
    one_sentence(novuss("rule", "-", stdin=f"{MATCH_LINE}\nnot json\n"), 1, "line 2")


def test_a_broken_match_file_is_named(tmp_path: Path) -> None:
    bad = tmp_path / "match.json"
    bad.write_text('{"match": {"id": 1}}')
    one_sentence(novuss("watch", "virtual", "--match", bad, "--record", tmp_path / "log.jsonl"), 1, "match.json")
    assert not (tmp_path / "log.jsonl").exists()


def test_the_settings_in_force_are_printed_with_where_each_came_from(tmp_path: Path) -> None:
    file = tmp_path / "novuss.toml"
    file.write_text("[table]\nname = '7'\n", encoding="utf-8")
    done = novuss("config", "--config", file, "virtual", "--port", "9000", "--no-evidence")
    assert done.returncode == 0, done.stderr
    for line in (f'name = "7" # file {file}:2', "port = 9000 # flag --port", 'source = "virtual" # flag SOURCE', "sets = 5 # default"):
        assert line in " ".join(done.stdout.split()), line
    file.write_text("[table]\nnam = '7'\n", encoding="utf-8")
    one_sentence(novuss("watch", "--config", file), 1, "novuss.toml:2")


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"],
        ["detect"],
        ["detect", "a.png", "--no-such-option"],
        ["watch", "--mqtt", "mqtt://x", "--no-mqtt"],
        ["watch", "--south", "up"],
        ["watch", "--mqtt", "http://x", "--port", "0"],
        ["watch", "--port", "-1"],
        ["watch", "--port", "99999"],
        ["watch", "--table", "../../x"],
        ["watch", "--table", "a/b"],
        ["watch", "--table", ""],
        ["watch", "--sets", "0"],
        ["watch", "--ruleset", "foo"],
        ["lens", "--print", "b.pdf", "--board", "9x6", "--kind", "chessboard", "--square-mm", "300"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_status_2(words: list[str], tmp_path: Path) -> None:
    extra = ["--record", tmp_path / "log.jsonl"] if words[0] == "watch" else []
    done = novuss(*words, *extra)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == [], "something was written"


@pytest.mark.parametrize(
    "command",
    [
        "",
        "watch",
        "calibrate",
        "lens",
        "detect",
        "strokes",
        "rule",
        "sheet",
        "board",
        "hall",
        "broker",
        "table",
        "config",
        "doctor",
        "setup",
    ],
)
def test_every_help_text_tells_what_the_command_does_and_how(command: str) -> None:
    done = novuss(*([command] if command else []), "--help")
    assert done.returncode == 0, done.stderr
    assert "Usage: novuss" in done.stdout
    assert command in {"", "table"} or f"novuss {command}" in done.stdout.split("Usage:")[1], "an example is missing"


def test_threads_share_heaps_so_that_each_keeps_no_room_of_its_own() -> None:
    script = """
import ctypes, threading
from device.cli import main
try: main(["--version"])
except SystemExit: pass
libc, meet = ctypes.CDLL(None), threading.Barrier(8)
libc.malloc.restype = libc.fdopen.restype = ctypes.c_void_p
def work():
    meet.wait()
    for _ in range(2000): libc.malloc(3000)
    meet.wait()
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
libc.malloc_info.argtypes = [ctypes.c_int, ctypes.c_void_p]
libc.malloc_info(0, libc.fdopen(1, b"w"))
libc.fflush(None)
"""
    if not hasattr(ctypes.CDLL(None), "malloc_info"):
        pytest.skip("only glibc tells its heaps")
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert 1 <= told.count("<heap nr=") <= 2


def test_memory_of_large_pictures_goes_back_at_once() -> None:
    script = """
import numpy as np
from device.cli import main
try: main(["--version"])
except SystemExit: pass
def resident(): return int(open("/proc/self/statm").read().split()[1]) * 4096 / 1e6
keep = []
before = resident()
for _ in range(5):
    large = np.ones(20_000_000, np.uint8)
    keep.append(np.ones(100_000, np.uint8))
    del large
print(resident() - before)
"""
    if not hasattr(ctypes.CDLL(None), "malloc_info") or not Path("/proc/self/statm").exists():
        pytest.skip("only glibc's allocator on Linux is told")
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert float(told.splitlines()[-1]) < 10


def test_defaults_for_every_question_are_not_asked_for_in_a_browser(tmp_path: Path) -> None:
    """Before, `--yes` was forgotten without a word, and a script waited for somebody at a page."""
    file = tmp_path / "novuss.toml"
    one_sentence(novuss("setup", "names", "--yes", "--browser", "--port", "0", "--config", file), 2, "--yes", "--browser")
    assert not file.exists()


@pytest.mark.parametrize("empty_before", [False, True])
def test_a_recording_that_is_refused_leaves_no_empty_log(floor: Path, tmp_path: Path, *, empty_before: bool) -> None:
    log = tmp_path / "log.jsonl"
    if empty_before:
        log.touch()
    recording = tmp_path / "recording"
    recording.mkdir()
    floor.rename(recording / "1.png")
    one_sentence(novuss("watch", recording, "--no-mqtt", "--record", log), 1, "recording")
    assert log.exists() == empty_before, "an empty file of somebody else's is theirs"
