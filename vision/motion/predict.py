"""Where discs should be in the next frame, collisions included.

Equal discs look alike: after a head-on hit the incoming one stands where the other was. Prediction that lets discs pass through
each other would swap them, so one frame ahead is simulated with impacts along the line of centres.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rules.table import HALF_MM
from vision.motion.outline import Shape

Array = NDArray[np.float64]

FRICTION_MM_S2: Final = 1000.0  # wood on powdered wood: mu about 0.1 of g
_BOUNCE_DISC: Final = 0.85  # restitution disc on disc, wood on wood
RAIL_BOUNCE: Final = 0.7  # restitution at a rail
HOPS_OVER_MM_S: Final = 2000.0  # straight at a rail: slower discs bounce off it, and one that is gone there was mistaken for another
_STEP_MM: Final = 4.0  # longest way in one step: a quarter of a piece's radius


@dataclass(slots=True, eq=False)
class Body:
    """A disc in the simulation of one frame; `mass` in any unit common to all.

    `flown_mm`: where (2,) it came at a rail so fast that it may have gone over it; kept while it is out of sight. `flown`: it is out of
    sight since.
    """

    shape: Shape
    at_mm: Array
    velocity_mm_s: Array
    flown_mm: Array | None = None
    flown: bool = False

    @property
    def mass(self) -> float:
        """Same wood for all: volume."""
        return self.shape.radius_mm**2 * self.shape.height_mm


def advance(bodies: list[Body], seconds: float) -> None:
    """Move all bodies by `seconds`, in place."""
    fastest = max((float(np.hypot(*b.velocity_mm_s)) for b in bodies), default=0.0)
    if fastest == 0.0:
        return
    steps = int(np.clip(np.ceil(fastest * seconds / _STEP_MM), 1, 60))
    dt = seconds / steps
    radius_mm = [body.shape.radius_mm for body in bodies]
    for _ in range(steps):
        for body in bodies:
            if not body.velocity_mm_s.any():
                continue
            speed = float(np.hypot(*body.velocity_mm_s))
            body.at_mm = body.at_mm + body.velocity_mm_s * dt
            body.velocity_mm_s = body.velocity_mm_s * max(0.0, 1 - FRICTION_MM_S2 * dt / speed)
            _rails(body)
        # Pairs far apart are told in plain numbers: asked of arrays, 171 pairs in 20 steps took longer than a frame lasts.
        moves = [bool(body.velocity_mm_s.any()) for body in bodies]
        places_mm: list[list[float]] = [body.at_mm.tolist() for body in bodies]
        for i, (x, y) in enumerate(places_mm):
            for j in range(i + 1, len(bodies)):
                reach = radius_mm[i] + radius_mm[j]
                if (moves[i] or moves[j]) and abs(places_mm[j][0] - x) < reach and abs(places_mm[j][1] - y) < reach:
                    _collide(bodies[i], bodies[j])
                    moves[i], moves[j] = bool(bodies[i].velocity_mm_s.any()), bool(bodies[j].velocity_mm_s.any())


def advance_apart(bodies: Mapping[str, Body], apart: Collection[str], seconds: float) -> None:
    """Move all bodies, those `apart` through all others, in place."""
    advance([body for name, body in bodies.items() if name not in apart], seconds)
    for name in apart:
        advance([bodies[name]], seconds)


def _rails(body: Body) -> None:
    limit = HALF_MM - body.shape.radius_mm
    for axis in (0, 1):
        if abs(body.at_mm[axis]) > limit and body.at_mm[axis] * body.velocity_mm_s[axis] > 0:
            if body.flown_mm is None and abs(float(body.velocity_mm_s[axis])) > HOPS_OVER_MM_S:
                body.flown_mm = body.at_mm
            body.velocity_mm_s = body.velocity_mm_s.copy()
            body.velocity_mm_s[axis] *= -RAIL_BOUNCE
            body.at_mm = body.at_mm.copy()
            body.at_mm[axis] = np.sign(body.at_mm[axis]) * limit


def _collide(a: Body, b: Body) -> None:
    between = b.at_mm - a.at_mm
    reach = a.shape.radius_mm + b.shape.radius_mm
    gap2 = float(between @ between)
    if gap2 >= reach * reach or gap2 == 0.0:
        return
    normal = between / np.sqrt(gap2)
    closing = float((a.velocity_mm_s - b.velocity_mm_s) @ normal)
    if closing <= 0:
        return
    impulse = (1 + _BOUNCE_DISC) * closing / (1 / a.mass + 1 / b.mass)
    a.velocity_mm_s = a.velocity_mm_s - impulse / a.mass * normal
    b.velocity_mm_s = b.velocity_mm_s + impulse / b.mass * normal
