"""Patches with truth, made by tracing random scenes; several pictures are taken of each scene, at several guesses of the place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from models.training.scene import Scene, random_scene
from models.training.sensor import Sensor
from models.training.tracer import trace
from virtual_table.optics import Optics
from vision.discs import eyes
from vision.discs.patches import place_patches, take_patches
from vision.discs.rays import cubic
from vision.discs.solid import solid_of

Array = NDArray[np.float64]

KINDS: Final = tuple(kind or "none" for kind in eyes.KINDS)
POSES: Final = eyes.POSES
FARTHEST: Final = 3.2  # samples: truths further away than this are not asked for, the finder is nearer
PICTURES: Final = 3  # taken of one scene
GUESSES: Final = 2  # of the place in one picture
GUESS_MM: Final = 0.4  # how far guesses are off, one sigma per axis, of a piece
WILD_MM: Final = 1.6  # and now and then by up to this
GRID: Final = 3  # rays a pixel, each way
WOOD_DOUBT: Final = 0.18  # of the wood's light under the patch against the picture's median, as a logarithm
_UNDISTORT: Final = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 40, 1e-10)


@dataclass(frozen=True, slots=True)
class Samples:
    """`patches` (N, 3, SIDE, SIDE) float16; `seen` (N, 2): slope and sample in px; `kind`, `pose` (N,) indices, -1 where none is
    asked for; `shift` (N, 2): true axis less guess, in samples of the patch, NaN where none is asked for; `scene` (N,) its number.
    """

    patches: NDArray[np.float16]
    seen: NDArray[np.float32]
    kind: NDArray[np.int64]
    pose: NDArray[np.int64]
    shift: NDArray[np.float32]
    scene: NDArray[np.int64]

    @property
    def asked(self) -> NDArray[np.bool_]:
        """Which have a shift that is asked for, (N,)."""
        return ~np.isnan(self.shift[:, 0]) & (np.abs(self.shift).max(axis=1) < FARTHEST)


class _Window:
    """A camera whose picture begins at (left, top)."""

    def __init__(self, optics: Optics, left: int, top: int) -> None:
        self.centre_mm = optics.centre_mm
        self._optics = optics
        self._corner = np.array([left, top], dtype=np.float64)

    def to_px(self, points_mm: ArrayLike) -> Array:
        out: Array = self._optics.to_px(points_mm) - self._corner
        return out


def _floor(optics: Optics, left: int, top: int, columns: int, rows: int, grid: int) -> Array:
    """Where the rays of `grid` x `grid` parts of every pixel meet z = 0: exact on nodes, a cubic surface between them."""
    nodes = np.stack(np.meshgrid(left + np.linspace(0, columns - 1, 7), top + np.linspace(0, rows - 1, 7)), -1).reshape(-1, 1, 2)
    normal = cv2.undistortPoints(nodes, optics.K, optics.dist, criteria=_UNDISTORT).reshape(-1, 2)
    rays = np.c_[normal, np.ones(len(normal))] @ cv2.Rodrigues(optics.rvec)[0]
    eye = optics.centre_mm
    middle, half = np.array([(columns - 1) / 2, (rows - 1) / 2]), np.array([columns, rows]) / 2
    unit = (nodes.reshape(-1, 2) - (left, top) - middle) / half
    surface = np.linalg.lstsq(cubic(unit), eye[:2] - rays[:, :2] * (eye[2] / rays[:, 2])[:, None], rcond=None)[0]
    x, y = ((np.arange(count * grid) + 0.5) / grid - 0.5 for count in (columns, rows))
    grid_unit = (np.stack(np.meshgrid(x, y), -1).reshape(-1, 2) - middle) / half
    out: Array = (cubic(grid_unit) @ surface).reshape(rows * grid, columns * grid, 2)
    return out


def _guess(rng: np.random.Generator, scene: Scene) -> Array:
    scale = solid_of(scene.kind).radius_mm / 15.0
    off = rng.normal(0, GUESS_MM, 2) if rng.random() < 0.75 else rng.uniform(-WILD_MM, WILD_MM, 2)
    out: Array = scene.centre_mm + off * scale
    return out


def _chance(number: int) -> np.random.Generator:
    return np.random.default_rng([number, 808])


def lamp_of(number: int) -> str:
    """The sort of lamps in scene `number`."""
    return random_scene(_chance(number)).lamp


def samples_of(number: int) -> Samples:
    """All samples of scene `number`; the same number gives the same ones."""
    rng = _chance(number)
    scene = random_scene(rng)
    solid = solid_of(scene.kind)
    guesses = [[_guess(rng, scene) for _ in range(GUESSES)] for _ in range(PICTURES)]
    every = [guess for row in guesses for guess in row]
    grids = [grid for _, grid in place_patches(scene.optics, every, [solid] * len(every))]
    corners = np.concatenate([pixels[[0, 0, -1, -1], [0, -1, 0, -1]] for pixels in grids])
    left, top = (np.floor(corners.min(axis=0)) - 4).astype(int)
    columns, rows = (np.ceil(corners.max(axis=0)) + 5).astype(int) - (left, top)
    floor = _floor(scene.optics, left, top, columns, rows, GRID)
    light = trace(scene.optics.centre_mm, floor, GRID, scene.discs, scene.lamps, scene.ambient, scene.tilt, scene.table, number)
    window = _Window(scene.optics, left, top)
    patches, seen, shifts = [], [], []
    for row in guesses:
        sensor = Sensor.random(rng, scene.wood_light)
        image = sensor.take(rng, light)
        linear = scene.wood_light * sensor.exposure * np.array(sensor.balance) * 255
        for guess, (frame, pixels) in zip(row, place_patches(window, row, [solid] * len(row)), strict=True):
            wood = linear * np.exp(rng.normal(0, WOOD_DOUBT) + rng.normal(0, 0.04, 3))
            patches.append(take_patches(image, [pixels], wood)[0])
            seen.append((frame.slope, frame.sample_px))
            shifts.append(frame.from_table_mm(scene.centre_mm - guess) if scene.lying == "flat" else (np.nan, np.nan))
    count = len(patches)
    lies = scene.lying
    return Samples(
        np.array(patches, dtype=np.float16),
        np.array(seen, dtype=np.float32),
        np.full(count, KINDS.index("none" if lies == "none" else scene.kind)),
        np.full(count, -1 if lies == "none" else POSES.index(lies)),
        np.array(shifts, dtype=np.float32),
        np.full(count, number),
    )
