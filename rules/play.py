"""12: one stroke, and one incident between strokes, from what was seen to the ruling in the making."""

from __future__ import annotations

import math
from typing import Any, Final

import msgspec

from rules import sets
from rules.draft import Draft, finish
from rules.facts import Contact, Disc, Incident, OverRail, Placed, Pocketed, Rest, Returned, Stacked, Stroke, Struck, Time
from rules.places import LEAST_FROM_POCKET_MM, Point, beside, first_free, nearest_free, occupied, over_rail_places
from rules.reading import Reading
from rules.restoring import after_penal
from rules.rulesets import RETURN_FULL_MM
from rules.ruling import Ruling
from rules.set_lost import has_moved, out_of_turn, own_zone_first
from rules.state import Core, after_side, colour_at, doubles, full_count, opponents_zones, pair_at, player_at, put, rear_zones
from rules.stroke import First, Verdict, first_contact, judge_first_contact, striker_id, struck_at
from rules.table import OPPOSITE, POCKET_RADIUS_MM, POCKETS_MM, TOWARD, ZONE_LINE_MM, Colour, Side, Zone, depth_mm
from rules.timing import overrun
from rules.touching import between_strokes, during_stroke
from rules.turn import came_back, reasons

PLACING_DOUBT_MM: Final = 1.0  # nobody is told of a misplaced striker on less; the place carries no sigma


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


def _scene(core: Core, stroke: Stroke, reading: Reading) -> Scene:
    before = {d.id: d for d in stroke.before.discs}
    over: list[OverRail] = []
    pockets: list[Pocketed] = []
    for event in stroke.timeline:
        if isinstance(event, OverRail):
            over.append(event)
        elif isinstance(event, Pocketed):
            pockets.append(event)
    gone = {e.disc for e in over} | {e.disc for e in pockets}
    after = {d.id: d for d in stroke.after.discs if d.id not in gone}
    moved: set[str] = set()
    for disc in before.values():
        now = after.get(disc.id)
        if disc.kind == "striker":
            continue
        if now is None and disc.id not in gone:
            after[disc.id] = disc  # neither fallen nor over a rail nor seen: hidden, not gone
        elif has_moved(disc, now):
            moved.add(disc.id)
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
        over=tuple(over),
        pockets=tuple(pockets),
        first=first,
        verdict=judge_first_contact(first, stroke.side, own, before, core.rules, reading),
    )


def rule_stroke(core: Core, stroke: Stroke, entry: int, reading: Reading, given: dict[str, Any] | None = None) -> tuple[Core, Ruling]:
    """One stroke."""
    d = Draft(core, entry, "stroke", given)
    scene = _scene(core, stroke, reading)
    d.board = list(scene.after.values())
    d.made_from = _made_from(stroke, scene)
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
    during_stroke(d, stroke, scene.striker, scene.before, scene.moved)
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
    _count_misses(d, scene, reading)
    if d.end is None:
        _all_in(d, scene, bool(own_in), bool(opponents_in))
    return finish(d)


def _made_from(stroke: Stroke, scene: Scene) -> Point | None:
    placed = [e for e in stroke.timeline if isinstance(e, Placed)]
    struck = struck_at(stroke)
    last = next((p for p in reversed(placed) if p.t <= struck or struck == -math.inf), None)
    if last is not None:
        return (last.x_mm, last.y_mm)
    disc = scene.before.get(scene.striker)
    return None if disc is None else (disc.x_mm, disc.y_mm)


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
    if doubles(d.core) and direct and _driven_into_rear(d, scene, reading):
        if d.core.set.free_stroke == side:
            d.told.append("17.1.t")
        else:
            d.penalise("17.1.t", side)
            if d.core.match.penalty_stroke and d.core.rules.penalty_stroke_possible:
                d.set = msgspec.structs.replace(d.set, free_stroke=after_side(d.core, side))
    if not d.lawful and own_zone_first(scene.first, side, scene.own, scene.before, scene.moved, reading):
        d.lose_set("16.1.d", side)


def _driven_into_rear(d: Draft, scene: Scene, reading: Reading) -> bool:
    """17.1.t, 21.3: an opponents' piece that now rests in their own zone and did not before."""
    rear = rear_zones(d.core, scene.stroke.side)
    return any(
        reading.dark(now, rear) and not reading.dark(scene.before[i], rear)
        for i in sorted(scene.moved)
        if scene.before[i].kind != scene.own and (now := scene.after.get(i)) is not None
    )


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
    own_in: list[str] = []
    opponents_in: list[str] = []
    for event in scene.pockets:
        disc = scene.before.get(event.disc)
        if disc is None or disc.kind == "striker" or event.disc in restored:
            continue
        (own_in if disc.kind == scene.own else opponents_in).append(event.disc)
    d.pocketed = [e.disc for e in scene.pockets if e.disc in own_in or e.disc in opponents_in]
    _lay_over(d, scene, restored)
    _unstack(d, scene, restored)
    return own_in, opponents_in


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
    still = {i for i in scene.before if i not in {disc.id for disc, _ in backs.back}}
    for disc, clause in backs.back:
        others = [b for b in d.board if b.id in still and b.kind != "striker"]
        place = (disc.x_mm, disc.y_mm)
        if occupied(place, others):
            free = nearest_free(place, others, _from_centre(disc))
            d.put_back(disc, clause, free or place, moved_aside=True)
        else:
            d.put_back(disc, clause)
    return {disc.id for disc, _ in backs.back}


def _from_centre(disc: Disc) -> Point:
    return (-disc.x_mm, -disc.y_mm) if disc.x_mm or disc.y_mm else (0.0, 1.0)


def _lay_over(d: Draft, scene: Scene, restored: set[str]) -> None:
    """12.14: the piece that the striker touched first takes the centre, the others follow in the order they left."""
    order = {p: n for n, p in enumerate(scene.first.touched)}
    left = [e for e in scene.over if e.disc in scene.before and e.disc != scene.striker and e.disc not in restored]
    for event in sorted(left, key=lambda e: order.get(e.disc, len(order))):
        d.lay(scene.before[event.disc], first_free(over_rail_places(event.rail), d.board), "12.14")


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
        lean = (disc.x_mm - under.x_mm, disc.y_mm - under.y_mm)
        d.lay(disc, beside(under, lean, d.board), "12.11")


def _only_dark(core: Core, before: dict[str, Disc], reading: Reading) -> bool:
    """20.6: both sides have pieces, all of them in the circle or in their own zones."""
    for side in core.seats[:2] if not doubles(core) else core.seats:
        zones: tuple[Zone, ...] = (side, "circle") if not doubles(core) else (side, OPPOSITE[side], "circle")
        mine = [b for b in before.values() if b.kind == colour_at(core, side)]
        if not mine or reading.any_light(mine, zones):
            return False
    return True


def _count_misses(d: Draft, scene: Scene, reading: Reading) -> None:
    """20.6: turns in a row that touched no piece while both sides have dark pieces only."""
    missed = d.set.missed
    player = player_at(d.core, scene.stroke.side)
    if scene.first.pieces or not _only_dark(d.core, scene.before, reading):
        missed = (0,) * len(missed)
    else:
        missed = put(missed, player, missed[player] + 1)
        if all(n >= 3 for n in missed) and d.end is None and not any(d.earned):
            d.end = sets.End("20.6")
    if missed != d.set.missed:
        d.set = msgspec.structs.replace(d.set, missed=missed)


def _all_in(d: Draft, scene: Scene, own_in: bool, opponents_in: bool) -> None:
    """17.5, 20.3-20.5: a side, or both, has no piece left."""
    core, side = d.core, scene.stroke.side
    earned = bool(d.earned[player_at(core, side)])
    other = rear_zones(core, side)[0]
    own_left, opponents_left = d.count(side), d.count(_as_side(core, other))
    own_room = own_in and own_left == 0 and _debt(d, side)
    theirs_room = opponents_in and opponents_left == 0 and _debt(d, _as_side(core, other))
    if opponents_in and opponents_left == 0 and not theirs_room:
        if own_in and own_left == 0 and not own_room:
            d.end = sets.lost_by(core, side, "20.5") if earned else sets.End("20.5")
        else:
            d.end = sets.lost_by(core, side, "20.3")
        return
    if theirs_room:
        _lay_debts(d, pair_at(core, _as_side(core, other)))
    if not own_in or own_left or earned:
        return
    if own_room:
        _lay_debts(d, pair_at(core, side))
        return
    violation = bool(d.reasons)
    clean = d.set.turns_ended == 0 and d.set.turn == d.set.first and d.set.full
    if clean or d.set.interrupted is not None:
        d.set = msgspec.structs.replace(d.set, ran_out=(*d.set.ran_out, player_at(core, side)))
    d.end = sets.run_out(msgspec.structs.replace(core, set=d.set), violation)
    if d.end is None:
        d.interrupts = violation
        d.reasons = d.reasons or ["20.4"]


def _as_side(core: Core, zone: Zone) -> Side:
    return next(s for s in core.seats if s == zone)


def _debt(d: Draft, side: Side) -> bool:
    """Whether the side, in doubles the pair, owes penalty pieces that can be laid out now."""
    pair = pair_at(d.core, side)
    return any(d.set.debt[n] and d.room(s) for n, s in enumerate(d.core.seats) if d.core.pair[n] == pair)


def _lay_debts(d: Draft, pair: int) -> None:
    """17.5, 17.6: all eight in and the turn not lost: what is owed is laid out at once and play goes on."""
    for n, side in enumerate(d.core.seats):
        if d.core.pair[n] == pair and d.set.debt[n]:
            d.lay_penalties(side, 0)


def rule_incident(core: Core, incident: Incident, entry: int, reading: Reading, given: dict[str, Any] | None = None) -> tuple[Core, Ruling]:
    """What happened between strokes."""
    d = Draft(core, entry, "incident", given)
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
