"""What an arm hides in this frame, and what it is right beside: discs there are not looked for, and may have been moved by it."""

from __future__ import annotations

from typing import Final

import numpy as np

from vision.motion.hands import Foreign
from vision.motion.outline import Outline
from vision.motion.scene import Mask, Scene

_BESIDE_MM: Final = 16.0  # a fingertip's width: an arm as near as this may have moved a disc between two frames
_OWN_MM: Final = 8.0  # around a disc that begins to move its own smear and shadow change the picture
_PART_PX: Final = 3  # small px of a cue's tip


class Cover:
    """The arms of this frame and of the one before."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.mask: Mask = np.zeros(scene.surface.shape, bool)
        self._before = self.mask
        self._loose: Mask | None = None

    def update(self, foreign: Foreign) -> None:
        """The next frame's arms."""
        self._before, self.mask = self.mask, foreign.mask
        self._loose = foreign.loose if foreign.side is not None else None

    def share(self, outline: Outline, margin_mm: float) -> float:
        """Share of a disc's place and a margin that an arm covers."""
        return self._share(self.mask, outline, margin_mm)

    def is_beside(self, outline: Outline) -> bool:
        """Whether an arm is over a place or right beside it, in this frame."""
        return self.share(outline, _BESIDE_MM) > 0

    def was_beside(self, outline: Outline) -> bool:
        """Whether an arm is or was a frame ago right beside a place at which something begins to move."""
        return self.is_beside(outline) or self._share(self._before, outline, _BESIDE_MM) > 0

    def is_beside_part(self, outline: Outline) -> bool:
        """Whether what may be a part of a cue is right beside a place at which something begins to move.

        A cue of the table's colour shows in parts only; while an arm is over the table, what no disc explains may be one.
        """
        if self._loose is None:
            return False
        own, all_round = (self._count(self._loose, outline, margin) for margin in (_OWN_MM, _BESIDE_MM))
        return all_round - own >= _PART_PX

    def _share(self, cover: Mask, outline: Outline, margin_mm: float) -> float:
        mask, _ = self._scene.patch_mask(outline, margin_mm)
        size = int(np.count_nonzero(mask))
        return self._count(cover, outline, margin_mm) / size if size else 0.0

    def _count(self, cover: Mask, outline: Outline, margin_mm: float) -> int:
        mask, (x, y) = self._scene.patch_mask(outline, margin_mm)
        return int(np.count_nonzero(cover[y : y + mask.shape[0], x : x + mask.shape[1]] & mask.astype(bool)))
