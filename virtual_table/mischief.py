"""What should not happen between strokes, with its truth: touched, lifted, shaken, fallen pieces, and a player who thinks too long."""

from __future__ import annotations

import math
from typing import Any, Final, Literal, NamedTuple, get_args

import numpy as np

from rules.table import HALF_MM, POCKETS_MM, Pocket, Side, radius_mm
from virtual_table.acting import Act, Key, carry, reach, side_angle
from virtual_table.motion import Piece, Track
from virtual_table.physics import GRAVITY_MM_S2
from virtual_table.record import position
from virtual_table.referee import Table, fits

Mischief = Literal["hand", "cue", "striker", "lift", "shake", "fall", "slow"]
MISCHIEF: Final[tuple[Mischief, ...]] = get_args(Mischief)
EDGE_MM: Final = 53.0  # a piece whose centre is this near a pocket's may lose its balance
SHAKE_S: Final = 0.08  # one jolt of the table


class Done(NamedTuple):
    """What was done: hands and cues, the incident as the contract has it, and when all is over."""

    acts: list[Act]
    incident: dict[str, Any]
    end_s: float


def perform(kind: Mischief, t: float, tracks: dict[str, Track], table: Table, turn: Side, rng: np.random.Generator) -> Done | None:
    """Do it from `t` on; None where the position does not allow it (no piece near enough, no room)."""
    before = position(tracks.values(), t)
    side: Side = "S" if rng.random() < 0.5 else "N"
    done = _WAYS[kind](t, tracks, table, turn if kind == "slow" else side, rng)
    if done is None:
        return None
    done.incident.update(side=done.incident.get("side", side), before=before, after=position(tracks.values(), done.end_s))
    return done


def _piece(table: Table, side: Side, rng: np.random.Generator, far: float) -> tuple[str, float, float, float, float] | None:
    """A piece in reach of `side`, where it lies and where `far` mm in some direction would bring it."""
    sign = -1 if side == "S" else 1
    near = sorted(i for i, d in table.discs.items() if d[0] != "striker" and d[2] * sign > 0)
    if not near:
        return None
    name = near[int(rng.integers(len(near)))]
    kind, x, y = table.discs[name]
    others = [d for i, d in table.discs.items() if i != name]
    for _ in range(12):
        turn = float(rng.uniform(0, 2 * math.pi))
        to_x, to_y = x + far * math.cos(turn), y + far * math.sin(turn)
        if max(abs(to_x), abs(to_y)) <= HALF_MM - radius_mm(kind) and fits(kind, to_x, to_y, others):
            return name, x, y, to_x, to_y
    return None


def _slide(track: Track, start: float, end: float, x: float, y: float, to_x: float, to_y: float) -> None:
    rate = 1 / (end - start)
    track.add(Piece(start, x, y, 0, (to_x - x) * rate, (to_y - y) * rate, 0, 0, 0, 0, end, track.pieces[-1].angle, 0))


def _hand(t: float, tracks: dict[str, Track], table: Table, side: Side, rng: np.random.Generator) -> Done | None:
    far = float(rng.uniform(0.2, 12.0))
    found = _piece(table, side, rng, far)
    if found is None:
        return None
    name, x, y, to_x, to_y = found
    touch, leave = t + 0.6, t + 0.6 + max(0.05, far / 150)
    _slide(tracks[name], touch, leave, x, y, to_x, to_y)
    act = reach(side, t, [(0.6, x, y), (leave - t, to_x, to_y), (leave - t + 0.1, to_x, to_y)], in_s=0.5)
    event = {"t": touch, "event": "touched", "discs": [name], "side": side, "by": "hand"}
    return Done([act], {"timeline": [event]}, leave + 0.6)


def _cue(t: float, tracks: dict[str, Track], table: Table, side: Side, rng: np.random.Generator) -> Done | None:
    far = float(rng.uniform(0.5, 15.0))
    found = _piece(table, side, rng, far)
    if found is None:
        return None
    name, x, y, to_x, to_y = found
    toward = math.atan2(to_y - y, to_x - x)
    if math.cos(toward - side_angle(side)) < 0.3:
        return None  # nobody holds a cue like that
    away = radius_mm(table.discs[name][0])
    touch, leave = t + 0.7, t + 0.7 + max(0.05, far / 200)

    def tip(at: float, px: float, py: float, back: float) -> Key:
        return Key(at, px - math.cos(toward) * (away + back), py - math.sin(toward) * (away + back), 8.0, toward)

    _slide(tracks[name], touch, leave, x, y, to_x, to_y)
    act = Act(
        "cue",
        side,
        (tip(t, x, y, 700), tip(touch - 0.15, x, y, 8), tip(touch, x, y, 0), tip(leave, to_x, to_y, 0), tip(leave + 0.6, x, y, 700)),
    )
    event = {"t": touch, "event": "touched", "discs": [name], "side": side, "by": "cue"}
    return Done([act], {"timeline": [event]}, leave + 0.7)


def _striker(t: float, tracks: dict[str, Track], table: Table, side: Side, rng: np.random.Generator) -> Done | None:
    """The striker is put down against a piece and pushes it on."""
    far = float(rng.uniform(0.3, 8.0))
    found = _piece(table, side, rng, far)
    if found is None or "striker" not in table.discs:
        return None
    name, x, y, to_x, to_y = found
    kind = table.discs[name][0]
    away = (radius_mm("striker") + radius_mm(kind) + 0.01) / far
    from_x, from_y = x - (to_x - x) * away, y - (to_y - y) * away
    others = [d for i, d in table.discs.items() if i not in (name, "striker")]
    if max(abs(from_x), abs(from_y)) > HALF_MM - radius_mm("striker") or not fits("striker", from_x, from_y, others):
        return None
    _, lies_x, lies_y = table.discs["striker"]
    put = 0.9 + math.hypot(from_x - lies_x, from_y - lies_y) / 900
    touch, leave = t + put + 0.15, t + put + 0.15 + max(0.05, far / 100)
    end_x, end_y = from_x + to_x - x, from_y + to_y - y
    stops = [(0.6, lies_x, lies_y), (0.7, lies_x, lies_y), (put, from_x, from_y), (touch - t, from_x, from_y), (leave - t, end_x, end_y)]
    act = reach(side, t, [*stops, (leave - t + 0.1, end_x, end_y)], in_s=0.5)
    carry(tracks["striker"], act, t + 0.65, t + put)
    tracks["striker"].put(t + put, from_x, from_y)
    _slide(tracks["striker"], touch, leave, from_x, from_y, end_x, end_y)
    _slide(tracks[name], touch, leave, x, y, to_x, to_y)
    event = {"t": touch, "event": "touched", "discs": [name], "side": side, "by": "striker"}
    return Done([act], {"timeline": [event]}, leave + 0.6)


def _lift(t: float, tracks: dict[str, Track], table: Table, side: Side, rng: np.random.Generator) -> Done | None:
    found = _piece(table, side, rng, float(rng.uniform(0.0, 60.0)))
    if found is None:
        return None
    name, x, y, to_x, to_y = found
    act = reach(side, t, [(0.6, x, y), (0.7, x, y), (1.6, to_x, to_y), (1.75, to_x, to_y)], in_s=0.5)
    carry(tracks[name], act, t + 0.65, t + 1.6, lift_mm=30.0)
    return Done([act], {"timeline": [{"t": t + 0.65, "event": "lifted", "disc": name, "side": side}]}, t + 2.3)


def _shake(t: float, tracks: dict[str, Track], table: Table, side: Side, rng: np.random.Generator) -> Done | None:
    """All pieces slip the same way, each as far as it may without reaching another."""
    turn, at = float(rng.uniform(0, 2 * math.pi)), t + 0.4
    discs = dict(table.discs)
    moved = []
    for name in sorted(discs):
        kind, x, y = discs[name]
        far = float(rng.uniform(1.5, 5.0))
        to_x, to_y = x + far * math.cos(turn), y + far * math.sin(turn)
        others = [d for i, d in discs.items() if i != name]
        if kind == "striker" or max(abs(to_x), abs(to_y)) > HALF_MM - radius_mm(kind) or not fits(kind, to_x, to_y, others):
            continue
        _slide(tracks[name], at, at + SHAKE_S, x, y, to_x, to_y)
        discs[name] = (kind, to_x, to_y)
        moved.append(name)
    if len(moved) < 2:
        return None
    return Done([], {"timeline": [{"t": at, "event": "table_shaken", "moved": moved, "side": side}]}, at + 0.8)


def _fall(t: float, tracks: dict[str, Track], table: Table, side: Side, rng: np.random.Generator) -> Done | None:
    """A piece on the edge tips over by itself (12.13)."""
    del side
    pockets: list[Pocket] = list(POCKETS_MM)
    for name in sorted(table.discs):
        kind, x, y = table.discs[name]
        for pocket in pockets:
            px, py = POCKETS_MM[pocket]
            away = math.hypot(x - px, y - py)
            if kind != "striker" and away < EDGE_MM:
                at = t + float(rng.uniform(0.4, 1.0))
                speed, track = 250.0, tracks[name]
                vx, vy = (px - x) / away * speed, (py - y) / away * speed
                track.add(Piece(at, x, y, 0, vx, vy, 0, 0, 0, -GRAVITY_MM_S2, math.inf, track.pieces[-1].angle, 0))
                track.remove(at + 0.12)
                return Done([], {"side": None, "timeline": [{"t": at, "event": "pocket", "disc": name, "pocket": pocket}]}, at + 0.8)
    return None


def _slow(t: float, tracks: dict[str, Track], table: Table, side: Side, rng: np.random.Generator) -> Done | None:
    """The player at turn lets more than half a minute pass (19.3)."""
    del tracks, table
    long = float(rng.uniform(30.5, 36.0))
    event = {"t": t + long, "event": "time", "elapsed_s": long, "side": side}
    return Done([], {"side": side, "timeline": [event]}, t + long)


_WAYS: Final = {"hand": _hand, "cue": _cue, "striker": _striker, "lift": _lift, "shake": _shake, "fall": _fall, "slow": _slow}
