"""One still, one list of discs: the record of the contract from the finder's results."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from calibration import Camera
from calibration.covariance import table_sigma_mm
from rules.errors import InputUnusable
from rules.facts import SeenDisc, SeenDiscs
from vision.discs.eyes import eyes
from vision.discs.find import Found, find_discs


def _record(found: Found, camera: Camera) -> SeenDisc:
    x, y = found.x_mm, found.y_mm
    return SeenDisc(
        kind=found.kind,
        x_mm=x,
        y_mm=y,
        pose=found.pose,
        sigma_mm=math.hypot(found.sigma_mm, table_sigma_mm(camera.calibration, x, y)),
        confidence=min(1.0, found.rim + found.hole),
        clearance_mm=camera.clearances_mm(found.kind, x, y),
    )


def detect(image: NDArray[np.uint8], camera: Camera, *, geometry_alone: bool = False) -> SeenDiscs:
    """Find every disc in one picture.

    Parameters
    ----------
    image
        uint8 BGR (height, width, 3).
    camera
        Calibrated camera of that picture.
    geometry_alone
        Leave the network out, as where it can't be loaded.

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
    network = None if geometry_alone else eyes()
    return SeenDiscs(discs=[_record(found, camera) for found in find_discs(image, camera, network)])
