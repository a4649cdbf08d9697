"""The Raspberry Pi's camera through picamera2, imported only when this source is chosen.

SensorTimestamp is CLOCK_MONOTONIC at the start of the first row's readout; that row's exposure midpoint is half the exposure earlier, the
middle row's half the readout later than that. One configuration serves the whole session: the fast stream shows all of the sensor, and
no full-resolution still is taken at rest, because every one of these cameras would stop for it.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any, Final, Literal

from device.settings.records import CameraSettings
from device.sources.camera_check import MetadataCheck, Stamp
from device.sources.camera_modes import light_for, mode_of
from device.sources.frame import CameraMissing, Frame
from rules.errors import SourceFailed

_log = logging.getLogger(__name__)

STALL_S: Final = 2.0  # no new frame for so long and the camera is opened anew
REOPEN_AFTER_S: Final = (0.5, 2.0, 5.0)  # with what an attempt itself takes, over before the watchdog's 30 s
CLOSE_S: Final = 3.0  # a driver that waits for a camera that is gone may never return from closing
LOCK_S: Final = 5.0  # focus needs one to three seconds, white balance half of one; a lock that does not come is told
STEADY_FRAMES: Final = 8  # white balance that has not moved for so long has settled
STEADY: Final = 0.01
BUFFERS: Final = (6, 4)  # picamera2's own number for video; fewer where the memory for cameras is short
USUAL_DIOPTRE: Final = 1 / 1.1  # a lens that does not find its focus: the height of the camera above the table
# libcamera's enumerations: AfModeEnum, AfTriggerEnum, AfStateEnum, draft.NoiseReductionModeEnum.
AF_MANUAL: Final = 0
AF_AUTO: Final = 1
AF_START: Final = 0
AF_ENDED: Final = (2, 3)  # focused, failed
AF_FOCUSED: Final = 2
NOISE_REDUCTION_OFF: Final = 0

MISSING: Final = "no camera answers: switch off, reseat the camera's flat cable at both ends, and check with `rpicam-hello --list-cameras`"
State = Literal["running", "stalled", "missing"]


class _Lost(Exception):
    """The camera gives no frame any more; `state` is what health shows."""

    def __init__(self, why: str, state: State = "stalled") -> None:
        super().__init__(why)
        self.state: State = state


class PicameraSource:
    """Locked light, colours and focus; checks every frame; opens the camera anew when it stalls. One reader."""

    def __init__(
        self,
        settings: CameraSettings,
        *,
        clock_ns: Callable[[], int] = time.monotonic_ns,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._api = _api()
        self._settings = settings
        self._clock_ns = clock_ns
        self._sleep = sleep
        self._wanted: CameraSettings | None = None
        self._gains = (settings.red_gain, settings.blue_gain)
        self._dioptre = settings.focus_dioptre
        self._camera: Any = None
        self._check: MetadataCheck | None = None
        self._state: State = "running"
        self._failure: str | None = None
        self._attempts = 0  # since the last good frame
        self._reopened = 0
        self._interrupted = False
        self.model = ""
        self.size_px = (0, 0)
        try:
            self._open()
        except _Lost as error:
            self.close()
            raise (CameraMissing if error.state == "missing" else SourceFailed)(f"camera {settings.number}: {error}") from error

    @property
    def name(self) -> str:
        """Shown to people."""
        return f"picamera {self._settings.number} ({self.model or 'unknown sensor'})"

    def read(self) -> Frame | None:
        """Next frame of the sensor; None only after `interrupt`. SourceFailed when the camera does not come back."""
        while not self._interrupted:
            try:
                return self._next()
            except _Lost as error:
                self._recover(error)
        return None

    def interrupt(self) -> None:
        """Let a `read` that waits for a lost camera end; may be called from a signal handler."""
        self._interrupted = True

    def adjust(self, settings: CameraSettings) -> None:
        """Use another exposure, gain or focus from one of the next frames on; may be called from any thread."""
        self._wanted = settings

    def figures(self) -> dict[str, Any]:
        """Rate, losses and complaints, for the health topic; may be called from any thread."""
        checked = {} if self._check is None else self._check.figures()
        return {
            "model": self.model,
            "state": self._state,
            "reopened": self._reopened,
            "failure": self._failure,
            "colour_gains": list(self._gains),
            "lens_dioptre": self._dioptre,
        } | checked

    def close(self) -> None:
        """Stop and free the camera; safe to call twice."""
        camera, self._camera = self._camera, None
        if camera is not None and not _ends_within(CLOSE_S, camera.close):
            raise SourceFailed(f"{self.name}: does not let go of the camera; reseat its flat cable, then restart the device")

    # --- opening ------------------------------------------------------------------------------------------------------

    def _open(self) -> None:
        """Open, configure once, start, and lock what is to be locked. Raises _Lost; leaves what was opened for `close`."""
        number = self._settings.number
        try:
            found = self._api.global_camera_info()
            if number >= len(found):
                raise _Lost(MISSING, "missing")
            self._camera = self._api(number)
            self.model = str(self._camera.camera_properties.get("Model", "")).lower()
            mode = mode_of(self.model)
            light = light_for(self._settings, mode)
            self._configure(mode.width, mode.height, mode.bit_depth, self._controls())
            self._camera.start()
        except (IndexError, RuntimeError, OSError) as error:  # a missing camera was an IndexError in older versions
            raise _Lost(f"{MISSING} ({error})", "missing") from error
        given = tuple(self._camera.camera_configuration()["main"]["size"])
        if self.size_px not in ((0, 0), given):
            raise _Lost(f"came back with pictures of {given[0]}x{given[1]} px; the calibration is for {self.size_px[0]}x{self.size_px[1]}")
        self.size_px = (int(given[0]), int(given[1]))
        if self._check is None:
            self._check = MetadataCheck(light, mode.readout_s)
        self._check.expect(light)
        self._lock(self._check)

    def _configure(self, width: int, height: int, bit_depth: int, controls: dict[str, Any]) -> None:
        for attempt, buffers in enumerate(BUFFERS, 1):
            configuration = self._camera.create_video_configuration(
                main={"size": (width, height), "format": "RGB888"},  # picamera2's name for B, G, R in memory
                raw=None,
                sensor={"output_size": (width, height), "bit_depth": bit_depth},
                controls=controls,
                buffer_count=buffers,
                display=None,
                encode=None,
            )
            try:
                self._camera.configure(configuration)
            except (RuntimeError, OSError) as error:
                if attempt == len(BUFFERS):
                    raise _Lost(f"cannot be set up for {width}x{height} px ({error}); end what else uses the camera") from error
            else:
                return

    def _controls(self) -> dict[str, Any]:
        """Everything that the camera would otherwise do by itself, fixed; only what this camera has."""
        light = light_for(self._settings, mode_of(self.model))
        asked: dict[str, Any] = {
            "AeEnable": False,
            "ExposureTime": light.exposure_us,
            "AnalogueGain": light.gain,
            "FrameDurationLimits": (light.frame_us, light.frame_us),
            "NoiseReductionMode": NOISE_REDUCTION_OFF,
        }
        red, blue = self._gains
        asked |= {"AwbEnable": True} if red is None or blue is None else {"AwbEnable": False, "ColourGains": (red, blue)}
        if self._dioptre is None:
            asked |= {"AfMode": AF_AUTO, "AfTrigger": AF_START}
        else:
            asked |= {"AfMode": AF_MANUAL, "LensPosition": self._dioptre}
        return {name: value for name, value in asked.items() if name in self._camera.camera_controls}

    def _lock(self, check: MetadataCheck) -> None:
        """Wait for white balance, focus, exposure and gain, with a time limit; what was found is used again after a stall."""
        until_ns = self._clock_ns() + round(LOCK_S * 1e9)
        has_focus = "LensPosition" in self._camera.camera_controls
        colours: list[tuple[float, float]] = []
        while True:
            metadata = self._metadata()
            late = self._clock_ns() > until_ns
            if None in self._gains:
                colours.append(tuple(metadata.get("ColourGains", (1.0, 1.0))))
                if late or _steady(colours):
                    self._gains = colours[-1]
                    self._camera.set_controls(self._controls())
            elif has_focus and self._dioptre is None:
                if late or metadata.get("AfState") in AF_ENDED:
                    self._dioptre = self._focus_found(metadata)
                    self._camera.set_controls(self._controls())
            elif late or check.holds(metadata):
                return

    def _focus_found(self, metadata: Mapping[str, Any]) -> float:
        if metadata.get("AfState") == AF_FOCUSED:
            return float(metadata.get("LensPosition", USUAL_DIOPTRE))
        _log.warning("camera: no focus was found; the lens is set to %.1f dioptre; set [camera] focus_dioptre", USUAL_DIOPTRE)
        return USUAL_DIOPTRE

    # --- frames -------------------------------------------------------------------------------------------------------

    def _next(self) -> Frame:
        if self._camera is None or self._check is None:
            raise _Lost("is closed")
        self._take_over_wanted(self._check)
        since_ns = self._clock_ns()
        while True:
            stamp, image = self._take(self._check)
            if stamp is not None:
                self._state, self._attempts = "running", 0
                image.setflags(write=False)
                readout_s = mode_of(self.model).readout_s
                return Frame(image=image, t_ns=stamp.t_ns, seq=stamp.seq, exposure_s=stamp.exposure_s, readout_s=readout_s)
            if self._clock_ns() - since_ns > STALL_S * 1e9:
                raise _Lost(f"only frames whose times mean nothing for {STALL_S:.0f} s")

    def _take(self, check: MetadataCheck) -> tuple[Stamp | None, Any]:
        """One frame, its picture and metadata from one request, which is given back whatever happens."""
        request = self._request()
        try:
            try:
                stamp = check.look(request.get_metadata(), self._clock_ns())
                return stamp, None if stamp is None else request.make_array("main")
            finally:
                request.release()
        except (RuntimeError, OSError) as error:
            raise _Lost(f"lost in the middle of a frame ({error})") from error

    def _metadata(self) -> Mapping[str, Any]:
        request = self._request()
        try:
            try:
                metadata: Mapping[str, Any] = request.get_metadata()
                return metadata
            finally:
                request.release()
        except (RuntimeError, OSError) as error:
            raise _Lost(f"lost in the middle of a frame ({error})") from error

    def _request(self) -> Any:  # noqa: ANN401
        try:
            return self._camera.capture_request(wait=STALL_S)
        except TimeoutError as error:
            self._camera.cancel_all_and_flush()
            raise _Lost(f"no new frame for {STALL_S:.0f} s") from error
        except (RuntimeError, OSError) as error:
            raise _Lost(str(error)) from error

    def _take_over_wanted(self, check: MetadataCheck) -> None:
        wanted, self._wanted = self._wanted, None
        if wanted is None:
            return
        self._settings = wanted
        if wanted.focus_dioptre is not None:
            self._dioptre = wanted.focus_dioptre
        self._camera.set_controls(self._controls())
        check.expect(light_for(wanted, mode_of(self.model)))

    # --- recovery -----------------------------------------------------------------------------------------------------

    def _recover(self, lost: _Lost) -> None:
        """Open the camera anew after a pause that grows until a good frame has come; SourceFailed after the last attempt."""
        self._state, self._failure = lost.state, str(lost)
        self.close()
        if self._attempts == len(REOPEN_AFTER_S):
            raise SourceFailed(f"{self.name}: {lost}; it did not come back in {self._attempts} attempts")
        _log.error("%s: %s; opening it anew", self.name, lost)
        pause_s = REOPEN_AFTER_S[self._attempts]
        self._attempts += 1
        if self._waited(pause_s):
            try:
                self._open()
            except _Lost as error:
                self._recover(error)
            else:
                self._reopened += 1

    def _waited(self, pause_s: float) -> bool:
        """Sleep in small parts; False when somebody wants to end."""
        until_ns = self._clock_ns() + round(pause_s * 1e9)
        while self._clock_ns() < until_ns and not self._interrupted:
            self._sleep(0.1)
        return not self._interrupted


def _api() -> Any:  # noqa: ANN401
    try:
        from picamera2 import Picamera2
    except (ImportError, ValueError, AttributeError) as error:
        if _is_there("picamera2"):  # "numpy.dtype size changed", "multiarray failed to import": a part of it was built for another numpy
            parts = ", ".join(_where(name) for name in ("numpy", "simplejpeg", "picamera2"))
            raise SourceFailed(
                f"picamera2 cannot be used, its parts do not fit together ({error}): {parts}; mend it with "
                f"`{sys.executable} -m pip install --force-reinstall --no-deps simplejpeg`, or by running systemd/install.sh again"
            ) from error
        raise SourceFailed(
            "picamera2 cannot be imported here: install it with `sudo apt install python3-picamera2` and use a virtual environment "
            "made with --system-site-packages; off the Pi use `virtual`, a video file or a folder of stills"
        ) from error
    return Picamera2


def _is_there(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ValueError:
        return package in sys.modules  # loaded, without a file of its own


def _where(package: str) -> str:
    """Version and place of a package, without importing it."""
    spec = find_spec(package)
    try:
        return f"{package} {version(package)} in {spec.origin if spec else 'nowhere'}"
    except PackageNotFoundError:
        return f"{package} is not installed"


def _steady(colours: list[tuple[float, float]]) -> bool:
    recent = colours[-STEADY_FRAMES:]
    return len(recent) == STEADY_FRAMES and all(max(one) - min(one) <= STEADY * max(one) for one in zip(*recent, strict=True))


def _ends_within(limit_s: float, action: Callable[[], None]) -> bool:
    """Whether an action ended in time; what it raised is logged, since what is being closed is lost anyway."""

    def run() -> None:
        try:
            action()
        except (RuntimeError, OSError) as error:
            _log.warning("camera: closing it failed: %s", error)

    thread = threading.Thread(target=run, name="close-camera", daemon=True)
    thread.start()
    thread.join(limit_s)
    return not thread.is_alive()
