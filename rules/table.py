"""The table: dimensions, sides, pockets and zones, in table mm (000 sections 24-26; frame: x right/east, y away/north, z up).

Every figure is nominal; calibration may replace line positions by measured ones. Nothing here does I/O.
"""

from __future__ import annotations

import math
from typing import Final, Literal

Side = Literal["S", "N", "W", "E"]
Pocket = Literal["SW", "SE", "NE", "NW"]
Kind = Literal["red", "black", "striker"]
Colour = Literal["red", "black"]
Zone = Literal["S", "N", "W", "E", "circle"]

SIDES: Final[tuple[Side, ...]] = ("S", "N", "W", "E")
ZONES: Final[tuple[Zone, ...]] = ("S", "N", "W", "E", "circle")
CLOCKWISE: Final[tuple[Side, ...]] = ("S", "W", "N", "E")  # seen from above (21.1)

HALF_MM: Final = 500.0  # 24.1: 1 m playing surface
RAIL_WIDTH_MM: Final = 45.0  # 24.1
RAIL_HEIGHT_MM: Final = 25.0  # 24.1
POCKET_RADIUS_MM: Final = 50.0  # 24.1: holes 100 mm across
POCKETS_MM: Final[dict[Pocket, tuple[float, float]]] = {  # 24.1: edge 15 mm from both rails
    "SW": (-435.0, -435.0),
    "SE": (435.0, -435.0),
    "NE": (435.0, 435.0),
    "NW": (-435.0, 435.0),
}
LINE_WIDTH_MM: Final = 1.0  # 24.2
ZONE_LINE_MM: Final = 370.0  # 24.2: centreline 130 mm from each rail
CIRCLE_RADIUS_MM: Final = 125.0  # 24.2: centreline
PIECE_DIAMETER_MM: Final = 30.0  # 25.1
PIECE_THICKNESS_MM: Final = 12.0  # 25.1
PIECE_HOLE_MM: Final = 8.0  # 25.1
STRIKER_DIAMETER_MM: Final = 44.5  # 26.1: 44-45
STRIKER_THICKNESS_MM: Final = 14.5  # 26.1: 14-15
STRIKER_HOLE_MM: Final = 10.1  # 26.1: 10-10.2
HALF_LINE_MM: Final = LINE_WIDTH_MM / 2

# Unit vector from the centre toward each side's rail.
TOWARD: Final[dict[Side, tuple[int, int]]] = {"S": (0, -1), "N": (0, 1), "W": (-1, 0), "E": (1, 0)}
OPPOSITE: Final[dict[Side, Side]] = {"S": "N", "N": "S", "W": "E", "E": "W"}


def is_striker(kind: str) -> bool:
    """Told by size, never by colour (26.1; strikers come bare, red and black)."""
    return kind == "striker"


def radius_mm(kind: str) -> float:
    """Outer radius of a disc of this kind (25.1, 26.1)."""
    return (STRIKER_DIAMETER_MM if is_striker(kind) else PIECE_DIAMETER_MM) / 2


def thickness_mm(kind: str) -> float:
    """Height of the upper face above the table plane (25.1, 26.1)."""
    return STRIKER_THICKNESS_MM if is_striker(kind) else PIECE_THICKNESS_MM


def hole_radius_mm(kind: str) -> float:
    """Radius of the hole (25.1, 26.1)."""
    return (STRIKER_HOLE_MM if is_striker(kind) else PIECE_HOLE_MM) / 2


def depth_mm(side: Side, x_mm: float, y_mm: float, line_mm: float = ZONE_LINE_MM) -> float:
    """How far a point lies beyond a side's zone line toward its rail; `line_mm` is that line's distance from the centre."""
    dx, dy = TOWARD[side]
    return dx * x_mm + dy * y_mm - line_mm


def clearances_mm(
    kind: str,
    x_mm: float,
    y_mm: float,
    lines_mm: dict[Side, float] | None = None,
    circle_mm: tuple[float, float, float] = (0.0, 0.0, CIRCLE_RADIUS_MM),
) -> dict[Zone, float]:
    """`clearance_mm` of the contract for every zone: >= 0 no line visible in the hole, seen from straight above (11.2).

    `lines_mm`: measured distances of the zone lines from the centre (positive); `circle_mm`: measured x, y, radius.
    """
    need = hole_radius_mm(kind) + HALF_LINE_MM
    out: dict[Zone, float] = {}
    for side in SIDES:
        line = ZONE_LINE_MM if lines_mm is None else lines_mm[side]
        out[side] = depth_mm(side, x_mm, y_mm, line) - need
    cx, cy, radius = circle_mm
    out["circle"] = radius - need - math.hypot(x_mm - cx, y_mm - cy)
    return out
