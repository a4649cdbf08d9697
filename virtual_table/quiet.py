"""Recordings in which nothing happens: what a product that rules too eagerly would take for a stroke or a fault."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, Literal, get_args

from rules.table import HALF_MM, Side, radius_mm
from virtual_table import layout
from virtual_table.acting import Act, Key, carry, reach
from virtual_table.mischief import Mischief, perform
from virtual_table.motion import Track
from virtual_table.shade import Shade
from virtual_table.story import Habits, Story

Usual = Literal["tidy", "lean", "pass_striker", "aim", "flicker", "exposure", "still"]
Staying = Literal["lie", "leave", "shade"]  # hands and shades that do not move: what changes tells little of them
Nothing = Literal[Usual, Staying]
QUIET: Final[tuple[Nothing, ...]] = get_args(Usual)
STAYING: Final[tuple[Nothing, ...]] = get_args(Staying)
LONG_S: Final = 30.0  # of such a recording
REST_S: Final = 1.2  # between two mishaps: whoever watches has told the last one by then
LEFT_S: Final = 3.0  # when a hand that has lain there from the beginning goes
SHADED_S: Final = 2.0  # when a part of the light goes
STEP_MM: Final = 900.0  # a shadow's way while somebody steps into the light
STEP_S: Final = 0.7
MAINS_HZ: Final = 100.0  # lamps flicker at twice the mains frequency; a camera at 60 per second sees the beat


class Quiet(Story):
    """A position of mid-game in which no piece is touched; players do what `nothing` says."""

    def __init__(self, seed: int, habits: Habits, nothing: Nothing) -> None:
        self._nothing = nothing
        self._shade: Shade | None = None
        self._steps_in = False
        super().__init__(seed, habits)

    def _lay_out(self, t: float) -> None:
        position = layout.scattered(self.rng)
        position["striker"] = ("striker", *layout.free_spot(self.rng, "striker", position))
        for name, (kind, x, y) in position.items():
            self.tracks.setdefault(name, Track(name, kind)).put(t, x, y, float(self.rng.uniform(0, 2 * math.pi)))
        if self._nothing == "leave":
            self.acts.append(self._lying(-2.0, self.first, LEFT_S + 2.0))
        if self._nothing == "shade":
            turn, depth = float(self.rng.uniform(0, 2 * math.pi)), float(self.rng.uniform(0.15, 0.5))
            self._shade = Shade(depth, float(self.rng.uniform(-300, 300)), turn, float(self.rng.uniform(20, 150)))
            self._steps_in = bool(self.rng.random() < 0.5)

    def shade_at(self, t: float) -> Shade | None:
        """From a while after the beginning somebody stands in the light, or one of the lamps is out."""
        if self._shade is None or t < SHADED_S:
            return None
        if not self._steps_in:
            return self._shade
        return self._shade._replace(beyond_mm=self._shade.beyond_mm + STEP_MM * max(0.0, 1 - (t - SHADED_S) / STEP_S))

    def light_at(self, t: float) -> float:
        """Lamps that flicker, or a camera that changes its exposure in the middle."""
        if self._nothing == "flicker":
            return 1.0 + 0.08 * math.sin(2 * math.pi * MAINS_HZ * t) + 0.02 * math.sin(2 * math.pi * 1.3 * t)
        if self._nothing == "exposure":
            return 1.0 + 0.25 * min(1.0, max(0.0, (t - 5) / 0.5)) - 0.35 * min(1.0, max(0.0, (t - 15) / 2))
        return 1.0

    def _story(self) -> Iterator[float]:
        t = 1.0
        yield t
        while t < LONG_S:
            side: Side = "S" if self.rng.random() < 0.5 else "N"
            t = self._act(t, side)
            yield t

    def _act(self, t: float, side: Side) -> float:
        rng = self.rng
        sign = -1.0 if side == "S" else 1.0
        if self._nothing == "tidy":
            points = [(0.7 + 0.6 * k, float(rng.uniform(-300, 300)), sign * float(rng.uniform(250, 470))) for k in range(4)]
            self.acts.append(reach(side, t, points))
            return t + 4.0
        if self._nothing == "lean":
            for x in rng.uniform(-420, 420, 2).tolist():
                stay = Key(t + 0.6, x, sign * (HALF_MM + 60), 40, -sign * math.pi / 2)
                gone = stay._replace(t=t, y=sign * (HALF_MM + 400))
                self.acts.append(Act("hand", side, (gone, stay, stay._replace(t=t + 3.0), gone._replace(t=t + 3.5))))
            return t + 4.5
        if self._nothing == "pass_striker":
            striker = self.tracks["striker"]
            lies = striker.at(t)
            if lies is None:
                return t + 1.0
            x, y = layout.free_spot(self.rng, "striker", {i: d for i, d in self.table(t).discs.items() if i != "striker"})
            way = 0.9 + math.hypot(lies.x_mm - x, lies.y_mm - y) / 700
            act = reach(side, t, [(0.7, lies.x_mm, lies.y_mm), (0.8, lies.x_mm, lies.y_mm), (way, x, y), (way + 0.2, x, y)])
            carry(striker, act, t + 0.75, t + way)
            self.acts.append(act)
            return t + way + 1.5
        if self._nothing == "aim":
            lies = self.tracks["striker"].at(t)
            if lies is not None:
                toward = -sign * math.pi / 2 + float(rng.uniform(-0.4, 0.4))
                self.acts.append(self._aiming(t, side, lies.x_mm, lies.y_mm, toward))
            return t + 4.5
        if self._nothing == "lie":
            self.acts.append(self._lying(t, side, 4.5))
            return t + 5.0
        return t + 1.0

    def _lying(self, t: float, side: Side, stay_s: float) -> Act:
        """A hand that comes to lie over the side's half and stays."""
        x, y = float(self.rng.uniform(-300, 300)), (-1.0 if side == "S" else 1.0) * float(self.rng.uniform(150, 420))
        return reach(side, t, [(0.6, x, y), (stay_s - 0.4, x, y)])

    def _aiming(self, t: float, side: Side, x: float, y: float, toward: float) -> Act:
        def key(at: float, back: float) -> Key:
            away = radius_mm("striker") + back
            return Key(at, x - math.cos(toward) * away, y - math.sin(toward) * away, 8, toward)

        swing = [key(t + 0.6 + 0.3 * k, 60.0 if k % 2 else 12.0) for k in range(10)]
        return Act("cue", side, (key(t, 700), *swing, key(t + 4.0, 700)))


class Mishaps(Quiet):
    """A position of mid-game in which nobody plays and things go wrong, one of `kinds` after the other."""

    def __init__(self, seed: int, habits: Habits, kinds: tuple[Mischief, ...]) -> None:
        self._kinds = kinds
        super().__init__(seed, habits, "still")

    def _story(self) -> Iterator[float]:
        t = 1.0
        yield t
        number = 0
        while t < LONG_S:
            kind = self._kinds[number % len(self._kinds)]
            number += 1
            done = perform(kind, t, self.tracks, self.table(t), self._turn, self.rng)
            if done is None:
                yield (t := t + 0.1)
                continue
            self.acts.extend(done.acts)
            yield done.end_s
            self.incidents.append(done.incident)
            t = done.end_s + REST_S
            yield t
