"""Discs that were put on the table: found where the picture has changed for good, beside the hand that brought them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from rules.table import HALF_MM, POCKET_RADIUS_MM, POCKETS_MM, Kind
from vision.discs.kinds import look, piece_colour
from vision.discs.rays import to_light
from vision.motion.outline import Outline, outline_at, shape_of
from vision.motion.scene import SHRINK, Scene
from vision.motion.smear import BRIGHTNESS, Fit, fit_smear, level_at

Array = NDArray[np.float64]
Image = NDArray[np.uint8]

# An island's centre is off by its shadow's share; bare wood on wood changes only in a crescent, a radius away from the centre.
_STARTS_MM: Final = [(0.0, 0.0)] + [
    (reach * float(np.cos(turn)), reach * float(np.sin(turn))) for reach in (9.0, 19.0) for turn in np.arange(8) * np.pi / 4
]
_PLAIN: Final = 0.85  # gain of a disc in plain view: no need to look further
_LEAST_EXPLAINED: Final = 0.85  # a disc in plain view
_LEAST_GAIN: Final = 0.55  # half covered by its own uncertainty; wrong sizes stay under it
_HOLE_SHARE: Final = 0.93  # the hole is darker than the face, or it is a coin, a finger, a highlight
_DARK: Final = 0.6  # of the table's brightness: darker than any bare wood, and than red paint on it
_FITS_A_FRAME: Final = 4  # 2-4 ms each
_SAME_PX: Final = 1.5  # small px; an island's centre flickers by one with the noise at its edge
_HOLES_AWAY: Final = 6.0  # hole radii around an island in which the hole of its disc lies: a striker's radius and the shadow's
_SPOTS: Final = 2  # dark spots tried: a shadow may be darker than a hole
_STILL_PX: Final = 1.0  # small px between two frames; more is a disc that still slides
_RETRY_FRAMES: Final = 30  # an island that was no disc may have been one under a hand's shadow: looked at again


@dataclass(frozen=True, slots=True)
class Arrival:
    """What stands like a disc where none was known; `island` is the changed place, (x, y) small px."""

    kind: Kind
    fit: Fit
    island: tuple[float, float]


@dataclass(slots=True)
class _Trial:
    """One island, the starts that are still to be tried on it, the best fit so far, and the sizes that need no further look."""

    island: tuple[float, float]
    starts: list[tuple[Kind, Array]]
    best: tuple[float, Kind, Fit] | None = None
    plain: set[Kind] = field(default_factory=set)


class ArrivalFinder:
    """Looks at changed islands that have stood still for some frames."""

    def __init__(self, camera: Camera, scene: Scene) -> None:
        self._camera = camera
        self._scene = scene
        self._before: tuple[tuple[float, float], ...] = ()
        self._refused: list[tuple[tuple[float, float], int]] = []
        self._trial: _Trial | None = None

    def forget(self) -> None:
        """The table was taken as it is: nothing is new any more."""
        self._before, self._refused, self._trial = (), [], None

    def look_anew(self) -> None:
        """Everything has come to rest: what was no disc while it moved may be one."""
        self._refused = []

    def is_curious(self, islands: tuple[tuple[float, float], ...]) -> bool:
        """Whether one of these changed places has not been looked at."""
        return self._trial is not None or any(not self._is_refused(island) for island in islands)

    def refuse(self, island: tuple[float, float]) -> None:
        """A closer look found no disc there."""
        self._refused.append((island, _RETRY_FRAMES))

    def find(self, image: Image, islands: tuple[tuple[float, float], ...], wanted: tuple[Kind, ...]) -> Arrival | None:
        """The disc on one island that stands still, of the kinds that may come; one island is looked at at a time, some fits a frame."""
        before, self._before = self._before, islands
        self._refused = [(place, wait - 1) for place, wait in self._refused if wait > 1]
        if self._trial is not None and not any(_near(self._trial.island, island, _SAME_PX) for island in islands):
            self._trial = None
        bare = self._scene.reference
        if bare is None:
            return None
        if self._trial is None:
            new = (i for i in islands if any(_near(i, b, _STILL_PX) for b in before) and not self._is_refused(i))
            island = next(new, None)
            if island is None:
                return None
            self._trial = self._begin(image, bare, island, wanted)
        trial = self._trial
        if not self._go_on(image, bare, trial):
            return None
        self._trial = None
        found = self._told(image, trial, wanted)
        if found is None:
            self.refuse(trial.island)
        return found

    def _is_refused(self, island: tuple[float, float]) -> bool:
        return any(_near(island, other, _SAME_PX) for other, _ in self._refused)

    def _begin(self, image: Image, bare: Image, island: tuple[float, float], wanted: tuple[Kind, ...]) -> _Trial:
        px = np.array(island) * SHRINK + (SHRINK - 1) / 2
        holes = _dark_spots(image, bare, px, shape_of("striker").hole_mm * self._camera.px_per_mm(0.0, 0.0))
        # A red piece stands for both colours: they differ in nothing that the fit looks at.
        sizes: list[Kind] = [*(["striker"] if "striker" in wanted else []), *(["red"] if {"red", "black"} & set(wanted) else [])]  # type: ignore[list-item]
        starts: list[tuple[Kind, Array]] = []
        for size in sizes:
            height = shape_of(size).height_mm
            centre = self._camera.to_mm(px[None], height)[0]
            starts += [(size, self._camera.to_mm(hole[None], height)[0]) for hole in holes]
            starts += [(size, centre + step) for step in _STARTS_MM]
        return _Trial(island, starts)

    def _go_on(self, image: Image, bare: Image, trial: _Trial) -> bool:
        """Try some more starts; True when all has been tried."""
        for _ in range(_FITS_A_FRAME):
            if not trial.starts:
                return True
            size, start = trial.starts.pop(0)
            if size in trial.plain:
                continue
            shape = shape_of(size)
            outline = outline_at(self._camera, start, shape)
            fit = fit_smear(image, bare, self._camera, outline, np.zeros(2), BRIGHTNESS)
            if fit is None or fit.explained < _LEAST_EXPLAINED or fit.gain < _LEAST_GAIN or not may_be_disc(fit, level_at(bare, outline)):
                continue
            if not _on_surface(fit.axis_mm, shape.radius_mm):
                continue
            if trial.best is None or fit.gain * fit.explained > trial.best[0]:
                trial.best = (fit.gain * fit.explained, size, fit)
            if trial.best[0] > _PLAIN:
                trial.plain.add(size)
        return not trial.starts

    def _told(self, image: Image, trial: _Trial, wanted: tuple[Kind, ...]) -> Arrival | None:
        if trial.best is None:
            return None
        _, size, fit = trial.best
        kind = size if size == "striker" else self._colour(image, outline_at(self._camera, fit.axis_mm, shape_of("red")))
        return Arrival(kind, fit, trial.island) if kind is not None and kind in wanted else None

    def _colour(self, image: Image, outline: Outline) -> Kind | None:
        """Red or black by the face against the bare table at the same place."""
        bare = self._scene.bare
        if bare is None:
            return None
        reach = int(outline.shape.radius_mm * outline.px_per_mm * 0.6)
        x, y = np.rint(outline.centre_px).astype(int)
        part = np.s_[max(y - reach, 0) : y + reach + 1, max(x - reach, 0) : x + reach + 1]
        wood = np.maximum(np.median(to_light(bare[part].reshape(-1, 3)), axis=0), 0.3)
        return piece_colour(*look(to_light(image[part].reshape(-1, 3)), wood))


def may_be_disc(fit: Fit, table: float) -> bool:
    """Whether face and hole of a fit may be a disc's on a table this bright, grey levels; a closer look decides.

    In dark paint the hole shows no darker than the face.
    """
    return fit.hole < _HOLE_SHARE * fit.face or fit.face < _DARK * table


def _dark_spots(image: Image, bare: Image, around_px: Array, hole_px: float) -> list[Array]:
    """Where a hole's worth of the picture has become darker than what is around it: a disc's hole, whatever its face is like."""
    reach = int(_HOLES_AWAY * hole_px)
    x, y = np.rint(around_px).astype(int)
    x0, y0 = max(x - reach, 0), max(y - reach, 0)
    part = np.s_[y0 : y + reach + 1, x0 : x + reach + 1]
    darker = ((bare[part].astype(np.float32) - image[part]) @ BRIGHTNESS).astype(np.float32)
    if min(darker.shape) < 4 * hole_px:
        return []
    small, large = (max(int(hole_px * size), 1) * 2 + 1 for size in (0.6, 2.0))
    spots = cv2.blur(darker, (small, small)) - cv2.blur(darker, (large, large))
    found = []
    for _ in range(_SPOTS):
        row, column = np.unravel_index(int(np.argmax(spots)), spots.shape)
        found.append(np.array([float(column + x0), float(row + y0)]))
        spots[max(row - small, 0) : row + small + 1, max(column - small, 0) : column + small + 1] = -np.inf
    return found


def _near(a: tuple[float, float], b: tuple[float, float], reach_px: float) -> bool:
    return float(np.hypot(a[0] - b[0], a[1] - b[1])) < reach_px


def _on_surface(at_mm: Array, radius_mm: float) -> bool:
    if float(np.abs(at_mm).max()) > HALF_MM - radius_mm + 3.0:
        return False
    return all(float(np.hypot(at_mm[0] - px, at_mm[1] - py)) > POCKET_RADIUS_MM for px, py in POCKETS_MM.values())
