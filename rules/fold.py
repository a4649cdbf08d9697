"""The fold: `start(match)`, then `step(state, entry)` for every entry. No clock, no randomness, no I/O; states are frozen.

void, resolve, override and add_event edit the log: what they name and everything after it is folded again. For that the entries of the
match are kept, encoded, with the state before each; an entry further back than `KEPT` can no longer be edited.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal

import msgspec

from rules import state as states
from rules.added import with_added
from rules.check import check_entry, check_match, one_of, ruling_part
from rules.draft import Draft, finish
from rules.errors import EntryUnusable
from rules.facts import Entry, Judge, Match
from rules.judge import refuse, rule_judge
from rules.play import rule_incident, rule_stroke
from rules.review import Leaf, leaves, ruling_of
from rules.ruling import Refolded, Ruling
from rules.state import Core, new_core
from rules.table import Side

CHUNK: Final = 256  # entries a chunk of kept ones
KEPT_CHUNKS: Final = 40  # 10,240 entries: ten times the longest match, and some 40 MB at most
KEPT: Final = CHUNK * KEPT_CHUNKS
MOST_TWINS: Final = 8  # readings carried along between strokes; more open questions than that are the judge's
EDITS: Final = frozenset({"void", "resolve", "override", "add_event"})

_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder(Entry).decode


class Past(msgspec.Struct, frozen=True):
    """An entry already folded, encoded, and the state before it; a chain back to its chunk's first."""

    number: int
    entry: bytes
    before: Core
    twins: tuple[Core, ...]
    depth: int
    prev: Past | None = None


class Edits(msgspec.Struct, frozen=True):
    """What the judge's edits in force say about each entry."""

    voided: frozenset[int] = frozenset()
    assume: dict[int, dict[str, str]] = {}
    given: dict[int, dict[str, Any]] = {}
    added: dict[int, tuple[Judge, ...]] = {}


NO_EDITS: Final = Edits()


class State(msgspec.Struct, frozen=True):
    """A match so far."""

    core: Core
    count: int = 0
    twins: tuple[Core, ...] = ()  # where the other readings of the last entry lead, while it is under review
    commands: tuple[tuple[int, Judge], ...] = ()  # those that edit, in order
    edits: Edits = NO_EDITS  # what those in force say
    recent: Past | None = None
    older: tuple[Past, ...] = ()

    @property
    def match(self) -> Match:
        """The match entry."""
        return self.core.match

    @property
    def names(self) -> dict[Side, str]:
        """The players by the side where they stand now."""
        return {side: states.name_at(self.core, side) for side in self.core.seats}


def match_state(of: State) -> dict[str, Any]:
    """Payload of the retained `match` topic."""
    return states.match_state(of.core)


def problems(of: State) -> list[str]:
    """Everything that is inconsistent; empty for every state that the fold can reach."""
    return states.problems(of.core)


class Folded(msgspec.Struct, frozen=True):
    """One entry's readings, and where the readings that are not followed lead."""

    leaves: list[Leaf]
    twins: tuple[Core, ...]


def start(match: Match) -> State:
    """A match before its first entry; raises EntryUnusable when it cannot be played."""
    check_match(match)
    return State(core=new_core(match))


def _edits(commands: tuple[tuple[int, Judge], ...]) -> Edits:
    """A void that is itself voided is not in force; only later entries can void earlier ones, so the last is looked at first."""
    voided: set[int] = set()
    live: list[Judge] = []
    for number, judge in reversed(commands):
        if number in voided or judge.entry is None:
            continue
        if judge.command == "void":
            voided.add(judge.entry)
        else:
            live.append(judge)
    assume: dict[int, dict[str, str]] = {}
    given: dict[int, dict[str, Any]] = {}
    added: dict[int, tuple[Judge, ...]] = {}
    for judge in reversed(live):
        at = judge.entry or 0
        if judge.command == "resolve":
            assume[at] = {**assume.get(at, {}), **(judge.assume or {})}
        elif judge.command == "add_event":
            added[at] = (*added.get(at, ()), judge)
        else:
            given[at] = {**given.get(at, {}), **ruling_part(judge)}
    return Edits(frozenset(voided), assume, given, added)


def _rule(core: Core, twins: tuple[Core, ...], entry: Entry, number: int, edits: Edits) -> Folded:
    """One entry under the edits in force; the other readings of an open review go along until the next stroke settles it."""
    if number in edits.voided or (entry.judge is not None and entry.judge.command in EDITS):
        return Folded([Leaf({}, *finish(Draft(core, number, "judge")))], twins)
    if number in edits.added:
        entry = with_added(entry, edits.added[number])
    if entry.stroke is not None:
        if entry.stroke.side != core.set.turn:
            # Play went on as another reading of the entry before has it: players and judge have settled that one.
            core = next((t for t in twins if t.over is None and t.set.turn == entry.stroke.side), core)
        found = _rule_core(core, entry, number, edits)
        return Folded(found, tuple(leaf.core for leaf in found[1:]))
    found = _rule_core(core, entry, number, edits)
    carried = tuple(_rule_core(twin, entry, number, edits)[0].core for twin in twins)
    return Folded(found, (*(leaf.core for leaf in found[1:]), *carried)[:MOST_TWINS])


def _rule_core(core: Core, entry: Entry, number: int, edits: Edits) -> list[Leaf]:
    """Every reading of one entry that edits nothing; the likeliest first."""
    given, answers = edits.given.get(number), edits.assume.get(number, {})
    if entry.judge is not None:
        return [Leaf({}, *rule_judge(core, entry.judge, number, given))]
    if core.over is not None:
        return [_after_the_end(core, number, "stroke" if entry.stroke is not None else "incident")]
    if entry.stroke is not None:
        stroke = entry.stroke
        return leaves(lambda reading: rule_stroke(core, stroke, number, reading, given), {}, answers)
    assert entry.incident is not None, "one_of() comes first"
    incident = entry.incident
    return leaves(lambda reading: rule_incident(core, incident, number, reading, given), {}, answers)


def _after_the_end(core: Core, number: int, kind: Literal["stroke", "incident"]) -> Leaf:
    """23.1: nothing counts after the end of a match."""
    _, ruling = finish(Draft(core, number, kind))
    return Leaf({}, core, msgspec.structs.replace(ruling, next=None, told=["23.1"]))


def _remember(state: State, entry: bytes, found: Folded, number: int) -> State:
    recent, older = state.recent, state.older
    if recent is not None and recent.depth >= CHUNK:
        older, recent = (*older, recent)[-KEPT_CHUNKS:], None
    past = Past(number, entry, state.core, state.twins, 1 if recent is None else recent.depth + 1, recent)
    return msgspec.structs.replace(state, core=found.leaves[0].core, count=number, twins=found.twins, recent=past, older=older)


def step(state: State, entry: Entry, line: bytes | None = None) -> tuple[State, Ruling]:
    """The next state and the entry's ruling; raises EntryUnusable and changes nothing when the entry cannot be.

    `line` is the entry as it was read, to be kept as it is.
    """
    one_of(entry)
    if entry.match is not None:
        raise EntryUnusable("a match entry starts a match; it is not a step of one")
    number = state.count + 1
    check_entry(state.core.match, entry)
    kept = _encode(entry) if line is None else line
    if entry.judge is not None and entry.judge.command in EDITS:
        return _edit(state, kept, entry.judge, number)
    if entry.judge is not None and entry.judge.command == "confirm" and (why := _not_to_confirm(state, entry.judge.entry or 0)):
        return _refused(state, kept, Draft(state.core, number, "judge"), why, number)
    found = _rule(state.core, state.twins, entry, number, state.edits)
    return _remember(state, kept, found, number), ruling_of(found.leaves)


def _back_to(state: State, number: int) -> list[Past]:
    """The kept entries from this one on, oldest first; empty if it is no longer kept."""
    out: list[Past] = []
    for head in (state.recent, *reversed(state.older)):
        past = head
        while past is not None and past.number >= number:
            out.append(past)
            past = past.prev
    out.reverse()
    return out if out and out[0].number == number else []


def _not_to_confirm(state: State, at: int) -> str | None:
    """Why an entry's ruling can't be confirmed; None when it can."""
    if at > state.count:
        return f"9.1.j: there is no entry {at} yet"
    if at in state.edits.voided:
        return f"9.1.j: entry {at} is taken back"
    past = _back_to(state, at)
    if past and len(_rule(past[0].before, past[0].twins, _decode(past[0].entry), at, state.edits).leaves) > 1:
        return f"9.1.j: entry {at} is under review; choose a reading"
    return None


def _target(state: State, judge: Judge) -> int:
    """The earliest entry that a command changes: a command that edits a command changes what that one named."""
    at = judge.entry or 0
    by_number = dict(state.commands)
    while at in by_number and judge.command == "void":
        at = by_number[at].entry or 0
    return at


def _edit(state: State, entry: bytes, judge: Judge, number: int) -> tuple[State, Ruling]:
    draft = Draft(state.core, number, "judge")
    at = judge.entry or 0
    if at >= number:
        return _refused(state, entry, draft, f"9.1.j: there is no entry {at} yet", number)
    past = _back_to(state, _target(state, judge))
    if not past:
        return _refused(state, entry, draft, f"9.1.j: entry {at} is too far back", number)
    if judge.command != "void" and (at in dict(state.commands) or at in state.edits.voided):
        return _refused(state, entry, draft, f"9.1.j: entry {at} is not in force as a ruling of its own", number)
    if judge.command == "add_event":
        event = _decode(past[0].entry)
        if event.stroke is None:
            return _refused(
                state, entry, draft, f"9.1.j: entry {at} is no stroke; sanction what happened between strokes by its clause", number
            )
        check_entry(state.core.match, with_added(event, (*state.edits.added.get(at, ()), judge)))
    # An older command can no longer be edited, nor can the entry that it named.
    commands = tuple(c for c in state.commands if c[0] > number - CHUNK * (KEPT_CHUNKS + 1))
    old = state.edits if len(commands) == len(state.commands) else _edits(commands)
    commands = (*commands, (number, judge))
    new = _edits(commands)
    if judge.command == "void" and new == old:
        return _refused(state, entry, draft, f"9.1.j: entry {at} is already taken back", number)
    first = past[0]
    was = msgspec.structs.replace(state, core=first.before, twins=first.twins, recent=None, older=(), count=first.number - 1)
    before, now = was, _rewind(state, first)
    changed: list[Refolded] = []
    named: Ruling | None = None
    for item in past:
        event = _decode(item.entry)
        had = _rule(before.core, before.twins, event, item.number, old)
        have = _rule(now.core, now.twins, event, item.number, new)
        before, now = _remember(before, item.entry, had, item.number), _remember(now, item.entry, have, item.number)
        ruling = ruling_of(have.leaves)
        if item.number == at:
            named = ruling
        if ruling != ruling_of(had.leaves):
            changed.append(Refolded(entry=item.number, ruling=ruling))
    if judge.command == "resolve" and not changed:
        return _refused(state, entry, draft, f"9.1.j: entry {at} leaves nothing to resolve by that", number)
    now = msgspec.structs.replace(now, commands=commands, edits=new)
    found = Folded([Leaf({}, *finish(Draft(now.core, number, "judge")))], now.twins)
    shown = _shown(state.core, found.leaves[0], named if judge.command != "void" else None, changed)
    return _remember(now, entry, found, number), shown


def _rewind(state: State, first: Past) -> State:
    """The state before a kept entry, with what was kept before it."""
    older = tuple(p for p in state.older if p.number < first.number)
    head = next((p for p in (*state.older, state.recent) if p is not None and p.number >= first.number), None)
    recent = first.prev if head is not None else None
    return msgspec.structs.replace(state, core=first.before, twins=first.twins, recent=recent, older=older, count=first.number - 1)


def _shown(was: Core, leaf: Leaf, named: Ruling | None, changed: list[Refolded]) -> Ruling:
    """The command's own ruling: what it made of the entry, and where everything stands now."""
    ruling = leaf.ruling
    if named is not None:
        own = ("lawful", "faults", "turn", "next_reason", "penalty_pieces", "place", "restore", "pocketed", "set", "match", "status")
        ruling = msgspec.structs.replace(ruling, **{name: getattr(named, name) for name in own}, seen=named.seen)
        if named.status == "review":
            ruling = msgspec.structs.replace(ruling, alternatives=named.alternatives)
    now = leaf.core
    if now.over is not None:
        ruling = msgspec.structs.replace(ruling, next=None)
        if now.over != was.over:
            ruling = msgspec.structs.replace(ruling, match=now.over)
    if ruling.set is None and len(now.done) > len(was.done):
        ended = next((c.ruling.set for c in reversed(changed) if c.ruling.set is not None), None)
        ruling = msgspec.structs.replace(ruling, set=ended)
    return msgspec.structs.replace(ruling, refolded=changed or msgspec.UNSET)


def _refused(state: State, entry: bytes, draft: Draft, why: str, number: int) -> tuple[State, Ruling]:
    core, ruling = refuse(draft, why)
    return _remember(state, entry, Folded([Leaf({}, core, ruling)], state.twins), number), ruling


def history(state: State) -> Iterator[tuple[int, Entry, Core, Ruling]]:
    """The kept entries in force, oldest first: number, entry, the state before it, and its ruling as it stands."""
    first = state.older[0] if state.older else state.recent
    while first is not None and first.prev is not None:
        first = first.prev
    for past in _back_to(state, first.number if first is not None else 0):
        if past.number not in state.edits.voided:
            entry = _decode(past.entry)
            yield past.number, entry, past.before, ruling_of(_rule(past.before, past.twins, entry, past.number, state.edits).leaves)


def preview(state: State, entry: Entry) -> Ruling:
    """What a judge's command would do, without doing it; `refolded` lists what it changes besides."""
    return step(state, entry)[1]
