"""After a time without pictures nothing is called until the table has been seen at rest again: what happened meanwhile nobody saw."""

from __future__ import annotations

from typing import Final

BLIND_S: Final = 2.0  # as long as the camera may be silent before it is opened anew; shorter gaps are lost frames
SEEN_S: Final = 1.0  # at rest after it; what was moved meanwhile has been noticed by then


class BlindGuard:
    """Looks at the times of a live camera's frames. `reason` is why nothing is called at present, None when all is well."""

    def __init__(self) -> None:
        self._last_ns: int | None = None
        self._still_since_ns = 0
        self.reason: str | None = None

    def frame(self, t_ns: int) -> None:
        """A frame is about to be worked through."""
        if self._last_ns is not None and (gap_s := (t_ns - self._last_ns) / 1e9) >= BLIND_S:
            self.reason = f"the camera gave no picture for {gap_s:.1f} s"
            self._still_since_ns = t_ns
        self._last_ns = t_ns

    def seen(self, t_ns: int, *, at_rest: bool) -> None:
        """It was worked through; `at_rest`: nothing moves, and no hand is over the table."""
        if not at_rest:
            self._still_since_ns = t_ns
        elif self.reason is not None and t_ns - self._still_since_ns >= SEEN_S * 1e9:
            self.reason = None
