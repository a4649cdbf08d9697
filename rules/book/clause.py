"""One row of the table of clauses."""

from __future__ import annotations

from typing import Final

import msgspec

AUTOMATIC: Final = "automatic"
NOTED: Final = "noted"
JUDGE: Final = "judge"
OUT_OF_SIGHT: Final = "out of sight"
DEFINED: Final = "definition"
SHEET: Final = "match sheet"

PENALTY: Final = "turn and penalty piece"
SET: Final = "set lost"
TURN: Final = "turn lost"
WARNING: Final = "warning"
MATCH: Final = "match lost"


class Clause(msgspec.Struct, frozen=True):
    """A clause of 000; `code` is the module under rules/ that applies it, `differs` what 001, 002 and 004 say otherwise."""

    section: str
    number: str
    subject: str
    who: str
    needs: str = ""
    sanction: str = ""
    code: str = ""
    differs: str = ""
