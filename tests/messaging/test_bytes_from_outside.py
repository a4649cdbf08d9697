"""Any bytes in the files and URLs that come from outside: opened, or refused in one sentence; never a crash, never a hang."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from device import topics
from device.messaging import parse_url
from device.storage import MatchLog, Outbox
from device.storage.lines import complete_lines
from device.storage.match_log import read_lines
from rules.errors import InputUnusable, LogUnusable, WrongUsage
from tests.messaging import game

GOOD_LINES = [msgspec.json.encode({"judge": {"command": "end_match"}}), msgspec.json.encode({"match": msgspec.to_builtins(game.MATCH)})]
PIECES = st.one_of(
    st.binary(max_size=40), st.sampled_from([*GOOD_LINES, b"\n", b"\0", b"\0" * 512, b"{}", b'{"judge":', b"[" * 2000, b"\xff", b"null"])
)
FILES = st.lists(PIECES, max_size=8).map(b"".join) | st.lists(st.sampled_from(GOOD_LINES) | PIECES, max_size=8).map(b"\n".join)


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as name:
        yield Path(name)


@given(FILES)
def test_a_match_log(data: bytes) -> None:
    with folder() as place:
        path = place / "m.jsonl"
        path.write_bytes(data)
        try:
            log, recovered = MatchLog.open(path)
        except LogUnusable:
            # A person decides: the file is as it was.
            assert path.read_bytes() == data
            return
        with log:
            log.append(game.STROKE)
        again = read_lines(path)
        assert again.damage is None
        assert again.lines[:-1] == recovered.lines
        # Nothing but a tail was taken off, and if it was, the whole is kept aside.
        assert data.startswith(path.read_bytes()[: len(data) - (recovered.damage.lost_bytes if recovered.damage else 0)])
        if recovered.damage:
            assert recovered.damage.kept_as is not None
            assert Path(recovered.damage.kept_as).read_bytes() == data


@given(FILES, st.binary(max_size=1100))
def test_an_outbox(data: bytes, mark: bytes) -> None:
    with folder() as place:
        (place / "outbox.jsonl").write_bytes(data)
        (place / "sent").write_bytes(mark)
        with Outbox.open(place) as outbox:
            outbox.put_entry("a", [(topics.STROKE, {"x": 1}), (topics.RULING, {"x": 2})])
            kept = outbox.read(1, 1000)
        with Outbox.open(place) as outbox:
            assert outbox.damage is None
            assert outbox.read(1, 1000) == kept
            assert list(outbox.missing(["a", "b"])) == ["b"]


@given(st.binary(max_size=200) | st.lists(st.sampled_from(GOOD_LINES) | st.binary(max_size=20), max_size=5).map(b"\n".join))
def test_the_good_part_of_a_file_is_its_own_good_part(data: bytes) -> None:
    _, tail = complete_lines(data)
    lines, again = complete_lines(data[: tail.good_bytes])
    assert again.good_bytes == tail.good_bytes or not lines[-1]


@given(st.text(max_size=60) | st.text(alphabet="mqtswsp:/@[]?=&#%.0129ca", max_size=60))
def test_a_broker_address(url: str) -> None:
    try:
        address = parse_url(url, {})
    except (WrongUsage, InputUnusable):
        return
    assert 0 <= address.port < 65536
