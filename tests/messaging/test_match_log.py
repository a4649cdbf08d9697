"""The match log over power cuts: each beginning of a log, each tail of NUL bytes, and what a person has to decide."""

from __future__ import annotations

from pathlib import Path

import pytest

from device.clock import WallTime
from device.storage.match_log import MatchLog, read_lines, without_none
from rules.errors import Bug, InputUnusable, LogUnusable, StorageFailed
from rules.facts import Contact, Entry, Incident, Judge, Match, Player, Position, Stroke

MATCH = Entry(
    match=Match(
        id="m1",
        ruleset="lnf-2008",
        format="singles",
        sets=5,
        players={"S": Player(name="Ā", colour="red"), "N": Player(name="B", colour="black")},
        first_turn="S",
    )
)
STROKE = Entry(stroke=Stroke(side="S", before=Position(), timeline=[Contact(t=0.2, discs=["striker", "r1"])], after=Position()))
WARNING = Entry(judge=Judge(command="warning", side="N", clause="19.1.e"))


def small_log(path: Path) -> bytes:
    log, _ = MatchLog.open(path)
    with log:
        for entry in (MATCH, STROKE, WARNING, Entry(incident=Incident(timeline=[], side="N"))):
            log.append(entry)
    return path.read_bytes()


def test_what_was_appended_is_read_again(tmp_path: Path) -> None:
    log, recovered = MatchLog.open(tmp_path / "m.jsonl", wall=lambda: WallTime("2026-01-01T10:00:00.000Z", synchronised=False))
    assert recovered.lines == ()
    appended = [log.append(entry, evidence="clip-1") for entry in (MATCH, STROKE, WARNING, MATCH, WARNING)]
    log.close()
    again, recovered = MatchLog.open(tmp_path / "m.jsonl")
    again.close()
    assert list(recovered.lines) == appended
    assert [(line.line, line.match_id, line.entry) for line in appended] == [
        (1, "m1", 0),
        (2, "m1", 1),
        (3, "m1", 2),
        (4, "m1", 0),
        (5, "m1", 1),
    ]
    assert len({line.key for line in appended}) == 5
    assert appended[0].at == "2026-01-01T10:00:00.000Z"
    assert appended[0].clock_synchronised is False


def test_a_line_is_the_contract_s_entry_with_a_stamp(tmp_path: Path) -> None:
    small_log(tmp_path / "m.jsonl")
    second = (tmp_path / "m.jsonl").read_text().splitlines()[1]
    assert second.startswith(
        '{"stroke":{"side":"S","before":{"discs":[]},"timeline":[{"event":"contact","t":0.2,"discs":["striker","r1"]}],"after":{"discs":[]},'
        '"schema":"novuss.stroke/1"},"at":"'
    )


def test_none_inside_a_judge_s_ruling_means_something_and_stays() -> None:
    entry = Entry(judge=Judge(command="override", entry=3, ruling={"set": None}))
    assert without_none(entry) == {"judge": {"command": "override", "entry": 3, "ruling": {"set": None}}}


def test_every_byte_prefix_opens_and_keeps_each_complete_record(memory_path: Path) -> None:
    whole = small_log(memory_path / "whole.jsonl")
    ends = [number for number, byte in enumerate(whole) if byte == ord("\n")]
    for cut in range(len(whole) + 1):
        path = memory_path / f"{cut}" / "m.jsonl"
        path.parent.mkdir()
        path.write_bytes(whole[:cut])
        log, recovered = MatchLog.open(path)
        # A record is complete with its last brace; the newline is only its separator.
        complete = sum(end <= cut for end in ends)
        assert len(recovered.lines) == complete, cut
        is_torn = cut not in (0, *ends, *(end + 1 for end in ends))
        assert (recovered.damage is not None) == is_torn, cut
        if recovered.damage is not None:
            assert recovered.damage.kept_as is not None
            assert Path(recovered.damage.kept_as).read_bytes() == whole[:cut]
            assert f"{recovered.damage.lost_bytes} bytes at the end dropped (a torn last line)" in str(recovered.damage)
        line = log.append(WARNING)
        log.close()
        assert line.line == complete + 1
        assert len(read_lines(path).lines) == complete + 1


@pytest.mark.parametrize("zeros", [1, 2, 511, 4096])
def test_nul_bytes_at_the_end_are_dropped_and_reported(tmp_path: Path, zeros: int) -> None:
    whole = small_log(tmp_path / "m.jsonl")
    for cut in (len(whole), len(whole) - 1, len(whole) - 7):
        path = tmp_path / f"{cut}-{zeros}.jsonl"
        path.write_bytes(whole[:cut] + bytes(zeros))
        log, recovered = MatchLog.open(path)
        log.close()
        assert len(recovered.lines) == (4 if cut >= len(whole) - 1 else 3)
        assert recovered.damage is not None
        assert recovered.damage.lost_bytes >= zeros


def test_a_last_line_whose_first_block_never_reached_the_card(tmp_path: Path) -> None:
    whole = small_log(tmp_path / "m.jsonl")
    path = tmp_path / "holed.jsonl"
    path.write_bytes(whole + bytes(300) + b'rest of a line"}\n')
    log, recovered = MatchLog.open(path)
    log.close()
    assert len(recovered.lines) == 4
    assert path.read_bytes() == whole


def test_a_broken_line_before_the_last_is_for_a_person_to_decide(tmp_path: Path) -> None:
    whole = small_log(tmp_path / "m.jsonl")
    lines = whole.split(b"\n")
    lines[1] = b'{"stroke":'
    path = tmp_path / "broken.jsonl"
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(LogUnusable, match="line 2"):
        MatchLog.open(path)
    assert path.read_bytes() == b"\n".join(lines)


@pytest.mark.parametrize("line", ['{"judge":{"command":"nonsense"}}', "{}", '{"match":null}', "[1]", "{} {}"])
def test_a_complete_line_that_is_no_entry_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text(f'{line}\n{{"judge":{{"command":"end_match"}}}}\n')
    with pytest.raises(LogUnusable, match="line 1"):
        read_lines(path)


def test_two_processes_cannot_write_one_log(tmp_path: Path) -> None:
    log, _ = MatchLog.open(tmp_path / "m.jsonl")
    with log, pytest.raises(InputUnusable, match="in use by another novuss"):
        MatchLog.open(tmp_path / "m.jsonl")
    MatchLog.open(tmp_path / "m.jsonl")[0].close()


def test_a_folder_is_no_log(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match="cannot open"):
        MatchLog.open(tmp_path)


def test_an_entry_of_two_parts_is_our_own_bug(tmp_path: Path) -> None:
    log, _ = MatchLog.open(tmp_path / "m.jsonl")
    with log:
        with pytest.raises(Bug):
            log.append(Entry(match=MATCH.match, judge=WARNING.judge))
        assert (tmp_path / "m.jsonl").read_bytes() == b""


def test_clock_steps_change_no_order(tmp_path: Path) -> None:
    times = iter(["2026-06-01T12:00:00.000Z", "2026-06-02T00:00:00.000Z", "2026-06-01T00:00:00.000Z"])
    log, _ = MatchLog.open(tmp_path / "m.jsonl", wall=lambda: WallTime(next(times), synchronised=True))
    with log:
        keys = [log.append(entry).key for entry in (MATCH, WARNING, WARNING)]
    assert [line.key for line in read_lines(tmp_path / "m.jsonl").lines] == keys
    assert [line.entry for line in read_lines(tmp_path / "m.jsonl").lines] == [0, 1, 2]


def test_a_log_that_is_taken_away_while_it_is_opened_is_not_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another novuss that wrote nothing removes its empty log; lines written to the removed file would be lost."""
    import fcntl

    monkeypatch.setattr(fcntl, "flock", lambda *_: (tmp_path / "m.jsonl").unlink())
    with pytest.raises(InputUnusable, match="in use by another novuss"):
        MatchLog.open(tmp_path / "m.jsonl")
