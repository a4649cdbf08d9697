"""`novuss detect`: one still in, its discs out as one JSON record."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec

from calibration.camera import Camera, load_calibration
from calibration.coarse import South
from calibration.find import find_table
from calibration.lens import load_lens
from device.images import read_image
from rules.errors import TableNotFound, WrongUsage
from vision.detect import detect as detect_discs


def detect(
    image: Path,
    *,
    lens: Path | None = None,
    calibration: Path | None = None,
    camera: str | None = None,
    south: South = "bottom",
) -> None:
    """Find every disc in a picture and print where it stands on the table, as one JSON object.

    Examples:

    - `novuss detect table.jpg --calibration cal.json`
    - `novuss detect table.jpg --lens lens.json`: the table is found by its own lines

    Parameters
    ----------
    image
        A still (JPEG, PNG, BMP, TIFF, WebP).
    lens
        Lens file of this camera mode; the table is found from its own lines.
    calibration
        Calibration file instead of a lens: the camera hasn't moved since.
    camera
        Name of a known camera, where there is neither.
    south
        Side of the picture that player S sits at.
    """
    if lens is not None and calibration is not None:
        raise WrongUsage("give --lens or --calibration, not both: a calibration holds its lens")
    picture = read_image(image)
    if calibration is not None:
        known = load_calibration(calibration)
        known.lens.check_size(picture.shape[1], picture.shape[0], str(image))
    else:
        optics = load_lens(lens) if lens is not None else None
        if optics is not None:
            optics.check_size(picture.shape[1], picture.shape[0], str(image))
        try:
            fit = find_table([picture], optics, south=south, camera=camera)
        except TableNotFound as error:
            raise TableNotFound(f"{image}: {error}") from error
        for problem in fit.problems:
            print(f"novuss: {image}: {problem}", file=sys.stderr)
        known = fit.calibration
    seen = msgspec.structs.replace(detect_discs(picture, Camera(known)), image=os.fsencode(image.name).decode(errors="backslashreplace"))
    sys.stdout.write(msgspec.json.encode(seen).decode() + "\n")
