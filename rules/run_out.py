"""17.5, 20.3-20.6: a side, or both, has no piece left; or neither can hit one."""

from __future__ import annotations

import msgspec

from rules import sets
from rules.draft import Draft
from rules.facts import Disc
from rules.reading import Reading
from rules.scene import Scene
from rules.state import Core, after_side, colour_at, doubles, pair_at, player_at, put
from rules.table import OPPOSITE, Side, Zone


def _only_dark(core: Core, before: dict[str, Disc], reading: Reading) -> bool:
    """20.6: both sides have pieces, all of them in the circle or in their own zones."""
    for side in core.seats[:2] if not doubles(core) else core.seats:
        zones: tuple[Zone, ...] = (side, "circle") if not doubles(core) else (side, OPPOSITE[side], "circle")
        mine = [b for b in before.values() if b.kind == colour_at(core, side)]
        if not mine or reading.any_light(mine, zones):
            return False
    return True


def count_misses(d: Draft, scene: Scene, reading: Reading) -> None:
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


def all_in(d: Draft, scene: Scene, own_in: bool, opponents_in: bool) -> None:
    """17.5, 20.3-20.5: a side, or both, has no piece left."""
    if not own_in and not opponents_in:
        return
    core, side = d.core, scene.stroke.side
    earned = bool(d.earned[player_at(core, side)])
    other = after_side(core, side)
    own_left, opponents_left = d.count(side), d.count(other)
    own_room = own_in and own_left == 0 and _debt(d, side)
    theirs_room = opponents_in and opponents_left == 0 and _debt(d, other)
    if opponents_in and opponents_left == 0 and not theirs_room:
        if own_in and own_left == 0 and not own_room:
            d.end = sets.lost_by(core, side, "20.5") if earned else sets.End("20.5")
        else:
            d.end = sets.lost_by(core, side, "20.3")
        return
    if theirs_room:
        _lay_debts(d, pair_at(core, other))
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


def _debt(d: Draft, side: Side) -> bool:
    """Whether the side, in doubles the pair, owes penalty pieces that can be laid out now."""
    pair = pair_at(d.core, side)
    return any(d.set.debt[n] and d.room(s) for n, s in enumerate(d.core.seats) if d.core.pair[n] == pair)


def _lay_debts(d: Draft, pair: int) -> None:
    """17.5, 17.6: all eight in and the turn not lost: what is owed is laid out at once and play goes on."""
    for n, side in enumerate(d.core.seats):
        if d.core.pair[n] == pair and d.set.debt[n]:
            d.lay_penalties(side, 0)
