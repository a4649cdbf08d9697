"""The still of a ruling: the table with the ways that discs took, the deciding clearance and the first contact close up, to scale.

It shows what was seen and never the verdict, so that it stays true whatever the judge decides; it has figures and no words, so that it
needs no language.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from calibration.camera import Camera
from device.evidence.film import Image, Shot
from device.evidence.geometry import Gauge, Meeting, fall_of, gauge_of, line_points, meetings, return_gauge, ways
from device.evidence.moment import Point
from device.evidence.pen import AMBER, BLUE, CYAN, GREEN, INK, ORANGE, VIOLET, WHITE, Colour, View, text
from device.images import as_jpeg
from rules.facts import Disc, Incident, Stroke, Struck
from rules.reading import SIGMAS
from rules.ruling import Ruling
from rules.table import (
    HALF_LINE_MM,
    HALF_MM,
    POCKETS_MM,
    RAIL_WIDTH_MM,
    STRIKER_THICKNESS_MM,
    hole_radius_mm,
    is_striker,
    radius_mm,
    thickness_mm,
)

SIZE_PX: Final = (1600, 900)  # fills a television's height, and is read on a phone
_SIDE_PX: Final = 888  # of the square with the whole table
_GAP_PX: Final = 12
_FIRST_PX: Final = 520  # of two close-ups the first decides: it gets the larger part
_STRIP_PX: Final = 84
_REACH_MM: Final = HALF_MM + RAIL_WIDTH_MM + 8.0
_SHARP_NS: Final = 25_000_000  # a full picture this near to the moment shows it as well as the frame itself
_AFTER_S: Final = 2.0  # of the ways after the moment: as much as the clip shows
_SCALES_MM: Final = (5.0, 10.0, 20.0, 60.0)  # as on the board: the smallest that holds the band
_HOW: Final[dict[str, Colour]] = {"dark": BLUE, "light": ORANGE, "close": VIOLET}
_FAR_MM: Final = 30.0  # a clearance that needs so much has its ends above and below, and room for the figure between them
_FALL_MM: Final = 85.0  # around a pocket: the whole of it, and the way into it
_QUALITY: Final = 88


@dataclass(frozen=True, slots=True)
class Scene:
    """All that a still is drawn from."""

    fact: Stroke | Incident
    ruling: Ruling
    point: Point
    camera: Camera
    shots: Sequence[Shot]
    sharp: Sequence[Shot]
    entry: int

    def at_moment(self) -> Shot:
        """The picture of the deciding moment."""
        return self.at(self.point.t_s)

    def at(self, t_s: float) -> Shot:
        """The picture nearest to a time, sharp where there is a sharp one."""
        at_ns = t_s * 1e9
        sharp = min(self.sharp, key=lambda s: abs(s.t_ns - at_ns), default=None)
        if sharp is not None and abs(sharp.t_ns - at_ns) <= _SHARP_NS:
            return sharp
        return min(self.shots, key=lambda s: abs(s.t_ns - at_ns))

    def at_rest(self) -> Shot:
        """The last picture before anything moved."""
        start_s = next((e.t for e in self.fact.timeline if isinstance(e, Struck)), self.point.t_s)
        before = [s for s in self.sharp if s.t_ns / 1e9 <= start_s]
        small = [s for s in self.shots if s.t_ns / 1e9 <= start_s]
        return (before or small or [self.shots[0]])[-1]


def draw_still(scene: Scene) -> bytes:
    """The still as a JPEG."""
    start_s = next((e.t for e in scene.fact.timeline if isinstance(e, Struck)), scene.point.t_s - 1.0)
    seen = ways(scene.shots, start_s - 0.1, scene.point.t_s + _AFTER_S)
    met = meetings(scene.fact, seen)
    gauge = gauge_of(scene.fact, scene.ruling)
    gauge_shot = scene.at_rest()
    if isinstance(scene.fact, Stroke) and scene.point.event == "returned":
        back = return_gauge(scene.fact, scene.ruling, seen)
        if back is not None:
            gauge, gauge_shot = back, scene.at_moment()
    moved = _moved(scene.fact) if isinstance(scene.fact, Incident) else []
    fall = fall_of(scene.point, seen)
    close_ups = [kind for kind, there in (("gauge", gauge), ("fall", fall), ("contact", met), ("moved", moved)) if there][:2]
    width = SIZE_PX[0] - _SIDE_PX - 3 * _GAP_PX if close_ups else 0
    heights = [_SIDE_PX] if len(close_ups) < 2 else [_FIRST_PX, _SIDE_PX - _GAP_PX - _FIRST_PX]
    panels = []
    for kind, height in zip(close_ups, heights, strict=False):
        if kind == "gauge" and gauge is not None:
            panels.append(_gauge_panel(gauge, gauge_shot, scene.camera, (width, height)))
        elif kind == "fall" and fall is not None:
            panels.append(_fall_panel(fall, scene, seen, (width, height)))
        elif kind == "contact":
            panels.append(_contact_panel(met, scene, seen, (width, height)))
        else:
            panels.append(_moved_panel(moved, scene, (width, height)))
    table = _table_panel(scene, seen, met, gauge)
    sheet = np.full((SIZE_PX[1], SIZE_PX[0] if close_ups else _SIDE_PX + 2 * _GAP_PX, 3), INK, np.uint8)
    top = (SIZE_PX[1] - _SIDE_PX) // 2
    sheet[top : top + _SIDE_PX, _GAP_PX : _GAP_PX + _SIDE_PX] = table
    for panel in panels:
        sheet[top : top + panel.shape[0], _SIDE_PX + 2 * _GAP_PX : _SIDE_PX + 2 * _GAP_PX + width] = panel
        top += panel.shape[0] + _GAP_PX
    return as_jpeg(sheet, _QUALITY)


# --- the whole table ----------------------------------------------------------------------------------------------------


def _table_panel(scene: Scene, seen: dict[str, list[tuple[float, float, float]]], met: list[Meeting], gauge: Gauge | None) -> Image:
    view = View(scene.at_moment(), scene.camera, (0.0, 0.0), _REACH_MM, (_SIDE_PX, _SIDE_PX))
    view.dim(0.82)
    kinds = {d.id: d.kind for d in (scene.fact.before.discs if scene.fact.before is not None else [])}
    for name, way in seen.items():
        striker = is_striker(kinds.get(name, "red"))
        colour = AMBER if striker else CYAN
        height = thickness_mm(kinds.get(name, "red"))
        points = [view.px((x, y), height) for _, x, y in way]
        if len(points) > 1 and _length(points) > 6:
            view.line(points, colour, 4 if striker else 3)
            if _length(points[-3:]) > 1 or _length(points) > 30:
                view.arrow(_back(points, 16), points[-1], colour, 4 if striker else 3)
    for meeting in met:
        view.circle(view.px(meeting.striker_mm, STRIKER_THICKNESS_MM), radius_mm("striker") * view.scale, AMBER, 3)
        view.circle(view.px(meeting.other_mm), radius_mm(meeting.other_kind) * view.scale, WHITE, 3)
    for disc in [d for d in (scene.ruling.pocketed or []) if d in seen]:
        _, x, y = seen[disc][-1]
        pocket = min(POCKETS_MM.values(), key=lambda p: float(np.hypot(p[0] - x, p[1] - y)))
        view.circle(view.px(pocket, 0.0), 50.0 * view.scale, GREEN, 4, dash_px=14)
    if gauge is not None:
        view.circle(view.px(gauge.axis_mm), (radius_mm(gauge.kind) + 9) * view.scale, _HOW[gauge.how], 5)
    text(view.image, f"#{scene.entry}", (22, 54), 40, WHITE, bold=True, box=True)
    return view.image


def _length(points: Sequence[tuple[float, float]]) -> float:
    return float(np.sum(np.hypot(*np.diff(np.asarray(points), axis=0).T))) if len(points) > 1 else 0.0


def _back(points: Sequence[tuple[float, float]], away_px: float) -> tuple[float, float]:
    """The last point of a way that is this far from its end."""
    end = points[-1]
    return next((p for p in reversed(points) if float(np.hypot(p[0] - end[0], p[1] - end[1])) >= away_px), points[0])


# --- the clearance --------------------------------------------------------------------------------------------------------


def _gauge_panel(gauge: Gauge, shot: Shot, camera: Camera, size_px: tuple[int, int]) -> Image:
    photo = (size_px[0], size_px[1] - _STRIP_PX)
    # Line, hole and the face's rim fit in, with the middle between line and axis in the middle.
    span_mm = abs(float((gauge.axis_mm - gauge.from_mm) @ gauge.out))
    half_mm = max(radius_mm(gauge.kind) + 1.0, span_mm / 2 + hole_radius_mm(gauge.kind) + 4.0)
    middle = gauge.axis_mm - gauge.out * min(span_mm / 2, half_mm - hole_radius_mm(gauge.kind) - 2)
    view = View(shot, camera, (float(middle[0]), float(middle[1])), half_mm * photo[0] / photo[1], photo)
    view.dim(0.9)
    colour = _HOW[gauge.how]
    wide = 3 * half_mm
    edges = [[view.px((x, y), 0.0) for x, y in line_points(gauge.zone, gauge.axis_mm, wide, off)] for off in (-HALF_LINE_MM, HALF_LINE_MM)]
    view.wash([*edges[0], *reversed(edges[1])], WHITE, 0.3)
    for edge in edges:
        view.line(edge, WHITE, 1, edge=False)
    foot = view.px(gauge.axis_mm, 0.0)
    face = view.px(gauge.axis_mm, thickness_mm(gauge.kind))
    hole_px = hole_radius_mm(gauge.kind) * view.scale
    view.circle(face, radius_mm(gauge.kind) * view.scale, WHITE, 2)
    band_px = SIGMAS * gauge.sigma_mm * view.scale
    if band_px >= 1:
        ring = [_around(foot, hole_px + band_px), _around(foot, max(hole_px - band_px, 0.5))]
        view.wash([*ring[0], *reversed(ring[1])], colour, 0.5)
    view.circle(foot, hole_px, colour, 3)
    view.line([face, foot], WHITE, 2)
    for dx, dy in ((1, 0), (0, 1)):
        view.line([(foot[0] - 9 * dx, foot[1] - 9 * dy), (foot[0] + 9 * dx, foot[1] + 9 * dy)], WHITE, 2)
    _dimension(view, gauge, colour)
    view.frame(colour)
    value = f"{gauge.value_mm:+.1f} ± {SIGMAS * gauge.sigma_mm:.1f} mm".replace("-", "\u2212")
    is_above = view.px(gauge.from_mm, 0.0)[1] < foot[1] - 1  # the figure stands where the line is not
    baseline = photo[1] // 2 if half_mm > _FAR_MM else photo[1] - 30 if is_above else 76
    text(view.image, value, (28, baseline), 58, colour, bold=True, box=True)
    return np.vstack([view.image, _scale_strip(gauge, (size_px[0], _STRIP_PX))])


def _around(at: tuple[float, float], radius_px: float) -> list[tuple[float, float]]:
    angles = np.linspace(0, 2 * np.pi, 91)
    return [(at[0] + radius_px * float(np.cos(a)), at[1] + radius_px * float(np.sin(a))) for a in angles]


def _dimension(view: View, gauge: Gauge, colour: Colour) -> None:
    """Both ends carried aside, and arrows between them, or from outside where they are close together."""
    across = np.array([-gauge.out[1], gauge.out[0]])
    aside = hole_radius_mm(gauge.kind) + 5.0
    # To the side on which the picture has more room.
    for way in (across, -across):
        end = view.px((gauge.axis_mm + way * (aside + 2.0)), 0.0)
        if 20 < end[0] < view.width - 20 and 20 < end[1] < view.height - 20:
            across = way
            break
    ends = []
    for start in (gauge.from_mm, gauge.to_mm):
        view.line([view.px(start, 0.0), view.px((start + across * (aside + 1.5)), 0.0)], WHITE, 2)
        ends.append(view.px((start + across * aside), 0.0))
    along = np.subtract(ends[1], ends[0])
    length = float(np.hypot(*along))
    if length > 44:
        view.arrow(ends[0], ends[1], colour, 3)
        view.arrow(ends[1], ends[0], colour, 3)
    else:
        direction = along / length if length > 0.5 else np.array([gauge.out[0], -gauge.out[1]])
        for end, sign in ((ends[0], -1), (ends[1], 1)):
            start = np.array(end) + direction * sign * 46
            view.arrow((float(start[0]), float(start[1])), end, colour, 3)


def _scale_strip(gauge: Gauge, size_px: tuple[int, int]) -> Image:
    """The clearance in figures, and to scale with its band: light to the left of the line, dark to the right."""
    strip = np.full((size_px[1], size_px[0], 3), INK, np.uint8)
    left, right, top, bottom = 0, size_px[0] - 1, 12, 56
    middle, half = (left + right) // 2, (right - left) / 2
    sigma2 = SIGMAS * gauge.sigma_mm
    reach = next((mm for mm in _SCALES_MM if abs(gauge.value_mm) + sigma2 < mm), _SCALES_MM[-1])

    def at(mm: float) -> int:
        return round(middle + max(-1.0, min(1.0, mm / reach)) * half)

    cv2.rectangle(strip, (left, top), (middle, bottom), (70, 96, 122), -1)
    cv2.rectangle(strip, (middle, top), (right, bottom), (140, 62, 30), -1)
    layer = strip.copy()
    cv2.rectangle(layer, (at(gauge.value_mm - sigma2), top), (at(gauge.value_mm + sigma2), bottom), WHITE, -1)
    strip = np.asarray(cv2.addWeighted(layer, 0.55, strip, 0.45, 0), dtype=np.uint8)
    for y in range(top - 10, bottom + 10, 12):
        cv2.line(strip, (middle, y), (middle, y + 6), WHITE, 3)
    needle = at(gauge.value_mm)
    cv2.line(strip, (needle, top - 8), (needle, bottom + 8), AMBER, 6)
    for mm in (-reach, reach):
        said = f"{mm:+g} mm".replace("-", "\u2212")
        text(strip, said, (left + 4 if mm < 0 else right - 92, bottom + 26), 22, (210, 210, 210))
    return strip


# --- the contact ------------------------------------------------------------------------------------------------------------


def _contact_panel(met: list[Meeting], scene: Scene, seen: dict[str, list[tuple[float, float, float]]], size_px: tuple[int, int]) -> Image:
    first = met[0]
    points = np.array([first.striker_mm, *(m.other_mm for m in met)])
    middle = points.mean(axis=0)
    half_mm = float(np.abs(points - middle).max()) + 30.0
    touch_s = first.t_s
    half_mm *= max(1.0, size_px[0] / size_px[1])
    view = View(scene.at(touch_s), scene.camera, (float(middle[0]), float(middle[1])), half_mm, size_px)
    view.dim(0.82)
    struck_s = next((e.t for e in scene.fact.timeline if isinstance(e, Struck)), touch_s)
    came = [view.px((x, y), STRIKER_THICKNESS_MM) for t, x, y in seen.get(first.striker, []) if struck_s <= t < touch_s]
    here = view.px(first.striker_mm, STRIKER_THICKNESS_MM)
    if came:
        view.line([*came, here], AMBER, 3, dash_px=12)
    view.circle(here, radius_mm("striker") * view.scale, AMBER, 4)
    view.circle(here, 5, AMBER, -1)
    for meeting in met:
        there = view.px(meeting.other_mm)
        view.circle(there, radius_mm(meeting.other_kind) * view.scale, WHITE, 4)
        went = [view.px((x, y)) for t, x, y in seen.get(meeting.other, []) if t >= touch_s]
        if _length([there, *went]) > 12:
            view.line([there, *went], CYAN, 3, dash_px=12)
        # The contact normal: through both axes, and where it leads the other disc.
        reach = meeting.normal * (radius_mm(meeting.other_kind) + 9.0)
        view.line([here, there], WHITE, 2)
        view.arrow(there, view.px(meeting.other_mm + reach), WHITE, 4, 20)
        touch = meeting.striker_mm + meeting.normal * radius_mm("striker")
        view.circle(view.px(touch), 9, GREEN, -1)
        view.circle(view.px(touch), 9, WHITE, 2)
    _ruler(view)
    view.frame(AMBER)
    return view.image


def _ruler(view: View) -> None:
    """Ten millimetres, so that people see how large everything is."""
    length = 10 * view.scale
    right, y = view.width - 24.0, view.height - 26.0
    view.line([(right - length, y - 8), (right - length, y), (right, y), (right, y - 8)], WHITE, 3)
    text(view.image, "10 mm", (round(right - length - 96), round(y) + 4), 26, WHITE, box=True)


# --- what fell or left -----------------------------------------------------------------------------------------------------------


def _fall_panel(
    fall: tuple[str, float, float], scene: Scene, seen: dict[str, list[tuple[float, float, float]]], size_px: tuple[int, int]
) -> Image:
    name, x_mm, y_mm = fall
    half_mm = _FALL_MM * max(1.0, size_px[0] / size_px[1])
    view = View(scene.at_moment(), scene.camera, (x_mm, y_mm), half_mm, size_px)
    view.dim(0.9)
    kinds = {d.id: d.kind for d in (scene.fact.before.discs if scene.fact.before is not None else [])}
    kind = kinds.get(name, "red")
    came = [view.px((x, y), thickness_mm(kind)) for t, x, y in seen[name] if t <= scene.point.t_s]
    if len(came) > 1:
        view.line(came, AMBER if is_striker(kind) else CYAN, 4)
        view.circle(came[-1], radius_mm(kind) * view.scale, AMBER if is_striker(kind) else CYAN, 4)
    _ruler(view)
    view.frame(GREEN)
    return view.image


# --- what was moved by hand ---------------------------------------------------------------------------------------------------


def _moved(fact: Incident) -> list[tuple[Disc, Disc | None]]:
    """Discs with another place after than before, the furthest first; None for one that is gone."""
    if fact.before is None or fact.after is None:
        return []
    now = {d.id: d for d in fact.after.discs}
    named = {
        name for event in fact.timeline for name in (*getattr(event, "discs", ()), *getattr(event, "moved", ()), getattr(event, "disc", ""))
    }
    pairs = [(d, now.get(d.id)) for d in fact.before.discs if d.id in named]
    return sorted(pairs, key=lambda pair: -_far(*pair))


def _far(before: Disc, after: Disc | None) -> float:
    return 1e3 if after is None else float(np.hypot(after.x_mm - before.x_mm, after.y_mm - before.y_mm))


def _moved_panel(moved: list[tuple[Disc, Disc | None]], scene: Scene, size_px: tuple[int, int]) -> Image:
    before, after = moved[0]
    places = [np.array([d.x_mm, d.y_mm]) for d in (before, after) if d is not None]
    middle = np.mean(places, axis=0)
    half_mm = float(np.abs(np.array(places) - middle).max()) + 28.0
    view = View(scene.at_moment(), scene.camera, (float(middle[0]), float(middle[1])), half_mm * max(1.0, size_px[0] / size_px[1]), size_px)
    view.dim(0.85)
    radius = radius_mm(before.kind) * view.scale
    start = view.px((before.x_mm, before.y_mm))
    view.circle(start, radius, VIOLET, 4, dash_px=12)
    if after is not None:
        end = view.px((after.x_mm, after.y_mm))
        view.circle(end, radius, WHITE, 4)
        view.arrow(start, end, VIOLET, 4)
        text(view.image, f"{_far(before, after):.1f} mm", (24, 66), 52, WHITE, bold=True, box=True)
    _ruler(view)
    view.frame(VIOLET)
    return view.image
