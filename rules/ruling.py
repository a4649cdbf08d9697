"""What is ruled: the ruling of the contract and its parts, as frozen values. No rules in here, no I/O."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType, field

from rules.facts import Record
from rules.table import Kind, Side, Zone

Way = Literal["direct", "opposite", "side", "own"]
Turn = Literal["continues", "passes", "interrupted"]


class Fault(Record, frozen=True, kw_only=True):
    """A sanctioned fault; `source` names another ruleset's own file and section, `pays` the partner punished for it (21.5)."""

    clause: str
    side: Side
    source: str | UnsetType = UNSET
    pays: Side | UnsetType = UNSET


class Place(Record, frozen=True, kw_only=True):
    """A piece to lay out now: penalty, debt, back from over a rail, or from on top of another disc."""

    kind: Kind
    id: str
    x_mm: float
    y_mm: float
    clause: str


class Restore(Record, frozen=True, kw_only=True):
    """A piece to put back; `moved_aside` when its old place was taken and the nearest free one is named instead."""

    id: str
    x_mm: float
    y_mm: float
    clause: str
    moved_aside: bool | UnsetType = UNSET


class Unplaced(Record, frozen=True, kw_only=True):
    """A piece for which no place is free without moving another."""

    id: str
    kind: Kind
    clause: str


class SetResult(Record, frozen=True, kw_only=True):
    """How a set ended; a replay has no side and no player."""

    result: Literal["won", "replay"]
    clause: str
    side: Side | UnsetType = UNSET
    player: str | UnsetType = UNSET
    source: str | UnsetType = UNSET


class MatchResult(Record, frozen=True, kw_only=True):
    """How the match ended; `winner` null when drawn, `sets` in the match entry's order of players."""

    winner: Side | None
    player: str | None
    sets: list[int]
    clause: str


class Touch(Record, frozen=True, kw_only=True):
    """A piece that the striker touched first."""

    id: str
    own: bool
    dark: bool


class Margin(Record, frozen=True, kw_only=True):
    """How far a piece that mattered lay from being read otherwise: `clearance_mm` >= 0 dark in the nearest zone, with its sigma."""

    id: str
    zone: Zone
    clearance_mm: float
    sigma_mm: float


class Seen(Record, frozen=True, kw_only=True):
    """What the verdict rests on, for people: the way to the first piece, what was touched, margins in mm and seconds."""

    way: Way | None = None
    first: list[Touch] = field(default_factory=list)
    has_light: bool | None = None
    return_margin_mm: float | None = None
    elapsed_s: float | None = None


class Alternative(Record, frozen=True, kw_only=True):
    """One reading of what was seen and the ruling it leads to."""

    assume: dict[str, str]
    ruling: Ruling


class Refolded(Record, frozen=True, kw_only=True):
    """An earlier entry whose ruling is another one after a judge's command."""

    entry: int
    ruling: Ruling


class Ruling(Record, frozen=True, kw_only=True):
    """One per entry. In a review, what the readings do not share is null."""

    entry: int
    kind: Literal["stroke", "incident", "judge"]
    status: Literal["final", "review"] = "final"
    schema: str = "novuss.ruling/1"
    lawful: bool | None = None
    faults: list[Fault] | None = field(default_factory=list)
    turn: Turn | None = "continues"
    next: Side | None = None
    next_reason: list[str] | None = field(default_factory=list)
    penalty_pieces: int | None = 0
    debt: dict[Side, int] | None = field(default_factory=dict)
    place: list[Place] | None = field(default_factory=list)
    restore: list[Restore] | None = field(default_factory=list)
    on_table: dict[Side, int] | None = field(default_factory=dict)
    pocketed: list[str] | None = field(default_factory=list)
    warnings: dict[Side, int] | None = field(default_factory=dict)
    set: SetResult | None = None
    match: MatchResult | None = None
    seen: Seen | UnsetType = UNSET
    margins: list[Margin] | UnsetType = UNSET
    alternatives: list[Alternative] | UnsetType = UNSET
    unplaced: list[Unplaced] | UnsetType = UNSET
    told: list[str] | UnsetType = UNSET  # clauses that people are told about without a sanction (19.3, 12.17 ...)
    refused: str | UnsetType = UNSET  # why a judge's command changes nothing, with its clause
    refolded: list[Refolded] | UnsetType = UNSET
    penalty_stroke: Side | UnsetType = UNSET  # casual doubles, where agreed (002 doubles 4)


__all__ = [
    "Alternative",
    "Fault",
    "Margin",
    "MatchResult",
    "Place",
    "Refolded",
    "Restore",
    "Ruling",
    "Seen",
    "SetResult",
    "Touch",
    "Turn",
    "Unplaced",
    "Way",
]
