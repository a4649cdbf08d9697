"""What a table shows and where: every line, rim and edge as short stretches in table mm, with what may differ from nominal.

A stretch is sampled by points along it. `columns` say how a stretch moves when a dimension differs from its nominal figure,
so that the fit can measure the dimension instead of believing it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from rules.table import CIRCLE_RADIUS_MM, HALF_MM, POCKET_RADIUS_MM, POCKETS_MM, RAIL_HEIGHT_MM, RAIL_WIDTH_MM, SIDES, TOWARD, ZONE_LINE_MM

Array = NDArray[np.float64]
Look = Literal["ridge", "edge"]

LINE_SIGMA_MM: Final = 0.45  # zone lines are found up to a millimetre off on real tables (frame.md), rarely more than one sigma
CIRCLE_SIGMA_MM: Final = 0.2  # drawn with a compass from the centre: better than a ruled line
EXACT_SIGMA_MM: Final = 0.05  # of zone lines and circle on tables that were printed, or drawn with a template
RAIL_WIDTH_SIGMA_MM: Final = 0.8  # the outside of a frame is planed by hand more often than the inside
RAIL_SIGMA_MM: Final = 0.5  # where light and shadow put a rail's edge
POCKET_SIGMA_MM: Final = 0.12  # drilled by template
RIM_SIGMA_MM: Final = 0.5  # hole radius and the rounding of its rim, common to all four
ROUNDING_MM: Final = 1.0  # a hand-safe edge of 2 mm radius looks set back by about half of it
ROUNDING_SIGMA_MM: Final = 0.5
HEIGHT_SIGMA_MM: Final = 0.5  # rail height 25 mm (24.1)
MIDLINE_SIGMA_MM: Final = 0.7  # drawn by eye more often than the zone lines
SLANT_SIGMA: Final = 0.004  # rad; a free-hand line over 250 mm ends a millimetre off
SIDE: Final = 0.2  # cosine; a little past half way round hardly any wall shows yet with the camera above the middle of the table
NEAR_SLACK_MM: Final = 0.05  # rim rounded and lit from one side
SIDE_SLACK_MM: Final = 0.1
FAR_SLACK_MM: Final = 0.15
STRETCH_MM: Final = 48.0  # long enough to average noise and grain, short enough to lie between discs
CORNER_MM: Final = 375.0  # rails are used between the pockets' shadows


@dataclass(frozen=True, slots=True)
class Feature:
    """One line, rim or edge.

    `points_mm` (n, m, 3): n stretches of m points; `along_mm`, `across_mm` (n, m, 3): unit tangent and unit normal there;
    `columns` name -> (prior sigma in mm or rad, (n, 3) movement of a stretch's centre per unit);
    `slack_mm`: what shadows may shift it by, on top of noise.
    """

    name: str
    look: Look
    points_mm: Array
    along_mm: Array
    across_mm: Array
    columns: dict[str, tuple[float, Array]]
    slack_mm: float = 0.0


def straight(
    name: str,
    look: Look,
    ends_mm: tuple[tuple[float, float, float], tuple[float, float, float]],
    samples_per_mm: float,
    shift: tuple[str, float] | None,
    slant: tuple[str, float] | None = None,
    extra: dict[str, tuple[float, tuple[float, float, float]]] | None = None,
) -> Feature:
    """A straight feature from end to end (table mm); `shift` and `slant` name its own sideways and turning parameters."""
    start, stop = np.array(ends_mm[0]), np.array(ends_mm[1])
    length = float(np.linalg.norm(stop - start))
    n = max(1, round(length / STRETCH_MM))
    m = int(np.clip(round(length / n * samples_per_mm), 9, 96))
    t = (np.arange(n)[:, None] + (np.arange(m) + 0.5)[None, :] / m) / n
    points = start + t[..., None] * (stop - start)
    along = (stop - start) / length
    across = np.array([-along[1], along[0], 0.0])
    columns: dict[str, tuple[float, Array]] = {}
    if shift is not None:
        # A shift is counted along +x or +y, whichever the line is measured in.
        sign = 1.0 if across @ (1, 1, 0) > 0 else -1.0
        columns[shift[0]] = (shift[1], np.tile(across * sign, (n, 1)))
    if slant is not None:
        lever = (t.mean(axis=1) - 0.5) * length
        columns[slant[0]] = (slant[1], lever[:, None] * across)
    for key, (sigma, direction) in (extra or {}).items():
        columns[key] = (sigma, np.tile(np.array(direction), (n, 1)))
    ones = np.ones((n, m, 1))
    return Feature(name, look, points, along * ones, across * ones, columns)


def round_(
    name: str,
    look: Look,
    centre_mm: tuple[float, float],
    radius_mm: float,
    samples_per_mm: float,
    columns: tuple[tuple[str, float], tuple[str, float], tuple[str, float]],
) -> Feature:
    """A circle at z = 0; `columns` name x, y and radius with their prior sigmas."""
    n = 24
    m = int(np.clip(round(2 * math.pi * radius_mm / n * samples_per_mm), 9, 64))
    angle = 2 * math.pi * (np.arange(n)[:, None] + (np.arange(m) + 0.5)[None, :] / m) / n
    out = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=-1)
    along = np.stack([-np.sin(angle), np.cos(angle), np.zeros_like(angle)], axis=-1)
    points = np.array([*centre_mm, 0.0]) + radius_mm * out
    mid = out[:, m // 2]
    x, y = np.tile([1.0, 0, 0], (n, 1)), np.tile([0, 1.0, 0], (n, 1))
    moves = {key: (sigma, move) for (key, sigma), move in zip(columns, (x, y, mid), strict=True)}
    return Feature(name, look, points, along, out, moves)


def zone_lines(samples_per_mm: float) -> list[Feature]:
    """The four zone lines, rail to rail; on tables with the inner square only, their ends simply find no support."""
    out = []
    reach, at = HALF_MM - 8, ZONE_LINE_MM  # the last millimetres lie in the rail's own shadow
    for side in SIDES:
        dx, dy = TOWARD[side]
        ends = ((-reach, dy * at, 0.0), (reach, dy * at, 0.0)) if dy else ((dx * at, -reach, 0.0), (dx * at, reach, 0.0))
        out.append(straight(f"zone {side}", "ridge", ends, samples_per_mm, (f"zone {side}", LINE_SIGMA_MM)))
    return out


def circle(samples_per_mm: float) -> Feature:
    """The centre circle."""
    names = (("circle x", CIRCLE_SIGMA_MM), ("circle y", CIRCLE_SIGMA_MM), ("circle r", CIRCLE_SIGMA_MM))
    return round_("circle", "ridge", (0.0, 0.0), CIRCLE_RADIUS_MM, samples_per_mm, names)


def diameters(samples_per_mm: float, angle_rad: float) -> list[Feature]:
    """The circle's two diameters, turned by `angle_rad` from the x axis; the crossing itself is left out."""
    out = []
    for i in range(2):
        a = angle_rad + i * math.pi / 2
        c, s = math.cos(a), math.sin(a)
        reach = CIRCLE_RADIUS_MM - 4  # clear of the circle's own line
        ends = ((-reach * c, -reach * s, 0.0), (reach * c, reach * s, 0.0))
        shift, slant = (f"diameter {i}", CIRCLE_SIGMA_MM), (f"diameter {i} slant", 0.02)
        out.append(straight(f"diameter {i}", "ridge", ends, samples_per_mm, shift, slant))
    return out


def midlines(samples_per_mm: float) -> list[Feature]:
    """From rail to zone line on each side; not drawn on every table."""
    out = []
    for side in SIDES:
        dx, dy = TOWARD[side]
        near, far = ZONE_LINE_MM + 6, HALF_MM - 10
        ends = ((dx * near, dy * near, 0.0), (dx * far, dy * far, 0.0))
        shift, slant = (f"midline {side}", MIDLINE_SIGMA_MM), (f"midline {side} slant", SLANT_SIGMA)
        out.append(straight(f"midline {side}", "ridge", ends, samples_per_mm, shift, slant))
    return out


def rails(samples_per_mm: float) -> list[Feature]:
    """The rails: where their inner faces stand on the surface, the inner upper edge 25 mm above it, and the outer upper edge.

    The two levels seen apart by parallax tell the camera's height. Each edge of each rail may be off by itself (a shadow taken for
    it); what all four share is the rounding of the upper edge.
    """
    out = []
    for side in SIDES:
        dx, dy = TOWARD[side]
        for level, z, at, sigma in (
            ("base", 0.0, HALF_MM, RAIL_SIGMA_MM),
            ("top", RAIL_HEIGHT_MM, HALF_MM + ROUNDING_MM, RAIL_SIGMA_MM),
            ("outer", RAIL_HEIGHT_MM, HALF_MM + RAIL_WIDTH_MM - ROUNDING_MM, RAIL_WIDTH_SIGMA_MM),
        ):
            ends = ((-CORNER_MM, dy * at, z), (CORNER_MM, dy * at, z)) if dy else ((dx * at, -CORNER_MM, z), (dx * at, CORNER_MM, z))
            name = f"rail {side} {level}"
            extra = {}
            if level != "base":
                extra["rail height"] = (HEIGHT_SIGMA_MM, (0.0, 0.0, 1.0))
                sign = 1.0 if level == "top" else -1.0
                extra["rounding"] = (ROUNDING_SIGMA_MM, (sign * dx, sign * dy, 0.0))
            out.append(straight(name, "edge", ends, samples_per_mm, (name, sigma), None, extra))
    return out


def pockets(samples_per_mm: float) -> list[Feature]:
    """Rims of the four pockets."""
    return [
        round_(
            f"pocket {name}",
            "edge",
            centre,
            POCKET_RADIUS_MM,
            samples_per_mm,
            ((f"pocket {name} x", POCKET_SIGMA_MM), (f"pocket {name} y", POCKET_SIGMA_MM), ("pocket r", RIM_SIGMA_MM)),
        )
        for name, centre in POCKETS_MM.items()
    ]


def _part(name: str, feature: Feature, keep: NDArray[np.bool_], columns: dict[str, tuple[float, Array]], slack_mm: float) -> Feature:
    """Only some stretches of a feature."""
    return Feature(
        name,
        feature.look,
        feature.points_mm[keep],
        feature.along_mm[keep],
        feature.across_mm[keep],
        {key: (sigma, column[keep]) for key, (sigma, column) in columns.items()},
        slack_mm,
    )


def rim_parts(samples_per_mm: float) -> list[Feature]:
    """Each pocket's rim in three parts: what faces the table's centre, what faces away from it, and the sides between.

    Seen from above, rim meets darkness in the first; in the second the hole's wall shows below the rim, lit or not, so it gets a radius
    of its own and more slack. At the sides the wall begins to show: taken for the first, a lit one would draw the pocket toward the
    table's middle, taken for the second it would push it out.
    """
    near, side, far = [], [], []
    for rim in pockets(samples_per_mm):
        middle = rim.points_mm.shape[1] // 2
        centre: Array = rim.points_mm[:, middle, :2].mean(axis=0)
        outward = rim.across_mm[:, middle, :2] @ (centre / np.linalg.norm(centre))
        place = {key: value for key, value in rim.columns.items() if key != "pocket r"}
        radius = rim.columns["pocket r"]
        half = (radius[0], radius[1] / 2)
        near.append(_part(rim.name, rim, outward < 0, rim.columns, NEAR_SLACK_MM))
        both = {**place, "pocket r": half, "pocket far r": half}
        side.append(_part(f"side {rim.name}", rim, (outward >= 0) & (outward < SIDE), both, SIDE_SLACK_MM))
        far.append(_part(f"far {rim.name}", rim, outward >= SIDE, {**place, "pocket far r": radius}, FAR_SLACK_MM))
    return near + side + far


def drawn_exactly(feature: Feature) -> Feature:
    """A feature of a table whose zone lines and circle lie where the rules have them, to `EXACT_SIGMA_MM`."""
    columns = {
        key: (EXACT_SIGMA_MM if key.startswith(("zone ", "circle ")) else sigma, column) for key, (sigma, column) in feature.columns.items()
    }
    return replace(feature, columns=columns)


def near_rims(samples_per_mm: float) -> list[Feature]:
    """The halves of the rims that face the table's centre."""
    return rim_parts(samples_per_mm)[:4]
