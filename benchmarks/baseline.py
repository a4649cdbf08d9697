"""The plainest follower, to compare with: constant-velocity Kalman filters, nearest neighbour, first piece seen to move was hit first.

It gets the same places as the product's follower, but not their names. What norfair and its kind do with detections.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rules.table import Kind

Array = NDArray[np.float64]

PLACE_MM = 0.3  # of a detection
PUSH_MM_S2 = 20_000.0  # acceleration that a contact looks like to a filter that knows none: 300 mm/s in a frame
NEAR_MM = 130.0  # gate: the fastest disc's way in one frame at 60 per second, and some
FORGOTTEN = 15  # frames without a detection
MOVED_MM = 2.0  # from where it lay


@dataclass(frozen=True, slots=True)
class Place:
    """One detection; `true` is only for counting swaps."""

    kind: Kind
    at_mm: Array
    true: str


@dataclass(slots=True)
class _Filter:
    kind: Kind
    state: Array
    cov: Array
    began_mm: Array
    true: str
    first: str
    missed: int = 0
    moved_s: float | None = None

    def predict(self, dt: float) -> None:
        step = np.eye(4)
        step[0, 2] = step[1, 3] = dt
        self.state = step @ self.state
        gain = np.array([[dt * dt / 2, 0], [0, dt * dt / 2], [dt, 0], [0, dt]])
        self.cov = step @ self.cov @ step.T + PUSH_MM_S2**2 * gain @ gain.T

    def update(self, at_mm: Array) -> None:
        innovation = self.cov[:2, :2] + PLACE_MM**2 * np.eye(2)
        gain = self.cov[:, :2] @ np.linalg.inv(innovation)
        self.state = self.state + gain @ (at_mm - self.state[:2])
        self.cov = self.cov - gain @ self.cov[:2]


@dataclass(slots=True)
class Baseline:
    """Frames in; swaps and the first piece that moved come out."""

    swaps: int = 0
    _filters: list[_Filter] = field(default_factory=list)
    _t_s: float | None = None

    def push(self, t_s: float, seen: Sequence[Place]) -> None:
        """One frame's detections."""
        dt = 0.0 if self._t_s is None else t_s - self._t_s
        self._t_s = t_s
        for known in self._filters:
            known.predict(dt)
        pairs = sorted(
            (float(np.hypot(*(place.at_mm - known.state[:2]))), i, j)
            for i, known in enumerate(self._filters)
            for j, place in enumerate(seen)
            if known.kind == place.kind and np.abs(place.at_mm - known.state[:2]).max() < NEAR_MM
        )
        taken: set[int] = set()
        used: set[int] = set()
        for _, i, j in pairs:
            if i in taken or j in used:
                continue
            taken.add(i)
            used.add(j)
            self._match(self._filters[i], seen[j], t_s)
        for i, known in enumerate(self._filters):
            known.missed = 0 if i in taken else known.missed + 1
        self._filters = [f for f in self._filters if f.missed <= FORGOTTEN]
        self._filters += [self._new(seen[j]) for j in range(len(seen)) if j not in used]

    def _match(self, known: _Filter, place: Place, t_s: float) -> None:
        self.swaps += known.true != place.true
        known.true = place.true
        known.update(place.at_mm)
        if known.moved_s is None and float(np.hypot(*(place.at_mm - known.began_mm))) > MOVED_MM:
            known.moved_s = t_s

    @staticmethod
    def _new(place: Place) -> _Filter:
        state = np.r_[place.at_mm, 0.0, 0.0]
        return _Filter(place.kind, state, np.diag([PLACE_MM**2, PLACE_MM**2, 1.0, 1.0]), place.at_mm, place.true, place.true)

    def first_moved(self) -> tuple[str, float] | None:
        """The first piece that was seen to move, and when."""
        moved = [(f.moved_s, f.first) for f in self._filters if f.kind != "striker" and f.moved_s is not None]
        return None if not moved else (min(moved)[1], min(moved)[0])
