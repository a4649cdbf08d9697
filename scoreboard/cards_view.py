"""The judge's cards: the last entries of the match as they stand now, newest first, with what can be done about each."""

from __future__ import annotations

from typing import Any, Final

from scoreboard.ruling_view import alternatives_of, assumed_words, clauses_of, entries_now, in_words, margin_view, state_of, title_of
from scoreboard.state import MatchView, Snapshot
from scoreboard.words import Lang, word

MAX_READINGS: Final = 6  # buttons a card has room for


def cards_view(now: Snapshot, lang: Lang) -> dict[str, Any]:
    """Every kept entry of the match being played, with its newest ruling."""
    match = now.match or MatchView()
    cards = [_card(entry, ruling, corrected, match, lang) for entry, (ruling, corrected) in sorted(entries_now(now).items(), reverse=True)]
    return {"cards": cards, "sides": {side: player.name for side, player in match.players.items()}}


def _card(entry: int, ruling: dict[str, Any], corrected: bool, match: MatchView, lang: Lang) -> dict[str, Any]:
    state = state_of(ruling)
    readings = [
        {"label": assumed_words(reading, ruling, match, lang), "assume": reading.get("assume") or {}, "leads": _leads(reading, match, lang)}
        for reading in alternatives_of(ruling)[:MAX_READINGS]
    ]
    return {
        "entry": entry,
        "number": word("entry", lang, n=entry),
        "state": state,
        "title": title_of(state, ruling, lang),
        "clauses": clauses_of(ruling),
        "text": "" if state == "review" else in_words(ruling, match, lang, "full"),
        "tag": word("corrected", lang) if corrected else "",
        "margin": margin_view(ruling, lang),
        "readings": readings,
        "stroke": ruling.get("kind", "stroke") != "judge",
    }


def _leads(reading: dict[str, Any], match: MatchView, lang: Lang) -> str:
    return in_words(reading.get("ruling") or {}, match, lang)
