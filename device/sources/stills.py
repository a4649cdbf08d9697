"""A folder of still pictures as a camera: sorted by name, one frame each."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from device.images import read_image
from device.sources.frame import Frame
from rules.errors import InputUnusable, SourceFailed

SUFFIXES: Final = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp"})
STILL_INTERVAL_NS: Final = 1_000_000_000  # stills carry no usable clock; one second apart reads as "at rest" everywhere


def _natural(path: Path) -> list[tuple[int, int, str]]:
    """`9.jpg` before `10.jpg`."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", path.name.lower()) if part]


class StillsSource:
    """Pictures of one folder in natural order of their names; all must have the first one's size."""

    def __init__(self, folder: Path) -> None:
        try:
            self._paths = sorted((p for p in folder.iterdir() if p.suffix.lower() in SUFFIXES), key=_natural)
        except OSError as error:
            raise InputUnusable(f"{folder}: folder cannot be read ({error.strerror})") from error
        if not self._paths:
            raise InputUnusable(f"{folder}: no pictures in this folder ({', '.join(sorted(SUFFIXES))})")
        self.name = str(folder)
        first = read_image(self._paths[0])
        self.size_px = (first.shape[1], first.shape[0])
        self._next = 0

    def read(self) -> Frame | None:
        """Next picture; SourceFailed when it cannot be read or has another size."""
        if self._next >= len(self._paths):
            return None
        path, seq = self._paths[self._next], self._next
        try:
            image = read_image(path)
        except InputUnusable as error:
            raise SourceFailed(str(error)) from error
        if (image.shape[1], image.shape[0]) != self.size_px:
            raise SourceFailed(f"{path}: is {image.shape[1]}x{image.shape[0]} px, the first picture is {self.size_px[0]}x{self.size_px[1]}")
        self._next += 1
        return Frame(image=image, t_ns=seq * STILL_INTERVAL_NS, seq=seq)

    def close(self) -> None:
        """Nothing to free."""
