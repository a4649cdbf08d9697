"""18.1, 12.9, 12.10: why a stroke costs the turn."""

from __future__ import annotations

from rules.facts import Returned
from rules.reading import SIGMAS, Reading
from rules.rulesets import Ruleset


def came_back(events: list[Returned], rules: Ruleset, reading: Reading) -> tuple[bool, float | None]:
    """18.1.e: whether the striker came back over its own zone line, and by how many mm it passed the limit."""
    if not events:
        return False, None
    deepest = max(events, key=lambda e: e.depth_mm)
    margin = deepest.depth_mm - rules.return_limit_mm
    # The line may just vanish (12.9) at the limit itself; in 002 it just shows there.
    past = margin > 0 if rules.return_limit_mm > 0 else margin >= 0
    if deepest.sigma_mm and abs(margin) <= SIGMAS * deepest.sigma_mm:
        return reading.ask("returned", ("past", "short") if past else ("short", "past")) == "past", margin
    return past, margin


def reasons(own_in: bool, opponents_in: bool, over_rail: bool, returned: bool, dark_before: bool, rules: Ruleset) -> list[str]:
    """The clauses of 18.1 that a stroke's course fulfils, penalties aside."""
    out = []
    if not own_in:
        out.append("18.1.a")
    if own_in and opponents_in:
        out.append("18.1.b")
    if over_rail:
        out.append("18.1.c")
    if returned and not (dark_before and rules.dark_piece_excuses_return):
        out.append("18.1.e")
    return out
