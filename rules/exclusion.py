"""3.2, 14: what lost matches add up to in a competition. The judges exclude; here is when, and what then counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rules.ruling import MatchResult

LOSSES_EXCLUDE: Final = 2  # 3.2, 14.2, 14.3

# The clause that a match was lost under, and the exclusion to which two of its kind lead.
SECOND_LOSS: Final = {"3.2": "14.3", "15.1": "14.3", "15.2": "14.2"}
# Clauses that exclude at once: gross misconduct, a greeting refused, and an exclusion that the judge has named outright.
AT_ONCE: Final = {"3.5": "14.4", "14": "14", "14.1": "14.1", "14.2": "14.2", "14.3": "14.3", "14.4": "14.4"}
NOT_APPEARED: Final = frozenset({"3.2", "14.3", "15.1"})


def excluded(lost: Iterable[str]) -> str | None:
    """The clause of 14 that excludes a player who has lost matches under these clauses, in order; None while in the competition."""
    counts = {"14.2": 0, "14.3": 0}
    for clause in lost:
        if clause in AT_ONCE:
            return AT_ONCE[clause]
        kind = SECOND_LOSS.get(clause)
        if kind is not None:
            counts[kind] += 1
            if counts[kind] == LOSSES_EXCLUDE:
                return kind
    return None


def points_annulled(played: int, matches: int) -> bool:
    """3.2: an excluded player who has played half of the matches or fewer keeps no points; otherwise the rest are lost."""
    return played * 2 <= matches


def sets_count(result: MatchResult) -> bool:
    """3.2: sets do not count for the winner of a match that the other did not appear for."""
    return result.clause not in NOT_APPEARED
