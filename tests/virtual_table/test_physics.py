"""The physics against what is known about it: conservation, closed forms, and a plain small-step integration."""

import math

import numpy as np
import pytest

from rules.table import HALF_MM, POCKET_RADIUS_MM, POCKETS_MM, radius_mm
from virtual_table.physics import GRAVITY_MM_S2, Surface, World, mass_g

START = [(f"r{n + 1}", "red", -105.0 + 30 * n, 485.0) for n in range(8)] + [
    (f"b{n + 1}", "black", -105.0 + 30 * n, -485.0) for n in range(8)
]


def scatter(seed, count=10):
    rng = np.random.default_rng(seed)
    discs = [("striker", "striker", float(rng.uniform(-200, 200)), -420.0)]
    while len(discs) <= count:
        x, y = rng.uniform(-380, 380), rng.uniform(-330, 480)
        if all(math.hypot(x - d[2], y - d[3]) > 46 for d in discs):
            discs.append((f"r{len(discs)}", "red", float(x), float(y)))
    return discs, rng


@pytest.mark.parametrize("seed", range(6))
def test_energy_never_rises_and_nothing_overlaps(seed):
    discs, rng = scatter(seed)
    world = World(discs, Surface())
    world.push(world.striker(), *(rng.uniform(2500, 6000) * np.array([math.sin(0.3), math.cos(0.3)])))
    before = world.energy()
    for _ in world.steps():
        now = world.energy()
        assert now <= before * (1 + 1e-9)
        before = now
        live = np.flatnonzero(world.live)
        gaps = [
            math.hypot(*(world.pos[a] - world.pos[b])) - world.radius[a] - world.radius[b]
            for k, a in enumerate(live)
            for b in live[k + 1 :]
        ]
        assert min(gaps) > -0.001
        assert (np.abs(world.pos[live]) + world.radius[live, None] < HALF_MM + 1e-6).all()
    assert before == 0 or world.t > 11.9


def test_break_of_tight_rows_ends_without_overlap():
    world = World([*START, ("striker", "striker", 30.0, -420.0)], Surface())
    world.push(16, -300, 6000)
    world.run()
    live = np.flatnonzero(world.live)
    gaps = [
        math.hypot(*(world.pos[a] - world.pos[b])) - world.radius[a] - world.radius[b] for k, a in enumerate(live) for b in live[k + 1 :]
    ]
    assert min(gaps) > -0.001
    assert world.log[0].t == world.log[1].t == world.log[2].t  # striker, rail and neighbour at one instant: nobody can separate them


def test_friction_stops_where_the_closed_form_says():
    world = World([("striker", "striker", 0.0, -400.0)], Surface(mu=0.12))
    world.push(0, 300.0, 900.0)
    world.run()
    speed = math.hypot(300, 900)
    way = speed**2 / (2 * 0.12 * GRAVITY_MM_S2)
    assert world.pos[0] == pytest.approx([way * 300 / speed, -400 + way * 900 / speed], abs=1e-9)
    assert world.t == pytest.approx(speed / (0.12 * GRAVITY_MM_S2), abs=1e-9)
    assert world.tracks[0].at(0.1).x_mm == pytest.approx(30 - 0.5 * 0.12 * GRAVITY_MM_S2 * 300 / speed * 0.01)


def test_momentum_is_kept_between_discs_and_the_line_of_centres_is_the_way_of_the_piece():
    a = math.radians(15)
    world = World([("striker", "striker", 0.0, 0.0), ("r1", "red", 100 * math.sin(a), 100 * math.cos(a))], Surface(f_disc=0, mu=1e-6))
    world.push(0, 0.0, 2000.0)
    for _ in world.steps():
        if world.log:
            break
    ms, mp = mass_g("striker"), mass_g("red")
    assert ms * world.vel[0] + mp * world.vel[1] == pytest.approx([0, ms * 2000], rel=1e-6, abs=1)
    contact = world.log[0]
    normal = np.array([contact.x_mm, contact.y_mm]) - world.pos[0]
    assert math.atan2(*world.vel[1]) == pytest.approx(math.atan2(*normal), abs=1e-6)
    separation = (world.vel[1] - world.vel[0]) @ normal / math.hypot(*normal)
    assert separation == pytest.approx(0.85 * contact.approach_mm_s, rel=1e-6)


def test_rail_gives_back_its_share():
    world = World([("striker", "striker", 0.0, 300.0)], Surface(f_rail=0, mu=1e-6))
    world.push(0, 500.0, 1000.0)
    for _ in world.steps():
        if world.log:
            break
    assert world.log[0].kind == "rail"
    assert world.log[0].b == "N"
    assert world.log[0].t == pytest.approx((HALF_MM - radius_mm("striker") - 300) / 1000, abs=1e-5)
    assert world.vel[0] == pytest.approx([500, -700], rel=1e-4)


def test_pocket_takes_a_disc_when_its_centre_is_over_the_edge():
    px, py = POCKETS_MM["NE"]
    away = np.array([-math.sqrt(0.5), -math.sqrt(0.5)])
    world = World([("r1", "red", *(np.array([px, py]) + away * 150))], Surface())
    world.push(0, *(-away * 800))
    world.run()
    (contact,) = world.log
    assert (contact.kind, contact.a, contact.b) == ("pocket", "r1", "NE")
    assert math.hypot(contact.x_mm - px, contact.y_mm - py) == pytest.approx(POCKET_RADIUS_MM, abs=1e-5)
    decel = 0.1 * GRAVITY_MM_S2
    assert contact.t == pytest.approx((800 - math.sqrt(800**2 - 2 * decel * 100)) / decel, abs=1e-6)
    assert world.tracks[0].at(contact.t + 0.05).z_mm < -5
    assert not world.tracks[0].at(contact.t + 0.5).on_table


def test_disc_resting_on_the_edge_stays():
    px, py = POCKETS_MM["SW"]
    world = World([("r1", "red", px + POCKET_RADIUS_MM + 0.5, py), ("striker", "striker", 0, 0)], Surface())
    world.push(1, 100, 0)
    world.run()
    assert world.live[0]


def test_hard_hit_goes_over_the_rail_only_where_that_is_allowed():
    for hop, kinds in ((math.inf, ["rail"]), (3000.0, ["over_rail"])):
        world = World([("striker", "striker", 10.0, 300.0)], Surface(hop_mm_s=hop))
        world.push(0, 0.0, 4000.0)
        world.run()
        assert [c.kind for c in world.log][:1] == kinds
    assert world.tracks[0].at(world.log[0].t + 0.03).z_mm > 25
    assert world.tracks[0].at(world.log[0].t + 1.0).on_table is False


def small_steps(discs, velocity, surface, until, dt=2e-5):
    """Plain integration, frictionless impacts: (time, a, b) of each first touch of an approaching pair or rail."""
    pos = [np.array(d[2:4], dtype=float) for d in discs]
    vel = [np.zeros(2) for _ in discs]
    vel[0] = np.array(velocity, dtype=float)
    radius = [radius_mm(d[1]) for d in discs]
    mass = [mass_g(d[1]) for d in discs]
    log = []
    for step in range(int(until / dt)):
        for k, v in enumerate(vel):
            speed = math.hypot(*v)
            if speed > 0:
                pos[k] = pos[k] + v * dt
                vel[k] = v * max(0.0, 1 - surface.mu * GRAVITY_MM_S2 * dt / speed)
        for a in range(len(discs)):
            for axis in (0, 1):
                if abs(pos[a][axis]) > HALF_MM - radius[a] and vel[a][axis] * pos[a][axis] > 0:
                    log.append((step * dt, discs[a][0], "rail"))
                    vel[a][axis] *= -surface.e_rail
            for b in range(a + 1, len(discs)):
                d = pos[b] - pos[a]
                if abs(d[0]) > 40 or abs(d[1]) > 40:
                    continue
                dist = math.hypot(*d)
                n = d / dist
                approach = (vel[a] - vel[b]) @ n
                if dist < radius[a] + radius[b] and approach > 0:
                    log.append((step * dt, discs[a][0], discs[b][0]))
                    push = (1 + surface.e_disc) * approach / (1 / mass[a] + 1 / mass[b])
                    vel[a] = vel[a] - n * push / mass[a]
                    vel[b] = vel[b] + n * push / mass[b]
    return log, pos


@pytest.mark.parametrize("seed", [1, 2, 5])
def test_contact_log_agrees_with_small_steps(seed):
    discs, rng = scatter(seed, 3)
    target = np.array(discs[1][2:4]) + rng.uniform(-12, 12, 2)
    line = target - np.array(discs[0][2:4])
    velocity = line / math.hypot(*line) * 1800
    surface = Surface(f_disc=0.0, f_rail=0.0)
    world = World(discs, surface)
    world.push(0, *velocity)
    world.run()
    brute, _ = small_steps(discs, velocity, surface, 0.9)
    exact = [(c.t, {c.a, c.b} if c.kind == "disc" else {c.a, "rail"}) for c in world.log if c.kind != "pocket"][:4]
    assert exact
    for (t, ids), (t_brute, a, b) in zip(exact, brute, strict=False):
        assert ids == {a, b}
        assert t == pytest.approx(t_brute, abs=4e-4)


def test_spin_comes_from_glancing_hits_and_is_bounded_by_friction():
    world = World([("striker", "striker", 0.0, 0.0), ("r1", "red", 25.0, 100.0)], Surface(mu=1e-6))
    world.push(0, 0.0, 2000.0)
    for _ in world.steps():
        if world.log:
            break
    assert world.spin[1] != 0
    push = mass_g("red") * math.hypot(*world.vel[1])
    assert abs(world.spin[1] * world.inertia[1] / world.radius[1]) <= 0.12 * push * 1.001


def test_tracks_are_continuous():
    discs, _ = scatter(3)
    world = World(discs, Surface())
    world.push(0, 300, 4000)
    world.run()
    for track in world.tracks:
        for t in track.times[1:]:
            before, after = track.at(t - 1e-9), track.at(t)
            if after.on_table:
                assert math.hypot(before.x_mm - after.x_mm, before.y_mm - after.y_mm) < 0.002
