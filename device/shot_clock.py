"""19.3: when the thirty seconds begin: the striker in hand, or at rest on the player's side, and everything where it is to lie.

Only shown: whoever plays without a judge sees the time, and a judge rules on it.
"""

from __future__ import annotations

from rules.facts import SeenDiscs
from rules.fold import State
from rules.places import not_in_place
from rules.table import depth_mm


class ShotClock:
    """Looks at the live picture; begins once for each stroke."""

    def __init__(self) -> None:
        self._waited_for: tuple[str, int, int] | None = None

    def begins(self, seen: SeenDiscs, state: State | None, *, moving: bool) -> bool:
        """Whether the wait for the next stroke begins with this picture."""
        if state is None or state.core.over is not None or moving:
            return False
        now = state.core.set
        # Replays count their strokes anew, so what is finished belongs to the name of a wait.
        waits_for = (state.match.id, len(state.core.done), now.strokes)
        if waits_for == self._waited_for or not_in_place(now.awaiting, seen.discs):
            return False
        strikers = [disc for disc in seen.discs if disc.kind == "striker"]
        if strikers and all(depth_mm(now.turn, disc.x_mm, disc.y_mm, 0.0) <= 0.0 for disc in strikers):
            return False  # still with the other player, who has to push it over (12.20)
        self._waited_for = waits_for
        return True
