"""The disc network at work: what close-ups show beyond the outline that the fit follows. See models/discs.md for its figures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration import Camera
from rules.facts import Pose
from rules.table import Kind
from vision.discs.patches import RAYS, UNROLLED, Frame, place_patches, take_patches
from vision.discs.solid import solid_of
from vision.runtime import MODELS, loaded, open_model

Array = NDArray[np.float64]

MODEL: Final = MODELS / "discs.onnx"
KINDS: Final[tuple[Kind | None, ...]] = ("red", "black", "striker", None)  # the order of the network's answers
SURE_COLOUR: Final = 0.8  # probability from which the network's word on a piece's colour is taken; by wood of a strange hue it knows better
POSES: Final[tuple[Pose, ...]] = ("flat", "stacked", "on_side")
STRANGE: Final = 1.1  # tables and lamps differ from the scenes that it has learned from: sigma grows by this
# Training shows discs on others and on their side far more often than play does: a hundredth of discs, if that, not a tenth.
POSE_PRIOR: Final = np.array([1.0, 0.1, 0.1])
BATCH: Final = 32  # patches a call: more gain no time and take memory

_MIRRORED: Final = -np.arange(RAYS) % RAYS  # rays the other way round


@dataclass(frozen=True, slots=True)
class Opinion:
    """What the network makes of one patch: probabilities of `KINDS` (4,) and `POSES` (3,), shift (2,) from the asked place to the
    axis on the table in mm, and its covariance (2, 2) in mm².
    """

    kind: Array
    pose: Array
    shift_mm: Array
    covariance: Array

    @property
    def disc(self) -> float:
        """Probability that a flat disc of the asked size is there."""
        return float((1 - self.kind[-1]) * self.pose[0])

    def colour(self, taken_for: Kind) -> Kind:
        """A piece's colour: that which it was taken for, unless the network is sure of the other."""
        other: Kind = "black" if taken_for == "red" else "red"
        return other if taken_for != "striker" and self.kind[KINDS.index(other)] >= SURE_COLOUR else taken_for


class Eyes:
    """One loaded network; safe to share between threads."""

    def __init__(self, path: Path = MODEL) -> None:
        self._session = open_model(path)

    def look(
        self, image: NDArray[np.uint8], camera: Camera, places_mm: Array, kinds: list[Kind], wood: Array, *, mirrored_too: bool = False
    ) -> list[Opinion]:
        """An opinion on each place (N, 2) that may hold a flat disc of its kind; `wood` (3,) is the table's linear light, BGR.

        `mirrored_too`: look at the mirror image as well, which must give the mirrored answer; the mean is surer and takes twice as long.
        """
        out: list[Opinion] = []
        for start in range(0, len(kinds), BATCH):
            some = slice(start, start + BATCH)
            placed = place_patches(camera, places_mm[some], [solid_of(kind) for kind in kinds[some]], UNROLLED)
            frames = [frame for frame, _ in placed]
            rings = take_patches(image, [grid for _, grid in placed], wood, UNROLLED)
            seen = np.array([(frame.slope, frame.sample_px) for frame in frames], dtype=np.float32)
            answers = self._answers(rings, seen)
            if mirrored_too:
                mirrored = self._answers(rings[..., _MIRRORED], seen)
                mirrored[2][:, 1] *= -1
                answers = [np.float32(0.5) * (one + other) for one, other in zip(answers, mirrored, strict=True)]
            out += _opinions(frames, *(np.asarray(answer, dtype=np.float64) for answer in answers))
        return out

    def _answers(self, rings: NDArray[np.float32], seen: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        answers: list[NDArray[np.float32]] = self._session.run(["kind", "pose", "shift", "log_sigma"], {"rings": rings, "seen": seen})
        return answers


def _opinions(frames: list[Frame], kind: Array, pose: Array, shift: Array, log_sigma: Array) -> list[Opinion]:
    axes, step = np.array([frame.axes for frame in frames]), np.array([frame.step_mm for frame in frames])
    lies = softmax(pose) * POSE_PRIOR
    lies /= lies.sum(axis=1, keepdims=True)
    kinds, shift_mm = softmax(kind), np.einsum("nk,nkj->nj", shift * step[:, None], axes)
    variance = (STRANGE * np.exp(np.asarray(log_sigma, dtype=np.float64)) * step[:, None]) ** 2
    covariance = np.einsum("nki,nk,nkj->nij", axes, variance, axes)
    return [Opinion(*of) for of in zip(kinds, lies, shift_mm, covariance, strict=True)]


def softmax(logits: Array) -> Array:
    """Probabilities (N, K) of logits (N, K)."""
    out = np.exp(np.asarray(logits, dtype=np.float64) - logits.max(axis=1, keepdims=True))
    return np.asarray(out / out.sum(axis=1, keepdims=True), dtype=np.float64)


@cache
def eyes() -> Eyes | None:
    """The shipped network, or None (with a warning) where it or its runtime can't be loaded: geometry alone then serves."""
    return loaded(Eyes, "disc network", "discs are measured by geometry alone")
