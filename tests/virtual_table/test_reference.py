"""The physics against another one: contact logs of path-traced clips that were simulated by small steps elsewhere."""

import json
from pathlib import Path

import pytest

from virtual_table import Surface, World

CLIPS = Path(__file__).parents[2].parent / "shared" / "photoreal" / "clips"
TRUTHS = sorted(CLIPS.glob("*.json")) if CLIPS.is_dir() else []


@pytest.mark.skipif(not TRUTHS, reason="reference clips are not beside this repository")
@pytest.mark.parametrize("path", TRUTHS, ids=lambda p: p.stem)
def test_first_contact_agrees_with_reference(path):
    truth = json.loads(path.read_text())
    physics, struck_s = truth["physics"], truth["stroke"]["t_s"]
    kinds = {d["id"]: d["kind"] for d in truth["discs"]}
    names = {i: "striker" if kind == "ripa" else i for i, kind in kinds.items()}
    frame = [f for f in truth["frames"] if f["t_s"] < struck_s][-1]
    discs = [(names[i], "striker" if kinds[i] == "ripa" else kinds[i], p[0], p[1]) for i, p in frame["pos"].items() if abs(p[2]) < 1]
    world = World(discs, Surface(physics["mu"], physics["e_dd"], physics["e_dr"], physics["f_dd"], physics["f_dr"]), struck_s)
    vx, vy = truth["stroke"]["ripa_velocity_m_s"]
    world.push(world.striker(), vx * 1000, vy * 1000)
    world.run()
    contacts = [c for c in truth["contacts"] if c["kind"] in ("disc-disc", "disc-rail", "pocket")]
    assert world.log[0].t == pytest.approx(contacts[0]["t_s"], abs=5e-4)
    assert world.log[0].approach_mm_s == pytest.approx(contacts[0]["rel_normal_speed_m_s"] * 1000, rel=0.02)
    assert {world.log[0].a, world.log[0].b} == {
        *(names[i] for i in contacts[0]["ids"]),
        *([contacts[0]["rail"]] if "rail" in contacts[0] else []),
    }
    pockets = {(c.a, c.b) for c in world.log if c.kind == "pocket"}
    first = {(names[c["ids"][0]], c["pocket"]) for c in contacts[:4] if c["kind"] == "pocket"}
    assert first <= pockets
