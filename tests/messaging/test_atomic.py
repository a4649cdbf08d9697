"""Output files are whole or not there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from device.storage import replacing, write_bytes, write_json, write_text
from rules.errors import StorageFailed


def test_a_file_appears_whole_and_readable(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    write_json(target, {"a": [1, 2]})
    assert target.read_text() == '{\n "a": [\n  1,\n  2\n ]\n}\n'
    os.umask(umask := os.umask(0))
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~umask
    target.chmod(0o600)
    write_text(target, "ā")
    assert target.read_text() == "ā"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "out"
    write_bytes(target, b"old")
    with pytest.raises(TypeError), replacing(target) as stream:
        stream.writelines([b"half", None])  # type: ignore[list-item]  # the failure half-way
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    write_bytes(tmp_path / "real", b"1")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_bytes(tmp_path / "link", b"2")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"2"


def test_a_device_is_written_straight() -> None:
    write_bytes("/dev/null", b"1")
    assert not Path("/dev/null").is_file()


@pytest.mark.parametrize("name", ["missing/out", "."])
def test_an_impossible_place_is_one_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(StorageFailed, match="cannot write"):
        write_bytes(tmp_path / name, b"1")
