"""14-19: exclusion, matches and sets lost, penalty pieces, the turn, warnings."""

from __future__ import annotations

from typing import Final

from rules.book.clause import AUTOMATIC, DEFINED, JUDGE, MATCH, OUT_OF_SIGHT, PENALTY, SET, TURN, WARNING, Clause

_OUT: Final = "14 Exclusion"
_MATCH: Final = "15 Match lost"
_SET: Final = "16 Set lost"
_PENALTY: Final = "17 Penalty piece"
_TURN: Final = "18 Turn lost"
_WARNING: Final = "19 Warnings and time"

CLAUSES: Final[tuple[Clause, ...]] = (
    Clause(_OUT, "14.1", "gross misconduct", OUT_OF_SIGHT, sanction="match lost and excluded", code="exclusion"),
    Clause(_OUT, "14.2", "two matches lost for unsporting conduct", JUDGE, "the sheets of a competition", "excluded", "exclusion"),
    Clause(_OUT, "14.3", "two matches lost for not appearing", JUDGE, "the sheets of a competition", "excluded", "exclusion"),
    Clause(_OUT, "14.4", "greeting refused", OUT_OF_SIGHT, sanction="match lost and excluded", code="exclusion"),
    Clause(_MATCH, "15.1", "not at the table within two minutes; sets then do not count (3.2)", JUDGE, "clock and call", MATCH, "judge"),
    Clause(_MATCH, "15.2", "unsporting conduct", OUT_OF_SIGHT, sanction=MATCH, code="judge"),
    Clause(_MATCH, "15.3", "third warning", AUTOMATIC, "the judge's warnings", "the sets not yet finished", "judge"),
    Clause(_SET, "16.1.a", "a penal stroke knocks two or more own pieces out of the dark area", AUTOMATIC, "positions", SET, "play"),
    Clause(
        _SET, "16.1.b", "the table is shaken so that pieces move", AUTOMATIC, "pieces moving at once; who, if a hand shows", SET, "touching"
    ),
    Clause(_SET, "16.1.c", "deliberate breach, or a stroke after “stop”", OUT_OF_SIGHT, sanction=SET, code="judge"),
    Clause(
        _SET,
        "16.1.d",
        "first and directly a piece in the own zone or an own dark one in the circle, then two others moved",
        AUTOMATIC,
        "first contact, positions",
        SET,
        "set_lost",
    ),
    Clause(
        _SET, "16.1.e", "two or more pieces moved by hand, cue or striker without a stroke", AUTOMATIC, "hands, positions", SET, "touching"
    ),
    Clause(
        _SET,
        "16.1.f",
        "a piece taken in hand, the last one moved, or a hand in a pocket in the opponent's turn",
        AUTOMATIC,
        "hands, positions; a hand in a pocket is the judge's",
        SET,
        "touching",
    ),
    Clause(_SET, "16.1.g", "the first listed player opens a set that is the other's to open", AUTOMATIC, "whose stroke", SET, "set_lost"),
    Clause(_SET, "16.1.h", "doubles: a stroke by a player without the turn", AUTOMATIC, "whose stroke", SET, "set_lost"),
    Clause(_SET, "16.1.i", "an undamaged cue or striker changed", OUT_OF_SIGHT, sanction=SET, code="judge"),
    Clause(_SET, "16.1.j", "away between sets for more than three minutes", OUT_OF_SIGHT, sanction=SET, code="judge"),
    Clause(_SET, "16.1.k", "a moving piece touched with hand or cue", AUTOMATIC, "hands, motion", SET, "touching"),
    Clause(_PENALTY, "17.1.a", "penal stroke", AUTOMATIC, "first contact", PENALTY, "stroke", "casual: own section"),
    Clause(_PENALTY, "17.1.b", "direct: an opponent's piece first, or both at once", AUTOMATIC, "first contact", PENALTY, "stroke"),
    Clause(_PENALTY, "17.1.c", "rebound with light pieces: an opponent's piece first", AUTOMATIC, "first contact", PENALTY, "stroke"),
    Clause(_PENALTY, "17.1.d", "striker in a pocket", AUTOMATIC, "pockets", PENALTY, "play"),
    Clause(_PENALTY, "17.1.e", "striker over a rail", AUTOMATIC, "rails", PENALTY, "play"),
    Clause(
        _PENALTY,
        "17.1.f",
        "only dark pieces and the opposite rail not touched",
        AUTOMATIC,
        "rails",
        PENALTY,
        "stroke",
        "casual: at any time of the stroke",
    ),
    Clause(_PENALTY, "17.1.g", "stroke refused", OUT_OF_SIGHT, sanction=PENALTY, code="judge"),
    Clause(_PENALTY, "17.1.h", "own dark piece touched by a penal stroke; it goes back", AUTOMATIC, "contacts", PENALTY, "stroke"),
    Clause(
        _PENALTY,
        "17.1.i",
        "after a side rail neither an own piece in the circle nor the opposite rail",
        AUTOMATIC,
        "rails",
        PENALTY,
        "stroke",
        "casual: named 17.1.f",
    ),
    Clause(_PENALTY, "17.1.j", "double hit", AUTOMATIC, "cue", PENALTY, "play"),
    Clause(_PENALTY, "17.1.k", "a piece touched in placing the striker", AUTOMATIC, "contacts", PENALTY, "touching"),
    Clause(_PENALTY, "17.1.l", "striker taken before everything has stopped", AUTOMATIC, "hands, motion", PENALTY, "touching"),
    Clause(_PENALTY, "17.1.m", "moving striker touched with hand or cue", AUTOMATIC, "hands, motion", PENALTY, "touching"),
    Clause(_PENALTY, "17.1.n", "a piece touched with cue, hand or striker", AUTOMATIC, "hands", PENALTY, "touching"),
    Clause(
        _PENALTY,
        "17.1.o",
        "a fault while the other side has the turn: what moved goes back at once",
        AUTOMATIC,
        "hands, positions",
        "penalty piece and the turn just gained, when that series ends",
        "draft",
    ),
    Clause(
        _PENALTY,
        "17.1.p",
        "a penal stroke sends opponents' pieces over a rail; they go back",
        AUTOMATIC,
        "rails",
        PENALTY,
        "play",
        "casual: by a direct stroke, lawful or not, and to the centre",
    ),
    Clause(_PENALTY, "17.1.q", "striker breaks, its greater part in a pocket or over a rail", JUDGE, "shape", PENALTY, "judge"),
    Clause(_PENALTY, "17.1.r", "30 seconds exceeded again", AUTOMATIC, "clock", PENALTY, "timing"),
    Clause(_PENALTY, "17.1.s", "struck with the cue's butt or side", JUDGE, "cue", PENALTY, "judge"),
    Clause(
        _PENALTY,
        "17.1.t",
        "doubles: a direct stroke drives an opponents' piece into their rear zone; it stays",
        AUTOMATIC,
        "positions",
        PENALTY,
        "play",
        "casual: an extra stroke for the opponents where agreed",
    ),
    Clause(_PENALTY, "17.2", "one penalty piece for all faults of a stroke", AUTOMATIC, code="draft"),
    Clause(
        _PENALTY,
        "17.3",
        "where it goes: midline at the opponent's rail, else as near as fits",
        AUTOMATIC,
        "positions",
        code="penalty",
        differs="casual: place taken, then straight to the half with fewer own pieces",
    ),
    Clause(
        _PENALTY,
        "17.4",
        "all eight on the table: a debt; forgotten, it is gone",
        AUTOMATIC,
        "count; forgetting is the judge's",
        code="draft",
    ),
    Clause(_PENALTY, "17.5", "laid out after the turn is lost, or when all eight are in", AUTOMATIC, "count", code="draft"),
    Clause(_PENALTY, "17.6", "all debts at once, as far as there is room", AUTOMATIC, "count", code="draft"),
    Clause(_PENALTY, "17.7", "a piece from over a rail is no penalty piece", AUTOMATIC, "rails", code="play"),
    Clause(_TURN, "18.1.a", "no own piece pocketed", AUTOMATIC, "pockets", TURN, "turn"),
    Clause(_TURN, "18.1.b", "an opponent's piece pocketed along with an own one", AUTOMATIC, "pockets", TURN, "turn"),
    Clause(_TURN, "18.1.c", "a piece over a rail", AUTOMATIC, "rails", TURN, "turn"),
    Clause(_TURN, "18.1.d", "a fault that earns a penalty piece", AUTOMATIC, "", TURN, "draft"),
    Clause(
        _TURN,
        "18.1.e",
        "the striker comes back over the own zone line while the player has no dark piece",
        AUTOMATIC,
        "striker's way back",
        TURN,
        "turn",
        "casual: as soon as the line shows, no exception",
    ),
    Clause(_TURN, "18.1.f", "own standing zone left", OUT_OF_SIGHT, sanction=TURN, code="judge"),
    Clause(_TURN, "18.1.g", "no stroke after the warning about time", AUTOMATIC, "clock", TURN, "timing"),
    Clause(_TURN, "18.1.h", "striker placed before the judge has finished", JUDGE, "striker", TURN, "judge"),
    *(
        Clause(_WARNING, f"19.1.{letter}", subject, JUDGE, needs, WARNING, "judge")
        for letter, subject, needs in (
            ("a", "striker placed wrongly and aimed; a wrong place is pointed out", "striker at rest"),
            ("b", "striker not passed", "striker and hands"),
            ("c", "striker put against a side rail in passing it", "striker and hands"),
            ("d", "something laid on a rail", "objects on the rails"),
            ("e", "inner edge of the rail covered in aiming", "cue and hand"),
            ("f", "measured with an aid", "objects over the table"),
            ("g", "powder wiped by hand", "hands"),
            ("h", "striker drawn with the cue", "cue"),
        )
    ),
    Clause(_WARNING, "19.1.i", "argued with the judge", OUT_OF_SIGHT, sanction=WARNING, code="judge"),
    Clause(_WARNING, "19.1.j", "talked, commented or disturbed", OUT_OF_SIGHT, sanction=WARNING, code="judge"),
    Clause(_WARNING, "19.2", "“stop” interrupts play at an opponent's fault", JUDGE),
    Clause(
        _WARNING,
        "19.3",
        "30 seconds: first told to strike within five, later sanctioned each time",
        AUTOMATIC,
        "clock",
        "turn, later turn and penalty piece",
        "timing",
    ),
    Clause(_WARNING, "19", "warnings are counted for the player through the match", DEFINED, code="judge"),
)
