"""A short way to write match logs for the tables of facts and rulings.

Position tokens: `r1@150,160` a piece, `r1@150,160~0.3` with sigma, `r1@399,398!` at a pocket's edge, `*@10,-430` the striker.
Event words: `r1` the striker reaches it, `r1+b1` both together, `r1?0.6` with that confidence, `r1>b1` a piece reaches another,
`rail N`, `in r1 NE`, `over r1 N`, `back 5.8`, `hit` a second touch of the cue, and any event as a dict. Times rise by 0.1 s; a
leading `=` keeps the time of the event before.
"""

from __future__ import annotations

import json
from typing import Any

from rules.log import rulings

KINDS = {"r": "red", "b": "black", "*": "striker"}


def match(ruleset: str = "lnf-2008", form: str = "singles", sets: int = 5, first: str = "S", **more: Any) -> dict[str, Any]:
    if form == "singles":
        players = {"S": {"name": "Anna", "colour": "red"}, "N": {"name": "Berta", "colour": "black"}}
    else:
        names = {"S": "Anna", "W": "Berta", "N": "Cilda", "E": "Dita"}
        players = {s: {"name": n, "colour": "red" if s in "SN" else "black"} for s, n in names.items()}
    record = {"schema": "novuss.match/1", "id": "t", "ruleset": ruleset, "format": form, "sets": sets, "players": players}
    return {"match": {**record, "first_turn": first, **more}}


def discs(text: str) -> dict[str, dict[str, Any]]:
    out = {}
    for token in text.split():
        name, place = token.split("@")
        edge = place.endswith("!")
        place, _, sigma = place.rstrip("!").partition("~")
        x, y = (float(v) for v in place.split(","))
        disc: dict[str, Any] = {"id": "striker" if name == "*" else name, "kind": KINDS[name[0]], "x_mm": x, "y_mm": y}
        if sigma:
            disc["sigma_mm"] = float(sigma)
        if edge:
            disc["pose"] = "on_edge"
        out[disc["id"]] = disc
    return out


def _event(word: str | dict[str, Any], striker: str = "striker") -> dict[str, Any]:
    if isinstance(word, dict):
        return dict(word)
    head, *rest = word.split()
    if head == "rail":
        disc = {"disc": striker, "rail": rest[0].partition("?")[0]}
        return {"event": "rail", **disc, **({"confidence": float(rest[0].partition("?")[2])} if "?" in rest[0] else {})}
    if head == "in":
        return {"event": "pocket", "disc": striker if rest[0] == "*" else rest[0], "pocket": rest[1]}
    if head == "over":
        return {"event": "over_rail", "disc": striker if rest[0] == "*" else rest[0], "rail": rest[1]}
    if head == "back":
        depth, _, sigma = rest[0].partition("~")
        return {"event": "returned", "depth_mm": float(depth), **({"sigma_mm": float(sigma)} if sigma else {})}
    if head == "hit":
        return {"event": "struck"}
    if head == "on":
        return {"event": "stacked", "disc": rest[0], "on": striker if rest[1] == "*" else rest[1]}
    if ">" in head:
        return {"event": "contact", "discs": head.split(">")}
    names, _, sure = head.partition("?")
    return {"event": "contact", "discs": [striker, *names.split("+")], **({"confidence": float(sure)} if sure else {})}


def timeline(words: tuple[str | dict[str, Any], ...], struck: bool = True) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = [{"t": 0.0, "event": "struck"}] if struck else []
    t = 0.0
    for word in words:
        same = isinstance(word, str) and word.startswith("=")
        t = t if same else round(t + 0.1, 3)
        event = _event(word.lstrip("=") if isinstance(word, str) else word)
        out.append({"t": event.pop("t", t), **event})
        t = out[-1]["t"]
    return out


def stroke(side: str, before: str, *words: str | dict[str, Any], after: str = "") -> dict[str, Any]:
    start = discs(before)
    if "striker" not in start:
        at = {"S": (10.0, -430.0), "N": (10.0, 430.0), "W": (-430.0, 10.0), "E": (430.0, 10.0)}[side]
        start["striker"] = {"id": "striker", "kind": "striker", "x_mm": at[0], "y_mm": at[1]}
    events = timeline(words)
    gone = {e["disc"] for e in events if e["event"] in {"pocket", "over_rail"}}
    end = {i: d for i, d in {**start, **discs(after)}.items() if i not in gone}
    if "striker" in end and "*@" not in after:
        end["striker"] = {**end["striker"], "x_mm": 333.0, "y_mm": -222.0}
    events.append({"t": events[-1]["t"] + 1.0, "event": "rest"})
    record = {"schema": "novuss.stroke/1", "side": side, "before": {"discs": [*start.values()]}, "timeline": events}
    return {"stroke": {**record, "after": {"discs": [*end.values()]}}}


def incident(side: str | None, before: str, *words: dict[str, Any] | str, after: str = "") -> dict[str, Any]:
    start = discs(before)
    events = timeline(words, struck=False)
    gone = {e["disc"] for e in events if e["event"] in {"pocket", "over_rail", "lifted"}}
    end = {i: d for i, d in {**start, **discs(after)}.items() if i not in gone}
    record: dict[str, Any] = {"timeline": events, "before": {"discs": [*start.values()]}, "after": {"discs": [*end.values()]}}
    return {"incident": {**({"side": side} if side else {}), **record}}


def touched(ids: str, side: str, by: str = "hand") -> dict[str, Any]:
    return {"event": "touched", "discs": ids.split("+"), "side": side, "by": by}


def judge(command: str, **more: Any) -> dict[str, Any]:
    return {"judge": {"command": command, **more}}


def lines(*entries: dict[str, Any]) -> list[bytes]:
    return [json.dumps(e).encode() + b"\n" for e in entries]


def rule(*entries: dict[str, Any]) -> list[dict[str, Any]]:
    """The rulings of a log; a match entry is put in front where the first is not one."""
    first = () if "match" in entries[0] else (match(),)
    return [_plain(r) for r in rulings(lines(*first, *entries))]


def _plain(ruling: Any) -> dict[str, Any]:
    import msgspec

    plain: dict[str, Any] = msgspec.to_builtins(ruling)
    return plain


def clauses(ruling: dict[str, Any]) -> list[str]:
    return [f["clause"] for f in ruling["faults"]]


def spots(items: list[dict[str, Any]]) -> list[tuple[float, float]]:
    return [(round(i["x_mm"], 1) + 0.0, round(i["y_mm"], 1) + 0.0) for i in items]


def row(colour: str, y: float, x0: float = -105.0, count: int = 8, first: int = 1) -> str:
    """A row of pieces as set up (10.3)."""
    return " ".join(f"{colour}{first + n}@{x0 + 30 * n},{y}" for n in range(count))


def column(colour: str, x: float, count: int = 8, first: int = 1) -> str:
    return " ".join(f"{colour}{first + n}@{x},{-105 + 30 * n}" for n in range(count))
