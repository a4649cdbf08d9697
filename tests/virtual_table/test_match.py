"""A whole match: seeded, lawful placings, records that agree with the tracks, rulings obeyed, quiet recordings quiet."""

import math

import msgspec
import numpy as np
import pytest

from device.sources.frame import Source
from device.sources.virtual import VirtualSource
from rules.facts import Incident, Match, Stroke
from rules.table import POCKETS_MM, radius_mm
from virtual_table import MISCHIEF, QUIET, Look, Surface, VirtualTable, World
from virtual_table.layout import scattered
from virtual_table.quiet import LEFT_S, SHADED_S, STAYING
from virtual_table.record import returned
from virtual_table.referee import Table, penalty_place
from virtual_table.story import Habits, Story

SMALL = {"width": 364, "height": 272}


def played(seed, seconds, **habits):
    story = Story(seed, Habits(Surface(hop_mm_s=5000), **habits))
    story.extend(seconds)
    return story


@pytest.fixture(scope="module")
def story():
    return played(5, 120)


def test_same_seed_same_match(story):
    again = played(5, 120)
    assert again.strokes == story.strokes
    assert played(6, 20).strokes != story.strokes[:1]


def test_same_seed_same_pictures_bit_for_bit():
    pair = [VirtualTable(seed=4, look=Look(), **SMALL) for _ in range(2)]
    pair[1].skip(150)
    for _ in range(150):
        frame = pair[0].next_frame()
    a, b = pair[0].next_frame(), pair[1].next_frame()
    assert frame.seq == 149
    assert a.seq == b.seq == 150
    assert (a.image == b.image).all()


def test_records_are_those_of_the_contract(story):
    assert len(story.strokes) >= 12
    msgspec.convert(story.match, Match)
    for stroke in story.strokes:
        parsed = msgspec.convert(stroke, Stroke)
        times = [e.t for e in parsed.timeline]
        assert times == sorted(times)
        names = [e["event"] for e in stroke["timeline"]]
        assert names[:2] == ["placed", "struck"]
        assert names[-1] == "rest"


def test_pace_is_pleasant(story):
    struck = [s["timeline"][1]["t"] for s in story.strokes]
    assert struck[0] < 5
    assert 5.5 < np.mean(np.diff(struck)) < 8.5


def test_placings_are_lawful(story):
    for stroke in story.strokes:
        placed = stroke["timeline"][0]
        sign = -1 if stroke["side"] == "S" else 1
        assert sign * placed["y_mm"] >= 370 + 5.5
        assert abs(placed["x_mm"]) <= 370 - 5.5
        assert sign * placed["y_mm"] <= 500 - radius_mm("striker")
        for disc in stroke["before"]["discs"]:
            if disc["id"] != "striker":
                gap = math.hypot(disc["x_mm"] - placed["x_mm"], disc["y_mm"] - placed["y_mm"])
                assert gap > radius_mm("striker") + radius_mm("red")


def test_truth_agrees_with_the_records(story):
    for stroke in story.strokes:
        for event in stroke["timeline"]:
            if event["event"] == "contact":
                a, b = (story.tracks[i] for i in event["discs"][:2])
                p, q = a.at(event["t"]), b.at(event["t"])
                assert math.hypot(p.x_mm - q.x_mm, p.y_mm - q.y_mm) == pytest.approx(a.radius_mm + b.radius_mm, abs=0.005)
            elif event["event"] == "pocket":
                assert not story.tracks[event["disc"]].at(stroke["timeline"][-1]["t"] + 0.4).on_table
        for disc in stroke["after"]["discs"]:
            assert story.tracks[disc["id"]].at(stroke["timeline"][-1]["t"] + 0.35).on_table


def test_no_disc_ever_overlaps_another_at_rest(story):
    for stroke in story.strokes:
        discs = stroke["before"]["discs"]
        for k, a in enumerate(discs):
            for b in discs[k + 1 :]:
                gap = math.hypot(a["x_mm"] - b["x_mm"], a["y_mm"] - b["y_mm"]) - radius_mm(a["kind"]) - radius_mm(b["kind"])
                assert gap > -0.01


def test_a_match_ends():
    story = played(2, 4000, sets=1)
    assert story.over
    assert max(story.wins.values()) == 1
    kinds = {e["event"] for s in story.strokes for e in s["timeline"]}
    assert {"contact", "rail", "pocket"} <= kinds


def test_rulings_are_obeyed():
    story = Story(9, Habits(Surface(), wait_for_ruling=True))
    while not story.strokes:
        story.extend(story.known_s + 0.1)
    first = story.strokes[0]
    mover = first["before"]["discs"][0]
    story.rulings.append(
        {
            "status": "final",
            "next": first["side"],
            "place": [],
            "restore": [{"id": "whatever", "x_mm": mover["x_mm"], "y_mm": mover["y_mm"]}],
            "faults": [],
        }
    )
    while len(story.strokes) < 2:
        story.extend(story.known_s + 0.5)
    second = story.strokes[1]
    assert second["side"] == first["side"]
    back = next(d for d in second["before"]["discs"] if d["id"] == mover["id"])
    assert (back["x_mm"], back["y_mm"]) == pytest.approx((mover["x_mm"], mover["y_mm"]))


def test_striker_that_comes_back_is_recorded_with_its_deepest_place():
    world = World([("striker", "striker", 0.0, -400.0)], Surface(f_rail=0.0))
    world.push(0, 0.0, 2300.0)
    world.run()
    striker = world.tracks[0]
    t, depth = returned(striker, "S", 0.0, world.t)
    assert depth == pytest.approx(-world.pos[0][1] - 370)
    assert t == pytest.approx(world.t)
    assert returned(striker, "N", 0.0, 0.1) is None


def test_penalty_piece_lies_tight_at_the_rail_on_the_midline():
    assert penalty_place("S", []) == (0.0, 485.0)
    assert penalty_place("N", [("red", 0.0, -485.0)]) == (30.0, -485.0)
    assert Table({}, {"S": "red", "N": "black"}).colour["S"] == "red"


def test_late_rulings_are_not_taken_for_the_next_stroke():
    story = Story(9, Habits(Surface(), wait_for_ruling=True))
    while len(story.strokes) < 1 or story.known_s < story.strokes[0]["timeline"][-1]["t"] + 3.5:
        story.extend(story.known_s + 0.1)
    story.rulings.append({"next": "W"})
    while len(story.strokes) < 2:
        story.extend(story.known_s + 0.5)
    assert not story.rulings
    assert story.strokes[1]["side"] in ("S", "N")


@pytest.mark.parametrize("mischief", [m for m in MISCHIEF if m != "fall"])
def test_mischief_leaves_its_truth(mischief):
    story = played(2, 100, opening="scattered", clumsy=1.0, mischief=(mischief,))
    assert story.incidents
    for incident in story.incidents:
        parsed = msgspec.convert(incident, Incident)
        event = parsed.timeline[0]
        before, after = ({d["id"]: (d["x_mm"], d["y_mm"]) for d in incident[k]["discs"]} for k in ("before", "after"))
        moved = [i for i in after if after[i] != before[i]]
        named = {"hand": "discs", "cue": "discs", "shake": "moved"}.get(mischief)
        if named is not None:
            assert sorted(moved) == sorted(getattr(event, named))
            assert all(0.19 < math.dist(before[i], after[i]) < 15.01 for i in moved)
        elif mischief == "slow":
            assert moved == []
            assert event.elapsed_s > 30


def test_piece_on_the_edge_falls_by_itself():
    story = Story(2, Habits(Surface(), clumsy=1.0, mischief=("fall",)))
    story.tracks["r3"].put(0.0, 435.0, 435.0 - 50.8)
    story.extend(4.0)
    (event,) = story.incidents[0]["timeline"]
    assert (event["event"], event["disc"], event["pocket"]) == ("pocket", "r3", "NE")
    assert not story.tracks["r3"].at(3.9).on_table


def test_scattered_positions_do_not_overlap():
    for seed in range(30):
        pieces = list(scattered(np.random.default_rng(seed)).values())
        for k, a in enumerate(pieces):
            assert all(math.dist(a[1:], b[1:]) > 2 * radius_mm("red") - 1e-6 for b in pieces[k + 1 :])
            assert all(math.dist(a[1:], p) > 50 for p in POCKETS_MM.values())


def test_sloppy_players_leave_the_line_in_the_hole():
    story = played(4, 40, sloppy=1.0)
    depths = [abs(s["timeline"][0]["y_mm"]) - 370 for s in story.strokes]
    assert any(abs(d) < 5.5 for d in depths)


def test_cue_touches_the_striker_at_the_stated_time():
    story = played(3, 9)
    stroke = story.strokes[0]
    placed, struck = stroke["timeline"][:2]
    cue = next(a for a in story.acts if a.kind == "cue" and a.times[0] < struck["t"] < a.times[-1])
    tip = cue.key_at(struck["t"])
    assert math.dist((tip.x, tip.y), (placed["x_mm"], placed["y_mm"])) == pytest.approx(radius_mm("striker"))
    early = cue.key_at(struck["t"] - 0.2)
    assert math.dist((early.x, early.y), (placed["x_mm"], placed["y_mm"])) > radius_mm("striker") + 5


@pytest.mark.parametrize("nothing", [*QUIET, *STAYING])
def test_quiet_recordings_move_no_piece(nothing):
    table = VirtualTable(seed=3, nothing=nothing, **SMALL)
    start = {d.id: d for d in table.truth_at(0.5) if d.kind != "striker"}
    for t in (7.0, 14.0, 21.0, 29.0):
        assert {d.id: d for d in table.truth_at(t) if d.kind != "striker"} == start
    assert table.strokes == []


def test_a_hand_that_leaves_has_lain_there_from_the_beginning():
    table = VirtualTable(seed=3, nothing="leave", **SMALL)
    there = [bool(table.shapes_at(t)) for t in (0.1, LEFT_S - 0.5, LEFT_S + 0.5)]
    assert there == [True, True, False]


def test_half_a_tables_light_goes_and_stays_away():
    table = VirtualTable(seed=3, nothing="shade", **SMALL)
    before = table.next_frame().image.astype(float)
    table.skip(round((SHADED_S + 1.0) * table.fps))
    darker = before - table.next_frame().image
    table.skip(round(5.0 * table.fps))
    assert 0.05 < (darker.max(axis=2) > 10).mean() < 0.95
    assert np.abs(before - darker - table.next_frame().image).mean() < 5


def test_frames_carry_the_middle_of_their_exposure():
    table = VirtualTable(seed=1, fps=50.0, exposure_s=0.006, **SMALL)
    frames = [table.next_frame() for _ in range(3)]
    assert [f.seq for f in frames] == [0, 1, 2]
    assert [f.t_ns for f in frames] == [3_000_000, 23_000_000, 43_000_000]
    assert not frames[0].image.flags.writeable


def test_source_speaks_the_protocol_and_drops_what_comes_too_late():
    now = [100.0]

    def sleep(seconds):
        now[0] += seconds

    source: Source = VirtualSource(seed=1, realtime=True, clock=lambda: now[0], sleep=sleep, **SMALL)
    assert source.size_px == (364, 272)
    first = source.read()
    second = source.read()
    now[0] += 0.105  # the reader is busy for six frames
    third = source.read()
    assert (first.seq, second.seq) == (0, 1)
    assert third.seq == 7
    assert source.dropped == 5
    assert third.t_ns == round((7 / 60 + 0.002) * 1e9)
    source.close()
    source.close()
    assert source.read() is None


def test_patient_table_waits_for_a_late_reader():
    now = [0.0]

    def sleep(seconds):
        now[0] += seconds

    source = VirtualSource(seed=1, patient=True, clock=lambda: now[0], sleep=sleep, **SMALL)
    source.read()
    now[0] += 3.0
    assert [source.read().seq for _ in range(3)] == [1, 2, 3]
    assert source.dropped == 0
    assert now[0] == pytest.approx(3.0 + 2 / 60)


def test_source_without_real_time_gives_every_frame():
    source = VirtualSource(seed=1, realtime=False, **SMALL)
    assert [source.read().seq for _ in range(5)] == [0, 1, 2, 3, 4]
    assert source.lens.width == 364
    assert source.match.players["S"].colour in ("red", "black")


def test_cue_never_catches_the_striker_up():
    story = played(3, 30)
    for stroke in story.strokes:
        struck = stroke["timeline"][1]["t"]
        cue = next(a for a in story.acts if a.kind == "cue" and a.times[0] < struck < a.times[-1])
        for t in np.linspace(struck + 0.002, struck + 0.06, 12):
            tip, striker = cue.key_at(t), story.tracks["striker"].at(t)
            assert math.dist((tip.x, tip.y), (striker.x_mm, striker.y_mm)) > radius_mm("striker")
