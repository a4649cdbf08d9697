"""`novuss stats`: numbers to standard output, pictures into a folder."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import pytest

from device.cli import main
from tests.rules.logs import lines, match, stroke

BOARD = "r1@150,160 r2@-60,-300 b1@-150,260 b2@200,-100"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(lines(match(), stroke("S", BOARD, "r1", "in r1 NE"), stroke("S", BOARD, "r2"))))
    return path


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(["stats", *words])
    return int(left.value.code or 0)


def test_numbers_go_to_standard_output(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(log)) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["players"][0]["ways"]["direct"] == {"strokes": 2, "lawful": 2, "scored": 1}


def test_pictures_go_into_a_folder_a_match(log: Path, tmp_path: Path) -> None:
    log.write_bytes(log.read_bytes() * 2)
    assert run(str(log), "-o", str(tmp_path / "out"), "--lang", "de") == 0
    for folder in ("match-1", "match-2"):
        names = {path.name for path in (tmp_path / "out" / folder).iterdir()}
        assert {"stats.json", "ways.svg", "ways.png", "striker-1.svg", "pieces-2.png"} <= names
    image = cv2.imread(str(tmp_path / "out" / "match-1" / "ways.png"))
    assert image.shape[1] > 1000
    assert image.std() > 5, "something is drawn on it"


@pytest.mark.parametrize(("content", "status"), [(b"", 1), (b'{"match":{}}\n', 1)])
def test_what_is_no_log_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, status: int) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(content)
    assert run(str(path)) == status
    assert run(str(tmp_path / "missing.jsonl")) == 1
    assert str(path) in capsys.readouterr().err
