"""One still, one list of discs: the record of the contract from the finder's results."""

from __future__ import annotations

import math
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration import Camera
from calibration.covariance import table_sigma_mm
from rules.errors import InputUnusable
from rules.facts import Occluder, SeenDisc, SeenDiscs
from vision.discs.eyes import eyes
from vision.discs.find import Found, find_discs
from vision.discs.solid import solid_of
from vision.occluders import COVERED, HALF_SEEN_MM, ON_RAILS_TOO, STEP_MM, Cover, Occluders, round_px

UNDER: Final = 0.9  # share of a face that is covered from which it is a part of what covers it; a held piece shows more of its own
FINE: Final = 4  # parts of a cell that outlines are drawn to: the probabilities change smoothly from cell to cell
FEWEST_CELLS: Final = 6  # a finger's end; fewer together are chance
APART_MM: Final = 14.0  # what is nearer together is one thing: of a hand of the wood's tone parts are missed
SLACK_MM: Final = 2.0  # of an outline's corners: less than half a cell
CUE_HALF_MM, CUE_LONG_MM = 14.0, 120.0  # nothing else is as slender and as long: a finger belongs to a hand


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


def outlines(cover: Cover, camera: Camera) -> list[Occluder]:
    """What covers the table, each as a closed outline in the picture, the largest first.

    Parameters
    ----------
    cover
        What the network says of each cell of the table.
    camera
        Calibrated camera of the picture that it was said of.

    Returns
    -------
    list of Occluder
        `kind` is "cue" for what is slender and long, "hand" for what else reaches in over the rails (an arm or a person too), and "other"
        for what lies on the table. `polygon_px`: corners (x, y), full-picture pixels, to 2 mm on the table.
    """
    chance = np.where(cover.seen & ON_RAILS_TOO, cover.chance, 0.0).astype(np.float32)
    side = FINE * len(chance)
    mask = (cv2.resize(chance, (side, side), interpolation=cv2.INTER_CUBIC) > COVERED).astype(np.uint8)
    step = STEP_MM / FINE
    mask = np.asarray(cv2.morphologyEx(mask, cv2.MORPH_CLOSE, round_px(round(APART_MM / step / 2))), dtype=np.uint8)
    edge = cv2.dilate((~(cover.seen & ON_RAILS_TOO)).astype(np.uint8), np.ones((3, 3), np.uint8))
    edge = cv2.resize(edge, (side, side), interpolation=cv2.INTER_NEAREST)
    deep = cv2.distanceTransform(mask, cv2.DIST_L2, 5) * step
    shapes, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    out: list[Occluder] = []
    for shape in sorted(shapes, key=cv2.contourArea, reverse=True):
        if cv2.contourArea(shape) < FEWEST_CELLS * FINE**2:
            break
        inside = cv2.drawContours(np.zeros_like(mask), [shape], -1, 1, cv2.FILLED) > 0
        long_mm = max(cv2.minAreaRect(shape)[1]) * step
        slender = float(deep[inside].max()) < CUE_HALF_MM and long_mm > CUE_LONG_MM
        kind = "cue" if slender else "hand" if (edge[inside] > 0).any() else "other"
        corners = cv2.approxPolyDP(shape, SLACK_MM / step, True).reshape(-1, 2) + 0.5
        table_mm = np.stack([corners[:, 0] * step - HALF_SEEN_MM, HALF_SEEN_MM - corners[:, 1] * step, np.zeros(len(corners))], axis=1)
        out.append(Occluder(kind=kind, polygon_px=[(round(x, 1), round(y, 1)) for x, y in camera.to_px(table_mm).tolist()]))
    return out


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
        Places are where each disc's axis meets the table plane, in table mm, with one sigma per axis. Occluders are outlines in pixels;
        none without the network.

    Raises
    ------
    InputUnusable
        When the picture is not of the size the camera is calibrated for.
    """
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
        raise InputUnusable(f"a picture of uint8 BGR is needed, not {image.dtype} of shape {image.shape}")
    camera.lens.check_size(image.shape[1], image.shape[0], "detect")
    found = find_discs(image, camera, None if geometry_alone else eyes())
    network = None if geometry_alone else Occluders.load()
    occluders: list[Occluder] = []
    if network is not None:
        cover = network.cover(image, camera)
        found = [one for one in found if not _is_under(cover, camera, one)]
        occluders = outlines(cover, camera)
    return SeenDiscs(discs=[_record(one, camera) for one in found], occluders=occluders)
