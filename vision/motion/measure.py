"""Exact places of discs that have come to rest, by the still picture's own fit; one disc at a time, so that no frame waits long."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from vision.discs.fit import Neighbour, fit_disc
from vision.motion.track import Track

_NEAR_MM: Final = 62.0  # discs whose axes are further apart share no pixel of a patch
_BELIEVED_MM: Final = 3.0  # the follower is right to a millimetre; a fit farther away has slipped onto something else
_FLOOR_MM: Final = 0.15  # lens, pose and height tolerances that the fit's own scatter does not know of


def measure_rest(image: NDArray[np.uint8], camera: Camera, track: Track, others: Iterable[Track]) -> bool:
    """Measure a disc at rest near where it is followed; False where the fit is not to be believed and the track is kept."""
    near = [
        Neighbour(float(o.at_mm[0]), float(o.at_mm[1]), o.kind)
        for o in others
        if o is not track and o.state in ("rest", "active") and float(np.hypot(*(o.at_mm - track.at_mm))) < _NEAR_MM
    ]
    fit = fit_disc(image, camera, float(track.at_mm[0]), float(track.at_mm[1]), track.kind, near)
    if fit is None or not np.isfinite([fit.x_mm, fit.y_mm, fit.sigma_mm]).all():
        return False
    found = np.array([fit.x_mm, fit.y_mm])
    if float(np.hypot(*(found - track.at_mm))) > _BELIEVED_MM:
        return False
    track.at_mm = found
    track.sigma_mm = float(np.hypot(fit.sigma_mm, _FLOOR_MM))
    return True
