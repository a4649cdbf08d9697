"""From the word on the command line to a source."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from device.settings.records import CameraSettings
from device.sources.frame import Source
from device.sources.stills import SUFFIXES as STILL_SUFFIXES
from device.sources.stills import StillsSource
from rules.errors import InputUnusable

PICAMERA: Final = "picamera"
VIRTUAL: Final = "virtual"


def default_source() -> str:
    """`picamera` on a Raspberry Pi that has picamera2, else the virtual table."""
    from importlib.util import find_spec

    on_pi = Path("/proc/device-tree/model").exists() and find_spec("picamera2") is not None
    return PICAMERA if on_pi else VIRTUAL


def open_source(what: str, *, seed: int = 1, realtime: bool = True, camera: CameraSettings | None = None, sets: int = 5) -> Source:
    """Open `picamera`, `virtual`, a video file or a folder of stills; InputUnusable says what is wrong with it.

    `camera` is how a real camera shall be held; without it as the settings' defaults say. `sets` is how long the virtual table's match is.
    """
    if what == PICAMERA:
        from device.sources.picamera import PicameraSource

        return PicameraSource(camera or CameraSettings())
    if what == VIRTUAL:
        from device.sources.virtual import VirtualSource

        return VirtualSource(seed=seed, realtime=realtime, patient=True, sets=sets)
    path = Path(what)
    if path.is_dir():
        return StillsSource(path)
    if not path.exists():
        raise InputUnusable(f"{what}: no such file, folder or camera (cameras: {PICAMERA}, {VIRTUAL})")
    if path.suffix.lower() in STILL_SUFFIXES:
        raise InputUnusable(f"{what}: is a single picture; use `novuss detect {what}`, or give its folder")
    from device.sources.video import VideoSource

    return VideoSource(path)
