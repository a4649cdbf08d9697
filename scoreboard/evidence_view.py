"""Clips and stills as the pages show them: where each is, or why there is none."""

from __future__ import annotations

from typing import Any, Final

from rules.facts import Player
from rules.table import SIDES, Side
from rules.words import clause_words
from scoreboard.ruling_view import clauses_of, in_words, margin_view, shown_ruling, state_of, title_of
from scoreboard.state import MatchView, Snapshot
from scoreboard.words import WORDS, Lang, word

SAID: Final = 24  # as many entries as the table tells of


def evidence_view(now: Snapshot, lang: Lang, base: str, *, is_here: bool) -> dict[str, Any]:
    """What there is for the ruling shown and for each kept entry; `is_here`: this server has the files, below `base`."""
    told = {str(piece.get("evidence")): piece for piece in now.evidence}
    match_id = now.match.id if now.match else ""
    entries: dict[int, dict[str, Any]] = {}
    for piece in now.evidence:
        if not match_id or piece.get("match_id") in (None, match_id):
            entries[_entry(piece)] = _item(str(piece.get("evidence")), piece, lang, base, is_here)
    for record in now.rulings:
        name, missing = record.get("evidence"), record.get("evidence_missing")
        if isinstance(name, str):
            entries[_entry(record)] = _item(name, told.get(name), lang, base, is_here)
        elif isinstance(missing, str) and missing != "judge" and _entry(record) not in entries:
            entries[_entry(record)] = _none(missing, lang)
    last = _entry(shown_ruling(now.rulings[-1])[0]) if now.rulings else 0
    newest = sorted(entries)[-SAID:]
    return {"last": entries.get(last), "entries": {str(entry): entries[entry] for entry in newest}}


def _entry(record: dict[str, Any]) -> int:
    found = record.get("entry")
    return found if isinstance(found, int) else 0


def _item(name: str, piece: dict[str, Any] | None, lang: Lang, base: str, is_here: bool) -> dict[str, Any]:
    if piece is None:
        return _none("waiting", lang) | {"name": name}
    if piece.get("missing"):
        return _none(str(piece["missing"]), lang)
    if not is_here:
        return _none("elsewhere", lang) | {"name": name}
    grounds = piece.get("protected")
    kept = [str(ground) for ground in grounds] if isinstance(grounds, list) else []
    return {
        "name": name,
        "why": "",
        "page": f"{base}/evidence/{name}?lang={lang}",
        "still": f"{base}/evidence/{name}/still.jpg",
        "clip": f"{base}/evidence/{name}/{piece.get('clip', 'clip.mp4')}",
        "moment_s": piece.get("moment_s", 0.0),
        "kept": [word(f"kept_{ground}", lang) for ground in kept if f"kept_{ground}" in WORDS],
    }


def _none(reason: str, lang: Lang) -> dict[str, Any]:
    key = f"no_clip_{reason}" if f"no_clip_{reason}" in WORDS else "no_clip_failed"
    return {"name": "", "why": word(key, lang), "page": "", "still": "", "clip": "", "moment_s": 0.0, "kept": []}


def about_view(piece: dict[str, Any], lang: Lang) -> dict[str, Any]:
    """One piece with its ruling in words, for its page and for the file that is taken home."""
    ruling: dict[str, Any] = piece.get("ruling") or {}
    names = {side: str(name) for side, name in (piece.get("names") or {}).items() if side in SIDES}
    match = MatchView(players={_side(side): Player(name=name, colour="red") for side, name in names.items()})
    state = state_of(ruling)
    return {
        "name": piece["evidence"],
        "table": piece.get("table", ""),
        "match": piece.get("match_id") or "",
        "entry": piece.get("entry", 0),
        "at": piece.get("at") or "",
        "state": state,
        "title": title_of(state, ruling, lang),
        "clauses": [(clause, clause_words(clause, lang)) for clause in clauses_of(ruling)],
        "text": in_words(ruling, match, lang, "full"),
        "margin": margin_view(ruling, lang),
        "players": list(names.values()),
        "corrected": bool(piece.get("corrected")),
        "kept": [word(f"kept_{p.get('ground')}", lang) for p in piece.get("protected") or [] if f"kept_{p.get('ground')}" in WORDS],
        "film": film_of(piece),
    }


def film_of(piece: dict[str, Any]) -> dict[str, Any]:
    """What the player needs: the clip, each frame's time in it (microseconds), and which frame the ruling names."""
    clip, moment = piece.get("clip") or {}, piece.get("moment") or {}
    return {
        "name": piece["evidence"],
        "file": clip.get("file", ""),
        "times_us": [at_us for _, at_us in clip.get("frames") or []],
        "moment": moment.get("index", 0),
        "width": clip.get("width", 0),
        "height": clip.get("height", 0),
    }


def _side(text: str) -> Side:
    return next(side for side in SIDES if side == text)
