"""The match sheet (9.1.g, 9.1.k, 9.2): what the log's fold says of each set, as JSON, CSV or one printed A4 page."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Final

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined

from rules.fold import State
from rules.log import fold_line
from rules.ruling import MatchResult
from rules.words import Lang, clause_words

LABELS: Final[dict[Lang, dict[str, str]]] = {
    "lv": {
        "title": "Spēles protokols", "set": "Sets", "first": "Pirmais sitiens", "winner": "Uzvarētājs", "replay": "pārspēlē",
        "clause": "Punkts", "score": "Rezultāts", "penalties": "Soda kauliņi", "ran_out": "Pirmajā sērijā", "warnings": "Brīdinājumi",
        "time": "Laiks", "player": "Spēlētājs", "result": "Spēles rezultāts", "drawn": "neizšķirts", "open": "nav pabeigta",
        "judge": "Tiesnesis", "signature": "Paraksts", "rules": "Noteikumi", "none": "nav", "entry": "Ieraksts",
    },
    "en": {
        "title": "Match sheet", "set": "Set", "first": "First turn", "winner": "Winner", "replay": "replayed",
        "clause": "Clause", "score": "Score", "penalties": "Penalty pieces", "ran_out": "In the first series", "warnings": "Warnings",
        "time": "Time", "player": "Player", "result": "Result", "drawn": "drawn", "open": "not finished",
        "judge": "Judge", "signature": "Signature", "rules": "Rules", "none": "none", "entry": "Entry",
    },
    "de": {
        "title": "Spielprotokoll", "set": "Satz", "first": "Erster Stoß", "winner": "Sieger", "replay": "wiederholt",
        "clause": "Punkt", "score": "Stand", "penalties": "Strafsteine", "ran_out": "In der ersten Serie", "warnings": "Verwarnungen",
        "time": "Zeit", "player": "Spieler", "result": "Ergebnis", "drawn": "unentschieden", "open": "nicht beendet",
        "judge": "Richter", "signature": "Unterschrift", "rules": "Regeln", "none": "keine", "entry": "Eintrag",
    },
}  # fmt: skip


class SetLine(msgspec.Struct, frozen=True):
    """A set or a replay; `score` after it, `penalties` by player."""

    set: int
    first: str
    winner: str | None
    clause: str
    score: tuple[int, int]
    penalties: dict[str, int]
    ran_out: list[str]
    strokes: int


class WarningLine(msgspec.Struct, frozen=True):
    """A warning with its clause, and the time where the log has it."""

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
    schema: str = "novuss.sheet/1"


class _Stamp(msgspec.Struct):
    at: str | None = None


def sheets(lines: Iterable[bytes]) -> list[Sheet]:
    """The sheets of all matches in a log; raises LogUnusable naming the line."""
    out: list[Sheet] = []
    state: State | None = None
    times: dict[int, str | None] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        after, ruling = fold_line(state, line, number)
        if ruling is None:
            if state is not None:
                out.append(sheet(state, times))
            times = {}
        else:
            times[ruling.entry] = msgspec.json.decode(line, type=_Stamp).at
        state = after
    return out if state is None else [*out, sheet(state, times)]


def sheet(state: State, times: dict[int, str | None]) -> Sheet:
    """One match as folded so far; `times` by entry."""
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
        played.append(
            SetLine(
                set=done.number,
                first=players[done.first],
                winner=None if done.winner is None else pairs[done.winner],
                clause=done.clause,
                score=(won[0], won[1]),
                penalties=dict(zip(players, done.penalties, strict=True)),
                ran_out=names,
                strokes=done.strokes,
            )
        )
    return Sheet(
        id=core.match.id,
        ruleset=core.match.ruleset,
        format=core.match.format,
        sets=core.match.sets,
        players=players,
        colours=list(core.colours),
        pairs=(pairs[0], pairs[1]),
        played=played,
        warnings=[WarningLine(players[n], clause, entry, times.get(entry)) for n, entry, clause in core.warned],
        clean_outs=clean_outs,
        score=core.sets_won,
        result=core.over,
    )


def as_csv(found: Iterable[Sheet]) -> str:
    """A line a set: match, set, first turn, winner, clause, score, penalty pieces, run-outs."""
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\n").writerow
    write(("match", "set", "first_turn", "winner", "clause", "score", "penalty_pieces", "ran_out", "strokes"))
    for one in found:
        for line in one.played:
            penalties = " ".join(f"{name}={n}" for name, n in line.penalties.items())
            score = f"{line.score[0]}:{line.score[1]}"
            write((one.id, line.set, line.first, line.winner or "", line.clause, score, penalties, " ".join(line.ran_out), line.strokes))
    return text.getvalue()


def as_html(found: list[Sheet], lang: Lang) -> str:
    """A page a match, for printing on A4; every name is escaped."""
    room = Environment(loader=PackageLoader("scoreboard"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return room.get_template("sheet.html").render(sheets=found, t=LABELS[lang], lang=lang, words=lambda c: clause_words(c, lang))
