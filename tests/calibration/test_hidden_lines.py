"""Tables of whose zone lines grain and shade hide most."""

import numpy as np

from benchmarks.filmed import Studio


def test_a_table_of_whose_zone_lines_one_is_seen_is_found_by_midlines_circle_and_pockets():
    studio = Studio(7432)  # lines along the grain, one in the shade of its rail, all broken
    places = [(x, y, 0.0) for x in np.linspace(-485, 485, 7) for y in np.linspace(-485, 485, 7)]
    off = studio.camera.to_mm(studio.optics.to_px(np.array(places)), 0.0) - np.array(places)[:, :2]
    assert np.sqrt((off**2).sum(axis=1).mean()) < 0.15
