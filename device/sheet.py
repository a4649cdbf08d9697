"""The match sheet (9.1.g, 9.1.k, 9.2): what the log's fold says of each set, as JSON, CSV or one printed A4 page."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined

from device.storage.lines import complete_lines
from rules.exclusion import sets_count
from rules.fold import State
from rules.log import fold_line
from rules.ruling import MatchResult
from rules.state import Core, player_at
from rules.words import Lang, clause_words

LABELS: Final[dict[Lang, dict[str, str]]] = {
    "lv": {
        "title": "Spēles protokols", "set": "Sets", "first": "Pirmais sitiens", "winner": "Uzvarētājs", "replay": "pārspēlē",
        "clause": "Punkts", "score": "Rezultāts", "penalties": "Soda kauliņi", "ran_out": "Visi pirmajā sērijā", "warnings": "Brīdinājumi",
        "time": "Laiks", "player": "Spēlētājs", "result": "Spēles rezultāts", "drawn": "neizšķirts", "open": "nav pabeigta",
        "judge": "Tiesnesis", "signatures": "Paraksti", "rules": "Noteikumi", "none": "nav", "entry": "Ieraksts",
        "strokes": "Sitieni", "playing": "nav pabeigts", "uncounted": "setus uzvarētājam neskaita (3.2)",
        "begun": "Sākums", "of_sets": "seti",
    },
    "en": {
        "title": "Match sheet", "set": "Set", "first": "First turn", "winner": "Winner", "replay": "replayed",
        "clause": "Clause", "score": "Score", "penalties": "Penalty pieces", "ran_out": "All in the first series", "warnings": "Warnings",
        "time": "Time", "player": "Player", "result": "Result", "drawn": "drawn", "open": "not finished",
        "judge": "Judge", "signatures": "Signatures", "rules": "Rules", "none": "none", "entry": "Entry",
        "strokes": "Strokes", "playing": "not finished", "uncounted": "sets do not count for the winner (3.2)",
        "begun": "Begun", "of_sets": "sets",
    },
    "de": {
        "title": "Spielprotokoll", "set": "Satz", "first": "Erster Stoß", "winner": "Sieger", "replay": "wiederholt",
        "clause": "Punkt", "score": "Stand", "penalties": "Strafsteine", "ran_out": "Alle in der ersten Serie", "warnings": "Verwarnungen",
        "time": "Zeit", "player": "Spieler", "result": "Ergebnis", "drawn": "unentschieden", "open": "nicht beendet",
        "judge": "Richter", "signatures": "Unterschriften", "rules": "Regeln", "none": "keine", "entry": "Eintrag",
        "strokes": "Stöße", "playing": "nicht beendet", "uncounted": "Sätze zählen für den Sieger nicht (3.2)",
        "begun": "Beginn", "of_sets": "Sätze",
    },
}  # fmt: skip


USUAL_ROWS: Final = 14  # sets and warnings that fit on one A4 page at the usual size, with names and clauses that wrap


class SetLine(msgspec.Struct, frozen=True):
    """A set or a replay; `score` after it, `penalties` by player. No clause: not finished."""

    set: int
    first: str
    winner: str | None
    clause: str | None
    score: tuple[int, int]
    penalties: dict[str, int]
    ran_out: list[str]
    strokes: int


class WarningLine(msgspec.Struct, frozen=True):
    """A warning with its clause and set, and the time where the log has it."""

    set: int
    player: str
    clause: str
    entry: int
    at: str | None


class Sheet(msgspec.Struct, frozen=True):
    """One match."""

    id: str
    ruleset: str
    format: str
    sets: int
    players: list[str]
    colours: list[str]
    pairs: tuple[str, str]
    played: list[SetLine]
    warnings: list[WarningLine]
    clean_outs: dict[str, int]
    score: tuple[int, int]
    result: MatchResult | None
    sets_count: bool  # 3.2
    begun_at: str | None = None
    schema: str = "novuss.sheet/1"


class _Stamp(msgspec.Struct):
    at: str | None = None


def sheets(lines: Iterable[bytes]) -> list[Sheet]:
    """The sheets of all matches in a log; raises LogUnusable naming the line."""
    out: list[Sheet] = []
    state: State | None = None
    times: dict[int, str | None] = {}  # 0 is the match entry
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        after, ruling = fold_line(state, line, number)
        if ruling is None:
            if state is not None:
                out.append(sheet(state, times))
            times = {}
        times[0 if ruling is None else ruling.entry] = msgspec.json.decode(line, type=_Stamp).at
        state = after
    return out if state is None else [*out, sheet(state, times)]


def log_as_html(log: Path, lang: Lang) -> str:
    """The sheets of a log that is still being written."""
    lines, _ = complete_lines(log.read_bytes())
    return as_html(sheets(lines), lang)


def sheet(state: State, times: dict[int, str | None]) -> Sheet:
    """One match as folded so far, the set being played included; `times` by entry, 0 the match's own."""
    core = state.core
    players = [p.name for p in core.match.players.values()]
    pairs = [" / ".join(name for name, pair in zip(players, core.pair, strict=True) if pair == n) for n in (0, 1)]
    won = [0, 0]
    played: list[SetLine] = []
    clean_outs = dict.fromkeys(players, 0)
    for done in core.done:
        if done.winner is not None:
            won[done.winner] += 1
        names = [players[n] for n in done.ran_out]
        for name in names:
            clean_outs[name] += 1
        winner = None if done.winner is None else pairs[done.winner]
        penalties = dict(zip(players, done.penalties, strict=True))
        played.append(SetLine(done.number, players[done.first], winner, done.clause, (won[0], won[1]), penalties, names, done.strokes))
    now = core.set
    if core.over is None or _left_unfinished(core):
        names = [players[n] for n in now.ran_out]
        for name in names:
            clean_outs[name] += 1
        penalties = dict(zip(players, now.penalties, strict=True))
        first = players[player_at(core, now.first)]
        played.append(SetLine(now.number, first, None, None, (won[0], won[1]), penalties, names, now.strokes))
    warnings = [WarningLine(_set_of(core, entry), players[n], clause, entry, times.get(entry)) for n, entry, clause in core.warned]
    return Sheet(
        id=core.match.id,
        ruleset=core.match.ruleset,
        format=core.match.format,
        sets=core.match.sets,
        players=players,
        colours=list(core.colours),
        pairs=(pairs[0], pairs[1]),
        played=played,
        warnings=warnings,
        clean_outs=clean_outs,
        score=core.sets_won,
        result=core.over,
        sets_count=core.over is None or sets_count(core.over),
        begun_at=times.get(0),
    )


def _left_unfinished(core: Core) -> bool:
    """Whether the match ended (15, 23.1) with strokes or penalty pieces in a set that nobody had won yet."""
    finished = bool(core.done) and core.done[-1].number == core.set.number and core.done[-1].winner is not None
    return not finished and (core.set.strokes > 0 or any(core.set.penalties))


def _set_of(core: Core, entry: int) -> int:
    """The set in which an entry falls."""
    return next((done.number for done in core.done if entry <= done.ended_by), core.set.number)


def as_csv(found: Iterable[Sheet]) -> str:
    """A line a set: match, set, first turn, winner, clause, score, penalty pieces, run-outs, warnings; then one for the result."""
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\n").writerow
    write(("match", "set", "first_turn", "winner", "clause", "score", "penalty_pieces", "ran_out", "strokes", "warnings"))
    for one in found:
        last = {line.set: n for n, line in enumerate(one.played)}  # a set played again has its warnings in its last line
        for n, line in enumerate(one.played):
            penalties = " ".join(f"{name}={pieces}" for name, pieces in line.penalties.items())
            row = (one.id, line.set, line.first, line.winner or "", line.clause or "", _score(line.score), penalties)
            warned = _warned(w for w in one.warnings if w.set == line.set) if last[line.set] == n else ""
            write((*row, ", ".join(line.ran_out), line.strokes, warned))
        if one.result is not None:
            outs = " ".join(f"{name}={times}" for name, times in one.clean_outs.items())
            rest = _warned(w for w in one.warnings if w.set not in last)
            write((one.id, "result", "", one.result.player or "", one.result.clause, _score(one.score), "", outs, "", rest))
    return text.getvalue()


def _score(score: tuple[int, int]) -> str:
    return f"{score[0]}:{score[1]}"


def _warned(warnings: Iterable[WarningLine]) -> str:
    return ", ".join(" ".join(part for part in (w.player, w.clause, w.at) if part) for w in warnings)


def as_html(found: list[Sheet], lang: Lang) -> str:
    """A page a match, for printing on A4; every name is escaped."""
    room = Environment(loader=PackageLoader("scoreboard"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return room.get_template("sheet.html").render(
        sheets=found, t=LABELS[lang], lang=lang, words=lambda clause: clause_words(clause, lang), usual_rows=USUAL_ROWS
    )
