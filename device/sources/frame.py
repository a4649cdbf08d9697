"""What every camera hands on, and the protocol that every camera speaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture: `image` uint8 BGR (height, width, 3), read-only; `t_ns` exposure midpoint on the source's own clock.

    `seq` counts what the source produced, so a gap in it is a frame that was lost on the way.
    """

    image: NDArray[np.uint8]
    t_ns: int
    seq: int


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
