"""A piece in a hand: about where it is, while fingers hide part of it and nobody knows how high it is held.

Its colour is that of the pieces of its kind which lie on the table, under the same lamps; its rim is a circle of known size. Each point of
the rim says where the middle would be, one radius inward, and the middle is where most of them agree (Ballard 1981, for one radius).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.above import from_above
from calibration.camera import Camera
from rules.facts import Held, SeenDisc
from rules.table import HALF_MM, PIECE_DIAMETER_MM, PIECE_HOLE_MM, PIECE_THICKNESS_MM, POCKET_RADIUS_MM, POCKETS_MM, Kind, radius_mm
from vision.motion.scene import SHRINK, Mask
from vision.occluders import round_px

Array = NDArray[np.float64]
Image = NDArray[np.uint8]

LIFT_MM: Final = 12.0  # a piece that is being brought to its place is held 0 to 40 mm above the table
LIFT_SIGMA_MM: Final = 12.0
_FIT_MM: Final = 2.0  # sigma of the middle from a part of the rim, fingers beside it
_PX_PER_MM: Final = 1.0  # about the camera's own
_RADIUS_MM: Final = PIECE_DIAMETER_MM / 2
_SEEN_RADII_MM: Final = (_RADIUS_MM, _RADIUS_MM - 1.4)  # a bevel in another light is no longer in the face's colour
_FACE_MM: Final = (PIECE_HOLE_MM / 2 + 1.5, _RADIUS_MM - 2.5)  # of a face, the hole's edge and the bevel left out
_LEAST_FACES: Final = 2  # pieces on the table from which a kind's colour is learned
_TINT: Final = 16.0  # distance in a and b of 8-bit Lab; one kind's pieces differ by up to 8, skin and wood from red by 25 and more
_LIGHT: Final = (0.45, 1.7)  # of the faces' lightness: in a palm's shade, and nearer to a lamp
_GLOSS: Final = 25.0  # levels of lightness that gloss adds to a black face
_L_ZERO: Final = 40.8  # 8-bit Lab: L + 40.8, a - 128 and b - 128 go with the cube root of the light
_GREY: Final = 128.0
_AT_HAND_MM: Final = 24.0  # beyond what counts as a hand: the far rim of a piece between fingertips
_SMOOTH_PX: Final = 1.2  # of a mask: about the rim's own blur
_SLOPE: Final = 0.08  # of the smoothed mask at an edge; a straight one has 0.33
_RIM_MM: Final = 1.8  # an edge this far off the circle belongs to it
_ALONG: Final = 0.8  # cosine of the largest angle between an edge's normal and the radius
_SECTORS: Final = 36  # of the rim
_LEAST_RIM: Final = 0.33  # of them that must show an edge
_LEAST_FACE: Final = 0.2  # of the face in its colour
_LEAST_SEEN: Final = 0.85  # of the two together: little face with much rim is a finger across it, little of both may be anything
_AROUND_MM: Final = (_RADIUS_MM + 2.5, _RADIUS_MM + 7.0)
_MOST_AROUND: Final = 0.3  # of the ring around it in its colour: a sleeve is no piece
_LARGEST: Final = 1.3  # faces; what hangs together with it in its colour and is larger is a sleeve, a glove or a hand
_VOTE_PX: Final = 2.5  # of the votes: normals of a noisy edge are off by ten degrees
_TRIED: Final = 6  # strongest places looked at closely
_POCKET_MM: Final = POCKET_RADIUS_MM + 8.0  # a pocket's cloth is seen past its edge
_SLACK_MM: Final = 3.0  # around discs that lie at rest: blur and shadow


def find_held(
    image: Image,
    camera: Camera,
    kinds: Iterable[Kind],
    centre_mm: tuple[float, float],
    half_mm: float,
    discs: Sequence[SeenDisc],
    hands: Mask,
) -> Held | None:
    """Look for a piece in a hand.

    Parameters
    ----------
    image : uint8 BGR (height, width, 3)
    kinds
        Kinds that are to be placed.
    centre_mm, half_mm
        Square of the table (x, y and half its side, mm) in which it is looked for.
    discs
        The live picture: what lies at rest is not in a hand, and tells the colours.
    hands : bool, the scene's small picture
        What covers the table and is no disc.

    Returns
    -------
    Held or None
        The most complete one, as if its lower face were `LIFT_MM` above the table; `sigma_mm` covers that this is not known. None where
        nothing shows enough of a rim, or where too few pieces of the kind lie on the table to know its colour.
    """
    side = round(2 * half_mm * _PX_PER_MM)
    height_mm = LIFT_MM + PIECE_THICKNESS_MM
    lab = cv2.cvtColor(from_above(image, camera, centre_mm, _PX_PER_MM, (side, side), height_mm), cv2.COLOR_BGR2LAB).astype(np.float32)
    covered = _seen_above(hands, camera, centre_mm, side, height_mm)
    may_be = _at_hand(covered, centre_mm) & ~_taken(camera, centre_mm, side, height_mm, discs)
    others = [np.median(lab[part], axis=0) for part in (covered, ~covered) if np.count_nonzero(part) > side]
    best: tuple[float, Held] | None = None
    for kind in dict.fromkeys(kinds):
        faces = _faces(image, camera, kind, discs)
        found = None if len(faces) < _LEAST_FACES else _circle(_in_colour(lab, faces, others) & may_be)
        if found is None or (best is not None and found.score <= best[0]):
            continue
        at_mm = np.array(centre_mm) + (found.at_px - side / 2) / _PX_PER_MM * (1, -1)
        away_mm = float(np.hypot(*(at_mm - camera.centre_mm[:2])))
        sigma_mm = float(np.hypot(_FIT_MM, away_mm / camera.centre_mm[2] * LIFT_SIGMA_MM))
        best = found.score, Held(kind=kind, x_mm=round(float(at_mm[0]), 1), y_mm=round(float(at_mm[1]), 1), sigma_mm=round(sigma_mm, 1))
    return best[1] if best is not None else None


# --- where and in which colour it may be ------------------------------------------------------------------------------


def _grid_mm(centre_mm: tuple[float, float], side: int) -> tuple[Array, Array]:
    along = (np.arange(side) - side / 2) / _PX_PER_MM
    return np.broadcast_to(centre_mm[0] + along, (side, side)), np.broadcast_to((centre_mm[1] - along)[:, None], (side, side))


def _seen_above(hands: Mask, camera: Camera, centre_mm: tuple[float, float], side: int, height_mm: float) -> Mask:
    """The small picture's mask of hands, in the view."""
    found = from_above(
        hands.astype(np.uint8), camera, centre_mm, _PX_PER_MM, (side, side), height_mm, factor=SHRINK, interpolation=cv2.INTER_NEAREST
    )
    out: Mask = found > 0
    return out


def _at_hand(covered: Mask, centre_mm: tuple[float, float]) -> Mask:
    """Places of the view at a hand, over the playing surface and no pocket."""
    reach = round(_AT_HAND_MM * _PX_PER_MM)
    around = round_px(reach)
    near = cv2.dilate(covered.astype(np.uint8), around)
    side = len(covered)
    x, y = _grid_mm(centre_mm, side)
    out: Mask = (near > 0) & (np.maximum(np.abs(x), np.abs(y)) < HALF_MM)
    for px, py in POCKETS_MM.values():
        out &= (x - px) ** 2 + (y - py) ** 2 > _POCKET_MM**2
    return out


def _taken(camera: Camera, centre_mm: tuple[float, float], side: int, height_mm: float, discs: Sequence[SeenDisc]) -> Mask:
    """Places of the view where discs at rest are seen."""
    out: Mask = np.zeros((side, side), bool)
    x, y = _grid_mm(centre_mm, side)
    eye = camera.centre_mm
    for disc in discs:
        if disc.at_rest is False:
            continue
        # What lies lower is seen on the view's plane a little nearer to the camera's foot.
        part = (eye[2] - height_mm) / (eye[2] - PIECE_THICKNESS_MM)
        at_x, at_y = eye[0] + (disc.x_mm - eye[0]) * part, eye[1] + (disc.y_mm - eye[1]) * part
        out |= (x - at_x) ** 2 + (y - at_y) ** 2 < (radius_mm(disc.kind) + _SLACK_MM) ** 2
    return out


def _faces(image: Image, camera: Camera, kind: Kind, discs: Sequence[SeenDisc]) -> Array:
    """Median Lab of the face of each disc of a kind that lies at rest, (N, 3)."""
    lying = [disc for disc in discs if disc.kind == kind and disc.at_rest is not False]
    angle = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    ring = np.concatenate([r * np.c_[np.cos(angle), np.sin(angle)] for r in np.linspace(*_FACE_MM, 3)])
    out = []
    for disc in lying:
        at = np.c_[ring + (disc.x_mm, disc.y_mm), np.full(len(ring), PIECE_THICKNESS_MM)]
        px = np.rint(camera.to_px(at)).astype(int)
        inside = (px >= 0).all(axis=1) & (px < image.shape[1::-1]).all(axis=1)
        if inside.all():
            lab = cv2.cvtColor(image[px[:, 1], px[:, 0]][None], cv2.COLOR_BGR2LAB)[0]
            out.append(np.median(lab.astype(np.float64), axis=0))
    return np.array(out).reshape(-1, 3)


def _in_colour(lab: NDArray[np.float32], faces: Array, others: Sequence[NDArray[np.float32]]) -> Mask:
    """Where the view has the faces' colour, and not rather that of skin or table in the shade."""
    light, *tint = np.median(faces, axis=0)
    off = np.hypot(lab[..., 1] - tint[0], lab[..., 2] - tint[1])
    out: Mask = (off < _TINT) & (lab[..., 0] > _LIGHT[0] * light) & (lab[..., 0] < max(_LIGHT[1] * light, light + _GLOSS))
    for other in others:
        # In the shade all three shrink together, L from its own zero.
        shade = (lab[..., 0] + _L_ZERO) / (other[0] + _L_ZERO)
        out &= off < np.hypot(lab[..., 1] - _GREY - (other[1] - _GREY) * shade, lab[..., 2] - _GREY - (other[2] - _GREY) * shade)
    return out


# --- the circle -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Circle:
    at_px: Array
    score: float


def _circle(mask: Mask) -> _Circle | None:
    """The most complete face in a mask of its colour."""
    mask = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8)) > 0  # noise leaves single pixels out
    soft = cv2.GaussianBlur(mask.astype(np.float32), (0, 0), _SMOOTH_PX)
    slope = np.stack([cv2.Sobel(soft, cv2.CV_32F, 1, 0, scale=1 / 8), cv2.Sobel(soft, cv2.CV_32F, 0, 1, scale=1 / 8)], axis=-1)
    steep = np.hypot(slope[..., 0], slope[..., 1])
    ys, xs = np.nonzero((steep > _SLOPE) & (soft > 0.25) & (soft < 0.75))
    if not len(xs):
        return None
    edge = np.c_[xs, ys].astype(np.float64)
    inward = slope[ys, xs] / steep[ys, xs, None]
    middle = np.rint(np.concatenate([edge + inward * seen_mm * _PX_PER_MM for seen_mm in _SEEN_RADII_MM])).astype(int)
    inside = (middle >= 0).all(axis=1) & (middle < mask.shape[1::-1]).all(axis=1)
    votes = np.zeros(mask.shape, np.float32)
    np.add.at(votes, (middle[inside, 1], middle[inside, 0]), 1.0)
    votes = np.asarray(cv2.GaussianBlur(votes, (0, 0), _VOTE_PX), dtype=np.float32)
    parts = _Parts(mask)
    best: _Circle | None = None
    for _ in range(_TRIED):
        _, most, _, (x, y) = cv2.minMaxLoc(votes)
        if most <= 0:
            break
        fits = [_closely(parts, edge, inward, np.array([x, y], dtype=np.float64), seen_mm * _PX_PER_MM) for seen_mm in _SEEN_RADII_MM]
        best = max([fit for fit in (best, *fits) if fit is not None], key=lambda fit: fit.score, default=None)
        cv2.circle(votes, (x, y), round(_RADIUS_MM * _PX_PER_MM / 2), 0.0, -1)
    return best


class _Parts:
    """A mask and the pieces that hang together in it."""

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        _, self._labels, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
        self._areas = stats[:, cv2.CC_STAT_AREA]
        self._cut_off = np.unique(np.concatenate([self._labels[0], self._labels[-1], self._labels[:, 0], self._labels[:, -1]]))

    def _ring(self, at_px: Array, low_mm: float, high_mm: float) -> tuple[tuple[slice, slice], Mask]:
        """A part of the mask, and the ring in it."""
        reach = int(high_mm * _PX_PER_MM) + 2
        x, y = np.rint(at_px).astype(int).tolist()
        rows, columns = slice(max(y - reach, 0), max(y + reach + 1, 0)), slice(max(x - reach, 0), max(x + reach + 1, 0))
        ys, xs = np.mgrid[rows.start : min(rows.stop, len(self._mask)), columns.start : min(columns.stop, self._mask.shape[1])]
        away = np.hypot(xs - at_px[0], ys - at_px[1]) / _PX_PER_MM
        ring: Mask = (away >= low_mm) & (away <= high_mm)
        return (rows, columns), ring

    def share(self, at_px: Array, low_mm: float, high_mm: float) -> float:
        """Share of a ring that is in the mask."""
        part, ring = self._ring(at_px, low_mm, high_mm)
        return float(self._mask[part][ring].mean()) if ring.any() else 0.0

    def is_alone(self, at_px: Array) -> bool:
        """Whether what is in the face is no part of something larger, or of something that the view cuts off."""
        part, ring = self._ring(at_px, 0.0, _RADIUS_MM)
        here = np.unique(self._labels[part][ring])
        if np.isin(here[here > 0], self._cut_off).any():
            return False
        return int(self._areas[here[here > 0]].sum()) < _LARGEST * np.pi * (_RADIUS_MM * _PX_PER_MM) ** 2


def _closely(parts: _Parts, edge: Array, inward: Array, at_px: Array, radius_px: float) -> _Circle | None:
    """Fit the circle to the edges that belong to it, and say how much of a piece is seen."""
    for _ in range(3):
        out = edge - at_px
        away = np.maximum(np.hypot(out[:, 0], out[:, 1]), 1e-6)
        ray = out / away[:, None]
        rim = (np.abs(away - radius_px) < _RIM_MM * _PX_PER_MM) & ((ray * inward).sum(axis=1) < -_ALONG)
        if np.count_nonzero(rim) < _SECTORS * _LEAST_RIM:
            return None
        at_px = at_px + np.linalg.lstsq(ray[rim], away[rim] - radius_px, rcond=None)[0]
    sectors = np.floor((np.arctan2(ray[rim, 1], ray[rim, 0]) / (2 * np.pi) + 0.5) * _SECTORS).astype(int) % _SECTORS
    seen = len(np.unique(sectors)) / _SECTORS
    face, around = (parts.share(at_px, low, high) for low, high in (_FACE_MM, _AROUND_MM))
    if seen < _LEAST_RIM or face < _LEAST_FACE or seen + face < _LEAST_SEEN or around > _MOST_AROUND or not parts.is_alone(at_px):
        return None
    return _Circle(at_px, seen + face - around)
