"""The table in a picture: from a guess at its pockets to a pose that every visible line agrees with, or a refusal that says why."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration import features as table_features
from calibration.camera import Calibration, Circle, TableLines
from calibration.coarse import South, guesses, turned
from calibration.covariance import worst_sigma_mm
from calibration.features import CIRCLE_SIGMA_MM, LINE_SIGMA_MM, Feature
from calibration.fit import Solution, solve
from calibration.focal import focal_start
from calibration.lens import Lens
from calibration.nominal import LensPrior, lens_from, prior_for
from calibration.optics import View
from calibration.outline import outline_guesses
from calibration.profiles import SEEN_SNR, Marks, find_marks, pooled
from calibration.support import LineSupport, judge, supports
from rules.errors import TableNotFound
from rules.table import CIRCLE_RADIUS_MM, PIECE_THICKNESS_MM, ZONE_LINE_MM, Side, Zone

Array = NDArray[np.float64]
Gray = NDArray[np.float32]

DIAMETER_STEP_RAD: Final = math.radians(0.75)  # 125 mm away that is 1.6 mm: within the next search's reach
SIGN_OF: Final[dict[Side, int]] = {"S": -1, "N": 1, "W": -1, "E": 1}
LINE_OF: Final[dict[Zone, str]] = {"S": "zone S", "N": "zone N", "W": "zone W", "E": "zone E", "circle": "circle"}
LINE_FLOOR_MM: Final = 0.03  # drawn lines waver by this much from stretch to stretch
# Measured on rendered tables: a lens that is estimated from a single picture of lines is off by more than their scatter says.
UNKNOWN_LENS_FACTOR: Final = 1.4
UNKNOWN_LENS_SIGMA_MM: Final = 0.6  # worst doubt at a piece's face that still decides most cases; above, a lens file is needed
EXACT_GAIN: Final = 3.0  # log of how much likelier the marks must be on a table that is drawn exactly: tables drawn by hand are as common
FEWEST_MARKS: Final = 20  # stretches of rim or rail, of some 56: three pockets' worth with gaps
POSSIBLE_SHARE: Final = 0.3  # what the judge asks of a line at least
CERTAIN_SHARE: Final = 0.6  # of the lines' stretches; no wrong guess has shown half of that, so no other is tried
DARKEST: Final = 12.0  # grey levels; below, noise is as large as any line


@dataclass(frozen=True, slots=True)
class TableFit:
    """A table found: `calibration`, what each line contributed, and what a person should know although it is usable."""

    calibration: Calibration
    lines: tuple[LineSupport, ...]
    problems: tuple[str, ...]
    marks: tuple[Marks, ...]
    solution: Solution


def find_table(
    images: Sequence[NDArray[np.uint8]],
    lens: Lens | None,
    *,
    south: South = "bottom",
    camera: str | None = None,
) -> TableFit:
    """Find the table in one or more pictures of the same camera, unmoved.

    Parameters
    ----------
    images : uint8 BGR (height, width, 3), all of one size.
    lens : optics of this camera mode; None estimates them from the table as far as it shows them.
    south : which side of the picture player S sits at.
    camera : name of a known camera, narrows what is assumed of an unknown lens.

    Raises
    ------
    TableNotFound
        The evidence is not enough; the text says what is missing.
    LensMismatch
        The lens belongs to another picture size.
    """
    if not images:
        raise TableNotFound("no picture to look for a table in")
    height, width = images[0].shape[:2]
    if any(image.shape[:2] != (height, width) for image in images):
        raise TableNotFound("the pictures differ in size: give pictures of one camera mode only")
    prior = prior_for(width, height, camera) if lens is None else None
    start = lens if lens is not None else prior_for(width, height, camera).start
    start.check_size(width, height, "calibrate")
    grays = [np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), dtype=np.uint8) for image in images]
    _check_light(grays)
    best: Stage | None = None
    pictures = [gray.astype(np.float32) for gray in grays]
    for first_look in (_from_pockets, _from_frame):
        # The frame is asked only where the pockets gave nothing that could pass.
        if best is None or best.score < POSSIBLE_SHARE:
            for stage in first_look(grays, pictures, start, south, prior):
                if best is None or stage.score > best.score:
                    best = stage
                if best.score > CERTAIN_SHARE:
                    break
    if best is None:
        raise TableNotFound("no table found: nothing in the picture looks like four pockets at the corners of a square, or like its frame")
    return _finish(best, start, prior)


@dataclass(frozen=True, slots=True)
class Stage:
    """A pose on its way: the pictures, what was seen so far."""

    grays: list[Gray]
    view: View
    table: dict[str, tuple[float, float]]
    score: float
    polarity: int


def _from_pockets(
    grays: Sequence[NDArray[np.uint8]], pictures: list[Gray], lens: Lens, south: South, prior: LensPrior | None
) -> Iterator[Stage]:
    for view in guesses(grays, lens):
        stage = _approach(pictures, turned(view, south), prior)
        if stage is not None:
            yield stage


def _from_frame(
    grays: Sequence[NDArray[np.uint8]], pictures: list[Gray], lens: Lens, south: South, prior: LensPrior | None
) -> Iterator[Stage]:
    for guess in outline_guesses(grays[0], lens):
        view = turned(guess, south)
        scale = view.px_per_mm
        frame = table_features.rails(scale)
        marks = look(pictures, view, frame, 6.0)
        if _too_few(marks):
            continue
        solution = solve(view, marks, slack_px=2.0 * scale)
        for polarity in (1, -1):
            rims = table_features.near_rims(scale)
            stage = _lines(pictures, solution.view, look(pictures, solution.view, rims, 8.0, polarity=polarity), prior, polarity)
            if stage is not None:
                yield stage


def _check_light(grays: Sequence[NDArray[np.uint8]]) -> None:
    if max(float(np.percentile(g, 95)) for g in grays) < DARKEST:
        raise TableNotFound("the picture is dark: no line can be told from noise (is the lamp on, the lens cap off?)")


def look(
    grays: Sequence[Gray], view: View, features: Sequence[Feature], reach_mm: float, *, pull_mm: float | None = None, polarity: int = 0
) -> list[Marks]:
    """Marks of all features, pooled over the pictures."""
    return [pooled([find_marks(g, view, f, reach_mm, pull_mm=pull_mm, polarity=polarity) for g in grays]) for f in features]


def _too_few(marks: Sequence[Marks]) -> bool:
    """Whether a fit of the pose would rest on next to nothing."""
    return sum(int((m.snr > SEEN_SNR).sum()) for m in marks) < FEWEST_MARKS


def _approach(grays: list[Gray], view: View, prior: LensPrior | None) -> Stage | None:
    """From a guess within centimetres to lines within a millimetre; the score is the share of line that is really there."""
    scale = view.px_per_mm
    rims = table_features.near_rims(scale)
    for reach in (16.0, 8.0, 4.0):
        marks = look(grays, view, rims, reach, polarity=1)
        if _too_few(marks):
            return None
        view = solve(view, marks, slack_px=reach / 8 * scale).view
    return _lines(grays, view, marks, prior, 1)


def _lines(grays: list[Gray], view: View, marks: list[Marks], prior: LensPrior | None, polarity: int) -> Stage | None:
    """From rims within some millimetres to all lines; `polarity` is +1 where the wood is brighter than what shows in a pocket."""
    if _too_few(marks):
        return None
    scale = view.px_per_mm
    rims = table_features.near_rims(scale)
    solution = solve(view, marks, slack_px=scale)
    view = solution.view
    lines = [*table_features.zone_lines(scale), table_features.circle(scale)]
    for reach, pull in ((5.0, 3.0), (2.5, 1.5)):
        marks = look(grays, view, lines, reach, pull_mm=pull) + look(grays, view, rims, 2.5, polarity=polarity)
        if _too_few(marks):
            return None
        solution = solve(view, marks, prior, table=solution.table, slack_px=reach / 12 * scale)
        view = solution.view
    shares = [s.share for s in supports(marks, solution) if s.name.startswith(("zone", "circle"))]
    return Stage(grays, view, solution.table, float(np.mean(shares)), polarity)


def _diameter_angle(grays: Sequence[Gray], view: View) -> float | None:
    """Angle (rad, 0 to pi/2) of the circle's diameters, None where none is seen."""
    scale = view.px_per_mm
    scores = []
    angles = np.arange(0, math.pi / 2, DIAMETER_STEP_RAD)
    for angle in angles:
        marks = look(grays, view, table_features.diameters(scale, float(angle)), 1.5)
        scores.append(float(np.mean([np.minimum(m.snr, 12).mean() for m in marks if len(m.snr)] or [0.0])))
    best = int(np.argmax(scores))
    return float(angles[best]) if scores[best] > SEEN_SNR else None


def _finish(stage: Stage, lens: Lens, prior: LensPrior | None) -> TableFit:
    scale = stage.view.px_per_mm
    view, table = stage.view, stage.table
    lines = [*table_features.zone_lines(scale), table_features.circle(scale), *table_features.midlines(scale)]
    angle = _diameter_angle(stage.grays, view)
    if angle is not None:
        lines += table_features.diameters(scale, angle)
    rims = table_features.rim_parts(scale)
    rails = table_features.rails(scale) if prior is not None else []
    if prior is not None:
        upper = [r for r in rails if "rounding" in r.columns]
        flat = look(stage.grays, view, [*lines, *rims], 2.0)
        if _too_few(flat):
            raise TableNotFound("table not certain: next to no line is seen; show the whole table, evenly lit and in focus")
        solution = focal_start(stage.grays, view, flat, upper, prior, table)
        view, table = solution.view, solution.table
    for _ in range(2):
        marks = (
            look(stage.grays, view, lines, 1.5)
            + look(stage.grays, view, rims, 2.0, polarity=stage.polarity)
            + look(stage.grays, view, rails, 2.5)
        )
        if _too_few(marks):
            raise TableNotFound("table not certain: next to no line is seen; show the whole table, evenly lit and in focus")
        solution = solve(view, marks, prior, table=table)
        view, table = solution.view, solution.table
    solution = _exact_or_not(view, marks, prior, solution)
    view = solution.view
    found = supports(marks, solution)
    problems = judge(found, marks, solution)
    if prior is not None:
        lens = lens_from(view.lens_vector, lens.width, lens.height, _rms(solution))
    calibration = Calibration(
        lens=lens,
        rvec=view.pose[:3].tolist(),
        tvec=view.pose[3:].tolist(),
        table=_measured(solution, found),
        rms_px=_rms(solution),
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        covariance=_given_lens(solution.joint_covariance).tolist(),
        joint_covariance=None if prior is None else (UNKNOWN_LENS_FACTOR**2 * solution.joint_covariance).tolist(),
    )
    if prior is not None and (doubt := worst_sigma_mm(calibration, PIECE_THICKNESS_MM)) > UNKNOWN_LENS_SIGMA_MM:
        raise TableNotFound(
            f"the lens cannot be known from this view ({doubt:.1f} mm of doubt on the table): give its lens file (novuss lens)"
        )
    return TableFit(calibration, tuple(found), problems, tuple(marks), solution)


def _exact_or_not(view: View, marks: list[Marks], prior: LensPrior | None, solution: Solution) -> Solution:
    """The solution, or the one with zone lines and circle where the rules have them, if that explains the marks clearly better.

    Some tables are printed or drawn with a template, others by hand; in the first the lines tell the table's scale, which else rests on
    the pockets' rims.
    """
    exact = [replace(m, feature=table_features.drawn_exactly(m.feature)) for m in marks]
    other = solve(view, exact, prior, table=solution.table)
    return other if other.log_evidence > solution.log_evidence + EXACT_GAIN else solution


def _given_lens(joint: Array) -> Array:
    """The pose's covariance (6, 6) with the lens held at its value."""
    return joint[:6, :6] - joint[:6, 6:] @ np.linalg.pinv(joint[6:, 6:], hermitian=True) @ joint[6:, :6]


def _rms(solution: Solution) -> float:
    w = solution.weight
    r = np.nan_to_num(solution.residual_px)
    return float(np.sqrt(np.sum(w * r * r) / max(np.sum(w), 1.0)))


def _measured(solution: Solution, found: Sequence[LineSupport]) -> TableLines:
    """Measured line positions where a line was seen well enough; nominal ones elsewhere."""
    seen = {s.name for s in found if s.is_measured}
    at: dict[Side, float] = {
        side: sign * ZONE_LINE_MM + (solution.table[f"zone {side}"][0] if f"zone {side}" in seen else 0.0) for side, sign in SIGN_OF.items()
    }
    circle = Circle()
    if "circle" in seen:
        x, y, r = (solution.table[f"circle {key}"][0] for key in "xyr")
        circle = Circle(x_mm=x, y_mm=y, radius_mm=CIRCLE_RADIUS_MM + r)
    sigma = {zone: _line_sigma_mm(name, seen, found, solution) for zone, name in LINE_OF.items()}
    return TableLines(zone_line_mm=at, circle=circle, sigma_mm=sigma)


def _line_sigma_mm(name: str, seen: set[str], found: Sequence[LineSupport], solution: Solution) -> float:
    """Of a line relative to what lies beside it: the pose's own doubt moves both and is no part of it."""
    if name not in seen:
        return LINE_SIGMA_MM if name != "circle" else CIRCLE_SIGMA_MM
    line = next(s for s in found if s.name == name)
    return math.hypot(LINE_FLOOR_MM, line.rms_px / math.sqrt(line.good) / solution.view.px_per_mm)
