"""Robust least squares over pose, table dimensions and, when unknown, the lens; priors are rows of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from calibration.optics import LENS_NAMES, View
from calibration.profiles import Marks

Array = NDArray[np.float64]

ROBUST_SIGMAS: Final = 2.5  # beyond this many sigmas a mark pulls less and less (Cauchy)


@dataclass(frozen=True, slots=True)
class Solution:
    """Result of one fit.

    `table` name -> (value, sigma) of each dimension's difference from nominal; `covariance` over rvec, tvec (6, 6);
    `lens_covariance` (8, 8) in the order of LENS_NAMES, zero where the lens was given; `residual_px`, `weight` per mark in the order given.
    """

    view: View
    table: dict[str, tuple[float, float]]
    covariance: Array
    lens_covariance: Array
    residual_px: Array
    weight: Array
    chi2: float


def solve(
    view: View,
    marks: Sequence[Marks],
    *,
    lens_sigma: Array | None = None,
    lens_mean: Array | None = None,
    table: dict[str, tuple[float, float]] | None = None,
    min_snr: float = 4.0,
    slack_px: float = 0.0,
    rounds: int = 20,
) -> Solution:
    """Pose (and lens, where `lens_sigma` in the order of LENS_NAMES is above zero) that explains the marks best.

    Parameters
    ----------
    view : start.
    marks : what was found; marks below `min_snr` are left out (weight 0).
    lens_sigma, lens_mean : Gaussian prior on the lens, (8,).
    slack_px : added to every mark's sigma while the pose is still rough, so that no good mark is taken for an outlier.
    table : start values of the dimensions, as in a former Solution.
    """
    keep = [m.snr >= min_snr for m in marks]
    names: list[str] = []
    sigma_of: dict[str, float] = {}
    for m in marks:
        for key, (sigma, _) in m.feature.columns.items():
            if key not in sigma_of:
                names.append(key)
                sigma_of[key] = sigma
    where = {key: i for i, key in enumerate(names)}
    base, moves, target, normal, sigma_px = [], [], [], [], []
    for m, k in zip(marks, keep, strict=True):
        index = m.index[k]
        middle = m.feature.points_mm.shape[1] // 2
        base.append(m.feature.points_mm[index, middle])
        move = np.zeros((len(index), 3, len(names)))
        for key, (_, column) in m.feature.columns.items():
            move[:, :, where[key]] = column[index]
        moves.append(move)
        target.append(m.at_px[k])
        normal.append(m.normal[k])
        sigma_px.append(np.hypot(m.sigma_px[k], slack_px))
    base_mm, move_mm = np.concatenate(base), np.concatenate(moves)
    target_px, normals, sigmas = np.concatenate(target), np.concatenate(normal), np.concatenate(sigma_px)
    free = np.flatnonzero(lens_sigma > 0) if lens_sigma is not None else np.zeros(0, dtype=np.intp)
    lens0 = view.lens_vector
    prior_sigma = np.array([sigma_of[key] for key in names])
    n_obs, n_lens = len(target_px), len(free)
    lens_scale = np.array([100.0, 5.0, 5.0, 0.05, 0.05, 1e-3, 1e-3, 0.02])
    scale = np.concatenate([np.full(3, 1e-3), np.full(3, 1.0), lens_scale[free], prior_sigma])

    def unpack(x: Array) -> tuple[View, Array]:
        values = x * scale
        now = view.moved(view.pose + values[:6])
        if n_lens:
            lens = lens0.copy()
            lens[free] += values[6 : 6 + n_lens]
            now = now.with_lens(lens)
        return now, values[6 + n_lens :]

    def residuals(x: Array) -> Array:
        now, theta = unpack(x)
        px = now.to_px(base_mm + move_mm @ theta)
        rows = [np.sum((px - target_px) * normals, axis=1) / sigmas, theta / prior_sigma]
        if n_lens and lens_sigma is not None and lens_mean is not None:
            rows.append((now.lens_vector[free] - lens_mean[free]) / lens_sigma[free])
        return np.concatenate(rows)

    def loss(z: Array) -> Array:
        # Priors stay quadratic: a dimension a millimetre off is rare, not a mistake to be ignored.
        rho = np.stack([z, np.ones_like(z), np.zeros_like(z)])
        c2 = ROBUST_SIGMAS**2
        o = z[:n_obs]
        rho[0, :n_obs] = c2 * np.log1p(o / c2)
        rho[1, :n_obs] = 1 / (1 + o / c2)
        rho[2, :n_obs] = -1 / (c2 * (1 + o / c2) ** 2)
        return rho

    start = np.zeros(len(scale))
    if table:
        start[6 + n_lens :] = [table.get(key, (0.0, 0.0))[0] / sigma_of[key] for key in names]
    found = least_squares(residuals, start, loss=loss, max_nfev=rounds, method="trf", x_scale=1.0)
    now, theta = unpack(found.x)
    r = residuals(found.x)
    weight = np.ones(len(r))
    weight[:n_obs] = 1 / (1 + r[:n_obs] ** 2 / ROBUST_SIGMAS**2)
    # found.jac is already scaled by the loss; rebuild plain normal equations from finite differences.
    jac = np.empty((len(r), len(found.x)))
    for i in range(len(found.x)):
        x = found.x.copy()
        x[i] += 1e-3
        jac[:, i] = (residuals(x) - r) / 1e-3
    normal_matrix = (jac * weight[:, None]).T @ jac
    chi2 = float(np.sum(weight[:n_obs] * r[:n_obs] ** 2) / max(np.sum(weight[:n_obs]), 1.0))
    full = np.linalg.pinv(normal_matrix, hermitian=True) * max(chi2, 1.0)
    full = np.asarray(full * np.outer(scale, scale), dtype=np.float64)
    lens_cov = np.zeros((len(LENS_NAMES), len(LENS_NAMES)))
    if n_lens:
        lens_cov[np.ix_(free, free)] = full[6 : 6 + n_lens, 6 : 6 + n_lens]
    sd = np.sqrt(np.maximum(np.diag(full), 0))[6 + n_lens :]
    all_residuals, all_weights = [], []
    at = 0
    for k in keep:
        count = int(k.sum())
        res, wei = np.full(len(k), np.nan), np.zeros(len(k))
        res[k] = r[at : at + count] * sigmas[at : at + count]
        wei[k] = weight[at : at + count]
        at += count
        all_residuals.append(res)
        all_weights.append(wei)
    return Solution(
        now,
        {key: (float(v), float(s)) for key, v, s in zip(names, theta, sd, strict=True)},
        np.asarray(full[:6, :6], dtype=np.float64),
        lens_cov,
        np.concatenate(all_residuals),
        np.concatenate(all_weights),
        chi2,
    )
