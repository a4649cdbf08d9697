"""What may be assumed of a lens that nobody has measured: start values and how far they may be wrong, per camera mode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.lens import Lens
from rules.errors import WrongUsage

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Mode:
    """A named camera's picture size and its usual lenses' focal length over picture width, from widest to longest."""

    name: str
    width: int
    height: int
    f_widths: tuple[float, float]


# Focal range: the whole table must fill most of the picture from 1.1 to 1.7 m, which fixes it whatever glass is screwed on;
# Camera Module 3 has its lens built in (4.74 mm over 6.45 mm; wide 2.75 mm).
MODES: Final = (
    Mode("gs", 1456, 1088, (0.65, 1.10)),
    Mode("hqbin", 2028, 1520, (0.65, 1.10)),
    Mode("hq", 4056, 3040, (0.65, 1.10)),
    Mode("module3", 2304, 1296, (0.42, 0.76)),
    Mode("module3", 1536, 864, (0.42, 0.76)),
    Mode("module3", 4608, 2592, (0.42, 0.76)),
)
ANY: Final = (0.5, 1.2)  # cameras that nobody named
K1: Final = (-0.07, 0.08)  # C-mount and M12 lenses of these lengths: from none to a sixth of barrel
K2: Final = (0.01, 0.05)
K3: Final = (0.0, 0.012)
TANGENTIAL: Final = 6e-4  # lens seated askew
CENTRE_WIDTHS: Final = 0.008  # principal point from the middle, of the picture's width


@dataclass(frozen=True, slots=True)
class LensPrior:
    """Gaussian prior over the lens in the order of `optics.LENS_NAMES`; `start` is its mean as a record."""

    start: Lens
    mean: Array
    sigma: Array


def prior_for(width: int, height: int, camera: str | None) -> LensPrior:
    """What to assume of a picture of this size.

    Raises
    ------
    WrongUsage
        The camera's name is not known.
    """
    names = sorted({mode.name for mode in MODES})
    if camera is not None and camera not in names:
        raise WrongUsage(f"camera {camera!r} is not known; known: {', '.join(names)}")
    fitting = [m for m in MODES if (m.name == camera if camera else (m.width, m.height) == (width, height))]
    low = min((m.f_widths[0] for m in fitting), default=ANY[0])
    high = max((m.f_widths[1] for m in fitting), default=ANY[1])
    f = width * float(np.sqrt(low * high))
    cx, cy = (width - 1) / 2, (height - 1) / 2
    mean = np.array([f, cx, cy, K1[0], K2[0], 0, 0, K3[0]])
    # The range is where usual lenses lie, not a wall: half of it as one sigma.
    spread = CENTRE_WIDTHS * width
    sigma = np.array([width * (high - low) / 2, spread, spread, K1[1], K2[1], TANGENTIAL, TANGENTIAL, K3[1]])
    return LensPrior(lens_from(mean, width, height), mean, sigma)


def lens_from(values: Array, width: int, height: int, rms_px: float | None = None) -> Lens:
    """A lens record from a vector in the order of `optics.LENS_NAMES`, square pixels."""
    f, cx, cy, k1, k2, p1, p2, k3 = (float(v) for v in values)
    return Lens(width=width, height=height, K=[[f, 0, cx], [0, f, cy], [0, 0, 1]], dist=[k1, k2, p1, p2, k3], rms_px=rms_px)
