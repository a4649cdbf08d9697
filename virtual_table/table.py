"""The camera over the virtual table: iterate for frames, ask for the truth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

from rules.table import Kind
from virtual_table.discs import Spot
from virtual_table.hands import Shape
from virtual_table.look import Look
from virtual_table.mischief import Mischief
from virtual_table.motion import Place
from virtual_table.optics import Optics, overhead
from virtual_table.physics import Surface
from virtual_table.quiet import Mishaps, Nothing, Quiet
from virtual_table.renderer import Renderer, instants
from virtual_table.shading import Image
from virtual_table.story import Habits, Story

HOP_MM_S: Final = 5000.0  # into the rail; only the hardest strokes send a disc over it


class VirtualFrame(NamedTuple):
    """`image` uint8 BGR, read-only; `t_ns` exposure midpoint on the table's own clock; `seq` rises by one.

    With a rolling shutter `t_ns` is the middle row's; row r is exposed readout_s * (r / (height - 1) - 0.5) later.
    """

    image: Image
    t_ns: int
    seq: int


class TrueDisc(NamedTuple):
    """A disc as it really is at one instant; `z_mm` > 0 in a hand, < 0 falling into a pocket."""

    id: str
    kind: Kind
    x_mm: float
    y_mm: float
    z_mm: float
    speed_mm_s: float


class VirtualTable:
    """A match on a table that does not exist, seen by a camera that could. The same seed gives the same match, bit for bit.

    `wait_for_ruling`: the players wait for `ruled` after each stroke, for a while, before they go by their own simple reading.
    `opening`: each set from the start position, or from pieces scattered as in the middle of a set. `clumsy`, `mischief`,
    `sloppy`: how often which things go wrong (`Habits`). `nothing`: instead of a match, one of the things that are no stroke and no
    fault (`Nothing`), for half a minute. `mishaps`: instead of a match, these mischiefs one after the other for as long.
    """

    def __init__(
        self,
        seed: int = 0,
        width: int = 1456,
        height: int = 1088,
        fps: float = 60.0,
        exposure_s: float = 0.004,
        look: Look | None = None,
        camera: Optics | None = None,
        surface: Surface | None = None,
        sets: int = 5,
        wait_for_ruling: bool = False,
        opening: Literal["start", "scattered"] = "start",
        clumsy: float = 0.0,
        mischief: tuple[Mischief, ...] = ("hand",),
        sloppy: float = 0.0,
        nothing: Nothing | None = None,
        mishaps: tuple[Mischief, ...] = (),
    ) -> None:
        self.look = Look(seed=seed) if look is None else look
        self.camera = overhead(width, height) if camera is None else camera
        self.fps = fps
        self.exposure_s = exposure_s
        faster = 1 - 0.4 * self.look.powder  # boric powder makes the wood slippery
        surface = Surface(mu=0.1 * faster, hop_mm_s=HOP_MM_S) if surface is None else surface
        habits = Habits(surface, sets, wait_for_ruling, opening, clumsy, mischief, sloppy)
        if mishaps:
            self._story: Story = Mishaps(seed, habits, mishaps)
        else:
            self._story = Story(seed, habits) if nothing is None else Quiet(seed, habits, nothing)
        self._seed = seed
        self._scale = self.camera.px_per_mm(0.0, 0.0)
        self._seq = 0

    @cached_property
    def _renderer(self) -> Renderer:
        """Made when the first frame is wanted: who only asks for the truth does not wait for a background."""
        return Renderer(self.camera, self.look, self._seed)

    # --- truth -------------------------------------------------------------------------------------------------------

    @property
    def lens(self) -> dict[str, Any]:
        """`novuss.lens/1` of this camera."""
        return self.camera.lens

    @property
    def match(self) -> dict[str, Any]:
        """The match entry's value (`novuss.match/1`)."""
        return self._story.match

    @property
    def strokes(self) -> list[dict[str, Any]]:
        """Truth of every stroke that has ended in the story so far; times in seconds of the table's clock."""
        return self._story.strokes

    @property
    def incidents(self) -> list[dict[str, Any]]:
        """Truth of what happened to pieces between strokes (the contract's incidents)."""
        return self._story.incidents

    def truth_at(self, t_s: float) -> list[TrueDisc]:
        """Every disc that exists on or over the table at a time that has already been filmed (or is about to be)."""
        self._story.extend(t_s)
        kinds = {i: track.kind for i, track in self._story.tracks.items()}
        return [TrueDisc(i, kinds[i], p.x_mm, p.y_mm, p.z_mm, p.speed_mm_s) for i, p in self._story.places(t_s).items()]

    def shapes_at(self, t_s: float) -> list[Shape]:
        """Hands and cues over the table, or on their way, at a time that has already been filmed."""
        shapes = [act.shape_at(t_s, self.exposure_s, self._scale) for act in self._story.acts]
        return [shape for shape in shapes if shape is not None]

    def ruled(self, ruling: dict[str, Any]) -> None:
        """A `novuss.ruling/1` of the last stroke; the players lay out, put back and go on as it says."""
        if ruling.get("kind", "stroke") == "stroke":
            self._story.rulings.append(ruling)

    # --- frames ------------------------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[VirtualFrame]:
        while (frame := self.next_frame()) is not None:
            yield frame

    def prepare(self) -> None:
        """Draw the empty table now, so that the first frame comes as fast as the others."""
        self._renderer.frame()

    def skip(self, frames: int) -> None:
        """Frames that nobody takes: time goes on and `seq` with it."""
        self._seq += frames

    def next_frame(self) -> VirtualFrame | None:
        """The next picture, or None when the match is over."""
        start = self._seq / self.fps
        end = start + self.exposure_s + self.camera.readout_s
        self._story.extend(end)
        if self._story.over and self._story.known_s < end:
            return None
        middle = start + self.exposure_s / 2
        image = self._picture(start, middle)
        image.setflags(write=False)
        frame = VirtualFrame(image, round(middle * 1e9), self._seq)
        self._seq += 1
        return frame

    def _picture(self, start: float, middle: float) -> Image:
        resting: list[Spot] = []
        moving: list[Sequence[Spot]] = []
        early, late = start - self.camera.readout_s / 2, start + self.exposure_s + self.camera.readout_s / 2
        opened, closed = self._story.places(early), self._story.places(late)
        for i, track in self._story.tracks.items():
            a, b = opened.get(i), closed.get(i)
            if a is None and b is None:
                continue
            if a is not None and b is not None and a[:3] == b[:3] and a.z_mm == 0 and a.speed_mm_s == 0 == b.speed_mm_s:
                resting.append(Spot(i, track.kind, a.x_mm, a.y_mm, 0.0, a.angle_rad))
                continue
            delay = self._row_delay(track.at(middle))
            speed = max(p.speed_mm_s for p in (a, b, track.at(middle)) if p is not None)
            spots = []
            for t in instants(start + delay, self.exposure_s, speed, self._scale):
                p = track.at(t)
                if p is not None and p.on_table:
                    spots.append(Spot(i, track.kind, p.x_mm, p.y_mm, p.z_mm, p.angle_rad, p.vx_mm_s, p.vy_mm_s))
            if spots:
                moving.append(spots)
        self._renderer.rest(resting)
        light, shade = self._story.light_at(middle), self._story.shade_at(middle)
        return self._renderer.frame(moving, self.shapes_at(middle), light, self._seq, shade)

    def _row_delay(self, place: Place | None) -> float:
        """How much later than the middle row a rolling shutter exposes the row where a disc is, s."""
        if not self.camera.readout_s or place is None:
            return 0.0
        row = float(self.camera.to_px([[place.x_mm, place.y_mm, max(place.z_mm, 0.0)]])[0, 1])
        last = self.camera.height - 1
        return self.camera.readout_s * (min(max(row, 0.0), last) / last - 0.5)


def render_still(positions: Sequence[tuple[str, Kind, float, float] | Spot], camera: Optics, look: Look, noise_seed: int = 0) -> Image:
    """One picture of discs: (id, kind, x_mm, y_mm) each, or `Spot`s where a disc lies higher (on another one, on a rail)."""
    renderer = Renderer(camera, look, noise_seed)
    renderer.rest([p if isinstance(p, Spot) else Spot(*p) for p in positions])
    return renderer.frame()
