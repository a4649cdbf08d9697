"""What holds for every log: no crash, replay, undo, symmetry of the table, conservation of pieces."""

import json
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rules.errors import LogUnusable
from rules.fold import match_state, problems, start, step
from rules.log import fold_line, read_entry, rulings
from rules.state import SetState
from rules.table import OPPOSITE
from tests.rules.logs import lines, match

SLOW = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
RAILS = ["S", "N", "W", "E"]
POCKETS = ["SW", "SE", "NE", "NW"]
CELLS = [(x, y) for x in range(-460, 461, 46) for y in range(-460, 461, 46) if not (abs(x) > 380 and abs(y) > 380)]


@st.composite
def boards(draw, most=16):
    reds = draw(st.integers(0, most // 2))
    blacks = draw(st.integers(0, most // 2))
    cells = draw(st.lists(st.sampled_from(CELLS), min_size=reds + blacks, max_size=reds + blacks, unique=True))
    out = []
    for n, (x, y) in enumerate(cells):
        kind = "red" if n < reds else "black"
        name = f"r{n + 1}" if n < reds else f"b{n - reds + 1}"
        disc = {"id": name, "kind": kind, "x_mm": x + draw(st.integers(-7, 7)) / 1.0, "y_mm": y + draw(st.integers(-7, 7)) / 1.0}
        if draw(st.integers(0, 9)) == 0:
            disc["sigma_mm"] = draw(st.sampled_from([0.1, 1.0, 6.0]))
        out.append(disc)
    return out


@st.composite
def strokes(draw, side, board):
    discs = [dict(d) for d in board]
    at = {"S": (0, -1), "N": (0, 1), "W": (-1, 0), "E": (1, 0)}[side]
    along = float(draw(st.integers(-300, 300)))
    place = (along, at[1] * 430.0) if at[0] == 0 else (at[0] * 430.0, along)
    discs.append({"id": "striker", "kind": "striker", "x_mm": place[0], "y_mm": place[1]})
    ids = [d["id"] for d in board]
    events: list[dict[str, Any]] = [{"t": 0.0, "event": "struck"}]
    t, gone = 0.0, set()
    for _ in range(draw(st.integers(0, 5))):
        t = round(t + draw(st.sampled_from([0.0, 0.1, 0.1])), 3)
        event = _some_event(draw, ids, side, gone)
        if event is not None:
            events.append({"t": t, **event})
    events.append({"t": t + 1.0, "event": "rest"})
    after = []
    for disc in discs:
        if disc["id"] in gone:
            continue
        moved = draw(st.integers(0, 2)) == 0
        spot = draw(st.sampled_from(CELLS)) if moved else (disc["x_mm"], disc["y_mm"])
        after.append({**disc, "x_mm": float(spot[0]), "y_mm": float(spot[1])})
    record = {"schema": "novuss.stroke/1", "side": side, "before": {"discs": discs}, "timeline": events}
    return {"stroke": {**record, "after": {"discs": after}}}


def _some_event(draw, ids, side, gone):
    what = draw(
        st.sampled_from(["contact", "contact", "contact", "rail", "rail", "pocket", "pocket", "over", "back", "touch", "time", "on"])
    )
    left = [i for i in ids if i not in gone]
    if what == "contact" and left:
        names = draw(st.lists(st.sampled_from(left), min_size=1, max_size=2, unique=True))
        sure = draw(st.sampled_from([None, None, None, 0.6]))
        return {"event": "contact", "discs": ["striker", *names], **({"confidence": sure} if sure else {})}
    if what == "rail":
        return {"event": "rail", "disc": "striker", "rail": draw(st.sampled_from(RAILS))}
    if what in {"pocket", "over"} and (left or "striker" not in gone):
        disc = draw(st.sampled_from([i for i in [*left, *left, "striker"] if i not in gone] or ["striker"]))
        gone.add(disc)
        if what == "pocket":
            return {"event": "pocket", "disc": disc, "pocket": draw(st.sampled_from(POCKETS))}
        return {"event": "over_rail", "disc": disc, "rail": draw(st.sampled_from(RAILS + POCKETS))}
    if what == "back":
        return {
            "event": "returned",
            "depth_mm": draw(st.sampled_from([-6.0, 0.0, 5.4, 5.6, 60.0])),
            "sigma_mm": draw(st.sampled_from([0.0, 0.2])),
        }
    if what == "touch" and left and draw(st.integers(0, 4)) == 0:
        return {
            "event": "touched",
            "discs": [draw(st.sampled_from(left))],
            "side": side,
            "by": draw(st.sampled_from(["hand", "cue", "striker"])),
        }
    if what == "time":
        return {"event": "time", "elapsed_s": draw(st.sampled_from([10.0, 31.0, 40.0]))}
    if what == "on" and len(left) > 1:
        pair = draw(st.lists(st.sampled_from(left), min_size=2, max_size=2, unique=True))
        return {"event": "stacked", "disc": pair[0], "on": pair[1]}
    return None


@st.composite
def incidents(draw, side, board, sides):
    ids = [d["id"] for d in board]
    events: list[dict[str, Any]] = []
    what = draw(st.sampled_from(["touch", "time", "fall", "shake", "lift"]))
    if what == "time" or not ids:
        events.append({"event": "time", "elapsed_s": draw(st.sampled_from([20.0, 31.0, 37.0]))})
    elif what == "touch":
        names = draw(st.lists(st.sampled_from(ids), min_size=1, max_size=2, unique=True))
        events.append(
            {"event": "touched", "discs": names, "side": draw(st.sampled_from(sides)), "by": draw(st.sampled_from(["hand", "cue"]))}
        )
    elif what == "fall":
        events.append({"event": "pocket", "disc": draw(st.sampled_from(ids)), "pocket": "NE"})
    elif what == "lift":
        events.append({"event": "lifted", "disc": draw(st.sampled_from(ids)), "side": draw(st.sampled_from(sides))})
    else:
        events.append({"event": "table_shaken", "moved": [ids[0]]})
    gone = {e["disc"] for e in events if e["event"] in {"pocket", "lifted"}}
    moved = {i for e in events for i in e.get("discs", e.get("moved", []))}
    after = [{**d, "x_mm": d["x_mm"] + 5.0} if d["id"] in moved else d for d in board if d["id"] not in gone]
    record: dict[str, Any] = {"timeline": [{"t": 0.0, **e} for e in events]}
    if draw(st.booleans()):
        record["side"] = side
    if draw(st.integers(0, 3)):
        record |= {"before": {"discs": board}, "after": {"discs": after}}
    return {"incident": record}


CLAUSES = ["16.1.c", "16.1.g", "16.1.h", "17.1.s", "17.1.n", "17.1.g", "18.1.f", "19.1.e", "19.3", "11.2", "3.8", "12.21", "15.1"]


@st.composite
def commands(draw, sides, count):
    name = draw(
        st.sampled_from(
            ["warning", "fault", "fault", "award_set", "void", "void", "resolve", "override", "debt_forgotten", "swap_places", "start_set"]
            + ["award_match", "end_match"]
        )
    )
    entry: dict[str, Any] = {"command": name}
    if name in {"warning", "fault", "award_set", "award_match", "debt_forgotten", "swap_places"} or (
        name == "start_set" and draw(st.booleans())
    ):
        entry["side"] = draw(st.sampled_from(sides))
    if name in {"warning", "fault"}:
        entry["clause"] = draw(st.sampled_from(CLAUSES))
    if name in {"void", "resolve", "override"}:
        entry["entry"] = draw(st.integers(1, count + 2))
    if name == "resolve":
        entry["assume"] = {
            draw(st.sampled_from(["r1", "b1", "returned", "N"])): draw(st.sampled_from(["dark", "light", "touched", "past"]))
        }
    if name == "override":
        parts = {
            "lawful": st.booleans(),
            "faults": st.sampled_from([[], [{"clause": "17.1.b", "side": "S"}], [{"clause": "16.1.c", "side": "S"}]]),
            "turn": st.sampled_from(["continues", "passes", "interrupted"]),
            "next": st.sampled_from(sides),
            "penalty_pieces": st.integers(0, 2),
            "set": st.sampled_from([None, {"result": "replay", "clause": "20.5"}, {"result": "won", "side": "S", "clause": "20.3"}]),
        }
        chosen = draw(st.lists(st.sampled_from(sorted(parts)), min_size=1, max_size=3, unique=True))
        entry["ruling"] = {k: draw(parts[k]) for k in chosen}
    return {"judge": entry}


@st.composite
def games(draw, length=8, edits=True, form=None, ruleset=None):
    """A match and its entries; the sides follow the turn, mostly."""
    form = form or draw(st.sampled_from(["singles", "singles", "doubles"]))
    first = match(ruleset or draw(st.sampled_from(["lnf-2008", "lnf-current", "casual"])), form, sets=draw(st.integers(1, 5)))
    state = start(read_entry(lines(first)[0], 1).match)
    sides = list(state.core.seats)
    entries = []
    for _ in range(draw(st.integers(1, length))):
        what = draw(st.sampled_from(["stroke"] * 6 + ["incident"] * 2 + (["judge"] * 2 if edits else [])))
        side = state.core.set.turn if draw(st.integers(0, 7)) else draw(st.sampled_from(sides))
        if what == "stroke":
            entry = draw(strokes(side, draw(boards())))
        elif what == "incident":
            entry = draw(incidents(side, draw(boards()), sides))
            if "before" not in entry["incident"]:
                known = {d.id for d in state.core.set.board}
                named = {
                    i
                    for e in entry["incident"]["timeline"]
                    for i in [*e.get("discs", []), *e.get("moved", []), *([e["disc"]] if "disc" in e else [])]
                }
                if not named <= known:
                    continue
        else:
            entry = draw(commands(sides, state.count))
        state, _ = step(state, read_entry(json.dumps(entry).encode(), 1))
        entries.append(entry)
    return first, entries


def fold(first, entries):
    state = start(read_entry(lines(first)[0], 1).match)
    out = []
    for entry in entries:
        state, ruling = step(state, read_entry(json.dumps(entry).encode(), 1))
        out.append(ruling)
    return state, out


def frozen(value):
    return msgspec.json.encode(value)


@SLOW
@given(games())
def test_nothing_raises_and_every_state_is_consistent(game):
    first, entries = game
    state = start(read_entry(lines(first)[0], 1).match)
    for entry in entries:
        state, ruling = step(state, read_entry(json.dumps(entry).encode(), 1))
        assert problems(state) == []
        assert match_state(state)["problems"] == []
        assert ruling.next is None or ruling.next in state.core.seats
        if ruling.status == "final" and not ruling.match and not state.core.over:
            assert ruling.next == state.core.set.turn


@SLOW
@given(games())
def test_replay_of_the_log_is_the_state(game):
    first, entries = game
    state, live = fold(first, entries)
    again = list(rulings(lines(first, *entries)))
    assert frozen(again) == frozen(live)
    other = None
    for n, line in enumerate(lines(first, *entries), 1):
        other, _ = fold_line(other, line, n)
    assert frozen(other.core) == frozen(state.core)


@SLOW
@given(games(edits=False), st.data())
def test_undoing_the_last_entry_is_the_fold_of_the_prefix(game, data):
    first, entries = game
    if not entries:
        return
    undone, _ = fold(first, [*entries, {"judge": {"command": "void", "entry": len(entries)}}])
    prefix, _ = fold(first, entries[:-1])
    assert frozen(undone.core) == frozen(prefix.core)
    at = data.draw(st.integers(1, len(entries)))
    without, _ = fold(first, [*entries, {"judge": {"command": "void", "entry": at}}])
    skipped, _ = fold(first, [*entries[: at - 1], *entries[at:]])
    assert _unnumbered(without) == _unnumbered(skipped)


def _unnumbered(state):
    """The state but for the numbers of the entries that made it."""
    done = tuple(msgspec.structs.replace(d, ended_by=0) for d in state.core.done)
    return frozen(msgspec.structs.replace(state.core, done=done))


def turn_about(value, key=""):
    """The same log or ruling seen from the other side of the table: turned by 180 degrees."""
    names = {"SW": "NE", "NE": "SW", "NW": "SE", "SE": "NW", **OPPOSITE}
    if isinstance(value, dict):
        return {names.get(k, k): turn_about(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [turn_about(v, key) for v in value]
    if key in {"x_mm", "y_mm"} and value:
        return -value
    if key in {"side", "rail", "pocket", "next", "first_turn", "pays", "winner", "zone", "penalty_stroke"} and isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, str) and value in OPPOSITE:
        return names[value]
    return value


def rounded(value):
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    if isinstance(value, list):
        return [rounded(v) for v in value]
    return round(value, 3) + 0.0 if isinstance(value, float) else value


@SLOW
@given(games(edits=False))
def test_turning_the_table_turns_the_rulings(game):
    first, entries = game
    _, here = fold(first, entries)
    _, there = fold(turn_about(first), turn_about(entries))
    want = rounded(turn_about(msgspec.to_builtins(here)))
    assert rounded(msgspec.to_builtins(there)) == want


def mirror(value, key=""):
    names = {"SW": "SE", "SE": "SW", "NW": "NE", "NE": "NW", "W": "E", "E": "W"}
    if isinstance(value, dict):
        return {names.get(k, k): mirror(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [mirror(v, key) for v in value]
    if key == "x_mm" and value:
        return -value
    return names.get(value, value) if isinstance(value, str) else value


@SLOW
@given(games(edits=False, form="singles", length=1))
def test_mirroring_the_table_mirrors_the_verdict(game):
    first, entries = game
    _, here = fold(first, entries)
    _, there = fold(mirror(first), mirror(entries))
    for one, other in zip(here, there, strict=True):
        want, got = mirror(msgspec.to_builtins(one)), msgspec.to_builtins(other)
        # 12.14 goes clockwise and an exact tie at the midline goes to the right hand: places are the one thing with a sense of turning.
        for part in ("lawful", "faults", "turn", "next", "next_reason", "penalty_pieces", "debt", "pocketed", "on_table", "set", "match"):
            assert got[part] == want[part], part


def _owed(s: SetState) -> int:
    return sum(s.debt) + sum(s.pending)


@SLOW
@given(games(edits=False))
def test_pieces_are_conserved(game):
    first, entries = game
    state = start(read_entry(lines(first)[0], 1).match)
    for entry in entries:
        before = state.core.set
        state, ruling = step(state, read_entry(json.dumps(entry).encode(), 1))
        if ruling.status == "review" or ruling.set is not None or ruling.match is not None or state.core.over is not None:
            continue
        laid = sum(p.clause in {"17.3", "17.6"} for p in ruling.place)
        assert _owed(before) + ruling.penalty_pieces == _owed(state.core.set) + laid
        if "stroke" in entry:
            unplaced = len(ruling.unplaced) if isinstance(ruling.unplaced, list) else 0
            start_count = sum(d["kind"] != "striker" for d in entry["stroke"]["before"]["discs"])
            if ruling.lawful is not None:
                assert start_count - len(ruling.pocketed) + laid - unplaced == len(state.core.set.board)
            assert len({d.id for d in state.core.set.board}) == len(state.core.set.board)


@settings(max_examples=150)
@given(games(length=1, edits=False), st.data())
def test_a_damaged_line_gives_one_clear_error_or_a_ruling(game, data):
    first, entries = game
    text = json.dumps(entries[0] if entries else first).encode()
    at = data.draw(st.integers(0, len(text) - 1))
    damaged = text[:at] + data.draw(st.sampled_from([b"", b"0", b'"', b"}", b"-", b"null", b"\xc3"])) + text[at + 1 :]
    state, _ = fold_line(None, lines(first)[0], 1)
    said = ""
    try:
        fold_line(state, damaged, 2)
    except LogUnusable as error:
        said = str(error)
    assert not said or said.startswith("line 2: ")
