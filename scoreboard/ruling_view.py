"""A ruling as the page shows it: its state, a line of words, clauses, what to place where, and the margin that decided.

The words are the rule book's own (`rules.words`); this module only chooses which of them go where.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from rules.table import HALF_MM, OPPOSITE, SIDES, Side
from rules.words import PHRASES, clause_words, say
from scoreboard.placing import Target, targets, wanted
from scoreboard.state import MatchView, Snapshot
from scoreboard.words import Lang, word

State = Literal["none", "lawful", "fault", "review", "no_call", "won", "note"]
NO_CALL: Final = frozenset({"no_call", "undecided"})
KIND_OF_ID: Final = {"r": "red", "b": "black"}  # contract: ids begin with the colour's letter
NO_PIECE: Final = frozenset({"shaken", "returned", "placing"})  # questions of a review that are about no piece
MAX_LINES: Final = 4  # what fits the panel from 5 m; the drawing shows every place
SIGMAS: Final = 2.0  # contract: the band that is too close to call
WHOLE_FROM_MM: Final = 10.0  # from here on tenths of a millimetre help nobody
NEAR_MM: Final = 60.0  # a margin beyond this decides nothing and isn't drawn


def team_name(match: MatchView, side: Side, lang: Lang) -> str:
    """The player at a side, in doubles the pair, else the side's own name."""
    sides = (side, OPPOSITE[side]) if match.format == "doubles" else (side,)
    names = [match.players[s].name for s in sides if s in match.players and match.players[s].name]
    return " / ".join(names) or f"{word('player', lang)} {PHRASES[lang][f'side_{side}']}"


def names_of(match: MatchView) -> dict[Side, str]:
    """Names by the side where the players stand now."""
    return {side: player.name for side, player in match.players.items() if player.name}


def shown_ruling(record: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """The ruling that people want to see, and whether it replaces an earlier one: after a judge's edit that is the corrected one."""
    again = record.get("refolded")
    last = again[-1] if isinstance(again, list) and again else None
    if isinstance(last, dict) and isinstance(last.get("ruling"), dict):
        return last["ruling"], True
    return record, False


def entries_now(now: Snapshot) -> dict[int, tuple[dict[str, Any], bool]]:
    """The kept entries of the match being played: each with its newest ruling, and whether a judge's edit made it."""
    match_id = now.match.id if now.match else ""
    newest: dict[int, tuple[dict[str, Any], bool]] = {}
    for record in now.rulings:
        if not match_id or record.get("match_id") in (None, match_id):
            newest[record["entry"]] = (record, False)
            newest.update({again["entry"]: (again["ruling"], True) for again in record.get("refolded") or []})
    return newest


def series_of(now: Snapshot) -> int:
    """Pieces pocketed in a row by the player at turn, as far back as rulings are kept."""
    pocketed = 0
    for _, (ruling, _corrected) in sorted(entries_now(now).items(), reverse=True):
        if ruling.get("turn") != "continues" or ruling.get("set") or ruling.get("match"):
            break
        if ruling.get("kind") == "stroke":
            pocketed += len(ruling.get("pocketed") or [])
    return pocketed


def state_of(ruling: dict[str, Any]) -> State:
    """How the panel looks; review and "no call" never look like "no fault"."""
    status = ruling.get("status", "final")
    if status == "review":
        return "review"
    if status in NO_CALL:
        return "no_call"
    if ruling.get("match") or (ruling.get("set") or {}).get("result") == "won":
        return "won"
    if ruling.get("faults") or ruling.get("lawful") is False:
        return "fault"
    if ruling.get("kind", "stroke") != "stroke":
        return "note"
    return "lawful" if ruling.get("lawful") is True else "no_call"


def ruling_view(now: Snapshot, lang: Lang) -> dict[str, Any]:
    """The newest ruling, or an empty state when there is none yet."""
    if not now.rulings:
        return _panel("none", word("no_ruling", lang), word("no_ruling_text", lang))
    match = now.match or MatchView()
    ruling, corrected = shown_ruling(now.rulings[-1])
    state = state_of(ruling)
    is_current = not match.id or ruling.get("match_id") in (None, match.id)  # what an ended match asked for is nothing to lay out now
    held = now.camera.held if now.camera is not None else None
    known = now.pieces[-1][1] if now.pieces else None
    where = targets(wanted(ruling, match.placing), now.discs, held, known) if is_current and not match.over else []
    to_do = [(_to_do(t, lang), t.done) for t in where]
    lines = [(said, False) for said in _readings(ruling, match, lang)] if state == "review" else to_do
    waits = match.guided and any(not t.accepted for t in where)
    following = next((t for t in where if not t.done), None)
    return _panel(
        state,
        title_of(state, ruling, lang),
        _text(state, ruling, match, lang),
        clauses=clauses_of(ruling),
        lines=_fitting(lines, lang),
        targets=[[t.kind, t.x_mm, t.y_mm, t.from_x_mm, t.from_y_mm, t.done, t.about] for t in where],
        following="" if following is None else _how_far(following, lang) or _to_do(following, lang),
        margin=margin_view(ruling, lang),
        tag=word("corrected", lang) if corrected else "",
        to_do=to_do,
        waits=word("stroke_waits", lang) if waits else "",
    )


def _panel(state: State, title: str, text: str, **more: object) -> dict[str, Any]:
    return {
        "state": state,
        "title": title,
        "text": text,
        "clauses": [],
        "lines": [],
        "targets": [],
        "following": "",
        "margin": None,
        "tag": "",
        "to_do": [],
        "waits": "",
        **more,
    }


def _fitting(lines: list[tuple[str, bool]], lang: Lang) -> list[tuple[str, bool]]:
    if len(lines) <= MAX_LINES:
        return lines
    return [*lines[: MAX_LINES - 1], (word("more", lang, n=len(lines) - MAX_LINES + 1), False)]


def title_of(state: State, ruling: dict[str, Any], lang: Lang) -> str:
    """The verdict in a word or two."""
    phrases = PHRASES[lang]
    ended, result = ruling.get("match"), ruling.get("set")
    if state == "won" and isinstance(ended, dict):
        score = ":".join(str(n) for n in ended.get("sets") or [])
        return phrases["match_won" if ended.get("winner") else "match_drawn"].format(who=ended.get("player") or "", score=score)
    if state == "won" and isinstance(result, dict):
        return phrases["set_won"].format(who=result.get("player") or "")
    if state == "note":
        return word("judge" if ruling.get("kind") == "judge" else "between", lang)
    if state == "no_call":
        return word("no_call", lang)
    return phrases[state]


def _text(state: State, ruling: dict[str, Any], match: MatchView, lang: Lang) -> str:
    if state == "no_call":
        return word("no_call_text", lang)
    if state == "review":
        return word("review_text", lang)
    if state == "note":
        return in_words(ruling, match, lang, "full")
    phrases = PHRASES[lang]
    said = [_capital(clause_words(clause, lang)) for clause in clauses_of(ruling)[:1]]
    penalty = ruling.get("penalty_pieces") or 0
    if penalty:
        said.append(phrases["penalty_one"] if penalty == 1 else phrases["penalty_many"].format(n=penalty))
    if (ruling.get("set") or {}).get("result") == "replay":
        said.append(phrases["set_replay"])
    side = next((s for s in SIDES if s == ruling.get("next")), None)
    if side is not None and ruling.get("match") is None and ruling.get("turn") in ("continues", "passes", "interrupted"):
        key = "passes" if ruling.get("set") else str(ruling["turn"])
        said.append(phrases[key].format(who=team_name_at(match, side, lang)))
    return " · ".join(s for s in said if s)


def in_words(ruling: dict[str, Any], match: MatchView, lang: Lang, form: Literal["short", "full"] = "short") -> str:
    """The rule book's own sentence; empty for a ruling of a newer kind that it can't read."""
    try:
        return say(ruling, lang, form, names_of(match))
    except msgspec.ValidationError:
        return ""


def team_name_at(match: MatchView, side: Side, lang: Lang) -> str:
    """The one player who stands at a side."""
    player = match.players.get(side)
    return player.name if player and player.name else f"{word('player', lang)} {PHRASES[lang][f'side_{side}']}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# --- a review's readings --------------------------------------------------------------------------------------------


def alternatives_of(ruling: dict[str, Any]) -> list[dict[str, Any]]:
    """The readings of a review, as records."""
    found = ruling.get("alternatives")
    return [r for r in found if isinstance(r, dict)] if isinstance(found, list) and ruling.get("status") == "review" else []


def disputed(ruling: dict[str, Any]) -> frozenset[str]:
    """Ids of the discs on which a review turns."""
    return frozenset(i for r in alternatives_of(ruling) for key in r.get("assume") or {} if key not in NO_PIECE for i in _discs_of(key))


def _discs_of(key: str) -> list[str]:
    """The discs that a question is about: `r1`, `r1+b2`, or `r1 NE` for one and its pocket."""
    return key.partition(" ")[0].split("+")


def assumed_words(reading: dict[str, Any], ruling: dict[str, Any], match: MatchView, lang: Lang) -> str:
    """What a reading takes for seen: "Red piece dark"; ids are named only where several pieces are in question."""
    several = len(disputed(ruling)) > 1
    phrases, names, said = PHRASES[lang], names_of(match), []
    for key, answer in (reading.get("assume") or {}).items():
        about = [_piece(i, several, lang) for i in _discs_of(key)]
        subject = phrases[key] if key in ("shaken", "placing") else word("striker", lang) if key == "returned" else " + ".join(about)
        who = next((name for side, name in names.items() if side == answer), str(answer))
        said.append(f"{subject} {phrases.get(str(answer), _piece(who, several, lang))}")
    return _capital(", ".join(said))


def _piece(name: str, several: bool, lang: Lang) -> str:
    if name == "striker":
        return word("striker", lang)
    kind = KIND_OF_ID.get(name[:1]) if name[1:].isdigit() else None
    if kind is None:
        return name
    return f"{word(f'piece_{kind}', lang)} {name}" if several else word(f"piece_{kind}", lang)


def _readings(ruling: dict[str, Any], match: MatchView, lang: Lang) -> list[str]:
    out = []
    for reading in alternatives_of(ruling):
        leads_to = reading.get("ruling") or {}
        named = ", ".join(clauses_of(leads_to))
        verdict = title_of(state_of(leads_to), leads_to, lang)
        out.append(f"{assumed_words(reading, ruling, match, lang)}: {verdict}{f' ({named})' if named else ''}")
    return out


def clauses_of(ruling: dict[str, Any]) -> list[str]:
    """Clauses worth naming, the weightiest first: what ended match or set, the faults; else why the turn passes."""
    ends = [part.get("clause") for part in (ruling.get("match"), ruling.get("set")) if isinstance(part, dict)]
    faults = [fault.get("clause") for fault in ruling.get("faults") or []]
    why = ruling.get("next_reason") or [] if ruling.get("turn") != "continues" else []
    return list(dict.fromkeys(str(clause) for clause in [*ends, *faults] or why if clause))


# --- placing and margins ---------------------------------------------------------------------------------------------


def _to_do(target: Target, lang: Lang) -> str:
    text = word(target.verb, lang, what=word(f"place_{target.kind}", lang))
    if target.clause:
        text += f" ({target.clause})"
    said = _how_far(target, lang)
    return f"{text} – {said}" if said else text


def _how_far(target: Target, lang: Lang) -> str:
    """How far the disc is and which way it has to go; nothing where none is near."""
    if target.done:
        return word("in_place", lang)
    digits = [0 if target.about or mm >= WHOLE_FROM_MM else 1 for _, mm in target.off_mm]
    parts = [
        word("toward", lang, mm=f"{mm:.{n}f}", side=PHRASES[lang][f"side_{side}"])
        for (side, mm), n in zip(target.off_mm, digits, strict=True)
    ]
    if target.about and target.from_x_mm is not None:
        return word("in_hand", lang, where=", ".join(parts)) if parts else word("in_hand_over", lang)
    return f"{word('off_by', lang)} {', '.join(parts)}" if parts else ""


def margin_view(ruling: dict[str, Any], lang: Lang) -> dict[str, Any] | None:
    """The clearance that decided dark or light, with its uncertainty; None where none was near enough to matter."""
    found = ruling.get("margins")
    records = [m for m in found if isinstance(m, dict)] if isinstance(found, list) else []
    nearest = min(records, key=lambda m: abs(_number(m.get("clearance_mm"), HALF_MM)), default={})
    clearance_mm, sigma_mm = _number(nearest.get("clearance_mm"), HALF_MM), _number(nearest.get("sigma_mm"), 0.0)
    if abs(clearance_mm) > NEAR_MM:
        return None
    how = "close" if abs(clearance_mm) <= SIGMAS * sigma_mm else "dark" if clearance_mm > 0 else "light"
    zone = word("circle" if nearest.get("zone") == "circle" else "own_zone", lang)
    return {
        "mm": round(clearance_mm, 2),
        "sigma2": round(SIGMAS * sigma_mm, 2),
        "how": how,
        "text": f"{_piece(str(nearest.get('id', '')), False, lang)} · {zone}",
        "value": f"{clearance_mm:+.1f} ± {SIGMAS * sigma_mm:.1f} mm".replace("-", "\u2212").replace(" ", "\u00a0"),
        "verdict": word("close", lang) if how == "close" else PHRASES[lang][how],
    }


def _number(value: object, otherwise: float) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else otherwise
