"""Whole lines of a match log that a command was given; what is torn at its end is left out and said."""

from __future__ import annotations

import sys
from pathlib import Path

from device.storage.lines import complete_lines
from rules.errors import InputUnusable


def lines_of(log: Path) -> list[bytes]:
    """The complete lines of a log; InputUnusable with path and reason when it can't be read."""
    try:
        data = log.read_bytes()
    except OSError as error:
        raise InputUnusable(f"{log}: {error.strerror}") from error
    lines, tail = complete_lines(data)
    if tail.why:
        print(f"novuss: {log}: the last line is incomplete ({tail.why}) and was left out", file=sys.stderr)
    return lines
