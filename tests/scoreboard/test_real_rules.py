"""The board against the rule book itself: rulings as `rules.fold` makes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rules.facts import Entry
from rules.fold import State, match_state, start, step
from scoreboard.state import Snapshot, apply
from scoreboard.view import section_view
from scoreboard.words import LANGS
from tests.rules import logs

CASES = Path(__file__).parents[3] / "shared" / "bench" / "rule_cases.jsonl"


def record(ruling: Any, seq: int, match_id: str) -> dict[str, Any]:
    return {**msgspec.to_builtins(ruling), "seq": seq, "match_id": match_id}


@pytest.mark.skipif(not CASES.exists(), reason=f"{CASES} is not here")
def test_every_ruling_of_the_rule_cases_can_be_shown() -> None:
    shown = 0
    for line in CASES.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        state: State | None = None
        now = Snapshot()
        for seq, raw in enumerate(case.get("log", [])):
            entry = msgspec.convert(raw, Entry)
            if entry.match is not None:
                state = start(entry.match)
                continue
            assert state is not None
            state, ruling = step(state, entry)
            for topic, value in (("ruling", record(ruling, seq, state.match.id)), ("match", match_state(state))):
                now, _ = apply(now, topic, msgspec.json.encode(value), retained=False, at_s=0.0)
            for lang in LANGS:
                views = {name: section_view(name, now, lang, 0.0) for name in ("match", "ruling", "cards", "discs")}  # type: ignore[arg-type]
                assert views["ruling"]["title"], case["id"]
                assert (views["ruling"]["state"] == "review") == (ruling.status == "review")
            shown += 1
    assert shown > 50


@pytest.mark.parametrize(("lang", "words"), [("en", "in the pocket"), ("lv", "iekritis"), ("de", "gefallen")])
def test_a_disc_that_may_have_fallen_is_asked_about_in_words(lang: str, words: str) -> None:
    stroke = logs.stroke("S", "r1@150,160 b1@-150,260", "r1", {"event": "pocket", "disc": "r1", "pocket": "NE", "confidence": 0.6})
    match = msgspec.convert(logs.match(), Entry).match
    assert match is not None
    state, ruling = step(start(match), msgspec.convert(stroke, Entry))
    now = Snapshot()
    for topic, value in (("ruling", record(ruling, 1, match.id)), ("match", match_state(state))):
        now, _ = apply(now, topic, msgspec.json.encode(value), retained=False, at_s=0.0)
    shown = json.dumps(section_view("ruling", now, lang, 0.0), ensure_ascii=False)  # type: ignore[arg-type]
    assert words in shown
    assert "r1 NE" not in shown
