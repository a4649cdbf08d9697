"""13.5-13.9, 17.1.h, 17.1.p: what goes back after a penal stroke; 16.1.a when two own pieces left the dark area."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from rules.facts import Disc
from rules.reading import Reading
from rules.table import Colour, Side, Zone


class Backs(msgspec.Struct, frozen=True):
    """Pieces to restore with the clause for each, and the own pieces knocked out of the dark area."""

    back: tuple[tuple[Disc, str], ...]
    own_out: tuple[str, ...]


def after_penal(
    before: dict[str, Disc],
    after: dict[str, Disc],
    over: Iterable[str],
    touched: Iterable[str],
    side: Side,
    own: Colour,
    driven_zones: tuple[Zone, ...],
    opponent_dark: tuple[Zone, ...],
    direct_over_stays: bool,
    moved: frozenset[str],
    reading: Reading,
) -> Backs:
    """What a penal stroke restores.

    `driven_zones`: the opponents' zones that may not be driven into (13.6, 21.4); `opponent_dark`: those in which their pieces
    were dark before (13.9); `direct_over_stays`: 002, a direct stroke's over-rail pieces are laid in the centre instead.
    """
    zones: tuple[Zone, ...] = (side, "circle")
    over = set(over)
    touched = set(touched)
    back: list[tuple[Disc, str]] = []
    own_out: list[str] = []
    for disc in before.values():
        if disc.kind == "striker" or disc.id not in moved:
            continue
        now = after.get(disc.id)
        if disc.kind == own:
            if not reading.dark(disc, zones):
                continue
            if now is None or not reading.dark(now, zones):
                own_out.append(disc.id)
                back.append((disc, "13.8"))
            elif disc.id in touched:
                back.append((disc, "17.1.h"))
        elif now is None:
            if disc.id in over and not direct_over_stays:
                back.append((disc, "17.1.p"))
        elif reading.dark(now, driven_zones) and not reading.dark(disc, opponent_dark):
            back.append((disc, "13.6"))
    return Backs(tuple(back), tuple(own_out))
