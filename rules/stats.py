"""A match in figures: strokes by kind, how fast, how many pieces in a row, where discs come to rest. From the fold alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from rules.facts import Contact, Disc, Match, Placed, Player, Rail, Stroke, Struck
from rules.fold import State, history
from rules.ruling import Ruling, Way
from rules.set_lost import has_moved
from rules.state import Core, colour_at, player_at
from rules.table import HALF_MM, PIECE_DIAMETER_MM, STRIKER_DIAMETER_MM, TOWARD, Colour, radius_mm

CELL_MM: Final = 40.0  # of the map of rest positions: a piece and a third, so that a match's strokes fill some of them
CELLS: Final = int(2 * HALF_MM / CELL_MM)
LEAST_S: Final = 0.02  # a contact sooner than this after the cue says nothing of the speed; a frame is half of it
LEAST_MM: Final = 40.0  # nor does a way shorter than the striker
FASTEST_MM_S: Final = 12_000.0  # nobody plays faster; beyond it a contact was missed
WAYS: Final[tuple[Way, ...]] = ("direct", "opposite", "side", "own")


class Shot(msgspec.Struct, frozen=True):
    """One stroke; `player` by the match entry's order, `pocketed` own pieces, `goes_on` the turn stays."""

    entry: int
    player: int
    set_number: int
    way: Way | None
    lawful: bool | None
    pocketed: int
    goes_on: bool
    speed_mm_s: float | None
    striker: tuple[float, float] | None
    pieces: tuple[tuple[float, float], ...]


class WayFigures(msgspec.Struct, frozen=True):
    """Strokes of one kind: all, the lawful ones, and those of them that brought an own piece."""

    strokes: int = 0
    lawful: int = 0
    scored: int = 0


class PlayerFigures(msgspec.Struct, frozen=True):
    """One player's match; series as [pieces, times], rests as [column from W, row from S, times] of cells."""

    name: str
    colour: Colour
    strokes: int
    pocketed: int
    ways: dict[Way, WayFigures]
    speeds_mm_s: list[float]
    series: list[tuple[int, int]]
    striker_rests: list[tuple[int, int, int]]
    piece_rests: list[tuple[int, int, int]]


class Figures(msgspec.Struct, frozen=True):
    """Payload of the retained `stats` topic; players in the match entry's order."""

    match_id: str
    strokes: int
    players: list[PlayerFigures]
    cell_mm: float = CELL_MM
    schema: str = "novuss.stats/1"


def shot_of(core: Core, stroke: Stroke, entry: int, ruling: Ruling) -> Shot:
    """A stroke's figures; `core` is the state before it."""
    own = colour_at(core, stroke.side)
    kinds = {d.id: d.kind for d in stroke.before.discs}
    before = {d.id: d for d in stroke.before.discs}
    after = [d for d in stroke.after.discs if d.pose in (None, "flat")]
    striker = next(((d.x_mm, d.y_mm) for d in after if d.kind == "striker"), None)
    moved = [d for d in after if d.kind != "striker" and d.id in before and has_moved(before[d.id], d)]
    way = None if isinstance(ruling.seen, msgspec.UnsetType) else ruling.seen.way
    return Shot(
        entry=entry,
        player=player_at(core, stroke.side),
        set_number=core.set.number,
        way=way,
        lawful=ruling.lawful,
        pocketed=sum(kinds.get(i) == own for i in ruling.pocketed or ()),
        goes_on=ruling.turn == "continues" and ruling.set is None,
        speed_mm_s=speed_mm_s(stroke),
        striker=striker,
        pieces=tuple((d.x_mm, d.y_mm) for d in moved),
    )


def shots_of(state: State) -> dict[int, Shot]:
    """Every stroke of a match that counts, by entry, as it is ruled now."""
    return {
        number: shot_of(core, entry.stroke, number, ruling) for number, entry, core, ruling in history(state) if entry.stroke is not None
    }


def speed_mm_s(stroke: Stroke) -> float | None:
    """The striker's mean speed from the cue to its first piece, off rails too: the way unfolds to a straight line when the piece is
    mirrored in the rails, the last one first. None where that is not known."""
    striker = next((d for d in stroke.before.discs if d.kind == "striker"), None)
    struck = next((e.t for e in stroke.timeline if isinstance(e, Struck)), None)
    if striker is None or struck is None:
        return None
    start = next(((e.x_mm, e.y_mm) for e in reversed(stroke.timeline) if isinstance(e, Placed)), (striker.x_mm, striker.y_mm))
    rails: list[Rail] = []
    for event in stroke.timeline:
        if isinstance(event, Rail) and event.disc == striker.id:
            rails.append(event)
        elif isinstance(event, Contact) and striker.id in event.discs and event.t >= struck:
            piece = next((d for d in stroke.before.discs if d.id in event.discs and d.kind != "striker"), None)
            return None if piece is None else _speed(start, piece, rails, event.t - struck)
    return None


def _speed(start: tuple[float, float], piece: Disc, rails: Sequence[Rail], took_s: float) -> float | None:
    x, y = piece.x_mm, piece.y_mm
    reach = HALF_MM - STRIKER_DIAMETER_MM / 2  # where the striker's axis turns
    for event in reversed(rails):
        dx, dy = TOWARD[event.rail]
        x, y = (2 * dx * reach - x, y) if dx else (x, 2 * dy * reach - y)
    way_mm = math.hypot(x - start[0], y - start[1]) - radius_mm("striker") - PIECE_DIAMETER_MM / 2
    if took_s < LEAST_S or way_mm < LEAST_MM:
        return None
    speed = way_mm / took_s
    return round(speed) if speed <= FASTEST_MM_S else None


def series(shots: Iterable[Shot]) -> dict[int, list[int]]:
    """By player, how many own pieces each turn brought; turns without any count too."""
    out: dict[int, list[int]] = {}
    last: Shot | None = None
    for shot in shots:
        goes_on = last is not None and last.goes_on and last.player == shot.player and last.set_number == shot.set_number
        mine = out.setdefault(shot.player, [])
        if not goes_on:
            mine.append(0)
        mine[-1] += shot.pocketed
        last = shot
    return out


def cells(places: Iterable[tuple[float, float]]) -> list[tuple[int, int, int]]:
    """How often each cell of the map was rested on; only those that were."""
    found = Counter(
        (min(max(int((x + HALF_MM) // CELL_MM), 0), CELLS - 1), min(max(int((y + HALF_MM) // CELL_MM), 0), CELLS - 1)) for x, y in places
    )
    return [(column, row, times) for (column, row), times in sorted(found.items())]


def figures(match: Match, shots: Mapping[int, Shot]) -> Figures:
    """The match in figures."""
    ordered = [shots[n] for n in sorted(shots)]
    turns = series(ordered)
    players = [_player(player, [s for s in ordered if s.player == n], turns.get(n, [])) for n, player in enumerate(match.players.values())]
    return Figures(match_id=match.id, strokes=len(ordered), players=players)


def _player(player: Player, shots: Sequence[Shot], turns: Sequence[int]) -> PlayerFigures:
    ways = {}
    for way in WAYS:
        mine = [s for s in shots if s.way == way]
        lawful = [s for s in mine if s.lawful is True]
        ways[way] = WayFigures(len(mine), len(lawful), sum(s.pocketed > 0 for s in lawful))
    return PlayerFigures(
        name=player.name,
        colour=player.colour,
        strokes=len(shots),
        pocketed=sum(s.pocketed for s in shots),
        ways=ways,
        speeds_mm_s=[s.speed_mm_s for s in shots if s.speed_mm_s is not None],
        series=sorted(Counter(turns).items()),
        striker_rests=cells(s.striker for s in shots if s.striker is not None),
        piece_rests=cells(place for s in shots for place in s.pieces),
    )
