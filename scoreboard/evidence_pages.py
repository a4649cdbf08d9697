"""Clips and stills over HTTP: each piece's page, its two files, and one file to take home. Nothing here writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from scoreboard.evidence_view import about_view, film_of
from scoreboard.pages import Pages, Room, lang_of
from scoreboard.words import Lang

SHOWN: Final = 60  # pieces on the page of all: more than a match, still light on a phone
TYPES: Final = {".mp4": "video/mp4", ".webm": "video/webm", ".jpg": "image/jpeg"}
# A piece's clip and still never change; its record may, when a judge edits the ruling.
FOR_EVER: Final = {"cache-control": "private, max-age=31536000, immutable"}


class Gallery(Protocol):
    """Where the files are. Names that are none, and files that are not a piece's own, are nothing."""

    def names(self) -> Sequence[str]:
        """All pieces, oldest first."""
        ...

    def piece(self, name: str) -> dict[str, Any] | None:
        """The record of one."""
        ...

    def file(self, name: str, wanted: str) -> Path | None:
        """Its clip or still."""
        ...

    def as_html(self, name: str, lang: Lang) -> str | None:
        """Everything of one in a single file."""
        ...


def evidence_routes(gallery: Gallery, room: Room, pages: Pages) -> list[Route]:
    """Everything below `/evidence`; whoever may see the board may see what its rulings rest on."""

    async def piece_of(request: Request) -> dict[str, Any]:
        found = await run_in_threadpool(gallery.piece, request.path_params["name"])
        if found is None:
            raise HTTPException(404, "no such evidence")
        return found

    async def all_pieces(request: Request) -> Response:
        lang = lang_of(request)

        def read() -> list[dict[str, Any]]:
            names = list(gallery.names())[: -SHOWN - 1 : -1]
            return [about_view(piece, lang) for name in names if (piece := gallery.piece(name)) is not None]

        return pages.page(request, "evidence_list.html", room.table, pieces=await run_in_threadpool(read))

    async def page(request: Request) -> Response:
        about = about_view(await piece_of(request), lang_of(request))
        return pages.page(request, "evidence.html", room.table, about=about)

    async def film(request: Request) -> Response:
        return JSONResponse(film_of(await piece_of(request)))

    async def file(request: Request) -> Response:
        path = await run_in_threadpool(gallery.file, request.path_params["name"], request.path_params["file"])
        if path is None:
            raise HTTPException(404, "no such file")
        return FileResponse(path, media_type=TYPES.get(path.suffix), headers=FOR_EVER)

    async def export(request: Request) -> Response:
        name = request.path_params["name"]
        whole = await run_in_threadpool(gallery.as_html, name, lang_of(request))
        if whole is None:
            raise HTTPException(404, "no such evidence")
        return HTMLResponse(whole, headers={"content-disposition": f'attachment; filename="novuss-{name}.html"'})

    return [
        Route("/evidence", all_pieces),
        Route("/evidence/{name}", page),
        Route("/evidence/{name}/film.json", film),
        Route("/evidence/{name}/export.html", export),
        Route("/evidence/{name}/{file}", file),
    ]
