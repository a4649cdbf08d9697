"""What the receiver never took, with the reason, for people to look at: the newest of it, in one file of JSON lines."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from device.storage.atomic import write_bytes
from device.storage.lines import LineFile, complete_lines
from rules.errors import UNREADABLE

_log = logging.getLogger(__name__)

NAME: Final = "refused.jsonl"
# Bytes; some hundred ends of sets. Whoever looks at none of them for so long has no use for the first.
QUOTA_BYTES: Final = 1_000_000


class _Aside(msgspec.Struct, frozen=True):
    why: str
    news: msgspec.Raw


class _Named(msgspec.Struct, frozen=True):
    """As much of the news as tells people which one it was."""

    match_id: str
    entry: int


class _Line(msgspec.Struct, frozen=True):
    news: _Named


class Aside:
    """The file in `folder`; belongs to the courier's thread."""

    def __init__(self, folder: Path, quota_bytes: int = QUOTA_BYTES) -> None:
        self.path = folder / NAME
        self._quota = quota_bytes

    def keep(self, news: bytes, why: str) -> None:
        """Add one; the oldest make room for it, and the log says which. On StorageFailed the file is as it was."""
        line = msgspec.json.encode(_Aside(why, msgspec.Raw(news)))
        with contextlib.closing(LineFile(self.path)) as file:
            lines, tail = complete_lines(file.read())
            if (damage := file.cut(tail)) is not None:
                _log.warning("webhook: %s", damage)
            kept = [kept for kept in lines if kept]
            size = sum(len(one) + 1 for one in [*kept, line])
            dropped = 0
            while dropped < len(kept) and size > self._quota:
                size -= len(kept[dropped]) + 1
                dropped += 1
            if dropped:
                write_bytes(self.path, b"".join(one + b"\n" for one in [*kept[dropped:], line]))
                _log.warning("webhook: %s is full, dropped for ever: %s", self.path, _named(kept[:dropped]))
            else:
                file.append(line)


def _named(lines: Sequence[bytes]) -> str:
    """The first and the last of them, as people know them."""
    return " to ".join(_name(line) for line in (lines if len(lines) < 3 else (lines[0], lines[-1])))


def _name(line: bytes) -> str:
    try:
        named = msgspec.json.decode(line, type=_Line).news
    except UNREADABLE:
        return "a line of another form"
    return f"match {named.match_id}, entry {named.entry}"
