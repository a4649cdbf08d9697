"""The one tree of errors. A leaf is named by what the operator does next; its text says what, where and what to do.

Lives in `rules` because every other room may import from here and none below it.
"""

from __future__ import annotations

from typing import Final

import msgspec

# What decoding JSON from outside can raise; the last by nesting that no record has.
UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class NovussError(Exception):
    """Anything this product reports as one clear sentence. Exit status 1 unless a leaf says otherwise."""

    exit_status = 1


class InputUnusable(NovussError, ValueError):
    """The input was understood and cannot be used (file missing, empty, truncated, no table in it ...)."""


class LogUnusable(InputUnusable):
    """A line of a match log cannot be used; `line` is its number, counted from 1."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")
        self.line = line


class EntryUnusable(InputUnusable):
    """An entry of a match contradicts itself or its match; the reader of a log adds the line."""


class TableNotFound(InputUnusable):
    """The evidence in the picture is not enough to say where the table is."""


class LensMismatch(InputUnusable):
    """The lens file belongs to another picture size."""


class SourceFailed(NovussError, OSError):
    """A camera or file stopped giving frames before its end."""


class BrokerRefused(NovussError, ConnectionError):
    """The broker answered and refused (password, ACL, protocol)."""


class StorageFailed(NovussError, OSError):
    """A file could not be written (disk full, read-only, unplugged): make room or name another place; nothing partial was left."""


class OutboxFull(StorageFailed):
    """More rulings wait for the broker than the outbox may hold; they stay in the match log and go out when there is room."""


class WrongUsage(NovussError):
    """The command line cannot be understood."""

    exit_status = 2


class Bug(NovussError, RuntimeError):
    """A fault of our own: please report it with the text."""
