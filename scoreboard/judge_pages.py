"""The judge's console: sign in, see the last entries, ask what a command would change, send it.

Every write needs a session and comes from our own page; what anybody does or is refused goes into the journal.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import parse_qs

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from rules.errors import UNREADABLE, InputUnusable
from rules.facts import Judge
from rules.judge import is_in_book, sanction_of
from rules.orders import KINDS, SPANS_S, KeepEvidence, Order, SetClock, ShowTable, StartMatch
from rules.rulesets import RULESETS
from rules.start_position import colours_at_start
from rules.words import CLAUSES, PHRASES
from scoreboard.cards_view import command_words
from scoreboard.desk import CommandFailed, Desk
from scoreboard.incoming import Refused, body_of, is_from_our_page
from scoreboard.journal import Journal
from scoreboard.pages import HEADERS, Pages, Room, lang_of
from scoreboard.preview_view import preview_view
from scoreboard.sessions import COOKIE, LASTS_S, Session, Sessions
from scoreboard.state import MatchView
from scoreboard.wizard import MatchForm, compose
from scoreboard.words import Lang, word

MAX_BODY: Final = 8 * 1024  # bytes; the longest command the console sends is under two
CARDS: Final = 12  # as many as a judge scrolls through; the match log keeps the rest
# The picker offers what the rule book sanctions: a warning for each breach that is one, every other clause as a fault.
SANCTIONED: Final = {clause: sanction_of(clause) for clause in CLAUSES["en"] if is_in_book(clause)}
WARNINGS: Final = tuple(clause for clause, what in SANCTIONED.items() if what == "warning")
FAULTS: Final = tuple(clause for clause, what in SANCTIONED.items() if what in {"set", "penalty", "turn", "time"})
AWARDS: Final = tuple(clause for clause, what in SANCTIONED.items() if what in {"match", "rest"})

Command = Judge | SetClock | KeepEvidence | ShowTable
Sheet = Callable[[Lang], str]
Act = Callable[[Request, Session], Awaitable[Response]]


class Console:
    """The console of one table."""

    def __init__(self, sessions: Sessions, desk: Desk, room: Room, pages: Pages, journal: Journal, sheet: Sheet | None = None) -> None:
        self._sessions = sessions
        self._desk = desk
        self._room = room
        self._pages = pages
        self._journal = journal
        self._sheet = sheet

    @property
    def routes(self) -> list[Route]:
        """Its addresses, all below the cookie's path."""
        return [
            Route("/judge", self._console),
            Route("/judge/sign-in", self._sign_in, methods=["POST"]),
            Route("/judge/sign-out", self._sign_out, methods=["POST"]),
            Route("/judge/preview", self._for("preview", self._preview), methods=["POST"]),
            Route("/judge/command", self._for("command", self._command), methods=["POST"]),
            Route("/judge/match", self._for("new match", self._match), methods=["POST"]),
            Route("/judge/sheet", self._for("match sheet", self._show_sheet)),
            Route("/judge/journal", self._for("journal", self._show_journal, "admin")),
            Route("/judge/end-session", self._for("end of a session", self._end_session, "admin"), methods=["POST"]),
            Route("/judge/events", self._for("event stream", self._events)),
        ]

    def _for(self, what: str, act: Act, role: str = "judge") -> Callable[[Request], Awaitable[Response]]:
        """The act, for whoever may; others are refused and noted, and so is a body that is none of ours."""

        async def guarded(request: Request) -> Response:
            session = self._session(request)
            if session is None or not is_from_our_page(request):
                self._journal.refused(_address(request), what, "a stranger" if session is None else "from another page")
                return JSONResponse({"accepted": False, "error": "sign in first"}, 403)
            if role == "admin" and session.role != "admin":
                self._journal.refused(session.name, what, "for admins only")
                return JSONResponse({"accepted": False, "error": "for admins only"}, 403)
            try:
                return await act(request, session)
            except Refused as error:
                self._journal.refused(session.name, what, str(error))
                return JSONResponse({"accepted": False, "error": str(error)}, error.status)

        return guarded

    def _session(self, request: Request) -> Session | None:
        return self._sessions.of(request.cookies.get(COOKIE))

    # --- coming and going -----------------------------------------------------------------------------------------------

    async def _console(self, request: Request) -> Response:
        session = self._session(request)
        if session is None:
            failed = request.query_params.get("failed") is not None
            sessions = self._sessions
            return self._pages.page(
                request, "sign_in.html", self._room.table, is_open=sessions.is_open, failed=failed, is_shut=sessions.is_shut
            )
        words = CLAUSES[lang_of(request)]
        clauses = {kind: [(c, words[c]) for c in named] for kind, named in (("warning", WARNINGS), ("fault", FAULTS), ("award", AWARDS))}
        return self._pages.page(
            request,
            "judge.html",
            self._room.table,
            session=session,
            clauses=clauses,
            cards=CARDS,
            spans=SPANS_S,
            rulesets=RULESETS,
            has_sheet=self._sheet is not None,
        )

    async def _sign_in(self, request: Request) -> Response:
        if not is_from_our_page(request):
            self._journal.refused(_address(request), "sign-in", "from another page")
            return JSONResponse({"accepted": False, "error": "sign in on our own page"}, 403)
        try:
            form = parse_qs((await body_of(request, MAX_BODY)).decode(errors="replace"))
        except Refused as error:
            return PlainTextResponse(str(error), error.status)
        token = self._sessions.sign_in(form.get("name", [""])[0], form.get("password", [""])[0])
        back = f"/judge?lang={lang_of(request)}"
        session = self._sessions.of(token)
        if token is None or session is None:
            self._journal.refused(_address(request), "sign-in", "wrong password or no name")
            return RedirectResponse(f"{back}&failed=1", 303)
        self._journal.done(session.name, "sign-in", f"{session.role} from {_address(request)}")
        answer = RedirectResponse(back, 303)
        is_https = request.url.scheme == "https"
        answer.set_cookie(COOKIE, token, max_age=int(LASTS_S), path="/judge", httponly=True, samesite="strict", secure=is_https)
        return answer

    async def _sign_out(self, request: Request) -> Response:
        session = self._session(request)
        if not is_from_our_page(request):
            self._journal.refused(_address(request), "sign-out", "from another page")
            return JSONResponse({"accepted": False, "error": "sign out on our own page"}, 403)
        if session is not None:
            self._sessions.sign_out(request.cookies.get(COOKIE))
            self._journal.done(session.name, "sign-out", "")
        answer = RedirectResponse("/judge", 303)
        answer.delete_cookie(COOKIE, path="/judge")
        return answer

    # --- commands -------------------------------------------------------------------------------------------------------

    async def _preview(self, request: Request, session: Session) -> Response:
        order = _order(await body_of(request, MAX_BODY))
        try:
            found = await self._desk.send(order, session.name, preview=True)
        except CommandFailed as error:
            return _not_done(error)
        lang = lang_of(request)
        what = self._said(order, lang)
        return JSONResponse({"accepted": True, "what": what, "view": preview_view(found, lang)})

    async def _command(self, request: Request, session: Session) -> Response:
        order = _order(await body_of(request, MAX_BODY))
        return await self._sent(order, session, self._said(order, "en"))

    async def _match(self, request: Request, session: Session) -> Response:
        body = await body_of(request, MAX_BODY)
        try:
            form = msgspec.json.decode(body, type=MatchForm)
        except UNREADABLE as error:
            raise Refused(f"no match: {error}") from error
        if form.force and session.role != "admin":
            raise Refused("breaking off a match is for admins only", 403)
        now = datetime.now(UTC)
        try:
            found = colours_at_start([s.disc for s in self._room.snapshot().discs])
            match = compose(form, found, f"{now:%Y-%m-%dT%H:%M:%SZ}-{secrets.token_hex(2)}")
        except InputUnusable as error:
            return _not_done(error)
        order = StartMatch(command="start_match", match=match, force=form.force)
        names = " – ".join(player.name for player in match.players.values())
        if request.query_params.get("preview") is None:
            return await self._sent(order, session, f"new match {names}")
        try:
            await self._desk.send(order, session.name, preview=True)
        except CommandFailed as error:
            return _not_done(error)
        lang = lang_of(request)
        seats = [
            [player.name, f"{word('rail_side', lang, side=PHRASES[lang][f'side_{side}'])} · {word(player.colour, lang)}", ""]
            for side, player in match.players.items()
        ]
        begins = word("begins", lang, who=match.players[match.first_turn].name)
        rules = f"{word(f'rules_{match.ruleset}', lang)}, {match.sets} {word('sets', lang).lower()}"
        view: dict[str, Any] = {"text": f"{begins}. {rules}.", "rows": seats, "entries": [], "nothing": ""}
        return JSONResponse({"accepted": True, "what": word("new_match", lang), "view": view})

    async def _sent(self, order: Order, session: Session, said: str) -> Response:
        try:
            found = await self._desk.send(order, session.name)
        except CommandFailed as error:
            self._journal.refused(session.name, said, str(error))
            return _not_done(error)
        self._journal.done(session.name, said, "" if found.get("entry") is None else f"entry {found['entry']}")
        return JSONResponse({"accepted": True, "entry": found.get("entry")})

    def _said(self, order: Command, lang: Lang) -> str:
        if isinstance(order, SetClock):
            return word(f"clock_{order.span}" if order.run else "clock_stop", lang)
        return command_words(msgspec.to_builtins(order), self._room.snapshot().match or MatchView(), lang)

    # --- for admins, and the stream ------------------------------------------------------------------------------------

    async def _show_journal(self, request: Request, session: Session) -> Response:
        return self._pages.page(
            request, "journal.html", self._room.table, session=session, lines=self._journal.lines, sessions=self._sessions.all
        )

    async def _end_session(self, request: Request, session: Session) -> Response:
        form = parse_qs((await body_of(request, MAX_BODY)).decode(errors="replace"))
        whose = self._sessions.end(form.get("key", [""])[0])
        if whose is not None:
            self._journal.done(session.name, f"end of {whose}'s session", "")
        return RedirectResponse(f"/judge/journal?lang={lang_of(request)}", 303)

    async def _show_sheet(self, request: Request, _session: Session) -> Response:
        """The match sheet with its own style, which the policy lets through by its hash."""
        if self._sheet is None:
            raise Refused("the match sheet is where the log is: on the table's own board", 404)
        page = await run_in_threadpool(self._sheet, lang_of(request))
        style = page.partition("<style>")[2].partition("</style>")[0]
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        policy = HEADERS["content-security-policy"].replace("style-src 'self'", f"style-src 'sha256-{digest}'")
        return HTMLResponse(page, headers={"content-security-policy": policy})

    async def _events(self, request: Request, _session: Session) -> Response:
        return self._pages.events(request, self._room, ("link", "discs", "picture", "match", "ruling", "cards", "clock", "evidence"))


def _not_done(error: Exception) -> Response:
    """The table's own no: an answer like any other, and no failure of the request."""
    return JSONResponse({"accepted": False, "error": str(error)})


def _order(body: bytes) -> Command:
    """A command of the console; a match is begun by its own form."""
    try:
        name = str(msgspec.json.decode(body, type=Mapping[str, Any]).get("command"))
        order = msgspec.json.decode(body, type=KINDS.get(name, Judge))
    except UNREADABLE as error:
        raise Refused(f"no judge command: {error}") from error
    if isinstance(order, StartMatch):
        raise Refused("a match is begun by its own form")
    return order


def _address(request: Request) -> str:
    return request.client.host if request.client else "?"
