"""The outbox over restarts, truncation and lost files: each entry once, each under the seq it had."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from device import topics
from device.storage.outbox import Outbox
from rules.errors import InputUnusable, OutboxFull


def messages(number: int) -> list[tuple[topics.Topic, dict[str, int]]]:
    return [(topics.STROKE, {"entry": number}), (topics.RULING, {"entry": number})]


def keys(count: int) -> list[str]:
    return [f"key-{number}" for number in range(count)]


def put_all(outbox: Outbox, wanted: list[str]) -> None:
    for key in outbox.missing(wanted):
        outbox.put_entry(key, messages(wanted.index(key)))


def content(outbox: Outbox) -> list[tuple[int, str, dict[str, int]]]:
    return [(item.seq, item.topic, msgspec.json.decode(item.payload)) for item in outbox.read(1, 10_000)]


def test_seq_rises_by_one_and_survives_restarts(tmp_path: Path) -> None:
    seqs: list[int] = []
    for start in range(3):
        with Outbox.open(tmp_path) as outbox:
            assert outbox.damage is None
            seqs += outbox.put_entry(f"key-{start}", messages(start))
            seqs.append(outbox.put("incident", {"entry": start}))
    assert seqs == list(range(1, 10))
    with Outbox.open(tmp_path) as outbox:
        assert [item[0] for item in content(outbox)] == seqs
        assert content(outbox)[4] == (5, "ruling", {"seq": 5, "entry": 1})
        assert (outbox.next_seq, outbox.waiting) == (10, 9)


def test_a_key_is_put_once(tmp_path: Path) -> None:
    with Outbox.open(tmp_path) as outbox:
        assert outbox.put_entry("a", messages(0)) == outbox.put_entry("a", messages(0)) == (1, 2)
    with Outbox.open(tmp_path) as outbox:
        assert outbox.put_entry("a", messages(0)) == (1, 2)
        assert outbox.next_seq == 3


def test_every_byte_prefix_is_filled_again_from_the_log_under_the_same_seqs(memory_path: Path) -> None:
    wanted = keys(4)
    with Outbox.open(memory_path / "whole") as outbox:
        put_all(outbox, wanted)
        expected = content(outbox)
    whole = (memory_path / "whole" / "outbox.jsonl").read_bytes()
    for cut in range(len(whole) + 1):
        for zeros in (0, 9):
            folder = memory_path / f"{cut}-{zeros}"
            folder.mkdir()
            (folder / "outbox.jsonl").write_bytes(whole[:cut] + bytes(zeros))
            with Outbox.open(folder) as outbox:
                put_all(outbox, wanted)
                assert content(outbox) == expected, cut
            shutil.rmtree(folder)


@pytest.mark.parametrize("sent", [2, 4, 8])
def test_a_cut_outbox_with_its_mark_sends_what_was_due_under_its_seq_and_nothing_again(memory_path: Path, sent: int) -> None:
    wanted = keys(4)
    with Outbox.open(memory_path / "whole") as outbox:
        put_all(outbox, wanted)
        expected = {seq: rest for seq, *rest in content(outbox)}
        outbox.mark_sent(sent)
    whole, mark = ((memory_path / "whole" / name).read_bytes() for name in ("outbox.jsonl", "sent"))
    for cut in range(len(whole) + 1):
        folder = memory_path / f"{cut}"
        folder.mkdir()
        (folder / "outbox.jsonl").write_bytes(whole[:cut])
        (folder / "sent").write_bytes(mark)
        with Outbox.open(folder) as outbox:
            put_all(outbox, wanted)
            held = {seq: rest for seq, *rest in content(outbox)}
            assert {seq: rest for seq, rest in held.items() if seq > sent} == {seq: expected[seq] for seq in range(sent + 1, 9)}, cut
            assert all(held[seq] == expected[seq] for seq in held), cut
            assert (outbox.sent_seq, outbox.next_seq) == (sent, 9), cut
        shutil.rmtree(folder)


@pytest.mark.parametrize("sent", range(9))
def test_a_lost_outbox_goes_on_after_what_was_acknowledged(tmp_path: Path, sent: int) -> None:
    wanted = keys(4)
    with Outbox.open(tmp_path) as outbox:
        put_all(outbox, wanted)
        expected = content(outbox)
        outbox.mark_sent(sent)
    (tmp_path / "outbox.jsonl").unlink()
    with Outbox.open(tmp_path) as outbox:
        put_all(outbox, wanted)
        whole_entries_sent = sent // 2 * 2
        assert content(outbox) == expected[whole_entries_sent:]
        assert outbox.waiting == 8 - whole_entries_sent


def test_a_lost_mark_means_sending_again_under_the_same_seq(tmp_path: Path) -> None:
    with Outbox.open(tmp_path) as outbox:
        put_all(outbox, keys(4))
        outbox.mark_sent(6)
    for broken in (b"", bytes(1024), b"x" * 1024, (tmp_path / "sent").read_bytes()[:700]):
        (tmp_path / "sent").write_bytes(broken)
        with Outbox.open(tmp_path) as outbox:
            assert outbox.sent_seq in (0, 6)
            assert outbox.next_seq == 9
            assert list(outbox.missing(keys(5))) == ["key-4"]


def test_the_mark_survives_a_torn_write(tmp_path: Path) -> None:
    with Outbox.open(tmp_path) as outbox:
        put_all(outbox, keys(4))
        outbox.mark_sent(2)
        outbox.mark_sent(4)
    both = (tmp_path / "sent").read_bytes()
    for start in (0, 512):
        (tmp_path / "sent").write_bytes(both[:start] + b"torn" + both[start + 4 :])
        with Outbox.open(tmp_path) as outbox:
            assert outbox.sent_seq in (2, 4)


def test_a_line_broken_in_the_middle_is_kept_aside_and_put_again(tmp_path: Path) -> None:
    with Outbox.open(tmp_path) as outbox:
        put_all(outbox, keys(4))
        expected = content(outbox)
    lines = (tmp_path / "outbox.jsonl").read_bytes().split(b"\n")
    lines[2] = b"\xff" * len(lines[2])
    (tmp_path / "outbox.jsonl").write_bytes(b"\n".join(lines))
    with Outbox.open(tmp_path) as outbox:
        assert outbox.damage is not None
        assert outbox.damage.kept_as is not None
        assert Path(outbox.damage.kept_as).exists()
        put_all(outbox, keys(4))
        assert content(outbox) == expected


def test_a_log_cut_behind_the_outbox_gets_new_seqs_for_new_entries(tmp_path: Path) -> None:
    with Outbox.open(tmp_path) as outbox:
        put_all(outbox, keys(4))
        put_all(outbox, [*keys(2), "another-2"])
        assert content(outbox)[-1] == (10, "ruling", {"seq": 10, "entry": 2})


def test_the_bound_says_so_and_nothing_is_skipped(tmp_path: Path) -> None:
    with Outbox.open(tmp_path, waiting_limit=6) as outbox:
        for number in range(3):
            outbox.put_entry(f"key-{number}", messages(number))
        with pytest.raises(OutboxFull, match="6 messages wait for the broker"):
            outbox.put_entry("key-3", messages(3))
        assert (outbox.waiting, outbox.next_seq) == (6, 7)
        outbox.mark_sent(2)
        assert outbox.put_entry("key-3", messages(3)) == (7, 8)


def test_old_sent_messages_are_dropped_and_their_entries_still_known(tmp_path: Path) -> None:
    wanted = keys(50)
    with Outbox.open(tmp_path, keep_sent=10) as outbox:
        for number, key in enumerate(wanted):
            outbox.put_entry(key, messages(number))
            outbox.mark_sent(outbox.next_seq - 1)
        held = content(outbox)
        assert 10 <= len(held) <= 22
        assert held[-1][0] == 100
    with Outbox.open(tmp_path, keep_sent=10) as outbox:
        assert content(outbox) == held
        assert list(outbox.missing(wanted)) == []
        assert list(outbox.missing([*wanted, "new"])) == ["new"]
        assert outbox.put_entry("new", messages(50)) == (101, 102)
    assert (tmp_path / "outbox.jsonl").stat().st_size < 2500


def test_messages_without_an_entry_do_not_hide_the_last_entry(tmp_path: Path) -> None:
    with Outbox.open(tmp_path, keep_sent=2) as outbox:
        outbox.put_entry("key-0", messages(0))
        for number in range(20):
            outbox.put("incident", {"entry": number})
        outbox.mark_sent(22)
        assert list(outbox.missing(keys(2))) == ["key-1"]
    (tmp_path / "outbox.jsonl").unlink()
    with Outbox.open(tmp_path) as outbox:
        assert list(outbox.missing(keys(2))) == ["key-1"]
        assert outbox.next_seq == 23


def test_two_processes_cannot_use_one_outbox(tmp_path: Path) -> None:
    with Outbox.open(tmp_path), pytest.raises(InputUnusable, match="in use by another novuss"):
        Outbox.open(tmp_path)


def test_reading_starts_anywhere(tmp_path: Path) -> None:
    with Outbox.open(tmp_path) as outbox:
        assert outbox.read(1, 5) == []
        put_all(outbox, keys(4))
        for first in range(-1, 10):
            for limit in range(5):
                expected = [seq for seq in range(1, 9) if seq >= first][:limit]
                assert [item.seq for item in outbox.read(first, limit)] == expected


def test_a_numbering_has_a_name_that_no_other_one_has(tmp_path: Path) -> None:
    """A seq alone may come again when the files are lost: with the numbering's name beside it, it cannot."""

    def name() -> str:
        with Outbox.open(tmp_path, keep_sent=1) as outbox:
            for _ in range(4):
                outbox.mark_sent(outbox.put("stroke", {}))  # so that the oldest are dropped
            return outbox.epoch

    first = name()
    assert name() == first, "over restarts, and over dropping what was sent"
    whole = (tmp_path / "outbox.jsonl").read_bytes()
    (tmp_path / "outbox.jsonl").unlink()
    second = name()
    (tmp_path / "outbox.jsonl").write_bytes(whole[:20])
    third = name()
    shutil.rmtree(tmp_path)
    names = {first, second, third, name()}
    assert len(names) == 4
    assert all(len(name) >= 8 for name in names)


def test_a_numbering_that_began_before_they_had_names_has_none(tmp_path: Path) -> None:
    (tmp_path / "outbox.jsonl").write_text('{"next":5,"last_key":"","schema":"novuss.outbox/1"}\n')
    with Outbox.open(tmp_path) as outbox:
        assert (outbox.epoch, outbox.next_seq) == ("", 5)
