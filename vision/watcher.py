"""The watcher: frames in, stroke facts and incidents out, as soon as everything rests and hands are away.

Three moods. *Looking*: no discs known yet, a still picture is waited for. *Idle*: the table looks as it did at rest; a quarter-size
comparison is all a frame costs. *Spell*: something changes; discs are followed until all is still, then the spell is told. No I/O, no
clock but the frames'.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from rules.facts import Disc, Incident, SeenDiscs, Stroke, Time
from rules.table import SIDES, Kind, Side
from vision.motion.arms import Arms
from vision.motion.clock import StrokeClock, holder
from vision.motion.comings import Comings
from vision.motion.hands import Foreign
from vision.motion.inventory import Detector, Inventory
from vision.motion.measure import DOUBTFUL_MM, Measurer
from vision.motion.predict import FRICTION_MM_S2
from vision.motion.report import Spell, describe, free_speed
from vision.motion.scene import Mask, Scene
from vision.motion.shutter import USUAL_EXPOSURE_S, Shutter
from vision.motion.track import SAME_MM, Track, as_seen
from vision.motion.tracks import Tracker

Image = NDArray[np.uint8]
Facts = list[Stroke | Incident]

_SETTLE_S: Final = 0.15  # nothing has moved for this long: nine frames at 60 fps, and a disc at 10 mm/s would have gone 1.5 mm
_LATEST_S: Final = 0.45  # a ruling is due within half a second of rest: what has not been looked at closely by then is told as it stands
_DISC_STILL_S: Final = 0.08  # one disc has not moved for this long: it is measured, or has been put down
_STILL_LEVELS: Final = 10  # change between two frames that is no noise, grey levels of the small picture
_STILL_NOISE: Final = 4.5  # times the mean change of a still picture: the strongest of 80,000 noisy pixels, in the dim light of few lamps
_SOME: Final = 8  # every eighth small pixel is enough for that mean
_STILL_PX: Final = 3  # that many small pixels may flicker
_IDLE_PX: Final = 4  # changed small pixels that are no reason to look closer
_REFRESH_FRAMES: Final = 30  # the reference follows slow light every half second
_REFRESH_SHARE: Final = 0.3
_SEARCH_S: Final = 0.3  # for changed places that nothing explains, after a disc was given up: each is tried every tenth frame
_LOOK_AGAIN_S: Final = 0.25  # a striker that an arm may half hide is looked at closely four times a second
_PASSING_MM: Final = 90.0  # two strikers side by side, and a frame's way of a slow disc
_PUT_DOWN_MM: Final = 3.0  # a striker found at rest this far from where it lay has been placed anew
_STRUCK_MM_S: Final = 60.0  # free motion of the striker from which it was struck


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
        self, camera: Camera, *, sides: tuple[Side, ...] = (), detector: Detector = _default_detector, exposure_s: float = USUAL_EXPOSURE_S
    ) -> None:
        self.sides = sides
        self.stats = Stats()
        self._camera = camera
        self._scene = Scene(camera)
        self._shutter = Shutter(exposure_s)
        self._tracker = Tracker(camera, self._scene, exposure_s)
        self._finder = self._tracker.finder
        self._arms = Arms(camera, self._scene, self._tracker, sides or SIDES)
        self._inventory = Inventory(camera, self._tracker, detector)
        self._measurer = Measurer(camera, self._tracker.tracks)
        self._comings = Comings(camera, self._scene, self._tracker, self._measurer)
        self._spell: Spell | None = None
        self._clock = StrokeClock()
        self._told: Facts | None = None
        self._slowing_mm_s2 = FRICTION_MM_S2
        self._still_since_s: float | None = None
        self._previous: Image | None = None
        self._last: tuple[Image, float] | None = None
        self._seq: int | None = None
        self._ready = False
        self._placed_s: float | None = None
        self._search_until_s = 0.0
        self._look_again_s = 0.0

    @property
    def discs(self) -> SeenDiscs:
        """Live picture with ids; a disc under way is where it was last seen."""
        seen = [as_seen(track, self._camera, by_hand=self._arms.is_by(track)) for track in self._here()]
        return SeenDiscs(discs=seen, t_s=self._last[1] if self._last else None)

    @property
    def under_way(self) -> tuple[tuple[str, Kind, float, float], ...]:
        """Id, kind and axis (x, y in mm) of every disc that is being followed; cheap enough for each frame."""
        return tuple((t.id, t.kind, float(t.at_mm[0]), float(t.at_mm[1])) for t in self._here() if t.state == "active")

    @property
    def tracks(self) -> Mapping[str, Track]:
        """The discs as they are followed, with their sightings since all was last at rest."""
        return self._tracker.tracks

    @property
    def moving(self) -> bool:
        """Whether anything is under way, or has not yet been told."""
        return self._spell is not None

    @property
    def hands(self) -> bool:
        """Whether a hand, arm or cue is over the table."""
        return self._arms.foreign.side is not None

    @property
    def foreign(self) -> Foreign:
        """What was over the table in the last frame; never written to again."""
        return self._arms.foreign

    def push(self, image: Image, t_ns: int, seq: int, shutter: Shutter | None = None) -> Facts:
        """Take the next frame; facts come out with the frame that shows everything at rest. `shutter`: where the source knows it."""
        if shutter is not None:
            self._shutter, self._finder.readout_s = shutter, shutter.readout_s
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
        if self._spell is None and int(np.count_nonzero(changed)) > _IDLE_PX:
            self._open(t_s)
        facts: Facts = []
        if self._spell is not None:
            facts = self._follow(image, changed, t_s)
        elif self.stats.frames % _REFRESH_FRAMES == 0:
            self._scene.refresh(image, _REFRESH_SHARE)
        return facts + self._time(facts, t_s)

    def _time(self, facts: Facts, t_s: float) -> Facts:
        """The stroke clock, where it has run out."""
        if any(isinstance(fact, Stroke) for fact in facts):
            self._clock.restart()
        arm = self._arms.foreign.side
        side = holder(self._striker, arm, self.sides)
        moving = any(t.moves for t in self._here() if t.kind != "striker")
        seconds = self._clock.tick(t_s, side, hindered=moving or arm not in (None, side))
        if seconds is None:
            return []
        return [Incident(side=side, timeline=[Time(t=t_s, elapsed_s=round(seconds, 1), side=side)])]

    def finish(self) -> Facts:
        """End of a file: what is still open is told as it stands."""
        if self._spell is None or self._last is None:
            return []
        return self._settle(*self._last)

    def _is_still(self, t_s: float) -> bool:
        small, before = self._scene.small, self._previous
        self._previous = small
        if before is None:
            return False
        blue, green, red = cv2.split(cv2.absdiff(small, before))
        motion = self._finder.motion = np.asarray(cv2.max(cv2.max(blue, green), red), dtype=np.uint8)
        noise = float(np.mean(motion[::_SOME, ::_SOME]))
        if int(np.count_nonzero((motion > max(_STILL_LEVELS, _STILL_NOISE * noise)) & self._scene.watched)) > _STILL_PX:
            self._still_since_s = None
            return False
        if self._still_since_s is None:
            self._still_since_s = t_s
        return True

    def _begin(self, image: Image) -> None:
        self._inventory.take(image)
        self._arms.begin()
        self._rebase(image)
        self._ready = True

    def _here(self) -> list[Track]:
        return [t for t in self._tracker.tracks.values() if t.on_table]

    @property
    def _striker(self) -> Track | None:
        return next((t for t in self._tracker.tracks.values() if t.kind == "striker"), None)

    def _rebase(self, image: Image) -> None:
        self._scene.settle(image, [self._finder.outline(t) for t in self._here()])
        self._tracker.adopt(image)
        self._comings.forget()
        self._arms.forget()
        self._measurer.forget()

    def _open(self, t_s: float) -> None:
        self._scene.keep()
        self._spell = Spell(before=self._position(), started_s=t_s, placed_s=self._placed_s)
        self._told = None
        self.stats.spells += 1

    def _position(self) -> list[Disc]:
        return [
            Disc(id=t.id, kind=t.kind, x_mm=round(float(t.at_mm[0]), 3), y_mm=round(float(t.at_mm[1]), 3), sigma_mm=round(t.sigma_mm, 3))
            for t in self._here()
        ]

    def _follow(self, image: Image, changed: Mask, t_s: float) -> Facts:
        if (spell := self._spell) is None:
            return []
        still_for = 0.0 if self._still_since_s is None else t_s - self._still_since_s
        self._arms.look(changed, t_s, still_for)
        self._measurer.next_frame()
        self._tracker.step(image, t_s)
        self._let_stay(spell)
        if self._arms.foreign.side is not None:
            spell.arm_sides[self._arms.foreign.side] = spell.arm_sides.get(self._arms.foreign.side, 0) + 1
            self._note_arm(spell, t_s)
        facts = self._told_before(t_s)
        if self._still_since_s == t_s:
            self._comings.look_anew()
        arrival = self._comings.look(image, self._arms.foreign, still_for, t_s, struck=self._was_struck(spell))
        if arrival is not None and arrival.kind == "striker":
            self._placed_s = t_s
        facts += self._put_down(image, t_s)
        moving = any(t.moves for t in self._tracker.tracks.values())
        busy = self._measure_one(image, t_s) or self._comings.is_busy(self._arms.foreign)
        if not moving and arrival is None:
            if self._arms.foreign.side is None:
                ends = still_for >= (_LATEST_S if busy else _SETTLE_S) and not self._is_searching(t_s)
                return facts + (self._settle(image, t_s) if ends else [])
            if not busy and self._told is None and self._was_struck(spell) and self._all_rest(t_s):
                self._told = self._tell(t_s)
        return facts

    def _all_rest(self, t_s: float) -> bool:
        """Every disc that was followed is seen, and has been at rest for a while."""
        followed = [t for t in self._here() if t.state == "active"]
        return all(not t.hidden and not t.missed and t_s - t.still_since_s >= _SETTLE_S for t in followed)

    def _note_arm(self, spell: Spell, t_s: float) -> None:
        """Remember which discs were next to the arm when they were seen."""
        for track in self._tracker.tracks.values():
            if track.state != "active" or track.t_s != t_s:
                continue
            if self._arms.is_by(track):
                spell.arm_near.setdefault(track.id, set()).add(t_s)

    def _was_struck(self, spell: Spell) -> bool:
        striker = self._striker
        return striker is not None and free_speed(striker, spell) > _STRUCK_MM_S

    def _told_before(self, t_s: float) -> Facts:
        """A stroke that had come to rest while a hand was there is over when something moves again."""
        is_over = self._told is not None and any(t.moves or t.hidden for t in self._here())
        return self._hand_on(t_s) if is_over else []

    def _hand_on(self, t_s: float) -> Facts:
        facts, self._told = self._told or [], None
        self._spell = Spell(before=self._position(), started_s=t_s)
        for track in self._here():
            track.forget_hands()
            if track.state == "active":
                track.sightings, track.rest_seen_mm, track.left = [], None, self._finder.outline(track)
                track.woken_s = t_s
                if self._last is not None and not track.hidden:
                    self._scene.keep_place(self._last[0], track.left)
        return facts

    def _put_down(self, image: Image, t_s: float) -> Facts:
        """The striker at rest in a new place before it was struck: what went before is told, the stroke starts from here."""
        spell, striker = self._spell, self._striker
        if spell is None or striker is None or striker.state != "active" or striker.moves or striker.missed or striker.hidden:
            return []
        if t_s - striker.still_since_s < _DISC_STILL_S or self._was_struck(spell):
            return []
        known = next((d for d in spell.before if d.id == striker.id), None)
        if known is not None and float(np.hypot(known.x_mm - striker.at_mm[0], known.y_mm - striker.at_mm[1])) < _PUT_DOWN_MM:
            return []
        if any(t.moves for t in self._here()) or not self._shows_striker(image, striker, t_s):
            return []
        self._tracker.settle_one(striker, image, t_s)
        told = describe(spell, self._tracker.tracks, self._position(), t_s, self._camera, self._slowing_mm_s2, self.sides, self._shutter)
        self._placed_s = t_s
        for track in self._here():
            track.forget_hands()
        self._spell = Spell(before=self._position(), started_s=spell.started_s, placed_s=t_s, arm_sides=spell.arm_sides)
        return told.facts

    def _shows_striker(self, image: Image, striker: Track, t_s: float) -> bool:
        """Whether a closer look finds the striker where it seems to have been put down; without an arm, it is not there if it does not."""
        if self._measurer.next([striker], []) is None:
            return striker.sigma_mm < DOUBTFUL_MM
        if t_s < self._look_again_s:
            return False
        shows = self._measurer.measure(image, striker)
        if shows is None or shows:
            return bool(shows)
        if self._arms.foreign.side is None:
            self._tracker.give_up(striker)
        else:
            self._measurer.forget(striker.id)
            self._look_again_s = t_s + _LOOK_AGAIN_S
        return False

    def _tell(self, t_s: float) -> Facts:
        if (spell := self._spell) is None:
            return []
        end_s = max((t.still_since_s for t in self._tracker.tracks.values() if t.sightings), default=t_s)
        told = describe(spell, self._tracker.tracks, self._position(), end_s, self._camera, self._slowing_mm_s2, self.sides, self._shutter)
        self._slowing_mm_s2 = told.slowing_mm_s2
        return told.facts

    def _settle(self, image: Image, t_s: float) -> Facts:
        for track in self._strays():
            self._tracker.give_up(track)
        self._arms.clear()
        while self._measure_one(image, t_s + 1.0, wait=True):
            pass
        facts = self._told if self._told is not None else self._tell(t_s)
        self._spell = self._told = None
        if self._arms.is_uncovered():
            self._inventory.complete(image)
            self._scene.bare = None  # what the table was taken to look like under the arm
            self._arms.forget_first()
        self._rebase(image)
        return facts

    def _strays(self) -> list[Track]:
        return [t for t in self._here() if t.state == "active" and t.missed]

    def _is_searching(self, t_s: float) -> bool:
        """Discs that are not where they were followed to are given up, and for a while what nothing explains is looked at."""
        strays = self._strays()
        for track in strays:
            self._tracker.give_up(track)
        if strays:
            self._search_until_s = t_s + _SEARCH_S
        return t_s < self._search_until_s and (bool(strays) or bool(self._arms.foreign.islands))

    def _let_stay(self, spell: Spell) -> None:
        """Pieces whose places look as they did when the spell began lie there, whatever was taken for them meanwhile."""
        for disc in spell.before:
            track = self._tracker.tracks[disc.id]
            if disc.kind == "striker" or track.state == "rest":
                continue
            place = np.array([disc.x_mm, disc.y_mm])
            if not self._scene.is_kept(self._finder.outline(track, place)):
                continue
            for other in self._here():
                if other is not track and other.state == "active" and float(np.hypot(*(other.at_mm - place))) < SAME_MM:
                    other.state = "lost"
            self._tracker.put_back(track, place)
            self._measurer.forget(track.id)

    def _measure_one(self, image: Image, t_s: float, *, wait: bool = False) -> bool:
        """Measure discs that have come to rest and not been measured there, one at a time; True while there may be more."""
        hidden = self._arms.foreign.side is not None  # what shows in part has something over it then, or lies elsewhere
        ripe = [t for t in self._here() if t.state == "active" and not (t.moves or t.missed or (t.partly and hidden))]
        ripe = [t for t in ripe if t_s - t.still_since_s >= _DISC_STILL_S and not self._arms.is_by(t) and not self._passed_by(t)]
        track = self._measurer.next(ripe, self._spell.before if self._spell else [])
        if track is None:
            return False
        if self._measurer.measure(image, track, wait=wait) is False and (track.kind == "striker" or track.carried or track.by_arm):
            self._tracker.give_up(track)  # followed onto something else
        return True

    def _passed_by(self, track: Track) -> bool:
        """Whether a disc that moves is so near that it would be in the closer look's picture."""
        return any(t.moves and float(np.hypot(*(t.at_mm - track.at_mm))) < _PASSING_MM for t in self._here())
