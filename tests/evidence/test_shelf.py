"""The ring on disk: oldest out first, protected ones kept, whole pieces or none, whatever happens to disk and power."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from device.evidence import Piece, Shelf
from device.evidence.record import RECORD, STILL, Clip, Moment
from device.evidence.shelf import NoRoom
from rules.errors import InputUnusable, StorageFailed

KILLS = 6


def piece(name: str, entry: int = 1) -> Piece:
    return Piece(
        evidence=name,
        table="t1",
        match_id="m1",
        entry=entry,
        at="2026-11-29T20:01:00.000Z",
        ruling={"entry": entry, "kind": "stroke"},
        names={"S": "Anna"},
        moment=Moment(event="contact", t_s=1.0, seq=60, index=0, clip_s=0.0),
        clip=Clip(file="clip.mp4", codec="h264", width=2, height=2, frames=[(60, 0)]),
    )


def add(shelf: Shelf, name: str, size: int = 1000) -> Piece:
    def fill(folder: Path) -> Piece:
        (folder / "clip.mp4").write_bytes(b"c" * size)
        (folder / STILL).write_bytes(b"s" * 10)
        return piece(name)

    return shelf.add(name, fill)


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path / "evidence", floor_mb=0)
    shelf.claim()
    yield shelf
    shelf.release()


def test_the_oldest_make_room_and_protected_ones_stay(shelf: Shelf) -> None:
    shelf.set_quota(1)
    names = [shelf.new_name() for _ in range(6)]
    add(shelf, names[0], 300_000)
    shelf.protect(names[0], "overridden")
    for name in names[1:]:
        add(shelf, name, 300_000)
    assert shelf.names() == [names[0], *names[-2:]]
    assert shelf.holding().used_mb <= 1.0
    shelf.let_go(names[0])
    add(shelf, shelf.new_name(), 300_000)
    assert names[0] not in shelf.names()


def test_a_quota_full_of_protected_pieces_is_said_and_nothing_is_left_of_the_new_one(shelf: Shelf) -> None:
    shelf.set_quota(1)
    for _ in range(3):
        shelf.protect(add(shelf, shelf.new_name(), 300_000).evidence, "judge", "Ilze")
    before = shelf.names()
    with pytest.raises(NoRoom) as refused:
        add(shelf, shelf.new_name(), 300_000)
    assert refused.value.reason == "quota"
    assert shelf.names() == before
    assert not list(shelf.folder.glob(".part-*"))


def test_a_smaller_quota_takes_effect_at_once(shelf: Shelf) -> None:
    names = [shelf.new_name() for _ in range(5)]
    for name in names:
        add(shelf, name, 500_000)
    shelf.set_quota(1)
    assert shelf.names() == names[-1:]
    assert Shelf(shelf.folder).quota_mb == 1


def test_a_name_is_never_given_twice(tmp_path: Path) -> None:
    names = set()
    for _ in range(3):
        shelf = Shelf(tmp_path, floor_mb=0)
        shelf.claim()
        for _ in range(20):
            name = shelf.new_name()
            assert name not in names
            names.add(name)
        add(shelf, name)
        shelf.release()
    assert len(names) == 60


def test_two_monitors_do_not_share_a_folder(shelf: Shelf) -> None:
    with pytest.raises(InputUnusable, match="in use by another novuss"):
        Shelf(shelf.folder).claim()


def test_a_folder_that_cannot_be_made_is_a_named_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StorageFailed, match="evidence cannot be kept"):
        Shelf(tmp_path / "file" / "evidence").claim()


@pytest.mark.parametrize("wanted", ["../secret", "..", "/etc/passwd", "evidence.json", ".lock", "clip.mp4/../../secret", "other.mp4", ""])
def test_only_a_pieces_own_clip_and_still_are_handed_out(shelf: Shelf, wanted: str) -> None:
    name = add(shelf, shelf.new_name()).evidence
    (shelf.folder.parent / "secret").write_text("secret")
    (shelf.folder / name / "other.mp4").write_text("not of the piece")
    assert shelf.file(name, wanted) is None
    assert shelf.file(name, "clip.mp4") is not None


@pytest.mark.parametrize(
    "name", ["..", "../evidence", "0000001-0123456g", "", "0000001-01234567/../x", "/etc", ".lock", "0000001-01234567\n"]
)
def test_a_name_that_is_none_is_no_path(shelf: Shelf, name: str) -> None:
    assert shelf.get(name) is None
    assert shelf.file(name, STILL) is None


def test_links_lead_nowhere(shelf: Shelf, tmp_path: Path) -> None:
    name, other = add(shelf, shelf.new_name()).evidence, shelf.new_name()
    (tmp_path / "secret").write_text("secret")
    (shelf.folder / name / STILL).unlink()
    (shelf.folder / name / STILL).symlink_to(tmp_path / "secret")
    assert shelf.file(name, STILL) is None
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / RECORD).write_bytes(msgspec.json.encode(piece(other)))
    (shelf.folder / other).symlink_to(tmp_path / "elsewhere")
    assert shelf.get(other) is None


def test_what_was_half_done_is_swept_at_the_start(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, floor_mb=0)
    shelf.claim()
    name = add(shelf, shelf.new_name()).evidence
    shelf.release()
    (tmp_path / ".part-0000009-01234567").mkdir()
    (tmp_path / ".part-0000009-01234567" / "clip.mp4").write_bytes(b"half")
    (tmp_path / name / f".{RECORD}.x.part").write_bytes(b"half")
    shelf.claim()
    assert sorted(p.name for p in tmp_path.iterdir()) == [".lock", name]
    assert sorted(p.name for p in (tmp_path / name).iterdir()) == ["clip.mp4", RECORD, STILL]
    shelf.release()


WRITER = """
    from pathlib import Path
    import sys
    from device.evidence import Shelf
    from tests.evidence.test_shelf import add
    shelf = Shelf(Path(sys.argv[1]), floor_mb=0)
    shelf.claim()
    shelf.set_quota(2)
    print("ready", flush=True)
    while True:
        name = shelf.new_name()
        add(shelf, name, 200_000)
        shelf.protect(name, "judge")
        shelf.let_go(name)
"""


def test_killed_at_any_moment_leaves_whole_pieces_or_none(tmp_path: Path) -> None:
    folder = tmp_path / "evidence"
    for kill in range(KILLS):
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(WRITER), str(folder)], stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.05 + 0.037 * kill)
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        process.stdout.close()
        shelf = Shelf(folder, floor_mb=0)
        for name in shelf.names():
            found = shelf.get(name)
            assert found is not None
            assert found.evidence == name
            clip = shelf.file(name, "clip.mp4")
            assert clip is not None
            assert clip.stat().st_size == 200_000
            assert shelf.file(name, STILL) is not None
        shelf.claim()
        assert not [p for p in folder.rglob("*") if p.name.startswith(".") and p.name != ".lock"]
        shelf.release()
    assert Shelf(folder).names()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 2 MB, where root may have one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_costs_the_piece_and_nothing_else(small_disk: Path) -> None:
    shelf = Shelf(small_disk / "evidence", floor_mb=0)
    shelf.claim()
    kept = [add(shelf, shelf.new_name(), 600_000).evidence for _ in range(2)]
    with pytest.raises(OSError, match="No space left"):
        add(shelf, shelf.new_name(), 1_200_000)
    assert shelf.names() == kept
    assert not list(shelf.folder.glob(".part-*"))
    shelf.release()


def test_below_the_floor_the_oldest_go_and_then_nothing_more_is_kept(small_disk: Path) -> None:
    shelf = Shelf(small_disk / "evidence", floor_mb=1)
    shelf.claim()
    first = add(shelf, shelf.new_name(), 600_000).evidence
    (small_disk / "match.jsonl").write_bytes(b"x" * 600_000)
    second = add(shelf, shelf.new_name(), 300_000).evidence
    assert shelf.names() == [second], f"{first} makes room for the log"
    (small_disk / "outbox").write_bytes(b"x" * 600_000)
    with pytest.raises(NoRoom) as refused:
        add(shelf, shelf.new_name(), 300_000)
    assert refused.value.reason == "disk_full"
    assert (small_disk / "match.jsonl").stat().st_size == 600_000
    shelf.release()


def test_a_folder_that_vanishes_is_empty(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "nowhere")
    assert shelf.names() == []
    assert shelf.get("0000001-01234567") is None
    assert shelf.holding().pieces == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_rights_is_a_named_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(StorageFailed):
        Shelf(tmp_path / "evidence").claim()
