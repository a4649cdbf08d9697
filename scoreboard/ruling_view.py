"""A ruling as the page shows it: its state, one line of words, clauses, what to place where, and the margin that decided."""

from __future__ import annotations

from typing import Any, Final, Literal

from rules.facts import Contact, Disc, Stroke
from rules.table import HALF_MM, OPPOSITE, SIDES, Side, clearances_mm
from scoreboard.placing import Target, targets
from scoreboard.state import MatchView, Ruled, Snapshot
from scoreboard.words import Lang, word

State = Literal["none", "lawful", "fault", "review", "no_call", "won"]
NO_CALL: Final = frozenset({"no_call", "no-call", "undecided", "none"})
KIND_OF_ID: Final = {"r": "red", "b": "black"}  # contract: ids begin with the colour's letter
MAX_LINES: Final = 4  # what fits the panel from 5 m; the drawing shows every place
SIGMAS: Final = 2.0  # contract: the band that is too close to call
NEAR_MM: Final = 60.0  # a margin beyond this decides nothing and isn't drawn


def team_name(match: MatchView, side: Side, lang: Lang) -> str:
    """The player at a side, in doubles the pair, else the side's own name."""
    sides = (side, OPPOSITE[side]) if match.format == "doubles" else (side,)
    names = [match.players[s].name for s in sides if s in match.players and match.players[s].name]
    return " / ".join(names) or f"{word('player', lang)} {word(f'side_{side}', lang)}"


def player_name(match: MatchView, side: object, lang: Lang) -> str:
    """The one player who stands at a side."""
    for known in SIDES:
        if known == side:
            player = match.players.get(known)
            return player.name if player and player.name else f"{word('player', lang)} {word(f'side_{known}', lang)}"
    return "–"


def state_of(ruling: dict[str, Any]) -> State:
    """ "Review" and "no call" are never shown as "no fault"."""
    status = ruling.get("status", "final")
    if status == "review":
        return "review"
    if status in NO_CALL:
        return "no_call"
    if ruling.get("match") or (ruling.get("set") or {}).get("result") == "won":
        return "won"
    if ruling.get("faults"):
        return "fault"
    if ruling.get("kind", "stroke") == "stroke" and not isinstance(ruling.get("lawful"), bool):
        return "no_call"
    return "lawful" if ruling.get("lawful", True) else "fault"


def ruling_view(now: Snapshot, lang: Lang) -> dict[str, Any]:
    """The newest ruling, or an empty state when there is none yet."""
    match = now.match or MatchView()
    if not now.rulings:
        return _panel("none", word("no_ruling", lang), word("no_ruling_text", lang))
    ruled = now.rulings[-1]
    ruling = ruled.ruling
    state = state_of(ruling)
    title, text, lines = _words(state, ruling, match, lang)
    where = targets(ruling, now.discs)
    return _panel(
        state,
        title,
        text,
        clauses=_clauses(ruling),
        lines=_fitting(lines or [_to_do(t, lang) for t in where], lang),
        targets=[[t.kind, t.x_mm, t.y_mm, t.from_x_mm, t.from_y_mm, t.done] for t in where],
        margin=margin_view(ruled, lang),
        tag=word("corrected", lang) if ruling.get("corrected") else "",
    )


def _fitting(lines: list[str], lang: Lang) -> list[str]:
    if len(lines) <= MAX_LINES:
        return lines
    return [*lines[: MAX_LINES - 1], word("more", lang, n=len(lines) - MAX_LINES + 1)]


def _panel(state: State, title: str, text: str, **more: object) -> dict[str, Any]:
    return {"state": state, "title": title, "text": text, "clauses": [], "lines": [], "targets": [], "margin": None, "tag": "", **more}


def _words(state: State, ruling: dict[str, Any], match: MatchView, lang: Lang) -> tuple[str, str, list[str]]:
    if state == "no_call":
        return word("no_call", lang), word("no_call_text", lang), []
    if state == "review":
        readings = [r for r in ruling.get("alternatives") or [] if isinstance(r, dict)]
        several = len(disputed(ruling)) > 1
        lines = [f"{_assumed(r, several, lang)}: {_reading(r.get('ruling') or {}, match, lang)}" for r in readings]
        return word("review", lang), word("review_text", lang), lines
    return _title(state, ruling, match, lang), _after(ruling, match, lang), []


def _title(state: State, ruling: dict[str, Any], match: MatchView, lang: Lang) -> str:
    ended = ruling.get("match")
    if isinstance(ended, dict):
        winner = ended.get("winner")
        name = ended.get("player") or player_name(match, winner, lang)
        return word("match_won", lang, name=name) if winner else word("match_drawn", lang)
    result = ruling.get("set")
    if isinstance(result, dict):
        if result.get("result") == "replay":
            return word("set_replay", lang)
        return word("set_won", lang, name=result.get("player") or player_name(match, result.get("side"), lang))
    return word("fault" if state == "fault" else "lawful", lang)


def _after(ruling: dict[str, Any], match: MatchView, lang: Lang) -> str:
    if ruling.get("match") or ruling.get("next") is None:
        return ""
    key = {"continues": "continues", "interrupted": "interrupted"}.get(str(ruling.get("turn")), "next")
    text = word(key, lang, name=player_name(match, ruling["next"], lang))
    penalty = ruling.get("penalty_pieces", 0)
    return f"{text} · {word('penalty_one', lang)}" if penalty else text


def disputed(ruling: dict[str, Any]) -> frozenset[str]:
    """Ids of the discs on which a review turns."""
    if ruling.get("status") != "review":
        return frozenset()
    return frozenset(str(i) for r in ruling.get("alternatives") or [] if isinstance(r, dict) for i in r.get("assume") or {})


def _assumed(reading: dict[str, Any], several: bool, lang: Lang) -> str:
    said = []
    for disc, how in (reading.get("assume") or {}).items():
        kind = KIND_OF_ID.get(str(disc)[:1])
        name = word(f"piece_{kind}", lang) if kind else str(disc)
        said.append(f"{name} {disc if several and kind else ''} {word(how, lang) if how in ('dark', 'light') else how}".replace("  ", " "))
    return ", ".join(said)


def _reading(ruling: dict[str, Any], match: MatchView, lang: Lang) -> str:
    clauses = ", ".join(_clauses(ruling))
    title = _title(state_of(ruling), ruling, match, lang)
    return f"{title} ({clauses})" if clauses else title


def _clauses(ruling: dict[str, Any]) -> list[str]:
    named = [f.get("clause") for f in ruling.get("faults") or [] if isinstance(f, dict)]
    for part in ("match", "set"):
        result = ruling.get(part)
        if isinstance(result, dict):
            named.append(result.get("clause"))
    if not any(named):
        named = list(ruling.get("next_reason") or [])
    return list(dict.fromkeys(str(c) for c in named if c))


def _to_do(target: Target, lang: Lang) -> str:
    text = word(target.verb, lang, what=word(f"place_{target.kind}", lang))
    if target.clause:
        text += f" ({target.clause})"
    if target.done:
        return f"{text} – {word('in_place', lang)}"
    if target.off_mm:
        parts = [
            word("off_by", lang, mm=f"{mm:.0f}" if mm >= 10 else f"{mm:.1f}", to=word(f"side_{side}", lang)) for side, mm in target.off_mm
        ]
        return f"{text} – {', '.join(parts)}"
    return text


# --- the margin -----------------------------------------------------------------------------------------------------


def margin_view(ruled: Ruled, lang: Lang) -> dict[str, Any] | None:
    """The clearance that decided dark or light, with its uncertainty; None where none was near enough to matter."""
    named = ruled.ruling.get("margins")
    if isinstance(named, list) and named and isinstance(named[0], dict):
        first = min(named, key=lambda m: abs(float(m.get("clearance_mm", HALF_MM))))
        clearance_mm, sigma_mm = float(first.get("clearance_mm", HALF_MM)), float(first.get("sigma_mm", 0.0))
        zone, disc = str(first.get("zone", "")), str(first.get("id", first.get("disc", "")))
    else:
        found = None if ruled.stroke is None else first_touched_clearance(ruled.stroke)
        if found is None:
            return None
        disc, zone, clearance_mm, sigma_mm = found
    if abs(clearance_mm) > NEAR_MM:
        return None
    close = abs(clearance_mm) <= SIGMAS * sigma_mm
    how = "close" if close else "dark" if clearance_mm > 0 else "light"
    return {
        "mm": round(clearance_mm, 2),
        "sigma2": round(SIGMAS * sigma_mm, 2),
        "how": how,
        "text": _margin_of(disc, zone, lang),
        "value": f"{clearance_mm:+.1f} ± {SIGMAS * sigma_mm:.1f} mm".replace("-", "\u2212"),
        "verdict": word(how, lang),
    }


def _margin_of(disc: str, zone: str, lang: Lang) -> str:
    kind = KIND_OF_ID.get(disc[:1])
    return f"{word(f'piece_{kind}', lang) if kind else disc} · {word('circle' if zone == 'circle' else 'own_zone', lang)}"


def first_touched_clearance(stroke: Stroke) -> tuple[str, str, float, float] | None:
    """Id, zone, clearance and sigma of the striker's first own piece, for the nearer of its dark areas."""
    contact = next((e for e in stroke.timeline if isinstance(e, Contact) and "striker" in e.discs), None)
    if contact is None:
        return None
    before = {disc.id: disc for disc in stroke.before.discs}
    found = [_nearest_zone(before[i], stroke.side) for i in contact.discs if i in before and before[i].kind != "striker"]
    return min(found, key=lambda f: abs(f[2]), default=None)


def _nearest_zone(disc: Disc, side: Side) -> tuple[str, str, float, float]:
    clearance_mm = clearances_mm(disc.kind, disc.x_mm, disc.y_mm)
    zone: Side | Literal["circle"] = side if clearance_mm[side] >= clearance_mm["circle"] else "circle"
    return disc.id, zone, clearance_mm[zone], disc.sigma_mm or 0.0
