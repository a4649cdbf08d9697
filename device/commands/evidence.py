"""`novuss evidence`: list, export, protect and release the clips and stills of rulings, and say how much may be kept."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import App, Parameter
from platformdirs import user_data_path

from device.evidence.gallery import ShelfGallery
from device.evidence.record import STILL, Piece
from device.evidence.shelf import Shelf
from device.storage.atomic import write_text
from rules.errors import InputUnusable, WrongUsage
from rules.words import Lang

app = App(name="evidence", help="Clips and stills of rulings: list, export, protect, quota.")

Folder = Annotated[Path | None, Parameter(alias="-f")]


def _folder(folder: Path | None, table: str) -> Path:
    """The folder as named, else that of a table's camera, else that of the virtual table."""
    if folder is not None:
        chosen = folder
    else:
        home = user_data_path("novuss") / table
        chosen = next((place for place in (home / "evidence", home / "virtual" / "evidence") if place.is_dir()), home / "evidence")
    if not chosen.is_dir():
        raise InputUnusable(f"{chosen}: no evidence is kept there; name the folder with --folder")
    return chosen


@app.command(name="list")
def list_pieces(*, folder: Folder = None, table: str = "table") -> None:
    """Print every piece as one JSON line, oldest first.

    Example: `novuss evidence list --folder /var/lib/novuss/evidence`

    Parameters
    ----------
    folder
        Where the monitor keeps its evidence (it says so when it starts); by default this user's.
    table
        Name of the table, where no folder is named.
    """
    shelf = Shelf(_folder(folder, table))
    for name in shelf.names():
        piece = shelf.get(name)
        if piece is not None:
            sys.stdout.buffer.write(msgspec.json.encode(_line(shelf, piece)) + b"\n")
    sys.stdout.buffer.flush()


@app.command
def export(
    name: str,
    *,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    lang: Lang = "en",
    folder: Folder = None,
    table: str = "table",
) -> None:
    """Write one ruling's evidence as a single HTML file: clip, still, words; nothing else is needed to look at it.

    Example: `novuss evidence export 0000017-3f9a2c41 -o protest.html --lang lv`

    Parameters
    ----------
    name
        Name of the piece, as `list` prints it and as the ruling says it.
    output
        File to write; standard output without it.
    lang
        Language of the words.
    folder
        Where the monitor keeps its evidence.
    table
        Name of the table, where no folder is named.
    """
    where = _folder(folder, table)
    page = ShelfGallery(where).as_html(name, lang)
    if page is None:
        raise InputUnusable(f"{where}: no evidence named {name!r}; `novuss evidence list` prints the names")
    if output is None:
        sys.stdout.write(page)
    else:
        write_text(output, page)


@app.command
def protect(
    name: str, *, off: Annotated[bool, Parameter(negative="")] = False, by: str | None = None, folder: Folder = None, table: str = "table"
) -> None:
    """Keep a piece whatever the quota, or, with --off, no longer; prints the piece.

    Example: `novuss evidence protect 0000017-3f9a2c41 --by Ilze`

    Parameters
    ----------
    name
        Name of the piece.
    off
        Take every protection off instead, those of reviews and overrides included.
    by
        Who says so.
    folder
        Where the monitor keeps its evidence.
    table
        Name of the table, where no folder is named.
    """
    shelf = Shelf(_folder(folder, table))
    piece = shelf.let_go(name) if off else shelf.protect(name, "judge", by)
    if piece is None:
        raise InputUnusable(f"{shelf.folder}: no evidence named {name!r}; `novuss evidence list` prints the names")
    sys.stdout.buffer.write(msgspec.json.encode(_line(shelf, piece)) + b"\n")


@app.command
def quota(megabytes: int | None = None, *, folder: Folder = None, table: str = "table") -> None:
    """Print how full the folder is; with a figure, keep so many megabytes from now on: the oldest beyond it go at once.

    Example: `novuss evidence quota 5000 --folder /var/lib/novuss/evidence`

    Parameters
    ----------
    megabytes
        How much may be kept.
    folder
        Where the monitor keeps its evidence.
    table
        Name of the table, where no folder is named.
    """
    if megabytes is not None and megabytes < 1:
        raise WrongUsage(f"{megabytes} MB: a quota is at least 1 MB; `novuss watch --no-evidence` keeps none")
    shelf = Shelf(_folder(folder, table))
    if megabytes is not None:
        shelf.set_quota(megabytes)
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(shelf.holding()), indent=2) + b"\n")


def _line(shelf: Shelf, piece: Piece) -> dict[str, object]:
    where = shelf.folder / piece.evidence
    return {
        "evidence": piece.evidence,
        "match_id": piece.match_id,
        "entry": piece.entry,
        "at": piece.at,
        "lawful": piece.ruling.get("lawful"),
        "faults": [fault["clause"] for fault in piece.ruling.get("faults") or []],
        "moment": piece.moment,
        "frames": len(piece.clip.frames),
        "protected": [held.ground for held in piece.protected],
        "clip": str(where / piece.clip.file),
        "still": str(where / STILL),
    }
