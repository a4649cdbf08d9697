"""What a lamp from one side does to every disc of a picture alike, and taking it back.

On the side to the lamp the rounded edge is lit and merges with what lies outside, on the other side wall and shadow merge: the rim
seems to lie away from the lamp. In the hole it is the other way round: its near wall is dark, its far one lit. How far rim and hole
lie apart, on the mean of all discs, therefore tells the lamp's pull without knowing the lamp.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration import Camera
from vision.discs.fit import BLUR_PX, Fit

Array = NDArray[np.float64]

SCATTER_MM: Final = 0.3  # of single discs' rim and hole against each other: wear, chips, shadows of others
USUAL_MM: Final = 0.3  # how far lamps pull them apart, one sigma per axis; few discs say little against it
EDGE_MM: Final = 0.7  # what of the rounded edge a blur must reach to hide where it ends: half its width
DOUBT: Final = 0.5  # of the pull taken back, as its share: one sigma per axis


def lamp_pull(fits: list[Fit], camera: Camera) -> Array:
    """Shift (2,) in mm that the picture's lamps give every fitted place."""
    if not fits:
        return np.zeros(2)
    blur = BLUR_PX / camera.px_per_mm(0.0, 0.0)
    weight = np.array([1 / (np.trace(fit.apart_covariance) / 2 + SCATTER_MM**2) for fit in fits])
    apart = np.array([fit.apart_mm for fit in fits])
    mean = (weight[:, None] * apart).sum(axis=0) / (weight.sum() + USUAL_MM**-2)
    pull: Array = mean * (-(blur**2) / (blur**2 + EDGE_MM**2))
    return pull


def without_pull(fit: Fit, pull_mm: Array) -> tuple[float, float]:
    """The axis with the lamp's pull taken back, as far as rails and neighbours leave it free."""
    x, y = np.array([fit.x_mm, fit.y_mm]) - fit.free @ pull_mm
    return float(x), float(y)
