"""Names of discs: given once, kept while a disc is followed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rules.table import Kind
from vision.motion.track import Track

_LETTER: Final[dict[Kind, str]] = {"red": "r", "black": "b", "striker": "striker"}


def new_id(kind: Kind, taken: Mapping[str, Track]) -> str:
    """A free id for a disc that has never been seen: r1, r2 … b1 … or striker."""
    letter = _LETTER[kind]
    if kind == "striker":
        return letter
    number = 1
    while f"{letter}{number}" in taken:
        number += 1
    return f"{letter}{number}"
