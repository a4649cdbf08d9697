"""12: one stroke, and one incident between strokes, from what was seen to the ruling in the making."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from rules.draft import Draft, finish
from rules.facts import Contact, Disc, Incident, Pocketed, Rest, Returned, Stacked, Stroke, Struck, Time
from rules.places import LEAST_FROM_POCKET_MM, Point, beside, first_free, nearest_free, not_in_place, occupied, over_rail_places
from rules.reading import Reading
from rules.restoring import after_penal
from rules.rulesets import RETURN_FULL_MM
from rules.ruling import Ruling
from rules.run_out import all_in, count_misses
from rules.scene import Scene, made_from, read_scene
from rules.set_lost import out_of_turn, own_zone_first
from rules.state import Core, after_side, doubles, full_count, opponents_zones, rear_zones
from rules.table import POCKET_RADIUS_MM, POCKETS_MM, TOWARD, ZONE_LINE_MM, Side, Zone, depth_mm
from rules.timing import overrun
from rules.touching import between_strokes, during_stroke
from rules.turn import came_back, reasons

PLACING_DOUBT_MM: Final = 1.0  # nobody is told of a misplaced striker on less; the place carries no sigma


def rule_stroke(core: Core, stroke: Stroke, entry: int, reading: Reading, given: dict[str, Any] | None = None) -> tuple[Core, Ruling]:
    """One stroke."""
    d = Draft(core, entry, "stroke", given)
    if core.set.awaiting:
        too_early = core.match.guided_placing and not_in_place(core.set.awaiting, stroke.before.discs)
        if too_early and reading.ask("placing", ("waved", "again")) == "again":
            d.told.append("12.17")
            return finish(d)
        d.set = msgspec.structs.replace(d.set, awaiting=())
    stroke = msgspec.structs.replace(stroke, timeline=reading.believed(stroke.timeline))
    scene = read_scene(core, stroke, reading)
    d.board = list(scene.after.values())
    d.made_from = made_from(scene)
    if stroke.side != core.set.turn:
        _strike_out_of_turn(d, scene)
        return finish(d)
    d.lawful = d.given.get("lawful", scene.verdict.lawful)
    d.seen, d.margins = scene.verdict.seen, list(scene.verdict.margins)
    if not d.lawful:
        for clause in scene.verdict.clauses or ("17.1.a",):
            d.penalise(clause, stroke.side)
    _begin(d, scene)
    if d.made_from is not None and not well_placed(stroke.side, d.made_from):
        d.told.append("12.3")
    by_hand = during_stroke(d, stroke, scene.striker, scene.before, scene.moved, reading)
    if by_hand:
        scene = _put_back_by_hand(d, scene, by_hand)
    _end_faults(d, scene, reading)
    own_in, opponents_in = _put_right(d, scene, reading)
    returned, margin = came_back([e for e in stroke.timeline if isinstance(e, Returned)], core.rules, reading)
    if margin is not None:
        d.seen = msgspec.structs.replace(d.seen, return_margin_mm=round(margin, 2))
    zones: tuple[Zone, ...] = (stroke.side, "circle")
    dark_before = returned and any(b.kind == scene.own and reading.dark(b, zones) for b in scene.before.values())
    pieces_over = any(e.disc in scene.before and e.disc != scene.striker for e in scene.over)
    d.reasons += reasons(bool(own_in), bool(opponents_in), pieces_over, returned, dark_before, core.rules)
    if d.core.set.free_stroke == stroke.side and d.reasons == ["18.1.a"]:
        d.reasons = []  # 002 doubles 4: the penalty stroke is one on top of the turn
    count_misses(d, scene, reading)
    if d.end is None:
        all_in(d, scene, bool(own_in), bool(opponents_in))
    return finish(d)


def well_placed(side: Side, place: Point) -> bool:
    """12.3: the striker lies in the player's own zone with neither its line nor the lines at its ends in the hole."""
    clear = RETURN_FULL_MM - PLACING_DOUBT_MM
    across = place[1] if TOWARD[side][0] else place[0]
    return depth_mm(side, *place) >= clear and abs(across) <= ZONE_LINE_MM - clear


def _begin(d: Draft, scene: Scene) -> None:
    """12.2: counters that the stroke itself moves; 19.3 ends with it."""
    s = d.set
    full = s.full
    if s.strokes == 0:
        full = sum(b.kind == scene.own for b in scene.before.values()) >= full_count(d.core)
    side = scene.stroke.side
    for event in scene.stroke.timeline:
        if isinstance(event, Time):
            overrun(d, event, event.side or side)
    d.set = msgspec.structs.replace(
        d.set, strokes=s.strokes + 1, full=full, told_at_s=None, last_side=side, last_x_mm=d.made_from, free_stroke=None
    )


def _strike_out_of_turn(d: Draft, scene: Scene) -> None:
    """16.1.g, 16.1.h lose the set; otherwise it is a fault while the other side has the turn, and all goes back (17.1.o)."""
    side = scene.stroke.side
    clause = out_of_turn(d.core, scene.stroke)
    if clause is not None:
        d.lose_set(clause, side)
        return
    d.penalise("17.1.o", side)
    for i in sorted(scene.moved):
        d.put_back(scene.before[i], "17.1.o")


def _end_faults(d: Draft, scene: Scene, reading: Reading) -> None:
    """17.1.d, e, j, p, t: what a stroke may earn on its way, however it began; 16.1.d."""
    side = scene.stroke.side
    opponents = {e.disc for e in scene.over if e.disc in scene.before and scene.before[e.disc].kind not in {scene.own, "striker"}}
    direct = scene.first.way == "direct"
    if any(e.disc == scene.striker for e in scene.pockets):
        d.penalise("17.1.d", side)
    if any(e.disc == scene.striker for e in scene.over):
        d.penalise("17.1.e", side)
    if sum(isinstance(e, Struck) for e in scene.stroke.timeline) > 1:
        d.penalise("17.1.j", side)
    if opponents and (not d.lawful or (direct and d.core.rules.direct_over_rail_is_penal)):
        d.penalise("17.1.p", side)
    driven = _driven_into_rear(d, scene, reading) if doubles(d.core) and direct else []
    if driven:
        if d.core.set.free_stroke == side and not any(_in_a_corner(piece, reading) for piece in driven):
            d.told.append("17.1.t")
        else:
            d.penalise("17.1.t", side)
            if d.core.match.penalty_stroke and d.core.rules.penalty_stroke_possible:
                d.set = msgspec.structs.replace(d.set, free_stroke=after_side(d.core, side))
    if not d.lawful and own_zone_first(scene.first, side, scene.own, scene.before, scene.moved, reading):
        d.lose_set("16.1.d", side)


def _driven_into_rear(d: Draft, scene: Scene, reading: Reading) -> list[Disc]:
    """17.1.t, 21.3: opponents' pieces that now rest in their own zone and did not before."""
    rear = rear_zones(d.core, scene.stroke.side)
    return [
        now
        for i in sorted(scene.moved)
        if scene.before[i].kind != scene.own and (now := scene.after.get(i)) is not None
        if reading.dark(now, rear) and not reading.dark(scene.before[i], rear)
    ]


def _in_a_corner(piece: Disc, reading: Reading) -> bool:
    """002 doubles 4: the penalty stroke may not drive a piece into a corner, where the strips of two sides cross."""
    return reading.dark(piece, ("S", "N")) and reading.dark(piece, ("W", "E"))


def _falls_by_itself(event: Pocketed, scene: Scene) -> bool:
    """12.13: at rest on a pocket's edge, touched by no disc, it fell all the same."""
    disc = scene.before.get(event.disc)
    if disc is None or disc.kind == "striker":
        return False
    rest = next((e.t for e in scene.stroke.timeline if isinstance(e, Rest)), math.inf)
    if event.t > rest:
        return True
    if any(isinstance(e, Contact) and event.disc in e.discs and e.t <= event.t for e in scene.stroke.timeline):
        return False
    px, py = POCKETS_MM[event.pocket]
    return disc.pose == "on_edge" or math.hypot(disc.x_mm - px, disc.y_mm - py) < LEAST_FROM_POCKET_MM


def _edge_place(event: Pocketed, scene: Scene) -> Point | None:
    """Where the piece lay before it fell: where it lay all along, or, driven there by this stroke, at the pocket's edge."""
    if not any(isinstance(e, Contact) and event.disc in e.discs for e in scene.stroke.timeline):
        return None
    px, py = POCKETS_MM[event.pocket]
    share = 1.0 - POCKET_RADIUS_MM / math.hypot(px, py)
    return (px * share, py * share)


def _put_right(d: Draft, scene: Scene, reading: Reading) -> tuple[list[str], list[str]]:
    """12.11, 12.13, 12.14, 13.6-13.9: what goes back and what is laid where; returns own and opponents' pieces pocketed."""
    fallen = {e.disc for e in scene.pockets if _falls_by_itself(e, scene)}
    for event in scene.pockets:
        if event.disc in fallen:
            d.put_back(scene.before[event.disc], "12.13", _edge_place(event, scene))
    restored: set[str] = set(fallen)
    if not d.lawful:
        restored |= _restore_penal(d, scene, reading, fallen)
    fallen_in = [e.disc for e in scene.pockets if e.disc not in restored]
    if d.given.get("pocketed") is not None:
        fallen_in = _pocketed_as_given(d, scene, fallen_in)
    pieces = [scene.before[i] for i in fallen_in if i in scene.before and i != scene.striker]
    d.pocketed = [p.id for p in pieces]
    own_in = [p.id for p in pieces if p.kind == scene.own]
    opponents_in = [p.id for p in pieces if p.kind != scene.own]
    _lay_over(d, scene, restored)
    _unstack(d, scene, restored)
    return own_in, opponents_in


def _pocketed_as_given(d: Draft, scene: Scene, seen: list[str]) -> list[str]:
    """A judge says what went in (9.1.a): the rest of what was seen to go in lies where it lay, what else is named is gone."""
    named: list[str] = d.given["pocketed"]
    for i in seen:
        if i not in named and i in scene.before and i != scene.striker:
            d.board.append(scene.before[i])
    for i in named:
        d.remove(i)
    return named


def _restore_penal(d: Draft, scene: Scene, reading: Reading, fallen: set[str]) -> set[str]:
    side = scene.stroke.side
    backs = after_penal(
        scene.before,
        scene.after,
        (e.disc for e in scene.over),
        scene.first.touched,
        side,
        scene.own,
        opponents_zones(d.core, side),
        ("circle", *rear_zones(d.core, side)),
        scene.first.way == "direct" and d.core.rules.direct_over_rail_is_penal,
        scene.moved - fallen,
        reading,
    )
    if len(backs.own_out) >= 2:
        d.lose_set("16.1.a", side)
    _put_back(d, scene, backs.back)
    return {disc.id for disc, _ in backs.back}


def _put_back(d: Draft, scene: Scene, back: Iterable[tuple[Disc, str]]) -> None:
    """Each to where it lay, or to the nearest free place, because nothing else may be moved."""
    back = tuple(back)
    still = scene.before.keys() - {disc.id for disc, _ in back}
    for disc, clause in back:
        others = [b for b in d.board if b.id in still and b.kind != "striker"]
        place = (disc.x_mm, disc.y_mm)
        if occupied(place, others):
            d.put_back(disc, clause, nearest_free(place, others, _toward_centre(disc)), moved_aside=True)
        else:
            d.put_back(disc, clause)


def _put_back_by_hand(d: Draft, scene: Scene, by_hand: dict[str, str]) -> Scene:
    """9.1.h, 17.1.o: what a hand alone has moved goes back, and is none of what the stroke moved."""
    _put_back(d, scene, ((scene.before[i], clause) for i, clause in by_hand.items()))
    after = {**scene.after, **{b.id: b for b in d.board if b.id in by_hand}}
    return msgspec.structs.replace(scene, after=after, moved=scene.moved - by_hand.keys())


def _toward_centre(disc: Disc) -> Point:
    return (-disc.x_mm, -disc.y_mm) if disc.x_mm or disc.y_mm else (0.0, 1.0)


def _lay_over(d: Draft, scene: Scene, restored: set[str]) -> None:
    """12.14: the piece that the striker touched first takes the centre, the others follow in the order they left."""
    order = {p: n for n, p in enumerate(scene.first.touched)}
    left = [e for e in scene.over if e.disc in scene.before and e.disc != scene.striker and e.disc not in restored]
    for event in sorted(left, key=lambda e: order.get(e.disc, len(order))):
        d.lay(scene.before[event.disc], first_free(over_rail_places(event.rail), d.board), "12.14")


def _lean(disc: Disc, under: Disc, scene: Scene) -> Point:
    """Where a piece leans on another; dead on top of it, to where it came from, or to where the other came from."""
    for at in (disc, scene.before[disc.id], scene.before[under.id]):
        if (at.x_mm, at.y_mm) != (under.x_mm, under.y_mm):
            return (at.x_mm - under.x_mm, at.y_mm - under.y_mm)
    return _toward_centre(under)


def _unstack(d: Draft, scene: Scene, restored: set[str]) -> None:
    """12.11: a piece on another goes beside it, toward where it leans; one on the striker goes where the striker was."""
    for event in scene.stroke.timeline:
        if not isinstance(event, Stacked) or event.disc == scene.striker or event.disc in restored:
            continue
        disc, under = scene.after.get(event.disc), scene.after.get(event.on)
        if disc is None or under is None:
            continue
        d.remove(disc.id)
        if under.id == scene.striker:
            d.lay(disc, (under.x_mm, under.y_mm), "12.11")
            continue
        d.lay(disc, beside(under, _lean(disc, under, scene), d.board), "12.11")


def rule_incident(core: Core, incident: Incident, entry: int, reading: Reading, given: dict[str, Any] | None = None) -> tuple[Core, Ruling]:
    """What happened between strokes."""
    d = Draft(core, entry, "incident", given)
    incident = msgspec.structs.replace(incident, timeline=reading.believed(incident.timeline))
    before = {b.id: b for b in (incident.before.discs if incident.before else core.set.board)}
    after = {b.id: b for b in (incident.after.discs if incident.after else before.values())}
    if incident.after is None:
        for event in incident.timeline:
            after = {i: b for i, b in after.items() if i not in getattr(event, "discs", ())}
    d.board = list(after.values())
    between_strokes(d, incident, before, after, reading)
    for event in incident.timeline:
        if isinstance(event, Time):
            overrun(d, event, event.side or incident.side or core.set.turn)
    return finish(d)
