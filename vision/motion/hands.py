"""Hands, arms and cues: changed places that no disc explains and that reach in from outside the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from calibration.camera import Camera
from rules.table import SIDES, TOWARD, Side
from vision.motion.outline import shape_of
from vision.motion.scene import SHRINK, Mask, Scene

_LEAST_PX: Final = 12  # small px; about 200 mm2, half a fingertip and its shadow
_REACH_PX: Final = 3  # small px in the frame around the table that make a region an arm
_BIG_PIECES: Final = 6.0  # pieces' worth of changed places that no disc explains: no disc, however fast, makes that many
_STAYS: Final = 0.3  # share of them that an arm covered a frame ago: arms move less than their own width between frames
_GATHER_PX: Final = 8  # small px; pieces of one disc's change (rim, hole, shadow) lie nearer to each other than that


@dataclass(frozen=True, slots=True)
class Foreign:
    """What is over the table and is no disc.

    `mask`: small picture, True where covered. `side`: where it reaches in from, None without an arm. `area`: small px.
    `islands`: centres (x, y), small px, of changed places on the surface apart from it that may be discs put down.
    `loose`: small picture, other changed places that no disc explains: a cue of the table's colour shows in parts only.
    """

    mask: Mask
    side: Side | None
    area: int
    islands: tuple[tuple[float, float], ...] = ()
    loose: Mask | None = None

    @property
    def present(self) -> bool:
        """Whether anything is there."""
        return self.area > 0


class HandFinder:
    """Finds foreign regions in changed places; knows which side every small pixel outside the table belongs to."""

    def __init__(self, camera: Camera, scene: Scene, playing: Sequence[Side] = SIDES) -> None:
        """`playing`: sides at which somebody stands; nobody else's arm or cue comes over the table."""
        self._scene = scene
        self._sides = tuple(playing)
        ys, xs = np.nonzero(scene.outside)
        full = np.c_[xs, ys] * SHRINK + (SHRINK - 1) / 2
        mm = camera.to_mm(full, 0.0)
        toward = np.array([TOWARD[side] for side in self._sides], dtype=np.float64)
        self._sector = np.full(scene.outside.shape, -1, np.int8)
        self._sector[ys, xs] = np.argmax(mm @ toward.T, axis=1)
        self._big_px = _BIG_PIECES * np.pi * (shape_of("red").radius_mm * camera.px_per_mm(0.0, 0.0) / SHRINK) ** 2
        self._before: Mask = np.zeros(scene.outside.shape, bool)
        self._side: Side | None = None

    def forget(self) -> None:
        """All is at rest and no arm is there."""
        self._before, self._side = np.zeros_like(self._before), None

    def find(self, changed: Mask, explained: Mask, *, flying: bool = False) -> Foreign:
        """Arms among changed places, and islands apart from them that tracked discs and their shadows do not explain.

        A disc that an arm touches counts as part of the arm: what happens there is not seen. `flying`: a disc is fast enough to go over
        a rail; what then comes to reach over one and is small is that disc.
        """
        count, labels, stats, _ = cv2.connectedComponentsWithStats(changed.astype(np.uint8), connectivity=8)
        keep = np.zeros(count, bool)
        unexplained = np.bincount(labels[changed & ~explained], minlength=count)
        stays = np.bincount(labels[self._before & changed & ~explained], minlength=count)
        votes = np.zeros(len(self._sides), int)
        for i in range(1, count):
            area = int(stats[i, cv2.CC_STAT_AREA])
            if area < _LEAST_PX:
                continue
            x, y, w, h = (int(v) for v in stats[i, :4])
            sector = self._sector[y : y + h, x : x + w][labels[y : y + h, x : x + w] == i]
            outside = sector[sector >= 0]
            is_disc = flying and unexplained[i] < self._big_px and not stays[i]
            if not is_disc and len(outside) >= _REACH_PX and area - len(outside) >= _LEAST_PX // 2:
                keep[i] = True
                votes += np.bincount(outside, minlength=len(self._sides))
            elif unexplained[i] > self._big_px and stays[i] > _STAYS * unexplained[i]:
                keep[i] = True  # an arm that is seen to reach in no longer: its sleeve has the table's colour, or it is far in
        mask: Mask = keep[labels]
        side = self._sides[int(votes.argmax())] if votes.any() else (self._side if keep.any() else None)
        self._before, self._side = mask, side
        left = changed & ~explained & ~mask & self._scene.surface & ~self._scene.pockets
        return Foreign(mask, side, int(mask.sum()), self._islands(left), left)

    def _islands(self, left: Mask) -> tuple[tuple[float, float], ...]:
        count, _, stats, centres = cv2.connectedComponentsWithStats(left.astype(np.uint8), connectivity=8)
        found = [
            (float(centres[i][0]), float(centres[i][1]), int(stats[i, cv2.CC_STAT_AREA]))
            for i in range(1, count)
            if stats[i, cv2.CC_STAT_AREA] >= _LEAST_PX
        ]
        return tuple(_gather(found))


def _gather(islands: list[tuple[float, float, int]]) -> list[tuple[float, float]]:
    """Centres of islands, those of one disc put together: bare wood on wood changes in rings and crescents."""
    out: list[tuple[float, float, int]] = []
    for x, y, area in sorted(islands, key=lambda island: -island[2]):
        for i, (ox, oy, sum_area) in enumerate(out):
            if np.hypot(ox - x, oy - y) < _GATHER_PX:
                total = sum_area + area
                out[i] = ((ox * sum_area + x * area) / total, (oy * sum_area + y * area) / total, total)
                break
        else:
            out.append((x, y, area))
    return [(x, y) for x, y, _ in out]
