"""The page with a match in figures, and its drawings as SVG."""

from __future__ import annotations

from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rules.stats import WAYS
from scoreboard.drawing import as_svg
from scoreboard.pages import Pages, Room, lang_of
from scoreboard.stats_view import PLAYERS, Theme, drawings


def stats_routes(path: str, room_of: Callable[[Request], Room], pages: Pages) -> list[Route]:
    """The page, its stream and its pictures below `path`; `room_of` may raise a 404."""

    async def page(request: Request) -> Response:
        room = room_of(request)
        return pages.page(request, "stats.html", room.table, room.base, players=PLAYERS, ways=WAYS)

    async def events(request: Request) -> Response:
        return pages.events(request, room_of(request), ("link", "match", "stats"))

    async def picture(request: Request) -> Response:
        room = room_of(request)
        theme: Theme = "light" if request.query_params.get("theme") == "light" else "dark"
        drawing = drawings(room.snapshot().stats, lang_of(request), theme).get(request.path_params["name"])
        if drawing is None:
            raise HTTPException(404, "no such picture")
        return Response(as_svg(drawing), media_type="image/svg+xml")

    below = path.rstrip("/")
    return [
        Route(f"{below}/stats", page),
        Route(f"{below}/stats/events", events),
        Route(f"{below}/stats/{{name}}.svg", picture),
    ]
