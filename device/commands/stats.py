"""`novuss stats LOG`: what a trainer would look at, as numbers and pictures."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from cyclopts import Parameter

from device.commands.log_lines import lines_of
from device.drawing_png import as_png
from device.storage.atomic import write_bytes, write_text
from rules.errors import InputUnusable, LogUnusable, WrongUsage
from rules.fold import State
from rules.log import fold_line
from rules.stats import Figures, figures, shots_of
from rules.words import Lang
from scoreboard.drawing import as_svg
from scoreboard.stats_view import drawings

NUMBERS: Final = "stats.json"


def stats(
    log: Path,
    *,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    form: Literal["svg", "png", "both"] = "both",
    lang: Lang = "lv",
    theme: Literal["light", "dark"] = "light",
) -> None:
    """Write a match in figures: success by kind of stroke, speeds, series, and maps of where striker and pieces came to rest.

    Examples:

    - `novuss stats match.jsonl`: the numbers as JSON, one match a line
    - `novuss stats match.jsonl -o stats`: numbers and pictures into a folder

    Parameters
    ----------
    log
        A match log (JSON Lines) with one match or several.
    output
        Folder for stats.json and the pictures; without it the numbers go to standard output. Several matches get a folder each.
    form
        Kind of the pictures.
    lang
        Language of the pictures.
    theme
        Colours of the pictures: light for paper, dark for screens.
    """
    lines = lines_of(log)
    try:
        found = all_figures(lines)
    except LogUnusable as error:
        raise InputUnusable(f"{log}: {error}") from error
    if not found:
        raise InputUnusable(f"{log}: no match in it")
    if output is None:
        for match in found:
            sys.stdout.buffer.write(msgspec.json.encode(match) + b"\n")
        return
    if output.exists() and not output.is_dir():
        raise WrongUsage(f"{output}: the pictures need a folder, and this is a file")
    for number, match in enumerate(found, 1):
        folder = output if len(found) == 1 else output / f"match-{number}"
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / NUMBERS, msgspec.json.format(msgspec.json.encode(match), indent=1).decode() + "\n")
        for name, drawing in drawings(match, lang, theme).items():
            if form != "png":
                write_text(folder / f"{name}.svg", as_svg(drawing))
            if form != "svg":
                write_bytes(folder / f"{name}.png", as_png(drawing))


def all_figures(lines: Iterable[bytes]) -> list[Figures]:
    """The figures of every match in a log; raises LogUnusable naming the line."""
    out: list[Figures] = []
    state: State | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        after, ruling = fold_line(state, line, number)
        if ruling is None and state is not None:
            out.append(figures(state.match, shots_of(state)))
        state = after
    return out if state is None else [*out, figures(state.match, shots_of(state))]
