"""The first look at a table: from the first frames of a source to the camera that everything else measures with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Calibration, Camera
from calibration.coarse import South
from calibration.drift import STOP_PX, DriftWatch
from calibration.find import find_table
from calibration.lens import Lens
from device.sources.frame import Source
from rules.errors import TableNotFound

POOLED_FRAMES: Final = 3  # noise falls with the root of their number; more hardly helps and costs a second each
_SPACING_FRAMES: Final = 5  # neighbours in time share their noise pattern in compressed video
_GIVE_UP_FRAMES: Final = 600  # ten seconds at 60 a second: hands are off the lines at some time in them


@dataclass(frozen=True, slots=True)
class LookSettings:
    """What is known of the camera beforehand."""

    lens: Lens | None = None
    camera_name: str | None = None
    south: South = "bottom"


def look(source: Source, settings: LookSettings, said: Callable[[str], None]) -> Calibration:
    """Find the table in a source's first frames.

    Frames are tried alone until one shows the table, then pooled with the next ones.

    Raises
    ------
    TableNotFound
        No table in the first ten seconds' worth of frames, with the reason from the last try.
    LensMismatch
        The lens belongs to another picture size.
    """
    if settings.lens is not None:
        settings.lens.check_size(*source.size_px, where=source.name)
    pool: list[NDArray[np.uint8]] = []
    reason = "no frame could be read"
    tried = 0
    for number in range(_GIVE_UP_FRAMES):
        frame = source.read()
        if frame is None:
            break
        # Each failed try makes the next wait longer, so that a source without a table is refused in seconds.
        if number % (_SPACING_FRAMES * (1 + tried)):
            continue
        try:
            fit = find_table([*pool, frame.image], settings.lens, south=settings.south, camera=settings.camera_name)
        except TableNotFound as error:
            if str(error) != reason:
                said(f"looking for the table: {error}")
            reason, tried = str(error), tried + 1
            continue
        pool.append(frame.image)
        if len(pool) == POOLED_FRAMES:
            return fit.calibration
    if pool:
        return find_table(pool, settings.lens, south=settings.south, camera=settings.camera_name).calibration
    raise TableNotFound(f"{source.name}: {reason}")


def ready(calibration: Calibration, source: Source) -> Camera:
    """A camera for this source's frames; LensMismatch when the calibration is for another picture size."""
    calibration.lens.check_size(*source.size_px, where=source.name)
    return Camera(calibration)


def check(source: Source, calibration: Calibration) -> None:
    """Whether a source's first frames show the table where a calibration says.

    Raises
    ------
    TableNotFound
        They don't, in ten seconds' worth of frames; hands may hide the lines in some of them.
    LensMismatch
        The calibration is for another picture size.
    """
    calibration.lens.check_size(*source.size_px, where=source.name)
    watch = DriftWatch(calibration)
    furthest_px: float | None = None
    for number in range(_GIVE_UP_FRAMES):
        frame = source.read()
        if frame is None:
            break
        if number % _SPACING_FRAMES:
            continue
        drift = watch.update(frame.image, frame.t_ns)
        if drift is not None and drift.worst_px <= STOP_PX:
            return
        furthest_px = furthest_px if drift is None else drift.worst_px
    how = "its lines are not there" if furthest_px is None else f"its lines are {furthest_px:.1f} px away"
    raise TableNotFound(f"{source.name}: the table is not where the calibration says ({how}); calibrate again (novuss calibrate)")
