"""The lens record (`novuss.lens/1`): pinhole matrix and Brown-Conrady distortion, as OpenCV defines them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from rules.errors import UNREADABLE, InputUnusable, LensMismatch


class Lens(msgspec.Struct, frozen=True, kw_only=True):
    """Optics of one camera mode; `dist` is k1, k2, p1, p2, k3 (OpenCV order). Pixel (0, 0) is a pixel's centre."""

    width: int
    height: int
    K: list[list[float]]
    dist: list[float]
    rms_px: float | None = None
    schema: str = "novuss.lens/1"

    @property
    def k_matrix(self) -> NDArray[np.float64]:
        """Pinhole matrix, shape (3, 3), px."""
        return np.array(self.K, dtype=np.float64)

    @property
    def dist_coeffs(self) -> NDArray[np.float64]:
        """Distortion k1, k2, p1, p2, k3, shape (5,)."""
        return np.array(self.dist, dtype=np.float64)

    def check_size(self, width: int, height: int, where: str) -> None:
        """Raise LensMismatch when the picture has another size than the lens was measured at."""
        if (width, height) != (self.width, self.height):
            raise LensMismatch(
                f"{where}: picture is {width}x{height} but lens or calibration is for {self.width}x{self.height}; "
                "use the one of this camera mode"
            )


def load_lens(path: Path) -> Lens:
    """Read a lens file; InputUnusable with path and reason when it cannot be used."""
    try:
        lens = msgspec.json.decode(path.read_bytes(), type=Lens)
    except OSError as error:
        raise InputUnusable(f"{path}: lens file cannot be read ({error.strerror})") from error
    except UNREADABLE as error:
        raise InputUnusable(f"{path}: not a lens file ({error})") from error
    if problem := impossible_lens(lens):
        raise InputUnusable(f"{path}: not a lens file: {problem}")
    return lens


def impossible_lens(lens: Lens) -> str:
    """What no lens can have, or an empty string."""
    shape_ok = len(lens.K) == 3 and all(len(row) == 3 for row in lens.K) and len(lens.dist) == 5
    if lens.schema != "novuss.lens/1" or not shape_ok or lens.K[2] != [0, 0, 1]:
        return "a lens of schema novuss.lens/1 has a 3x3 K and five dist values"
    if not (np.isfinite(lens.k_matrix).all() and np.isfinite(lens.dist_coeffs).all()):
        return "its lens holds values that are not finite"
    if min(lens.K[0][0], lens.K[1][1]) <= 0 or min(lens.width, lens.height) < 1:
        return "its lens has a focal length or a picture of no size"
    return ""
