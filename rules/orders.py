"""What a judge may send besides a log entry: begin a match, set the clock, keep a clip, see the table."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from rules.facts import Judge, Match

Span = Literal["stroke", "told", "ready", "away", "between"]

# Seconds by what they are for: 19.3, 19.3, 12.23, 15.1, 16.1.j.
SPANS_S: Final[dict[Span, float]] = {"stroke": 30.0, "told": 5.0, "ready": 120.0, "away": 120.0, "between": 180.0}


class StartMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A match to begin; `force` also over one that is being played."""

    command: Literal["start_match"]
    match: Match
    force: bool = False
    by: str | None = None


class SetClock(msgspec.Struct, frozen=True, kw_only=True):
    """Start the clock that everybody sees, or, with `run` false, take it away."""

    command: Literal["clock"]
    span: Span = "stroke"
    run: bool = True
    by: str | None = None


class KeepEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """Keep the clip and still of a ruling whatever makes room for newer ones, or, with `keep` false, no longer."""

    command: Literal["keep_evidence"]
    evidence: str
    keep: bool = True
    by: str | None = None


class ShowTable(msgspec.Struct, frozen=True, kw_only=True):
    """Show the camera's picture of the whole table for a while, or, with `show` false, no longer."""

    command: Literal["show_table"]
    show: bool = True
    by: str | None = None


Order = Judge | StartMatch | SetClock | KeepEvidence | ShowTable
KINDS: Final[dict[str, type[Order]]] = {
    "start_match": StartMatch,
    "clock": SetClock,
    "keep_evidence": KeepEvidence,
    "show_table": ShowTable,
}
