"""19.3, 18.1.g, 17.1.r: thirty seconds for a stroke."""

from __future__ import annotations

from typing import Final

import msgspec

from rules.draft import Draft
from rules.facts import Time
from rules.ruling import Seen
from rules.state import player_at, put
from rules.table import Side

LIMIT_S: Final = 30.0  # 19.3
GRACE_S: Final = 5.0  # 19.3: told to strike within five seconds


def overrun(d: Draft, event: Time, side: Side) -> None:
    """First overrun in the match: told to strike within 5 s, else the turn; every later one: turn and penalty piece."""
    if side != d.set.turn or event.elapsed_s <= LIMIT_S:
        return
    d.seen = d.seen or Seen(elapsed_s=event.elapsed_s)
    if d.set.told_at_s is not None:
        if event.elapsed_s - d.set.told_at_s > GRACE_S:
            d.reasons.append("18.1.g")
        return
    if not count_overrun(d, side):
        d.told.append("19.3")
        d.set = msgspec.structs.replace(d.set, told_at_s=event.elapsed_s)


def count_overrun(d: Draft, side: Side) -> bool:
    """One more overrun of this player; whether it was not the first, and so is sanctioned (17.1.r)."""
    player = player_at(d.core, side)
    count = d.core.overruns[player]
    d.core = msgspec.structs.replace(d.core, overruns=put(d.core.overruns, player, count + 1))
    if count:
        d.penalise("17.1.r", side)
    return count > 0
