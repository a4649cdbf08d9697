"""Discs that went over a rail: what is no longer there pushes nobody, and no neighbour is taken for it."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.filmed import AIM_S, CALM_S, Studio, film
from benchmarks.played import strike_off
from benchmarks.truth import camera_of
from virtual_table import overhead
from virtual_table.acting import strike
from vision.motion.claims import are_exchanged, first_asked, heir_of
from vision.motion.leaving import Flight, over_rail
from vision.motion.outline import shape_of
from vision.motion.predict import Body
from vision.motion.report import Spell, free_speed
from vision.motion.scene import Scene
from vision.motion.smear import Fit
from vision.motion.track import Sighting, Track
from vision.motion.tracks import Tracker
from vision.watcher import Watcher

FRAME_S = 1 / 60
STRUCK_S = CALM_S + AIM_S


def follower(*tracks: Track) -> Tracker:
    camera = camera_of(overhead(1456, 1088))
    tracker = Tracker(camera, Scene(camera), 0.0035)
    tracker.tracks.update({track.id: track for track in tracks})
    return tracker


def under_way(name: str, at_mm: tuple[float, float], velocity_mm_s: tuple[float, float]) -> Track:
    return Track(name, "striker" if name == "striker" else "red", np.array(at_mm), state="active", velocity_mm_s=np.array(velocity_mm_s))


def test_a_disc_that_may_have_gone_over_a_rail_is_not_expected_to_push_its_neighbours() -> None:
    gone, beside = under_way("r1", (0.0, 478.0), (900.0, -200.0)), under_way("r2", (32.0, 480.0), (150.0, -30.0))
    gone.missed, gone.flown_mm = 1, gone.at_mm
    tracker = follower(gone, beside)
    likely, _ = tracker._expected([gone, beside], FRAME_S)
    assert likely["r2"].at_mm == pytest.approx((34.5, 479.5), abs=0.3)
    gone.flown_mm = None
    likely, _ = tracker._expected([gone, beside], FRAME_S)
    assert likely["r2"].at_mm[0] > 37


def test_a_struck_striker_in_the_open_that_is_still_on_trial_is_expected_to_push_what_it_meets() -> None:
    striker, piece = under_way("striker", (0.0, 0.0), (0.0, 4800.0)), Track("r1", "red", np.array([0.0, 75.0]))
    striker.trial = 2
    likely, otherwise = follower(striker, piece)._expected([striker, piece], FRAME_S)
    assert likely["r1"].at_mm[1] > 100
    assert otherwise["r1"].at_mm == pytest.approx((0.0, 75.0))


def test_a_disc_that_ran_into_a_rail_hard_and_is_out_of_sight_since_went_over_it() -> None:
    piece = under_way("r1", (0.0, 470.0), (300.0, 4000.0))
    tracker = follower(piece)
    likely, _ = tracker._expected([piece], FRAME_S)
    tracker._miss(piece, likely["r1"], FRAME_S)
    piece.state = "lost"
    left = over_rail(piece, None)
    assert left is not None
    assert left.rail == "N"
    slow = under_way("r1", (0.0, 470.0), (300.0, 1500.0))
    tracker._miss(slow, tracker._expected([slow], FRAME_S)[0]["r1"], FRAME_S)
    assert over_rail(slow, None) is None


@pytest.mark.parametrize("back", ["recover", "settle_one", "put_back", "adopt"])
def test_a_disc_that_is_back_on_the_table_is_no_longer_taken_to_be_over_the_rail(back: str) -> None:
    """A striker that had gone over stayed so when it was put back: the next blow had it push nobody and look for a plain sight only."""
    piece = under_way("r1", (0.0, 478.0), (0.0, 4000.0))
    piece.missed, piece.flown_mm, piece.state = 1, piece.at_mm, "lost"
    tracker = follower(piece)
    image = np.full((1088, 1456, 3), 120, np.uint8)
    place = np.array([0.0, 300.0])
    {
        "recover": lambda: tracker.recover(piece, place, 1.0),
        "settle_one": lambda: tracker.settle_one(piece, image, 1.0),
        "put_back": lambda: tracker.put_back(piece, place),
        "adopt": lambda: tracker.adopt(image),
    }[back]()
    assert piece.flown_mm is None
    assert over_rail(piece, None) is None


def test_what_may_have_gone_over_a_rail_asks_last_for_what_was_found() -> None:
    gone = Body(shape_of("red"), np.array([100.0, 480.0]), np.zeros(2), np.array([90.0, 485.0]), flown=True)
    beside = Body(shape_of("red"), np.array([140.0, 470.0]), np.zeros(2))
    found = Fit(np.array([107.0, 483.0]), 1.0, 130.0, 80.0, 0.95, 0.05)
    assert first_asked({"r1": found, "r2": found}, {"r1": gone, "r2": beside}) == "r2"


def test_what_was_found_for_one_that_may_have_gone_is_its_neighbour_that_was_last_seen_there() -> None:
    gone, beside = under_way("r8", (105.0, 485.0), (0.0, 0.0)), under_way("r7", (74.6, 484.5), (0.0, 0.0))
    gone.flown_mm = gone.at_mm
    found = Fit(np.array([74.0, 484.1]), 1.0, 130.0, 80.0, 0.95, 0.05)
    assert heir_of(found, gone, [gone, beside]) == "r7"
    assert heir_of(found, gone, [gone]) == "r8"
    black = Track("b1", "black", beside.at_mm)
    assert heir_of(found, gone, [gone, black]) == "r8"


def test_of_two_in_a_row_that_set_off_each_is_the_one_that_is_less_far_astray() -> None:
    near, far = Fit(np.array([-80.5, 482.0]), 1.0, 40.0, 9.0, 0.98, 0.05), Fit(np.array([-110.4, 484.8]), 1.0, 39.0, 5.0, 0.94, 0.05)
    hit, behind = (Body(shape_of("red"), np.array(at), np.zeros(2)) for at in ((-102.4, 484.4), (-129.9, 484.6)))
    assert are_exchanged(far, hit, near, behind)
    assert not are_exchanged(near, hit, far, behind)
    head_on = Body(shape_of("red"), np.array([-106.0, 484.8]), np.zeros(2))  # of the wrong speed, but with nothing to choose
    assert not are_exchanged(far, head_on, near, Body(shape_of("red"), np.array([-78.0, 482.0]), np.zeros(2)))


def test_pieces_of_a_row_that_were_found_for_each_other_change_places() -> None:
    expected = {"r1": -143.9, "r2": -113.3, "r3": -73.6}
    found = {"r1": -47.2, "r2": -128.2, "r3": -82.2}
    tracker = follower(*(under_way(name, (x + 20.0, 484.0), (-1500.0, 0.0)) for name, x in expected.items()))
    bodies = {name: Body(shape_of("red"), np.array([x, 484.0]), np.array([-1500.0, 0.0])) for name, x in expected.items()}
    for name, x in found.items():
        tracker._accept(tracker.tracks[name], Fit(np.array([x, 484.0]), 1.0, 40.0, 9.0, 0.95, 0.05), bodies[name], 1.0)
    tracker._exchange(bodies, 1.0)
    assert [round(tracker.tracks[name].at_mm[0], 1) for name in ("r1", "r2", "r3")] == [-128.2, -82.2, -47.2]
    assert all(len(track.sightings) == 1 for track in tracker.tracks.values())


def test_a_first_step_too_short_to_tell_where_it_leads_counts_less_than_the_blow() -> None:
    piece = Track("b2", "black", np.array([485.0, 43.0]), state="lost", rest_seen_mm=np.array([485.0, 43.0]))
    piece.sightings = [Sighting(1.3686, 485.3, 49.3, 0.1, 0.0)]  # seen in the air, a millisecond after the blow
    left = over_rail(piece, np.array([0.9, 0.43]), 1.368)
    assert left is not None
    assert left.rail == "E"


def test_a_disc_that_went_over_where_two_rails_meet_is_told_over_the_corner() -> None:
    assert Flight(1.0, "N", np.array([-372.0, 485.0])).rail == "NW"
    assert Flight(1.0, "N", np.array([-360.0, 485.0])).rail == "N"


def test_a_striker_that_goes_into_a_pocket_beside_the_cue_was_struck() -> None:
    places = [(-316.5, -443.7), (-354.8, -425.9), (-393.5, -411.1)]
    striker = Track("striker", "striker", np.array(places[-1]), state="gone", pocket="SW")
    striker.sightings = [Sighting(1.2 + i / 60, x, y, 0.1, 0.0) for i, (x, y) in enumerate(places)]
    spell = Spell(before=[], arm_near={"striker": {s.t_s for s in striker.sightings}})
    assert free_speed(striker, spell) > 2000
    striker.pocket = None  # and elsewhere an arm may be what moves it
    assert free_speed(striker, spell) == 0


def test_of_two_like_pieces_knocked_on_between_the_same_two_frames_each_goes_its_own_way() -> None:
    studio, rng = Studio(7496), np.random.default_rng([2483, 18])
    world, at, velocity = strike_off(rng, STRUCK_S)
    watcher = Watcher(studio.camera, sides=("S", "N"), exposure_s=0.0035)
    for image, t_ns, number in film(world, strike(CALM_S, STRUCK_S, "S", at, velocity), studio.renderer, 60.0, 0.0035):
        watcher.push(image, t_ns, number)
        if t_ns > 1.34e9:
            break
    lay = {track.id: track.at(0.0) or track.at(STRUCK_S) for track in world.tracks}
    for name in ("r2", "r6"):
        true, came = next(t for t in world.tracks if t.id == name).at(t_ns / 1e9), lay[name]
        assert true is not None
        assert came is not None
        track = min(watcher.tracks.values(), key=lambda t: float(np.hypot(t.lay_mm[0] - came.x_mm, t.lay_mm[1] - came.y_mm)))
        assert track.at_mm == pytest.approx((true.x_mm, true.y_mm), abs=5.0)


def test_a_disc_that_its_rail_may_have_turned_into_a_pocket_is_not_said_to_be_over_it() -> None:
    # Seen at 7 m/s a frame before the north rail, where it comes back toward the north-west pocket.
    track = under_way("r1", (-372.0, 479.7), (-4400.0, 3700.0))
    track.state, track.flown_mm = "lost", np.array([-380.0, 485.0])
    track.sightings = [Sighting(k * FRAME_S, -372.0 + 73.3 * (1 - k), 479.7 + 61.7 * (k - 1), 0.2, 20.0) for k in range(2)]
    assert over_rail(track, None) is None
    track.sightings = [Sighting(s.t_s, s.x_mm + 300.0, s.y_mm, s.sigma_mm, s.fast_mm) for s in track.sightings]
    there = over_rail(track, None)
    assert there is not None
    assert there.side == "N"
