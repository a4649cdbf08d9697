"""The match sheet: what a judge and two players would sign."""

import csv
import io
import json

import pytest

from device.commands.sheet import sheet as command
from device.sheet import LABELS, as_csv, as_html, sheets
from rules.errors import InputUnusable
from tests.rules.logs import judge, lines, match, stroke
from tests.rules.test_sets import ALL_BLACK, BLACK_ONLY, RAN_OUT

BOARD = "r1@150,150 r2@-150,200 b1@-30,230 b2@260,-80"


def log():
    warning = {"at": "2026-11-29T20:15:00Z", **judge("warning", side="N", clause="19.1.e")}
    entries = [
        match(sets=3),
        RAN_OUT,
        stroke("N", BLACK_ONLY, "b4", *ALL_BLACK),  # replay, sides changed
        stroke("S", BOARD, "r2", after="r2@0,300"),  # Berta at S: penal, a penalty piece
        warning,
        judge("award_set", side="N", clause="16.1.c"),
        judge("award_set", side="S"),
    ]
    return lines(*entries)


def test_sheet():
    (one,) = sheets(log())
    assert one.players == ["Anna", "Berta"]
    assert [(p.set, p.first, p.winner, p.clause, p.score) for p in one.played] == [
        (1, "Anna", None, "20.4", (0, 0)),
        (1, "Berta", "Anna", "16.1.c", (1, 0)),
        (2, "Berta", "Anna", "9.1.j", (2, 0)),
    ]
    assert one.played[0].ran_out == ["Anna", "Berta"]
    assert one.played[1].penalties == {"Anna": 0, "Berta": 1}
    assert one.clean_outs == {"Anna": 1, "Berta": 1}
    assert [(w.player, w.clause, w.at) for w in one.warnings] == [("Anna", "19.1.e", "2026-11-29T20:15:00Z")]
    assert one.result.winner == "S"


def test_several_matches_are_several_sheets_and_none_is_none():
    assert [s.id for s in sheets([*log(), b"\n", *lines(match(form="doubles"))])] == ["t", "t"]
    assert sheets([]) == []
    assert sheets(lines(match(form="doubles")))[0].pairs == ("Anna / Cilda", "Berta / Dita")


def test_csv():
    rows = list(csv.DictReader(io.StringIO(as_csv(sheets(log())))))
    assert rows[1] == {
        "match": "t", "set": "1", "first_turn": "Berta", "winner": "Anna", "clause": "16.1.c", "score": "1:0",
        "penalty_pieces": "Anna=0 Berta=1", "ran_out": "", "strokes": "1",
    }  # fmt: skip


@pytest.mark.parametrize("lang", ["lv", "en", "de"])
def test_html(lang):
    page = as_html(sheets([*log(), *lines(match())]), lang)
    for part in (LABELS[lang]["title"], "Anna – Berta", "2 : 0", "16.1.c", "19.1.e", LABELS[lang]["open"], "size: A4"):
        assert part in page


def test_names_are_escaped():
    evil = match(players={"S": {"name": "<b>A</b>", "colour": "red"}, "N": {"name": "B&B", "colour": "black"}})
    page = as_html(sheets(lines(evil, judge("end_match"))), "en")
    assert "<b>A" not in page
    assert "B&amp;B" in page
    assert LABELS["en"]["drawn"] in page


@pytest.mark.parametrize("form", ["html", "json", "csv"])
def test_the_command(tmp_path, capsys, form):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(log()) + b'{"judge": {"comm')
    command(path, form=form)
    out, err = capsys.readouterr()
    assert "16.1.c" in out
    assert "incomplete" in err
    command(path, form=form, output=tmp_path / "sheet")
    assert (tmp_path / "sheet").read_text(encoding="utf-8") == out
    if form == "json":
        assert json.loads(out)[0]["schema"] == "novuss.sheet/1"


def test_a_log_without_a_match_or_no_log_at_all(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    for name in ("empty", "none"):
        with pytest.raises(InputUnusable, match=name):
            command(tmp_path / name)
