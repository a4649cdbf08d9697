"""A stroke's facts sorted for the clauses: what lay where, what moved, what left the table and how (12.5, 12.9, 12.14)."""

from __future__ import annotations

import math

import msgspec

from rules.facts import Disc, OverRail, Placed, Pocketed, Stroke
from rules.places import Point
from rules.reading import Reading
from rules.set_lost import has_moved
from rules.state import Core, colour_at
from rules.stroke import First, Verdict, first_contact, judge_first_contact, striker_id, struck_at
from rules.table import Colour


class Scene(msgspec.Struct, frozen=True):
    """A stroke's facts, sorted for the clauses."""

    stroke: Stroke
    own: Colour
    striker: str
    before: dict[str, Disc]
    after: dict[str, Disc]
    moved: frozenset[str]  # pieces that lie elsewhere or are gone
    over: tuple[OverRail, ...]  # 12.14, in order
    pockets: tuple[Pocketed, ...]
    first: First
    verdict: Verdict


def read_scene(core: Core, stroke: Stroke, reading: Reading) -> Scene:
    """Sort one stroke's facts; what is uncertain about the first contact is asked of the reading."""
    before = {d.id: d for d in stroke.before.discs}
    gone: dict[str, OverRail | Pocketed] = {}
    for event in stroke.timeline:
        if isinstance(event, (OverRail, Pocketed)):
            gone.pop(event.disc, None)
            gone[event.disc] = event  # what happened to it last
    after = {d.id: d for d in stroke.after.discs if d.id not in gone}
    moved: set[str] = set()
    for i, disc in before.items():
        now = after.get(i)
        if now is not None and now.x_mm == disc.x_mm and now.y_mm == disc.y_mm:
            continue  # most pieces, most strokes
        if disc.kind == "striker":
            continue
        if now is None and i not in gone:
            after[i] = disc  # neither fallen nor over a rail nor seen: hidden, not gone
        elif has_moved(disc, now):
            moved.add(i)
    striker = striker_id(stroke.before.discs)
    own = colour_at(core, stroke.side)
    first = first_contact(stroke, striker, reading)
    return Scene(
        stroke=stroke,
        own=own,
        striker=striker,
        before=before,
        after=after,
        moved=frozenset(moved),
        over=tuple(e for e in gone.values() if isinstance(e, OverRail)),
        pockets=tuple(e for e in gone.values() if isinstance(e, Pocketed)),
        first=first,
        verdict=judge_first_contact(first, stroke.side, own, before, core.rules, reading),
    )


def made_from(scene: Scene) -> Point | None:
    """12.5, 17.3: where the striker lay for the stroke: as it was last placed before the cue."""
    stroke = scene.stroke
    placed = [e for e in stroke.timeline if isinstance(e, Placed)]
    struck = struck_at(stroke)
    last = next((p for p in reversed(placed) if p.t <= struck or struck == -math.inf), None)
    if last is not None:
        return (last.x_mm, last.y_mm)
    disc = scene.before.get(scene.striker)
    return None if disc is None else (disc.x_mm, disc.y_mm)
