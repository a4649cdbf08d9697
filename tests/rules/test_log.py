"""Logs that cannot be used: one sentence that names the line, nothing changed."""

import json
import sys
from io import BytesIO, TextIOWrapper

import pytest

from device.commands.rule import rule as rule_command
from rules.errors import EntryUnusable, InputUnusable, LogUnusable
from rules.facts import Entry
from rules.fold import start, step
from rules.log import fold_line, read_entry, rulings
from tests.rules.logs import incident, judge, lines, match, stroke

BOARD = "r1@150,150 r2@-150,200 b1@-30,230 b2@260,-80"
GOOD = stroke("S", BOARD, "r1")


def broken(edit):
    entry = json.loads(json.dumps(GOOD))
    edit(entry["stroke"])
    return entry


def disc(**parts):
    return {"id": "r7", "kind": "red", "x_mm": 1.0, "y_mm": 2.0, **parts}


def put(**parts):
    return lambda s: s["before"]["discs"].append(disc(**parts))


def event(**parts):
    return lambda s: s["timeline"].insert(1, {"t": 0.05, **parts})


BAD = {
    "unknown disc in the timeline": broken(event(event="contact", discs=["striker", "r7"])),
    "unknown disc on a rail": broken(event(event="rail", disc="r7", rail="N")),
    "unknown disc stacked": broken(event(event="stacked", disc="r1", on="r7")),
    "unknown disc on its side": broken(event(event="on_side", disc="r7")),
    "unknown disc shaken": broken(event(event="table_shaken", moved=["r7"])),
    "unknown disc lifted": broken(event(event="lifted", disc="r7", side="S")),
    "unknown disc after": broken(lambda s: s["after"]["discs"].append(disc())),
    "kind changes": broken(lambda s: s["after"]["discs"][0].update(kind="black")),
    "time backwards": broken(event(event="rail", disc="striker", rail="N", t=-3)),
    "unknown event": broken(event(event="bounce", disc="r1")),
    "duplicate id before": broken(put(id="r1")),
    "duplicate id after": broken(lambda s: s["after"]["discs"].append(s["after"]["discs"][0])),
    "two strikers": broken(put(id="s2", kind="striker")),
    "wrong type": broken(put(x_mm="1")),
    "wrong type of list": broken(lambda s: s.update(timeline={})),
    "missing position": broken(lambda s: s.pop("before")),
    "unknown kind": broken(put(kind="white")),
    "negative sigma": broken(put(sigma_mm=-1)),
    "unknown rail": broken(event(event="rail", disc="striker", rail="X")),
    "contact of one": broken(event(event="contact", discs=["striker"])),
    "contact with itself": broken(event(event="contact", discs=["striker", "r1", "r1"])),
    "confidence": broken(event(event="contact", discs=["striker", "r1"], confidence=1.5)),
    "nobody's side": broken(lambda s: s.update(side="W")),
    "nobody's hand": broken(event(event="touched", discs=["r1"], side="E", by="hand")),
    "newer schema": broken(lambda s: s.update(schema="novuss.stroke/2")),
    "seventeen red pieces": broken(lambda s: [put(id=f"r{n}")(s) for n in range(20, 36)]),
    "nothing known": {"strook": {}},
    "two in one": {**GOOD, **judge("end_match")},
    "unknown command": judge("forgive"),
    "warning without a side": judge("warning", clause="19.1.a"),
    "fault without a clause": judge("fault", side="S"),
    "award to nobody's side": judge("award_set", side="W"),
    "void of nothing": judge("void"),
    "void of entry 0": judge("void", entry=0),
    "resolve without assumptions": judge("resolve", entry=1),
    "override without a part": judge("override", entry=1),
    "override of a wrong type": judge("override", entry=1, ruling={"penalty_pieces": "two"}),
    "override for nobody": judge("override", entry=1, ruling={"next": "E"}),
    "override of a set won by nobody": judge("override", entry=1, ruling={"set": {"result": "won"}}),
    "override of a negative debt": judge("override", entry=1, ruling={"debt": {"S": -1}}),
    "override of an unknown turn": judge("override", entry=1, ruling={"turn": "stays"}),
    "resolve by an unknown answer": judge("resolve", entry=1, assume={"r1": "grey"}),
    "incident of nobody": incident("E", BOARD),
    "incident with an unknown disc": incident("S", BOARD, {"event": "pocket", "disc": "r7", "pocket": "NE"}),
    "match in singles of four": match(players={s: {"name": s, "colour": "red"} for s in "SNWE"}),
    "unknown ruleset": match("lnf-1999"),
    "same colours": match(players={s: {"name": s, "colour": "red"} for s in "SN"}),
    "not opposite": match(players={"S": {"name": "A", "colour": "red"}, "W": {"name": "B", "colour": "black"}}),
    "first turn of nobody": match(first="W"),
    "no sets": match(sets=0),
    "half a set": match(sets=1.5),
    "partners of two colours": match(form="doubles", players={s: {"name": s, "colour": "red" if s in "SW" else "black"} for s in "SNWE"}),
    "pairs of one colour": match(form="doubles", players={s: {"name": s, "colour": "red"} for s in "SNWE"}),
    "newer match": {"match": {**match()["match"], "schema": "novuss.match/2"}},
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_a_broken_line_is_named(bad):
    log = [*lines(match(), GOOD), *lines(bad)]
    with pytest.raises(LogUnusable, match=r"^line 3: .+") as caught:
        list(rulings(log))
    assert caught.value.line == 3


@pytest.mark.parametrize(
    "line",
    [b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b'{"stroke": NaN}', b"[" * 100_000, b'{"judge": {"command": "end_match"}} x', b"{}"],
)
def test_a_line_that_is_no_entry(line):
    with pytest.raises(LogUnusable, match=r"^line 2: "):
        list(rulings([*lines(match()), line]))


def test_entries_before_a_match():
    with pytest.raises(LogUnusable, match=r"^line 1: .*match"):
        list(rulings(lines(GOOD)))


@pytest.mark.parametrize("log", [[], [b"\n"], [b" \n", b"\n"]])
def test_an_empty_log_is_said_to_be_empty(log):
    with pytest.raises(LogUnusable, match="empty"):
        list(rulings(log))


def test_figures_that_are_not_finite():
    state = start(read_entry(lines(match())[0], 1).match)
    text = json.dumps(GOOD)
    entry = read_entry(text.encode(), 1)
    import msgspec

    for part in ("x_mm", "y_mm"):
        discs = [msgspec.structs.replace(d, **{part: float("nan")}) for d in entry.stroke.before.discs]
        stroke_ = msgspec.structs.replace(entry.stroke, before=msgspec.structs.replace(entry.stroke.before, discs=discs))
        with pytest.raises(EntryUnusable, match="finite"):
            step(state, Entry(stroke=stroke_))
    late = msgspec.structs.replace(entry.stroke.timeline[-1], t=float("inf"))
    with pytest.raises(EntryUnusable, match="finite"):
        step(state, Entry(stroke=msgspec.structs.replace(entry.stroke, timeline=[*entry.stroke.timeline[:-1], late])))
    from rules.facts import Returned

    deep = Returned(t=0.5, depth_mm=float("inf"))
    with pytest.raises(EntryUnusable, match="finite"):
        step(state, Entry(stroke=msgspec.structs.replace(entry.stroke, timeline=[deep])))


def test_a_match_entry_is_no_step():
    entry = read_entry(lines(match())[0], 1)
    with pytest.raises(EntryUnusable, match="starts a match"):
        step(start(entry.match), entry)


def test_a_broken_line_changes_nothing():
    state, _ = fold_line(None, lines(match())[0], 1)
    before = state
    with pytest.raises(LogUnusable):
        fold_line(state, lines(BAD["time backwards"])[0], 2)
    assert state == before


def test_a_match_entry_starts_afresh_and_numbers_begin_again():
    log = lines(match(), GOOD, match(first="N"), stroke("N", BOARD, "b1"))
    assert [(r.entry, r.next) for r in rulings(log)] == [(1, "N"), (1, "S")]


def test_blank_lines_are_skipped_but_counted():
    log = [*lines(match()), b"\n", b"  \n", b"{\n"]
    with pytest.raises(LogUnusable, match=r"^line 4"):
        list(rulings(log))


def test_the_command_writes_a_ruling_per_entry(tmp_path, capfdbinary):
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"".join(lines(match(), GOOD)))
    rule_command(str(log))
    out = capfdbinary.readouterr().out.splitlines()
    assert [json.loads(line)["entry"] for line in out] == [1]


def test_the_command_drops_a_torn_last_line_of_a_file_and_says_so(tmp_path, capfd):
    log = tmp_path / "log.jsonl"
    whole = b"".join(lines(match(), GOOD))
    log.write_bytes(whole + lines(GOOD)[0][:40])
    rule_command(str(log))
    out, err = capfd.readouterr()
    assert len(out.splitlines()) == 1
    assert "line 3" in err
    log.write_bytes(whole + lines(stroke("N", BOARD, "b1"))[0].rstrip())  # whole but for its newline
    rule_command(str(log))
    assert len(capfd.readouterr().out.splitlines()) == 2


def test_the_command_reads_standard_input(monkeypatch, capfdbinary):
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(b"".join(lines(match(), GOOD)))))
    rule_command("-")
    assert len(capfdbinary.readouterr().out.splitlines()) == 1


def test_the_command_names_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputUnusable, match=r"none\.jsonl"):
        rule_command(str(tmp_path / "none.jsonl"))
