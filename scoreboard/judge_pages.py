"""The judge's console: sign in, see the last entries, send commands. Every write needs a session and comes from our own page."""

from __future__ import annotations

import logging
from typing import Final
from urllib.parse import parse_qs, urlsplit

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from rules.facts import Judge
from rules.words import CLAUSES
from scoreboard.desk import CommandFailed, Desk
from scoreboard.pages import Pages, Room, lang_of
from scoreboard.sessions import COOKIE, LASTS_S, Sessions

log = logging.getLogger(__name__)

MAX_BODY: Final = 8 * 1024  # bytes; the longest command the console sends is under one
WARNINGS: Final = tuple(clause for clause in CLAUSES["en"] if clause.startswith("19.1."))  # 19.1.a-j
FAULTS: Final = tuple(clause for clause in CLAUSES["en"] if clause.startswith(("16.1.", "17.1.", "18.1.")))
CARDS: Final = 8  # as many as a judge scrolls through; the match log keeps the rest


class _TooLong(Exception):
    """A body that no form of ours sends."""


def judge_routes(sessions: Sessions, desk: Desk, room: Room, pages: Pages) -> list[Route]:
    """The console's routes for one table."""

    def judge_of(request: Request) -> str | None:
        return sessions.name_of(request.cookies.get(COOKIE))

    async def console(request: Request) -> Response:
        name = judge_of(request)
        if name is None:
            failed = request.query_params.get("failed") is not None
            return pages.page(request, "sign_in.html", room.table, is_open=sessions.is_open, failed=failed, is_shut=sessions.is_shut)
        lang = lang_of(request)
        clauses = {kind: [(c, CLAUSES[lang][c]) for c in named] for kind, named in (("warning", WARNINGS), ("fault", FAULTS))}
        return pages.page(request, "judge.html", room.table, judge=name, clauses=clauses, cards=CARDS)

    async def sign_in(request: Request) -> Response:
        if not _is_from_our_page(request):
            return _stranger(request, "sign-in from another page")
        try:
            form = parse_qs((await _body(request)).decode(errors="replace"))
        except _TooLong as error:
            return PlainTextResponse(str(error), 413)
        token = sessions.sign_in(form.get("name", [""])[0], form.get("password", [""])[0])
        back = f"/judge?lang={lang_of(request)}"
        if token is None:
            log.warning("judge's console: a sign-in from %s failed", _address(request))
            return RedirectResponse(f"{back}&failed=1", 303)
        answer = RedirectResponse(back, 303)
        answer.set_cookie(
            COOKIE, token, max_age=int(LASTS_S), path="/judge", httponly=True, samesite="strict", secure=request.url.scheme == "https"
        )
        return answer

    async def sign_out(request: Request) -> Response:
        if not _is_from_our_page(request):
            return _stranger(request, "sign-out from another page")
        sessions.sign_out(request.cookies.get(COOKIE))
        answer = RedirectResponse("/judge", 303)
        answer.delete_cookie(COOKIE, path="/judge")
        return answer

    async def command(request: Request) -> Response:
        name = judge_of(request)
        if name is None or not _is_from_our_page(request):
            return _stranger(request, "command without a session")
        try:
            asked = msgspec.json.decode(await _body(request), type=Judge)
        except (msgspec.DecodeError, _TooLong) as error:
            return JSONResponse({"accepted": False, "error": f"no judge command: {error}"}, 400)
        try:
            found = await desk.send(asked, name)
        except CommandFailed as error:
            return JSONResponse({"accepted": False, "error": str(error)}, 409)
        return JSONResponse({"accepted": True, "entry": found.get("entry")})

    async def events(request: Request) -> Response:
        if judge_of(request) is None:
            return _stranger(request, "event stream without a session")
        return pages.events(request, room, ("link", "discs", "match", "ruling", "cards"))

    return [
        Route("/judge", console),
        Route("/judge/sign-in", sign_in, methods=["POST"]),
        Route("/judge/sign-out", sign_out, methods=["POST"]),
        Route("/judge/command", command, methods=["POST"]),
        Route("/judge/events", events),
    ]


def _stranger(request: Request, what: str) -> Response:
    log.warning(
        "judge's console: %s refused (%s %s from %s)",
        what,
        request.method,
        request.url.path,
        request.client.host if request.client else "?",
    )
    return JSONResponse({"accepted": False, "error": "sign in first"}, 403)


def _address(request: Request) -> str:
    return request.client.host if request.client else "?"


def _is_from_our_page(request: Request) -> bool:
    """Browsers name the page a write comes from; another site's page can't forge it. Other programs name none and need the cookie."""
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


async def _body(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise _TooLong(f"longer than {MAX_BODY} bytes")
    return body
