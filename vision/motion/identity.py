"""Which of the discs seen at rest is which of those known: by kind and place, never by guessing between equal discs in motion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np
from scipy.optimize import linear_sum_assignment

from rules.facts import SeenDisc
from rules.table import Kind
from vision.motion.track import Track

SAME_MM: Final = 10.0  # a third of a piece: a disc followed to rest is found within a millimetre, another one is 30 mm away
_LETTER: Final[dict[Kind, str]] = {"red": "r", "black": "b", "striker": "striker"}


def match_places(seen: list[SeenDisc], tracks: Iterable[Track], reach_mm: float = SAME_MM) -> dict[int, str]:
    """Index of a seen disc -> id of the known disc at its place, one to one, of the same kind."""
    known = list(tracks)
    if not seen or not known:
        return {}
    far = 1e6
    cost = np.full((len(seen), len(known)), far)
    for i, disc in enumerate(seen):
        for j, track in enumerate(known):
            away = float(np.hypot(disc.x_mm - track.at_mm[0], disc.y_mm - track.at_mm[1]))
            if disc.kind == track.kind and away <= reach_mm:
                cost[i, j] = away
    rows, columns = linear_sum_assignment(cost)
    return {int(i): known[int(j)].id for i, j in zip(rows, columns, strict=True) if cost[i, j] < far}


def new_id(kind: Kind, taken: Mapping[str, Track]) -> str:
    """A free id for a disc that has never been seen: r1, r2 … b1 … or striker."""
    letter = _LETTER[kind]
    if kind == "striker":
        return letter
    number = 1
    while f"{letter}{number}" in taken:
        number += 1
    return f"{letter}{number}"
