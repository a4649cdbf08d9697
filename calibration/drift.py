"""Drift watch: is the camera still where it was calibrated? A quick look at the lines of an idle frame.

Only zone lines, circle and near rims are re-measured, a few stretches of each; what an arm or a disc hides is left out, and what
is left must agree on one shift of the picture before anything is said.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Calibration
from calibration.features import Feature, circle, near_rims, zone_lines
from calibration.optics import View, view_of
from calibration.profiles import find_marks

Array = NDArray[np.float64]
Covers = Callable[[Array], NDArray[np.bool_]]  # table points (N, 2) mm -> which of them something is over, (N,)

REACH_MM: Final = 8.0  # some 7 px: a bump larger than this moves the lines out of reach, which shows as lines lost
EVERY: Final = 2  # every second stretch is enough for a tenth of a pixel
SNR: Final = 5.0
FEWEST: Final = 12  # stretches; an arm hides a third of the lines at most, so fewer means that nothing can be said
AGREE_PX: Final = 0.5  # marks that follow one shift
AGREE_SHARE: Final = 0.5
LOST_SHARE: Final = 0.25  # of the stretches that calibration's lines should show: below, the view is blocked or has jumped
STOP_PX: Final = 2.0  # hazards.md: more than this for a second stops rulings
STOP_S: Final = 1.0
LOST_S: Final = 3.0  # nothing agrees although the table is idle: the view has jumped, or the lamp is out


@dataclass(frozen=True, slots=True)
class Drift:
    """How far the picture has moved since calibration.

    `shift_px` (2,) at the table's centre and `turn_rad` about it, `marks` stretches that agree on it, `share` of those looked at.
    """

    shift_px: tuple[float, float]
    turn_rad: float
    marks: int
    share: float
    reach_px: float

    @property
    def worst_px(self) -> float:
        """Largest movement anywhere on the table."""
        return float(np.hypot(*self.shift_px)) + abs(self.turn_rad) * self.reach_px


class DriftWatch:
    """Keeps the judgement over time: `update` with an idle frame, then ask `must_stop`; `followed` takes a small drift into account."""

    def __init__(self, calibration: Calibration) -> None:
        pose = np.array([*calibration.rvec, *calibration.tvec])
        self._view = view_of(calibration.lens, pose)
        self._features = _watched(self._view, calibration)
        self._moved_since_ns: int | None = None
        self._lost_since_ns: int | None = None
        self.last: Drift | None = None

    def update(self, image: NDArray[np.uint8], t_ns: int, covers: Covers | None = None) -> Drift | None:
        """Measure one idle frame (uint8 BGR or grey); None where too little was seen to say anything.

        `covers` tells what an arm is over: lines there are not looked for, and not missed.
        """
        gray = image if image.ndim == 2 else np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))
        drift = measure_drift(np.asarray(gray, dtype=np.float32), self._view, self._features, covers)
        if drift is None:
            self._lost_since_ns = t_ns if self._lost_since_ns is None else self._lost_since_ns
            return None
        self._lost_since_ns = None
        self.last = drift
        if drift.worst_px <= STOP_PX:
            self._moved_since_ns = None
        elif self._moved_since_ns is None:
            self._moved_since_ns = t_ns
        return drift

    def must_stop(self, t_ns: int) -> str | None:
        """Why rulings must stop, or None: the picture has been off by more than 2 px for a second, or its lines are gone."""
        if self._lost_since_ns is not None and t_ns - self._lost_since_ns >= LOST_S * 1e9:
            return "the table's lines are no longer where calibration found them: check lamp and camera, then calibrate again"
        if self._moved_since_ns is None or self.last is None or t_ns - self._moved_since_ns < STOP_S * 1e9:
            return None
        return f"the camera has moved by {self.last.worst_px:.1f} px since calibration: calibrate again (novuss calibrate)"


def _watched(view: View, calibration: Calibration) -> list[Feature]:
    """Features where calibration measured them, thinned out."""
    scale = view.px_per_mm
    table = calibration.table
    out = []
    for feature in [*zone_lines(scale), circle(scale), *near_rims(scale)]:
        moved = feature.points_mm.copy()
        if feature.name.startswith("zone"):
            side = feature.name[-1]
            axis = 1 if side in "SN" else 0
            moved[..., axis] = next(at for name, at in table.zone_line_mm.items() if name == side)
        elif feature.name == "circle":
            moved = np.array([table.circle.x_mm, table.circle.y_mm, 0.0]) + feature.across_mm * table.circle.radius_mm
        keep = slice(None, None, EVERY)
        out.append(Feature(feature.name, feature.look, moved[keep], feature.along_mm[keep], feature.across_mm[keep], {}))
    return out


def _visible(feature: Feature, covers: Covers) -> Feature:
    """The stretches of a feature that nothing is over."""
    stretches, points = feature.points_mm.shape[:2]
    keep = ~covers(feature.points_mm[..., :2].reshape(-1, 2)).reshape(stretches, points).any(axis=1)
    return Feature(feature.name, feature.look, feature.points_mm[keep], feature.along_mm[keep], feature.across_mm[keep], {})


def followed(calibration: Calibration, drift: Drift) -> Calibration:
    """The calibration of a camera that has turned a little on its mount, as `drift` says: lens, lines and doubt stay."""
    lens = calibration.lens
    fx, fy, cx, cy = lens.K[0][0], lens.K[1][1], lens.K[0][2], lens.K[1][2]
    view = view_of(lens, np.array([*calibration.rvec, *calibration.tvec]))
    x, y = view.to_px(np.zeros(3)) - (cx, cy)
    # Drift turns about the table's centre, a camera about its own axis.
    shift_x, shift_y = drift.shift_px[0] + drift.turn_rad * y, drift.shift_px[1] - drift.turn_rad * x
    turn = np.asarray(cv2.Rodrigues(np.array([-shift_y / fy, shift_x / fx, drift.turn_rad]))[0])
    rotation = turn @ np.asarray(cv2.Rodrigues(view.pose[:3])[0])
    rvec, tvec = np.ravel(cv2.Rodrigues(rotation)[0]), turn @ view.pose[3:]
    return msgspec.structs.replace(calibration, rvec=rvec.tolist(), tvec=tvec.tolist())


def measure_drift(gray: NDArray[np.float32], view: View, features: list[Feature], covers: Covers | None = None) -> Drift | None:
    """Shift and turn of the picture that most of the visible stretches agree on, or None.

    Parameters
    ----------
    gray : float32 (height, width).
    features : what to look for, as `DriftWatch` prepares them.
    covers : what is hidden, left out; None where nobody knows.
    """
    if covers is not None:
        features = [_visible(feature, covers) for feature in features]
    marks = [find_marks(gray, view, f, REACH_MM, polarity=1) for f in features if len(f.points_mm)]
    if not marks:
        return None
    at, normal = np.concatenate([m.at_px for m in marks]), np.concatenate([m.normal for m in marks])
    offset, snr = np.concatenate([m.offset_px for m in marks]), np.concatenate([m.snr for m in marks])
    rim = np.concatenate([np.full(len(m.index), m.feature.look == "edge") for m in marks])
    expected = sum(len(f.points_mm) for f in features)
    seen = snr > SNR
    if seen.sum() < max(FEWEST, LOST_SHARE * expected):
        return None
    centre = view.to_px(np.zeros(3))
    lever = at - centre
    # Rows: movement along each normal for a shift in x, in y, a turn, and for the rims' own rounding.
    rows = np.c_[normal, normal[:, 1] * lever[:, 0] - normal[:, 0] * lever[:, 1], rim][seen]
    target = offset[seen]
    weight = np.ones(len(target))
    answer = np.zeros(4)
    for width in (4.0, 2.0, 1.0, AGREE_PX, AGREE_PX):
        scaled = rows * weight[:, None]
        answer = np.linalg.lstsq(scaled, target * weight, rcond=None)[0]
        weight = 1 / (1 + ((target - rows @ answer) / width) ** 2)
    agreeing = np.abs(target - rows @ answer) < AGREE_PX
    if agreeing.sum() < FEWEST or agreeing.mean() < AGREE_SHARE:
        return None
    far = float(np.linalg.norm(view.to_px(np.array([500.0, 500.0, 0.0])) - centre))
    return Drift((float(answer[0]), float(answer[1])), float(answer[2]), int(agreeing.sum()), float(agreeing.mean()), far)
