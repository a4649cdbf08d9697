"""`novuss calibrate`: the table found from its own lines."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from calibration.coarse import South
from calibration.find import find_table
from calibration.lens import load_lens
from device.images import read_image
from rules.errors import InputUnusable

MOST_FRAMES: Final = 8  # of one unmoved camera; more add noise averaging only
PICTURES: Final = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp")


def calibrate(
    source: str,
    *,
    lens: Path | None = None,
    camera: str | None = None,
    output: Path | None = None,
    south: South = "bottom",
    report: Path | None = None,
) -> None:
    """Find the table in SOURCE (picture, folder of stills of one camera, or video) and write its calibration.

    Writes to `output`, or to stdout; `report` gets a picture that shows what was found where.

    Raises
    ------
    InputUnusable
        SOURCE or the lens file cannot be used, or the table is not certain.
    """
    known = load_lens(lens) if lens is not None else None
    pictures = read_pictures(source)
    if known is not None:
        known.check_size(pictures[0].shape[1], pictures[0].shape[0], source)
    fit = find_table(pictures, known, south=south, camera=camera)
    for problem in fit.problems:
        sys.stderr.write(f"{source}: {problem}\n")
    text = msgspec.json.encode(fit.calibration)
    if output is None:
        sys.stdout.write(text.decode() + "\n")
    else:
        write_whole(output, text + b"\n")


def read_pictures(source: str) -> list[NDArray[np.uint8]]:
    """The pictures of SOURCE that calibration uses; at most MOST_FRAMES, spread over the whole."""
    path = Path(source)
    if path.is_dir():
        files = sorted(p for p in path.iterdir() if p.suffix.lower() in PICTURES)
        if not files:
            raise InputUnusable(f"{path}: no pictures in this folder")
        chosen = [files[i] for i in np.unique(np.linspace(0, len(files) - 1, MOST_FRAMES).round().astype(int))]
        return [read_image(p) for p in chosen]
    return [read_image(path)]


def write_whole(path: Path, data: bytes) -> None:
    """Write under another name first: nothing partial is ever left under the final one."""
    part = path.with_name(path.name + ".part")
    try:
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise InputUnusable(f"{path}: cannot be written ({error.strerror})") from error
