"""Robust least squares over pose, table dimensions and, when unknown, the lens; priors are rows of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.nominal import LensPrior
from calibration.optics import LENS_NAMES, View
from calibration.profiles import Marks

Array = NDArray[np.float64]

LENS_STEPS: Final = np.array([0.1, 0.01, 0.01, 1e-5, 1e-5, 1e-6, 1e-6, 1e-5])  # finite differences, in the order of LENS_NAMES
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
    prior: LensPrior | None = None,
    *,
    table: dict[str, tuple[float, float]] | None = None,
    min_snr: float = 4.0,
    slack_px: float = 0.0,
    rounds: int = 20,
) -> Solution:
    """Pose (and, with a `prior`, lens) that explains the marks best.

    Parameters
    ----------
    view : start.
    marks : what was found; marks below `min_snr` are left out (weight 0).
    prior : what is assumed of a lens that is not known; None keeps the view's.
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
    free = np.flatnonzero(prior.sigma > 0) if prior is not None else np.zeros(0, dtype=np.intp)
    lens0 = view.lens_vector
    prior_sigma = np.array([sigma_of[key] for key in names])
    n_obs, n_lens = len(target_px), len(free)

    def unpack(x: Array) -> tuple[View, Array]:
        now = view.moved(view.pose + x[:6])
        if n_lens:
            lens = lens0.copy()
            lens[free] += x[6 : 6 + n_lens]
            now = now.with_lens(lens)
        return now, x[6 + n_lens :]

    def misfit(x: Array) -> Array:
        now, theta = unpack(x)
        px = now.to_px(base_mm + move_mm @ theta)
        across: Array = np.sum((px - target_px) * normals, axis=1) / sigmas
        return across

    def priors(x: Array) -> Array:
        now, theta = unpack(x)
        rows = [theta / prior_sigma]
        if prior is not None:
            rows.append((now.lens_vector[free] - prior.mean[free]) / prior.sigma[free])
        return np.concatenate(rows)

    def slopes(x: Array) -> Array:
        now, theta = unpack(x)
        r = misfit(x)
        jac = np.zeros((n_obs, len(x)))
        for i, step in enumerate(steps):
            moved = x.copy()
            moved[i] += step
            jac[:, i] = (misfit(moved) - r) / step
        points = base_mm + move_mm @ theta
        here = now.to_px(points)
        per_mm = np.stack([np.sum((now.to_px(points + axis) - here) * normals, axis=1) for axis in np.eye(3)], axis=1)
        jac[:, 6 + n_lens :] = np.einsum("nk,nkp->np", per_mm / sigmas[:, None], move_mm)
        return jac

    steps = np.concatenate([np.full(3, 1e-6), np.full(3, 1e-3), LENS_STEPS[free]])
    prior_jac = np.zeros((len(names) + n_lens, 6 + n_lens + len(names)))
    prior_jac[: len(names), 6 + n_lens :] = np.diag(1 / prior_sigma)
    if prior is not None:
        prior_jac[len(names) :, 6 : 6 + n_lens] = np.diag(1 / prior.sigma[free])
    # Priors stay quadratic, a dimension a millimetre off is rare; but a rail's edge is easily a shadow altogether.
    doubtful = np.array([key.startswith("rail ") and key != "rail height" for key in names] + [False] * n_lens)

    def weights(r: Array, p: Array) -> tuple[Array, Array]:
        return 1 / (1 + (r / ROBUST_SIGMAS) ** 2), np.where(doubtful, 1 / (1 + p**2), 1.0)

    def cost(r: Array, p: Array) -> float:
        rest = np.where(doubtful, np.log1p(p**2), p**2)
        return float(ROBUST_SIGMAS**2 * np.log1p((r / ROBUST_SIGMAS) ** 2).sum() + rest.sum())

    x = np.zeros(6 + n_lens + len(names))
    if table:
        x[6 + n_lens :] = [table.get(key, (0.0, 0.0))[0] for key in names]
    r, p = misfit(x), priors(x)
    damping, now_cost = 1e-4, cost(r, p)
    for _ in range(rounds):
        w, wp = weights(r, p)
        jac = slopes(x)
        normal_matrix = (jac * w[:, None]).T @ jac + (prior_jac * wp[:, None]).T @ prior_jac
        gradient = jac.T @ (w * r) + prior_jac.T @ (wp * p)
        better = False
        while not better and damping < 1e3:
            step = np.linalg.solve(normal_matrix + damping * np.diag(np.diag(normal_matrix)), gradient)
            trial_r, trial_p = misfit(x - step), priors(x - step)
            trial = cost(trial_r, trial_p)
            better = trial <= now_cost
            damping = damping / 10 if better else damping * 10
        if not better:
            break
        gain, x, r, p, now_cost = now_cost - trial, x - step, trial_r, trial_p, trial
        damping = max(damping, 1e-9)
        if gain < 1e-4 * max(now_cost, 1.0):
            break
    now, theta = unpack(x)
    w, wp = weights(r, p)
    jac = slopes(x)
    chi2 = float(np.sum(w * r**2) / max(np.sum(w), 1.0))
    full = np.linalg.inv((jac * w[:, None]).T @ jac + (prior_jac * wp[:, None]).T @ prior_jac) * max(chi2, 1.0)
    full = np.asarray((full + full.T) / 2, dtype=np.float64)
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
        wei[k] = w[at : at + count]
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
