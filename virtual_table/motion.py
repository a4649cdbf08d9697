"""Where every disc is at every instant: exact pieces of motion between two events, never samples of it."""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field
from typing import NamedTuple

from rules.table import Kind, radius_mm


class Piece(NamedTuple):
    """From `t` on: position + velocity dt + acceleration dt^2 / 2, until `stop` where it rests; the angle turns alike."""

    t: float
    x: float
    y: float
    z: float
    vx: float
    vy: float
    vz: float
    ax: float
    ay: float
    az: float
    stop: float
    angle: float
    spin: float
    on_table: bool = True


class Place(NamedTuple):
    """One disc at one instant; (x, y) is the axis on the table plane, z the lower face (below 0: falling into a pocket)."""

    x_mm: float
    y_mm: float
    z_mm: float
    vx_mm_s: float
    vy_mm_s: float
    angle_rad: float
    on_table: bool

    @property
    def speed_mm_s(self) -> float:
        """Speed over the table."""
        return float((self.vx_mm_s**2 + self.vy_mm_s**2) ** 0.5)


def _at(piece: Piece, t: float) -> Place:
    dt = max(0.0, min(t, piece.stop) - piece.t)
    half = dt * dt / 2
    resting = t >= piece.stop
    return Place(
        piece.x + piece.vx * dt + piece.ax * half,
        piece.y + piece.vy * dt + piece.ay * half,
        piece.z + piece.vz * dt + piece.az * half,
        0.0 if resting else piece.vx + piece.ax * dt,
        0.0 if resting else piece.vy + piece.ay * dt,
        piece.angle + piece.spin * dt,
        piece.on_table,
    )


@dataclass(slots=True)
class Track:
    """One disc's whole way; pieces only ever get added at the end."""

    id: str
    kind: Kind
    pieces: list[Piece] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    @property
    def radius_mm(self) -> float:
        """Outer radius."""
        return radius_mm(self.kind)

    def add(self, piece: Piece) -> None:
        """The disc goes on like this from `piece.t` on; a piece of the same time is replaced."""
        while self.times and self.times[-1] >= piece.t:
            self.pieces.pop()
            self.times.pop()
        self.pieces.append(piece)
        self.times.append(piece.t)

    def put(self, t: float, x: float, y: float, angle: float = 0.0, z: float = 0.0) -> None:
        """The disc rests here from `t` on."""
        self.add(Piece(t, x, y, z, 0, 0, 0, 0, 0, 0, t, angle, 0))

    def remove(self, t: float) -> None:
        """The disc is away from `t` on (in a bag, in a hand)."""
        last = self.pieces[-1]
        self.add(Piece(t, last.x, last.y, 0, 0, 0, 0, 0, 0, 0, t, 0, 0, on_table=False))

    def at(self, t: float) -> Place | None:
        """Place at `t`, or None where the disc has not existed yet."""
        index = bisect.bisect_right(self.times, t) - 1
        return None if index < 0 else _at(self.pieces[index], t)
