"""A stroke as a camera films it: frames with a counter drawn in, the facts that were seen, and the ruling that the book gives."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth import camera_of
from calibration import Camera
from device.evidence.film import UnderWay
from device.sources.frame import Frame
from device.storage.match_log import LogLine
from rules.facts import Contact, Disc, Entry, Match, Player, Position, Rest, Stroke, Struck
from rules.fold import start, step
from rules.ruling import Ruling
from virtual_table import Look, overhead, render_still

FPS = 60
FRAME_NS = 1_000_000_000 // FPS
BITS = 12  # of the counter: 4096 frames
BIT_PX = 10  # large enough to survive the codec
OPTICS = overhead(728, 544)  # half the Global Shutter Camera's frame: the film keeps it as it is, and tests are quick

MATCH = Match(
    id="m1",
    ruleset="lnf-2008",
    format="singles",
    sets=5,
    players={"S": Player(name="Anna Ozoliņa", colour="red"), "N": Player(name="Bērziņš Jānis", colour="black")},
    first_turn="S",
)
STRUCK_S, CONTACT_S, REST_S = 4.0, 4.31, 5.6
START_MM, MEETING_MM, END_MM = (-20.0, -420.0), (62.0, 170.0), (180.0, 60.0)
TARGET = "r2"
DISCS = [
    ("r1", "red", -212.0, -375.1),
    ("r2", "red", 70.0, 206.5),
    ("r3", "red", 322.0, 214.0),
    ("b1", "black", -58.0, 44.0),
    ("b2", "black", 231.0, -155.0),
    ("b3", "black", -340.0, 289.0),
]


def camera() -> Camera:
    return camera_of(OPTICS)


def striker_at(t_s: float) -> tuple[float, float]:
    if t_s <= STRUCK_S:
        return START_MM
    if t_s <= CONTACT_S:
        part, a, b = (t_s - STRUCK_S) / (CONTACT_S - STRUCK_S), START_MM, MEETING_MM
    else:
        part, a, b = min(1.0, (t_s - CONTACT_S) / (REST_S - CONTACT_S)), MEETING_MM, END_MM
    return a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part


def target_at(t_s: float) -> tuple[float, float]:
    part = max(0.0, min(1.0, (t_s - CONTACT_S) / (REST_S - CONTACT_S)))
    return 70.0 + 30.0 * part, 206.5 + 140.0 * part


def picture(t_s: float) -> NDArray[np.uint8]:
    x, y = striker_at(t_s)
    tx, ty = target_at(t_s)
    scene = [(name, kind, tx if name == TARGET else px, ty if name == TARGET else py) for name, kind, px, py in DISCS]
    image = render_still([*scene, ("striker", "striker", x, y)], OPTICS, Look(wear=0.15, lamp="panels"), 3)
    return np.asarray(image, dtype=np.uint8)


def numbered(image: NDArray[np.uint8], number: int) -> NDArray[np.uint8]:
    """The picture with its number as a row of black and white squares in the corner."""
    out = image.copy()
    for bit in range(BITS):
        level = 255 if number >> bit & 1 else 0
        out[:BIT_PX, bit * BIT_PX : (bit + 1) * BIT_PX] = level
    out.setflags(write=False)
    return out


def number_in(image: NDArray[np.uint8]) -> int:
    """The number that is drawn in a picture."""
    return sum(1 << bit for bit in range(BITS) if int(image[BIT_PX // 2, round((bit + 0.5) * BIT_PX)].mean()) > 127)


def frames(image: NDArray[np.uint8], last_s: float, *, first_s: float = 0.0, jitter_ns: int = 0) -> Iterator[tuple[Frame, UnderWay, bool]]:
    """Sixty a second, each with its number in the picture, and what moves; `jitter_ns` makes their times uneven."""
    for seq in range(round(first_s * FPS), round(last_s * FPS)):
        t_ns = seq * FRAME_NS + (seq * 7919 % 1000) * jitter_ns // 1000
        t_s = t_ns / 1e9
        moving: UnderWay = ()
        if STRUCK_S < t_s < REST_S:
            moving = (("striker", "striker", *striker_at(t_s)),)
            if t_s > CONTACT_S:
                moving += ((TARGET, "red", *target_at(t_s)),)
        yield Frame(numbered(image, seq), t_ns, seq), moving, STRUCK_S - 0.2 < t_s < REST_S + 0.2


def stroke(side: str = "S") -> Stroke:
    before = [Disc(id=name, kind=kind, x_mm=x, y_mm=y, sigma_mm=0.35) for name, kind, x, y in DISCS]  # type: ignore[arg-type]
    x, y = target_at(REST_S)
    after = [Disc(id=d.id, kind=d.kind, x_mm=x if d.id == TARGET else d.x_mm, y_mm=y if d.id == TARGET else d.y_mm) for d in before]
    return Stroke(
        side=side,  # type: ignore[arg-type]
        before=Position(discs=[*before, Disc(id="striker", kind="striker", x_mm=START_MM[0], y_mm=START_MM[1])]),
        timeline=[Struck(t=STRUCK_S), Contact(t=CONTACT_S, discs=["striker", TARGET]), Rest(t=REST_S)],
        after=Position(discs=[*after, Disc(id="striker", kind="striker", x_mm=END_MM[0], y_mm=END_MM[1])]),
    )


def ruled(fact: Stroke) -> Ruling:
    return step(start(MATCH), Entry(stroke=fact))[1]


def line_of(fact: Stroke, entry: int = 1, evidence: str | None = None) -> LogLine:
    return LogLine(entry, MATCH.id, entry, f"k{entry}", Entry(stroke=fact), "2026-11-29T20:01:00.000Z", True, evidence)
