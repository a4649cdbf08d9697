"""Every reading of an entry folded: one ruling where they agree, a review with its alternatives where they do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from rules.reading import Reading
from rules.ruling import Alternative, Ruling
from rules.state import Core

MOST_QUESTIONS: Final = 6  # 64 readings; more open questions on one stroke means the measurement is broken, not close

Evaluate = Callable[[Reading], tuple[Core, Ruling]]


class Leaf(msgspec.Struct, frozen=True):
    """One reading, and where it leads."""

    assume: dict[str, str]
    core: Core
    ruling: Ruling

    def same(self, other: Leaf, key: str) -> bool:
        """Whether both lead to the same ruling, told apart by nothing but the answer to `key`."""
        mine = {k: v for k, v in self.assume.items() if k != key}
        theirs = {k: v for k, v in other.assume.items() if k != key}
        return mine == theirs and _bare(self.ruling) == _bare(other.ruling)


def _bare(ruling: Ruling) -> Ruling:
    return msgspec.structs.replace(ruling, seen=msgspec.UNSET, margins=msgspec.UNSET)


def leaves(evaluate: Evaluate, assume: dict[str, str], given: dict[str, str], questions: int = MOST_QUESTIONS) -> list[Leaf]:
    """All readings that lead to different rulings, the likeliest first; `given` are answers that a judge has given."""
    reading = Reading({**given, **assume})
    core, ruling = evaluate(reading)
    if not reading.asked or not questions:
        return [Leaf(assume, core, ruling)]
    key, options = next(iter(reading.asked.items()))
    branches = [leaves(evaluate, {**assume, key: option}, given, questions - 1) for option in options]
    first = branches[0]
    if all(len(b) == len(first) and all(x.same(y, key) for x, y in zip(b, first, strict=True)) for b in branches[1:]):
        return [Leaf({k: v for k, v in leaf.assume.items() if k != key}, leaf.core, leaf.ruling) for leaf in first]
    return [leaf for branch in branches for leaf in branch]


def ruling_of(found: list[Leaf]) -> Ruling:
    """The ruling that all readings share, or a review in which what they do not share is null."""
    likeliest = found[0].ruling
    if len(found) == 1:
        return likeliest
    shared: dict[str, Any] = {
        name: value if all(getattr(leaf.ruling, name) == value for leaf in found) else None
        for name in ("lawful", "faults", "turn", "next", "next_reason", "penalty_pieces", "debt", "place", "restore")
        + ("on_table", "pocketed", "warnings", "set", "match")
        for value in (getattr(likeliest, name),)
    }
    alternatives = [Alternative(assume=leaf.assume, ruling=leaf.ruling) for leaf in found]
    return msgspec.structs.replace(likeliest, status="review", alternatives=alternatives, **shared)
