"""Many tables of one broker behind one address: a list of all, and each table's own board and overlay below `/table/<name>`."""

from __future__ import annotations

import time
from functools import partial
from typing import Any, Final
from urllib.parse import quote

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from device import topics
from scoreboard.feed import Feed
from scoreboard.hall_view import hall_view, needs_judge
from scoreboard.hub import Hub
from scoreboard.pages import Pages, Room, application, board_routes, lang_of, stream_of
from scoreboard.service import Service
from scoreboard.state import Section
from scoreboard.stats_pages import stats_routes
from scoreboard.store import Store

MAX_TABLES: Final = 500  # a hall has tens; names are made by whoever publishes, so their number is bounded
HALL_SECTIONS: Final[tuple[Section, ...]] = ("link", "hall")
IN_LIST: Final = frozenset({"link", "match", "ruling"})  # what the list shows of a table; moving discs don't change it


class Hall(Service):
    """Serves every table that publishes below `novuss/`."""

    def __init__(self, broker_url: str, host: str = "127.0.0.1", port: int = 8090) -> None:
        self._stores: dict[str, Store] = {}
        self._up = False
        self._pages = Pages(time.monotonic)
        feed = Feed(broker_url, f"{topics.PREFIX}/#", self._on_message, self._on_link)
        routes = [
            Route("/", self._list),
            Route("/events", self._events),
            Route("/healthz", self._healthz),
            *board_routes("/table/{table}/", self._room, self._pages),
            *stats_routes("/table/{table}/", self._room, self._pages),
        ]
        hub = Hub()
        super().__init__(feed, hub, application(routes, hub), host, port)

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables that have published something."""
        return tuple(self._stores)

    # --- MQTT's thread ------------------------------------------------------------------------------------------------

    def _on_link(self, up: bool) -> None:
        self._up = up
        for store in list(self._stores.values()):
            store.on_link(up)
        self._hub.mark_from_thread(HALL_SECTIONS)

    def _on_message(self, topic: str, payload: bytes, retained: bool) -> None:
        parts = topic.split("/", 2)
        if len(parts) < 3 or not parts[1]:
            return
        store = self._store(parts[1])
        if store is not None:
            store.on_message(parts[2], payload, retained)

    def _store(self, table: str) -> Store | None:
        store = self._stores.get(table)
        if store is None and len(self._stores) < MAX_TABLES:
            store = Store(partial(self._changed, table), partial(self._ask, table))
            store.on_link(self._up)
            self._stores[table] = store
        return store

    def _changed(self, table: str, sections: tuple[Section, ...]) -> None:
        self._hub.mark_from_thread(sections, table)
        if IN_LIST.intersection(sections):
            self._hub.mark_from_thread(("hall",))

    def _ask(self, table: str, request: dict[str, Any]) -> None:
        self._feed.publish(f"{topics.PREFIX}/{table}/{topics.REPLAY.name}", msgspec.json.encode(request), topics.REPLAY.qos)

    # --- pages --------------------------------------------------------------------------------------------------------

    def _room(self, request: Request) -> Room:
        table = request.path_params["table"]
        store = self._stores.get(table)
        if store is None:
            raise HTTPException(404, "no such table")
        return Room(table, f"/table/{quote(table, safe='')}", self._hub, lambda: store.snapshot, table)

    async def _list(self, request: Request) -> Response:
        return self._pages.page(request, "hall.html", topics.PREFIX)

    async def _events(self, request: Request) -> Response:
        lang = lang_of(request)

        def render(section: Section) -> str:
            if section == "link":
                return msgspec.json.encode({"why": "" if self._up else "broker"}).decode()
            snapshots = {name: store.snapshot for name, store in list(self._stores.items())}
            return msgspec.json.encode(hall_view(snapshots, lang, time.monotonic())).decode()

        return stream_of(self._hub, self._hub.stream(render, HALL_SECTIONS))

    async def _healthz(self, _request: Request) -> Response:
        snapshots = [store.snapshot for store in list(self._stores.values())]
        return JSONResponse({"status": "ok", "broker": self._up, "tables": len(snapshots), "need_judge": sum(map(needs_judge, snapshots))})
