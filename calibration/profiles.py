"""Brightness across a feature, averaged along it, and where in it the line or edge is: sub-pixel, with its own doubt.

A line is about one pixel wide and fainter than the grain around it; only the mean over a stretch shows it. Rows are averaged
between their quartiles, so that a disc, a highlight or a broken place in part of a stretch does not pull the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.features import Feature
from calibration.optics import View
from rules.table import LINE_WIDTH_MM

Array = NDArray[np.float64]

BLUR_PX: Final = 0.6  # lens and demosaicing of a focused camera; only the filter's width depends on it
STEP_PX: Final = 0.25  # a line of one pixel gets four samples
SEEN_SNR: Final = 4.0  # noise alone reaches 3.5 somewhere within the search
FLOOR_PX: Final = 0.04  # demosaicing and JPEG shift a line by this much whatever its contrast
EDGE_FLOOR_PX: Final = 0.12  # shadows and roundings shift an edge more than a line


@dataclass(frozen=True, slots=True)
class Marks:
    """What was found on one feature: one entry per stretch that lies in the picture.

    `index` (k,) which stretch; `at_px` (k, 2) where the line crosses the stretch's normal; `normal` (k, 2) unit, in the picture;
    `offset_px` (k,) from where it was expected; `snr` (k,) response over noise; `sigma_px` (k,).
    """

    feature: Feature
    index: NDArray[np.intp]
    at_px: Array
    normal: Array
    offset_px: Array
    snr: Array
    sigma_px: Array


def profiles(
    gray: NDArray[np.float32], view: View, feature: Feature, reach_px: float, step_px: float
) -> tuple[NDArray[np.float32], Array, Array, NDArray[np.intp]]:
    """Mean brightness across every stretch that is wholly in the picture.

    Returns
    -------
    mean (k, w), centre_px (k, 2), normal (k, 2), index (k,)
    """
    px = view.to_px(feature.points_mm)
    ahead = view.to_px(feature.points_mm + feature.along_mm)
    aside = view.to_px(feature.points_mm + feature.across_mm)
    along = ahead - px
    normal = np.stack([-along[..., 1], along[..., 0]], axis=-1)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    normal *= np.sign(np.sum(normal * (aside - px), axis=-1, keepdims=True))
    height, width = gray.shape
    edge = reach_px + 1
    inside = ((px > edge) & (px < (width - 1 - edge, height - 1 - edge))).all(axis=(1, 2))
    index = np.flatnonzero(inside)
    steps = np.arange(-reach_px, reach_px + step_px / 2, step_px)
    middle = px.shape[1] // 2
    if not len(index):
        return np.zeros((0, len(steps)), np.float32), px[index, middle], normal[index, middle], index
    grid = px[index][:, :, None, :] + steps[None, None, :, None] * normal[index][:, :, None, :]
    k, m, w = grid.shape[:3]
    mapped = grid.reshape(k * m, w, 2).astype(np.float32)
    values = cv2.remap(gray, mapped[..., 0], mapped[..., 1], cv2.INTER_CUBIC).reshape(k, m, w)
    values -= np.median(values, axis=2, keepdims=True)
    values.sort(axis=1)
    mean = values[:, m // 4 : m - m // 4].mean(axis=1)
    return mean, px[index, middle], normal[index, middle], index


def _kernel(look: str, px_per_mm: float, step_px: float) -> tuple[NDArray[np.float32], float]:
    """Matched filter (unit energy, zero mean) for a dark line or a step, and its half-width in px."""
    if look == "ridge":
        sigma = np.hypot(BLUR_PX, LINE_WIDTH_MM * px_per_mm / np.sqrt(12))
        x = np.arange(-np.ceil(4 * sigma / step_px), np.ceil(4 * sigma / step_px) + 1) * step_px
        k = -(1 - (x / sigma) ** 2) * np.exp(-0.5 * (x / sigma) ** 2)
    else:
        sigma = max(1.0, 0.7 * px_per_mm)
        x = np.arange(-np.ceil(3 * sigma / step_px), np.ceil(3 * sigma / step_px) + 1) * step_px
        k = x * np.exp(-0.5 * (x / sigma) ** 2)
    k -= k.mean()
    return (k / np.linalg.norm(k)).astype(np.float32), float(sigma)


def filtered(gray: NDArray[np.float32], view: View, feature: Feature, reach_px: float) -> tuple[Array, Array]:
    """Strength of a step (either way) or line across every stretch: (k, w), and the places in px (w,)."""
    step = _step_px(view.px_per_mm)
    kernel, _ = _kernel(feature.look, view.px_per_mm, step)
    mean, _, _, index = profiles(gray, view, feature, reach_px, step)
    steps = (np.arange(mean.shape[1]) - (mean.shape[1] - 1) / 2) * step
    if not len(index):
        return np.zeros((0, len(steps))), steps
    response = cv2.filter2D(mean, cv2.CV_32F, kernel[None, :], borderType=cv2.BORDER_REPLICATE).astype(np.float64)
    return (np.abs(response) if feature.look == "edge" else response), steps


def _step_px(px_per_mm: float) -> float:
    return max(STEP_PX, 0.2 * px_per_mm)


def find_marks(
    gray: NDArray[np.float32], view: View, feature: Feature, reach_mm: float, *, pull_mm: float | None = None, polarity: int = 0
) -> Marks:
    """Look for the feature within `reach_mm` of where `view` expects it.

    `pull_mm`: prefer responses near the expected place (Gaussian of this width) while the search is wide.
    `polarity`: for edges, +1 brighter outward (along the stretch's normal), -1 darker, 0 either.
    """
    scale = view.px_per_mm
    step = _step_px(scale)
    kernel, width = _kernel(feature.look, scale, step)
    # Noise is judged outside the filter's own ringing, so the profile reaches well beyond the search.
    mean, centre, normal, index = profiles(gray, view, feature, reach_mm * scale + width * 12, step)
    if not len(index):
        none = np.zeros(0)
        return Marks(feature, index, np.zeros((0, 2)), np.zeros((0, 2)), none, none, none)
    response = cv2.filter2D(mean, cv2.CV_32F, kernel[None, :], borderType=cv2.BORDER_REPLICATE).astype(np.float64)
    if feature.look == "edge":
        response = response * polarity if polarity else np.abs(response)
    steps = (np.arange(mean.shape[1]) - (mean.shape[1] - 1) / 2) * step
    allowed = np.abs(steps) <= reach_mm * scale
    weight = np.where(allowed, 1.0, 0.0)
    if pull_mm is not None:
        weight *= np.exp(-0.5 * (steps / (pull_mm * scale)) ** 2)
    best = np.clip(np.argmax(np.where(response > 0, response, 0) * weight, axis=1), 1, mean.shape[1] - 2)
    rows = np.arange(len(index))
    left, peak, right = response[rows, best - 1], response[rows, best], response[rows, best + 1]
    bend = left - 2 * peak + right
    with np.errstate(divide="ignore", invalid="ignore"):
        fraction = np.where(bend < 0, 0.5 * (left - right) / bend, 0.0)
    at_end = ~allowed[best - 1] | ~allowed[best + 1] | (peak <= 0)
    offset = steps[best] + np.clip(fraction, -0.5, 0.5) * step
    away = np.abs(steps[None, :] - offset[:, None]) > 5 * width
    noise = np.array([np.median(np.abs(r[a])) for r, a in zip(response, away, strict=True)]) * 1.4826 + 1e-3
    snr = np.where(at_end, 0.0, peak / noise)
    floor = FLOOR_PX if feature.look == "ridge" else EDGE_FLOOR_PX
    floor = np.hypot(floor, feature.slack_mm * scale)
    sigma = np.hypot(floor, 0.7 * width / np.maximum(snr, 0.1))
    return Marks(feature, index, centre + offset[:, None] * normal, normal, offset, snr, sigma)


def pooled(every: Sequence[Marks]) -> Marks:
    """One feature in several pictures of an unmoved camera, looked for from one view: per stretch the median of where it was seen.

    Sigmas are those of the clearest picture, not smaller: what shifts a line in one picture (grain, demosaicing) does so in all.
    """
    if len(every) == 1:
        return every[0]
    first = every[0]
    snr = np.stack([m.snr for m in every])
    offsets = np.stack([m.offset_px for m in every])
    seen = snr >= SEEN_SNR
    clearest = snr == snr.max(axis=0, keepdims=True)
    offset = np.nanmedian(np.where(seen | clearest, offsets, np.nan), axis=0)
    centre = first.at_px - first.offset_px[:, None] * first.normal
    sigma = np.stack([m.sigma_px for m in every]).min(axis=0)
    return Marks(first.feature, first.index, centre + offset[:, None] * first.normal, first.normal, offset, snr.max(axis=0), sigma)
