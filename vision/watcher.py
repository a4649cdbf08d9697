"""The watcher: frames in, stroke facts and incidents out, as soon as everything rests and hands are away.

Three moods. *Looking*: no discs known yet, a still picture is waited for. *Idle*: the table looks as it did at rest; a quarter-size
comparison is all a frame costs. *Spell*: something changes; discs are followed until all is still, then the spell is told. No I/O, no
clock but the frames'.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from rules.facts import Disc, Incident, SeenDisc, SeenDiscs, Stroke
from rules.table import SIDES, Kind, Side
from vision.motion.hands import Foreign, HandFinder
from vision.motion.identity import SAME_MM, match_places, new_id
from vision.motion.predict import FRICTION_MM_S2
from vision.motion.report import Spell, describe
from vision.motion.scene import Mask, Scene
from vision.motion.tracks import Track, Tracker

Image = NDArray[np.uint8]
Detector = Callable[[Image, Camera], SeenDiscs]

_EXPOSURE_S: Final = 0.0035  # typical of hall light at 60 fps; only the assumed length of smears hangs on it
_SETTLE_S: Final = 0.15  # nothing has moved for this long: nine frames at 60 fps, and a disc at 10 mm/s would have gone 1.5 mm
_STILL_LEVELS: Final = 10  # change between two frames that is no noise, grey levels of the small picture
_STILL_PX: Final = 3  # that many small pixels may flicker
_IDLE_PX: Final = 4  # changed small pixels that are no reason to look closer
_REFRESH_FRAMES: Final = 30  # the reference follows slow light every half second
_REFRESH_SHARE: Final = 0.3
_EXPLAIN_MM: Final = 8.0  # margin around a tracked disc that its own change may cover: smear and contact shadow


@dataclass(slots=True)
class Stats:
    """Counters for health messages."""

    frames: int = 0
    dropped: int = 0
    spells: int = 0


def _default_detector(image: Image, camera: Camera) -> SeenDiscs:
    from vision.detect import detect  # the detector's own start-up is not paid by those who bring another

    return detect(image, camera)


class Watcher:
    """Follows one table. `sides`: where somebody plays; empty means any."""

    def __init__(
        self, camera: Camera, *, sides: tuple[Side, ...] = (), detector: Detector = _default_detector, exposure_s: float = _EXPOSURE_S
    ) -> None:
        self.sides = sides
        self.stats = Stats()
        self._camera = camera
        self._detect = detector
        self._scene = Scene(camera)
        self._hand_finder = HandFinder(camera, self._scene)
        self._tracker = Tracker(camera, self._scene, exposure_s)
        self._foreign = Foreign(np.zeros(self._scene.surface.shape, bool), None, 0)
        self._spell: Spell | None = None
        self._slowing_mm_s2 = FRICTION_MM_S2
        self._still_since_s: float | None = None
        self._previous: Image | None = None
        self._last: tuple[Image, float] | None = None
        self._seq: int | None = None
        self._ready = False
        self._placed_s: float | None = None
        self._occluders: SeenDiscs | None = None

    # --- what it knows now ---------------------------------------------------------------------------------------------

    @property
    def discs(self) -> SeenDiscs:
        """Live picture with ids; a disc under way is where it was last seen."""
        seen = [
            SeenDisc(
                id=t.id,
                kind=t.kind,
                x_mm=round(float(t.at_mm[0]), 3),
                y_mm=round(float(t.at_mm[1]), 3),
                sigma_mm=round(t.sigma_mm, 3),
                confidence=0.99 if t.missed == 0 else 0.5,
                clearance_mm=self._camera.clearances_mm(t.kind, float(t.at_mm[0]), float(t.at_mm[1])),
            )
            for t in self._tracker.tracks.values()
            if t.state in ("rest", "active")
        ]
        return SeenDiscs(discs=seen, t_s=self._last[1] if self._last else None)

    @property
    def moving(self) -> bool:
        """Whether anything is under way, or has not yet been told."""
        return self._spell is not None

    @property
    def hands(self) -> bool:
        """Whether a hand, arm or cue is over the table."""
        return self._foreign.side is not None

    # --- frames ----------------------------------------------------------------------------------------------------------

    def push(self, image: Image, t_ns: int, seq: int) -> list[Stroke | Incident]:
        """Take the next frame; facts come out with the frame that shows everything at rest."""
        t_s = t_ns / 1e9
        self.stats.frames += 1
        if self._seq is not None and seq > self._seq + 1:
            self.stats.dropped += seq - self._seq - 1
            if self._spell is not None:
                self._spell.missing_s.append(t_s)
        self._seq = seq
        changed = self._scene.compare(image)
        still = self._is_still(t_s)
        self._last = (image, t_s)
        if not self._ready:
            if still:
                self._begin(image)
            return []
        if self._spell is None:
            if int(np.count_nonzero(changed)) <= _IDLE_PX:
                if self.stats.frames % _REFRESH_FRAMES == 0:
                    self._scene.refresh(image, _REFRESH_SHARE)
                return []
            self._open(t_s)
        return self._follow(image, changed, t_s)

    def finish(self) -> list[Stroke | Incident]:
        """End of a file: what is still open is told as it stands."""
        if self._spell is None or self._last is None:
            return []
        return self._settle(*self._last)

    def _is_still(self, t_s: float) -> bool:
        small, before = self._scene.small, self._previous
        self._previous = small
        if before is None:
            return False
        moved = cv2.absdiff(small, before).max(axis=2) > _STILL_LEVELS
        if int(np.count_nonzero(moved & self._scene.watched)) > _STILL_PX:
            self._still_since_s = None
            return False
        if self._still_since_s is None:
            self._still_since_s = t_s
        return True

    def _begin(self, image: Image) -> None:
        for disc in self._detect(image, self._camera).discs:
            self._add(disc)
        self._rebase(image)
        self._ready = True

    def _add(self, disc: SeenDisc) -> Track:
        name = new_id(disc.kind, self._tracker.tracks)
        track = Track(name, disc.kind, np.array([disc.x_mm, disc.y_mm]), disc.sigma_mm)
        self._tracker.tracks[name] = track
        return track

    def _rebase(self, image: Image) -> None:
        here = [t for t in self._tracker.tracks.values() if t.state in ("rest", "active")]
        self._scene.settle(image, [self._tracker.outline(t) for t in here])
        self._tracker.adopt(image)

    def _open(self, t_s: float) -> None:
        self._spell = Spell(before=self._position(), started_s=t_s, placed_s=self._placed_s)
        self.stats.spells += 1

    def _position(self) -> list[Disc]:
        return [
            Disc(id=t.id, kind=t.kind, x_mm=round(float(t.at_mm[0]), 3), y_mm=round(float(t.at_mm[1]), 3), sigma_mm=round(t.sigma_mm, 3))
            for t in self._tracker.tracks.values()
            if t.state in ("rest", "active")
        ]

    def _follow(self, image: Image, changed: Mask, t_s: float) -> list[Stroke | Incident]:
        spell = self._spell
        if spell is None:
            return []
        self._tracker.step(image, t_s)
        self._foreign = self._hand_finder.find(changed, self._explained())
        if self._foreign.side is not None:
            spell.arm_sides[self._foreign.side] = spell.arm_sides.get(self._foreign.side, 0) + 1
            self._note_arm(spell, t_s)
        moving = any(t.moves for t in self._tracker.tracks.values())
        still_for = 0.0 if self._still_since_s is None else t_s - self._still_since_s
        if moving or self._foreign.side is not None or still_for < _SETTLE_S:
            return []
        return self._settle(image, t_s)

    def _explained(self) -> Mask:
        out = np.zeros(self._scene.surface.shape, bool)
        for track in self._tracker.tracks.values():
            if track.state != "active":
                continue
            places = [self._tracker.outline(track)]
            if track.left is not None:
                places.append(track.left)
            for outline in places:
                mask, (x, y) = self._scene.patch_mask(outline, _EXPLAIN_MM)
                out[y : y + mask.shape[0], x : x + mask.shape[1]] |= mask.astype(bool)
        return out

    def _note_arm(self, spell: Spell, t_s: float) -> None:
        """Remember which discs were next to the arm when they were seen."""
        for track in self._tracker.tracks.values():
            if track.state != "active" or track.t_s != t_s:
                continue
            mask, (x, y) = self._scene.patch_mask(self._tracker.outline(track), 2 * _EXPLAIN_MM)
            if bool((self._foreign.mask[y : y + mask.shape[0], x : x + mask.shape[1]] & mask.astype(bool)).any()):
                spell.arm_near.setdefault(track.id, set()).add(t_s)

    def _settle(self, image: Image, t_s: float) -> list[Stroke | Incident]:
        spell = self._spell
        if spell is None:
            return []
        self._find_rest(image, t_s)
        end_s = max((t.still_since_s for t in self._tracker.tracks.values() if t.sightings), default=t_s)
        given = self.sides[0] if len(self.sides) == 1 else None
        told = describe(spell, self._tracker.tracks, self._position(), end_s, self._camera, self._slowing_mm_s2, given)
        self._slowing_mm_s2 = told.slowing_mm_s2
        self._spell = None
        self._rebase(image)
        self._foreign = Foreign(np.zeros(self._scene.surface.shape, bool), None, 0)
        return told.facts

    def _find_rest(self, image: Image, t_s: float) -> None:
        """Measure where everything lies now; discs that nobody followed get their id by kind and place."""
        seen = self._detect(image, self._camera).discs
        tracks = self._tracker.tracks
        matched = match_places(seen, [t for t in tracks.values() if t.state in ("rest", "active")], SAME_MM)
        for index, name in matched.items():
            track, disc = tracks[name], seen[index]
            track.at_mm, track.sigma_mm = np.array([disc.x_mm, disc.y_mm]), disc.sigma_mm
        left = [seen[i] for i in range(len(seen)) if i not in matched]
        here = set(matched.values())
        for track in tracks.values():
            if track.state == "active" and track.id not in here and self._gone(track):
                track.state = "lost"
        for disc in left:
            self._return(disc, t_s)

    def _gone(self, track: Track) -> bool:
        """Not found by the detector: gone unless the follower still sees it in its place."""
        return track.missed > 0

    def _return(self, disc: SeenDisc, t_s: float) -> None:
        """A disc where none was followed: one that was lost, or else a new one."""
        lost = [t for t in self._tracker.tracks.values() if t.kind == disc.kind and t.state in ("lost", "gone")]
        wanted: Kind = disc.kind
        usable = [t for t in lost if t.state == "lost"] or ([t for t in lost if wanted == "striker"])
        track = usable[0] if usable else self._add(disc)
        track.state, track.pocket = "rest", None
        track.at_mm, track.sigma_mm = np.array([disc.x_mm, disc.y_mm]), disc.sigma_mm
        if disc.kind == "striker":
            self._placed_s = t_s


__all__ = ["SIDES", "Stats", "Watcher"]
