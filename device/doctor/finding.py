"""What a check found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

Level = Literal["ok", "warning", "wrong", "skipped"]


class Finding(msgspec.Struct, frozen=True):
    """One thing that was looked at. `remedy` says what to do, and is empty where nothing is to be done."""

    name: str
    level: Level
    text: str
    remedy: str = ""


def exit_status(findings: Iterable[Finding]) -> int:
    """0 where nothing is wrong; a warning is nothing wrong yet."""
    return int(any(finding.level == "wrong" for finding in findings))
