"""How long to wait before the next try: doubling, capped, spread so that a hall of tables does not come back in one instant."""

from __future__ import annotations

import random
from collections.abc import Callable

# Seconds. The first try comes at once after a hiccup; the cap keeps recovery within 10 s of the broker's return.
FIRST_S = 0.25
LONGEST_S = 5.0


class Backoff:
    """Waits for successive failures; `reset` after success."""

    def __init__(self, first_s: float = FIRST_S, longest_s: float = LONGEST_S, spread: Callable[[], float] = random.random) -> None:
        self._first_s = first_s
        self._longest_s = longest_s
        self._spread = spread
        self._failures = 0

    def reset(self) -> None:
        """The last try worked."""
        self._failures = 0

    def next_s(self) -> float:
        """Seconds to wait after one more failure: between half of and the whole current step."""
        # 2**10 steps are beyond any cap in use, and stay finite after a week of failures.
        step = min(self._longest_s, self._first_s * 2.0 ** min(self._failures, 10))
        self._failures += 1
        return step * (0.5 + 0.5 * self._spread())
