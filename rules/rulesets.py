"""The rulesets as data: what each document says otherwise than the 2008 rules. Adding one is one entry here.

Clause numbers are those of 000 for every ruleset; `sources` names the own section of a document that differs.
"""

from __future__ import annotations

from typing import Final

import msgspec

RETURN_FULL_MM: Final = 5.5  # 12.9, 18.1.e: half a line and the smallest hole radius (26.1: 10 mm), no line left in the hole
RETURN_SHOWS_MM: Final = -5.5  # 002: the line's near edge enters the hole


class Ruleset(msgspec.Struct, frozen=True):
    """Where the documents differ; the defaults are lnf-2008."""

    name: str
    side_rail_opens_circle: bool = True  # 11.4.c, 13.3.e
    opposite_rail_at_any_time: bool = False  # only dark pieces: 11.4.b wants it before any piece, 002 at any time
    direct_over_rail_is_penal: bool = False  # 002: a direct stroke that sends an opponent's piece over a rail
    return_limit_mm: float = RETURN_FULL_MM  # 18.1.e
    dark_piece_excuses_return: bool = True  # 12.9
    nearer_side_first: bool = True  # 17.3
    penalty_stroke_possible: bool = False  # 002 doubles 4, where the players agreed on it (Match.penalty_stroke)
    changes_until_last_result: bool = False  # 22.4: 2008 wants changes to the next round before the last game, 001 before its result
    sources: dict[str, str] = {}


LNF_2008: Final = Ruleset("lnf-2008")
LNF_CURRENT: Final = Ruleset(
    "lnf-current",
    changes_until_last_result=True,
    sources={
        "20.4": "001 Vienspēles",
        "20.5": "001 Vienspēles",
        "20.6": "001 Vienspēles",
        "21.7": "001 Dubultspēles",
    },
)
CASUAL: Final = Ruleset(
    "casual",
    side_rail_opens_circle=False,
    opposite_rail_at_any_time=True,
    direct_over_rail_is_penal=True,
    return_limit_mm=RETURN_SHOWS_MM,
    dark_piece_excuses_return=False,
    nearer_side_first=False,
    penalty_stroke_possible=True,
    sources={
        "17.1.a": "002 Mīnuss",
        "17.1.b": "002 Mīnuss",
        "17.1.c": "002 Mīnuss",
        "17.1.d": "002 Mīnuss",
        "17.1.e": "002 Mīnuss",
        "17.1.f": "002 Mīnuss",
        "17.1.h": "002 Mīnuss",
        "17.1.p": "002 Mīnuss",
        "17.1.t": "002 Dubultspēles 3",
        "21.7": "002 Dubultspēles 7",
    },
)
RULESETS: Final[dict[str, Ruleset]] = {r.name: r for r in (LNF_2008, LNF_CURRENT, CASUAL)}
