"""Nobody is accused of what a fresh look contradicts."""

from __future__ import annotations

from rules.facts import Disc, Incident, Lifted, Position, Rest, SeenDisc, TableShaken, Touched
from vision.motion.second_look import confirmed

BEFORE = [
    Disc(id="r1", kind="red", x_mm=0, y_mm=0),
    Disc(id="r2", kind="red", x_mm=30, y_mm=0),
    Disc(id="b1", kind="black", x_mm=100, y_mm=100),
]


def seen(*places: tuple[str, float, float]) -> list[SeenDisc]:
    return [SeenDisc(kind=kind, x_mm=x, y_mm=y, sigma_mm=0.1) for kind, x, y in places]  # type: ignore[arg-type]


AS_BEFORE = seen(("red", 0.1, 0), ("red", 30, 0.2), ("black", 100, 100))


def incident(*events: object, after: list[Disc] | None = None) -> Incident:
    timeline = [*events, Rest(t=2.0)]
    return Incident(side="S", timeline=timeline, before=Position(discs=BEFORE), after=Position(discs=BEFORE if after is None else after))  # type: ignore[arg-type]


def test_pieces_found_in_their_places_were_not_touched() -> None:
    mixed_up = [Disc(id="r1", kind="red", x_mm=30, y_mm=0), Disc(id="r2", kind="red", x_mm=0, y_mm=0), BEFORE[2]]
    assert confirmed(incident(Touched(t=1, discs=["r1", "r2"], side="S", by="hand"), after=mixed_up), AS_BEFORE) is None


def test_a_touched_piece_stays_accused_and_the_others_are_left_out() -> None:
    moved = seen(("red", 0, 0), ("red", 33, 0), ("black", 100, 100))
    after = [BEFORE[0], Disc(id="r2", kind="red", x_mm=33, y_mm=0), BEFORE[2]]
    found = confirmed(incident(Touched(t=1, discs=["r1", "r2"], side="S", by="hand"), after=after), moved)
    assert found is not None
    assert [e.discs for e in found.timeline if isinstance(e, Touched)] == [["r2"]]
    assert found.after is not None
    assert {d.id: d.x_mm for d in found.after.discs} == {"r1": 0, "r2": 33, "b1": 100}


def test_lifted_only_when_one_of_its_kind_is_missing() -> None:
    lifted = incident(Lifted(t=1, disc="b1", side="S"), after=BEFORE[:2])
    assert confirmed(lifted, AS_BEFORE) is None
    assert confirmed(lifted, seen(("red", 0, 0), ("red", 30, 0), ("black", 150, 100))) is None
    assert confirmed(lifted, seen(("red", 0, 0), ("red", 30, 0))) is not None


def test_a_shaken_table_moved_two_pieces_at_least() -> None:
    shaken = incident(TableShaken(t=1, moved=["r1", "r2", "b1"]))
    assert confirmed(shaken, seen(("red", 2, 0), ("red", 30, 0), ("black", 100, 100))) is None
    assert confirmed(shaken, seen(("red", 2, 0), ("red", 33, 0), ("black", 100, 100))) is not None
