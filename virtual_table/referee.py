"""The table's own simple reading of the rules, so that it can play on without anybody ruling. No substitute for the rule book."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

from rules.table import HALF_MM, OPPOSITE, POCKET_RADIUS_MM, POCKETS_MM, TOWARD, Colour, Kind, Side, clearances_mm, radius_mm
from virtual_table.layout import PIECES

# 17.3: tight against the rail on the midline; 5.5 mm: axis past the line by more than hole radius + half a line (12.9).
RETURN_MM: Final = 5.5
_STEP_MM: Final = 1.0  # search step of a free place along a rail


@dataclass(frozen=True, slots=True)
class Table:
    """What lies where: id -> (kind, x, y); which side plays which colour."""

    discs: dict[str, tuple[Kind, float, float]]
    colour: dict[Side, Colour]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a ruling means for the table: who plays on, what is laid out or put back, who has won the set."""

    next: Side
    place: tuple[tuple[Kind, float, float], ...] = ()
    restore: tuple[tuple[str, float, float], ...] = ()
    winner: Side | None = None
    replay: bool = False
    opens: Side | None = None  # who begins the next set, where a ruling says so
    sides_stay: bool = False
    over: bool = False
    fault: bool = False


def dark_ids(table: Table, side: Side) -> set[str]:
    """The side's own pieces that are dark for it (11.2)."""
    out = set()
    for i, (kind, x, y) in table.discs.items():
        if kind == table.colour[side]:
            clear = clearances_mm(kind, x, y)
            if clear[side] >= 0 or clear["circle"] >= 0:
                out.add(i)
    return out


def judge(before: Table, stroke: dict[str, Any], side: Side, debt: dict[Side, int]) -> Verdict:
    """Lawfulness, turn, penalty piece and set from a truth stroke record; `debt` is updated in place."""
    other = OPPOSITE[side]
    own, theirs = before.colour[side], before.colour[other]
    kinds = {i: d[0] for i, d in before.discs.items()}
    timeline = stroke["timeline"]
    after = {d["id"] for d in stroke["after"]["discs"]}
    gone = [e["disc"] for e in timeline if e["event"] == "pocket"]
    own_in = [i for i in gone if kinds[i] == own]
    over = [e["disc"] for e in timeline if e["event"] == "over_rail"]
    lawful = is_lawful(before, timeline, side)
    fault = not lawful or "striker" in gone or "striker" in over
    back = max((e["depth_mm"] for e in timeline if e["event"] == "returned"), default=-math.inf)
    returned = back > RETURN_MM and not dark_ids(before, side)
    place: list[tuple[Kind, float, float]] = [(kinds[i], 0.0, 0.0) for i in over if i != "striker"]
    left = {k: sum(kinds[i] == k for i in after) + sum(p[0] == k for p in place) for k in (own, theirs)}
    if fault:
        debt[side] += 1
    out_now = PIECES - left[own]
    while debt[side] and out_now:
        spot = penalty_place(side, [(d["kind"], d["x_mm"], d["y_mm"]) for d in stroke["after"]["discs"]] + place)
        place.append((own, *spot))
        debt[side] -= 1
        out_now -= 1
        left[own] += 1
    winner = side if left[own] == 0 else other if left[theirs] == 0 else None
    goes_on = bool(own_in) and not fault and not returned
    return Verdict(side if goes_on else other, tuple(place), winner=winner, fault=fault)


def is_lawful(before: Table, timeline: list[dict[str, Any]], side: Side) -> bool:
    """Which piece first, after which rails (11.4, 13.3, 13.4)."""
    own = before.colour[side]
    dark = dark_ids(before, side)
    light = {i for i, d in before.discs.items() if d[0] == own} - dark
    rails: set[str] = set()
    for event in timeline:
        if event["event"] == "rail" and event["disc"] == "striker":
            rails.add(event["rail"])
        if event["event"] == "contact" and "striker" in event["discs"]:
            hit = [i for i in event["discs"] if i != "striker"]
            if not light and OPPOSITE[side] in rails:
                return True
            return all(i in light or (i in dark and _opened(before, i, rails, side)) for i in hit)
    return not light and OPPOSITE[side] in rails


def _opened(before: Table, disc: str, rails: set[str], side: Side) -> bool:
    kind, x, y = before.discs[disc]
    circle = clearances_mm(kind, x, y)["circle"] >= 0
    return OPPOSITE[side] in rails or (circle and bool(rails - {side}))


def penalty_place(side: Side, taken: list[tuple[Kind, float, float]]) -> tuple[float, float]:
    """Tight at the opponent's rail, as near the midline as fits (17.3)."""
    toward = TOWARD[OPPOSITE[side]]
    deep = HALF_MM - radius_mm("red")
    offset = 0.0
    while offset < HALF_MM - POCKET_RADIUS_MM * 2.5:
        for sign in (1, -1):
            x, y = toward[0] * deep + abs(toward[1]) * offset * sign, toward[1] * deep + abs(toward[0]) * offset * sign
            if fits("red", x, y, taken):
                return x, y
        offset += _STEP_MM
    return float(toward[0]) * deep, float(toward[1]) * deep


def fits(kind: Kind, x: float, y: float, taken: list[tuple[Kind, float, float]]) -> bool:
    """Nothing overlaps there and it is not over a pocket."""
    clear = all(math.hypot(x - tx, y - ty) >= radius_mm(kind) + radius_mm(k) - 1e-6 for k, tx, ty in taken)
    return clear and all(math.hypot(x - px, y - py) > POCKET_RADIUS_MM for px, py in POCKETS_MM.values())


def from_ruling(ruling: dict[str, Any], fallback: Side) -> Verdict:
    """A `novuss.ruling/1` as far as the table needs it."""
    won = ruling.get("set") or {}
    return Verdict(
        ruling.get("next") or fallback,
        tuple((p["kind"], float(p["x_mm"]), float(p["y_mm"])) for p in ruling.get("place") or ()),
        tuple((p["id"], float(p["x_mm"]), float(p["y_mm"])) for p in ruling.get("restore") or ()),
        won.get("side") if won.get("result") == "won" else None,
        won.get("result") == "replay",
        ruling.get("next") if won else None,
        won.get("clause") == "20.6",  # the only replay in which nobody changes sides
        ruling.get("match") is not None,
        bool(ruling.get("faults")),
    )
