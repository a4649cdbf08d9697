"""A match log as lines of JSON: read, checked, folded, one ruling after the other. Lines come from the caller; no I/O here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from rules.check import one_of
from rules.errors import UNREADABLE, EntryUnusable, LogUnusable
from rules.facts import Entry
from rules.fold import State, start, step
from rules.ruling import Ruling

_decoder: Final = msgspec.json.Decoder(Entry)


def read_entry(line: bytes, number: int) -> Entry:
    """One line of a log as an entry; raises LogUnusable naming the line."""
    try:
        entry = _decoder.decode(line)
        one_of(entry)
    except (*UNREADABLE, EntryUnusable) as error:
        raise LogUnusable(number, str(error)) from error
    return entry


def fold_line(state: State | None, line: bytes, number: int) -> tuple[State, Ruling | None]:
    """One line folded; a match entry starts afresh and has no ruling. `state` is unchanged when LogUnusable is raised."""
    entry = read_entry(line, number)
    try:
        if entry.match is not None:
            return start(entry.match), None
        if state is None:
            raise EntryUnusable("an entry before any match entry")
        return step(state, entry, line)
    except EntryUnusable as error:
        raise LogUnusable(number, str(error)) from error


def rulings(lines: Iterable[bytes]) -> Iterator[Ruling]:
    """The rulings of a log, as its lines come."""
    state: State | None = None
    number = 1
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        state, ruling = fold_line(state, line, number)
        if ruling is not None:
            yield ruling
    if state is None:
        raise LogUnusable(number, "the log is empty; it begins with a match entry")
