"""Records of a game for the tests: start position, a position in mid-game, matches and rulings of every state."""

from __future__ import annotations

import random
from typing import Any

MATCH: dict[str, Any] = {
    "schema": "novuss.match_state/1",
    "id": "m1",
    "ruleset": "lnf-2008",
    "format": "singles",
    "sets": 5,
    "players": {"S": {"name": "Anna Ozoliņa", "colour": "red"}, "N": {"name": "Bērziņš Jānis", "colour": "black"}},
    "set": 3,
    "sets_won": {"S": 1, "N": 1},
    "turn": "S",
    "debt": {"S": 0, "N": 1},
    "warnings": {"S": 1, "N": 0},
    "on_table": {"S": 5, "N": 6},
}
ONLINE = {"schema": "novuss.status/1", "state": "online", "version": "0.1.0", "since": "2026-11-29T20:00:00Z"}
OFFLINE = {"schema": "novuss.status/1", "state": "offline"}


def seen(discs: list[tuple[str, str, float, float]], sigma_mm: float = 0.15) -> dict[str, Any]:
    return {
        "schema": "novuss.discs/1",
        "discs": [{"id": i, "kind": kind, "x_mm": x, "y_mm": y, "sigma_mm": sigma_mm, "pose": "flat"} for i, kind, x, y in discs],
    }


def start_position() -> list[tuple[str, str, float, float]]:
    xs = [-120.0 + 32.0 * k + (16.0 if k >= 4 else 0.0) for k in range(8)]
    reds = [(f"r{k + 1}", "red", x, 485.0) for k, x in enumerate(xs)]
    blacks = [(f"b{k + 1}", "black", x, -485.0) for k, x in enumerate(xs)]
    return [*reds, *blacks, ("striker", "striker", 60.0, -420.0)]


def mid_game() -> list[tuple[str, str, float, float]]:
    reds = [
        ("r1", "red", -212.0, 131.0),
        ("r2", "red", 88.0, -61.0),
        ("r3", "red", 143.0, -402.0),
        ("r4", "red", 322.0, 214.0),
        ("r5", "red", -301.0, -374.3),
    ]
    blacks = [("b1", "black", -58.0, 44.0), ("b2", "black", 31.0, 402.0), ("b3", "black", -340.0, 289.0), ("b4", "black", 231.0, -155.0)]
    return [*reds, *blacks, ("b5", "black", 402.0, 21.0), ("b6", "black", -129.0, -232.0), ("striker", "striker", -74.0, -431.0)]


def wander(discs: list[tuple[str, str, float, float]], seed: int) -> list[tuple[str, str, float, float]]:
    rnd = random.Random(seed)
    return [(i, kind, x + rnd.uniform(-25, 25), y + rnd.uniform(-25, 25)) for i, kind, x, y in discs]


def ruling(seq: int = 1, **changed: Any) -> dict[str, Any]:
    return {
        "schema": "novuss.ruling/1", "seq": seq, "match_id": "m1", "at": "2026-11-29T20:01:00Z", "evidence": None,
        "entry": seq, "status": "final", "kind": "stroke", "lawful": True, "faults": [], "turn": "continues", "next": "S",
        "next_reason": [], "penalty_pieces": 0, "debt": {"S": 0, "N": 0}, "place": [], "restore": [], "on_table": {"S": 5, "N": 6},
        "pocketed": ["r6"], "warnings": {"S": 0, "N": 0}, "set": None, "match": None, **changed,
    }  # fmt: skip


def fault(seq: int = 2, **changed: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "lawful": False,
        "faults": [{"clause": "17.1.h", "side": "S"}, {"clause": "17.1.p", "side": "S"}],
        "turn": "passes",
        "next": "N",
        "next_reason": ["18.1.d"],
        "penalty_pieces": 1,
        "pocketed": [],
        "place": [{"kind": "red", "id": "r9", "x_mm": 0.0, "y_mm": 485.0, "clause": "17.3"}],
        "restore": [{"id": "b2", "x_mm": 61.0, "y_mm": 371.0, "clause": "13.8"}],
        "margins": [{"id": "r3", "zone": "S", "clearance_mm": 2.3, "sigma_mm": 0.4}],
    }
    return ruling(seq, **{**base, **changed})


def review(seq: int = 3) -> dict[str, Any]:
    return ruling(
        seq,
        status="review",
        lawful=None,
        margins=[{"id": "r5", "zone": "S", "clearance_mm": -0.2, "sigma_mm": 0.4}],
        alternatives=[
            {"assume": {"r5": "dark"}, "ruling": fault(seq, faults=[{"clause": "17.1.h", "side": "S"}])},
            {"assume": {"r5": "light"}, "ruling": ruling(seq)},
        ],
    )


def no_call(seq: int = 4) -> dict[str, Any]:
    return ruling(seq, status="no_call", lawful=None, turn="passes", next=None)


def set_won(seq: int = 5) -> dict[str, Any]:
    return ruling(seq, set={"result": "won", "side": "S", "player": "Anna Ozoliņa", "clause": "20.3"}, on_table={"S": 0, "N": 2})


def warning(seq: int = 6) -> dict[str, Any]:
    return ruling(seq, kind="judge", lawful=None, warnings={"S": 2, "N": 0}, pocketed=[])


def resolved(seq: int = 7) -> dict[str, Any]:
    return ruling(seq, kind="judge", lawful=None, pocketed=[], refolded=[{"entry": 3, "ruling": fault(3)}])


def judged() -> list[dict[str, Any]]:
    return [warning(), resolved()]
