"""What is known of one disc through a match: where it is, how it looks, and what was seen of it while anything moved."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from rules.facts import SeenDisc
from rules.table import Kind, Pocket
from vision.motion.outline import Outline, Shape, shape_of
from vision.motion.search import Look

Array = NDArray[np.float64]
FASTEST_MM_S: Final = 7000.0  # hardest break shots; 6 m/s and some
FASTEST_PIECE_MM_S: Final = 8500.0  # a piece leaves a striker, which weighs 2.7 times as much, at up to 1.35 times its speed: of 6.3 m/s
HOPS_MM_S: Final = 800.0  # slower discs stay under the rail's edge
SAME_MM: Final = 15.0  # a piece's radius: two discs cannot lie nearer to each other, so one of them is mistaken for the other
STOOD_MM: Final = 4.0  # what is found this near to where a disc was tried out a frame ago does not go off: a finger, a cue's end
_SETS_OFF: Final = (1.0, 0.8, 0.6)  # shares of its mean speed since: a disc first seen under way may have set off before its waking,
_IS_STRUCK: Final = (1.0, 1.5, 0.7)  # a striker also between two later frames
_TRIAL_FRAMES: Final = 3  # sightings that must follow each other as a free disc's do
State = Literal["rest", "active", "gone", "lost"]


@dataclass(frozen=True, slots=True)
class Sighting:
    """Where a disc was seen: time of mid-exposure (s), axis (mm), how well; `fast` is its way during the exposure, mm."""

    t_s: float
    x_mm: float
    y_mm: float
    sigma_mm: float
    fast_mm: float


@dataclass(slots=True)
class Track:
    """One disc through a match."""

    id: str
    kind: Kind
    at_mm: Array
    sigma_mm: float = 0.2
    state: State = "rest"
    look: Look | None = None
    velocity_mm_s: Array = field(default_factory=lambda: np.zeros(2))
    t_s: float = 0.0
    missed: int = 0
    steps: int = 0
    still_since_s: float = 0.0
    sightings: list[Sighting] = field(default_factory=list)
    pocket: Pocket | None = None
    face: float = 0.0
    hole: float = 0.0
    table: float = 0.0
    usual_gain: float = 0.8
    woken_s: float = 0.0
    set_off_s: float = 0.0  # the frame before: it set off after that
    rest_seen_mm: Array | None = None
    hidden: bool = False
    flown_mm: Array | None = None  # where it must have run into a rail hard and has been out of sight since
    covered: bool = False  # a hand was over it in a frame since it was last seen
    carried: bool = False  # in this spell it was away and was put down
    by_limb: bool = False  # an arm was beside it when it began to move, or over it since: it can have taken it up
    by_part: bool = False  # what may be a part of a cue was beside it then
    stood_s: float = 0.0  # when it was last seen to stand where it lay, unmoved
    partly: bool = False  # it shows in part where it lay, with something thin over it
    hidden_s: float = 0.0  # for how long a hand has been over it since it began to move
    trial: int = 0
    anchor: tuple[Array, int, float, float] | None = None  # place, number of sightings, still since and seen at, to go back to
    refused_mm: list[Array] = field(default_factory=list)  # where it was tried out and what was there did not go on like a disc
    learned: bool = False
    seen_gone: bool = False  # its place has been looked at closely since, and it does not lie there
    left: Outline | None = None

    @property
    def shape(self) -> Shape:
        """Nominal solid of its kind."""
        return shape_of(self.kind)

    @property
    def on_table(self) -> bool:
        """Whether it lies or moves on the table, as far as is known."""
        return self.state in ("rest", "active")

    def lie_at(self, at_mm: Array) -> None:
        """It is at rest at a place (2,) mm; whatever was followed for it is forgotten."""
        self.at_mm, self.velocity_mm_s = at_mm, np.zeros(2)
        self.state, self.pocket, self.missed, self.hidden, self.flown_mm = "rest", None, 0, False, None
        self.trial, self.anchor = 0, None
        self.sightings, self.rest_seen_mm, self.left, self.learned = [], None, None, False

    def forget_hands(self) -> None:
        """From now on it counts who is near it and what is done to it."""
        self.carried, self.by_part, self.by_limb, self.seen_gone, self.hidden_s = False, False, False, False, 0.0
        self.stood_s, self.partly = 0.0, False
        self.refused_mm = []

    @property
    def by_arm(self) -> bool:
        """Whether an arm, or a part of one or of a cue, can have moved it."""
        return self.by_limb or self.by_part

    @property
    def sets_off(self) -> bool:
        """Whether it is a striker of which one step has been seen: the blow came between two frames, it may be much faster than that."""
        return self.kind == "striker" and self.steps == 1 and not self.trial

    @property
    def flies(self) -> bool:
        """Whether it is fast enough to go over a rail."""
        return self.state == "active" and float(np.hypot(*self.velocity_mm_s)) > HOPS_MM_S

    @property
    def lay_mm(self) -> Array:
        """Where it lay before it began to move, (2,)."""
        return self.at_mm if self.left is None else self.left.axis_mm

    def stood_at(self, at_mm: Array) -> bool:
        """Whether a place (2,) mm is one where it was tried out before, as something that was to go off."""
        tried = [*self.refused_mm, *([self.at_mm] if self.trial else [])]
        return any(float(np.hypot(*(at_mm - place))) < STOOD_MM for place in tried)

    def try_out(self) -> None:
        """A place found beside a hand is on trial until the disc has gone on from there as a free disc does."""
        if self.trial:
            self.doubt()
        self.trial, self.anchor = 1, (self.at_mm, len(self.sightings), self.still_since_s, self.t_s)

    def confirm(self) -> None:
        """It went on as a free disc does for another frame."""
        if self.trial:
            self.trial += 1
            if self.trial > _TRIAL_FRAMES:
                self.trial, self.anchor = 0, None

    def doubt(self) -> None:
        """Back to where it surely was: what was found beside the hand did not go on like a disc."""
        if self.trial and self.anchor is not None:
            self.refused_mm.append(self.at_mm)
            stood = float(np.hypot(*(self.at_mm - self.anchor[0]))) < STOOD_MM
            self.at_mm, count, self.still_since_s, since_s = self.anchor
            self.t_s = self.t_s if stood else since_s
            self.velocity_mm_s = np.zeros(2)
            del self.sightings[count:]
        self.trial, self.anchor = 0, None

    @property
    def moves(self) -> bool:
        """Whether it is under way."""
        return self.state == "active" and bool(self.velocity_mm_s.any())


def as_seen(track: Track, camera: Camera, *, by_hand: bool) -> SeenDisc:
    """A disc as the live picture tells it; under way it is where it was last seen. `by_hand`: a hand is at it."""
    x_mm, y_mm = (round(float(value), 3) for value in track.at_mm)
    return SeenDisc(
        id=track.id,
        kind=track.kind,
        x_mm=x_mm,
        y_mm=y_mm,
        sigma_mm=round(track.sigma_mm, 3),
        confidence=0.99 if track.missed == 0 else 0.5,
        clearance_mm=camera.clearances_mm(track.kind, float(track.at_mm[0]), float(track.at_mm[1])),
        at_rest=not (track.moves or track.missed or by_hand),
    )


def way_to(track: Track, to_mm: Array, t_s: float) -> Array:
    """Velocity (2,) mm/s that would have brought a disc here from where it was last seen, or lay; none if no disc is that fast."""
    if track.sightings:
        last = track.sightings[-1]
        from_mm, since_s = np.array([last.x_mm, last.y_mm]), last.t_s
        if not track.velocity_mm_s.any() and float(np.hypot(*(track.at_mm - from_mm))) < STOOD_MM:
            since_s = max(since_s, track.t_s)  # it stood there until then
    else:
        from_mm, since_s = track.lay_mm, track.t_s if track.left is None else track.set_off_s
    velocity = np.asarray((to_mm - from_mm) / max(t_s - since_s, 1e-3), dtype=np.float64)
    fastest = FASTEST_MM_S if track.kind == "striker" else FASTEST_PIECE_MM_S
    return velocity if float(np.hypot(*velocity)) < fastest else np.zeros(2)


def speed_shares(track: Track) -> tuple[float, ...]:
    """Shares of a disc's mean speed since it was last seen with which it is looked for."""
    if track.kind == "striker" and not track.velocity_mm_s.any():
        return _IS_STRUCK
    return (1.0,) if track.sightings else _SETS_OFF


def any_near(tracks: Iterable[Track], but: Track, at_mm: Array, reach_mm: float) -> bool:
    """Whether another disc on the table is this near to a place (2,) mm."""
    return any(other is not but and other.on_table and float(np.hypot(*(other.at_mm - at_mm))) < reach_mm for other in tracks)
