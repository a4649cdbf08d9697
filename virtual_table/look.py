"""What a table and its light look like: one frozen value, and a seeded choice of plausible ones.

Colours are linear light, BGR, 0..1 (1 = the sensor's white before exposure).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

from rules.table import CIRCLE_RADIUS_MM, ZONE_LINE_MM, Side

Colour = tuple[float, float, float]
Lamp = Literal["panels", "tubes", "warm_side", "window", "dim"]

WOODS: Final[dict[str, Colour]] = {
    "birch": (0.28, 0.50, 0.66),
    "ash": (0.33, 0.52, 0.64),
    "pine": (0.14, 0.36, 0.62),
    "honey": (0.17, 0.36, 0.56),
    "beech": (0.22, 0.40, 0.56),
}
RAIL_WOODS: Final[tuple[Colour, ...]] = ((0.05, 0.08, 0.13), (0.09, 0.20, 0.36), (0.16, 0.33, 0.50), (0.04, 0.10, 0.20))
CLOTHS: Final[tuple[Colour, ...]] = ((0.012, 0.010, 0.010), (0.030, 0.045, 0.038), (0.02, 0.02, 0.06), (0.05, 0.05, 0.05))
REDS: Final[tuple[Colour, ...]] = ((0.035, 0.025, 0.42), (0.09, 0.045, 0.36), (0.03, 0.05, 0.55))
BLACKS: Final[tuple[Colour, ...]] = ((0.022, 0.020, 0.019), (0.045, 0.042, 0.040), (0.030, 0.020, 0.018))
STRIKERS: Final[dict[str, Colour]] = {"bare": (0.22, 0.52, 0.72), "red": (0.06, 0.04, 0.42), "black": (0.035, 0.032, 0.030)}
SKINS: Final[tuple[Colour, ...]] = ((0.30, 0.40, 0.66), (0.18, 0.26, 0.48), (0.08, 0.12, 0.24))
SLEEVES: Final[tuple[Colour, ...]] = ((0.36, 0.20, 0.10), (0.06, 0.05, 0.45), (0.03, 0.03, 0.03), (0.5, 0.5, 0.5), (0.10, 0.22, 0.08))


@dataclass(frozen=True, slots=True)
class Look:
    """Everything that may differ between two tables, lamps and sensors without changing where anything is."""

    wood: Colour = WOODS["birch"]
    grain: float = 0.10  # relative contrast of the grain
    grain_along_x: bool = True
    rail: Colour = RAIL_WOODS[0]
    floor: Colour = (0.05, 0.08, 0.12)
    cloth: Colour = CLOTHS[0]
    red: Colour = REDS[0]
    black: Colour = BLACKS[0]
    striker: Literal["bare", "red", "black"] = "bare"
    wear: float = 0.3  # share of rims and faces where the paint is rubbed off
    line: float = 0.75  # darkness of the lines, 0..1
    line_fade: float = 0.2  # how unevenly
    line_broken: float = 0.05  # share of the lines that is gone
    line_layout: Literal["rail_to_rail", "inner_square"] = "rail_to_rail"
    midlines: bool = True
    zone_line_mm: tuple[float, float, float, float] = (ZONE_LINE_MM, ZONE_LINE_MM, ZONE_LINE_MM, ZONE_LINE_MM)  # S N W E
    circle_mm: tuple[float, float, float] = (0.0, 0.0, CIRCLE_RADIUS_MM)
    scratches: int = 4
    powder: float = 0.0  # haze of boric powder, 0..1; also makes the table faster
    lamp: Lamp = "panels"
    lamp_warmth: float = 0.0  # -1 bluish daylight .. 1 tungsten, after an imperfect white balance
    exposure: float = 1.0
    shadow: float = 0.45  # depth of cast shadows
    glare: float = 0.5  # strength of the lamps mirrored in the lacquer
    vignetting: float = 0.25  # light lost in the corners
    blur_px: float = 0.45  # sigma of the lens
    noise: float = 1.6  # sigma at mid grey, in 8-bit steps
    skin: Colour = SKINS[0]
    sleeve: Colour = SLEEVES[0]
    seed: int = field(default=0)  # of textures

    def zone(self, side: Side) -> float:
        """Distance of a side's zone line (centreline) from the centre, mm."""
        return self.zone_line_mm[("S", "N", "W", "E").index(side)]


def random_look(seed: int) -> Look:
    """A plausible look; the same seed gives the same one."""
    rng = np.random.default_rng([seed, 202])

    def pick(options: tuple[Colour, ...], spread: float = 0.12) -> Colour:
        base = np.array(options[int(rng.integers(len(options)))])
        b, g, r = (base * rng.lognormal(0, spread, 3) * rng.lognormal(0, spread)).clip(0.004, 0.9).tolist()
        return (b, g, r)

    lamp: Lamp = ("panels", "tubes", "warm_side", "window", "dim")[int(rng.integers(5))]
    striker: Literal["bare", "red", "black"] = ("bare", "bare", "bare", "red", "black")[int(rng.integers(5))]
    off_mm = rng.normal(0, 0.4, 4)
    warmth = {"panels": 0.0, "tubes": 0.05, "warm_side": 0.5, "window": -0.25, "dim": 0.25}[lamp]
    south, north, west, east = (ZONE_LINE_MM + off_mm).tolist()
    return Look(
        wood=pick(tuple(WOODS.values()), 0.06),
        grain=float(rng.uniform(0.04, 0.16)),
        grain_along_x=bool(rng.random() < 0.5),
        rail=pick(RAIL_WOODS),
        floor=pick(((0.05, 0.08, 0.12), (0.18, 0.19, 0.19), (0.03, 0.03, 0.03), (0.30, 0.33, 0.36))),
        cloth=pick(CLOTHS),
        red=pick(REDS),
        black=pick(BLACKS),
        striker=striker,
        wear=float(rng.uniform(0, 0.6)),
        line=float(rng.uniform(0.55, 0.92)),
        line_fade=float(rng.uniform(0, 0.5)),
        line_broken=float(rng.choice([0.0, 0.05, 0.15, 0.25])),
        line_layout="rail_to_rail" if rng.random() < 0.7 else "inner_square",
        midlines=bool(rng.random() < 0.6),
        zone_line_mm=(south, north, west, east),
        circle_mm=(float(rng.normal(0, 0.2)), float(rng.normal(0, 0.2)), CIRCLE_RADIUS_MM + float(rng.normal(0, 0.3))),
        scratches=int(rng.integers(0, 9)),
        powder=float(rng.choice([0.0, 0.0, 0.1, 0.3])),
        lamp=lamp,
        lamp_warmth=warmth + float(rng.normal(0, 0.08)),
        exposure=float(rng.uniform(0.75, 1.15)),
        shadow=float(rng.uniform(0.5, 0.75) if lamp in ("warm_side", "window") else rng.uniform(0.2, 0.5)),
        glare=float(rng.uniform(0.15, 0.9)),
        vignetting=float(rng.uniform(0.05, 0.35)),
        blur_px=float(rng.uniform(0.35, 0.75)),
        noise=float(rng.uniform(2.5, 4.0) if lamp == "dim" else rng.uniform(0.9, 2.5)),
        skin=pick(SKINS),
        sleeve=pick(SLEEVES, 0.3),
        seed=seed,
    )
