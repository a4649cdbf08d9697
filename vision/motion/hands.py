"""Hands, arms and cues: changed places that no disc explains and that reach in from outside the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from calibration.camera import Camera
from rules.table import SIDES, TOWARD, Side
from vision.motion.scene import SHRINK, Mask, Scene

_LEAST_PX: Final = 12  # small px; about 200 mm2, half a fingertip and its shadow
_REACH_PX: Final = 3  # small px in the frame around the table that make a region an arm
_ISLAND_PX: Final = 60  # small px; an island this big inside the table (about 1,000 mm2) is an object, not a disc's shadow


@dataclass(frozen=True, slots=True)
class Foreign:
    """What is over the table and is no disc.

    `mask`: small picture, True where covered. `side`: where it reaches in from, None without an arm. `area`: small px.
    """

    mask: Mask
    side: Side | None
    area: int

    @property
    def present(self) -> bool:
        """Whether anything is there."""
        return self.area > 0


class HandFinder:
    """Finds foreign regions in changed places; knows which side every small pixel outside the table belongs to."""

    def __init__(self, camera: Camera, scene: Scene) -> None:
        self._scene = scene
        ys, xs = np.nonzero(scene.outside)
        full = np.c_[xs, ys] * SHRINK + (SHRINK - 1) / 2
        mm = camera.to_mm(full, 0.0)
        toward = np.array([TOWARD[side] for side in SIDES], dtype=np.float64)
        self._sector = np.full(scene.outside.shape, -1, np.int8)
        self._sector[ys, xs] = np.argmax(mm @ toward.T, axis=1)

    def find(self, changed: Mask, explained: Mask) -> Foreign:
        """Foreign regions among changed places, without those that tracked discs and their shadows explain."""
        left = (changed & ~explained).astype(np.uint8)
        count, labels, stats, _ = cv2.connectedComponentsWithStats(left, connectivity=8)
        keep = np.zeros(count, bool)
        votes = np.zeros(len(SIDES), int)
        for i in range(1, count):
            area = int(stats[i, cv2.CC_STAT_AREA])
            if area < _LEAST_PX:
                continue
            x, y, w, h = (int(v) for v in stats[i, :4])
            part = labels[y : y + h, x : x + w] == i
            sector = self._sector[y : y + h, x : x + w][part]
            outside = int((sector >= 0).sum())
            on_table = area - outside
            if on_table >= _LEAST_PX // 2 and outside >= _REACH_PX:
                keep[i] = True
                votes += np.bincount(sector[sector >= 0], minlength=len(SIDES))
            elif area - outside >= _ISLAND_PX:
                inside = ~self._scene.pockets[y : y + h, x : x + w][part]
                keep[i] = int(inside.sum()) >= _ISLAND_PX
        mask: Mask = keep[labels]
        side = SIDES[int(votes.argmax())] if votes.any() else None
        return Foreign(mask, side, int(mask.sum()))
