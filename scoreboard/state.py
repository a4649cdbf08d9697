"""What the board knows of one table: the newest retained state and the last rulings, folded from MQTT messages.

No network and no words here. A message that can't be read changes nothing: it is counted and reported by the caller. Fields that a writer
leaves out have defaults, so an older or newer table monitor still shows what it has.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Literal

import msgspec

from device import topics
from rules.errors import UNREADABLE
from rules.facts import Picture, Player, SeenDisc, SeenDiscs
from rules.ruling import Ruling
from rules.stats import Figures
from rules.table import HALF_MM, SIDES, Colour, Kind, Side

KEPT_RULINGS: Final = 40  # the console's cards, and the longest series with what a judge says meanwhile; the match log keeps the rest
SLOTS: Final[dict[Kind, range]] = {"red": range(16), "black": range(16, 32), "striker": range(32, 34)}  # 25.2: 16 of each; a spare striker
_READ: Final = frozenset(
    topic.name for topic in (topics.STATUS, topics.MATCH, topics.RULING, topics.CLOCK, topics.STATS, topics.STROKE, topics.EVIDENCE)
)
PICTURE_LASTS_S: Final = 3.0  # two come a second while there are any; an older one is no live picture
JPEG: Final = b"\xff\xd8\xff"  # how each begins
MAX_PICTURE: Final = 1_000_000  # bytes; the table sends some 30 kB
MAX_NAME: Final = 60  # characters; longer names are cut, a page must not be flooded

Section = Literal["link", "discs", "picture", "match", "ruling", "cards", "clock", "stats", "evidence", "hall"]
Monitor = Literal["unknown", "online", "offline"]


@dataclass(frozen=True, slots=True)
class MatchView:
    """The folded match as the board needs it; every field has a default."""

    id: str = ""
    format: str = "singles"
    sets: int = 0
    set_number: int = 1
    players: dict[Side, Player] = field(default_factory=dict)
    sets_won: dict[Side, int] = field(default_factory=dict)
    debt: dict[Side, int] = field(default_factory=dict)
    warnings: dict[Side, int] = field(default_factory=dict)
    on_table: dict[Side, int] = field(default_factory=dict)
    turn: Side | None = None
    over: bool = False
    ruleset: str = ""
    placing: tuple[dict[str, Any], ...] | None = None  # what is to lie where before the next stroke; None where the table doesn't say
    guided: bool = False  # the next stroke waits for it


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock that a judge has started; `since_s` is monotonic, `at` the wall time that its message bears."""

    span: str
    limit_s: float
    since_s: float
    at: str = ""


@dataclass(frozen=True, slots=True)
class SlottedDisc:
    """A seen disc with the number of its drawing, which stays the same from picture to picture."""

    slot: int
    disc: SeenDisc


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that is known of the table at one moment; replaced as a whole, never changed."""

    broker: bool = False
    monitor: Monitor = "unknown"
    picture_at_s: float | None = None  # monotonic time of the last live picture; None when only a retained one came
    discs: tuple[SlottedDisc, ...] = ()
    camera: Picture | None = None  # what the camera sees, while the table sends it
    camera_at_s: float = 0.0  # monotonic, when it came
    camera_count: int = 0
    match: MatchView | None = None
    rulings: tuple[dict[str, Any], ...] = ()  # by seq, oldest first
    pieces: tuple[tuple[int, tuple[str, ...]], ...] = ()  # by entry of a stroke: the pieces that lay on the table before it
    clock: Clock | None = None
    stats: Figures | None = None
    evidence: tuple[dict[str, Any], ...] = ()  # the last clips and stills that the table tells of


class Unreadable(ValueError):
    """A payload that isn't what the contract says; the text tells where and why."""


def connected(now: Snapshot, broker: bool) -> Snapshot:
    """The broker came or went; without it nothing is known of the monitor."""
    return replace(now, broker=broker, monitor=now.monitor if broker else "unknown", picture_at_s=None, camera=None)


def apply(
    now: Snapshot, name: str, payload: bytes, *, retained: bool, at_s: float, at: datetime | None = None
) -> tuple[Snapshot, tuple[Section, ...]]:
    """Fold one message of topic `name` (below the table's prefix) and say which sections changed; raises `Unreadable`.

    `at_s` is monotonic, `at` wall time, which tells how old a retained clock is.
    """
    if name == topics.DISCS.name:
        after = _discs(now, payload, retained, at_s)
        asked = now.match is not None and now.match.placing
        guiding = asked or (now.rulings and any(now.rulings[-1].get(key) for key in ("place", "restore", "refolded")))
        changed: tuple[Section, ...] = ("discs", "ruling") if guiding else ("discs",)
        return after, changed if after.camera is now.camera else ("picture", *changed)
    if name == topics.PICTURE.name:
        return _camera(now, payload, at_s), ("picture", "ruling")
    if name not in _READ:
        return now, ()
    record = _record(name, payload)
    if name == topics.CLOCK.name:
        return replace(now, clock=_clock(now.clock, record, at_s, at if retained else None)), ("clock",)
    if name == topics.STATS.name:
        return replace(now, stats=_figures(record)), ("stats",)
    if name == topics.EVIDENCE.name:
        latest = record.get("latest")
        pieces = tuple(piece for piece in latest if isinstance(piece, dict)) if isinstance(latest, list) else ()
        return replace(now, evidence=pieces), ("evidence",)
    if name == topics.STROKE.name:
        return _stroke(now, record), ()
    if name == topics.STATUS.name:
        after = replace(now, monitor="online" if record.get("state") == "online" else "offline", camera=None)
        return after, ("link", "picture", "ruling") if now.camera is not None else ("link",)
    if name == topics.MATCH.name:
        after = replace(now, match=read_match(record))
        if now.match is not None and after.match is not None and now.match.id != after.match.id:
            now = after = replace(after, rulings=(), pieces=())  # a new match begins without the last one's rulings
        last = record.get("last_ruling")  # a board opened late learns the last ruling from here
        if isinstance(last, dict) and not now.rulings:
            return replace(after, rulings=(_checked_ruling(last),)), ("match", "discs", "ruling", "cards", "evidence")
        return after, ("match", "discs", "cards")
    seq = _count(record.get("seq"))
    kept = [r for r in now.rulings if r.get("seq") not in (None, seq)]  # QoS 1 may repeat, a replay does
    ordered = sorted([*kept, _checked_ruling(record)], key=lambda r: _count(r.get("seq")))
    return replace(now, rulings=tuple(ordered[-KEPT_RULINGS:])), ("ruling", "match", "discs", "cards", "evidence")


def seq_of(payload: bytes) -> int:
    """The table's seq in a sequenced message; 0 where there is none."""
    return _count(_record("message", payload).get("seq"))


def _record(name: str, payload: bytes) -> dict[str, Any]:
    try:
        record = msgspec.json.decode(payload)
    except UNREADABLE as error:
        raise Unreadable(f"{name}: {error}") from error
    if not isinstance(record, dict):
        raise Unreadable(f"{name}: an object was expected, not {type(record).__name__}")
    return record


def _checked_ruling(record: dict[str, Any]) -> dict[str, Any]:
    """The record itself, once its fields have the rule book's types; a status that the book doesn't know is let through."""
    try:
        msgspec.convert({**record, "status": "final"}, Ruling)
    except msgspec.ValidationError as error:
        raise Unreadable(f"ruling: {error}") from error
    return record


def _discs(now: Snapshot, payload: bytes, retained: bool, at_s: float) -> Snapshot:
    try:
        seen = msgspec.json.decode(payload, type=SeenDiscs)
    except UNREADABLE as error:
        raise Unreadable(f"discs: {error}") from error
    camera = now.camera if at_s - now.camera_at_s <= PICTURE_LASTS_S else None
    return replace(now, discs=slotted(now.discs, seen.discs), camera=camera, picture_at_s=now.picture_at_s if retained else at_s)


def _camera(now: Snapshot, payload: bytes, at_s: float) -> Snapshot:
    try:
        seen = msgspec.json.decode(payload, type=Picture)
    except UNREADABLE as error:
        raise Unreadable(f"picture: {error}") from error
    if seen.jpeg is None:
        return replace(now, camera=None)
    if not seen.jpeg.startswith(JPEG) or len(seen.jpeg) > MAX_PICTURE or not 0 < seen.half_mm <= 2 * HALF_MM:
        raise Unreadable("picture: no JPEG of a part of the table")
    return replace(now, camera=seen, camera_at_s=at_s, camera_count=now.camera_count + 1)


def _clock(running: Clock | None, record: dict[str, Any], at_s: float, now: datetime | None) -> Clock | None:
    limit_s = record.get("limit_s")
    if record.get("run") is not True or not isinstance(limit_s, int | float):
        return None
    began = Clock(str(record.get("span", "")), float(limit_s), at_s, str(record.get("at")))
    if now is None:
        return began
    if running is not None and replace(running, since_s=at_s) == began:
        return running  # heard again after a reconnection; wall time may have been stepped since, what is counted goes on
    with contextlib.suppress(ValueError):
        began = replace(began, since_s=at_s - max(0.0, (now - datetime.fromisoformat(began.at)).total_seconds()))
    return began


def _figures(record: dict[str, Any]) -> Figures:
    try:
        return msgspec.convert(record, Figures)
    except msgspec.ValidationError as error:
        raise Unreadable(f"stats: {error}") from error


def _stroke(now: Snapshot, record: dict[str, Any]) -> Snapshot:
    discs = (record.get("before") or {}).get("discs") or []
    ids = tuple(str(d["id"]) for d in discs if isinstance(d, dict) and d.get("kind") != "striker" and "id" in d)
    kept = dict(now.pieces[-KEPT_RULINGS:]) | {_count(record.get("entry")): ids}
    return replace(now, pieces=tuple(sorted(kept.items())))


def slotted(before: tuple[SlottedDisc, ...], seen: list[SeenDisc]) -> tuple[SlottedDisc, ...]:
    """Give each disc the drawing it had: by id, else by the nearest of its kind, so that discs glide instead of jumping."""
    out: list[SlottedDisc] = []
    for kind, slots in SLOTS.items():
        old = {s.slot: s.disc for s in before if s.disc.kind == kind}
        ids = {disc.id: slot for slot, disc in old.items() if disc.id is not None}
        mine = [disc for disc in seen if disc.kind == kind]
        taken: dict[int, SeenDisc] = {}
        rest: list[SeenDisc] = []
        for disc in mine:
            slot = ids.get(disc.id) if disc.id is not None else None
            if slot is None or slot in taken:
                rest.append(disc)
            else:
                taken[slot] = disc
        pairs = sorted(
            ((o.x_mm - d.x_mm) ** 2 + (o.y_mm - d.y_mm) ** 2, slot, i)
            for slot, o in old.items()
            if slot not in taken
            for i, d in enumerate(rest)
            if d.id is None or o.id is None
        )
        placed: set[int] = set()
        for _, slot, i in pairs:
            if slot not in taken and i not in placed:
                taken[slot] = rest[i]
                placed.add(i)
        free = [slot for slot in slots if slot not in taken and slot not in old] + [
            slot for slot in slots if slot not in taken and slot in old
        ]
        taken.update(zip(free, (d for i, d in enumerate(rest) if i not in placed), strict=False))
        out.extend(SlottedDisc(slot, taken[slot]) for slot in sorted(taken))
    return tuple(out)


def read_match(record: dict[str, Any]) -> MatchView:
    """The match topic's record with every missing or odd field at its default."""
    return MatchView(
        id=str(record.get("id", "")),
        format=str(record.get("format", "singles")),
        sets=_count(record.get("sets")),
        set_number=_count(record.get("set")) or 1,
        players=_players(record.get("players")),
        sets_won=_counts(record.get("sets_won")),
        debt=_counts(record.get("debt")),
        warnings=_counts(record.get("warnings")),
        on_table={} if record.get("status") == "ready" else _counts(record.get("on_table")),  # before the first stroke the fold knows none
        turn=_side(record.get("turn")),
        over=record.get("status") == "over" or bool(record.get("result")),
        ruleset=str(record.get("ruleset", "")),
        placing=_places(record.get("placing")),
        guided=record.get("guided_placing") is True,
    )


def _places(value: object) -> tuple[dict[str, Any], ...] | None:
    return tuple(place for place in value if isinstance(place, dict)) if isinstance(value, list) else None


def _side(value: object) -> Side | None:
    return next((side for side in SIDES if side == value), None)


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def _counts(value: object) -> dict[Side, int]:
    return {side: _count(value[side]) for side in SIDES if side in value} if isinstance(value, dict) else {}


def _players(value: object) -> dict[Side, Player]:
    if not isinstance(value, dict):
        return {}
    out: dict[Side, Player] = {}
    for side, player in value.items():
        key = _side(side)
        if key is not None and isinstance(player, dict):
            colour: Colour = "black" if player.get("colour") == "black" else "red"
            out[key] = Player(name=str(player.get("name", ""))[:MAX_NAME], colour=colour)
    return out
