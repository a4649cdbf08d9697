"""Thirty seconds for a stroke (19.3): counted from the striker in the player's hand, or at rest on the player's side of the table.

Whose turn it is, the rule book knows; here it is only seen on whose side the striker is. What is in doubt is not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rules.table import SIDES, ZONE_LINE_MM, Side, depth_mm
from vision.motion.track import Track

LIMIT_S: Final = 30.0  # 19.3
_AGAIN_S: Final = 5.2  # a player who has been told has five seconds (19.3); said once more when they are over
_LONGEST_STEP_S: Final = 0.5  # a longer pause between two frames is not known to have been the player's
_BEFORE_ZONE_MM: Final = 25.0  # a striker put down a little too far in is still on its player's side


def holder(striker: Track | None, arm: Side | None, playing: Sequence[Side]) -> Side | None:
    """The side on which the striker lies, or whose hand it is in; None where that is not certain."""
    if striker is None:
        return None
    if striker.state == "rest" or (striker.state == "active" and not striker.moves and not striker.missed and not striker.hidden):
        x, y = float(striker.at_mm[0]), float(striker.at_mm[1])
        sides = [side for side in playing or SIDES if depth_mm(side, x, y, ZONE_LINE_MM) > -_BEFORE_ZONE_MM]
        return sides[0] if len(sides) == 1 else None
    in_hand = striker.by_arm and (striker.hidden or striker.state == "lost")
    return arm if in_hand else None


class StrokeClock:
    """Seconds that count, for one striker; told when they pass the limit, and once more after the grace."""

    def __init__(self) -> None:
        self._side: Side | None = None
        self._elapsed_s = 0.0
        self._last_s: float | None = None
        self._due_s = LIMIT_S

    def restart(self) -> None:
        """A stroke has been made, or the striker is on nobody's side."""
        self._side, self._elapsed_s, self._due_s = None, 0.0, LIMIT_S

    def tick(self, t_s: float, side: Side | None, *, hindered: bool) -> float | None:
        """The striker is with `side` at this time (None: not known, nothing is counted); seconds so far when they are to be told.

        `hindered`: somebody or something is in the player's way.
        """
        step_s = 0.0 if self._last_s is None else t_s - self._last_s
        self._last_s = t_s
        if side is None:
            return None
        if side != self._side:
            self.restart()
            self._side = side
            return None
        if hindered or not 0.0 < step_s <= _LONGEST_STEP_S:
            return None
        self._elapsed_s += step_s
        if self._elapsed_s <= self._due_s:
            return None
        self._due_s = self._elapsed_s + _AGAIN_S if self._due_s == LIMIT_S else float("inf")
        return self._elapsed_s
