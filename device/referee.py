"""From facts to rulings that cannot be lost: fold, match log (one fsync), outbox, then the retained state.

One thread enters; the match log is the truth, and everything else here is rebuilt from it at start.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from device import topics
from device.clock import wall_time
from device.evidence.clerk import Clerk
from device.messaging.judge import JudgeRequest
from device.storage.match_log import LogLine, MatchLog, Recovered, without_none
from device.storage.outbox import Message, Outbox
from device.webhook.desk import NewsDesk
from rules.errors import NovussError, OutboxFull, StorageFailed
from rules.facts import Entry, Incident, Judge, Lifted, Match, SeenDiscs, Touched
from rules.fold import State, match_state, start, step
from rules.orders import SPANS_S, KeepEvidence, SetClock, ShowTable, StartMatch
from rules.ruling import Ruling
from rules.start_position import colours_at_start, match_at_start
from rules.state import Core
from rules.stats import Shot, figures, shot_of, shots_of
from rules.table import Side

_log = logging.getLogger(__name__)

_SEEN_TWICE: Final = 2  # looks at a start position before it is believed; a hand may still be laying it out at the first


@dataclass(frozen=True, slots=True)
class NewMatch:
    """What is used when a start position begins a match by itself."""

    ruleset: str = "lnf-2008"
    sets: int = 5
    first_turn: Side | None = None


OnRuling = Callable[[Ruling, State], None]


class Referee:
    """Rules on entries in the order they come, and remembers them."""

    def __init__(
        self,
        log: MatchLog,
        recovered: Recovered,
        outbox: Outbox,
        publish: topics.Publish,
        new_match: NewMatch,
        on_ruling: OnRuling,
        clerk: Clerk | None = None,
        news: NewsDesk | None = None,
    ) -> None:
        self._log = log
        self._outbox = outbox
        self._publish = publish
        self.new_match = new_match
        self._on_ruling = on_ruling
        self._clerk = clerk or Clerk()
        self._news = news or NewsDesk()
        self._state: State | None = None
        self._last: Ruling | None = None
        self._start_seen = 0
        self._clock_runs = False
        self._clock_of: str | None = None  # the judge who started the clock that runs
        self._matches = 0
        self._unsent: deque[tuple[str, list[Message]]] = deque()
        self._shots: dict[int, Shot] = {}
        self._refold(recovered)
        self._recount()
        self._set_clock(SetClock(command="clock", run=False))

    def _refold(self, recovered: Recovered) -> None:
        """The state of the log, and into the outbox whatever a crash kept from it: each entry once, in the log's order."""
        keys = [line.key for line in recovered.lines if line.entry]
        missing = set(self._outbox.missing(keys))
        self._news.recall(keys)
        for line in recovered.lines:
            self._clerk.recall(line)
            before = self._state
            ruling = self._fold(line.value)
            if ruling is not None:
                self._news.note(line, before, self._state, recalled=True)
            if ruling is not None and line.key in missing:
                self._send(line, ruling)
        if recovered.lines:
            self._clerk.recalled()
            self._announce()

    def _fold(self, entry: Entry) -> Ruling | None:
        if entry.match is not None:
            self._state, self._last = start(entry.match), None
            self._matches += 1
            return None
        if self._state is None:
            return None
        self._state, self._last = step(self._state, entry)
        return self._last

    @property
    def has_match(self) -> bool:
        """Whether a match is being played."""
        return self._state is not None and self._state.core.over is None

    @property
    def sides(self) -> tuple[Side, ...]:
        """Sides at which somebody plays; empty while no match has been started."""
        return () if self._state is None else self._state.core.seats

    @property
    def state(self) -> State | None:
        """The fold so far."""
        return self._state

    def begin(self, match: Match, *, resume: bool) -> None:
        """Start a match; with `resume`, one of the same id that the log ends with goes on instead."""
        if resume and self._state is not None and self._state.match.id == match.id:
            self._announce()
            return
        self._clerk.recall(self._log.append(Entry(match=match)))
        self._fold(Entry(match=match))
        self._announce()
        self._recount()

    def consider_start(self, seen: SeenDiscs) -> None:
        """Begin a match when the table shows a start position for the second time in a row and no match is being played."""
        self._start_seen = self._start_seen + 1 if colours_at_start(seen.discs) else 0
        if self.has_match or self._start_seen < _SEEN_TWICE:
            return
        wanted = self.new_match
        match_id = f"{wall_time().at}-{self._matches + 1}"
        match = match_at_start(seen.discs, match_id, ruleset=wanted.ruleset, sets=wanted.sets, first_turn=wanted.first_turn)
        if match is not None:
            self.begin(match, resume=False)

    def enter(self, entry: Entry) -> Ruling | None:
        """Rule on one entry and keep it; None where nothing is ruled (no match yet, or pieces are being laid out as ruled)."""
        if self._state is None or (entry.incident is not None and self._is_laying_out(entry.incident)):
            return None
        before = self._state
        state, ruling = step(self._state, entry)  # first, because an entry that raises must not get into the log
        booking = self._clerk.book(entry, ruling)
        line = self._log.append(entry, booking.name, booking.missing)
        self._state, self._last = state, ruling
        self._send(line, ruling)
        self._news.note(line, before, state)
        self._announce()
        self._count(before.core, entry, ruling)
        self._clerk.file(line, ruling, state.names)
        if entry.stroke is not None and self._clock_runs:
            self._set_clock(SetClock(command="clock", run=False))
        self._on_ruling(ruling, state)
        return ruling

    def judge(self, request: JudgeRequest) -> None:
        """A judge's command, answered with its entry and ruling or with why it changes nothing."""
        command = request.command
        _log.info("judge %s%s: %s", command.by, " asks" if request.preview else "", command)
        try:
            if isinstance(command, SetClock):
                self._set_clock(command)
                request.accept()
            elif isinstance(command, KeepEvidence):
                self._clerk.hold(command, request)
            elif isinstance(command, StartMatch):
                self._start_as_told(command, request)
            elif isinstance(command, ShowTable):
                request.refuse("no camera watches this table")
            elif self._state is None:
                request.refuse("no match has been started")
            elif request.preview:
                self._preview(self._state, command, request)
            else:
                self._answer(self.enter(Entry(judge=command)), request)
        except NovussError as error:
            request.refuse(str(error))

    @staticmethod
    def _answer(ruling: Ruling | None, request: JudgeRequest) -> None:
        if ruling is not None and isinstance(ruling.refused, str):
            request.refuse(ruling.refused)
        elif ruling is not None:
            request.accept(entry=ruling.entry, ruling=msgspec.to_builtins(ruling))

    @staticmethod
    def _preview(state: State, command: Judge, request: JudgeRequest) -> None:
        """What the command would do: where the match stands now and where it would stand; nothing is kept."""
        then, ruling = step(state, Entry(judge=command))
        if isinstance(ruling.refused, str):
            request.refuse(ruling.refused)
            return
        standing = {"before": match_state(state), "after": match_state(then)}
        request.accept(preview=True, entry=ruling.entry, ruling=msgspec.to_builtins(ruling), **standing)

    def _start_as_told(self, command: StartMatch, request: JudgeRequest) -> None:
        """A match that a judge begins; one that is being played is ended first, unless the judge may and wants to do without."""
        match = msgspec.structs.replace(command.match, by=command.by)
        start(match)  # says what is wrong with it before anything is kept
        if self._state is not None and self.has_match and self._state.core.set.strokes and not command.force:
            request.refuse(f"23.1: {self._state.match.id} is being played; end that match first")
            return
        if not request.preview:
            self.begin(match, resume=False)
        request.accept(preview=request.preview, match=msgspec.to_builtins(match))

    def _set_clock(self, command: SetClock) -> None:
        """Shown to everybody until it is taken away or a stroke is made; nothing is ruled by it. Only a judge ends a judge's."""
        if command.run and command.by is None and self._clock_of is not None:
            return
        self._clock_runs, self._clock_of = command.run, command.by if command.run else None
        clock = {"span": command.span, "limit_s": SPANS_S[command.span], "run": command.run, "at": wall_time().at, "by": command.by}
        self._publish(topics.CLOCK, {"schema": "novuss.clock/1"} | clock)

    def _is_laying_out(self, incident: Incident) -> bool:
        """Hands that do what the last ruling asks: put back, lay out, set up the next set."""
        last = self._last
        if last is None:
            return False
        if last.set is not None or last.match is not None:
            return True
        named = {i for event in incident.timeline if isinstance(event, Touched) for i in event.discs}
        named |= {event.disc for event in incident.timeline if isinstance(event, Lifted)}
        asked = set() if self._state is None else {place.id for place in self._state.core.set.awaiting}
        return bool(named) and named <= asked

    def _send(self, line: LogLine, ruling: Ruling) -> None:
        self._unsent.append((line.key, messages(line, ruling)))
        self.retry()

    def retry(self) -> bool:
        """Put into the outbox what could not go there before, in order; whether nothing waits. It is all in the log in any case."""
        try:
            while self._unsent:
                self._outbox.put_entry(*self._unsent[0])
                self._unsent.popleft()
        except (OutboxFull, StorageFailed) as error:
            _log.warning("%s; %d rulings wait", error, len(self._unsent))
        return not self._unsent

    def _count(self, before: Core, entry: Entry, ruling: Ruling) -> None:
        """The match in figures, after what people wait for has gone out."""
        if ruling.refolded:
            self._recount()
        elif self._state is not None and entry.stroke is not None:
            self._shots[ruling.entry] = shot_of(before, entry.stroke, ruling.entry, ruling)
            self._publish(topics.STATS, figures(self._state.match, self._shots))

    def _recount(self) -> None:
        if self._state is not None:
            self._shots = shots_of(self._state)
            self._publish(topics.STATS, figures(self._state.match, self._shots))

    def _announce(self) -> None:
        if self._state is not None:
            last = None if self._last is None else msgspec.to_builtins(self._last)
            self._publish(topics.MATCH, {**match_state(self._state), "last_ruling": last})


def messages(line: LogLine, ruling: Ruling) -> list[Message]:
    """What goes out for one log entry; the same bytes whenever it is rebuilt from the log."""
    common: dict[str, Any] = {
        "match_id": line.match_id,
        "entry": line.entry,
        "at": line.at,
        "clock_synchronised": line.clock_synchronised,
        "evidence": line.evidence,
    }
    if line.evidence is None:
        common["evidence_missing"] = line.evidence_missing or "off"
    if line.value.judge is not None:
        common["judge"] = without_none(line.value.judge)
    out: list[Message] = []
    if line.value.stroke is not None:
        out.append((topics.STROKE, common | without_none(line.value.stroke)))
    if line.value.incident is not None:
        out.append((topics.INCIDENT, common | without_none(line.value.incident)))
    out.append((topics.RULING, common | msgspec.to_builtins(ruling)))
    return out
