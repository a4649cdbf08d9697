"""What a stroke's timeline says of its contacts, on exact physics seen through the follower's measured errors."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.played import EXPOSURE_S, followed, places
from rules.facts import Contact, OverRail, Pocketed, Rail, Returned, Stroke
from rules.table import HALF_MM, radius_mm
from virtual_table import Surface, World
from vision.motion.hypotheses import weigh
from vision.motion.impacts import Solids, Strike, Wood, play
from vision.motion.onset import first_movers
from vision.motion.outline import outline_at
from vision.motion.path import paths_of
from vision.motion.predict import FRICTION_MM_S2
from vision.motion.report import Spell, describe
from vision.motion.shutter import Shutter
from vision.motion.track import Sighting

REACH_MM = radius_mm("striker") + radius_mm("red")
TIGHT_MM = HALF_MM - radius_mm("red")


def struck(discs, velocity, **surface):
    """A world in which the striker, the last of the discs, is struck at 0 s."""
    kinds = {"r": "red", "b": "black", "s": "striker"}
    world = World([(name, kinds[name[0]], *at) for name, at in discs.items()], Surface(mu=0.09, **surface))
    world.push(world.striker(), *velocity)
    world.run()
    return world


def told(camera, world, fps=60.0, seed=1, spoil=None, **spell):
    tracks, before = followed(world, fps, camera, np.random.default_rng(seed))
    if spoil is not None:
        spoil(tracks)
    facts = describe(Spell(before=before, **spell), tracks, [], world.t, camera, FRICTION_MM_S2, ("S",)).facts
    return next(f for f in facts if isinstance(f, Stroke))


def first(stroke):
    return next((e for e in stroke.timeline if isinstance(e, Contact) and "striker" in e.discs), None)


def test_a_piece_hit_before_the_striker_was_seen_to_move_is_the_first_beyond_doubt(camera):
    world = struck({"r1": (15.0, -395.0), "b1": (200.0, 100.0), "striker": (0.0, -440.0)}, (400.0, 5000.0))
    for seed in range(4):
        contact = first(told(camera, world, seed=seed))
        assert contact.discs == ["striker", "r1"]
        assert contact.confidence > 0.9
        assert contact.t == pytest.approx(world.log[0].t, abs=0.003)


def test_of_two_pieces_that_moved_between_the_same_frames_the_one_on_the_way_is_first(camera):
    # b1 stands behind r1 and flies off faster than it.
    world = struck({"r1": (0.0, 0.0), "b1": (4.0, 31.0), "striker": (5.0, -420.0)}, (0.0, 3500.0))
    assert [c.kind for c in world.log[:2]] == ["disc", "disc"]
    for seed in range(4):
        contact = first(told(camera, world, seed=seed))
        assert contact.discs == ["striker", "r1"]
        assert contact.confidence > 0.9


def test_two_pieces_reached_at_once_are_told_together(camera):
    half = 15.5
    world = struck({"r1": (-half, 0.0), "b1": (half, 0.0), "striker": (0.0, -420.0)}, (0.0, 3000.0))
    contact = first(told(camera, world))
    assert set(contact.discs) == {"striker", "r1", "b1"}


def test_two_pieces_reached_one_after_the_other_are_not_told_together(camera):
    world = struck({"r1": (-16.0, 0.0), "b1": (18.0, 30.0), "striker": (0.0, -420.0)}, (0.0, 1500.0))
    hits = [c for c in world.log if "striker" in (c.a, c.b)]
    assert hits[1].t - hits[0].t > 0.008
    contact = first(told(camera, world))
    assert contact.discs == ["striker", "r1"]
    assert contact.confidence > 0.9


def test_a_piece_that_took_the_blow_against_its_rail_was_touched(camera):
    world = struck({"r1": (0.0, TIGHT_MM), "r2": (300.0, 0.0), "striker": (0.0, -420.0)}, (0.0, 3000.0), e_disc=0.75, e_rail=0.6)
    contact = first(told(camera, world))
    assert contact.discs == ["striker", "r1"]
    assert contact.confidence is None or contact.confidence >= 0.9


def test_a_striker_that_creeps_up_to_a_piece_may_have_touched_it(camera):
    speed = float(np.sqrt(2 * 0.09 * 9810 * (480.0 - REACH_MM + 0.02)))
    world = struck({"r1": (0.0, 60.0), "striker": (0.0, -420.0)}, (0.0, speed))
    assert len(world.log) == 1
    contact = first(told(camera, world))
    assert contact is None or contact.confidence < 0.9


def test_a_dropped_frame_near_the_first_contact_leaves_it_undecided(camera):
    world = struck({"r1": (5.0, 0.0), "striker": (0.0, -420.0)}, (0.0, 2500.0))
    assert first(told(camera, world)).confidence > 0.9
    assert first(told(camera, world, missing_s=[world.log[0].t + 0.01])).confidence < 0.9


@pytest.mark.parametrize(
    ("beside", "sets_off", "is_sure"), [((60.0, -200.0), 1, False), ((60.0, -200.0), 0, True), ((-300.0, 300.0), 1, True)]
)
def test_a_striker_out_of_sight_on_its_way_may_have_met_what_set_off_there(camera, beside, sets_off, is_sure):
    world = struck({"r1": (5.0, 0.0), "b1": beside, "striker": (0.0, -420.0)}, (0.0, 2500.0))

    def spoil(tracks):
        seen = tracks["striker"].sightings
        tracks["striker"].sightings = [seen[0], *(s for s in seen if s.t_s > world.log[0].t)]
        tracks["b1"].woken_s = sets_off * seen[1].t_s

    assert (first(told(camera, world, spoil=spoil)).confidence > 0.9) is is_sure


def test_a_piece_that_was_found_again_elsewhere_leaves_its_likes_undecided(camera):
    world = struck({"r1": (5.0, 0.0), "r2": (-75.0, 0.0), "b1": (200.0, 0.0), "striker": (0.0, -420.0)}, (0.0, 2500.0))

    def moved(name):
        def spoil(tracks):
            tracks[name].rest_seen_mm = np.array([300.0, 300.0])
            tracks[name].sightings = []

        return spoil

    assert first(told(camera, world, spoil=moved("r2"))).confidence < 0.9
    assert first(told(camera, world, spoil=moved("b1"))).confidence > 0.9


def test_a_piece_found_again_elsewhere_is_no_stroke_that_touched_nothing(camera):
    world = struck({"r1": (5.0, -380.0), "b1": (300.0, 300.0), "striker": (0.0, -440.0)}, (0.0, 650.0))

    def hide(tracks):  # a hand was over it until it was far away, and it was found there at rest
        tracks["r1"].rest_seen_mm = np.array([300.0, -300.0])
        tracks["r1"].sightings = []
        tracks["striker"].sightings = [s for s in tracks["striker"].sightings if s.t_s > 0.15]

    contact = first(told(camera, world, spoil=hide))
    assert contact.discs == ["striker", "r1"]
    assert contact.confidence < 0.9


def test_a_piece_on_the_way_that_was_found_again_elsewhere_may_have_been_first(camera):
    world = struck({"b1": (3.0, -200.0), "r1": (-8.0, 100.0), "striker": (0.0, -420.0)}, (0.0, 2500.0))

    def hide(tracks):
        tracks["b1"].rest_seen_mm = np.array([300.0, 300.0])
        tracks["b1"].sightings = []

    contact = first(told(camera, world, spoil=hide))
    assert contact is None or contact.confidence < 0.9


def test_a_striker_that_was_turned_by_nothing_that_is_known_leaves_the_first_contact_undecided(camera):
    world = struck({"r1": (26.0, -150.0), "b1": (-90.0, 60.0), "striker": (0.0, -420.0)}, (0.0, 2500.0))
    assert [c.a for c in world.log[:2]] == ["r1", "b1"]
    tracks, before = followed(world, 60.0, camera, np.random.default_rng(1))
    del tracks["r1"]  # nobody knew that it was there
    spell = Spell(before=[disc for disc in before if disc.id != "r1"])
    [stroke] = describe(spell, tracks, [], world.t, camera, FRICTION_MM_S2, ("S",)).facts
    contact = first(stroke)
    assert "b1" in contact.discs
    assert contact.confidence < 0.9


def test_a_lone_gross_sighting_of_a_resting_piece_is_no_contact(camera):
    world = struck({"r1": (5.0, 0.0), "b1": (300.0, -200.0), "b2": (330.0, -200.0), "striker": (0.0, -420.0)}, (0.0, 2500.0))

    def spoil(tracks):
        x, y = tracks["b1"].at_mm
        offsets = [(2.2, 0.5), *[(0.02, 0.0)] * 6]
        tracks["b1"].sightings = [Sighting(0.1 + k / 60, x + dx, y + dy, 0.05, 0.0) for k, (dx, dy) in enumerate(offsets)]

    stroke = told(camera, world, spoil=spoil)
    assert not any(isinstance(e, Contact) and "b1" in e.discs for e in stroke.timeline)


def test_a_rail_just_before_the_pocket_is_told(camera):
    # Off the north rail into the north-west pocket within one frame.
    world = struck({"r1": (300.0, 0.0), "striker": (-160.0, 0.0)}, (-1400.0, 2900.0))
    assert [(c.kind, c.b) for c in world.log] == [("rail", "N"), ("pocket", "NW")]
    for seed in range(4):
        stroke = told(camera, world, seed=seed)
        assert [e.rail for e in stroke.timeline if isinstance(e, Rail)] == ["N"]


def test_a_pocket_is_timed_where_the_axis_crosses_its_edge(camera):
    # Slow at the end of a long way: the first half of the run says little about it.
    world = struck({"r1": (-300.0, 0.0), "striker": (-200.0, -420.0)}, (1100.0, 1470.0))
    fall = next(c for c in world.log if c.kind == "pocket")
    pocketed = next(e for e in told(camera, world).timeline if isinstance(e, Pocketed))
    assert pocketed.disc == "striker"
    assert pocketed.t == pytest.approx(fall.t, abs=0.005)


@pytest.mark.parametrize("fps", [40.0, 60.0])
def test_the_depth_of_a_return_is_that_of_the_turn_between_two_frames(camera, fps):
    world = struck({"r1": (300.0, 0.0), "striker": (0.0, -420.0)}, (100.0, 3400.0))
    assert [c.b for c in world.log[:2]] == ["N", "S"]
    for seed in range(3):
        back = next(e for e in told(camera, world, fps=fps, seed=seed).timeline if isinstance(e, Returned))
        assert back.depth_mm == pytest.approx(HALF_MM - radius_mm("striker") - 370.0, abs=0.5)


def test_a_piece_struck_over_its_own_rail_is_told_over_it_and_not_off_it(camera):
    discs = {"r1": (0.0, TIGHT_MM), "r2": (300.0, 0.0), "striker": (8.0, -420.0)}
    world = struck(discs, (0.0, 5500.0), hop_mm_s=5000.0)
    assert ("over_rail", "r1") in {(c.kind, c.a) for c in world.log}
    stroke = told(camera, world)
    assert [(e.disc, e.rail) for e in stroke.timeline if isinstance(e, OverRail)] == [("r1", "N")]
    assert not [e for e in stroke.timeline if isinstance(e, Rail) and e.disc == "r1"]
    assert first(stroke).discs == ["striker", "r1"]


def test_strokes_are_played_forward_as_the_exact_physics_has_them():
    world = struck({"r1": (0.0, 0.0), "b1": (6.0, 60.0), "striker": (6.0, -420.0)}, (0.0, 4000.0))
    at = np.array([[t.at(0.0).x_mm, t.at(0.0).y_mm] for t in world.tracks])
    surface = world.surface
    wood = Wood(np.array([surface.e_disc]), np.array([surface.e_rail]), np.array([surface.f_disc]), surface.mu * 9810)
    times = np.array([world.log[0].t + 0.004, world.log[1].t + 0.004])
    strike = Strike(2, np.zeros(1), np.array([[0.0, 4000.0]]))
    solids = Solids(world.radius, world.mass, np.zeros(3, bool))
    got = play(at[None], np.zeros((1, 3, 2)), solids, wood, -0.01, times, strike)
    assert got.t_s[0, :2] == pytest.approx([c.t for c in world.log[:2]], abs=2e-4)
    for k, track in enumerate(world.tracks):
        assert got.places_mm[0, :, k] == pytest.approx(places(track, times)[0], abs=0.3)


def test_a_row_that_shivers_when_it_is_struck_leaves_room_for_the_next_contact():
    pitch, velocity = 30.02, np.array([-1266.0, 2719.8])
    row = {f"r{n}": (pitch * (n - 4.5), TIGHT_MM) for n in range(1, 9)}
    meets = np.array(row["r2"]) - REACH_MM * np.array([0.36, 0.933])  # and r1 a millisecond and a half later
    world = struck({**row, "striker": tuple(meets - 0.2 * velocity)}, tuple(velocity))
    many, surface = 64, world.surface
    at = np.array([[t.at(0.0).x_mm, t.at(0.0).y_mm] for t in world.tracks])[None].repeat(many, axis=0)
    at[:, :8] += np.random.default_rng(3).normal(0, 0.15, (many, 8, 2))
    wood = Wood(*(np.full(many, v) for v in (surface.e_disc, surface.e_rail, surface.f_disc)), surface.mu * 9810)
    strike = Strike(8, np.zeros(many), velocity[None].repeat(many, axis=0))
    solids = Solids(world.radius, world.mass, np.zeros(9, bool))
    got = play(at, np.zeros((many, 9, 2)), solids, wood, -0.01, np.array([world.log[0].t + 0.02]), strike)
    pairs = [set(zip(a, b, strict=True)) for a, b in zip(got.first.tolist(), got.second.tolist(), strict=True)]
    assert all({(0, 8), (8, 0)} & these for these in pairs)


def test_explanations_keep_their_likelihoods(camera):
    world = struck({"r1": (-16.0, 0.0), "b1": (16.0, 1.0), "striker": (0.0, -420.0)}, (0.0, 3000.0))
    tracks, _ = followed(world, 60.0, camera, np.random.default_rng(1))
    paths, slowing = paths_of(tracks, FRICTION_MM_S2, camera, Shutter(EXPOSURE_S))
    verdict = weigh(paths, "striker", first_movers(paths, "striker"), slowing, EXPOSURE_S)
    assert verdict is not None
    assert sum(share for _, share in verdict.shares) == pytest.approx(1.0)
    assert verdict.together > 0.5
    assert verdict.t_s == pytest.approx(world.log[0].t, abs=0.001)


def test_a_piece_whose_fit_wavered_when_a_shadow_woke_it_has_moved_when_it_went(camera):
    world = struck({"b2": (1.0, 0.0), "b5": (4.0, 200.0), "striker": (0.0, -420.0)}, (0.0, 4000.0))
    assert ("b2", "b5") in {(c.a, c.b) for c in world.log} | {(c.b, c.a) for c in world.log}

    def waver(tracks):
        piece = tracks["b5"]
        x, y = piece.rest_seen_mm
        off = [(-0.6, 0.9), (-1.6, 1.2), (0.4, -0.5), *[(0.0, 0.0)] * 6]
        early = [Sighting(-0.6 + i / 60, x + dx, y + dy, 0.1, 0.0) for i, (dx, dy) in enumerate(off)]
        piece.sightings, piece.woken_s = [*early, *piece.sightings], -0.6

    contact = first(told(camera, world, spoil=waver, started_s=-1.0))
    assert contact.discs == ["striker", "b2"]
    assert contact.t == pytest.approx(world.log[0].t, abs=0.003)
    assert contact.confidence > 0.9


def test_a_piece_that_shifted_by_half_a_millimetre_may_have_been_grazed(camera):
    world = struck({"r1": (5.0, 0.0), "b1": (-60.0, -200.0), "striker": (0.0, -420.0)}, (0.0, 2500.0))

    def spoil(tracks):
        x, y = tracks["b1"].rest_seen_mm
        tracks["b1"].woken_s = 0.09
        tracks["b1"].sightings = [Sighting(0.1 + k / 60, x - 0.5, y, 0.05, 0.0) for k in range(8)]

    contact = first(told(camera, world, spoil=spoil))
    assert contact.discs == ["striker", "b1"]
    assert contact.confidence < 0.9


def test_a_piece_that_a_hand_shifted_by_half_a_millimetre_before_the_blow_was_not_grazed(camera):
    world = struck({"r1": (5.0, 0.0), "b1": (-60.0, -200.0), "striker": (0.0, -420.0)}, (0.0, 2500.0))

    def spoil(tracks):
        x, y = tracks["b1"].rest_seen_mm
        tracks["b1"].woken_s = -0.5
        tracks["b1"].sightings = [Sighting(-0.4 + k / 60, x - 0.5, y, 0.05, 0.0) for k in range(8)]

    contact = first(told(camera, world, spoil=spoil))
    assert contact.discs == ["striker", "r1"]
    assert contact.confidence > 0.9


@pytest.mark.parametrize("offset_ms", [-1.5, -0.7, 0.0, 0.7, 1.5])
def test_a_rail_that_is_met_while_a_picture_is_exposed_is_told(camera, offset_ms):
    # The sighting shows the mean of the way there and back: short of the rail by more than any measuring error.
    world = struck({"r1": (-60.0, -150.0), "striker": (0.0, -420.0)}, (-170.0, 4700.0))
    met = next(c.t for c in world.log if c.kind == "rail")
    fps = 60.0
    late = (met + offset_ms / 1e3 - EXPOSURE_S / 2) * fps % 1 / fps
    tracks, before = followed(world, fps, camera, np.random.default_rng(1), first_s=late)
    facts = describe(Spell(before=before), tracks, [], world.t, camera, FRICTION_MM_S2, ("S",)).facts
    stroke = next(f for f in facts if isinstance(f, Stroke))
    assert [e.rail for e in stroke.timeline if isinstance(e, Rail) and e.disc == "striker"][:1] == ["N"]


def test_a_piece_that_was_measured_badly_at_rest_has_not_moved_when_it_is_seen_where_it_lies(camera):
    world = struck({"b1": (0.0, 100.0), "b2": (200.0, -300.0), "striker": (0.0, -420.0)}, (0.0, 1500.0))

    def spoil(tracks):  # 2 mm off in the still picture, and woken by a shadow right after the blow
        track = tracks["b1"]
        x, y = track.rest_seen_mm
        track.left, track.rest_seen_mm, track.woken_s = outline_at(camera, np.array([x, y - 2.0]), track.shape), None, 0.03
        track.sightings = [Sighting(0.02 + k / 60, x, y, 0.05, 0.0) for k in range(2)] + track.sightings

    contact = first(told(camera, world, spoil=spoil))
    assert contact.discs == ["striker", "b1"]
    assert contact.t == pytest.approx(world.log[0].t, abs=0.003)
    assert contact.confidence > 0.9


def test_a_piece_that_a_passing_shadow_seemed_to_move_was_not_touched(camera):
    world = struck({"b1": (60.0, 0.0), "striker": (0.0, -420.0)}, (0.0, 900.0))

    def spoil(tracks):
        x, y = tracks["b1"].rest_seen_mm
        seemed = [(0.0, 0.0), (4.1, 4.0), (0.6, 0.8), *[(0.05, 0.02)] * 8]
        tracks["b1"].woken_s = 0.5
        tracks["b1"].sightings = [Sighting(0.5 + k / 60, x + dx, y + dy, 0.05, 0.0) for k, (dx, dy) in enumerate(seemed)]

    assert first(told(camera, world, spoil=spoil)) is None


@pytest.mark.parametrize("offset_ms", range(0, 16, 3))
def test_a_rail_between_whose_touch_and_a_piece_s_lies_one_picture_is_told(camera, offset_ms):
    speed = np.array([1900.0, 1100.0])
    lead_s = 0.2 + offset_ms / 1000
    start = np.array([464.4, -65.5]) - speed * lead_s
    world = struck({"b1": (484.9, -34.4), "striker": tuple(start)}, tuple(speed))
    stroke = told(camera, world)
    true = [c.b for c in world.log if c.kind == "rail" and c.a == "striker"]
    assert [e.rail for e in stroke.timeline if isinstance(e, Rail) and e.disc == "striker"] == true
    assert [e.discs for e in stroke.timeline if isinstance(e, Contact)] == [["striker", "b1"]]


def test_a_striker_that_a_piece_turns_into_the_pocket_met_no_rail_on_the_way(camera):
    world = struck({"r1": (-485.0, 363.3), "striker": (254.3, -443.7)}, (-2790.0, 3239.0))
    assert [(c.kind, c.b) for c in world.log if "striker" in (c.a, c.b)][-1] == ("pocket", "NW")
    assert not [c for c in world.log if c.kind == "rail" and c.a == "striker"]
    for seed in range(4):
        stroke = told(camera, world, seed=seed)
        assert not [e for e in stroke.timeline if isinstance(e, Rail) and e.disc == "striker"]
        assert [e.pocket for e in stroke.timeline if isinstance(e, Pocketed)] == ["NW"]


def test_a_striker_that_is_in_the_pocket_after_one_picture_was_struck(camera):
    world = struck({"striker": (-328.2, -439.6)}, (-4300.0, 2400.0))
    assert [c.kind for c in world.log] == ["pocket"]
    stroke = told(camera, world, seed=0)
    assert [(e.disc, e.pocket) for e in stroke.timeline if isinstance(e, Pocketed)] == [("striker", "SW")]
