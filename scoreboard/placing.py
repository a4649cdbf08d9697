"""Guided placing: where a ruling wants discs, and how far the nearest disc of that kind, on the table or in a hand, still is."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from rules.facts import Held
from rules.places import IN_PLACE_MM
from rules.reading import SIGMAS
from rules.table import PIECE_DIAMETER_MM, Kind, Side
from scoreboard.state import SlottedDisc

Verb = Literal["place", "restore"]

MOVED_MM: Final = 2.0  # of a disc that a hand is at, less is not told
ALONE_MM: Final = PIECE_DIAMETER_MM - 1.0  # nearer than touching, 1 mm of errors: the place was free, so this is no neighbour
NEAR_MM: Final = 120.0  # a disc put down further off is not yet on its way to the place
KINDS: Final[dict[str, Kind]] = {"red": "red", "black": "black", "striker": "striker"}


@dataclass(frozen=True, slots=True)
class Target:
    """One disc to be laid out or put back, in table mm."""

    verb: Verb
    kind: Kind
    x_mm: float
    y_mm: float
    clause: str
    from_x_mm: float | None = None
    from_y_mm: float | None = None
    off_mm: tuple[tuple[Side, float], ...] = ()
    about: bool = False  # in a hand, or beside one: how high it is isn't known
    done: bool = False  # lies at rest within half a millimetre
    accepted: bool = False  # lies near enough for the next stroke, its uncertainty considered


def wanted(ruling: dict[str, Any], placing: tuple[dict[str, Any], ...] | None) -> list[tuple[Verb, dict[str, Any]]]:
    """What is to lie where: as the table's state says, else as the ruling does."""
    back: list[dict[str, Any]] = ruling.get("restore") or []
    if placing is None:
        return [*(("place", item) for item in ruling.get("place") or []), *(("restore", item) for item in back)]
    put_back = {item.get("id") for item in back}
    return [("restore" if item.get("id") in put_back else "place", item) for item in placing]


def targets(
    asked: Iterable[tuple[Verb, dict[str, Any]]],
    seen: Sequence[SlottedDisc],
    held: Held | None = None,
    known: Collection[str] | None = None,
) -> list[Target]:
    """Every place asked for, each with the disc that is to lie there, as far as one is seen; a disc serves one place.

    What is in a hand is for the nearest place that is still open. `known`: ids of what lay on the table before the stroke, if told.
    """
    out: list[Target] = []
    left = list(seen)
    for verb, item in asked:
        kind = _kind(item)
        if kind is None:
            continue
        x_mm, y_mm = float(item["x_mm"]), float(item["y_mm"])
        own = _own(x_mm, y_mm, item.get("id") if verb == "restore" else None, [s for s in left if s.disc.kind == kind], known)
        out.append(_target(verb, kind, x_mm, y_mm, str(item.get("clause", "")), own))
        if own is not None:
            left.remove(own)
    open_ones = [n for n, target in enumerate(out) if held is not None and target.kind == held.kind and not target.accepted]
    if held is not None and open_ones:
        n = min(open_ones, key=lambda n: math.hypot(held.x_mm - out[n].x_mm, held.y_mm - out[n].y_mm))
        out[n] = _in_hand(out[n], held)
    return out


def _own(x_mm: float, y_mm: float, name: object, seen: Sequence[SlottedDisc], known: Collection[str] | None) -> SlottedDisc | None:
    """The disc that is being brought to a place: what is too near to be a neighbour, the one to put back, or a new one close by."""

    def away_mm(slotted: SlottedDisc) -> float:
        return math.hypot(slotted.disc.x_mm - x_mm, slotted.disc.y_mm - y_mm)

    nearest = min(seen, key=away_mm, default=None)
    if nearest is None or away_mm(nearest) < ALONE_MM:
        return nearest
    named = next((s for s in seen if name is not None and s.disc.id == name), None)
    new = [s for s in seen if known is not None and s.disc.id is not None and s.disc.id not in known and away_mm(s) < NEAR_MM]
    return named or min(new, key=away_mm, default=None)


def _in_hand(target: Target, held: Held) -> Target:
    """Only what is surely a distance is told as one."""
    off = _off(target.x_mm - held.x_mm, target.y_mm - held.y_mm, held.sigma_mm)
    return replace(target, from_x_mm=held.x_mm, from_y_mm=held.y_mm, off_mm=off, about=True, done=False, accepted=False)


def _off(dx_mm: float, dy_mm: float, least_mm: float) -> tuple[tuple[Side, float], ...]:
    ways: tuple[tuple[Side, Side, float], ...] = (("E", "W", dx_mm), ("N", "S", dy_mm))
    return tuple((there if mm > 0 else back, abs(mm)) for there, back, mm in ways if abs(mm) >= least_mm)


def _kind(item: object) -> Kind | None:
    if not isinstance(item, dict) or not all(isinstance(item.get(k), int | float) for k in ("x_mm", "y_mm")):
        return None
    named = item.get("kind") or {"r": "red", "b": "black", "s": "striker"}.get(str(item.get("id", " "))[:1], "")
    return KINDS.get(str(named))


def _target(verb: Verb, kind: Kind, x_mm: float, y_mm: float, clause: str, near: SlottedDisc | None) -> Target:
    if near is None:
        return Target(verb, kind, x_mm, y_mm, clause)
    dx, dy = x_mm - near.disc.x_mm, y_mm - near.disc.y_mm
    away = math.hypot(dx, dy)
    lies = near.disc.at_rest is not False
    return Target(
        verb,
        kind,
        x_mm,
        y_mm,
        clause,
        near.disc.x_mm,
        near.disc.y_mm,
        _off(dx, dy, IN_PLACE_MM / 2 if lies else MOVED_MM),
        about=not lies,
        done=lies and away <= IN_PLACE_MM,
        accepted=lies and away <= IN_PLACE_MM + SIGMAS * near.disc.sigma_mm,
    )
