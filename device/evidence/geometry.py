"""What a still draws, in table mm: the clearance with both its ends, the first contact with its normal, the ways that discs took."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from msgspec import UnsetType
from numpy.typing import NDArray

from device.evidence.film import Shot
from device.evidence.moment import Point
from rules.facts import Contact, Incident, Returned, Stroke, Struck
from rules.reading import SIGMAS
from rules.ruling import Ruling
from rules.table import (
    CIRCLE_RADIUS_MM,
    HALF_LINE_MM,
    TOWARD,
    ZONE_LINE_MM,
    Kind,
    Zone,
    depth_mm,
    hole_radius_mm,
    is_striker,
    radius_mm,
)

Array = NDArray[np.float64]
How = Literal["dark", "light", "close"]

_SHOWN_MM: Final = 60.0  # a clearance beyond this decided nothing
_BASE_MM: Final = 15.0  # the direction of a way is taken over so much of it: one frame's error of 0.5 mm turns it by 2 degrees
_BEFORE_S: Final = 0.001  # a sighting this near to a contact may already be after it


@dataclass(frozen=True, slots=True)
class Gauge:
    """A clearance as a draughtsman shows it: from the line's edge `from_mm` to the hole's edge `to_mm`, along `out` (unit vector)."""

    id: str
    kind: Kind
    zone: Zone
    axis_mm: Array
    out: Array
    from_mm: Array
    to_mm: Array
    value_mm: float
    sigma_mm: float

    @property
    def how(self) -> How:
        """How it was read at twice its sigma."""
        if abs(self.value_mm) <= SIGMAS * self.sigma_mm:
            return "close"
        return "dark" if self.value_mm > 0 else "light"


@dataclass(frozen=True, slots=True)
class Meeting:
    """The striker at first contact: both axes at that moment; the normal runs from the first to the second."""

    striker: str
    striker_mm: Array
    other: str
    other_kind: Kind
    other_mm: Array
    t_s: float

    @property
    def normal(self) -> Array:
        """Unit vector in which the other disc is pushed."""
        way = self.other_mm - self.striker_mm
        return np.asarray(way / max(float(np.hypot(*way)), 1e-9), dtype=np.float64)


def ways(shots: Sequence[Shot], start_s: float, end_s: float) -> dict[str, list[tuple[float, float, float]]]:
    """Where each disc was seen on its way, as (t_s, x_mm, y_mm)."""
    out: dict[str, list[tuple[float, float, float]]] = {}
    for shot in shots:
        t_s = shot.t_ns / 1e9
        if start_s <= t_s <= end_s:
            for name, _, x_mm, y_mm in shot.moving:
                out.setdefault(name, []).append((t_s, x_mm, y_mm))
    return out


def gauge_of(fact: Stroke | Incident, ruling: Ruling) -> Gauge | None:
    """The clearance nearest to the border between dark and light, None where none was near enough to matter."""
    margins = [] if isinstance(ruling.margins, UnsetType) else ruling.margins
    margin = min(margins, key=lambda m: abs(m.clearance_mm), default=None)
    discs = fact.before.discs if fact.before is not None else []
    disc = next((d for d in discs if margin is not None and d.id == margin.id), None)
    if margin is None or disc is None or abs(margin.clearance_mm) > _SHOWN_MM:
        return None
    return _gauge(disc.id, disc.kind, margin.zone, np.array([disc.x_mm, disc.y_mm]), margin.clearance_mm, margin.sigma_mm)


def _gauge(name: str, kind: Kind, zone: Zone, axis: Array, value_mm: float, sigma_mm: float) -> Gauge:
    hole = hole_radius_mm(kind)
    if zone == "circle":
        away = float(np.hypot(*axis))
        outward = axis / away if away > 1e-6 else np.array([0.0, 1.0])
        return Gauge(
            name, kind, zone, axis, -outward, outward * (CIRCLE_RADIUS_MM - HALF_LINE_MM), axis + outward * hole, value_mm, sigma_mm
        )
    outward = np.array(TOWARD[zone], dtype=np.float64)
    depth = depth_mm(zone, float(axis[0]), float(axis[1]))
    return Gauge(name, kind, zone, axis, outward, axis - outward * (depth - HALF_LINE_MM), axis - outward * hole, value_mm, sigma_mm)


def return_gauge(fact: Stroke, ruling: Ruling, seen: dict[str, list[tuple[float, float, float]]]) -> Gauge | None:
    """How far the striker came back over its own line (18.1.e): from where it counts to the striker's axis."""
    back = next((e for e in fact.timeline if isinstance(e, Returned)), None)
    margin_mm = None if isinstance(ruling.seen, UnsetType) else ruling.seen.return_margin_mm
    striker = next((d for d in fact.before.discs if d.kind == "striker"), None)
    if back is None or margin_mm is None or striker is None or not seen.get(striker.id):
        return None
    _, x_mm, y_mm = min(seen[striker.id], key=lambda p: abs(p[0] - back.t))
    outward = np.array(TOWARD[fact.side], dtype=np.float64)
    axis = np.array([x_mm, y_mm])
    axis = axis + outward * (back.depth_mm - depth_mm(fact.side, x_mm, y_mm))  # between two frames it was as deep as the fit says
    return Gauge(striker.id, "striker", fact.side, axis, outward, axis - outward * margin_mm, axis, margin_mm, back.sigma_mm or 0.0)


def fall_of(point: Point, seen: dict[str, list[tuple[float, float, float]]]) -> tuple[str, float, float] | None:
    """The disc that fell or left at the deciding moment, and where it was last seen by then (mm), None where nothing did."""
    if point.event not in ("pocket", "over_rail"):
        return None
    name = next((disc for disc in point.discs if seen.get(disc)), None)
    if name is None:
        return None
    before = [p for p in seen[name] if p[0] <= point.t_s] or seen[name][:1]
    return name, before[-1][1], before[-1][2]


def meetings(fact: Stroke | Incident, seen: dict[str, list[tuple[float, float, float]]]) -> list[Meeting]:
    """The first contact of a stroke: one disc, or several that were reached together."""
    if isinstance(fact, Incident):
        return []
    discs = {d.id: d for d in fact.before.discs}
    striker = next((d for d in discs.values() if is_striker(d.kind)), None)
    touch = next((e for e in fact.timeline if isinstance(e, Contact) and striker is not None and striker.id in e.discs), None)
    struck_s = next((e.t for e in fact.timeline if isinstance(e, Struck)), -math.inf)
    if striker is None or touch is None:
        return []
    start = np.array([striker.x_mm, striker.y_mm])
    came = [start, *(np.array([x, y]) for t, x, y in seen.get(striker.id, []) if struck_s < t < touch.t - _BEFORE_S)]
    out = []
    for name in touch.discs:
        other = discs.get(name)
        if other is None or name == striker.id:
            continue
        at = np.array([other.x_mm, other.y_mm])
        reach = radius_mm(striker.kind) + radius_mm(other.kind)
        out.append(Meeting(striker.id, _touching(came, at, reach), name, other.kind, at, touch.t))
    return out


def _touching(came: list[Array], at: Array, reach_mm: float) -> Array:
    """Where a disc on its way, carried on straight, first touches another: `reach_mm` from it."""
    here = came[-1]
    before = next((p for p in reversed(came) if float(np.hypot(*(here - p))) >= _BASE_MM), came[0])
    way = here - before
    if float(np.hypot(*way)) < 1.0:
        way = at - here
    way = way / max(float(np.hypot(*way)), 1e-9)
    to_foot = float((at - before) @ way)
    foot = before + way * to_foot
    aside = float(np.hypot(*(at - foot)))
    if aside >= reach_mm:
        return np.asarray(at + (foot - at) / aside * reach_mm, dtype=np.float64)
    return np.asarray(foot - way * math.sqrt(reach_mm**2 - aside**2), dtype=np.float64)


def line_points(zone: Zone, near_mm: Array, half_mm: float, offset_mm: float = 0.0) -> list[tuple[float, float]]:
    """A stretch of a line near a point, `offset_mm` from its centreline (toward the rail; outward for the circle)."""
    if zone == "circle":
        radius = CIRCLE_RADIUS_MM + offset_mm
        middle = math.atan2(near_mm[1], near_mm[0])
        reach = min(math.pi, half_mm / CIRCLE_RADIUS_MM)
        return [(radius * math.cos(a), radius * math.sin(a)) for a in np.linspace(middle - reach, middle + reach, 61)]
    dx, dy = TOWARD[zone]
    away = ZONE_LINE_MM + offset_mm
    along = near_mm[0] if dx == 0 else near_mm[1]
    ends = (along - half_mm, along + half_mm)
    return [(s, dy * away) if dx == 0 else (dx * away, s) for s in ends]
