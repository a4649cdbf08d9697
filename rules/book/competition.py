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
    Clause(
        _PLAYERS,
        "3.2",
        "two minutes to appear; two losses exclude; half of the matches or fewer played: points annulled; sets do not count for the winner",
        JUDGE,
        "clock and call; the count over a competition is the judges'",
        MATCH,
        "exclusion",
    ),
    Clause(_PLAYERS, "3.3–3.4", "questions to the judge, no quarrel; appeals", OUT_OF_SIGHT),
    Clause(_PLAYERS, "3.5", "greeting before and after", OUT_OF_SIGHT, sanction="match lost and excluded (14.4)", code="judge"),
    Clause(
        _PLAYERS,
        "3.6",
        "stay at the table during a set, but for a fallen disc or damaged things",
        OUT_OF_SIGHT,
        sanction="warning (9.1.g)",
        code="judge",
    ),
    Clause(_PLAYERS, "3.7", "no talking to others, no remarks during a set", OUT_OF_SIGHT, sanction="warning (19.1.j)", code="judge"),
    Clause(_PLAYERS, "3.8", "away between sets for three minutes at most", OUT_OF_SIGHT, sanction="set lost (16.1.j)", code="judge"),
    Clause(_PLAYERS, "4–5", "dress; representatives and captains", SHEET),
    Clause(_JUDGES, "6–8", "the panel of judges and what each decides", SHEET),
    Clause(
        _JUDGES,
        "8.1.d",
        "a wrong decision is undone until the next set begins; the product leaves that limit to the judges",
        JUDGE,
        code="fold",
    ),
    Clause(_JUDGES, "9.1.a", "the judge decides alone: every ruling can be overridden", JUDGE, code="fold"),
    Clause(_JUDGES, "9.1.g", "a warning for each breach; the third gives the rest of the sets away", JUDGE, code="judge"),
    Clause(_JUDGES, "9.1.h", "the judge lays out and puts back: each ruling says what and where", AUTOMATIC, "positions", code="touching"),
    Clause(_JUDGES, "9.1.j", "play may be interrupted and decided on: void, resolve, award, start again", JUDGE, code="fold"),
    Clause(_JUDGES, "9.1.k", "score, sheet, signatures", SHEET, code="state"),
    Clause(_JUDGES, "9.2", "without a judge the players do it, the first listed keeps the sheet", SHEET),
)
AFTER_PLAY: Final[tuple[Clause, ...]] = (
    Clause(
        _FIRST,
        "22.1.a",
        "circle: by the schedule, the first named; the other chooses side and pieces",
        SHEET,
        "the draw",
        code="first_turn",
    ),
    Clause(
        _FIRST,
        "22.1.b",
        "one- and two-minus systems: by lot, or the first named in odd rounds and the second in even ones",
        SHEET,
        "the draw or the round",
        code="first_turn",
    ),
    Clause(_FIRST, "22.2", "team ties: as announced, else the guests in the first round", SHEET, "the round", code="first_turn"),
    Clause(
        _FIRST,
        "22.3",
        "a pair chooses who begins; the other may change places before the first set and the deciding odd one",
        JUDGE,
        "the judge's `swap_places`",
        code="first_turn",
    ),
    Clause(
        _FIRST,
        "22.4",
        "team ties: order of players; a reserve replaces one number, whoever was replaced comes back to it",
        SHEET,
        "what the teams hand in",
        code="team_tie",
        differs="current: changes until the round's last result is handed in, instead of before its last game",
    ),
    Clause(_THINGS, "24.1", "table, rails, pockets", DEFINED, "calibration measures the lines", code="table"),
    Clause(_THINGS, "24.2", "lines and zones", DEFINED, "calibration measures the lines", code="table"),
    Clause(_THINGS, "24.3–24.5", "surface, rails, stand", OUT_OF_SIGHT),
    Clause(_THINGS, "25.1", "piece: 30 mm, 12 mm thick, 8 mm hole", DEFINED, code="table"),
    Clause(_THINGS, "25.2", "sixteen red and sixteen black", DEFINED, code="check"),
    Clause(_THINGS, "26.1", "striker: 44–45 mm, 14–15 mm thick, 10–10.2 mm hole", DEFINED, code="table"),
    Clause(_THINGS, "26.2", "organisers' strikers where so announced", SHEET),
    Clause(_THINGS, "27.1", "cue: thin end 6–10 mm over 250 mm", DEFINED),
)
