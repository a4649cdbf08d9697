"""The web application: pages, static files and the event stream; reads the store, writes nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rules.words import PHRASES
from scoreboard.evidence_view import evidence_view
from scoreboard.hub import BOARD_SECTIONS, Hub
from scoreboard.state import Section, Snapshot
from scoreboard.view import link_view, section_view
from scoreboard.words import LANG_NAMES, Lang, pick_lang, word

STATIC: Final = Path(__file__).parent / "static"
PARTS: Final = ("score", "ruling", "table")
THEMES: Final = ("light", "dark")
HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}


class SafeHeaders:
    """Adds the security headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and complete the answer's headers."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("cache-control", "no-cache")
            await send(message)

        await self._app(scope, receive, with_headers)


@dataclass(frozen=True, slots=True)
class Room:
    """One table as the pages see it; `base` is what its addresses begin with, `key` is its name in the hub."""

    table: str
    base: str
    hub: Hub
    snapshot: Callable[[], Snapshot]
    key: str = ""
    has_evidence: bool = False  # whether clips and stills are served from here


class Pages:
    """Renders templates and sections in the language and theme that a request asks for."""

    def __init__(self, clock_s: Callable[[], float]) -> None:
        self._clock_s = clock_s
        self._templates = Environment(
            loader=PackageLoader("scoreboard"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )

    def page(self, request: Request, template: str, table: str, base: str = "", **more: object) -> HTMLResponse:
        """One page as an answer; `more` are the template's own values."""
        lang = lang_of(request)
        theme = request.query_params.get("theme", "")
        theme = theme if theme in THEMES else ""

        def link(**changed: str) -> str:
            asked = {"lang": request.query_params.get("lang", ""), "theme": theme, **changed}
            return urlencode({key: value for key, value in asked.items() if value})

        def w(key: str, **parts: object) -> str:
            return word(key, lang, **parts)

        known = {"lang": lang, "theme": theme, "table": table, "base": base, "langs": LANG_NAMES.items(), "phrases": PHRASES[lang]}
        body = self._templates.get_template(template).render(w=w, link=link, **known, **more)
        return HTMLResponse(body, headers={"content-language": lang, "vary": "accept-language"})

    def events(self, request: Request, room: Room, sections: tuple[Section, ...] = BOARD_SECTIONS) -> Response:
        """The stream of a table's sections."""
        lang = lang_of(request)

        def render(section: Section) -> str:
            now = room.snapshot()
            if section == "evidence":
                return msgspec.json.encode(evidence_view(now, lang, room.base, is_here=room.has_evidence)).decode()
            return msgspec.json.encode(section_view(section, now, lang, self._clock_s(), room.base)).decode()

        return stream_of(room.hub, room.hub.stream(render, sections, room.key))

    def why(self, room: Room) -> str:
        """What is wrong with the link to a table, "" for nothing."""
        return str(link_view(room.snapshot(), self._clock_s())["why"])


def lang_of(request: Request) -> Lang:
    """The language of the address, else the browser's."""
    return pick_lang(request.query_params.get("lang"), request.headers.get("accept-language", ""))


def stream_of(hub: Hub, events: AsyncIterator[str]) -> Response:
    """Server-sent events as an answer, or a refusal when too many pages are open."""
    if hub.is_full:
        return PlainTextResponse("too many open pages", status_code=503, headers={"retry-after": "5"})
    return StreamingResponse(events, media_type="text/event-stream", headers={"cache-control": "no-store", "x-accel-buffering": "no"})


def board_routes(path: str, room_of: Callable[[Request], Room], pages: Pages) -> list[Route]:
    """Board, overlay, stream and health of a table below `path`; `room_of` may raise a 404."""

    async def board(request: Request) -> Response:
        room = room_of(request)
        return pages.page(request, "board.html", room.table, room.base)

    async def overlay(request: Request) -> Response:
        room = room_of(request)
        asked = request.query_params.get("parts", ",".join(PARTS)).split(",")
        return pages.page(request, "overlay.html", room.table, room.base, parts=[part for part in PARTS if part in asked])

    async def events(request: Request) -> Response:
        return pages.events(request, room_of(request))

    async def picture(request: Request) -> Response:
        """The newest picture of the camera; nothing, and no fault, when it has just gone."""
        seen = room_of(request).snapshot().camera
        if seen is None or seen.jpeg is None:
            return Response(status_code=204)
        return Response(seen.jpeg, media_type="image/jpeg", headers={"cache-control": "no-store"})

    async def healthz(request: Request) -> Response:
        room = room_of(request)
        now = room.snapshot()
        return JSONResponse({"status": "ok", "table": room.table, "broker": now.broker, "monitor": now.monitor, "why": pages.why(room)})

    below = path.rstrip("/")
    return [
        Route(path, board),
        Route(f"{below}/overlay", overlay),
        Route(f"{below}/events", events),
        Route(f"{below}/picture.jpg", picture),
        Route(f"{below}/healthz", healthz),
    ]


def application(routes: list[Route], hub: Hub) -> Starlette:
    """The routes, the static files and the safe headers as one application that opens the hub when it starts."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        hub.open()
        yield

    async def icon(_request: Request) -> Response:
        """Browsers ask for it on pages that name none, such as the match sheet."""
        return FileResponse(STATIC / "icon.svg", media_type="image/svg+xml")

    app = Starlette(routes=[*routes, Route("/favicon.ico", icon), Mount("/static", StaticFiles(directory=STATIC))], lifespan=lifespan)
    app.add_middleware(SafeHeaders)
    return app
