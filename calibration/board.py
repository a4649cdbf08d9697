"""The printed board: its layouts, each with a version that is printed on it, and the sheet to print."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Final, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.opencv_adapter import charuco_board
from rules.errors import WrongUsage

Image = NDArray[np.uint8]

MARGIN_MM: Final = 20.0  # printers leave a border white, and the scale line needs room
SHEET_MM: Final = (210.0, 297.0)  # A4: every printer has it
DPI: Final = 300  # a square of 25 mm is 295 dots: its edge is true to a twelfth of a millimetre
MM_PER_INCH: Final = 25.4


@dataclass(frozen=True, slots=True)
class Layout:
    """A board. `columns` x `rows` are squares for ChArUco, inner corners for a chessboard; `marker_mm` 0 for a chessboard."""

    kind: Literal["charuco", "chessboard"]
    columns: int
    rows: int
    square_mm: float
    marker_mm: float = 0.0
    markers: str = "DICT_5X5_100"
    version: str = ""

    @property
    def words(self) -> str:
        """For messages and the sheet's margin."""
        what = "squares" if self.kind == "charuco" else "inner corners"
        return f"{self.kind} {self.columns}x{self.rows} {what} of {self.square_mm:g} mm"


CHARUCO: Final = Layout("charuco", 7, 10, 25.0, 18.0, version="novuss board 1")
CHESSBOARD: Final = Layout("chessboard", 6, 9, 25.0, version="novuss chessboard 1")
# Boards that people already have: inner corners of the common chessboards, OpenCV's own sheets among them.
COMMON_CHESSBOARDS: Final = tuple(Layout("chessboard", c, r, 25.0) for c, r in ((9, 6), (8, 6), (7, 6), (8, 5), (7, 5), (11, 8), (10, 7)))


def sheet(layout: Layout) -> Image:
    """The board on an A4 sheet at 300 dpi, uint8 grey; the margin says layout, version and how to check the scale."""
    squares = (layout.columns, layout.rows) if layout.kind == "charuco" else (layout.columns + 1, layout.rows + 1)
    sheet_mm = SHEET_MM if squares[0] <= squares[1] else SHEET_MM[::-1]
    if any(n * layout.square_mm > room - MARGIN_MM for n, room in zip(squares, sheet_mm, strict=True)):
        most = min((room - MARGIN_MM) / n for n, room in zip(squares, sheet_mm, strict=True))
        raise WrongUsage(
            f"a board of {squares[0]}x{squares[1]} squares of {layout.square_mm:g} mm does not fit on A4; at most {most:.0f} mm"
        )
    width, height = (round(v / MM_PER_INCH * DPI) for v in sheet_mm)
    page = np.full((height, width), 255, np.uint8)
    square = layout.square_mm / MM_PER_INCH * DPI
    if layout.kind == "charuco":
        size = (round(layout.columns * square), round(layout.rows * square))
        board = charuco_board(layout.columns, layout.rows, layout.square_mm, layout.marker_mm, layout.markers, legacy=False)
        picture = np.asarray(board.generateImage(size), dtype=np.uint8)
    else:
        columns, rows = layout.columns + 1, layout.rows + 1
        size = (round(columns * square), round(rows * square))
        x = np.floor(np.arange(size[0]) / square).astype(int)
        y = np.floor(np.arange(size[1]) / square).astype(int)
        picture = np.where((x[None, :] + y[:, None]) % 2 == 0, 0, 255).astype(np.uint8)
    left, top = (width - size[0]) // 2, (height - size[1]) // 2
    page[top : top + size[1], left : left + size[0]] = picture
    text = f"{layout.version}: {layout.words}. Print at 100 %, glue flat. 100 mm:"
    cv2.putText(page, text, (left, height - 90), cv2.FONT_HERSHEY_SIMPLEX, 1.0, 0, 2, cv2.LINE_AA)
    ruler = round(100 / MM_PER_INCH * DPI)
    cv2.line(page, (left, height - 50), (left + ruler, height - 50), 0, 3)
    for x_px in (left, left + ruler):
        cv2.line(page, (x_px, height - 65), (x_px, height - 35), 0, 3)
    return page


def pdf_of(page: Image) -> bytes:
    """The sheet as a PDF that prints at its true size: one page, one losslessly packed picture."""
    height, width = page.shape
    points = [v / DPI * 72 for v in (width, height)]
    packed = zlib.compress(page.tobytes(), 9)
    draw = f"q {points[0]:.3f} 0 0 {points[1]:.3f} 0 0 cm /Board Do Q".encode()
    picture = (
        f"/Type /XObject /Subtype /Image /Width {width} /Height {height} /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /FlateDecode"
    )
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {points[0]:.3f} {points[1]:.3f}] /Resources << /XObject << /Board 5 0 R >> >> "
        "/Contents 4 0 R >>".encode(),
        f"<< /Length {len(draw)} >>\nstream\n".encode() + draw + b"\nendstream",
        f"<< {picture} /Length {len(packed)} >>\nstream\n".encode() + packed + b"\nendstream",
    ]
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010d} 00000 n \n".encode() for place in places)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n".encode()
    return bytes(out)
