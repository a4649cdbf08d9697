"""The command line on bad input: one clear sentence, the right exit status, nothing half-written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

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


def test_a_broken_log_line_is_named(tmp_path: Path) -> None:
    match = (
        '{"match":{"id":"m","ruleset":"lnf-2008","format":"singles","sets":3,"first_turn":"S",'
        '"players":{"S":{"name":"A","colour":"red"},"N":{"name":"B","colour":"black"}}}}'
    )
    one_sentence(novuss("rule", "-", stdin=f"{match}\nnot json\n"), 1, "line 2")


def test_a_broken_match_file_is_named(tmp_path: Path) -> None:
    bad = tmp_path / "match.json"
    bad.write_text('{"match": {"id": 1}}')
    one_sentence(novuss("watch", "virtual", "--match", bad, "--record", tmp_path / "log.jsonl"), 1, "match.json")
    assert not (tmp_path / "log.jsonl").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"],
        ["detect"],
        ["detect", "a.png", "--no-such-option"],
        ["watch", "--mqtt", "mqtt://x", "--no-mqtt"],
        ["watch", "--south", "up"],
        ["watch", "--mqtt", "http://x", "--port", "0"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_status_2(words: list[str], tmp_path: Path) -> None:
    extra = ["--record", tmp_path / "log.jsonl"] if words[0] == "watch" else []
    done = novuss(*words, *extra)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("command", ["", "watch", "calibrate", "lens", "detect", "strokes", "rule", "board", "table"])
def test_every_help_text_tells_what_the_command_does_and_how(command: str) -> None:
    done = novuss(*([command] if command else []), "--help")
    assert done.returncode == 0, done.stderr
    assert "Usage: novuss" in done.stdout
    assert command in {"", "table"} or f"novuss {command}" in done.stdout.split("Usage:")[1], "an example is missing"
