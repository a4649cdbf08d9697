"""A picture that shows a person at a glance what calibration found, how well it fits, and whether to believe it."""

from __future__ import annotations

import textwrap
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from calibration.covariance import worst_sigma_mm
from calibration.find import TableFit
from calibration.fit import Solution
from calibration.profiles import Marks
from rules.table import HALF_MM, PIECE_THICKNESS_MM, SIDES, TOWARD

Image = NDArray[np.uint8]
Array = NDArray[np.float64]
Bgr = tuple[int, int, int]

PANEL_PX: Final = 400
PANEL_LETTERS: Final = 34  # of this size in the panel
TALL_PX: Final = 1200  # report height; small enough to open anywhere, large enough to see a pixel of misfit times twenty
MAGNIFIED: Final = 20  # residuals are a tenth of a pixel: drawn to scale they cannot be seen
GOOD: Final[Bgr] = (80, 220, 60)
DOUBTFUL: Final[Bgr] = (0, 170, 255)
MISSING: Final[Bgr] = (60, 60, 255)
INK: Final[Bgr] = (255, 255, 255)
PAPER: Final[Bgr] = (40, 40, 40)
FINE_MM: Final = 0.25  # worst sigma on the table at a piece's face; what the verdict calls good
USABLE_MM: Final = 0.6


def draw_report(image: Image, fit: TableFit) -> Image:
    """Overlay on a dimmed copy of the picture.

    Green stretches agree with the fit, orange ones were seen elsewhere, red ones were not seen; a tick across a stretch is its
    residual, 20 times enlarged. S, N, W, E name the sides; the panel at the left gives the verdict in words.
    """
    scale = TALL_PX / image.shape[0]
    canvas = np.asarray(cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) * 0.55, dtype=np.uint8)
    solution = fit.solution
    at = 0
    for m in fit.marks:
        weight = solution.weight[at : at + len(m.index)]
        residual = solution.residual_px[at : at + len(m.index)]
        at += len(m.index)
        _draw_feature(canvas, scale, solution, m, weight, residual)
    camera = Camera(fit.calibration)
    for side in SIDES:
        dx, dy = TOWARD[side]
        x, y = camera.to_px([[dx * (HALF_MM + 22), dy * (HALF_MM + 22), 25.0]])[0] * scale
        _text(canvas, side, (int(x) - 12, int(y) + 12), 1.3, (0, 255, 255), 3)
    return np.hstack([_verdict(canvas.shape[0], fit), canvas])


def _draw_feature(canvas: Image, scale: float, solution: Solution, marks: Marks, weight: Array, residual: Array) -> None:
    px = solution.view.to_px(marks.feature.points_mm) * scale
    state = {int(i): (float(w), float(r)) for i, w, r in zip(marks.index, weight, residual, strict=True)}
    for i, stretch in enumerate(px):
        w, r = state.get(i, (0.0, float("nan")))
        colour = GOOD if w > 0.5 else DOUBTFUL if np.isfinite(r) else MISSING
        cv2.polylines(canvas, [np.round(stretch * 16).astype(np.int32)], False, colour, 1, cv2.LINE_AA, 4)
    for i, normal, (_, r) in zip(marks.index, marks.normal, state.values(), strict=True):
        if np.isfinite(r):
            start = px[i, px.shape[1] // 2]
            stop = start - normal * np.clip(r * MAGNIFIED, -60, 60) * scale
            cv2.line(canvas, tuple(np.round(start).astype(int).tolist()), tuple(np.round(stop).astype(int).tolist()), INK, 1, cv2.LINE_AA)


def _verdict(height_px: int, fit: TableFit) -> Image:
    calibration = fit.calibration
    worst = worst_sigma_mm(calibration, PIECE_THICKNESS_MM)
    word, colour = (
        ("GOOD", GOOD) if worst <= FINE_MM and not fit.problems else ("USABLE", DOUBTFUL) if worst <= USABLE_MM else ("POOR", MISSING)
    )
    camera = Camera(calibration)
    rows = [
        f"camera {camera.centre_mm[2] / 1000:.2f} m up, residual {calibration.rms_px:.2f} px",
        f"worst place on the table: {worst:.2f} mm (1 sigma)",
        "lens: given" if calibration.joint_covariance is None else f"lens: estimated, f = {calibration.lens.K[0][0]:.0f} px",
    ]
    rows += [f"{line.name}: {line.share:.0%} seen" for line in fit.lines if line.name.startswith(("zone", "circle", "pocket"))]
    rows += list(fit.problems)
    rows += ["", "green: agrees", "orange: seen elsewhere", "red: not seen", f"white ticks: misfit x {MAGNIFIED}"]
    panel = np.full((height_px, PANEL_PX, 3), PAPER, dtype=np.uint8)
    _text(panel, word, (22, 56), 1.3, colour, 3)
    lines = [part for row in rows for part in textwrap.wrap(row, PANEL_LETTERS) or [""]]
    for i, line in enumerate(lines):
        _text(panel, line, (22, 100 + 28 * i), 0.55, INK, 1)
    return panel


def _text(canvas: Image, text: str, at: tuple[int, int], size: float, colour: Bgr, thickness: int) -> None:
    cv2.putText(canvas, text, at, cv2.FONT_HERSHEY_SIMPLEX, size, colour, thickness, cv2.LINE_AA)
