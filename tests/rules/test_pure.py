"""The rule book has no clock, no chance and no I/O, and its states cannot be changed."""

import ast
from pathlib import Path

import msgspec
import pytest

import rules
from rules.fold import start, step
from rules.log import read_entry
from tests.rules.logs import lines, match, stroke

ROOM = Path(rules.__file__).parent
ALLOWED = {"__future__", "collections", "math", "msgspec", "re", "rules", "typing"}
FORBIDDEN_CALLS = {"open", "print", "input", "exec", "eval", "__import__"}


@pytest.mark.parametrize("file", sorted(ROOM.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOM)))
def test_no_io_no_clock_no_chance(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert {a.name.split(".")[0] for a in node.names} <= ALLOWED
        elif isinstance(node, ast.ImportFrom):
            assert (node.module or "").split(".")[0] in ALLOWED
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in FORBIDDEN_CALLS


def test_states_are_frozen():
    state = start(read_entry(lines(match())[0], 1).match)
    for value in (state, state.core, state.core.set):
        with pytest.raises(AttributeError):
            value.count = 3
        assert type(value).__struct_config__.frozen


def test_a_step_leaves_the_state_before_as_it_was():
    state = start(read_entry(lines(match())[0], 1).match)
    before = msgspec.json.encode(state)
    step(state, read_entry(lines(stroke("S", "r1@150,150 b1@-30,230", "b1"))[0], 1))
    assert msgspec.json.encode(state) == before
