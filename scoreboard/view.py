"""Snapshot → what a page shows: small records of ready words and numbers, so that the browser only sets text and attributes."""

from __future__ import annotations

from typing import Any, Final

from rules.start_position import colours_at_start
from rules.table import HALF_MM, OPPOSITE, SIDES, Kind, Side, clearances_mm
from rules.words import PHRASES
from scoreboard.cards_view import cards_view
from scoreboard.ruling_view import disputed, ruling_view, series_of, shown_ruling, team_name, team_name_at
from scoreboard.state import MatchView, Section, SlottedDisc, Snapshot
from scoreboard.stats_view import stats_view
from scoreboard.words import WORDS, Lang, word

PICTURE_OLD_S: Final = 3.0  # a live picture comes several times a second; hazards.md: stale after 3 s
SIGMAS: Final = 2.0  # contract: dark beyond 2 sigma, light below −2 sigma, else too close to call
PIECES: Final = {"singles": 8, "doubles": 16}  # 9.1: pieces a player or a pair starts with
REVIEWED: Final = 3
LONGEST_OVER_S: Final = 600.0  # a clock that ran out this long ago was forgotten
MIN_SERIES: Final = 2  # one piece is no series
NOT_FLAT_DEPTH_MM: Final = 60.0  # how far beyond the rail a disc may be drawn


def section_view(section: Section, now: Snapshot, lang: Lang, at_s: float, base: str = "") -> dict[str, Any]:
    """What the page is told about one section; addresses begin with `base`."""
    if section == "link":
        return link_view(now, at_s)
    if section == "discs":
        return discs_view(now)
    if section == "picture":
        return picture_view(now, base)
    if section == "match":
        return match_view(now, lang)
    if section == "cards":
        return cards_view(now, lang)
    if section == "stats":
        return stats_view(now.stats, lang)
    if section == "clock":
        return clock_view(now, lang, at_s)
    return ruling_view(now, lang)


def link_view(now: Snapshot, at_s: float) -> dict[str, Any]:
    """The heartbeat: why the picture may be old, "" when it is live."""
    why = ""
    if not now.broker:
        why = "broker"
    elif now.monitor == "offline":
        why = "monitor"
    elif now.picture_at_s is not None and at_s - now.picture_at_s > PICTURE_OLD_S:
        why = "picture"
    elif now.monitor == "unknown" and now.picture_at_s is None:
        why = "waiting"
    return {"why": why}


def clock_view(now: Snapshot, lang: Lang, at_s: float) -> dict[str, Any]:
    """A clock that runs: what for, and the seconds left now, below zero once it is over; the page counts on by itself."""
    clock = now.clock
    if clock is None or at_s - clock.since_s > clock.limit_s + LONGEST_OVER_S:
        return {"run": False}
    name = f"clock_{clock.span}"
    left_s = round(clock.limit_s - (at_s - clock.since_s), 2)
    return {"run": True, "what": word(name, lang) if name in WORDS else "", "left_s": left_s, "limit_s": clock.limit_s}


def discs_view(now: Snapshot) -> dict[str, Any]:
    """Each disc as [slot, x, y, mark, pose]; mark 0 none, 1 dark for the player at turn, 2 too close to call, 3 what a review is about."""
    lie = HALF_MM + NOT_FLAT_DEPTH_MM
    asked = disputed(shown_ruling(now.rulings[-1])[0]) if now.rulings else frozenset()
    rows = [
        [s.slot, _clamp(s.disc.x_mm, lie), _clamp(s.disc.y_mm, lie), REVIEWED if s.disc.id in asked else _mark(s, now.match), s.disc.pose]
        for s in now.discs
    ]
    return {
        "discs": rows,
        "red": on_board(now, "red"),
        "black": on_board(now, "black"),
        "colours": colours_at_start([s.disc for s in now.discs]),
    }


def picture_view(now: Snapshot, base: str) -> dict[str, Any]:
    """Where the camera's picture is, and what part of the table it shows; an empty address when there is none."""
    seen = now.camera
    if seen is None:
        return {"src": ""}
    return {"src": f"{base}/picture.jpg?n={now.camera_count}", "x": seen.x_mm, "y": seen.y_mm, "half": seen.half_mm}


def _clamp(value_mm: float, limit_mm: float) -> float:
    return round(min(max(value_mm, -limit_mm), limit_mm), 2)


def on_board(now: Snapshot, kind: Kind) -> int:
    """How many discs of a kind are seen."""
    return sum(s.disc.kind == kind for s in now.discs)


def _mark(slotted: SlottedDisc, match: MatchView | None) -> int:
    disc = slotted.disc
    if match is None or match.turn is None or disc.pose != "flat":
        return 0
    player = match.players.get(match.turn)
    if player is None or player.colour != disc.kind:
        return 0
    clearance_mm = disc.clearance_mm or clearances_mm(disc.kind, disc.x_mm, disc.y_mm)
    best_mm = max(clearance_mm.get(match.turn, -HALF_MM), clearance_mm.get("circle", -HALF_MM))
    if best_mm > SIGMAS * disc.sigma_mm:
        return 1
    return 2 if best_mm >= -SIGMAS * disc.sigma_mm else 0


def match_view(now: Snapshot, lang: Lang) -> dict[str, Any]:
    """Both teams, far one first, and the set's number."""
    match = now.match or MatchView()
    doubles = match.format == "doubles"
    teams: tuple[Side, Side] = ("N", "W") if doubles else ("N", "S")
    if not doubles and match.players and not any(side in match.players for side in ("N", "S")):
        teams = ("W", "E")
    if match.sets:
        label = word("set_of", lang, n=match.set_number, of=match.sets)
    else:
        label = word("set_n", lang, n=match.set_number) if now.match else ""
    return {
        "set": label,
        "known": now.match is not None,
        "format": word("doubles" if doubles else "singles", lang) if now.match else "",
        "turn": match.turn or "",
        "teams": [_team(now, match, side, doubles, lang) for side in teams],
        "names": {side: match.players[side].name if side in match.players else "" for side in SIDES},
    }


def _team(now: Snapshot, match: MatchView, side: Side, doubles: bool, lang: Lang) -> dict[str, Any]:
    sides = (side, OPPOSITE[side]) if doubles else (side,)
    player = next((match.players[s] for s in sides if s in match.players), None)
    colour = player.colour if player else ""
    left = next((match.on_table[s] for s in sides if s in match.on_table), None)
    if left is None and player is not None:
        left = on_board(now, player.colour)
    full = PIECES["doubles" if doubles else "singles"]
    debt = sum(match.debt.get(s, 0) for s in sides)
    warnings = sum(match.warnings.get(s, 0) for s in sides)
    return {
        "side": side,
        "name": team_name(match, side, lang),
        "colour": colour,
        "colour_word": word(colour, lang) if colour else "",
        "sets": max((match.sets_won.get(s, 0) for s in sides), default=0) if now.match else "–",
        "turn": match.turn in sides and not match.over,
        "turn_word": _turn_word(match, doubles, lang),
        "left": left,
        "full": full,
        "series": word("series", lang, n=series) if (series := series_of(now)) >= MIN_SERIES and match.turn in sides else "",
        "debt": debt,
        "warnings": warnings,
    }


def _turn_word(match: MatchView, doubles: bool, lang: Lang) -> str:
    if doubles and match.turn is not None:
        return PHRASES[lang]["passes"].format(who=team_name_at(match, match.turn, lang))
    return word("turn", lang)
