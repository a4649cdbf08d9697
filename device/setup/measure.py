"""Figures that help a person who turns a lens ring or a lamp: sharpness, brightness, glare, flicker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from device.doctor.camera import DARK, GLARE, WHITE

Image = NDArray[np.uint8]

MIDDLE: Final = 0.6  # of width and height: the table; what lies around it has another distance
FLICKER: Final = 0.01  # one part in a hundred of brightness from frame to frame: noise moves a mean of a million pixels far less
BRIGHT: Final = 215.0  # mean of 255; wood of this is white where a lamp shines on it


def sharpness(image: Image) -> float:
    """Mean square of the step from pixel to pixel in the picture's middle, by its mean square brightness, in parts of 10,000.

    Light and exposure cancel; noise adds to it evenly, so that the highest figure is the sharpest picture of one scene.
    """
    grey = cv2.cvtColor(_middle(image), cv2.COLOR_BGR2GRAY).astype(np.float32)
    dx = np.diff(grey, axis=1)
    dy = np.diff(grey, axis=0)
    return float(1e4 * (np.mean(dx * dx) + np.mean(dy * dy)) / max(np.mean(grey * grey), 1.0))


@dataclass(frozen=True, slots=True)
class Light:
    """How a scene is lit. `mean` of 255; `white` share of the picture; `flicker` spread of brightness from frame to frame."""

    mean: float
    white: float
    flicker: float

    def advice(self) -> tuple[str, ...]:
        """What to do about it; empty where it is good."""
        found = []
        if self.mean < DARK:
            found.append("too dark: more light on the table, or more gain")
        if self.mean > BRIGHT:
            found.append("too bright: less gain, or a shorter exposure")
        if self.white > GLARE:
            found.append(f"{self.white:.1%} of the picture is white: turn the lamps so that they do not mirror in the table")
        if self.flicker > FLICKER:
            found.append(f"the light flickers by {self.flicker:.1%}: mains 50 (or 60) makes the exposure fit the lamps")
        return tuple(found)


def light(images: Sequence[Image]) -> Light:
    """Of at least one picture of a scene at rest."""
    means = np.array([float(_middle(image).mean()) for image in images])
    white = float((_middle(images[-1]).min(axis=2) >= WHITE).mean())
    mean = float(means.mean())
    return Light(mean, white, float(means.std() / max(mean, 1.0)))


def _middle(image: Image) -> Image:
    height, width = image.shape[:2]
    top, left = round(height * (1 - MIDDLE) / 2), round(width * (1 - MIDDLE) / 2)
    return image[top : height - top, left : width - left]
