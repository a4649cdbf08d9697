"""Fast enough to be a live camera on one core: measured as processor time of this thread, so that neighbours do not matter."""

import time

from virtual_table import Surface, VirtualTable, World
from virtual_table.layout import start


def test_a_break_is_worked_out_in_a_fraction_of_the_time_it_takes():
    world = World([(i, *d) for i, d in start({"S": "red", "N": "black"}).items()] + [("striker", "striker", 30.0, -420.0)], Surface())
    world.push(16, -300.0, 5500.0)
    began = time.thread_time()
    world.run()
    assert time.thread_time() - began < 0.3


def test_frames_of_a_stroke_cost_less_than_15_ms_in_the_mean():
    table = VirtualTable(seed=1)
    table.truth_at(9.0)
    struck = table.strokes[0]["timeline"][1]["t"]
    table.skip(int((struck - 0.4) * 60))
    table.next_frame()  # draws the resting discs once
    began = time.thread_time()
    for _ in range(90):
        table.next_frame()
    assert (time.thread_time() - began) / 90 < 0.015
