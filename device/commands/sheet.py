"""`novuss sheet LOG`: the match sheet of a log, to print or to keep."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from cyclopts import Parameter

from device.commands.log_lines import lines_of
from device.sheet import as_csv, as_html, sheets
from device.storage.atomic import write_text
from rules.errors import InputUnusable, LogUnusable, WrongUsage
from rules.words import Lang


def sheet(
    log: Path,
    *,
    form: Literal["html", "json", "csv"] = "html",
    lang: Lang = "lv",
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
) -> None:
    """Write the match sheet of a log: sets, first turns, penalty pieces, warnings, first-series run-outs, signatures.

    It may be written after every set; a match that is not over yet is shown as it stands.

    Examples:

    - `novuss sheet match.jsonl -o sheet.html`: to print, in Latvian
    - `novuss sheet match.jsonl --form csv --lang en`: a line a set, to standard output

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
    lines = lines_of(log)
    if output is not None and output.exists() and output.samefile(log):
        raise WrongUsage(f"{output}: the sheet would take the place of the log; name another file")
    try:
        found = sheets(lines)
    except LogUnusable as error:
        raise InputUnusable(f"{log}: {error}") from error
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
