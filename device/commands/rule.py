"""`novuss rule LOG`: a match log in, one ruling a line out, as it goes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

import msgspec

from rules.errors import UNREADABLE, InputUnusable, LogUnusable
from rules.log import rulings

STDIN: Final = frozenset({"-", "/dev/stdin"})


def rule(log: str) -> None:
    """Rule on a match log, one JSON ruling per entry.

    Examples:

    - `novuss rule match.jsonl`
    - `novuss rule - < match.jsonl | tail -1`: where the match stands

    Parameters
    ----------
    log
        A match log (JSON Lines); `-` reads standard input.
    """
    encode = msgspec.json.Encoder().encode
    if log in STDIN:
        for ruling in rulings(sys.stdin.buffer):
            _write(encode(ruling))
        return
    try:
        with Path(log).open("rb") as file:
            for ruling in rulings(_whole_lines(file)):
                _write(encode(ruling))
    except LogUnusable as error:
        raise InputUnusable(f"{log}: {error}") from error
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputUnusable(f"{log}: {error.strerror}") from error


def _write(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def _whole_lines(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of a log file; a last one torn by a power cut is dropped and reported."""
    for number, line in enumerate(file, 1):
        if not line.endswith(b"\n") and not _is_json(line):
            print(f"novuss: line {number}: torn off, dropped", file=sys.stderr)
            return
        yield line


def _is_json(line: bytes) -> bool:
    try:
        msgspec.json.decode(line)
    except UNREADABLE:
        return False
    return True
