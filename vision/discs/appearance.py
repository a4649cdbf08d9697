"""What the parts of a disc look like: light that is linear in a few unknowns, solved anew at every step of the fit.

Nothing is known beforehand about colour, lamp or shadow. Outside the outline every direction has a level of its own (a shadow, a
rail or a neighbour is just another level). The face near its rim, the middle of the rounded edge and the wall follow the lamp's
direction, with a level of their own per direction where pixels insist (a hard shadow, bare wood on a worn rim). Around the hole
the face is lit smoothly; the hole shows its wall and, where the line of sight gets through, the floor.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.discs.regions import STATE, Curve, Curves

Array = NDArray[np.float64]

SECTOR_MM: Final = 5.0  # length of outline that shares one level: about the size of a shadow's or a chip's detail
DRIFT_MM: Final = 3.0  # unit of the light's change away from a curve
WALL_DRIFT_MM: Final = 4.0  # the same down the wall, in the view's plane

# Ridge strengths, in pixels' worth of evidence: how much it takes before a part leaves what its neighbours show.
_TINY: Final = 1e-3  # keeps a hidden part's levels finite
_OWN_LEVEL: Final = 1.0  # a sector of wall or rounded edge against the lamp's direction alone
_FACE_LEVEL: Final = 0.3  # a sector of the face: shadows of other discs cross it
_OUTSIDE_STEP: Final = 0.5  # neighbouring sectors outside against each other
_OUTSIDE_DRIFT: Final = 3.0
_DRIFT: Final = 1.0
_LEVEL: Final = 0.1
_HOLE: Final = 0.3


@dataclass(frozen=True, slots=True)
class Design:
    """Design matrix (N, columns), ridge (columns, columns), the blocks' column ranges with their unshared bases, and the rim."""

    matrix: Array
    ridge: Array
    blocks: tuple[tuple[slice, Array], ...]
    rim: Curve


def _harmonics(unit: Array, order: int) -> Array:
    """1, cos, sin, cos 2, sin 2, ... of the direction, (N, 1 + 2 order)."""
    turn = unit[:, 0] + 1j * unit[:, 1]
    power = np.ones(len(unit), dtype=np.complex128)
    columns = [np.ones(len(unit))]
    for _ in range(order):
        power = power * turn
        columns += [power.real, power.imag]
    return np.stack(columns, axis=1)


def _sectors(unit: Array, count: int) -> Array:
    """Linear interpolation between `count` levels around the circle, (N, count)."""
    place = (np.arctan2(unit[:, 1], unit[:, 0]) / (2 * np.pi) * count) % count
    lower = place.astype(np.intp)
    share = place - lower
    basis = np.zeros((len(unit), count))
    rows = np.arange(len(unit))
    basis[rows, lower % count] = 1 - share
    basis[rows, (lower + 1) % count] += share
    return basis


def _hats(rim: Curve) -> tuple[Array, Array, Array]:
    """Weights of face, middle and wall along the rounded edge; they add up to one."""
    s = rim.distance
    return np.clip(1 - 2 * s, 0, 1), 1 - np.abs(2 * s - 1), np.clip(2 * s - 1, 0, 1)


def design(curves: Curves, radius_mm: float, hole_radius_mm: float, blur_mm: float, stiff: float = 1.0) -> Design:
    """Linear model of the light of every pixel for given curves; `stiff` > 1 lets single sectors differ less."""
    count = round(2 * np.pi * radius_mm / SECTOR_MM)
    around = _harmonics(curves.face_direction, 1)
    sectors = _sectors(curves.face_direction, count)
    outward = curves.outline.distance[:, None] / DRIFT_MM
    inward = np.minimum(curves.face.distance, 0.0)[:, None] / DRIFT_MM
    down = np.maximum(curves.crest.distance, 0.0)[:, None] / WALL_DRIFT_MM
    from_hole = curves.hole.distance[:, None] / DRIFT_MM
    bases = (
        np.concatenate([_sectors(curves.outline_direction, count), _harmonics(curves.outline_direction, 1) * outward], axis=1),
        np.concatenate([around, sectors, around * down], axis=1),
        np.concatenate([around, sectors], axis=1),
        np.concatenate([around, sectors, around * inward], axis=1),
        np.concatenate([_harmonics(curves.face_direction, 2), around * from_hole], axis=1),
        around,
        np.ones((len(around), 1)),
    )
    rim = curves.rim()
    to_face, to_middle, to_wall = _hats(rim)
    solid = curves.outline.cover(blur_mm)
    hole = curves.hole.cover(blur_mm)
    seen = hole * curves.floor.cover(blur_mm)
    face = solid * to_face * (1 - hole)
    near_hole = curves.face_distance < (radius_mm + hole_radius_mm) / 2
    shares = (1 - solid, solid * to_wall, solid * to_middle, face * ~near_hole, face * near_hole, hole - seen, seen)
    ends = np.cumsum([0] + [basis.shape[1] for basis in bases])
    columns = [slice(int(a), int(b)) for a, b in itertools.pairwise(ends)]
    matrix = np.concatenate([basis * share[:, None] for basis, share in zip(bases, shares, strict=True)], axis=1)
    return Design(matrix, _ridge(columns, count, stiff), tuple(zip(columns, bases, strict=True)), rim)


def _ridge(columns: list[slice], count: int, stiff: float) -> Array:
    outside, wall, middle, face, near_hole, inner, through = columns
    pull = np.full(through.stop, _TINY)
    pull[outside.start + count : outside.stop] += _OUTSIDE_DRIFT
    pull[wall] += _LEVEL
    pull[wall.start + 3 : wall.start + 3 + count] += stiff * _OWN_LEVEL
    pull[wall.start + 3 + count : wall.stop] += _DRIFT
    pull[middle] += _LEVEL
    pull[middle.start + 3 : middle.stop] += stiff * _OWN_LEVEL
    pull[face.start + 3 : face.start + 3 + count] += stiff * _FACE_LEVEL
    pull[face.start + 3 + count : face.stop] += _DRIFT
    pull[near_hole.stop - 3 : near_hole.stop] += _DRIFT
    pull[inner.start : through.stop] += _HOLE
    ridge = np.diag(pull)
    step = np.roll(np.eye(count), 1, axis=1) - np.eye(count)
    ridge[:count, :count] += _OUTSIDE_STEP * step.T @ step
    return ridge


def light_gradient(curves: Curves, model: Design, levels: Array, blur_mm: float) -> Array:
    """Derivative (N, 5) of the modelled light by x, y, radius, height and foot for solved `levels` (columns,)."""
    outside, wall, middle, rim_face, hole_face, inner, through = (basis @ levels[columns] for columns, basis in model.blocks)
    seen = curves.floor.cover(blur_mm)
    hole = curves.hole.cover(blur_mm)
    to_face, to_middle, to_wall = _hats(model.rim)
    profile = rim_face * to_face + middle * to_middle + wall * to_wall
    steps = (
        (curves.outline, profile - outside),
        (curves.hole, inner - hole_face + seen * (through - inner)),
        (curves.floor, hole * (through - inner)),
    )
    out = np.zeros((len(hole), STATE))
    for curve, step in steps:
        out -= (curve.density(blur_mm) * step)[:, None] * curve.gradient
    bend = np.where(model.rim.distance < 0.5, middle - rim_face, wall - middle) * (2 * curves.outline.cover(blur_mm))
    out += bend[:, None] * model.rim.gradient
    return out


def hole_contrast(curves: Curves, model: Design, levels: Array, weight: Array, blur_mm: float) -> float:
    """How far the hole stands out from the face around it, in sigmas of a pixel, averaged along its rim."""
    _, _, _, _, hole_face, inner, through = (basis @ levels[columns] for columns, basis in model.blocks)
    seen = curves.floor.cover(blur_mm)
    along = curves.hole.density(blur_mm)
    step = inner - hole_face + seen * (through - inner)
    return float(np.sqrt((along * weight * step * step).sum() / along.sum()))
