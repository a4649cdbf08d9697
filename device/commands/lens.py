"""`novuss lens`: the lens from pictures of a printed board, or the board to print."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated, Literal

import cv2
import msgspec
import numpy as np
from cyclopts import Parameter

from calibration.board import CHARUCO, CHESSBOARD, Layout, pdf_of, sheet
from calibration.board_lens import lens_from_pictures
from device.images import read_image
from device.storage.atomic import write_bytes
from rules.errors import Bug, WrongUsage


def lens(
    *images: Path,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    print_: Annotated[Path | None, Parameter(name="--print")] = None,
    kind: Literal["charuco", "chessboard"] | None = None,
    board: str | None = None,
    square_mm: float = 25.0,
    marker_mm: float = 18.0,
    markers: str = "DICT_5X5_100",
) -> None:
    """Measure a camera's lens from pictures of a printed board, or write the board to print.

    Examples:

    - `novuss lens --print board.pdf`: the board, A4; print at 100 % and glue it to something flat
    - `novuss lens shots/*.jpg -o lens.json`: 15 pictures, tilted, all over the picture, corners too
    - `novuss lens left*.jpg --kind chessboard --board 9x6 -o lens.json`: a chessboard with 9x6 inner corners

    Parameters
    ----------
    images
        Pictures of the board, taken with the camera mode and focus that will watch the table.
    output
        Lens file to write; standard output when not given.
    print_
        File to write the board to, .pdf or .png, instead of measuring.
    kind
        Board to print or look for; without one both are tried, ChArUco first.
    board
        Another board than ours, as COLUMNSxROWS: squares of a ChArUco board, inner corners of a chessboard.
    square_mm
        Side of a square of that board.
    marker_mm
        Side of a marker of that ChArUco board.
    markers
        OpenCV's name of its marker dictionary.
    """
    layout = _layout(kind, board, square_mm, marker_mm, markers)
    if print_ is not None:
        if images:
            raise WrongUsage("give pictures to measure from, or --print FILE, not both")
        _print(print_, layout or CHARUCO)
        return
    if not images:
        raise WrongUsage("give pictures of a board, or --print FILE to get one")
    grays = [(str(path), np.asarray(cv2.cvtColor(read_image(path), cv2.COLOR_BGR2GRAY), dtype=np.uint8)) for path in images]
    fit = lens_from_pictures(grays, layout)
    for name, reason in fit.unused.items():
        print(f"novuss: {name}: not used, {reason}", file=sys.stderr)
    print(
        f"novuss: {fit.layout.words}: {fit.views} views cover {fit.coverage:.0%} of the picture; "
        f"{fit.held_out_px:.2f} px on views left out",
        file=sys.stderr,
    )
    text = msgspec.json.encode(fit.lens)
    if output is None:
        sys.stdout.write(text.decode() + "\n")
    else:
        write_bytes(output, text + b"\n")


def _layout(
    kind: Literal["charuco", "chessboard"] | None, board: str | None, square_mm: float, marker_mm: float, markers: str
) -> Layout | None:
    if board is None:
        return {None: None, "charuco": CHARUCO, "chessboard": CHESSBOARD}[kind]
    numbers = re.fullmatch(r"(\d{1,2})x(\d{1,2})", board)
    if numbers is None or min(int(n) for n in numbers.groups()) < 3 or square_mm <= 0 or not 0 < marker_mm < square_mm:
        raise WrongUsage(f"--board {board!r}: want COLUMNSxROWS of at least 3, squares larger than markers, for example 9x6")
    columns, rows = (int(n) for n in numbers.groups())
    if kind == "chessboard":
        return Layout("chessboard", columns, rows, square_mm)
    return Layout("charuco", columns, rows, square_mm, marker_mm, markers)


def _print(path: Path, layout: Layout) -> None:
    page = sheet(layout)
    if path.suffix.lower() == ".pdf":
        write_bytes(path, pdf_of(page))
    elif path.suffix.lower() == ".png":
        written, data = cv2.imencode(".png", page)
        if not written:
            raise Bug("the board could not be written as PNG")
        write_bytes(path, bytes(data))
    else:
        raise WrongUsage(f"--print {path}: the name must end in .pdf or .png")
    print(f"novuss: {path}: {layout.version or layout.words}; print at 100 % and check the 100 mm line with a ruler", file=sys.stderr)
