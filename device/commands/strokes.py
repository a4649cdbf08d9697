"""`novuss strokes`: a clip turned into stroke facts and incidents, one JSON line each."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from calibration.camera import Camera, load_calibration
from calibration.coarse import South
from calibration.lens import load_lens
from device.first_look import LookSettings, look
from device.sources.choose import PICAMERA, VIRTUAL
from device.sources.video import VideoSource
from rules.errors import WrongUsage
from rules.facts import Incident, Stroke
from rules.table import Colour, Side
from vision.watcher import Watcher


def strokes(
    video: str,
    *,
    lens: Path | None = None,
    calibration: Path | None = None,
    camera: str | None = None,
    south: South = "bottom",
    side: Side | None = None,
    colour: Colour | None = None,
) -> None:
    """Turn a video into stroke facts and incidents, one JSON line each, as a match log has them.

    Examples:

    - `novuss strokes clip.mp4 --lens lens.json --side S --colour red`
    - `novuss strokes clip.mp4 --calibration cal.json > facts.jsonl`

    Parameters
    ----------
    video
        A video file.
    lens
        Lens file (`novuss lens`); the table is then found by its lines.
    calibration
        Calibration file (`novuss calibrate`).
    camera
        Name of the camera when there is no lens file.
    south
        Where side S lies in the picture.
    side
        Side that the player strikes from; found from the striker's place when not given.
    colour
        The player's colour. Facts do not depend on it; it is accepted so that a script can hand on all it knows.
    """
    del colour
    if lens is not None and calibration is not None:
        raise WrongUsage("--lens and --calibration exclude each other: a calibration holds its lens")
    if video in (PICAMERA, VIRTUAL):
        raise WrongUsage(f"strokes reads a video file; for {video} use `novuss watch`")
    known = load_calibration(calibration) if calibration is not None else None
    source = VideoSource(Path(video))
    try:
        if known is None:
            settings = LookSettings(None if lens is None else load_lens(lens), camera, south)
            known = look(source, settings, lambda text: print(text, file=sys.stderr))
            source.close()
            source = VideoSource(Path(video))  # the frames that the first look took are part of the clip
        else:
            known.lens.check_size(*source.size_px, where=video)
        watcher = Watcher(Camera(known), sides=() if side is None else (side,))
        while (frame := source.read()) is not None:
            _write(watcher.push(frame.image, frame.t_ns, frame.seq))
        _write(watcher.finish())
    finally:
        source.close()


def _write(facts: list[Stroke | Incident]) -> None:
    for fact in facts:
        word = "stroke" if isinstance(fact, Stroke) else "incident"
        sys.stdout.write(msgspec.json.encode({word: fact}).decode() + "\n")
        sys.stdout.flush()
