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
from vision.discs.eyes import eyes
from vision.discs.find import Found, find_discs
from vision.discs.solid import solid_of
from vision.occluders import Cover, Occluders

UNDER: Final = 0.9  # share of a face that is covered from which it is a part of what covers it; a held piece shows more of its own


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


def _is_under(cover: Cover, camera: Camera, found: Found) -> bool:
    """Whether a disc would lie where a hand or a sleeve is seen: what was found is a knuckle, a button, a cuff."""
    solid = solid_of(found.kind)
    turn = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=1) * solid.radius_mm
    face = np.concatenate([[[0.0, 0.0]], 0.5 * ring, 0.9 * ring]) + (found.x_mm, found.y_mm)
    seen_at = camera.to_mm(camera.to_px(np.c_[face, np.full(len(face), solid.height_mm)]), 0.0)
    return bool(cover.hides(seen_at).mean() > UNDER)


def detect(image: NDArray[np.uint8], camera: Camera, *, geometry_alone: bool = False) -> SeenDiscs:
    """Find every disc in one picture.

    Parameters
    ----------
    image
        uint8 BGR (height, width, 3).
    camera
        Calibrated camera of that picture.
    geometry_alone
        Leave the networks out, as where they can't be loaded.

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
    found = find_discs(image, camera, None if geometry_alone else eyes())
    occluders = None if geometry_alone or not found else Occluders.load()
    if occluders is not None:
        cover = occluders.cover(image, camera)
        found = [one for one in found if not _is_under(cover, camera, one)]
    return SeenDiscs(discs=[_record(one, camera) for one in found])
