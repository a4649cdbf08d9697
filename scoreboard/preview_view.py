"""What a command would change, before it is sent: the match before and after, and the entries that would be ruled otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from rules.table import SIDES
from scoreboard.ruling_view import in_words, team_name_at
from scoreboard.state import MatchView, read_match
from scoreboard.words import Lang, word

MAX_ENTRIES: Final = 10  # changed rulings the window has room for; a longer list says how many more


def preview_view(answer: dict[str, Any], lang: Lang) -> dict[str, Any]:
    """The table's answer to a preview as rows of [what, before, after], and changed entries in words."""
    ruling = answer.get("ruling") or {}
    before, after = read_match(answer.get("before") or {}), read_match(answer.get("after") or {})
    rows = _rows(before, after, lang)
    changed = [again for again in ruling.get("refolded") or [] if isinstance(again, dict)]
    entries = [
        [word("entry", lang, n=again.get("entry")), in_words(again.get("ruling") or {}, after, lang)] for again in changed[:MAX_ENTRIES]
    ]
    if len(changed) > MAX_ENTRIES:
        entries[-1] = ["", word("more", lang, n=len(changed) - MAX_ENTRIES + 1)]
    return {
        "text": in_words(ruling, after, lang),
        "rows": rows,
        "entries": entries,
        "nothing": word("changes_nothing", lang) if not rows and not entries else "",
    }


def _rows(before: MatchView, after: MatchView, lang: Lang) -> list[list[str]]:
    rows = [
        [word("set_word", lang), str(before.set_number), str(after.set_number)],
        [word("turn_now", lang), _turn(before, lang), _turn(after, lang)],
    ]
    counts: list[tuple[str, Callable[[MatchView], dict[Any, int]]]] = [
        ("sets", lambda m: m.sets_won),
        ("left", lambda m: m.on_table),
        ("debt", lambda m: m.debt),
        ("warnings", lambda m: m.warnings),
    ]
    for side in SIDES:
        if side in before.players:
            name = before.players[side].name
            # Players may stand elsewhere afterwards: a set won changes sides.
            then = next((s for s, player in after.players.items() if player.name == name), side)
            rows += [[f"{word(key, lang)} · {name}", str(of(before).get(side, "–")), str(of(after).get(then, "–"))] for key, of in counts]
            rows.append([f"{word('stands', lang)} · {name}", side, then])
    rows.append([word("to_place", lang), str(len(before.placing or ())), str(len(after.placing or ()))])
    rows.append([word("match_word", lang), _going(before, lang), _going(after, lang)])
    return [row for row in rows if row[1] != row[2]]


def _turn(match: MatchView, lang: Lang) -> str:
    return "–" if match.turn is None else team_name_at(match, match.turn, lang)


def _going(match: MatchView, lang: Lang) -> str:
    return word("is_over" if match.over else "is_played", lang)
