"""Where a disc went that is no longer on the table: into the pocket or over the rail that its last steps lead to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rules.table import HALF_MM, POCKET_RADIUS_MM, POCKETS_MM, SIDES, TOWARD, Pocket, Side
from vision.motion.predict import FRICTION_MM_S2, HOPS_OVER_MM_S, RAIL_BOUNCE
from vision.motion.track import HOPS_MM_S, Sighting, Track

Array = NDArray[np.float64]

_SQUARE: Final = 0.85  # cosine to the rail's normal: one that is hit along its rail goes along it
_SHORTEST_S: Final = 0.002  # a contact's time is not known better
_TELLS_MM: Final = 8.0  # a first step that is shorter tells no direction: it was hit during the exposure, or is seen in the air
_LAST_S: Final = 0.1  # the last two sightings are that near in time, or they tell no direction
_SLOWEST_MM_S: Final = 20.0  # slower ones have stopped
_AIM_MM: Final = 58.0  # a line that passes a pocket's centre at less leads into it: along a rail the axis passes at the edge (50)
_OVER_MM: Final = 58.0  # a disc last seen this near to a pocket's centre was tilting into it, whichever way it went
_EDGE_MM: Final = 68.0  # a piece's radius beyond the edge: a frame after a firm blow it is in the hole
_INSIDE_MM: Final = 52.0  # a way that passes a pocket's centre at less goes over the hole, measuring errors included
_DEEP_MM: Final = 40.0  # and at less it does so for sure: a way that ends unseen is known to a fifth of the hole
_RIM_MM: Final = 45.0  # last seen at most this far outside the hole: a tilting disc is not fitted any more
_UNSEEN_S: Final = 0.035  # and two frames' way of a fast one
_SLACK_MM: Final = 15.0  # by which it may stop short of the edge, by its speed and usual friction: a rim leans in
_FALLS_S: Final = 0.4  # from the edge to the bag's bottom and at rest there
_MUST_SHOW_S: Final = 0.06  # after a blow; a disc that is on the table still is seen by then, and what is taken for it later is another one
_CORNER_MM: Final = 65.0  # at the rail 50 mm from a pocket's centre, and as far from the other rail: its edge and a piece's radius
_BY_RAIL_MM: Final = 80.0  # a disc that is gone before it is seen to move lay this near to the rail: two thirds of a frame at 7 m/s


def _last_step(track: Track) -> tuple[Array, Array] | None:
    """Place (2,) mm and velocity (2,) mm/s of the last two sightings."""
    if len(track.sightings) < 2:
        return None
    a, b = track.sightings[-2:]
    if b.t_s - a.t_s > _LAST_S:
        return None
    return np.array([b.x_mm, b.y_mm]), np.array([b.x_mm - a.x_mm, b.y_mm - a.y_mm]) / max(b.t_s - a.t_s, 1e-3)


def _passes(place: Array, way: Array, pocket: Pocket) -> tuple[float, float]:
    """How far ahead a way from a place (2,) mm in a direction (2,) of any length passes a pocket's centre, and how far aside of it, mm."""
    off, length = np.array(POCKETS_MM[pocket]) - place, max(float(np.hypot(*way)), 1e-9)
    return float(off @ way) / length, abs(float(off[0] * way[1] - off[1] * way[0])) / length


def into_mouth(track: Track) -> Pocket | None:
    """The pocket that a vanished disc's last steps led into."""
    last = _last_step(track)
    if last is None:
        return None
    place, velocity = last
    speed = float(np.hypot(*velocity))
    if speed < _SLOWEST_MM_S:
        return None
    for name, centre in POCKETS_MM.items():
        along, aside = _passes(place, velocity, name)
        away = float(np.hypot(*(np.array(centre) - place)))
        gap = away - POCKET_RADIUS_MM
        stops_after = speed * speed / (2 * FRICTION_MM_S2) + _SLACK_MM
        if (along > 0 or away < _OVER_MM) and aside < _AIM_MM and gap < min(_RIM_MM + speed * _UNSEEN_S, stops_after):
            return name
    return None


@dataclass(frozen=True, slots=True)
class Flight:
    """When a disc went over a rail, and where its axis, (2,) mm, was then."""

    t_s: float
    side: Side
    at_mm: Array

    @property
    def rail(self) -> Side | Pocket:
        """The rail, or the corner where nobody can tell which of two it was."""
        near = (name for name, centre in POCKETS_MM.items() if float(np.abs(self.at_mm - np.array(centre)).max()) < _CORNER_MM)
        return next(near, self.side)


def over_rail(track: Track, pushed: Array | None, pushed_s: float | None = None) -> Flight | None:
    """When and over which rail a disc vanished that no hand was near to, or None if its way leads over none.

    `pushed` (2,) is the direction in which it was hit, for one that was gone before it was seen to move, and `pushed_s` when: one that was
    seen once has come from where it lay since then.
    """
    if track.covered or _may_have_bounced_in(track, pushed_s):
        return None
    seen = next((s for s in track.sightings if pushed_s is None or s.t_s > pushed_s), None)
    if seen is not None and pushed_s is not None and seen.t_s > pushed_s + _MUST_SHOW_S:
        seen = None
    left = _along_way(track, seen, pushed, pushed_s)
    if left is None and track.flown_mm is not None:  # nothing that was seen tells, but what ran into it
        side = max(SIDES, key=lambda side: float(track.flown_mm @ np.array(TOWARD[side])))
        left = Flight(track.sightings[-1].t_s if track.sightings else track.woken_s, side, track.flown_mm)
    return left


def _along_way(track: Track, seen: Sighting | None, pushed: Array | None, pushed_s: float | None) -> Flight | None:
    """Over the rail that a disc's last steps lead to, or the blow where it was not seen after that; `seen` is where it first was."""
    last = None if seen is None else _last_step(track)
    if last is None and seen is not None and pushed_s is not None and track.rest_seen_mm is not None:
        place = np.array([seen.x_mm, seen.y_mm])
        if pushed is not None and float(np.hypot(*(place - track.rest_seen_mm))) < _TELLS_MM:
            return _off_at_once(track, pushed)
        last = place, (place - track.rest_seen_mm) / max(seen.t_s - pushed_s, _SHORTEST_S)
    if last is not None:
        place, velocity = last
        speed = float(np.hypot(*velocity))
        if speed < HOPS_MM_S:  # it may stand still: no direction
            return None
        side, way = _rail_ahead(place, velocity / speed, track.shape.radius_mm)
        if float(velocity @ np.array(TOWARD[side])) < HOPS_OVER_MM_S or way > 2 * speed * _UNSEEN_S:
            return None
        return Flight(track.sightings[-1].t_s + max(way, 0.0) / speed, side, place + velocity / speed * way)
    return None if pushed is None or seen is not None else _off_at_once(track, pushed)


def _may_have_bounced_in(track: Track, since_s: float | None) -> bool:
    """Whether a disc's rail may have turned it into a pocket before it could be seen again: nobody can tell that from flying over."""
    last = _last_step(track)
    if last is None or (since_s is not None and track.sightings[-2].t_s < since_s) or not (speed := float(np.hypot(*last[1]))) > HOPS_MM_S:
        return False
    side, way = _rail_ahead(last[0], last[1] / speed, track.shape.radius_mm)
    if way > 2 * speed * _UNSEEN_S:
        return False
    at, toward = last[0] + last[1] / speed * way, np.array(TOWARD[side], dtype=np.float64)
    back = last[1] - (1 + RAIL_BOUNCE) * float(last[1] @ toward) * toward
    farthest = float(np.hypot(*back)) * _UNSEEN_S / 2 + POCKET_RADIUS_MM
    ways = [_passes(at, back, name) for name in POCKETS_MM]
    return any(0 < along < farthest and aside < _INSIDE_MM for along, aside in ways)


def _off_at_once(track: Track, pushed: Array) -> Flight | None:
    """Over the rail that a disc lay at which was hit in direction (2,) and has not been seen on its way."""
    side, way = _rail_ahead(track.lay_mm, pushed, track.shape.radius_mm)
    square = float(pushed @ np.array(TOWARD[side])) > _SQUARE
    return Flight(track.woken_s, side, track.lay_mm + pushed * way) if square and way < _BY_RAIL_MM else None


def may_have_flown(track: Track) -> bool:
    """Whether a disc whose way led into a pocket's mouth may have gone over the rail behind it: that fast, and it only grazed the hole."""
    last = _last_step(track)
    if last is None or track.pocket is None:
        return False
    place, velocity = last
    _, aside = _passes(place, velocity, track.pocket)
    toward = max(float(velocity @ np.array(TOWARD[side])) for side in SIDES)
    return toward > HOPS_OVER_MM_S and aside > _DEEP_MM


def knocked_in(track: Track, pushed: Array) -> Pocket | None:
    """The pocket at whose edge a disc lay that was hit toward it, in direction (2,), and was not seen again."""
    if track.covered or track.sightings:
        return None
    for name, centre in POCKETS_MM.items():
        along, aside = _passes(track.lay_mm, pushed, name)
        if float(np.hypot(*(np.array(centre) - track.lay_mm))) < _EDGE_MM and along > 0 and aside < _INSIDE_MM:
            return name
    return None


def _rail_ahead(place: Array, direction: Array, radius_mm: float) -> tuple[Side, float]:
    """The rail that a straight way meets first, and how far it is, mm."""
    ahead: Sequence[tuple[float, Side]] = [
        ((HALF_MM - radius_mm - float(place @ np.array(TOWARD[side]))) / toward, side)
        for side in SIDES
        if (toward := float(direction @ np.array(TOWARD[side]))) > 1e-3
    ]
    way, side = min(ahead)
    return side, way


def is_falling(track: Track, at_mm: Array, t_s: float) -> bool:
    """Whether what is seen at a pocket's edge (2,) mm may be this disc on its way down: it is seen through the mouth for a while."""
    if track.pocket is None or t_s - track.t_s > _FALLS_S:
        return False
    return float(np.hypot(*(at_mm - np.array(POCKETS_MM[track.pocket])))) < POCKET_RADIUS_MM + _RIM_MM
