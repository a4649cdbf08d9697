"""Which evidence belongs to which ruling, what a judge's edit means for it, and what is said where there is none."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from device.evidence.clerk import Clerk
from device.evidence.moment import deciding, span_s
from device.evidence.recorder import Booking
from device.storage.match_log import LogLine
from rules.facts import Entry, Incident, Judge, OverRail, Pocketed, Position, Rest, Returned, Touched
from rules.ruling import Fault, Refolded
from scoreboard.evidence_view import evidence_view
from scoreboard.state import Snapshot
from scoreboard.words import LANGS, word
from tests.evidence import filmed

NAME = "0000001-01234567"


class Recorded:
    """A recorder that only writes down what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []

    def book(self, *_: Any) -> Booking:
        return Booking(name=NAME)

    def __getattr__(self, what: str) -> Any:
        return lambda *words, **more: self.asked.append((what, *words))


def judged(number: int, **command: Any) -> LogLine:
    return LogLine(number, "m1", number, f"k{number}", Entry(judge=Judge(**command)))


@pytest.mark.parametrize(("command", "ground"), [("override", "overridden"), ("void", "voided")])
def test_an_edited_entry_is_protected_and_what_follows_says_its_new_ruling(command: str, ground: str) -> None:
    recorder: Any = Recorded()
    clerk = Clerk(recorder)
    fact = filmed.stroke()
    ruling = filmed.ruled(fact)
    for entry, name in ((1, NAME), (2, "0000002-01234567")):
        clerk.file(filmed.line_of(fact, entry, name), ruling, {})
    again = msgspec.structs.replace(ruling, lawful=False, entry=2)
    edit = msgspec.structs.replace(ruling, kind="judge", refolded=[Refolded(entry=2, ruling=again)])
    clerk.file(judged(3, command=command, entry=1), edit, {})
    assert recorder.asked[-2:] == [("correct", NAME, ground, None), ("correct", "0000002-01234567", None, again)]


def test_a_refused_command_changes_no_evidence() -> None:
    recorder: Any = Recorded()
    clerk = Clerk(recorder)
    fact = filmed.stroke()
    clerk.file(filmed.line_of(fact, 1, NAME), filmed.ruled(fact), {})
    before = list(recorder.asked)
    clerk.file(judged(2, command="void", entry=1), msgspec.structs.replace(filmed.ruled(fact), refused="no"), {})
    assert recorder.asked == before


def test_a_decided_review_is_let_go() -> None:
    recorder: Any = Recorded()
    clerk = Clerk(recorder)
    fact = filmed.stroke()
    clerk.recall(filmed.line_of(fact, 1, NAME))
    clerk.file(judged(2, command="resolve", entry=1, assume={"r1": "dark"}), filmed.ruled(fact), {})
    assert recorder.asked == [("decided", NAME)]


def test_without_a_recorder_and_for_a_judges_own_entry_it_is_said() -> None:
    fact = filmed.stroke()
    assert Clerk().book(Entry(stroke=fact), filmed.ruled(fact)) == Booking(missing="off")
    assert Clerk().book(Entry(judge=Judge(command="end_match")), filmed.ruled(fact)) == Booking(missing="judge")


@pytest.mark.parametrize(
    ("events", "clauses", "reasons", "wanted"),
    [
        ([], [], ["18.1.a"], ("contact", filmed.CONTACT_S)),
        ([Pocketed(t=4.9, disc="striker", pocket="NE")], ["17.1.d"], [], ("pocket", 4.9)),
        ([Pocketed(t=4.9, disc="r2", pocket="NE")], ["17.1.b"], [], ("contact", filmed.CONTACT_S)),
        ([OverRail(t=4.8, disc="striker", rail="N")], ["17.1.e"], [], ("over_rail", 4.8)),
        ([OverRail(t=4.8, disc="b1", rail="N")], ["17.1.p"], [], ("over_rail", 4.8)),
        ([Returned(t=5.2, depth_mm=3.0)], [], ["18.1.a", "18.1.e"], ("returned", 5.2)),
        ([Touched(t=4.7, discs=["b1"], side="S", by="hand")], ["17.1.n"], [], ("touched", 4.7)),
    ],
)
def test_the_moment_is_what_the_clause_turns_on(
    events: list[Any], clauses: list[str], reasons: list[str], wanted: tuple[str, float]
) -> None:
    fact = filmed.stroke()
    timeline = sorted([*fact.timeline, *events], key=lambda e: e.t)
    fact = msgspec.structs.replace(fact, timeline=timeline)
    faults = [Fault(clause=clause, side="S") for clause in clauses]
    ruling = msgspec.structs.replace(filmed.ruled(filmed.stroke()), faults=faults, next_reason=reasons)
    point = deciding(fact, ruling)
    assert (point.event, point.t_s) == wanted
    start_s, end_s = span_s(fact, point.t_s)
    assert start_s <= point.t_s - 3.0
    assert end_s >= point.t_s + 2.0
    assert end_s - start_s <= 12.0


def test_the_moment_of_an_incident_is_its_first_event() -> None:
    fact = Incident(side="S", timeline=[Touched(t=9.0, discs=["r1"], side="S", by="hand"), Rest(t=10.0)], before=Position(discs=[]))
    point = deciding(fact, filmed.ruled(filmed.stroke()))
    assert (point.event, point.t_s, point.discs) == ("touched", 9.0, ("r1",))


def seen(*pieces: dict[str, Any], **ruling: Any) -> Snapshot:
    record = {"entry": 1, "match_id": "m1", "evidence": None, **ruling}
    return Snapshot(rulings=(record,), evidence=pieces)


@pytest.mark.parametrize("reason", ["off", "no_frames", "behind", "disk_full", "quota", "failed"])
@pytest.mark.parametrize("lang", LANGS)
def test_every_reason_has_words(reason: str, lang: Any) -> None:
    view = evidence_view(seen(evidence_missing=reason), lang, "", is_here=True)
    assert view["last"]["why"] == word(f"no_clip_{reason}", lang)


def test_a_reason_of_a_newer_table_is_still_a_reason() -> None:
    view = evidence_view(seen(evidence_missing="eclipse"), "en", "", is_here=True)
    assert view["last"]["why"] == word("no_clip_failed", "en")


def test_what_is_coming_what_is_here_and_what_is_elsewhere() -> None:
    piece = {"evidence": NAME, "match_id": "m1", "entry": 1, "missing": None, "clip": "clip.mp4", "moment_s": 3.0, "protected": ["review"]}
    assert evidence_view(seen(evidence=NAME), "en", "", is_here=True)["last"]["why"] == word("no_clip_waiting", "en")
    here = evidence_view(seen(piece, evidence=NAME), "en", "", is_here=True)["last"]
    assert here["clip"] == f"/evidence/{NAME}/clip.mp4"
    assert here["kept"] == [word("kept_review", "en")]
    there = evidence_view(seen(piece, evidence=NAME), "en", "", is_here=False)["last"]
    assert (there["page"], there["why"]) == ("", word("no_clip_elsewhere", "en"))
    failed = evidence_view(seen({**piece, "missing": "disk_full"}, evidence=NAME), "en", "", is_here=True)["last"]
    assert failed["why"] == word("no_clip_disk_full", "en")


def test_odd_records_break_no_page() -> None:
    odd: list[dict[str, Any]] = [{}, {"evidence": 7, "entry": "x"}, {"evidence": NAME, "protected": "no", "entry": 1}]
    assert evidence_view(seen(*odd, evidence=NAME), "en", "", is_here=True)["last"]["page"]
