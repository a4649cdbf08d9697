"""The judge's cards: the last entries of the match as they stand now, newest first, with what can be done about each."""

from __future__ import annotations

from typing import Any, Final

from rules.table import SIDES
from scoreboard.ruling_view import (
    alternatives_of,
    assumed_words,
    clauses_of,
    entries_now,
    in_words,
    margin_view,
    state_of,
    team_name_at,
    title_of,
)
from scoreboard.state import MatchView, Snapshot
from scoreboard.words import WORDS, Lang, word

MAX_READINGS: Final = 6  # buttons a card has room for


def cards_view(now: Snapshot, lang: Lang) -> dict[str, Any]:
    """Every kept entry of the match being played, with its newest ruling."""
    match = now.match or MatchView()
    entries = entries_now(now)
    commands = {
        n: ruling["judge"] for n, (ruling, _) in entries.items() if isinstance(ruling.get("judge"), dict) and "refused" not in ruling
    }
    taken_back: set[object] = set()
    stood_by: dict[object, str] = {}
    for n in sorted(commands, reverse=True):
        command = commands[n]
        if n in taken_back:
            continue  # only later commands take earlier ones back, so the last is looked at first
        if command.get("command") == "void":
            taken_back.add(command.get("entry"))
        elif command.get("command") == "confirm":
            stood_by[command.get("entry")] = str(command.get("by", ""))
    pieces = dict(now.pieces)
    cards = []
    for entry, (ruling, corrected) in sorted(entries.items(), reverse=True):
        tag = word("taken_back", lang) if entry in taken_back else word("corrected", lang) if corrected else ""
        if entry in stood_by and entry not in taken_back:
            tag = word("confirmed_by", lang, who=stood_by[entry])
        card = _card(entry, ruling, match, lang)
        cards.append(card | {"tag": tag, "gone": entry in taken_back, "pieces": pieces.get(entry, ())})
    return {"cards": cards, "sides": {side: player.name for side, player in match.players.items()}}


def _card(entry: int, ruling: dict[str, Any], match: MatchView, lang: Lang) -> dict[str, Any]:
    state = state_of(ruling)
    command = ruling.get("judge")
    readings = [
        {"label": assumed_words(reading, ruling, match, lang), "assume": reading.get("assume") or {}, "leads": _leads(reading, match, lang)}
        for reading in alternatives_of(ruling)[:MAX_READINGS]
    ]
    return {
        "entry": entry,
        "number": word("entry", lang, n=entry),
        "state": state,
        "title": command_words(command, match, lang) if isinstance(command, dict) else title_of(state, ruling, lang),
        "clauses": clauses_of(ruling),
        "text": "" if state == "review" else in_words(ruling, match, lang, "full"),
        "margin": margin_view(ruling, lang),
        "readings": readings,
        "stroke": ruling.get("kind", "stroke") == "stroke",
    }


def command_words(command: dict[str, Any], match: MatchView, lang: Lang) -> str:
    """What a judge has done, about whom, by which clause, and who did it."""
    name = str(command.get("command", ""))
    said = [word(name, lang) if name in WORDS else name]
    side = next((side for side in SIDES if side == command.get("side")), None)
    if side is not None:
        said.append(team_name_at(match, side, lang))
    if command.get("entry") is not None:
        said.append(word("entry", lang, n=command["entry"]))
    if command.get("clause"):
        said.append(str(command["clause"]))
    if command.get("by"):
        said.append(f"({command['by']})")
    return " · ".join(said)


def _leads(reading: dict[str, Any], match: MatchView, lang: Lang) -> str:
    return in_words(reading.get("ruling") or {}, match, lang)
