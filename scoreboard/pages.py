"""The web application: pages, static files and the event stream; reads the store, writes nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rules.words import PHRASES
from scoreboard.desk import Desk
from scoreboard.hub import Hub, Render
from scoreboard.judge_pages import judge_routes
from scoreboard.sessions import Sessions
from scoreboard.state import Snapshot
from scoreboard.view import link_view, section_view
from scoreboard.words import LANG_NAMES, Lang, pick_lang, word

STATIC: Final = Path(__file__).parent / "static"
PARTS: Final = ("score", "ruling", "table")
THEMES: Final = ("light", "dark")
HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'self'",
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


def make_app(
    table: str, hub: Hub, snapshot: Callable[[], Snapshot], clock_s: Callable[[], float], sessions: Sessions, desk: Desk
) -> Starlette:
    """The application of one table's board; `clock_s` is the monotonic clock that stamped the snapshot."""
    templates = Environment(
        loader=PackageLoader("scoreboard"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )

    def page(request: Request, template: str, **more: object) -> HTMLResponse:
        lang = pick_lang(request.query_params.get("lang"), request.headers.get("accept-language", ""))
        theme = request.query_params.get("theme", "")
        theme = theme if theme in THEMES else ""

        def link(**changed: str) -> str:
            asked = {"lang": request.query_params.get("lang", ""), "theme": theme, **changed}
            return urlencode({key: value for key, value in asked.items() if value})

        def w(key: str, **parts: object) -> str:
            return word(key, lang, **parts)

        body = templates.get_template(template).render(
            w=w, link=link, lang=lang, theme=theme, table=table, langs=LANG_NAMES.items(), phrases=PHRASES[lang], **more
        )
        return HTMLResponse(body, headers={"content-language": lang, "vary": "accept-language"})

    def render_in(lang: Lang) -> Render:
        return lambda section: msgspec.json.encode(section_view(section, snapshot(), lang, clock_s())).decode()

    async def board(request: Request) -> Response:
        return page(request, "board.html")

    async def overlay(request: Request) -> Response:
        asked = request.query_params.get("parts", ",".join(PARTS)).split(",")
        return page(request, "overlay.html", parts=[part for part in PARTS if part in asked])

    async def events(request: Request) -> Response:
        if hub.is_full:
            return PlainTextResponse("too many open pages", status_code=503, headers={"retry-after": "5"})
        stream = hub.stream(render_in(pick_lang(request.query_params.get("lang"))))
        return StreamingResponse(stream, media_type="text/event-stream", headers={"cache-control": "no-store", "x-accel-buffering": "no"})

    async def healthz(_request: Request) -> Response:
        now = snapshot()
        return JSONResponse(
            {"status": "ok", "table": table, "broker": now.broker, "monitor": now.monitor, "why": link_view(now, clock_s())["why"]}
        )

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        hub.open()
        yield

    app = Starlette(
        routes=[
            Route("/", board),
            Route("/overlay", overlay),
            Route("/events", events),
            Route("/healthz", healthz),
            *judge_routes(sessions, desk, hub, page, render_in),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        lifespan=lifespan,
    )
    app.add_middleware(SafeHeaders)
    return app
