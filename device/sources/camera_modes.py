"""The cameras that are known, each with the one mode that it runs in, and the exposure that lamps and frame rate allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from device.settings.records import CameraSettings

US: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Mode:
    """One sensor mode. `readout_s`: first row to last, 0 where all rows expose at once; `bit_depth` tells modes of one size apart."""

    width: int
    height: int
    fps: int
    readout_s: float
    bit_depth: int

    @property
    def frame_us(self) -> int:
        """Time from frame to frame."""
        return US // self.fps


MODES: Final = {
    "imx296": Mode(1456, 1088, 60, 0.0, 10),  # Global Shutter Camera: all of the sensor
    "imx477": Mode(2028, 1520, 40, 0.023, 12),  # HQ Camera: all of the sensor, two by two pixels in one
    "imx708": Mode(2304, 1296, 56, 0.017, 10),  # Camera Module 3: the same
}
# The wide and the infrared kinds report names of their own, e.g. imx708_wide_noir; their modes are those of the sensor.
UNKNOWN: Final = MODES["imx296"]


def mode_of(model: str) -> Mode:
    """The mode for a sensor's name as libcamera reports it."""
    return MODES.get(model.lower().split("_", maxsplit=1)[0], UNKNOWN)


@dataclass(frozen=True, slots=True)
class Light:
    """Exposure and gain that the camera is asked for, and the time from frame to frame."""

    exposure_us: int
    gain: float
    frame_us: int


def light_for(settings: CameraSettings, mode: Mode) -> Light:
    """What to ask of the camera.

    Lamps that flicker give every exposure of a whole number of half mains periods the same light, wherever in the period it begins. The
    exposure nearest to the asked one is taken, the gain keeps the picture as bright as it would have been, and where not even one half
    period fits between two frames they come more slowly.
    """
    if settings.mains_hz == 0:
        return Light(min(settings.exposure_us, mode.frame_us), settings.gain, mode.frame_us)
    half_us = US / (2 * settings.mains_hz)
    fit = max(1, int(mode.frame_us / half_us))
    count = min(max(1, round(settings.exposure_us / half_us)), fit)
    exposure_us = round(count * half_us)
    gain = max(1.0, settings.gain * settings.exposure_us / exposure_us)
    return Light(exposure_us, gain, max(mode.frame_us, exposure_us))
