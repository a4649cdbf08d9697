"""picamera2's interface as far as it is used, on an injected clock: it can stall, vanish, repeat, reorder, lose and change its light.

Names, signatures and behaviour follow picamera2 0.3.38: one request at a time, `wait` in seconds, controls that must be advertised.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

DELAY_FRAMES = 4  # a control shows in the picture some frames after it was set


class Clock:
    """Time that passes only when somebody waits."""

    def __init__(self) -> None:
        self.now_ns = 5_000_000_000

    def ns(self) -> int:
        return self.now_ns

    def sleep(self, seconds: float) -> None:
        self.now_ns += round(seconds * 1e9)


class World:
    """The cable, the sensor and what goes wrong with them. Test code changes it while the camera runs."""

    def __init__(self, model: str = "imx296", size: tuple[int, int] = (1456, 1088)) -> None:
        self.clock = Clock()
        self.model = model
        self.size = size
        self.connected = True
        self.stalled = False
        self.hangs_on_close = threading.Event()
        self.hangs_on_close.set()
        self.small_memory = False
        self.broken_frame = False
        self.held = 0
        self.opened = 0
        self.configured: list[dict[str, Any]] = []
        self.awaiting_focus_frames = 5
        self.focuses = True
        self.next_stamps: list[int] = []  # offsets in frames, instead of the next ones
        self.change: Callable[[dict[str, Any]], Mapping[str, Any]] = lambda metadata: metadata


class Request:
    """A completed request that has to be given back."""

    def __init__(self, world: World, metadata: dict[str, Any]) -> None:
        self._world = world
        self._metadata = metadata
        world.held += 1

    def get_metadata(self) -> dict[str, Any]:
        return self._metadata

    def make_array(self, name: str) -> np.ndarray:
        assert name == "main"
        if self._world.broken_frame:
            raise RuntimeError("failed to find buffer")
        return np.zeros((self._world.size[1], self._world.size[0], 3), np.uint8)

    def release(self) -> None:
        self._world.held -= 1


def camera_class(world: World) -> type:
    """A stand-in for `picamera2.Picamera2` in this world."""

    class Picamera2:
        instances: ClassVar[list[Any]] = []

        @staticmethod
        def global_camera_info() -> list[dict[str, Any]]:
            return [{"Model": world.model, "Num": 0, "Id": "/base/soc/i2c0mux/i2c@1/imx296@1a"}] if world.connected else []

        def __init__(self, camera_num: int = 0) -> None:
            if not world.connected:
                raise RuntimeError("Camera __init__ sequence did not complete.")
            world.opened += 1
            self.instances.append(self)
            self._controls: dict[str, Any] = {}
            self._in_force: dict[str, Any] = {}
            self._pending: list[tuple[int, dict[str, Any]]] = []
            self._config: dict[str, Any] | None = None
            self._started = False
            self._frame = 0
            self._since_focus = 0

        @property
        def camera_properties(self) -> dict[str, Any]:
            return {"Model": world.model, "ColorFilterArrangement": 0}

        @property
        def camera_controls(self) -> dict[str, Any]:
            names = ["AeEnable", "AwbEnable", "ExposureTime", "AnalogueGain", "ColourGains", "FrameDurationLimits", "NoiseReductionMode"]
            names += ["AfMode", "AfTrigger", "LensPosition"] if world.model.startswith("imx708") else []
            return dict.fromkeys(names, (0, 0, 0))

        def create_video_configuration(
            self, main, lores=None, raw=None, buffer_count=6, controls=None, display="main", encode="main", queue=True, sensor=None
        ) -> dict[str, Any]:
            assert display is None or display == "main"
            return {"main": main, "raw": raw, "buffer_count": buffer_count, "controls": controls, "sensor": sensor}

        def configure(self, config: dict[str, Any]) -> None:
            assert not self._started, "Camera must be stopped before configuring"
            if world.small_memory and config["buffer_count"] > 4:
                raise OSError(12, "Cannot allocate memory")
            self._config = config
            world.configured.append(config)
            self._advertised(config["controls"])
            self._in_force = dict(config["controls"])

        def camera_configuration(self) -> dict[str, Any]:
            assert self._config is not None
            return {"main": {"size": world.size, "format": "RGB888"}}

        def start(self) -> None:
            assert self._config is not None, "Camera has not been configured"
            self._started = True

        def set_controls(self, controls: dict[str, Any]) -> None:
            self._advertised(controls)
            self._pending.append((self._frame + DELAY_FRAMES, dict(controls)))

        def _advertised(self, controls: Mapping[str, Any]) -> None:
            for name in controls:
                if name not in self.camera_controls:
                    raise RuntimeError(f"Control {name} is not advertised by libcamera")

        def capture_request(self, wait: float | None = None) -> Request:
            assert self._started
            assert world.held == 0, "a request was not given back"
            if world.stalled or not world.connected:
                assert wait is not None, "would wait for ever"
                world.clock.sleep(wait)
                raise TimeoutError
            while self._pending and self._pending[0][0] <= self._frame:
                self._in_force |= self._pending.pop(0)[1]
            self._frame += 1
            period_us = self._in_force["FrameDurationLimits"][0]
            offset = world.next_stamps.pop(0) if world.next_stamps else 1
            if offset > 0:
                world.clock.now_ns += offset * period_us * 1000
            stamp = world.clock.now_ns if offset > 0 else world.clock.now_ns + offset * period_us * 1000
            metadata = {
                "SensorTimestamp": stamp - 1_000_000,
                "ExposureTime": self._in_force["ExposureTime"] - 7,
                "AnalogueGain": self._in_force["AnalogueGain"] * 1.004,
                "FrameDuration": period_us,
                "ColourGains": self._in_force.get("ColourGains", (2.0 + 1.0 / self._frame, 1.5)),
            }
            if "AfMode" in self._in_force:
                metadata |= self._focus()
            return Request(world, dict(world.change(metadata)))

        def _focus(self) -> dict[str, Any]:
            if self._in_force["AfMode"] == 0:
                return {"AfState": 0, "LensPosition": self._in_force["LensPosition"]}
            self._since_focus += 1
            done = self._since_focus > world.awaiting_focus_frames
            return {"AfState": (2 if world.focuses else 3) if done else 1, "LensPosition": 0.87 if done else 0.1 * self._since_focus}

        def cancel_all_and_flush(self) -> None:
            pass

        def close(self) -> None:
            world.hangs_on_close.wait()
            self._started = False

    return Picamera2
