"""`novuss calibrate`: the table found from its own lines."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Final

import cv2
import msgspec
import numpy as np
from cyclopts import Parameter
from numpy.typing import NDArray

from calibration.coarse import South
from calibration.find import find_table
from calibration.lens import load_lens
from calibration.report import draw_report
from device.images import read_image
from device.sources.choose import PICAMERA, VIRTUAL, open_source
from device.sources.frame import Source
from device.sources.stills import SUFFIXES as STILL_SUFFIXES
from device.sources.video import VideoSource
from device.storage.atomic import write_bytes
from rules.errors import Bug, InputUnusable, TableNotFound

MOST_FRAMES: Final = 8  # of one unmoved camera; more add noise averaging only
VIDEO_FRAMES: Final = 4
VIDEO_STRIDE: Final = 30  # half a second at 60 frames per second: hands move on and uncover other lines
VIDEOS: Final = (".mp4", ".mkv", ".mov", ".avi", ".m4v", ".webm")


def calibrate(
    source: str,
    *,
    lens: Path | None = None,
    camera: str | None = None,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    south: South = "bottom",
    report: Path | None = None,
) -> None:
    """Find the table by its own lines and write its calibration.

    Examples:

    - `novuss calibrate table.jpg --lens lens.json -o cal.json --report cal.png`
    - `novuss calibrate stills/ --camera gs --south left`: several pictures of one camera, turned by a quarter, lens not known

    Parameters
    ----------
    source
        `picamera`, a picture, a folder of stills or a video, of one unmoved camera.
    lens
        Lens file of this camera mode; without one the lens is estimated from the table, or refused.
    camera
        Name of the camera when there is no lens file: gs, hq, hqbin, module3.
    output
        File to write; standard output when not given.
    south
        Where side S lies in the picture.
    report
        PNG that shows what was found where, and how well it fits.
    """
    known = load_lens(lens) if lens is not None else None
    if source in (PICAMERA, VIRTUAL):
        opened = open_source(source)
        known = known or getattr(opened, "lens", None)
        pictures = _frames(opened)
    else:
        pictures = read_pictures(source)
    if known is not None:
        known.check_size(pictures[0].shape[1], pictures[0].shape[0], source)
    try:
        fit = find_table(pictures, known, south=south, camera=camera)
    except TableNotFound as error:
        raise TableNotFound(f"{source}: {error}") from error
    for problem in fit.problems:
        sys.stderr.write(f"{source}: {problem}\n")
    text = msgspec.json.encode(fit.calibration)
    if output is None:
        sys.stdout.write(text.decode() + "\n")
    else:
        write_bytes(output, text + b"\n")
    if report is not None:
        write_bytes(report, _png(draw_report(pictures[0], fit)))


def read_pictures(source: str) -> list[NDArray[np.uint8]]:
    """The pictures of SOURCE that calibration uses; at most MOST_FRAMES, spread over the whole."""
    path = Path(source)
    if path.is_dir():
        files = sorted(p for p in path.iterdir() if p.suffix.lower() in STILL_SUFFIXES)
        if not files:
            raise InputUnusable(f"{path}: no pictures in this folder")
        chosen = [files[i] for i in np.unique(np.linspace(0, len(files) - 1, MOST_FRAMES).round().astype(int))]
        return [read_image(p) for p in chosen]
    if path.suffix.lower() in VIDEOS:
        return _frames(VideoSource(path))
    return [read_image(path)]


def _frames(source: Source) -> list[NDArray[np.uint8]]:
    """A few frames of a video or camera, half a second apart; the source is closed."""
    kept: list[NDArray[np.uint8]] = []
    try:
        count = 0
        while len(kept) < VIDEO_FRAMES and (frame := source.read()) is not None:
            if count % VIDEO_STRIDE == 0:
                kept.append(frame.image)
            count += 1
    finally:
        source.close()
    if not kept:
        raise InputUnusable(f"{source.name}: gave no frame")
    return kept


def _png(picture: NDArray[np.uint8]) -> bytes:
    written, data = cv2.imencode(".png", picture)
    if not written:
        raise Bug("a report could not be written as PNG")
    return bytes(data)
