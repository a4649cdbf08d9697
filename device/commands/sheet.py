"""`novuss sheet LOG`: the match sheet of a log, to print or to keep."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import msgspec

from device.sheet import as_csv, as_html, sheets
from device.storage.atomic import write_text
from device.storage.lines import complete_lines
from rules.errors import InputUnusable
from rules.words import Lang


def sheet(log: Path, *, form: Literal["html", "json", "csv"] = "html", lang: Lang = "lv", output: Path | None = None) -> None:
    """Write the match sheet of a log: sets, first turns, penalty pieces, warnings, first-series run-outs, signatures.

    Parameters
    ----------
    log
        A match log (JSON Lines) with one match or several.
    form
        html prints to one A4 page a match; json and csv are for other programs.
    lang
        Language of the printed sheet.
    output
        File to write; standard output without it.
    """
    try:
        data = log.read_bytes()
    except OSError as error:
        raise InputUnusable(f"{log}: {error.strerror}") from error
    lines, tail = complete_lines(data)
    if tail.why:
        print(f"novuss: {log}: the last line is incomplete ({tail.why}) and was left out", file=sys.stderr)
    found = sheets(lines)
    if not found:
        raise InputUnusable(f"{log}: no match in it")
    if form == "json":
        text = msgspec.json.format(msgspec.json.encode(found), indent=1).decode() + "\n"
    else:
        text = as_csv(found) if form == "csv" else as_html(found, lang)
    if output is None:
        sys.stdout.write(text)
    else:
        write_text(output, text)
