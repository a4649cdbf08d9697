"""The Raspberry Pi's camera through picamera2, imported only when this source is chosen.

SensorTimestamp is CLOCK_MONOTONIC at the start of the first row's readout; that row's exposure midpoint is half the exposure earlier, the
middle row's half the readout later than that.
"""

from __future__ import annotations

import time
from typing import Any, Final

import numpy as np

from device.sources.frame import Frame
from rules.errors import SourceFailed

MODES: Final[dict[str, tuple[int, int, int]]] = {  # sensor model -> width, height, frames per second
    "imx296": (1456, 1088, 60),
    "imx477": (2028, 1520, 40),
    "imx708": (2304, 1296, 56),
}
READOUT_S: Final = {"imx477": 0.023, "imx708": 0.017}  # first row to last in these modes; the imx296 exposes all rows at once
_EXPOSURE_US: Final = 4000  # short against motion blur: 20 mm at 5 m/s, and the tracker measures the smear's centre
_CLOCK_TOLERANCE_NS: Final = 1_000_000_000  # a sensor clock further than this from monotonic time is not that clock
_FAILED_IS_MISSING: Final = (
    "no camera answers: switch off, reseat the camera's flat cable at both ends, and check with `rpicam-hello --list-cameras`"
)


class PicameraSource:
    """One configuration for the whole session; image and metadata come from one request, so they belong together."""

    def __init__(self, camera_number: int = 0) -> None:
        try:
            from picamera2 import Picamera2
        except ImportError as error:
            raise SourceFailed(
                "picamera2 cannot be imported here: install it with `sudo apt install python3-picamera2` and use a virtual environment "
                "made with --system-site-packages; off the Pi use `virtual`, a video file or a folder of stills"
            ) from error
        try:
            self._camera: Any = Picamera2(camera_number)
        except (IndexError, RuntimeError) as error:  # picamera2 reports a missing camera as an IndexError
            raise SourceFailed(f"camera {camera_number}: {_FAILED_IS_MISSING} ({error})") from error
        self.model = str(self._camera.camera_properties.get("Model", "")).lower()
        width, height, fps = MODES.get(self.model, MODES["imx296"])
        self.size_px = (width, height)
        self.name = f"picamera {camera_number} ({self.model or 'unknown sensor'})"
        frame_us = 1_000_000 // fps
        configuration = self._camera.create_video_configuration(
            main={"size": self.size_px, "format": "RGB888"},  # picamera2's name for B, G, R in memory
            controls={"FrameDurationLimits": (frame_us, frame_us), "ExposureTime": _EXPOSURE_US, "AeEnable": False},
            buffer_count=6,
        )
        self._camera.configure(configuration)
        self._camera.start()
        self._frame_ns = frame_us * 1000
        self._first_ns: int | None = None

    def read(self) -> Frame | None:
        """Next frame of the sensor; a camera never ends by itself, so None is never returned."""
        try:
            request = self._camera.capture_request()
        except RuntimeError as error:
            raise SourceFailed(f"{self.name}: {error}; {_FAILED_IS_MISSING}") from error
        try:
            image = np.array(request.make_array("main"), dtype=np.uint8)
            metadata = request.get_metadata()
        finally:
            request.release()
        start_ns = int(metadata["SensorTimestamp"])
        offset_ns = time.monotonic_ns() - start_ns
        if abs(offset_ns) > _CLOCK_TOLERANCE_NS:
            raise SourceFailed(
                f"{self.name}: sensor clock is {offset_ns / 1e9:.1f} s from the system's monotonic clock; restart the device"
            )
        exposure_us, readout_s = int(metadata.get("ExposureTime", _EXPOSURE_US)), READOUT_S.get(self.model, 0.0)
        t_ns = start_ns - exposure_us * 500 + round(readout_s * 5e8)
        if self._first_ns is None:
            self._first_ns = t_ns
        image.setflags(write=False)
        return Frame(
            image=image, t_ns=t_ns, seq=round((t_ns - self._first_ns) / self._frame_ns), exposure_s=exposure_us / 1e6, readout_s=readout_s
        )

    def close(self) -> None:
        """Stop and free the camera; safe to call twice."""
        self._camera.stop()
        self._camera.close()
