"""The shelf as the board sees it, and a piece as one file to take home: clip, still, words and player, nothing loaded from anywhere."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined

from device.evidence.record import STILL
from device.evidence.shelf import Shelf
from rules.words import Lang
from scoreboard.evidence_view import about_view
from scoreboard.pages import STATIC
from scoreboard.words import word

_TYPES: Final = {".mp4": "video/mp4", ".webm": "video/webm", ".jpg": "image/jpeg"}


class ShelfGallery:
    """A folder of evidence for reading; see `scoreboard.evidence_pages.Gallery`."""

    def __init__(self, folder: Path) -> None:
        self._shelf = Shelf(folder)

    def names(self) -> Sequence[str]:
        """All pieces, oldest first."""
        return self._shelf.names()

    def piece(self, name: str) -> dict[str, Any] | None:
        """The record of one."""
        found = self._shelf.get(name)
        return None if found is None else msgspec.to_builtins(found)

    def file(self, name: str, wanted: str) -> Path | None:
        """Its clip or still."""
        return self._shelf.file(name, wanted)

    def as_html(self, name: str, lang: Lang) -> str | None:
        """Everything of one in a single file."""
        piece = self.piece(name)
        if piece is None:
            return None
        about = about_view(piece, lang)
        clip, still = self._shelf.file(name, about["film"]["file"]), self._shelf.file(name, STILL)
        if clip is None or still is None:
            return None
        script = (STATIC / "player.js").read_text(encoding="utf-8").replace("export class", "class") + _START
        style = "".join((STATIC / sheet).read_text(encoding="utf-8") for sheet in ("board.css", "evidence.css"))
        templates = Environment(
            loader=PackageLoader("scoreboard"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        return templates.get_template("evidence_file.html").render(
            w=partial(_word, lang),
            lang=lang,
            about=about,
            # Inside a script element the only way out is a tag: none may begin in the data.
            film=json.dumps(about["film"]).replace("<", "\\u003c"),
            script=script,
            style=style,
            script_hash=_hash(script),
            style_hash=_hash(style),
            clip_src=_inline(clip),
            still_src=_inline(still),
        )


_START: Final = """
const player = new Player(document.querySelector('[data-part="player"]'));
document.addEventListener("keydown", (event) => player.key(event));
player.show(JSON.parse(document.getElementById("film").textContent));
"""


def _word(lang: Lang, key: str, **parts: object) -> str:
    return word(key, lang, **parts)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _inline(file: Path) -> str:
    return f"data:{_TYPES[file.suffix]};base64,{base64.b64encode(file.read_bytes()).decode()}"
