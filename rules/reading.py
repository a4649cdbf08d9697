"""11.1-11.3: dark and light, and every other question that the camera may not be able to answer.

A `Reading` answers the questions of one evaluation. An answer that the measurement does not settle is written down with its
other possible answers; `rules.review` evaluates again with those. It lives for one evaluation only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from rules.facts import Disc, Pocketed, TimelineEvent
from rules.table import CIRCLE_RADIUS_MM, HALF_LINE_MM, PIECE_HOLE_MM, TOWARD, ZONE_LINE_MM, Zone

NEED_MM: Final = PIECE_HOLE_MM / 2 + HALF_LINE_MM  # 11.2: the axis of a piece this far beyond the line shows none of it
SIGMAS: Final = 2.0  # contract: too close to call within two sigma
SURE: Final = 0.95  # two sigma in the other currency: a confidence below this is a question


def clearance_mm(disc: Disc, zones: Iterable[Zone]) -> float:
    """Largest clearance of a piece over the given zones; >= 0 means dark there (11.2)."""
    return nearest_zone(disc, zones)[0]


def nearest_zone(disc: Disc, zones: Iterable[Zone]) -> tuple[float, Zone]:
    """The largest clearance over the given zones, and the zone that has it."""
    best = -math.inf
    at: Zone = "circle"
    for zone in zones:
        if zone == "circle":
            clear = CIRCLE_RADIUS_MM - NEED_MM - math.hypot(disc.x_mm, disc.y_mm)
        else:
            dx, dy = TOWARD[zone]
            clear = dx * disc.x_mm + dy * disc.y_mm - ZONE_LINE_MM - NEED_MM
        if clear > best:
            best, at = clear, zone
    return best, at


_TOUCHED: Final = ("touched", "untouched")
_FALLEN: Final = ("fallen", "stays")


def likelier(confidence: float, answers: tuple[str, str] = _TOUCHED) -> tuple[str, ...]:
    """The two answers to whether something happened (first: it did), the likelier one first."""
    return answers if confidence >= 0.5 else answers[::-1]


class Reading:
    """Answers to open questions (`assume`), and the questions that came up without one (`asked`)."""

    __slots__ = ("asked", "assume")

    def __init__(self, assume: dict[str, str] | None = None) -> None:
        self.assume = assume or {}
        self.asked: dict[str, tuple[str, ...]] = {}

    def ask(self, key: str, options: tuple[str, ...]) -> str:
        """The assumed answer, else the first option, which the caller puts first because it is the likelier one."""
        answer = self.assume.get(key)
        if answer in options:
            return answer
        self.asked.setdefault(key, options)
        return options[0]

    def believed(self, timeline: Iterable[TimelineEvent]) -> list[TimelineEvent]:
        """What happened, without discs in pockets that nobody saw for sure and that this reading has lying on the table still."""
        return [e for e in timeline if not isinstance(e, Pocketed) or self._fell(e)]

    def _fell(self, event: Pocketed) -> bool:
        if event.confidence is None or event.confidence >= SURE:
            return True
        return self.ask(f"{event.disc} {event.pocket}", likelier(event.confidence, _FALLEN)) == "fallen"

    def dark(self, disc: Disc, zones: Iterable[Zone]) -> bool:
        """11.2: whether the piece lies in one of the zones with no bounding line in its hole."""
        clear = clearance_mm(disc, zones)
        if disc.sigma_mm and abs(clear) <= SIGMAS * disc.sigma_mm:
            return self.ask(disc.id, ("dark", "light") if clear >= 0 else ("light", "dark")) == "dark"
        return clear >= 0

    def any_light(self, discs: Iterable[Disc], zones: tuple[Zone, ...]) -> bool:
        """11.3: whether one of the pieces is light; the certain ones are looked at first, so that no idle question comes up."""
        close: list[Disc] = []
        for disc in discs:
            clear = clearance_mm(disc, zones)
            if clear < -SIGMAS * (disc.sigma_mm or 0.0):
                return True
            if disc.sigma_mm and clear <= SIGMAS * disc.sigma_mm:
                close.append(disc)
        return any(not self.dark(disc, zones) for disc in close)
