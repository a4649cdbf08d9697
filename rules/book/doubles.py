"""20, 21, 23: singles, doubles and the result."""

from __future__ import annotations

from typing import Final

from rules.book.clause import AUTOMATIC, DEFINED, OUT_OF_SIGHT, PENALTY, SHEET, WARNING, Clause

_SINGLES: Final = "20 Singles"
_DOUBLES: Final = "21 Doubles"
_RESULT: Final = "23 Result"

CLAUSES: Final[tuple[Clause, ...]] = (
    Clause(_SINGLES, "20.1", "two players, opposite each other", DEFINED, code="check"),
    Clause(_SINGLES, "20.2", "sides change after every set and when both have run out", AUTOMATIC, code="sets"),
    Clause(_SINGLES, "20.3", "the set goes to the first with all own pieces in", AUTOMATIC, "pockets", code="run_out"),
    Clause(
        _SINGLES,
        "20.4",
        "all eight in the very first series interrupt it; the opponent has one first series",
        AUTOMATIC,
        "pockets",
        "set or replay",
        "sets",
        "current: replayed until one wins",
    ),
    Clause(
        _SINGLES,
        "20.5",
        "both last pieces in one lawful stroke: replay; with a penalty earned: lost",
        AUTOMATIC,
        "pockets",
        "replay",
        "run_out",
        "current: first turn and sides stay",
    ),
    Clause(
        _SINGLES, "20.6", "only dark pieces and three misses each: replay, first turn unchanged", AUTOMATIC, "contacts", "replay", "run_out"
    ),
    Clause(
        _DOUBLES,
        "21.1",
        "two pairs, turns clockwise, first turn at one side; players move on after each set",
        AUTOMATIC,
        "whose stroke",
        code="sets",
        differs="a replay after both pairs ran out: players stay, the last to strike begins",
    ),
    Clause(_DOUBLES, "21.2", "the partner's pieces are own; the pair with all in wins", AUTOMATIC, "pockets", code="state"),
    Clause(_DOUBLES, "21.3", "singles rules but for driving into the rear zone", AUTOMATIC, "positions", PENALTY, "play"),
    Clause(_DOUBLES, "21.4", "of driving in, only into the circle is restored", AUTOMATIC, "positions", code="state"),
    Clause(_DOUBLES, "21.5", "the partner pays who has the turn, or will have it next", AUTOMATIC, "whose hand", code="draft"),
    Clause(
        _DOUBLES,
        "21.6",
        "a penalty piece only once the row opposite has been moved",
        AUTOMATIC,
        "positions",
        code="penalty",
        differs="casual: and with fewer than sixteen on the table",
    ),
    Clause(
        _DOUBLES,
        "21.7",
        "sixteen in the first series: one opponent has one series",
        AUTOMATIC,
        "pockets",
        "set or replay",
        "sets",
        "current: the second player's sixteen win when the first failed",
    ),
    Clause(_DOUBLES, "21.8", "anyone may pass the striker", DEFINED),
    Clause(
        _DOUBLES,
        "21.9",
        "the partner may advise until the striker is touched",
        OUT_OF_SIGHT,
        sanction=WARNING,
        code="judge",
        differs="current: until it is placed",
    ),
    Clause(_RESULT, "23.1", "more than half of the sets; all sets played where so agreed; even sets may end drawn", AUTOMATIC, code="sets"),
    Clause(_RESULT, "23.2", "a team tie ends once one team has won, unless all games are played", SHEET, "the games", code="team_tie"),
)
