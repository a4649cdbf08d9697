"""What is over the table and is no disc: what has changed and reaches in, unless the network of occluders sees that nothing is there.

Change tells of arms at once, frame by frame. But a shade whose edge crosses the table reaches in too, and so does the bare place of an
arm that lay there when all was last taken as at rest: such arms would never go. The network knows them from arms in a single picture; thin
cues it often misses, and of a hand on the rail whose fingers only reach in sometimes all; therefore it has a word only on what covers more
of the playing surface than these and their shadows do, stands still, and was looked at several times.
"""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from rules.table import Side
from vision.motion.hands import Foreign, HandFinder
from vision.motion.scene import SHRINK, Mask, Scene
from vision.motion.track import Track
from vision.motion.tracks import Tracker
from vision.occluders import COVERED, Occluders, round_px

_LOOK_S: Final = 0.08  # twelve looks a second, of 4 ms each, while an arm stands still
_LOOKS: Final = 3  # that many, one after the other, must agree: half-seen hands come and go from look to look
_MAY_BE: Final = 0.2  # the network's probability from which a cell may be part of an arm
_BESIDE_PX: Final = 5  # small px, about 20 mm: an arm's outline is told to a cell, its shadow lies beside it, a faint change has gaps
_WIDE_MM: Final = 60.0  # radius of a circle of the surface that no cue, no finger and no shadow of a hand on the rail fills
_AT_FIRST: Final = 0.5  # share of what looks like an arm that one covered at the first look, from which it is that one's bare place
_FEW_PX: Final = 12  # small px; about 200 mm2, half a fingertip
_EXPLAIN_MM: Final = 8.0  # margin around a tracked disc that its own change may cover: smear and contact shadow


class Arms:
    """`foreign` is what is over the table in the frame at hand; never written to again."""

    def __init__(self, camera: Camera, scene: Scene, tracker: Tracker, playing: tuple[Side, ...]) -> None:
        """`playing`: sides at which somebody stands."""
        self._camera = camera
        self._scene = scene
        self._tracker = tracker
        self._hands = HandFinder(camera, scene, playing)
        self._nothing: Mask = np.zeros(scene.surface.shape, bool)
        self._wide_px = _WIDE_MM * camera.px_per_mm(0.0, 0.0) / SHRINK
        self._bare: Mask = self._nothing
        self._looks: list[tuple[Mask, Mask, Mask]] = []
        self._next_s = -np.inf
        self._at_first: Mask = self._nothing
        self.clear()

    def clear(self) -> None:
        """The spell is over and nothing is over the table any more."""
        self.foreign = Foreign(self._nothing, None, 0)

    def forget(self) -> None:
        """The table has been taken as it is: what has changed until now is part of it."""
        self._hands.forget()
        self._bare, self._looks = self._nothing, []

    def begin(self) -> None:
        """The table is first taken as it is, with what lies over it already."""
        covered = self._covered(COVERED)
        if covered is not None and int(np.count_nonzero(covered & self._scene.surface)) > _FEW_PX:
            self._at_first = _grown(covered)

    def is_uncovered(self) -> bool:
        """Whether an arm lay over the table at first and is there no longer."""
        if not self._at_first.any():
            return False
        covered = self._covered(_MAY_BE)
        return covered is not None and not (covered & self._at_first).any()

    def forget_first(self) -> None:
        """The table has been looked at without it."""
        self._at_first = self._nothing

    def look(self, changed: Mask, t_s: float, still_for_s: float) -> None:
        """The next frame, its changed places, and for how long nothing has moved."""
        if not still_for_s:
            self._bare, self._looks = self._nothing, []
        flying = any(t.flies for t in self._tracker.tracks.values())
        explained = self._explained()
        self.foreign = self._hands.find(changed & ~self._bare, explained, flying=flying)
        if self.foreign.side is not None and still_for_s and t_s >= self._next_s:
            self._next_s = t_s + _LOOK_S
            self._doubt(changed & ~explained)
        self._tracker.cover.update(self.foreign)

    def is_by(self, track: Track) -> bool:
        """Whether an arm is over a disc or right beside it."""
        mask, (x, y) = self._scene.patch_mask(self._tracker.finder.outline(track), 2 * _EXPLAIN_MM)
        return bool((self.foreign.mask[y : y + mask.shape[0], x : x + mask.shape[1]] & mask.astype(bool)).any())

    def _explained(self) -> Mask:
        out = np.zeros(self._scene.surface.shape, bool)
        for track in self._tracker.tracks.values():
            if track.state != "active":
                continue
            places = [self._tracker.finder.outline(track)]
            if track.left is not None:
                places.append(track.left)
            for outline in places:
                mask, (x, y) = self._scene.patch_mask(outline, _EXPLAIN_MM)
                out[y : y + mask.shape[0], x : x + mask.shape[1]] |= mask.astype(bool)
        return out

    def _covered(self, least: float) -> Mask | None:
        """Small picture: where the network says with more than a probability that something is there; None without it."""
        network = Occluders.load()
        if network is None:
            return None
        return network.cover(self._scene.small, self._camera).in_picture(self._camera, *self._scene.size, least=least)

    def _doubt(self, changed: Mask) -> None:
        """Look whether the network sees the arms that stand still; from the frame after enough looks without, they are none."""
        may_be = self._covered(_MAY_BE)
        if may_be is None:
            return
        # A faint change shows in speckles of which only some hang together, and it has no cells that are surely an arm.
        whole = cv2.morphologyEx(changed.astype(np.uint8), cv2.MORPH_CLOSE, round_px(_BESIDE_PX)) > 0
        self._looks = [*self._looks[1 - _LOOKS :], (whole | self.foreign.mask, self.foreign.mask, _grown(may_be))]
        if len(self._looks) == _LOOKS:
            whole, arms, near = (np.logical_or.reduce(masks) for masks in zip(*self._looks, strict=True))
            self._bare = self._bare | self._nobodys(whole, arms, near)

    def _nobodys(self, whole: Mask, arms: Mask, near: Mask) -> Mask:
        """Parts of `whole` that hold some of `arms`, none of `near` what the network sees, and are wide or lay under an arm at first."""
        count, labels = cv2.connectedComponents(whole.astype(np.uint8), connectivity=8)

        def sizes(mask: Mask) -> NDArray[np.int64]:
            return np.bincount(labels[mask], minlength=count)

        keep = (sizes(arms) > 0) & (sizes(near) == 0)
        candidates: Mask = keep[labels]
        inside = cv2.distanceTransform((candidates & self._scene.surface).astype(np.uint8), cv2.DIST_L2, 3)
        was_arm = sizes(self._at_first) > _AT_FIRST * sizes(~self._scene.outside)
        out: Mask = (keep & ((sizes(inside > self._wide_px) > 0) | was_arm))[labels]
        return out


def _grown(mask: Mask) -> Mask:
    """With the places beside it."""
    return np.asarray(cv2.dilate(mask.astype(np.uint8), round_px(_BESIDE_PX)), dtype=bool)
