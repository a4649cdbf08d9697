"""What is written down about one piece of evidence, and the words for evidence that there is none of."""

from __future__ import annotations

import re
from typing import Any, Final, Literal

import msgspec

NAME: Final = re.compile(r"[0-9]{7,12}-[0-9a-f]{8}")  # counted for the ring's order, random so that no two ever share one
RECORD: Final = "evidence.json"
STILL: Final = "still.jpg"

# What protects a piece from being the next that makes room.
Ground = Literal["review", "overridden", "voided", "judge"]


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """The frame that the ruling names: what happened in it, when (s, the source's clock), and where it is in the clip."""

    event: str
    t_s: float
    seq: int
    index: int
    clip_s: float


class Clip(msgspec.Struct, frozen=True, kw_only=True):
    """The moving picture; `frames` holds each frame's number at the source and its own time in the clip, microseconds."""

    file: str
    codec: str
    width: int
    height: int
    frames: list[tuple[int, int]]


class Protection(msgspec.Struct, frozen=True, kw_only=True):
    """Why a piece is kept whatever the ring does, since when, and who said so."""

    ground: Ground
    at: str
    by: str | None = None


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """One ruling's evidence as its folder says it."""

    evidence: str
    table: str
    match_id: str | None
    entry: int
    at: str | None
    ruling: dict[str, Any]
    names: dict[str, str]
    moment: Moment
    clip: Clip
    corrected: bool = False
    protected: list[Protection] = []
    schema: str = "novuss.evidence/1"


def is_name(text: str) -> bool:
    """Whether a text can be the name of a piece; anything else never gets near a path."""
    return NAME.fullmatch(text) is not None
