"""What a preview says: only what changes, about players wherever they stand afterwards."""

from __future__ import annotations

from typing import Any

import msgspec

from rules.facts import Entry
from rules.fold import State, match_state, start, step
from scoreboard.preview_view import MAX_ENTRIES, preview_view
from tests.rules.logs import judge, match, stroke

BOARD = "r1@150,160 r2@-60,-300 b1@-150,260 b2@200,-100"


def preview(log: list[dict[str, Any]], command: dict[str, Any], lang: Any = "en") -> dict[str, Any]:
    state: State = start(msgspec.convert(log[0], Entry).match)  # type: ignore[arg-type]
    for entry in log[1:]:
        state, _ = step(state, msgspec.convert(entry, Entry))
    then, ruling = step(state, msgspec.convert(command, Entry))
    return preview_view({"ruling": msgspec.to_builtins(ruling), "before": match_state(state), "after": match_state(then)}, lang)


def test_only_what_changes_is_told() -> None:
    view = preview([match(), stroke("S", BOARD, "r1")], judge("warning", side="N", clause="19.1.e"))
    assert view["rows"] == [["Warnings · Berta", "0", "1"]]
    assert (view["entries"], view["nothing"]) == ([], "")


def test_a_set_won_follows_the_player_to_the_other_side() -> None:
    rows = {row[0]: row[1:] for row in preview([match(), stroke("S", BOARD, "r1")], judge("award_set", side="S"))["rows"]}
    assert rows["Sets · Anna"] == ["0", "1"]
    assert rows["Stands at · Anna"] == ["S", "N"]
    assert rows["Set"] == ["1", "2"]


def test_later_entries_are_told_and_a_long_list_ends_in_a_count() -> None:
    sides = "SNSNSNSNSNSNSN"
    log = [match(), *(stroke(side, BOARD, "r1" if side == "S" else "b1") for side in sides)]
    view = preview(log, judge("void", entry=1))
    assert view["entries"][0][0] == "Entry 1"
    assert len(view["entries"]) == MAX_ENTRIES
    assert view["entries"][-1][1].startswith("and ")


def test_a_command_without_effect_says_so() -> None:
    log = [match(), stroke("S", BOARD, "r1")]
    assert preview(log, judge("override", entry=1, ruling={"lawful": True}), "lv")["nothing"] == "Nekas nemainās."
