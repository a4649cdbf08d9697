"""Set-up as a page: the live picture, what is said, the question at hand. Only for whoever knows the admin's password."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from device.setup.browser import BrowserTalk
from rules.errors import UNREADABLE
from scoreboard.incoming import Refused, body_of, is_from_our_page
from scoreboard.pages import STATIC, SafeHeaders
from scoreboard.sessions import Sessions

PAGES: Final = Path(__file__).parent / "pages"
COOKIE: Final = "novuss_setup"
LASTS_S: Final = 4 * 3600  # nobody stands on a ladder longer
MAX_BODY: Final = 4096  # bytes; the longest answer is a file's name

Act = Callable[[Request], Awaitable[Response]]
Asked = TypeVar("Asked")


class SignIn(msgspec.Struct, frozen=True):
    """Who comes in."""

    password: str


class Answer(msgspec.Struct, frozen=True):
    """An answer to the question of that number."""

    number: int
    text: str


def application(talk: BrowserTalk, password: str) -> Starlette:
    """The pages of one set-up."""
    sessions = Sessions({"admin": password}, time.monotonic)

    def is_signed_in(request: Request) -> bool:
        return sessions.of(request.cookies.get(COOKIE)) is not None

    def guarded(act: Act) -> Act:
        async def guard(request: Request) -> Response:
            if not is_signed_in(request) or not is_from_our_page(request):
                return JSONResponse({"error": "sign in first"}, 403)
            try:
                return await act(request)
            except Refused as error:
                return JSONResponse({"error": str(error)}, error.status)

        return guard

    async def page(request: Request) -> Response:
        return FileResponse(PAGES / ("setup.html" if is_signed_in(request) else "sign_in.html"), headers={"cache-control": "no-store"})

    async def sign_in(request: Request) -> Response:
        if not is_from_our_page(request):
            return JSONResponse({"error": "sign in on our own page"}, 403)
        try:
            asked = _decoded(await body_of(request, MAX_BODY), SignIn)
        except Refused as error:
            return JSONResponse({"error": str(error)}, error.status)
        token = sessions.sign_in("admin", asked.password)
        if token is None:
            why = "too many wrong passwords: wait half a minute" if sessions.is_shut else "wrong password"
            return JSONResponse({"error": why}, 403)
        answer = JSONResponse({"error": None})
        answer.set_cookie(COOKIE, token, max_age=LASTS_S, httponly=True, samesite="strict", secure=request.url.scheme == "https")
        return answer

    async def state(_request: Request) -> Response:
        return JSONResponse(talk.state(), headers={"cache-control": "no-store"})

    async def answer(request: Request) -> Response:
        given = _decoded(await body_of(request, MAX_BODY), Answer)
        return JSONResponse({"taken": talk.answer(given.number, given.text)})

    async def enough(_request: Request) -> Response:
        talk.enough()
        return JSONResponse({"taken": True})

    async def picture(_request: Request) -> Response:
        data = await run_in_threadpool(talk.jpeg)
        return _image(data, "image/jpeg")

    async def report(_request: Request) -> Response:
        return _image(talk.report, "image/png")

    async def icon(_request: Request) -> Response:
        return FileResponse(STATIC / "icon.svg", media_type="image/svg+xml")

    async def away(_request: Request) -> Response:
        return RedirectResponse("/", 303)

    app = Starlette(
        routes=[
            Route("/", page),
            Route("/sign-in", sign_in, methods=["POST"]),
            Route("/sign-in", away),
            Route("/state", guarded(state)),
            Route("/answer", guarded(answer), methods=["POST"]),
            Route("/enough", guarded(enough), methods=["POST"]),
            Route("/picture.jpg", guarded(picture)),
            Route("/report.png", guarded(report)),
            Route("/favicon.ico", icon),
            Mount("/static", StaticFiles(directory=PAGES)),
        ]
    )
    app.add_middleware(SafeHeaders)
    return app


def _image(data: bytes | None, kind: str) -> Response:
    return Response(status_code=204) if data is None else Response(data, media_type=kind, headers={"cache-control": "no-store"})


def _decoded(body: bytes, kind: type[Asked]) -> Asked:
    try:
        return msgspec.json.decode(body, type=kind)
    except UNREADABLE as error:
        raise Refused(str(error)) from error
