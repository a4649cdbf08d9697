"""What hands and cues do: keyframes in table mm, played smoothly; and the discs that they carry."""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from rules.table import HALF_MM, TOWARD, Side, radius_mm
from virtual_table.hands import Shape
from virtual_table.motion import Piece, Track

HAND_Z_MM: Final = 42.0  # a hand's middle while it holds a disc
GRIP_MM: Final = 66.0  # the held disc lies this far from the wrist, under palm and finger roots
BRIDGE_MM: Final = 128.0  # wrist to rail: the fingertips of a bridge hand end at the rail's inner edge (12.7)
AWAY_MM: Final = 330.0  # beyond the rail a hand is out of every picture
_PARTS: Final = 12  # straight pieces that one smooth way of a carried disc is split into


class Key(NamedTuple):
    """Where something is at a time; `toward` is where its fingers or its tip point, rad."""

    t: float
    x: float
    y: float
    z: float
    toward: float


@dataclass(frozen=True, slots=True)
class Act:
    """A hand or a cue from its first key to its last; outside that time it is not there."""

    kind: Literal["hand", "cue"]
    side: Side
    keys: tuple[Key, ...]
    mirrored: bool = False
    times: tuple[float, ...] = field(default=())

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", tuple(k.t for k in self.keys))

    def key_at(self, t: float) -> Key | None:
        """Interpolated key, or None where the act has not begun or is over."""
        if not self.times[0] <= t <= self.times[-1]:
            return None
        n = min(max(bisect.bisect_right(self.times, t), 1), len(self.keys) - 1)
        a, b = self.keys[n - 1], self.keys[n]
        s = _smooth((t - a.t) / max(b.t - a.t, 1e-9))
        return Key(t, *(p + (q - p) * s for p, q in zip(a[1:], b[1:], strict=True)))

    def shape_at(self, t: float, exposure_s: float, px_per_mm: float) -> Shape | None:
        """What the camera sees of it in an exposure around `t`."""
        here = self.key_at(t)
        if here is None:
            return None
        near = self.key_at(min(t + 1e-3, self.times[-1])) or here
        step = max(near.t - t, 1e-9)
        speed = math.hypot(near.x - here.x, near.y - here.y) / step if near.t > t else 0.0
        return Shape(self.kind, here.x, here.y, here.z, here.toward, speed * exposure_s * px_per_mm, self.mirrored)


def _smooth(s: float) -> float:
    s = min(1.0, max(0.0, s))
    return s * s * (3 - 2 * s)


def side_angle(side: Side) -> float:
    """Direction into the table from a side, rad."""
    return math.atan2(-TOWARD[side][1], -TOWARD[side][0])


def door(side: Side, x: float, y: float) -> tuple[float, float]:
    """Where the hand of the player at `side` comes from, on its way to (x, y)."""
    dx, dy = TOWARD[side]
    far = HALF_MM + AWAY_MM
    return (dx * far if dx else x * 0.7), (dy * far if dy else y * 0.7)


def wrist(side: Side, x: float, y: float) -> tuple[float, float, float]:
    """Wrist (x, y) and direction of a hand of the player at `side` that holds something at (x, y)."""
    from_x, from_y = door(side, x, y)
    toward = math.atan2(y - from_y, x - from_x)
    return x - math.cos(toward) * GRIP_MM, y - math.sin(toward) * GRIP_MM, toward


def reach(side: Side, t: float, stops: list[tuple[float, float, float]], in_s: float = 0.4, out_s: float = 0.35) -> Act:
    """A hand that comes in, is at each stop (seconds after `t`, x, y) and leaves; the first stop's time must be >= `in_s`."""
    keys: list[Key] = []
    first, last = stops[0], stops[-1]
    x, y = door(side, first[1], first[2])
    keys.append(Key(t + first[0] - in_s, x, y, HAND_Z_MM + 40, side_angle(side)))
    for at, sx, sy in stops:
        wx, wy, toward = wrist(side, sx, sy)
        keys.append(Key(t + at, wx, wy, HAND_Z_MM, toward))
    x, y = door(side, last[1], last[2])
    keys.append(Key(t + last[0] + out_s, x, y, HAND_Z_MM + 40, side_angle(side)))
    return Act("hand", side, tuple(keys))


def carry(track: Track, act: Act, start: float, end: float, lift_mm: float = 14.0) -> None:
    """The disc goes with the hand from `start` to `end`, lifted between, and rests at its last place."""

    def held(t: float) -> tuple[float, float, float]:
        key = act.key_at(t)
        if key is None:
            raise ValueError("a disc can only be carried while the hand is there")
        up = lift_mm * min(1.0, (t - start) / 0.08, (end - t) / 0.08)
        return key.x + math.cos(key.toward) * GRIP_MM, key.y + math.sin(key.toward) * GRIP_MM, max(0.0, up)

    times = [start, start + 0.08, *(start + 0.08 + (end - start - 0.16) * k / _PARTS for k in range(1, _PARTS)), end - 0.08, end]
    for a, b in pairwise(times):
        (x0, y0, z0), (x1, y1, z1) = held(a), held(b)
        dt = b - a
        track.add(Piece(a, x0, y0, z0, (x1 - x0) / dt, (y1 - y0) / dt, (z1 - z0) / dt, 0, 0, 0, b, 0, 0))
    x, y, _ = held(end)
    track.put(end, x, y)


def strike(start: float, struck_s: float, side: Side, at_mm: tuple[float, float], velocity_mm_s: tuple[float, float]) -> tuple[Act, Act]:
    """Cue and bridge hand of one stroke: aiming to and fro, the strike that touches the striker at `struck_s`, and away."""
    (x, y), (vx, vy) = at_mm, velocity_mm_s
    toward = math.atan2(vy, vx)
    c, s = math.cos(toward), math.sin(toward)
    speed = math.hypot(vx, vy)

    def tip(t: float, back_mm: float) -> Key:
        away = radius_mm("striker") + back_mm
        return Key(t, x - c * away, y - s * away, 8.0, toward)

    aim = struck_s - 0.28
    swing = [tip(start + 0.35 + k * 0.28, 45.0 if k % 2 else 18.0) for k in range(int((aim - start - 0.4) / 0.28))]
    follow = -min(0.012 * speed, 40.0)  # well behind the striker: a tip that caught it up would be a double hit (17.1.j)
    cue = Act(
        "cue",
        side,
        (
            tip(start, 700.0),
            *swing,
            tip(aim, 80.0),
            tip(struck_s - 0.9 * 80 / speed, 80.0),
            tip(struck_s, 0.0),
            tip(struck_s + 0.03, follow),
            tip(struck_s + 0.5, follow),
            tip(struck_s + 0.95, 800.0),
        ),
    )
    # The bridge hand lies on the rail (12.7) where the cue crosses it.
    to_rail = (HALF_MM + 25 + (y if side == "S" else -y)) / max(0.3, abs(s))
    wrist_mm = to_rail + BRIDGE_MM
    hand_x, hand_y = x - c * wrist_mm + s * 14, y - s * wrist_mm - c * 14  # beside the cue, not on it
    gone = (hand_x - c * 450, hand_y - s * 450)
    keys = (
        Key(start, *gone, 60, toward),
        Key(start + 0.35, hand_x, hand_y, 50, toward + 0.12),
        Key(struck_s + 0.45, hand_x, hand_y, 50, toward + 0.12),
        Key(struck_s + 0.9, *gone, 60, toward),
    )
    return cue, Act("hand", side, keys)
