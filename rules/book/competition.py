"""1-9, 22, 24-27: the competition around the table, and the equipment."""

from __future__ import annotations

from typing import Final

from rules.book.clause import AUTOMATIC, DEFINED, JUDGE, MATCH, OUT_OF_SIGHT, SHEET, Clause

_KINDS: Final = "1–2 Kinds of competition"
_PLAYERS: Final = "3–5 Players"
_JUDGES: Final = "6–9 Judges"
_FIRST: Final = "22 First turn"
_THINGS: Final = "24–27 Equipment"

BEFORE_PLAY: Final[tuple[Clause, ...]] = (
    Clause(_KINDS, "1", "singles and doubles, for men, women and mixed pairs", DEFINED, code="facts"),
    Clause(_KINDS, "2", "individual, doubles and team competitions, as the announcement says", SHEET),
    Clause(_PLAYERS, "3.1", "players know the rules", SHEET),
    Clause(_PLAYERS, "3.2", "two minutes to appear; two losses exclude", JUDGE, "clock", MATCH, "judge"),
    Clause(_PLAYERS, "3.3–3.4", "questions to the judge, no quarrel; appeals", OUT_OF_SIGHT),
    Clause(_PLAYERS, "3.5", "greeting before and after", OUT_OF_SIGHT, sanction=MATCH, code="judge"),
    Clause(_PLAYERS, "3.6–3.8", "stay at the table, no talking; three minutes between sets", OUT_OF_SIGHT, sanction="16.1.j, 19.1.j"),
    Clause(_PLAYERS, "4–5", "dress; representatives and captains", SHEET),
    Clause(_JUDGES, "6–8", "the panel of judges and what each decides", SHEET),
    Clause(_JUDGES, "9.1.a", "the judge decides alone: every ruling can be overridden", JUDGE, code="fold"),
    Clause(_JUDGES, "9.1.g", "a warning for each breach; the third gives the rest of the sets away", JUDGE, code="judge"),
    Clause(_JUDGES, "9.1.h", "the judge lays out and puts back: each ruling says what and where", AUTOMATIC, "positions", code="touching"),
    Clause(_JUDGES, "9.1.j", "play may be interrupted and decided on: void, resolve, award, start again", JUDGE, code="fold"),
    Clause(_JUDGES, "9.1.k", "score, sheet, signatures", SHEET, code="state"),
    Clause(_JUDGES, "9.2", "without a judge the players do it, the first listed keeps the sheet", SHEET),
)
AFTER_PLAY: Final[tuple[Clause, ...]] = (
    Clause(_FIRST, "22.1", "who has the first turn: by schedule or by round", SHEET, "the match entry says it", code="facts"),
    Clause(_FIRST, "22.2", "team ties: the guests in the first round", SHEET),
    Clause(_FIRST, "22.3", "pairs choose who begins, opponents may change places", SHEET, "the match entry says it"),
    Clause(_FIRST, "22.4", "order of players and substitutes in team ties", SHEET),
    Clause(_THINGS, "24.1", "table, rails, pockets", DEFINED, "calibration measures the lines", code="table"),
    Clause(_THINGS, "24.2", "lines and zones", DEFINED, "calibration measures the lines", code="table"),
    Clause(_THINGS, "24.3–24.5", "surface, rails, stand", OUT_OF_SIGHT),
    Clause(_THINGS, "25.1", "piece: 30 mm, 12 mm thick, 8 mm hole", DEFINED, code="table"),
    Clause(_THINGS, "25.2", "sixteen red and sixteen black", DEFINED, code="check"),
    Clause(_THINGS, "26.1", "striker: 44–45 mm, 14–15 mm thick, 10–10.2 mm hole", DEFINED, code="table"),
    Clause(_THINGS, "26.2", "organisers' strikers where so announced", SHEET),
    Clause(_THINGS, "27.1", "cue: thin end 6–10 mm over 250 mm", DEFINED),
)
