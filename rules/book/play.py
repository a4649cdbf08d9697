"""10-13: start position, terms, play, direct and rebound strokes."""

from __future__ import annotations

from typing import Final

from rules.book.clause import AUTOMATIC, DEFINED, JUDGE, NOTED, OUT_OF_SIGHT, PENALTY, SHEET, TURN, WARNING, Clause

_START: Final = "10 Start position"
_TERMS: Final = "11 Terms"
_PLAY: Final = "12 Play"
_STROKES: Final = "13 Direct and rebound strokes"

CLAUSES: Final[tuple[Clause, ...]] = (
    Clause(
        _START, "10.1", "loose powder is cleared off, but not by hand and not toward pieces", JUDGE, "hands and powder", WARNING, "judge"
    ),
    Clause(
        _START, "10.2", "players set up, change to the other side, and the first stroke is made from the own zone", DEFINED, "positions"
    ),
    Clause(_START, "10.3", "eight pieces tight along the rail, four on each side of the midline", DEFINED, "positions", code="state"),
    Clause(_TERMS, "11.1", "dark area: the strip along the own rail, and the inside of the circle", DEFINED, code="reading"),
    Clause(
        _TERMS, "11.2", "dark piece: in the dark area with no bounding line in its hole", AUTOMATIC, "axis within sigma", code="reading"
    ),
    Clause(_TERMS, "11.3", "light piece: an own piece on the table that is not dark", AUTOMATIC, "axis within sigma", code="reading"),
    Clause(_TERMS, "11.4.a", "lawful: an own light piece first", AUTOMATIC, "first contact", code="stroke"),
    Clause(
        _TERMS,
        "11.4.b",
        "lawful: without own light pieces, the opposite rail before any piece",
        AUTOMATIC,
        "rails and contacts",
        code="stroke",
        differs="casual: the opposite rail at any time of the stroke, no own dark piece before it",
    ),
    Clause(
        _TERMS,
        "11.4.c",
        "lawful: a side rail, then an own piece in the circle",
        AUTOMATIC,
        "rails and contacts",
        code="stroke",
        differs="casual: a side rail does not open the circle",
    ),
    Clause(_TERMS, "11.4.d", "any other stroke is penal", AUTOMATIC, "rails and contacts", PENALTY, "stroke"),
    Clause(
        _TERMS,
        "11.4.e",
        "a player's own standing zone: 1 m to each side of the table, 2 m behind",
        OUT_OF_SIGHT,
        sanction=TURN,
        code="judge",
    ),
    Clause(_PLAY, "12.1", "a match is a number of sets", DEFINED, code="sets"),
    Clause(_PLAY, "12.2", "a set begins with its first stroke", DEFINED, code="play"),
    Clause(_PLAY, "12.3", "the striker is placed in the own zone, no line in its hole", NOTED, "striker at rest", WARNING, "play"),
    Clause(_PLAY, "12.4", "placing touches no piece; starting touches none in the own zone", AUTOMATIC, "contacts", PENALTY, "touching"),
    Clause(_PLAY, "12.5", "before the stroke the striker may be moved by hand", DEFINED, "last place before the cue", code="play"),
    Clause(_PLAY, "12.6", "aiming leaves the rail's inner edge in view", JUDGE, "cue and hand", WARNING, "judge"),
    Clause(_PLAY, "12.7", "the supporting fingers touch the rail only", JUDGE, "hand", WARNING, "judge"),
    Clause(_PLAY, "12.8", "only the cue's thin end strikes", JUDGE, "cue", PENALTY, "judge"),
    Clause(
        _PLAY,
        "12.9",
        "a stroke counts once the cue has touched the striker, which may not come back over the own zone line",
        AUTOMATIC,
        "striker's way back",
        TURN,
        "turn",
        "casual: as soon as the line shows, and a dark piece is no excuse",
    ),
    Clause(_PLAY, "12.10", "after an own piece went in without a fault the series goes on", AUTOMATIC, "pockets", code="turn"),
    Clause(
        _PLAY, "12.11", "a piece on another goes beside it, one on the striker goes where the striker was", AUTOMATIC, "pose", code="play"
    ),
    Clause(_PLAY, "12.12", "a striker that is hard to take is taken by the judge", JUDGE),
    Clause(_PLAY, "12.13", "a piece that falls in from the edge by itself goes back", AUTOMATIC, "contacts, pose", code="play"),
    Clause(
        _PLAY,
        "12.14",
        "over a rail or staying on it: the centre, then the circle's points, then midway",
        AUTOMATIC,
        "rail it left by",
        TURN,
        "places",
        "casual: also an opponent's piece that a direct stroke sent over, lawful or not",
    ),
    Clause(_PLAY, "12.15", "a broken piece is replaced, by where its greater part lies", JUDGE, "shape"),
    Clause(_PLAY, "12.16", "on its side, stacked or over a rail a piece is not in motion", DEFINED, "pose", code="touching"),
    Clause(_PLAY, "12.17", "no striker on the table before the judge has finished", JUDGE, "striker and hands", TURN, "judge"),
    Clause(_PLAY, "12.18", "no walking round the table", OUT_OF_SIGHT, sanction=WARNING, code="judge"),
    Clause(_PLAY, "12.19", "leaning over the table on its rails is allowed", DEFINED),
    Clause(
        _PLAY,
        "12.20",
        "nothing on the rails; the striker is taken and passed by hand, not along a side rail",
        JUDGE,
        "hands",
        WARNING,
        "judge",
    ),
    Clause(_PLAY, "12.21", "striker and cue are changed only when damaged", OUT_OF_SIGHT, sanction="set lost (16.1.i)", code="judge"),
    Clause(_PLAY, "12.22", "no aids for measuring", JUDGE, "objects over the table", WARNING, "judge"),
    Clause(_PLAY, "12.23", "two minutes to get to know the table", SHEET),
    Clause(_PLAY, "12.24", "shaken before the set: pieces go back and play begins", AUTOMATIC, "pieces moving at once", code="touching"),
    Clause(_STROKES, "13.1", "a direct stroke may be at any own light piece, then anything", AUTOMATIC, "first contact", code="stroke"),
    Clause(_STROKES, "13.2", "a rebound stroke may be at own pieces", AUTOMATIC, "rails", code="stroke"),
    Clause(_STROKES, "13.3", "dark pieces are not struck directly", AUTOMATIC, "first contact", PENALTY, "stroke"),
    Clause(_STROKES, "13.3.a", "… but after the opposite rail", AUTOMATIC, "rails", code="stroke"),
    Clause(_STROKES, "13.3.b", "… by the striker after an own light piece", AUTOMATIC, "order of contacts", code="stroke"),
    Clause(_STROKES, "13.3.c", "… by an own light piece", AUTOMATIC, "order of contacts", code="stroke"),
    Clause(_STROKES, "13.3.d", "… through several pieces, an own light one first", AUTOMATIC, "order of contacts", code="stroke"),
    Clause(
        _STROKES,
        "13.3.e",
        "… after a side rail, in the circle",
        AUTOMATIC,
        "rails",
        code="stroke",
        differs="casual: only after the opposite rail",
    ),
    Clause(
        _STROKES, "13.4", "without light pieces, nothing touched after the opposite rail is no fault", AUTOMATIC, "rails", code="stroke"
    ),
    Clause(_STROKES, "13.5", "an opponent's dark piece stays where it was driven", AUTOMATIC, "positions", code="restoring"),
    Clause(
        _STROKES,
        "13.6",
        "a penal stroke may not drive an opponent's piece into the dark area: it goes back",
        AUTOMATIC,
        "positions",
        code="restoring",
        differs="doubles: the circle only (21.4)",
    ),
    Clause(_STROKES, "13.7", "a stroke that began lawfully may, even if its end earns a penalty", AUTOMATIC, "positions", code="play"),
    Clause(_STROKES, "13.8", "what a penal stroke restores", AUTOMATIC, "positions", code="restoring"),
    Clause(_STROKES, "13.9", "an opponent's piece that was dark is not restored on the table", AUTOMATIC, "positions", code="restoring"),
)
