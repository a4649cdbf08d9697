"""Where a known disc may have gone: its small picture slid over the changed table.

A place is scored by how much better the disc explains it than the table without the disc does, so a bare-wood striker on wood is
found by its hole, rim and shadow as well as a red piece by its colour.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.motion.outline import Outline
from vision.motion.scene import SHRINK, Scene
from vision.motion.smear import BRIGHTNESS

F32 = NDArray[np.float32]

_TINT_LEVELS: Final = 9.0  # grey levels of contrast in tint alone: three times its noise, and more than black paint shows
_LEAST_GAIN: Final = 0.1  # share of the change that the disc explains; under it the match is noise
_NOISE: Final = 40.0  # squared grey levels a pixel over three channels: noise and grain of the small picture
_WASH_PX: Final = 5  # small pixels: half a striker's hole more than that
_WASHED_NOISE: Final = 6.0  # what is left of it
_LIGHT: Final = (0.7, 1.4)  # how much darker or brighter than where its look was taken
_MANY: Final = 3  # candidates handed on: the place itself, one neighbour, one reflection
_INNER: Final = 0.5  # of the radius: smears reach farther in from the rim than that only at 5 m/s and more
_POOR: Final = 0.6  # of the change explained, under which the best match may be its own shadow beside it, or its hole is smeared


@dataclass(frozen=True, slots=True)
class Look:
    """A disc's small picture at rest, with the mask of its face, the channel mix in which it stands out from the table, and its tint."""

    patch: F32
    mask: F32
    offset: NDArray[np.float64]
    weights: F32
    tint: F32


def tint_of(colour: F32) -> F32:
    """Shares (3,) of a colour's channels, whatever its brightness."""
    out: F32 = colour / (colour.sum() + np.float32(1e-6))
    return out


def tint_at(picture: NDArray[np.uint8], outline: Outline) -> F32:
    """Tint (3,) of the inner part of a disc's face in a picture."""
    reach = max(int(_INNER * outline.shape.radius_mm * outline.px_per_mm), 1)
    x, y = np.rint(outline.centre_px).astype(int)
    part = picture[max(y - reach, 0) : y + reach + 1, max(x - reach, 0) : x + reach + 1].reshape(-1, 3)
    return tint_of(part.mean(axis=0, dtype=np.float32)) if part.size else np.zeros(3, np.float32)


def look_at(scene: Scene, outline: Outline, image: NDArray[np.uint8], bare: NDArray[np.uint8]) -> Look | None:
    """Take a disc's look from a picture of it at rest; `bare` is the table without it. None at the picture's border."""
    mask, (x, y) = scene.patch_mask(outline, 1.0)
    height, width = mask.shape
    if not mask.any():
        return None
    part = np.s_[y * SHRINK : (y + height) * SHRINK, x * SHRINK : (x + width) * SHRINK]
    patch = cv2.resize(image[part], (width, height), interpolation=cv2.INTER_AREA).astype(np.float32)
    under = cv2.resize(bare[part], (width, height), interpolation=cv2.INTER_AREA).astype(np.float32)
    inside = mask.astype(bool)
    colour = patch[inside].mean(axis=0)
    weights = _mix(colour, under[inside].mean(axis=0))
    centre = (outline.centre_px - (SHRINK - 1) / 2) / SHRINK - (x, y)
    # The wall shows on the camera's side, elsewhere on another one: it is left out.
    face = cv2.erode(mask.astype(np.float32), cv2.getStructuringElement(cv2.MORPH_CROSS, (3, 3)))
    return Look(patch, np.repeat(face[:, :, None], 3, axis=2), centre, weights, tint_of(colour))


def _mix(disc: F32, table: F32) -> F32:
    """Channel mix (3,) in which a disc stands out.

    A disc darker than the table is taken for its own shadow easily: it is looked at in the tint that a shadow leaves
    unchanged, where that shows enough. So is one about as bright as the table, a bare striker in a lamp's gloss.
    """
    contrast = disc - table
    along = table / float(np.linalg.norm(table) + 1e-6)
    tint = contrast - float(contrast @ along) * along
    tint = tint / float(np.abs(tint).sum() + 1e-6)
    grey = np.abs(contrast) * BRIGHTNESS + 4.0 * BRIGHTNESS
    grey = grey / float(grey.sum())
    in_tint = float(tint @ contrast)
    is_clearer = float(contrast @ along) < 0 or in_tint > abs(float(grey @ contrast))
    return np.asarray(tint if is_clearer and in_tint >= _TINT_LEVELS else grey, dtype=np.float32)


def around(scene: Scene, look: Look, around_px: NDArray[np.float64], reach_px: float) -> list[NDArray[np.float64]]:
    """Best places (full picture px, centre of the upper face) within `reach_px` of `around_px`, best first."""
    height, width = look.patch.shape[:2]
    corner = (around_px - (SHRINK - 1) / 2) / SHRINK - look.offset
    reach = reach_px / SHRINK + 1
    return candidates(scene, look, np.floor(corner - reach), np.ceil(corner + reach) + (width, height))


def candidates(scene: Scene, look: Look, low: NDArray[np.float64], high: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Best places (full picture px, centre of the upper face) with the disc inside a box (x, y) to (x, y), small px, best first."""
    height, width = look.patch.shape[:2]
    x0, y0 = np.maximum(low, 0).astype(int)
    x1, y1 = np.minimum(high, scene.size).astype(int)
    if x1 - x0 < width or y1 - y0 < height:
        return []
    now = scene.small[y0:y1, x0:x1].astype(np.float32)
    then = scene.small_reference[y0:y1, x0:x1].astype(np.float32) * scene.gain.astype(np.float32)
    patch = look.patch * scene.gain.astype(np.float32)
    better = _better(now, then, patch, look.mask, _NOISE)
    if float(better.max()) < _POOR:
        face = np.broadcast_to((patch * look.mask).sum(axis=(0, 1)) / look.mask.sum(axis=(0, 1)), patch.shape)
        better = np.maximum(better, _better(_washed(now), _washed(then), face, look.mask, _WASHED_NOISE))
    better[~_on_table(scene, (y0, x0), look.offset, better.shape)] = -np.inf
    found = []
    poor = float(better.max()) < _POOR
    apart = max(width // (3 if poor else 2), 2)
    for _ in range(_MANY + poor):
        row, column = np.unravel_index(int(np.argmax(better)), better.shape)
        if better[row, column] < _LEAST_GAIN:
            break
        found.append((np.array([column + x0, row + y0]) + look.offset) * SHRINK + (SHRINK - 1) / 2)
        better[max(row - apart, 0) : row + apart + 1, max(column - apart, 0) : column + apart + 1] = -np.inf
    return found


def _better(now: F32, then: F32, patch: F32, face: F32, noise: float) -> F32:
    """How much better a disc explains the picture than the table does, for every place of the patch's corner."""
    height, width = patch.shape[:2]
    mask = np.ascontiguousarray(face[:, :, 0])
    table = cv2.filter2D(((now - then) ** 2).sum(axis=2), -1, mask, anchor=(0, 0), borderType=cv2.BORDER_CONSTANT)
    table = table[: now.shape[0] - height + 1, : now.shape[1] - width + 1]
    # As bright as it suits the place best: lamps light a table unevenly.
    shown = patch * face
    energy, same = float((shown * patch).sum()), cv2.matchTemplate(now, shown, cv2.TM_CCORR)
    here = cv2.filter2D((now**2).sum(axis=2), -1, mask, anchor=(0, 0), borderType=cv2.BORDER_CONSTANT)
    light = np.clip(same / energy, *_LIGHT)
    disc = here[: same.shape[0], : same.shape[1]] - 2 * light * same + light**2 * energy
    # As a share of what has changed there: a bright hand changes more than any disc does.
    out: F32 = 1 - disc / (table + noise * float(mask.sum()))
    return out


def _washed(picture: F32) -> F32:
    """Without what is as small as a hole, which is smeared in motion and all that a bare striker on bare wood differs by plainly."""
    return np.asarray(cv2.blur(picture, (_WASH_PX, _WASH_PX)), dtype=np.float32)


def _on_table(scene: Scene, corner: tuple[int, int], offset: NDArray[np.float64], shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Where a patch's corner puts the disc's middle on the playing surface: a hand behind the rail looks like many things."""
    y, x = (at + round(float(by)) for at, by in zip(corner, offset[::-1], strict=True))
    return scene.surface[y : y + shape[0], x : x + shape[1]]
