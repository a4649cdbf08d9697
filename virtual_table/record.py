"""A stroke's truth in the contract's words, from the exact contact log and the tracks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

from rules.table import ZONE_LINE_MM, Side, depth_mm, hole_radius_mm
from virtual_table.motion import Track
from virtual_table.physics import Contact

RETURN_FROM_MM: Final = -(hole_radius_mm("striker") + 0.5)  # the line is visible in the hole from here on


def position(tracks: Iterable[Track], t: float) -> dict[str, Any]:
    """All discs on the table at `t`, as a `before`/`after` of the contract."""
    discs = []
    for track in tracks:
        place = track.at(t)
        if place is not None and place.on_table:
            discs.append({"id": track.id, "kind": track.kind, "x_mm": place.x_mm, "y_mm": place.y_mm})
    return {"discs": discs}


def timeline(
    log: Sequence[Contact], striker: Track, side: Side, placed: tuple[float, float, float], struck_s: float, rest_s: float
) -> list[dict[str, Any]]:
    """Events from placing to rest, in time order; contacts of the striker at one instant are one event."""
    t, x, y = placed
    events: list[dict[str, Any]] = [{"t": t, "event": "placed", "x_mm": x, "y_mm": y}, {"t": struck_s, "event": "struck"}]
    for c in log:
        if c.kind == "disc":
            pair = [c.b, c.a] if c.b == "striker" else [c.a, c.b]
            last = events[-1]
            if pair[0] == "striker" and last["event"] == "contact" and last["t"] == c.t and last["discs"][0] == "striker":
                last["discs"].append(pair[1])
            else:
                events.append({"t": c.t, "event": "contact", "discs": pair})
        elif c.kind == "rail":
            events.append({"t": c.t, "event": "rail", "disc": c.a, "rail": c.b})
        elif c.kind == "pocket":
            events.append({"t": c.t, "event": "pocket", "disc": c.a, "pocket": c.b})
        else:
            events.append({"t": c.t, "event": "over_rail", "disc": c.a, "rail": c.b})
    back = returned(striker, side, struck_s, rest_s)
    if back is not None:
        events.append({"t": back[0], "event": "returned", "depth_mm": back[1]})
    events.sort(key=lambda e: e["t"])
    events.append({"t": rest_s, "event": "rest"})
    return events


def returned(striker: Track, side: Side, struck_s: float, rest_s: float, line_mm: float = ZONE_LINE_MM) -> tuple[float, float] | None:
    """(time, depth) of the striker's deepest return to its own zone after it had left it, or None.

    Between two events the way is straight, so the deepest point is at the end of a piece.
    """
    left = False
    best: tuple[float, float] | None = None
    for n, piece in enumerate(striker.pieces):
        end = striker.times[n + 1] if n + 1 < len(striker.pieces) else piece.stop
        end = min(end, piece.stop, rest_s)
        if end < struck_s or not piece.on_table or piece.z < 0 or piece.az < 0:
            continue
        place = striker.at(math.nextafter(end, -math.inf))
        if place is None:
            continue
        depth = depth_mm(side, place.x_mm, place.y_mm, line_mm)
        if left and depth >= RETURN_FROM_MM and (best is None or depth > best[1]):
            best = end, depth
        left = left or depth < RETURN_FROM_MM
    return best
