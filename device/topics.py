"""The MQTT contract: topic names under `novuss/<table>`, which are retained, and at which QoS (contract.md, MQTT)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import msgspec


class Topic(NamedTuple):
    """How a topic is published."""

    name: str
    retained: bool
    qos: int


# Leaves the newest value of a topic for the subscribers; never waits.
Publish = Callable[[Topic, Mapping[str, Any] | msgspec.Struct], None]

STATUS: Final = Topic("status", retained=True, qos=1)  # also the last will
HEALTH: Final = Topic("health", retained=True, qos=0)
CALIBRATION: Final = Topic("calibration", retained=True, qos=1)
DISCS: Final = Topic("discs", retained=True, qos=0)
PICTURE: Final = Topic("picture", retained=False, qos=0)  # of the camera, while something is to be placed or a judge asks
MATCH: Final = Topic("match", retained=True, qos=1)
CLOCK: Final = Topic("clock", retained=True, qos=1)
STATS: Final = Topic("stats", retained=True, qos=1)
EVIDENCE: Final = Topic("evidence", retained=True, qos=1)  # the last clips and stills, and how full their folder is
STROKE: Final = Topic("stroke", retained=False, qos=1)
RULING: Final = Topic("ruling", retained=False, qos=1)
INCIDENT: Final = Topic("incident", retained=False, qos=1)
JUDGE: Final = Topic("judge", retained=False, qos=1)
JUDGE_RESULT: Final = Topic("judge/result", retained=False, qos=1)
REPLAY: Final = Topic("replay", retained=False, qos=1)
REPLAY_RESULT: Final = Topic("replay/result", retained=False, qos=1)
SEQUENCED: Final = (STROKE, RULING, INCIDENT)

PREFIX: Final = "novuss"


def path(table: str, topic: Topic) -> str:
    """Full topic name of one table, e.g. `novuss/hall-1/ruling`."""
    return f"{PREFIX}/{table}/{topic.name}"
