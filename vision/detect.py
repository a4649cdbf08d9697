"""One still, one list of discs: the record of the contract from the finder's results."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration import Camera
from calibration.covariance import table_sigma_mm
from rules.errors import InputUnusable
from rules.facts import SeenDisc, SeenDiscs
from vision.discs.find import Found, find_discs

# Chips, shadows and turning tolerance move an edge by more than its noise: sigma grows by a factor and by a part of a pixel.
SCATTER_FACTOR: Final = 1.7
LEAST_SIGMA_PX: Final = 0.14


def _sigma_mm(found: Found, camera: Camera) -> float:
    x, y = found.x_mm, found.y_mm
    own = math.hypot(SCATTER_FACTOR * found.sigma_mm, found.spread_mm, LEAST_SIGMA_PX / camera.px_per_mm(x, y))
    return math.hypot(own, table_sigma_mm(camera.calibration, x, y))


def _record(found: Found, camera: Camera) -> SeenDisc:
    x, y = found.x_mm, found.y_mm
    return SeenDisc(
        kind=found.kind,
        x_mm=x,
        y_mm=y,
        pose=found.pose,
        sigma_mm=_sigma_mm(found, camera),
        confidence=min(1.0, found.rim + found.hole),
        clearance_mm=camera.clearances_mm(found.kind, x, y),
    )


def detect(image: NDArray[np.uint8], camera: Camera) -> SeenDiscs:
    """Find every disc in one picture.

    Parameters
    ----------
    image
        uint8 BGR (height, width, 3).
    camera
        Calibrated camera of that picture.

    Returns
    -------
    SeenDiscs
        Places are where each disc's axis meets the table plane, in table mm, with one sigma per axis.

    Raises
    ------
    InputUnusable
        When the picture is not of the size the camera is calibrated for.
    """
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
        raise InputUnusable(f"a picture of uint8 BGR is needed, not {image.dtype} of shape {image.shape}")
    camera.lens.check_size(image.shape[1], image.shape[0], "detect")
    return SeenDiscs(discs=[_record(found, camera) for found in find_discs(image, camera)])
