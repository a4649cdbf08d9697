"""The match sheet: what a judge and two players would sign."""

import csv
import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from device.commands.sheet import sheet as command
from device.sheet import LABELS, as_csv, as_html, sheets
from rules.errors import InputUnusable, WrongUsage
from tests.parts.browser import FLAGS
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
        "penalty_pieces": "Anna=0 Berta=1", "ran_out": "", "strokes": "1", "warnings": "Anna 19.1.e 2026-11-29T20:15:00Z",
    }  # fmt: skip
    assert rows[0]["warnings"] == ""  # the replay of the same set has them
    assert rows[3] == {
        "match": "t", "set": "result", "first_turn": "", "winner": "Anna", "clause": "23.1", "score": "2:0",
        "penalty_pieces": "", "ran_out": "Anna=1 Berta=1", "strokes": "", "warnings": "",
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


def test_the_set_being_played_is_on_the_sheet_with_its_first_turn():
    entries = [match(), judge("award_set", side="S"), stroke("S", BOARD, "r2", after="r2@0,300")]
    (one,) = sheets(lines(*entries))
    now = one.played[-1]
    assert (now.set, now.first, now.winner, now.clause, now.score, now.penalties) == (
        2,
        "Berta",
        None,
        None,
        (1, 0),
        {"Anna": 0, "Berta": 1},
    )
    assert LABELS["en"]["playing"] in as_html([one], "en")
    (row,) = (r for r in csv.DictReader(io.StringIO(as_csv([one]))) if r["set"] == "2")
    assert (row["winner"], row["clause"], row["strokes"]) == ("", "", "1")


def test_a_run_out_counts_while_the_opponents_first_series_is_on():
    assert sheets(lines(match(), RAN_OUT))[0].clean_outs == {"Anna": 1, "Berta": 0}


@pytest.mark.parametrize("played", [(), (stroke("S", BOARD, "r1"),)])
def test_a_third_warning_is_on_the_sheet_though_it_ends_no_set(played):
    warnings = [judge("warning", side="N", clause=c) for c in ("19.1.a", "19.1.e", "19.1.j")]
    (one,) = sheets(lines(match(), *played, *warnings))
    assert [w.clause for w in one.warnings] == ["19.1.a", "19.1.e", "19.1.j"]
    assert (len(one.played), one.score) == (len(played), (5, 0))
    text = as_csv([one])
    assert text.count("19.1.j") == 1
    assert ",15.3," in text


@pytest.mark.parametrize(("clause", "counted"), [("15.1", False), ("3.2", False), ("15.2", True)])
def test_sets_do_not_count_where_the_other_stayed_away(clause, counted):
    (one,) = sheets(lines(match(), judge("fault", side="N", clause=clause)))
    assert (one.sets_count, one.result.player, one.result.clause, one.played) == (counted, "Anna", clause, [])
    assert (LABELS["lv"]["uncounted"] in as_html([one], "lv")) is not counted


def test_when_the_match_began_is_on_the_sheet():
    (one,) = sheets(lines({"at": "2026-11-29T19:00:00Z", **match()}))
    assert one.begun_at == "2026-11-29T19:00:00Z"
    assert one.begun_at in as_html([one], "de")


def test_the_log_is_never_overwritten(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(log()))
    with pytest.raises(WrongUsage, match=r"log\.jsonl"):
        command(path, output=tmp_path / "." / "log.jsonl")
    assert path.read_bytes() == b"".join(log())


def test_a_line_that_cannot_be_is_named_with_its_file(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(lines(match(), stroke("W", BOARD, "r1"), judge("end_match"))))
    with pytest.raises(InputUnusable, match=r"log\.jsonl: line 2: "):
        command(path)


def test_help_shows_an_example(capsys):
    from device.cli import main

    with pytest.raises(SystemExit):
        main(["sheet", "--help"])
    out = capsys.readouterr().out
    assert "novuss sheet match.jsonl -o sheet.html" in out
    assert "--output -o" in out


def long_match():
    """Seven sets of doubles, each replayed once, with long names, as many warnings as can be, and a set under way."""
    names = dict(zip("SWNE", ("Aleksandra Zvirbule-Kalniņa", "Bernhard von Hohenstein", "Cecīlija Ozoliņa", "Ditmārs Lapiņš"), strict=True))
    players = {s: {"name": n, "colour": "red" if s in "SN" else "black"} for s, n in names.items()}
    entries = [{"at": "2026-11-29T19:00:00Z", **match(form="doubles", sets=7, play_all_sets=True, players=players)}]
    for side in "SWNE":
        entries += [{"at": "2026-11-29T20:15:00Z", **judge("warning", side=side, clause="19.1.j")}] * 2
    for side in "SWNSWN":
        entries.append(stroke("S", BOARD, "b1"))
        replay = {"set": {"result": "replay", "clause": "20.5"}}
        entries.append(judge("override", entry=len(entries) - 1, ruling=replay))
        entries.append(judge("award_set", side=side, clause="16.1.d"))
    return lines(*entries)


@pytest.mark.parametrize("lang", ["lv", "de"])
@pytest.mark.parametrize("matches", [1, 2])
def test_a_match_prints_on_one_a4_page(tmp_path, lang, matches):
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium here to print with")
    page, printed = tmp_path / "sheet.html", tmp_path / "sheet.pdf"
    page.write_text(as_html(sheets([*long_match(), *log()][: None if matches == 2 else len(long_match())]), lang), encoding="utf-8")
    print_it = [chromium, "--headless", *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", f"--print-to-pdf={printed}", page.as_uri()]
    subprocess.run(print_it, check=True, capture_output=True, timeout=60)
    data = Path(printed).read_bytes()
    assert len(re.findall(rb"/Type\s*/Page\b", data)) == matches
    width, height = (float(n) for n in re.search(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", data).groups())
    assert (round(width), round(height)) == (595, 842)  # A4 in points
