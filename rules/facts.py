"""The records of the contract, as frozen values: what is seen, what is logged, what is ruled. No I/O, no rules.

One place for every JSON object that crosses a border; msgspec checks types, so an impossible record cannot be built.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from rules.table import Colour, Kind, Pocket, Side, Zone

Pose = Literal["flat", "on_side", "stacked", "on_edge", "on_rail"]


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=False, forbid_unknown_fields=False, gc=False):
    """Base of all records: frozen, keyword only; unknown fields of newer writers are ignored."""


# --- what the camera sees -------------------------------------------------------------------------------------------


class SeenDisc(Record, frozen=True, kw_only=True):
    """One disc in one picture; the axis is where it meets the table plane z = 0."""

    kind: Kind
    x_mm: float
    y_mm: float
    sigma_mm: float
    pose: Pose = "flat"
    confidence: float = 1.0
    clearance_mm: dict[Zone, float] = {}
    id: str | None = None
    at_rest: bool | msgspec.UnsetType = msgspec.UNSET  # of a live picture: lies still, and no hand is at it


class Occluder(Record, frozen=True, kw_only=True):
    """Something in front of the table; `polygon_px` is a closed outline of (x, y)."""

    kind: str
    polygon_px: list[tuple[float, float]]


class SeenDiscs(Record, frozen=True, kw_only=True):
    """Output of `novuss detect` and payload of the `discs` topic."""

    discs: list[SeenDisc]
    occluders: list[Occluder] = []
    image: str | None = None
    schema: str = "novuss.discs/1"
    t_s: float | None = None


class Held(Record, frozen=True, kw_only=True):
    """A piece in a hand, taken to be a little above the table; its sigma says how little that is known."""

    kind: Kind
    x_mm: float
    y_mm: float
    sigma_mm: float


class Picture(Record, frozen=True, kw_only=True):
    """Payload of the `picture` topic: a part of the table from straight above, on the plane of the pieces' faces.

    A square about (x, y) reaching `half_mm` to each side, east to the right and north up; a piece that lies at a place is seen there.
    `held`: a piece that a hand brings. Without `jpeg` there is nothing to be shown now.
    """

    x_mm: float = 0.0
    y_mm: float = 0.0
    half_mm: float = 0.0
    jpeg: bytes | None = None
    held: Held | None = None
    t_s: float | None = None
    schema: str = "novuss.picture/1"


# --- the match log --------------------------------------------------------------------------------------------------


class Disc(Record, frozen=True, kw_only=True):
    """A disc in a logged position."""

    id: str
    kind: Kind
    x_mm: float
    y_mm: float
    sigma_mm: float | None = None
    pose: Pose | None = None


class Position(Record, frozen=True, kw_only=True):
    """All discs on the table at one moment."""

    discs: list[Disc] = []


class Event(Record, tag_field="event", frozen=True, kw_only=True):
    """Base of timeline events; `t` in seconds from any origin, ascending; equal t = not separable."""

    t: float


class Placed(Event, tag="placed", frozen=True, kw_only=True):
    """The player left the striker at rest for the stroke; the last before `struck` counts."""

    x_mm: float
    y_mm: float


class Struck(Event, tag="struck", frozen=True, kw_only=True):
    """The cue touched the striker; a second one is a double hit (17.1.j)."""


class Contact(Event, tag="contact", frozen=True, kw_only=True):
    """Discs touch; three or more ids: together, not separable."""

    discs: list[str]
    confidence: float | None = None


class Rail(Event, tag="rail", frozen=True, kw_only=True):
    """A disc touches a rail."""

    disc: str
    rail: Side
    confidence: float | None = None


class Pocketed(Event, tag="pocket", frozen=True, kw_only=True):
    """A disc falls into a pocket."""

    disc: str
    pocket: Pocket
    confidence: float | None = None


class OverRail(Event, tag="over_rail", frozen=True, kw_only=True):
    """A disc left the surface over a rail or corner, or stays on top of the rail."""

    disc: str
    rail: Literal["S", "N", "W", "E", "SW", "SE", "NE", "NW"]


class Returned(Event, tag="returned", frozen=True, kw_only=True):
    """The striker disc came back to the player's own zone line; deepest axis position, positive toward the rail."""

    depth_mm: float
    sigma_mm: float | None = None


class Stacked(Event, tag="stacked", frozen=True, kw_only=True):
    """A disc lies on another."""

    disc: str
    on: str


class OnSide(Event, tag="on_side", frozen=True, kw_only=True):
    """A disc stands on its rim."""

    disc: str
    on: str | None = None


class Touched(Event, tag="touched", frozen=True, kw_only=True):
    """A player touched discs outside a stroke's own contacts."""

    discs: list[str]
    side: Side
    by: Literal["hand", "cue", "striker"]
    confidence: float | None = None


class Lifted(Event, tag="lifted", frozen=True, kw_only=True):
    """A disc was taken from the table by hand."""

    disc: str
    side: Side
    confidence: float | None = None


class Rest(Event, tag="rest", frozen=True, kw_only=True):
    """Everything has stopped."""


class Time(Event, tag="time", frozen=True, kw_only=True):
    """Seconds since the striker was in hand or at rest on the player's side (19.3)."""

    elapsed_s: float
    side: Side | None = None


class TableShaken(Event, tag="table_shaken", frozen=True, kw_only=True):
    """Pieces moved at once without contact (16.1.b)."""

    moved: list[str]
    side: Side | None = None


TimelineEvent = (
    Placed | Struck | Contact | Rail | Pocketed | OverRail | Returned | Stacked | OnSide | Touched | Lifted | Rest | Time | TableShaken
)


class Stroke(Record, frozen=True, kw_only=True):
    """Facts of one stroke."""

    side: Side
    before: Position
    timeline: list[TimelineEvent]
    after: Position
    schema: str = "novuss.stroke/1"


class Incident(Record, frozen=True, kw_only=True):
    """What happened between strokes."""

    timeline: list[TimelineEvent]
    side: Side | None = None
    before: Position | None = None
    after: Position | None = None


class Player(Record, frozen=True, kw_only=True):
    """One player as the match sheet has it."""

    name: str
    colour: Colour


class Match(Record, frozen=True, kw_only=True):
    """The entry that starts a match; `players` gives the sides of the first set, in the match sheet's order."""

    id: str
    ruleset: str
    format: Literal["singles", "doubles"]
    sets: int
    players: dict[Side, Player]
    first_turn: Side
    play_all_sets: bool = False
    penalty_stroke: bool = False  # casual doubles: the extra penalty stroke, where the players agreed on it (002 doubles 4)
    guided_placing: bool = False  # a stroke made before everything lies where the ruling wants it waits for the judge (12.17)
    by: str | None = None  # the judge who started it
    schema: str = "novuss.match/1"


class Judge(Record, frozen=True, kw_only=True):
    """A judge's command."""

    command: Literal[
        "warning",
        "fault",
        "award_set",
        "award_match",
        "void",
        "resolve",
        "override",
        "confirm",
        "add_event",
        "wave_through",
        "debt_forgotten",
        "swap_places",
        "start_set",
        "end_match",
    ]
    side: Side | None = None
    clause: str | None = None
    entry: int | None = None
    assume: dict[str, str] | None = None  # id: dark | light, and the other questions of a review (rules.reading)
    ruling: dict[str, Any] | None = None
    event: dict[str, Any] | None = None  # add_event: one of the timeline's, its `t` left out
    when: Literal["first", "last"] | None = None  # add_event: before the first contact, or at the end
    by: str | None = None


class Entry(Record, frozen=True, kw_only=True):
    """One line of a match log: exactly one of these is set."""

    match: Match | None = None
    stroke: Stroke | None = None
    incident: Incident | None = None
    judge: Judge | None = None
