"""All tables of a broker in one list: who plays, how it stands, who needs a judge."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from scoreboard.ruling_view import alternatives_of, shown_ruling, state_of, title_of
from scoreboard.state import Snapshot
from scoreboard.view import link_view, match_view
from scoreboard.words import Lang


def natural(name: str) -> list[tuple[int, str]]:
    """Sort key: table 2 before table 10."""
    return [(int(part), "") if part.isdigit() else (-1, part.lower()) for part in re.split(r"(\d+)", name) if part]


def hall_view(tables: Mapping[str, Snapshot], lang: Lang, at_s: float) -> dict[str, Any]:
    """One record a table, in natural order of their names."""
    return {"tables": [_table(name, tables[name], lang, at_s) for name in sorted(tables, key=natural)]}


def needs_judge(now: Snapshot) -> bool:
    """Whether the last ruling waits for a judge, or could not be made."""
    if not now.rulings:
        return False
    ruling = shown_ruling(now.rulings[-1])[0]
    return bool(alternatives_of(ruling)) or state_of(ruling) in ("review", "no_call")


def _table(name: str, now: Snapshot, lang: Lang, at_s: float) -> dict[str, Any]:
    why = link_view(now, at_s)["why"]
    match = match_view(now, lang)
    ruling = shown_ruling(now.rulings[-1])[0] if now.rulings else None
    return {
        "name": name,
        "link": "live" if why == "" else "waiting" if why == "waiting" else "stale",
        "why": why,
        "judge": needs_judge(now),
        "set": match["set"],
        "teams": [{key: team[key] for key in ("name", "colour", "sets", "turn")} for team in match["teams"]],
        "last": "" if ruling is None else title_of(state_of(ruling), ruling, lang),
        "state": "none" if ruling is None else state_of(ruling),
    }
