"""A whole match as it happens: players, hands, strokes, rulings - extended piece by piece, always ahead of the camera."""

from __future__ import annotations

import dataclasses
import math
from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from rules.table import HALF_MM, OPPOSITE, ZONE_LINE_MM, Colour, Kind, Side, radius_mm
from virtual_table import layout
from virtual_table.acting import Act, carry, reach, strike
from virtual_table.mischief import Mischief, perform
from virtual_table.motion import Place, Track
from virtual_table.physics import Surface, World
from virtual_table.player import Plan, plan
from virtual_table.record import position, timeline
from virtual_table.referee import Table, Verdict, fits, from_ruling, judge
from virtual_table.shade import Shade

PATIENCE_S: Final = 2.5  # how long players wait for a ruling before they go by their own reading
THINK_S: Final = 0.02  # table time that one portion of thinking may take
PORTION: Final = 8  # search windows of the physics in one portion: some milliseconds of work
CALM_S: Final = 1.0  # before anybody moves: a camera that has just been switched on looks at the table first
RULED_S: Final = 0.9  # after rest nobody moves for this long


@dataclass(frozen=True, slots=True)
class Habits:
    """How a match is played: surface, length, whether players wait for rulings, and how often (`clumsy`, 0..1,
    before each stroke) one of `mischief` happens or (`sloppy`) the striker is put down with the line in its hole."""

    surface: Surface
    sets: int = 5
    wait_for_ruling: bool = False
    opening: Literal["start", "scattered"] = "start"
    clumsy: float = 0.0
    mischief: tuple[Mischief, ...] = ("hand",)
    sloppy: float = 0.0


class Story:
    """Truth of everything: `extend(t)` makes it known up to `t`; `over` is set when the match has ended before that."""

    def __init__(self, seed: int, habits: Habits) -> None:
        self.rng = np.random.default_rng([seed, 606])
        self.habits = habits
        self.first: Side = ("S", "N")[int(self.rng.integers(2))]
        red: Side = ("S", "N")[int(self.rng.integers(2))]
        self.colour: dict[Side, Colour] = {red: "red", OPPOSITE[red]: "black"}
        self.names: dict[Side, str] = {"S": "Anna", "N": "Bruno"}
        self.match = self._match(seed)
        self.tracks: dict[str, Track] = {}
        self.acts: list[Act] = []
        self.strokes: list[dict[str, Any]] = []
        self.incidents: list[dict[str, Any]] = []
        self.rulings: deque[dict[str, Any]] = deque()
        self.debt: dict[Side, int] = {"S": 0, "N": 0}
        self.wins: dict[Side, int] = {"S": 0, "N": 0}
        self.known_s = 0.0
        self.over = False
        self._turn: Side = self.first
        self._lay_out(0.0)
        self._play = self._story()

    def _match(self, seed: int) -> dict[str, Any]:
        players = {s: {"name": self.names[s], "colour": self.colour[s]} for s in ("S", "N")}
        return {
            "schema": "novuss.match/1",
            "id": f"virtual-{seed}",
            "ruleset": "lnf-2008",
            "format": "singles",
            "sets": self.habits.sets,
            "play_all_sets": False,
            "players": players,
            "first_turn": self.first,
        }

    # --- asking ------------------------------------------------------------------------------------------------------

    def extend(self, t: float) -> None:
        """Make the story known up to `t`."""
        while self.known_s < t and not self.over:
            try:
                self.known_s = max(self.known_s, next(self._play))
            except StopIteration:
                self.over = True
        if len(self.acts) > 40:
            self.acts = [a for a in self.acts if a.times[-1] > t - 2]

    def places(self, t: float) -> dict[str, Place]:
        """All discs that are on the table (or in the air above it, or falling) at `t`."""
        found = ((i, track.at(t)) for i, track in self.tracks.items())
        return {i: p for i, p in found if p is not None and p.on_table}

    def table(self, t: float) -> Table:
        """The position at `t` as the players see it."""
        places = self.places(t)
        return Table({i: (self.tracks[i].kind, p.x_mm, p.y_mm) for i, p in places.items()}, dict(self.colour))

    def light_at(self, t: float) -> float:
        """Brightness of the lamps, 1 = as the camera is set for."""
        del t
        return 1.0

    def shade_at(self, t: float) -> Shade | None:
        """What takes a part of the light away from a part of the table."""
        del t
        return None

    # --- telling -----------------------------------------------------------------------------------------------------

    def _lay_out(self, t: float) -> None:
        """The next set's pieces; the striker is in a player's hand."""
        pieces = layout.scattered(self.rng) if self.habits.opening == "scattered" else layout.start(self.colour)
        for name, kind in layout.NAMES.items():
            track = self.tracks.setdefault(name, Track(name, kind))
            _, x, y = pieces.get(name, (kind, 0.0, 0.0))
            track.put(t, x, y, float(self.rng.uniform(0, 2 * math.pi)))
            if name not in pieces:
                track.remove(t)
        self.tracks.setdefault("striker", Track("striker", "striker"))

    def _story(self) -> Iterator[float]:
        t = CALM_S
        yield t
        while True:
            side = self._turn
            if self.rng.random() < self.habits.clumsy:
                t = yield from self._err(t)
            t, placed = yield from self._place_striker(t, side)
            stroke, before, t = yield from self._stroke(t, side, placed)
            verdict, t = yield from self._ruling(t, side, stroke, before)
            t = yield from self._apply(t, side, verdict)
            if verdict.over or (verdict.winner and self._won(verdict.winner)):
                yield t + 2.0
                return
            if verdict.winner or verdict.replay:
                t = yield from self._next_set(t, verdict)
            else:
                self._turn = verdict.next

    def _won(self, side: Side) -> bool:
        self.wins[side] += 1
        return self.wins[side] * 2 > self.habits.sets

    def _place_striker(self, t: float, side: Side) -> Generator[float, None, tuple[float, Plan]]:
        """The hand fetches the striker (from the table, a bag or its pocket) and puts it down; returns the time of letting go."""
        chosen = plan(self.rng, self.table(t), side, self.habits.surface)
        if self.rng.random() < self.habits.sloppy:
            chosen = self._badly_placed(t, side, chosen)
        striker = self.tracks["striker"]
        lies = striker.at(t) if striker.pieces else None
        pause = float(self.rng.uniform(0.3, 1.0)) if self.strokes else 0.3
        if lies is not None and lies.on_table:
            far = abs(lies.y_mm - chosen.y_mm)
            fetch = pause + 0.45 + far / 2500
            put = fetch + 0.15 + max(0.5, math.hypot(lies.x_mm - chosen.x_mm, lies.y_mm - chosen.y_mm) / 1100)
            stops = [(fetch, lies.x_mm, lies.y_mm), (fetch + 0.1, lies.x_mm, lies.y_mm), (put, chosen.x_mm, chosen.y_mm)]
            act = reach(side, t, [*stops, (put + 0.15, chosen.x_mm, chosen.y_mm)], in_s=0.45 + far / 2500)
            carry(striker, act, t + fetch + 0.05, t + put)
        else:
            put = pause + 0.7
            act = reach(side, t, [(put, chosen.x_mm, chosen.y_mm), (put + 0.15, chosen.x_mm, chosen.y_mm)], in_s=0.7)
            carry(striker, act, act.times[0], t + put)
        striker.put(t + put, chosen.x_mm, chosen.y_mm)
        self.acts.append(act)
        yield t + put
        return t + put, chosen

    def _badly_placed(self, t: float, side: Side, chosen: Plan) -> Plan:
        """The same stroke from too far in: the zone line shows in the striker's hole (12.3)."""
        y = (ZONE_LINE_MM + float(self.rng.uniform(-3.5, 3.5))) * (-1 if side == "S" else 1)
        others = [d for d in self.table(t).discs.values() if d[0] != "striker"]
        return dataclasses.replace(chosen, y_mm=y) if fits("striker", chosen.x_mm, y, others) else chosen

    def _stroke(self, t: float, side: Side, chosen: Plan) -> Generator[float, None, tuple[dict[str, Any], Table, float]]:
        """Cue, impact, run; the physics is worked out in portions while the player aims."""
        placed_s = t
        struck_s = t + float(self.rng.uniform(1.8, 2.8))
        self.acts.extend(strike(t + 0.25, struck_s, side, (chosen.x_mm, chosen.y_mm), (chosen.vx_mm_s, chosen.vy_mm_s)))
        before = self.table(t)
        record_before = position(self.tracks.values(), t)
        discs = [(i, *d) for i, d in before.discs.items()]
        world = World(discs, self.habits.surface, struck_s)
        world.push(world.striker(), chosen.vx_mm_s, chosen.vy_mm_s)
        for n, _ in enumerate(world.steps()):
            if n % PORTION == PORTION - 1 and t + THINK_S < struck_s:
                t += THINK_S
                yield t
        for track in world.tracks:
            for piece in track.pieces:
                self.tracks[track.id].add(piece)
        rest_s = world.t
        striker = self.tracks["striker"]
        stroke = {
            "schema": "novuss.stroke/1",
            "side": side,
            "before": record_before,
            "timeline": timeline(world.log, striker, side, (placed_s, chosen.x_mm, chosen.y_mm), struck_s, rest_s),
            "after": position(self.tracks.values(), rest_s + 0.3),
        }
        yield struck_s
        self.rulings.clear()  # what comes later than players wait is about a stroke that they have settled among themselves
        yield rest_s
        self.strokes.append(stroke)
        return stroke, before, rest_s

    def _err(self, t: float) -> Generator[float, None, float]:
        """One of the habits' mischiefs, where the position allows it."""
        kinds = self.habits.mischief
        kind = kinds[int(self.rng.integers(len(kinds)))]
        done = perform(kind, t, self.tracks, self.table(t), self._turn, self.rng)
        if done is None:
            return t
        self.acts.extend(done.acts)
        yield done.end_s
        self.incidents.append(done.incident)
        return done.end_s

    # --- rulings -----------------------------------------------------------------------------------------------------

    def _ruling(self, t: float, side: Side, stroke: dict[str, Any], before: Table) -> Generator[float, None, tuple[Verdict, float]]:
        own = judge(before, stroke, side, self.debt)
        until = t + RULED_S
        yield until
        if not self.habits.wait_for_ruling:
            return own, until
        while not self.rulings and until < t + PATIENCE_S:
            until += 1 / 60
            yield until
        if not self.rulings:
            return own, until
        ruling = self.rulings.popleft()
        if ruling.get("status") == "review":
            return own, until
        said = from_ruling(ruling, own.next)
        return said, until

    def _apply(self, t: float, side: Side, verdict: Verdict) -> Generator[float, None, float]:
        """Hands lay out penalty pieces and put back what is to be restored."""
        taken = self.table(t)
        jobs: list[tuple[str, float, float]] = []
        for kind, x, y in verdict.place:
            name = self._from_bag(kind, t, {j[0] for j in jobs})
            if name is not None:
                jobs.append((name, x, y))
        for name, x, y in verdict.restore:
            known = self._known(name, x, y)
            if known is not None:
                jobs.append((known, x, y))
        for name, want_x, want_y in jobs:
            others = [d for i, d in taken.discs.items() if i != name]
            x, y = _free(self.tracks[name].kind, want_x, want_y, others)
            t = yield from self._lay(t, side, name, x, y)
            taken = self.table(t)
        return t

    def _from_bag(self, kind: Kind, t: float, promised: set[str]) -> str | None:
        for name, track in self.tracks.items():
            place = track.at(t)
            if track.kind == kind and name not in promised and (place is None or not place.on_table):
                return name
        return None

    def _known(self, name: str, x: float, y: float) -> str | None:
        """Others may name discs otherwise: a restored disc is the one that lay there before the stroke."""
        best: tuple[float, str] | None = None
        for disc in self.strokes[-1]["before"]["discs"]:
            away = math.hypot(disc["x_mm"] - x, disc["y_mm"] - y)
            if disc["id"] != "striker" and away < 10 and (best is None or away < best[0]):
                best = away, disc["id"]
        return best[1] if best else (name if name in self.tracks and name != "striker" else None)

    def _lay(self, t: float, side: Side, name: str, x: float, y: float) -> Generator[float, None, float]:
        """The other player's hand puts one disc down; it comes from the table or from a bag."""
        hand = OPPOSITE[side]
        track = self.tracks[name]
        lies = track.at(t)
        if lies is not None and lies.on_table:
            put = 0.6 + max(0.4, math.hypot(lies.x_mm - x, lies.y_mm - y) / 1100)
            act = reach(hand, t, [(0.5, lies.x_mm, lies.y_mm), (put, x, y), (put + 0.12, x, y)], in_s=0.5)
            carry(track, act, t + 0.5, t + put)
        else:
            put = 0.6
            act = reach(hand, t, [(put, x, y), (put + 0.12, x, y)], in_s=0.55)
            carry(track, act, act.times[0], t + put)
        track.put(t + put, x, y)
        self.acts.append(act)
        yield t + put + 0.45
        return t + put + 0.45

    def _next_set(self, t: float, verdict: Verdict) -> Generator[float, None, float]:
        """Hands sweep over both rails and the next set lies there; players have changed sides (20.2), and so has the first turn.

        Both together leave the first turn at the same side of the table, unless the ruling says otherwise.
        """
        if not verdict.sides_stay:
            self.colour = {"S": self.colour["N"], "N": self.colour["S"]}
            self.wins = {"S": self.wins["N"], "N": self.wins["S"]}
        self.first = verdict.opens or self.first
        self.debt = {"S": 0, "N": 0}
        self._turn = self.first
        t += 0.8
        for side in ("S", "N"):
            y = -HALF_MM + 15 if side == "S" else HALF_MM - 15
            stops = [(0.5, -110.0, y), (1.4, 110.0, y), (1.8, 0.0, y)]
            self.acts.append(reach(side, t, stops, in_s=0.5))
        self._lay_out(t + 1.0)
        yield t + 2.6
        return t + 2.6


def _free(kind: Kind, x: float, y: float, others: list[tuple[Kind, float, float]]) -> tuple[float, float]:
    """The place itself, or the nearest one beside it where the disc fits."""
    reach_mm = 0.0
    limit = HALF_MM - radius_mm(kind)
    while reach_mm < 200:
        for k in range(24):
            a = k * math.pi / 12
            px, py = x + reach_mm * math.cos(a), y + reach_mm * math.sin(a)
            if abs(px) <= limit and abs(py) <= limit and fits(kind, px, py, others):
                return px, py
        reach_mm += 1.0
    return x, y
