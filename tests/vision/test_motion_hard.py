"""The hardest strokes, as pictures: pieces that leave their rail at 5 m/s and more, break shots among them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from benchmarks.filmed import Studio, watched
from rules.facts import Contact, Disc, OverRail, Pocketed, Stroke
from virtual_table import World


def stroke_of(studio: int, number: int) -> tuple[World, Stroke]:
    world, facts = watched(Studio(studio), np.random.default_rng([number, 18]), 60.0)
    return world, next(fact for fact in facts if isinstance(fact, Stroke))


def left(discs: list[Disc], stroke: Stroke) -> Counter[tuple[str, str]]:
    """How many of each kind went into which pocket, or over which rail."""
    kinds = {disc.id: disc.kind for disc in discs}
    gone = [(e.disc, e.pocket) for e in stroke.timeline if isinstance(e, Pocketed)]
    gone += [(e.disc, e.rail) for e in stroke.timeline if isinstance(e, OverRail)]
    return Counter((kinds[disc], where) for disc, where in gone)


def truly_left(world: World) -> Counter[tuple[str, str]]:
    kinds = {track.id: track.kind for track in world.tracks}
    return Counter((kinds[c.a], c.b) for c in world.log if c.kind in ("pocket", "over_rail"))


@pytest.mark.parametrize(
    ("studio", "number"),
    [
        pytest.param(7075, 376, id="a piece in the shade of its rail, struck along it"),
        pytest.param(7078, 391, id="a break shot: one over the rail, its neighbour into a pocket"),
        pytest.param(7063, 315, id="a piece at a pocket's edge, knocked in"),
    ],
)
def test_every_disc_that_left_is_told_where_it_went(studio: int, number: int) -> None:
    world, stroke = stroke_of(studio, number)
    assert left(stroke.before.discs, stroke) == truly_left(world)
    known = {disc.id for disc in stroke.after.discs}
    assert all(disc.sigma_mm is None or disc.sigma_mm < 10 for disc in stroke.after.discs), known


def test_a_piece_that_was_struck_off_from_under_the_cue_was_touched() -> None:
    _, stroke = stroke_of(7064, 324)
    contact = next(e for e in stroke.timeline if isinstance(e, Contact) and "striker" in e.discs)
    assert contact.confidence is not None
    assert contact.confidence < 0.9
