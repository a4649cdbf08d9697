"""Runs, breaks, contacts: what a referee reads from directions, checked on motions with a known answer."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.truth import camera_of
from rules.table import POCKETS_MM
from virtual_table import overhead
from vision.motion import predict
from vision.motion.contacts import touches
from vision.motion.edges import deepest, over_edge
from vision.motion.grouping import join, passing, split
from vision.motion.outline import outline_at, shape_of
from vision.motion.path import Path
from vision.motion.predict import Body, advance
from vision.motion.segments import Run, fit_run, resting
from vision.motion.track import Sighting, Track, way_to

FRAME_S = 1 / 60
SLOWING = 1000.0
OPTICS = overhead(1456, 1088)
CAMERA = camera_of(OPTICS)


def slide(start, velocity, times, slowing=SLOWING):
    """Exact positions of a sliding disc at times counted from its start."""
    start, velocity = np.array(start, float), np.array(velocity, float)
    speed = np.hypot(*velocity)
    tau = np.minimum(np.asarray(times), speed / slowing)
    return start + velocity * (tau - slowing * tau**2 / (2 * speed))[:, None]


def seen(times, places, noise, rng):
    return [Sighting(t, x + rng.normal(0, noise), y + rng.normal(0, noise), 0.1, 0.0) for t, (x, y) in zip(times, places, strict=True)]


def breaks(sightings, start, slowing):
    """Runs and breaks between them."""
    return join(split(sightings, start, slowing), start, slowing)


def collide(a, va, b, mass_a, mass_b, bounce=0.85):
    normal = (b - a) / np.hypot(*(b - a))
    impulse = (1 + bounce) * (va @ normal) / (1 / mass_a + 1 / mass_b)
    return va - impulse / mass_a * normal, impulse / mass_b * normal


def head_on(rng, offset_mm=8.0, speed=1800.0, noise=0.08):
    """A striker from (0, -400) onto a red piece at rest near the middle; returns paths and the true time of contact."""
    striker, red = shape_of("striker"), shape_of("red")
    at_piece = np.array([offset_mm, 0.0])
    reach = striker.radius_mm + red.radius_mm
    hit_y = -np.sqrt(reach**2 - offset_mm**2)
    way = hit_y + 400.0
    t_hit = (speed - np.sqrt(speed**2 - 2 * SLOWING * way)) / SLOWING
    va = np.array([0.0, speed - SLOWING * t_hit])
    mass = [s.radius_mm**2 * s.height_mm for s in (striker, red)]
    after_a, after_b = collide(np.array([0.0, hit_y]), va, at_piece, *mass)
    frames = np.arange(1, 60) * FRAME_S - 0.004
    before, later = frames[frames < t_hit], frames[frames >= t_hit]
    track = seen(
        frames,
        np.concatenate([slide((0, -400), (0, speed), before), slide((0, hit_y), after_a, later - t_hit)]),
        noise,
        rng,
    )
    piece = seen(later, slide(at_piece, after_b, later - t_hit), noise, rng)
    out = {}
    for name, kind, rest, sightings in (("striker", "striker", (0.0, -400.0), track), ("r1", "red", at_piece, piece)):
        start = resting(np.array(rest), 0.0)
        runs, kinks = breaks(sightings, start, SLOWING)
        out[name] = Path(name, kind, shape_of(kind), start.p0_mm, runs, kinks, None, sightings[-1].t_s)
    return out, t_hit


def test_two_pictures_between_two_touches_are_a_run_although_the_run_before_is_poor():
    # A striker as it was seen at 6 m/s: it met a piece while the third of these pictures was exposed, and its rail after the fifth.
    seen = [
        (1.2019, 323.6, -440.5, 2.7),
        (1.2185, 380.5, -366.4, 20.8),
        (1.2352, 435.6, -292.1, 16.9),
        (1.2519, 457.6, -222.4, 16.3),
        (1.2685, 471.9, -160.4, 14.2),
        (1.2852, 456.1, -100.1, 13.9),
        (1.3019, 440.6, -40.0, 13.8),
        (1.3185, 425.2, 19.8, 13.8),
        (1.3352, 409.9, 79.3, 13.7),
    ]
    sightings = [Sighting(t, x, y, 0.04, fast) for t, x, y, fast in seen]
    start = resting(np.array([316.9, -450.6]), 1.19)
    runs, found = join(split(sightings, start, SLOWING), start, SLOWING)
    assert len(runs) == 4
    assert found[-1].at_mm[0] == pytest.approx(472, abs=8)  # it leaves the rail, where it was hidden in a break out of any disc's reach


def test_run_gives_velocity_and_slowing():
    times = np.arange(20) * FRAME_S
    run = fit_run(seen(times, slide((10, 20), (900, -400), times), 0.05, np.random.default_rng(1)), SLOWING)
    assert run.velocity_mm_s == pytest.approx((900, -400), abs=6)
    assert run.at(0.1) == pytest.approx(slide((10, 20), (900, -400), [0.1])[0], abs=0.15)


def test_run_that_stops_inside_stays_where_it_stopped():
    times = np.arange(40) * FRAME_S
    run = fit_run(seen(times, slide((0, 0), (300, 0), times), 0.03, np.random.default_rng(2)), SLOWING)
    assert run.at(5.0) == pytest.approx((45.0, 0.0), abs=0.3)


@pytest.mark.parametrize("seed", range(20))
def test_contact_between_frames_is_timed_to_a_fraction_of_the_frame(seed):
    paths, t_hit = head_on(np.random.default_rng(seed), offset_mm=-15 + 1.5 * seed)
    found = touches(paths, "striker")
    contact = next(touch for touch in found if touch.other != "cue")
    assert {contact.disc, contact.other} == {"striker", "r1"}
    assert contact.t_s == pytest.approx(t_hit, abs=0.001)
    assert contact.confidence > 0.9
    cue = next(touch for touch in found if touch.other == "cue")
    assert cue.t_s == pytest.approx(0.0, abs=0.001)


def test_rail_is_told_from_a_disc():
    shape = shape_of("striker")
    times = np.arange(1, 50) * FRAME_S
    t_hit = (2000 - np.sqrt(2000**2 - 2 * SLOWING * (500 - shape.radius_mm))) / SLOWING
    speed = 2000 - SLOWING * t_hit
    before, later = times[times < t_hit], times[times >= t_hit]
    places = np.concatenate([slide((0, 0), (2000, 0), before), slide((500 - shape.radius_mm, 0), (-0.7 * speed, 0), later - t_hit)])
    start = resting(np.zeros(2), 0.0)
    runs, kinks = breaks(seen(times, places, 0.08, np.random.default_rng(3)), start, SLOWING)
    path = Path("striker", "striker", shape, start.p0_mm, runs, kinks, None, times[-1])
    rails = [touch for touch in touches({"striker": path}, "striker") if touch.other != "cue"]
    assert [touch.other for touch in rails] == ["E"]
    assert rails[0].t_s == pytest.approx(t_hit, abs=0.001)


def test_followers_slip_of_two_frames_makes_no_contact():
    times = np.arange(1, 40) * FRAME_S
    places = slide((0, -400), (100, 1500), times)
    places[20:22] += (60, -90)
    start = resting(np.array([0.0, -400.0]), 0.0)
    _, kinks = breaks(seen(times, places, 0.08, np.random.default_rng(4)), start, SLOWING)
    assert len(kinks) == 1


def test_a_sighting_where_no_disc_could_have_come_in_time_tells_no_way():
    """It was taken for the way of a disc at 900 m/s, surely."""
    before = Run(0.0, np.array([0.0, -200.0]), np.array([0.0, 1000.0]), SLOWING, 0.0, 0.1, 7, 0.1, 1.0)
    after = Run(0.134, np.array([300.0, 300.0]), np.array([500.0, 0.0]), SLOWING, 0.134, 0.3, 10, 0.1, 1.0)
    alone = passing(before, Sighting(0.117, 300.0, 100.0, 0.1, 0.0), after)
    assert alone.at(0.117) == pytest.approx((300.0, 100.0))
    assert alone.speed_mm_s == 0.0
    assert alone.sigma_v_mm_s > 1000.0


def test_discs_far_from_what_moves_cost_next_to_nothing(monkeypatch):
    """With 18 pieces on the table one fast striker took 14 ms a frame."""
    asked = []
    monkeypatch.setattr(predict, "_collide", lambda one, other: asked.append((one, other)))
    pieces = [Body(shape_of("red"), np.array([50.0 * n - 425.0, 400.0]), np.zeros(2)) for n in range(18)]
    striker = Body(shape_of("striker"), np.array([0.0, -400.0]), np.array([0.0, 5000.0]))
    advance([*pieces, striker], FRAME_S)
    assert striker.at_mm[1] > -320.0
    assert asked == []


def test_equal_discs_keep_their_identity_through_a_head_on_hit():
    moving = Body(shape_of("red"), np.array([0.0, 0.0]), np.array([2000.0, 0.0]))
    lying = Body(shape_of("red"), np.array([40.0, 0.0]), np.zeros(2))
    advance([moving, lying], FRAME_S)
    assert moving.at_mm[0] < lying.at_mm[0] - 29.0
    assert lying.velocity_mm_s[0] > 1000 > moving.velocity_mm_s[0]


def test_pocket_is_timed_where_the_axis_crosses_the_edge():
    centre = np.array(POCKETS_MM["NE"])
    direction = centre / np.hypot(*centre)
    times = np.arange(0, 12) * FRAME_S
    start = centre - direction * 300
    places = slide(start, direction * 1400, times)
    keep = np.hypot(*(places - centre).T) > 55
    sightings = seen(times[keep], places[keep], 0.05, np.random.default_rng(5))
    runs, kinks = breaks(sightings, None, SLOWING)
    path = Path("r1", "red", shape_of("red"), None, runs, kinks, "NE", sightings[-1].t_s, seen=sightings, groups=[sightings])
    fall = over_edge(path)
    assert fall is not None
    assert fall.pocket == "NE"
    true_s = (1400 - np.sqrt(1400**2 - 2 * SLOWING * 250)) / SLOWING
    assert fall.t_s == pytest.approx(true_s, abs=0.002)


def test_returned_needs_to_have_left_the_zone():
    creeping = [(i * FRAME_S, 0.0, -400 + 3.0 * i) for i in range(20)]
    assert deepest("S", 370.0, 0.0, creeping) is None
    back = [*creeping, *((0.4 + i * FRAME_S, 0.0, -340 - 5.0 * i) for i in range(10))]
    assert deepest("S", 370.0, 0.0, back) == (pytest.approx(0.4 + 9 * FRAME_S), pytest.approx(15.0))


def struck_away(from_mm, velocity, others):
    """Paths of a striker that lies at a place with pieces at rest around it and is struck."""
    times = np.arange(1, 30) * FRAME_S - 0.004
    start = resting(np.array(from_mm, float), 0.0)
    runs, kinks = breaks(seen(times, slide(from_mm, velocity, times), 0.08, np.random.default_rng(6)), start, SLOWING)
    out = {"striker": Path("striker", "striker", shape_of("striker"), start.p0_mm, runs, kinks, None, times[-1])}
    for number, place in enumerate(others, 1):
        still = resting(np.array(place, float), 0.0)
        out[f"r{number}"] = Path(f"r{number}", "red", shape_of("red"), still.p0_mm, [still], [], None, 0.0)
    return out


def test_a_cue_is_not_taken_for_the_piece_behind_the_striker():
    paths = struck_away((97.0, -445.0), (-860.0, 3560.0), [(105.8, -481.5)])
    assert [touch.other for touch in touches(paths, "striker")] == ["cue"]


def test_a_cue_is_not_taken_for_the_rail_behind_the_striker():
    paths = struck_away((0.0, -477.0), (0.0, 1500.0), [])
    assert [touch.other for touch in touches(paths, "striker")] == ["cue"]


def test_what_stands_where_the_striker_was_tried_out_is_no_striker():
    track = Track("s1", "striker", np.array([0.0, -400.0]))
    assert not track.stood_at(np.array([0.0, -400.0]))
    track.trial = 1
    assert track.stood_at(np.array([1.0, -399.0]))
    assert not track.stood_at(np.array([0.0, -360.0]))
    track.trial = 0
    track.refused_mm.append(np.array([3.0, -380.0]))
    assert track.stood_at(np.array([3.0, -381.0]))
    track.forget_hands()
    assert not track.stood_at(np.array([3.0, -381.0]))


def test_a_disc_that_nobody_has_seen_move_comes_from_where_it_lay():
    track = Track("r1", "red", np.array([100.0, 0.0]), left=outline_at(CAMERA, np.array([0.0, 0.0]), shape_of("red")))
    track.set_off_s, track.t_s = 1.0, 1.5  # followed on a guess meanwhile
    assert way_to(track, np.array([0.0, 60.0]), 1.02) == pytest.approx((0.0, 3000.0))
