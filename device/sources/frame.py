"""What every camera hands on, and the protocol that every camera speaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from device.settings.records import CameraSettings
from rules.errors import SourceFailed


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture: `image` uint8 BGR (height, width, 3), read-only; `t_ns` exposure midpoint on the source's own clock.

    `seq` counts what the source produced, so a gap in it is a frame that was lost on the way. `exposure_s`: of one row, where the source
    knows it. `readout_s`: from the first row's exposure to the last one's, 0 for a global shutter; `t_ns` is the middle row's then.
    """

    image: NDArray[np.uint8]
    t_ns: int
    seq: int
    exposure_s: float | None = None
    readout_s: float = 0.0


class Source(Protocol):
    """A camera. `read` blocks for the next frame; None is the end; SourceFailed is a failure, never mixed up with the end."""

    @property
    def name(self) -> str:
        """Shown to people, e.g. the file's name."""
        ...

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height of every frame."""
        ...

    def read(self) -> Frame | None:
        """Next frame, or None at the end."""
        ...

    def close(self) -> None:
        """Free the device; safe to call twice."""
        ...


class CameraMissing(SourceFailed):
    """The camera is not there, or somebody else has it: reseat its cable, end what else uses it; it is waited for."""


@runtime_checkable
class Adjustable(Protocol):
    """A source whose light can be changed while it runs, and that keeps account of what its device does."""

    def adjust(self, settings: CameraSettings) -> None:
        """Use another exposure, gain or focus from one of the next frames on; may be called from any thread."""
        ...

    def interrupt(self) -> None:
        """Let a `read` that waits for a lost camera end; may be called from a signal handler."""
        ...

    def figures(self) -> dict[str, Any]:
        """Rate, losses and complaints, for the health topic; may be called from any thread."""
        ...
