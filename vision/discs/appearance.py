"""What the parts of a disc look like: light that is linear in a few unknowns, solved anew at every step of the fit.

Nothing is known beforehand about colour, lamp or shadow. Outside the outline every direction has a level of its own (a shadow, a
rail or a neighbour is just another level); wall and rounded edge are lit by direction; the face is lit smoothly; the hole shows
its wall and, where the line of sight gets through, the floor.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.discs.regions import STATE, Curves

Array = NDArray[np.float64]

SECTOR_MM: Final = 5.0  # length of outline that shares one level outside: about the size of a shadow's detail
DRIFT_MM: Final = 3.0  # unit of the outside light's change away from the outline


@dataclass(frozen=True, slots=True)
class Design:
    """Design matrix (N, columns), ridge (columns, columns), and the blocks' column ranges with their unweighted bases."""

    matrix: Array
    ridge: Array
    blocks: tuple[tuple[slice, Array], ...]


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


def sector_count(radius_mm: float) -> int:
    """Levels around a disc of this radius."""
    return round(2 * np.pi * radius_mm / SECTOR_MM)


def design(curves: Curves, radius_mm: float, blur_mm: float) -> Design:
    """Linear model of the light of every pixel for given curves."""
    count = sector_count(radius_mm)
    around = _harmonics(curves.outline_direction, 1)
    outside = np.concatenate([_sectors(curves.outline_direction, count), around * (curves.outline.distance / DRIFT_MM)[:, None]], axis=1)
    edge = _harmonics(curves.face_direction, 1)
    u, v = (curves.face_direction * (curves.face_distance / radius_mm)[:, None]).T
    face = np.stack([np.ones_like(u), u, v, u * u, u * v, v * v], axis=1)
    through = np.ones((len(u), 1))
    bases = (outside, around, edge, face, edge, through)
    outline = curves.outline.cover(blur_mm)
    crest = np.minimum(curves.crest.cover(blur_mm), outline)
    flat = np.minimum(curves.face.cover(blur_mm), crest)
    hole = curves.hole.cover(blur_mm)
    seen = hole * curves.floor.cover(blur_mm)
    shares = (1 - outline, outline - crest, crest - flat, flat - hole, hole - seen, seen)
    ends = np.cumsum([0] + [basis.shape[1] for basis in bases])
    columns = [slice(int(a), int(b)) for a, b in itertools.pairwise(ends)]
    matrix = np.concatenate([basis * share[:, None] for basis, share in zip(bases, shares, strict=True)], axis=1)
    # Weak pulls towards smoothness: they only decide where pixels say nothing (a wall that is not seen, a hidden sector).
    ridge = np.diag(np.full(int(ends[-1]), 1e-3))
    for block, pull in ((1, 0.5), (2, 0.5), (4, 0.3), (5, 0.3)):
        ridge[columns[block], columns[block]] += pull * np.eye(bases[block].shape[1])
    drift = slice(count, int(ends[1]))
    ridge[drift, drift] += 3.0 * np.eye(3)
    step = np.roll(np.eye(count), 1, axis=1) - np.eye(count)
    ridge[:count, :count] += 0.05 * step.T @ step
    return Design(matrix, ridge, tuple(zip(columns, bases, strict=True)))


def light_gradient(curves: Curves, model: Design, levels: Array, blur_mm: float) -> Array:
    """Derivative (N, 3, 4) of the modelled light by x, y, radius and height for solved `levels` (columns, 3)."""
    outside, wall, edge, face, inner, through = (basis @ levels[columns] for columns, basis in model.blocks)
    seen = curves.floor.cover(blur_mm)[:, None]
    hole = curves.hole.cover(blur_mm)[:, None]
    steps = (
        (curves.outline, wall - outside),
        (curves.crest, edge - wall),
        (curves.face, face - edge),
        (curves.hole, inner - face + seen * (through - inner)),
        (curves.floor, hole * (through - inner)),
    )
    out = np.zeros((len(hole), levels.shape[1], STATE))
    for curve, step in steps:
        out -= (curve.density(blur_mm)[:, None] * step)[:, :, None] * curve.gradient[:, None, :]
    return out
