"""Virtual players under the real rule book: what it rules is what the next stroke starts from."""

import math

import msgspec
import pytest

from rules.facts import Entry
from rules.fold import start, step
from virtual_table import Surface
from virtual_table.story import Habits, Story


@pytest.mark.parametrize("seed", [0, 1])
def test_a_set_is_played_as_the_rule_book_rules(seed):
    story = Story(seed, Habits(Surface(hop_mm_s=5000), sets=1, wait_for_ruling=True))
    state = start(msgspec.convert({"match": story.match}, Entry).match)
    done, last = 0, None
    while not story.over:
        story.extend(story.known_s + 0.2)
        if len(story.strokes) == done:
            continue
        stroke = story.strokes[done]
        done += 1
        if last is not None:
            assert stroke["side"] == last.next
            discs = stroke["before"]["discs"]
            for side in ("S", "N"):
                assert sum(d["kind"] == story.colour[side] for d in discs) == last.on_table[side]
            for placed in (*last.place, *last.restore):
                assert any(math.dist((d["x_mm"], d["y_mm"]), (placed.x_mm, placed.y_mm)) < 0.01 for d in discs)
        state, last = step(state, msgspec.convert({"stroke": stroke}, Entry))
        assert last.status == "final"
        story.rulings.append(msgspec.to_builtins(last))
    assert done > 15
    assert last.match is not None
