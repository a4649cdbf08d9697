"""One disc's way through a stroke, as the contacts are looked for in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from rules.table import Kind, Pocket
from vision.motion.grouping import join, split
from vision.motion.outline import Shape
from vision.motion.segments import Break, Run, deceleration, resting
from vision.motion.shutter import Shutter, at_own_times
from vision.motion.track import Sighting, Track

Array = NDArray[np.float64]

_STANDS_MM: Final = 0.3  # between two frames: noise, or less than 20 mm/s
_MEASURED_MM: Final = 4.0  # the worst that a still picture is off
_SETTLED: Final = 5  # sightings whose mean place is known to a few hundredths of a millimetre
_SAME_S: Final = 0.004  # two partners' breaks of one contact are told apart by less


@dataclass(frozen=True, slots=True)
class Path:
    """One disc's way through a stroke: where it lay, its runs and breaks, the pocket that took it.

    `woken_s`: when its place was first seen to change; `stood_s`: when it last stood there all the same.
    """

    id: str
    kind: Kind
    shape: Shape
    rest_mm: Array | None
    runs: Sequence[Run]
    breaks: Sequence[Break]
    pocket: Pocket | None
    last_s: float
    vanished: bool = False
    seen: Sequence[Sighting] = ()
    groups: Sequence[Sequence[Sighting]] = field(default=())
    woken_s: float = 0.0
    stood_s: float = 0.0

    @property
    def mass(self) -> float:
        """Same wood for all: volume, any unit."""
        return self.shape.radius_mm**2 * self.shape.height_mm

    @property
    def is_here(self) -> bool:
        """Whether it is on the table when all is over."""
        return self.pocket is None and not self.vanished

    @property
    def shifted_mm(self) -> float | None:
        """How far from where it lay it is seen at last; None where either is not known well, or the disc is gone."""
        last = self.seen[-_SETTLED:]
        if self.rest_mm is None or len(last) < _SETTLED or not self.is_here:
            return None
        return float(np.hypot(*(np.mean([(s.x_mm, s.y_mm) for s in last], axis=0) - self.rest_mm)))

    def at(self, t_s: float) -> Array | None:
        """Axis at a time; None where the disc has never been."""
        if not self.breaks:
            return self.runs[0].at(t_s) if self.runs else self.rest_mm
        for kink in self.breaks:
            if t_s <= kink.t_s:
                return kink.before.at(t_s)
        return self.breaks[-1].after.at(t_s)

    def velocity_before(self, t_s: float) -> Array:
        """Velocity (2,) mm/s with which it came to a time; none where it lay still or has never been."""
        if not self.breaks:
            return self.runs[0].velocity_at(t_s) if self.runs else np.zeros(2)
        for kink in self.breaks:
            if t_s <= kink.t_s + _SAME_S:
                return kink.before.velocity_at(t_s)
        return self.breaks[-1].after.velocity_at(t_s)

    def is_kicked(self, t_s: float, within_s: float) -> bool:
        """Whether it has a break about a time."""
        return any(abs(kink.t_s - t_s) < within_s for kink in self.breaks)


def paths_of(tracks: Mapping[str, Track], slowing_mm_s2: float, camera: Camera, shutter: Shutter) -> tuple[dict[str, Path], float]:
    """The ways of all discs, and the table's deceleration learned from them."""
    sightings = {t.id: at_own_times(camera, shutter, t.kind, t.sightings) for t in tracks.values()}
    starts: dict[str, Run | None] = {}
    for track in tracks.values():
        seen = sightings[track.id]
        still = track.left.axis_mm if track.left is not None else (None if seen else track.at_mm)
        if still is not None:
            still = track.rest_seen_mm if track.rest_seen_mm is not None else _stood_elsewhere(seen, still)
        starts[track.id] = None if still is None else resting(still, track.woken_s if seen else 0.0)
    groups = {t.id: split(sightings[t.id], starts[t.id], slowing_mm_s2) for t in tracks.values() if t.sightings}
    slowing = deceleration([g for own in groups.values() for g in own], slowing_mm_s2)
    out: dict[str, Path] = {}
    for track in tracks.values():
        start = starts[track.id]
        runs: list[Run] = [start] if start else []
        kinks: list[Break] = []
        last = 0.0
        if track.sightings:
            runs, kinks = join(groups[track.id], start, slowing)
            last = sightings[track.id][-1].t_s
        rest = None if start is None else start.p0_mm
        vanished = track.state == "lost" and not track.covered
        out[track.id] = Path(
            track.id,
            track.kind,
            track.shape,
            rest,
            runs,
            kinks,
            track.pocket,
            last,
            vanished,
            sightings[track.id],
            groups.get(track.id, ()),
            track.woken_s,
            track.stood_s,
        )
    return out, slowing


def _stood_elsewhere(seen: Sequence[Sighting], still_mm: Array) -> Array:
    """Where a disc really lay that was measured badly at rest: it woke, and did not move from where it was seen."""
    if len(seen) < 2:
        return still_mm
    first, second = (np.array([s.x_mm, s.y_mm]) for s in seen[:2])
    stands = float(np.hypot(*(second - first))) < _STANDS_MM and float(np.hypot(*(first - still_mm))) < _MEASURED_MM
    return np.asarray((first + second) / 2) if stands else still_mm
