"""What every camera hands on, and the protocol that every camera speaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


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
