"""Pictures of the table: background and resting discs are kept, only what moves is drawn again in each frame."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import cv2
import numpy as np

from virtual_table.background import draw_background
from virtual_table.discs import DiscPainter, Painted, Spot
from virtual_table.hands import Shape, draw_shapes
from virtual_table.look import Look
from virtual_table.optics import Optics
from virtual_table.shade import Shade, shaded
from virtual_table.shading import Field, Image, encode, sensor_noise

_MAX_INSTANTS: Final = 40  # of one exposure; a 6 m/s striker in 7 ms still has one a pixel
_INSTANT_PX: Final = 1.0  # largest step between two instants that still looks continuous

SpotsAt = Callable[[float], Sequence[Spot]]


class Renderer:
    """One camera, one look. `frame` needs the discs at any instant of the exposure and the shapes over the table."""

    def __init__(self, optics: Optics, look: Look, noise_seed: int = 0) -> None:
        self.optics = optics
        self.look = look
        self._painter = DiscPainter(optics.centre_mm, look)
        self._ground = optics.ground_mm
        bare, glare = draw_background(optics, look)
        # Kept for as long as the camera runs and only read in small parts: half the memory, and finer than a grey level still.
        self._bare, self._glare = bare.astype(np.float16), glare.astype(np.float16)
        self._noise_seed = noise_seed
        self._pad = 64  # room to shift the noise, so that frames near in time do not have the same
        shape = (optics.height + self._pad, optics.width + self._pad)
        self._more, self._less = sensor_noise(np.random.default_rng([noise_seed, 505]), shape, look.noise)
        self._resting: dict[str, Spot] = {}
        self._lin = self._bare.astype(np.float32)
        self._clean = encode(self._lin)
        self._solid = np.zeros(bare.shape[:2], dtype=np.float32)

    # --- resting discs -----------------------------------------------------------------------------------------------

    def rest(self, spots: Sequence[Spot]) -> None:
        """Keep these discs in the picture until the next call; only what changed is drawn."""
        new = {s.id: s for s in spots}
        changed = [s for s in (*self._resting.values(), *new.values()) if self._resting.get(s.id) != new.get(s.id)]
        self._resting = new
        boxes = [self._box([s]) for s in {(c.id, c.x_mm, c.y_mm): c for c in changed}.values()]
        for box in boxes:
            self._redraw(box)

    def _redraw(self, box: tuple[slice, slice]) -> None:
        self._lin[box] = self._bare[box]
        self._solid[box] = 0
        touched = [s for s in self._resting.values() if _overlap(self._box([s]), box)]
        cx, cy = self.optics.centre_mm[:2]
        touched.sort(key=lambda s: (s.z_mm, -math.hypot(s.x_mm - cx, s.y_mm - cy)))  # what is nearer to the camera comes last
        painted = []
        for spot in touched:
            part = _cut(self._box([spot]), box)
            painted.append((part, self._paint(part, [spot])))
        for part, paint in painted:
            self._lin[part] *= (1 - paint.shade)[..., None]
        for part, paint in painted:
            _over(self._lin[part], paint)
            self._solid[part] = np.maximum(self._solid[part], paint.cover)
        self._clean[box] = encode(self._lin[box])

    # --- one frame ---------------------------------------------------------------------------------------------------

    def frame(
        self,
        moving: Sequence[Sequence[Spot]] = (),
        shapes: Sequence[Shape] = (),
        light: float = 1.0,
        number: int = 0,
        shade: Shade | None = None,
    ) -> Image:
        """A picture: the resting discs, each moving disc at the instants of the exposure, shapes on top, noise.

        `light` scales the lamps (flicker, or a camera that changes its exposure), `shade` keeps them off a part of the picture;
        `number` picks the noise, so that a frame looks the same whether or not others were drawn before it.
        """
        clean = self._clean
        if light != 1.0:
            clean = encode(self._lin * np.float32(light))
        row, column = (int(v) for v in np.random.default_rng([self._noise_seed, number]).integers(0, self._pad, 2))
        rows, columns = slice(row, row + self.optics.height), slice(column, column + self.optics.width)
        if moving or shapes:
            clean = clean.copy()
            self._move(clean, moving, light)
            draw_shapes(clean, self.optics, shapes, self.look)
        if shade is not None:
            clean = shaded(clean, self._ground, shade)
        out = cv2.add(clean, self._more[rows, columns])
        cv2.subtract(out, self._less[rows, columns], dst=out)
        return np.asarray(out, dtype=np.uint8)

    def _move(self, clean: Image, moving: Sequence[Sequence[Spot]], light: float) -> None:
        boxes = [self._box(spots) for spots in moving]
        patches: list[tuple[tuple[slice, slice], Painted]] = [(b, self._paint(b, s)) for b, s in zip(boxes, moving, strict=True)]
        for group in _groups(boxes):
            box = _union([boxes[k] for k in group])
            lin = self._lin[box].copy()
            free = 1 - self._solid[box]
            for k in group:
                inner = _shift(boxes[k], box)
                lin[inner] *= (1 - patches[k][1].shade * free[inner])[..., None]
            for k in group:
                _over(lin[_shift(boxes[k], box)], patches[k][1])
            clean[box] = encode(lin * np.float32(light) if light != 1.0 else lin)

    def _paint(self, box: tuple[slice, slice], spots: Sequence[Spot]) -> Painted:
        middle = spots[len(spots) // 2]
        ground = self._ground[box]
        if self.optics.readout_s and (middle.vx_mm_s or middle.vy_mm_s):
            # A rolling shutter: each row sees the disc where it is at the row's own time, relative to the disc's middle row.
            row = float(self.optics.to_px([[middle.x_mm, middle.y_mm, 0.0]])[0, 1])
            later = (np.arange(box[0].start, box[0].stop) - row) * (self.optics.readout_s / (self.optics.height - 1))
            ground = ground - (later[:, None, None] * np.array([middle.vx_mm_s, middle.vy_mm_s])).astype(np.float32)
        px_per_mm = self.optics.px_per_mm(middle.x_mm, middle.y_mm)
        return self._painter.paint(ground, px_per_mm, list(spots), self._glare[box].astype(np.float32))

    def _box(self, spots: Sequence[Spot]) -> tuple[slice, slice]:
        reach = np.array([self._painter.reach_mm(s) for s in spots])
        if self.optics.readout_s:
            # The rows that a disc covers take this long to read; it is smeared by what it moves meanwhile.
            smear = self.optics.readout_s * 0.06 * max(abs(spots[0].vx_mm_s), abs(spots[0].vy_mm_s))
            reach += np.array([-smear, -smear, smear, smear])
        x0, y0 = reach[:, :2].min(axis=0)
        x1, y1 = reach[:, 2:].max(axis=0)
        middle = (x0 + x1) / 2, (y0 + y1) / 2
        corners = [(x, y, 0.0) for x in (x0, middle[0], x1) for y in (y0, middle[1], y1)]
        px = self.optics.to_px(corners)
        low, high = np.floor(px.min(axis=0)).astype(int), np.ceil(px.max(axis=0)).astype(int) + 1
        columns = slice(int(np.clip(low[0], 0, self.optics.width)), int(np.clip(high[0], 0, self.optics.width)))
        rows = slice(int(np.clip(low[1], 0, self.optics.height)), int(np.clip(high[1], 0, self.optics.height)))
        return rows, columns


def instants(start_s: float, exposure_s: float, speed_mm_s: float, px_per_mm: float) -> list[float]:
    """Instants that an exposure is averaged over: midpoints of equal parts, as many as the blur needs."""
    count = min(_MAX_INSTANTS, max(1, math.ceil(speed_mm_s * exposure_s * px_per_mm / _INSTANT_PX)))
    return [start_s + exposure_s * (k + 0.5) / count for k in range(count)]


def _over(under: Field, paint: Painted) -> None:
    under *= (1 - paint.cover)[..., None]
    under += paint.colour


def _overlap(a: tuple[slice, slice], b: tuple[slice, slice]) -> bool:
    return all(p.start < q.stop and q.start < p.stop for p, q in zip(a, b, strict=True))


def _cut(a: tuple[slice, slice], b: tuple[slice, slice]) -> tuple[slice, slice]:
    rows, columns = (slice(max(p.start, q.start), min(p.stop, q.stop)) for p, q in zip(a, b, strict=True))
    return rows, columns


def _union(boxes: Sequence[tuple[slice, slice]]) -> tuple[slice, slice]:
    return (
        slice(min(b[0].start for b in boxes), max(b[0].stop for b in boxes)),
        slice(min(b[1].start for b in boxes), max(b[1].stop for b in boxes)),
    )


def _shift(box: tuple[slice, slice], frame: tuple[slice, slice]) -> tuple[slice, slice]:
    rows, columns = (slice(p.start - q.start, p.stop - q.start) for p, q in zip(box, frame, strict=True))
    return rows, columns


def _groups(boxes: Sequence[tuple[slice, slice]]) -> list[list[int]]:
    """Indices of boxes that overlap, directly or through others, together."""
    left = set(range(len(boxes)))
    groups = []
    while left:
        group = [left.pop()]
        for seed in group:
            near = [k for k in sorted(left) if _overlap(boxes[seed], boxes[k])]
            group.extend(near)
            left.difference_update(near)
        groups.append(sorted(group))
    return groups
