"""What a receiver never took is kept for people, and no more of it than fits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from device.webhook.aside import NAME, Aside
from rules.errors import StorageFailed

LINE_BYTES = len('{"why":"no","news":{"match_id":"m1","entry":10}}\n')


def news(entry: int) -> bytes:
    return json.dumps({"match_id": "m1", "entry": entry}).encode().replace(b" ", b"")


def entries(folder: Path) -> list[int]:
    return [json.loads(line)["news"]["entry"] for line in (folder / NAME).read_text(encoding="utf-8").splitlines()]


def test_the_oldest_make_room_and_the_log_names_each_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The file grew for as long as a receiver refused."""
    aside = Aside(tmp_path, quota_bytes=4 * LINE_BYTES)
    for entry in range(10, 17):
        aside.keep(news(entry), "no")
        assert (tmp_path / NAME).stat().st_size <= 4 * LINE_BYTES
    assert entries(tmp_path) == [13, 14, 15, 16]
    assert [record.getMessage().rpartition(": ")[2] for record in caplog.records] == [f"match m1, entry {entry}" for entry in (10, 11, 12)]


def test_a_file_that_grew_before_there_was_a_quota_is_cut_down_with_one_word(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / NAME).write_bytes(b"".join(news(entry) + b"\n" for entry in range(30_000)))
    Aside(tmp_path, quota_bytes=4 * LINE_BYTES).keep(news(99), "no")
    assert (tmp_path / NAME).stat().st_size <= 4 * LINE_BYTES
    assert json.loads((tmp_path / NAME).read_text(encoding="utf-8").splitlines()[-1]) == {
        "why": "no",
        "news": {"match_id": "m1", "entry": 99},
    }
    assert len(caplog.records) == 1


def test_the_newest_is_kept_however_long_it_is(tmp_path: Path) -> None:
    aside = Aside(tmp_path, quota_bytes=LINE_BYTES)
    aside.keep(news(10), "no")
    aside.keep(news(11), "no" * 100)
    assert entries(tmp_path) == [11]


def test_what_a_power_cut_left_torn_spoils_no_line_after_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    aside = Aside(tmp_path)
    aside.keep(news(10), "no")
    with (tmp_path / NAME).open("ab") as file:
        file.write(b'{"why":"no","ne')
    aside.keep(news(11), "no")
    assert entries(tmp_path) == [10, 11]
    assert "torn last line" in caplog.text


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    aside = Aside(tmp_path, quota_bytes=LINE_BYTES)
    aside.keep(news(10), "no")

    def full(*_: object) -> None:
        raise StorageFailed("no space")

    monkeypatch.setattr("device.webhook.aside.write_bytes", full)
    with pytest.raises(StorageFailed):
        aside.keep(news(11), "no")
    assert entries(tmp_path) == [10]
