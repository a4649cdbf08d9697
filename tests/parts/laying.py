"""A hand that lays a piece out, filmed on the virtual table: frames, the camera, and what a watcher would know beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
import numpy as np

from benchmarks.truth import camera_of
from device.sources.frame import Frame
from rules.facts import Disc, SeenDisc, SeenDiscs
from rules.table import Kind
from virtual_table import Look, Optics, Renderer, Spot, overhead
from virtual_table.hands import Shape
from vision.motion.scene import Mask, Scene

Pieces = tuple[tuple[str, Kind, float, float], ...]

LYING: Pieces = (
    ("r1", "red", -212.0, 131.0),
    ("r2", "red", 288.0, -61.0),
    ("r3", "red", 143.0, -402.0),
    ("b1", "black", -58.0, 344.0),
    ("b2", "black", 331.0, 402.0),
    ("b3", "black", -340.0, 289.0),
    ("striker", "striker", -74.0, -431.0),
)
FINGERS_MM = 158.0  # wrist to a piece between fingertips: some two thirds of it are seen


@dataclass(frozen=True)
class Filmed:
    """One frame; `hands` as the watcher's small picture of what covers the table."""

    frame: Frame
    seen: SeenDiscs
    hands: Mask


class Laying:
    """A table with `LYING` on it and somebody's hand."""

    def __init__(self, optics: Optics | None = None, look: Look | None = None) -> None:
        optics = overhead() if optics is None else optics
        self.camera = camera_of(optics)
        self._renderer = Renderer(optics, Look(seed=3, wear=0.1, lamp="panels") if look is None else look, 3)
        self._scene = Scene(self.camera)

    def film(
        self,
        held: tuple[Kind, float, float, float] | None = None,
        laid: Pieces = (),
        *,
        hand_at: tuple[float, float] | None = None,
        number: int = 1,
    ) -> Filmed:
        """A hand that holds a piece (kind, x, y, height), or one with nothing in it; `laid` lies there besides."""
        lying = (*LYING, *laid)
        self._renderer.rest([Spot(i, kind, x, y, 0.0, 1.0) for i, kind, x, y in lying])
        empty = self._renderer.frame(number=0)
        self._scene.settle(empty, [])
        moving = [] if held is None else [[Spot(f"held {held[0]}", held[0], *held[1:], 1.0)]]
        at = hand_at if held is None else held[1:3]
        shapes = []
        if at is not None:
            toward = math.pi / 2 if at[1] < 0 else -math.pi / 2
            height = 30.0 + (held[3] if held else 10.0)
            shapes = [Shape("hand", at[0], at[1] - math.copysign(FINGERS_MM, math.sin(toward)), height, toward)]
        image = self._renderer.frame(moving, shapes, number=number)
        hands = self._scene.compare(image).copy() if at is not None else np.zeros_like(self._scene.surface)
        seen = [SeenDisc(id=i, kind=kind, x_mm=x, y_mm=y, sigma_mm=0.15, at_rest=True) for i, kind, x, y in lying]
        return Filmed(Frame(image, round(number * 1e9 / 60), number), SeenDiscs(discs=seen), hands)


@cache
def laying() -> Laying:
    """One for all tests: its background takes a second to draw."""
    return Laying()


def disc(name: str, kind: Kind, x_mm: float, y_mm: float) -> Disc:
    return Disc(id=name, kind=kind, x_mm=x_mm, y_mm=y_mm)


def as_record(value: msgspec.Struct) -> dict[str, Any]:
    """What goes over MQTT."""
    record: dict[str, Any] = msgspec.to_builtins(value)
    return record
