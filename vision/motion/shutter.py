"""When each row of a picture was exposed: a rolling shutter sees a fast disc elsewhere than a global one would.

A frame's time is the middle of the exposure of its middle row. Row r of H is exposed readout_s * (r / (H - 1) - 1/2) later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from rules.table import Kind, thickness_mm
from vision.motion.track import Sighting

Array = NDArray[np.float64]

USUAL_EXPOSURE_S: Final = 0.0035  # of hall light at 60 fps; only the assumed length of smears hangs on it


@dataclass(frozen=True, slots=True)
class Shutter:
    """How long a row is exposed, and from the first row's exposure to the last one's (0: all rows at once), s."""

    exposure_s: float = USUAL_EXPOSURE_S
    readout_s: float = 0.0


GLOBAL: Final = Shutter()


def row_delay_s(camera: Camera, shutter: Shutter, axis_mm: Array, height_mm: float) -> Array:
    """How much later than the frame's time the rows were exposed in which discs are seen.

    Parameters
    ----------
    axis_mm : (N, 2) axes on the table plane, mm.
    height_mm : of the face that is measured.

    Returns
    -------
    (N,) seconds, negative above the middle row.
    """
    if not shutter.readout_s or not len(axis_mm):
        return np.zeros(len(axis_mm))
    rows = camera.to_px(np.c_[axis_mm, np.full(len(axis_mm), height_mm)])[:, 1]
    last = camera.lens.height - 1
    delay: Array = shutter.readout_s * (np.clip(rows, 0, last) / last - 0.5)
    return delay


def at_own_times(camera: Camera, shutter: Shutter, kind: Kind, seen: Sequence[Sighting]) -> list[Sighting]:
    """Sightings at the times of their own rows: where a disc was seen is exact then, however fast it was."""
    if not shutter.readout_s:
        return list(seen)
    delays = row_delay_s(camera, shutter, np.array([(s.x_mm, s.y_mm) for s in seen]).reshape(-1, 2), thickness_mm(kind))
    return [replace(s, t_s=s.t_s + float(delay)) for s, delay in zip(seen, delays, strict=True)]


def at_frame_time(camera: Camera, shutter: Shutter, kind: Kind, axis_mm: Array, velocity_mm_s: Array) -> Array:
    """Where a disc (2,) mm that was seen in its own rows was at the frame's time, at a known velocity (2,) mm/s."""
    delay = row_delay_s(camera, shutter, axis_mm[None], thickness_mm(kind))[0]
    out: Array = axis_mm - velocity_mm_s * delay
    return out
