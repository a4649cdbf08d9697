"""What a camera says with every frame, compared with what was asked of it: times in order, exposure and gain held, nothing lost unseen."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from device.sources.camera_modes import Light

_log = logging.getLogger(__name__)

CLOCK_TOLERANCE_NS: Final = 1_000_000_000  # a sensor time further than this from monotonic time is not of that clock
# Sensors expose in whole rows (8 to 30 us) and have steps of gain (1.2 % and more); what exceeds these is a change.
EXPOSURE_TOLERANCE_US: Final = 50
EXPOSURE_TOLERANCE: Final = 0.02
GAIN_TOLERANCE: Final = 0.05
PERIOD_TOLERANCE: Final = 0.05
LASTING_FRAMES: Final = 30  # half a second: one odd frame is counted, a lasting difference is told
SETTLING_FRAMES: Final = 12  # a control reaches the picture some frames after it was set: six buffers, twice


@dataclass(frozen=True, slots=True)
class Stamp:
    """Time and number of a frame that is good: `t_ns` is the exposure's midpoint of the middle row, on the monotonic clock."""

    t_ns: int
    seq: int
    exposure_s: float


class _Lasting:
    """A complaint that begins when something has been wrong for `LASTING_FRAMES` in a row, and ends when it has been right for as many."""

    def __init__(self) -> None:
        self.count = 0
        self.complaint: str | None = None
        self._run = 0

    def frame(self, wrong: str | None) -> None:
        """One more frame, with what is wrong with it."""
        self.count += wrong is not None
        differs = (wrong is None) != (self.complaint is None)
        self._run = self._run + 1 if differs else 0
        if self._run < LASTING_FRAMES:
            return
        self._run = 0
        if wrong is not None:
            _log.warning("camera: %s", wrong)
        else:
            _log.info("camera: over: %s", self.complaint)
        self.complaint = wrong


class MetadataCheck:
    """Looks at the metadata of every frame; one reader, figures from any thread."""

    def __init__(self, light: Light, readout_s: float) -> None:
        self._light = light
        self._readout_ns = round(readout_s * 1e9)
        self._last_start_ns: int | None = None
        self._seq = 0
        self._settling = SETTLING_FRAMES
        self._exposure, self._gain, self._period, self._clock = _Lasting(), _Lasting(), _Lasting(), _Lasting()
        self.dropped = 0
        self.duplicates = 0
        self.disordered = 0

    def expect(self, light: Light) -> None:
        """Something else has been asked for, or the camera was started anew: the next frames may still be as before."""
        self._light = light
        self._settling = SETTLING_FRAMES

    def holds(self, metadata: Mapping[str, Any]) -> bool:
        """Whether a frame was taken as asked."""
        return self._wrong_exposure(metadata) is None and self._wrong_gain(metadata) is None

    def look(self, metadata: Mapping[str, Any], now_ns: int) -> Stamp | None:
        """The frame's stamp, or None for a frame that is no new light or whose time means nothing."""
        start_ns = _whole(metadata.get("SensorTimestamp"))
        if start_ns is None or abs(now_ns - start_ns) > CLOCK_TOLERANCE_NS:
            said = "none" if start_ns is None else f"{(now_ns - start_ns) / 1e9:+.1f} s from the system's"
            self._clock.frame(f"the sensor's time is not that of the system's monotonic clock ({said}); restart the device")
            return None
        self._clock.frame(None)
        if self._last_start_ns is not None and start_ns <= self._last_start_ns:
            self.duplicates += start_ns == self._last_start_ns
            self.disordered += start_ns < self._last_start_ns
            return None
        self._count(start_ns)
        if self._settling:
            self._settling -= 1
        else:
            self._exposure.frame(self._wrong_exposure(metadata))
            self._gain.frame(self._wrong_gain(metadata))
            self._period.frame(self._wrong_period(metadata))
        exposure_us = _whole(metadata.get("ExposureTime")) or self._light.exposure_us
        return Stamp(start_ns - exposure_us * 500 + self._readout_ns // 2, self._seq, exposure_us / 1e6)

    def figures(self) -> dict[str, Any]:
        """Counts since the start, and what is wrong at present."""
        lasting = (self._exposure, self._gain, self._period, self._clock)
        return {
            "dropped": self.dropped,
            "duplicates": self.duplicates,
            "disordered": self.disordered,
            "odd_times": self._clock.count,
            "changed_exposure": self._exposure.count,
            "changed_gain": self._gain.count,
            "complaints": [one.complaint for one in lasting if one.complaint is not None],
        }

    def _count(self, start_ns: int) -> None:
        """From one frame to the next, not from the first: a period that is a little off would add up to frames that never were."""
        if self._last_start_ns is not None:
            steps = max(1, round((start_ns - self._last_start_ns) / (self._light.frame_us * 1000)))
            self.dropped += steps - 1
            self._seq += steps
        self._last_start_ns = start_ns

    def _wrong_exposure(self, metadata: Mapping[str, Any]) -> str | None:
        asked, given = self._light.exposure_us, _whole(metadata.get("ExposureTime"))
        if given is None or abs(given - asked) <= max(EXPOSURE_TOLERANCE_US, EXPOSURE_TOLERANCE * asked):
            return None
        return f"exposure is {given} us, {asked} us was asked for; check [camera] exposure_us, or restart the device"

    def _wrong_gain(self, metadata: Mapping[str, Any]) -> str | None:
        asked, given = self._light.gain, metadata.get("AnalogueGain")
        if not isinstance(given, (int, float)) or abs(given - asked) <= GAIN_TOLERANCE * asked:
            return None
        return f"gain is {given:.2f}, {asked:.2f} was asked for; this camera may not reach it: check [camera] gain"

    def _wrong_period(self, metadata: Mapping[str, Any]) -> str | None:
        asked, given = self._light.frame_us, _whole(metadata.get("FrameDuration"))
        if given is None or abs(given - asked) <= PERIOD_TOLERANCE * asked:
            return None
        return f"{1e6 / max(given, 1):.1f} frames a second instead of {1e6 / asked:.1f}; check [camera] exposure_us"


def _whole(value: object) -> int | None:
    return int(value) if isinstance(value, (int, float)) else None
