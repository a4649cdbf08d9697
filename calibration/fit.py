"""Robust least squares over pose, table dimensions and, when unknown, the lens; priors are rows of their own.

Gauss-Newton with damping on iteratively reweighted marks (Cauchy weights): no general optimiser, because the slope of a mark with
respect to a table dimension is known in closed form and two thirds of the unknowns are table dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.nominal import LensPrior
from calibration.optics import LENS_NAMES, View
from calibration.profiles import SEEN_SNR, Marks

Array = NDArray[np.float64]

ROBUST_SIGMAS: Final = 2.5  # beyond this many sigmas a mark pulls less and less
POSE_STEPS: Final = np.array([1e-6, 1e-6, 1e-6, 1e-3, 1e-3, 1e-3])  # rad, mm: finite differences
LENS_STEPS: Final = np.array([0.1, 0.01, 0.01, 1e-5, 1e-5, 1e-6, 1e-6, 1e-5])  # the same in the order of LENS_NAMES
ENOUGH_GAIN: Final = 1e-4  # of the cost; later steps move the table by less than a micrometre


@dataclass(frozen=True, slots=True)
class Solution:
    """Result of one fit.

    `table` name -> (value, sigma) of each dimension's difference from nominal; `covariance` over rvec, tvec (6, 6);
    `joint_covariance` (14, 14) over rvec, tvec and the lens in the order of LENS_NAMES, zero for a lens that was given;
    `residual_px` (NaN where not used) and `weight` per mark in the order given; `chi2` weighted mean square in sigmas; `cost` is what
    the fit minimises; `log_evidence` compares what was assumed of the table's dimensions, on the same marks (Laplace's approximation).
    """

    view: View
    table: dict[str, tuple[float, float]]
    joint_covariance: Array
    residual_px: Array
    weight: Array
    chi2: float
    cost: float
    log_evidence: float

    @property
    def covariance(self) -> Array:
        """The pose's own block, (6, 6)."""
        return self.joint_covariance[:6, :6]


def solve(
    view: View,
    marks: Sequence[Marks],
    prior: LensPrior | None = None,
    *,
    table: dict[str, tuple[float, float]] | None = None,
    slack_px: float = 0.0,
    rounds: int = 20,
) -> Solution:
    """Pose (and, with a `prior`, lens) that explains the marks best.

    Parameters
    ----------
    view : start.
    marks : what was found; marks below SEEN_SNR are left out (weight 0).
    prior : what is assumed of a lens that is not known; None keeps the view's.
    slack_px : added to every mark's sigma while the pose is still rough, so that no good mark is taken for an outlier.
    table : start values of the dimensions, as in a former Solution.
    """
    keep = [m.snr >= SEEN_SNR for m in marks]
    problem = _Problem(view, marks, keep, prior, slack_px)
    x = problem.start(table or {})
    x = _descend(problem, x, rounds)
    r, p = problem.misfit(x), problem.priors(x)
    w, _ = problem.weights(r, p)
    chi2 = float(np.sum(w * r**2) / max(np.sum(w), 1.0))
    normal_matrix, _ = problem.normal_equations(x, r, p)
    full = np.linalg.inv(normal_matrix) * max(chi2, 1.0)
    full = (full + full.T) / 2
    n = problem.n_lens
    known = np.r_[np.arange(6), 6 + problem.free]
    joint = np.zeros((6 + len(LENS_NAMES), 6 + len(LENS_NAMES)))
    joint[np.ix_(known, known)] = full[: 6 + n, : 6 + n]
    now, theta = problem.unpack(x)
    sd = np.sqrt(np.maximum(np.diag(full), 0))[6 + n :]
    used = np.concatenate(keep)
    residual, weight = np.full(len(used), np.nan), np.zeros(len(used))
    residual[used] = r * problem.sigmas
    weight[used] = w
    dimensions = {key: (float(v), float(s)) for key, v, s in zip(problem.names, theta, sd, strict=True)}
    cost = problem.cost(r, p)
    evidence = -cost / 2 - float(np.linalg.slogdet(normal_matrix)[1]) / 2 - float(np.log(problem.prior_sigma).sum())
    return Solution(now, dimensions, joint, residual, weight, chi2, cost, evidence)


def _descend(problem: _Problem, x: Array, rounds: int) -> Array:
    """Damped steps until nothing is gained."""
    r, p = problem.misfit(x), problem.priors(x)
    damping, cost = 1e-4, problem.cost(r, p)
    for _ in range(rounds):
        normal_matrix, gradient = problem.normal_equations(x, r, p)
        while damping < 1e3:
            step = np.linalg.solve(normal_matrix + damping * np.diag(np.diag(normal_matrix)), gradient)
            trial_r, trial_p = problem.misfit(x - step), problem.priors(x - step)
            trial = problem.cost(trial_r, trial_p)
            if trial <= cost:
                break
            damping *= 10
        else:
            return x
        gain = cost - trial
        x, r, p, cost = x - step, trial_r, trial_p, trial
        damping = max(damping / 10, 1e-9)
        if gain < ENOUGH_GAIN * max(cost, 1.0):
            break
    return x


class _Problem:
    """Marks and priors as residuals in sigmas, of x = pose change (6), change of the free lens values, table dimensions."""

    def __init__(
        self, view: View, marks: Sequence[Marks], keep: Sequence[NDArray[np.bool_]], prior: LensPrior | None, slack_px: float
    ) -> None:
        self.view = view
        self.prior = prior
        self.lens0 = view.lens_vector
        self.free: NDArray[np.intp] = np.flatnonzero(prior.sigma > 0) if prior is not None else np.zeros(0, dtype=np.intp)
        self.n_lens = len(self.free)
        sigma_of = {key: sigma for m in marks for key, (sigma, _) in m.feature.columns.items()}
        self.names = list(sigma_of)
        self.prior_sigma = np.array([sigma_of[key] for key in self.names])
        where = {key: i for i, key in enumerate(self.names)}
        base, moves = [], []
        for m, k in zip(marks, keep, strict=True):
            index = m.index[k]
            base.append(m.feature.points_mm[index, m.feature.points_mm.shape[1] // 2])
            move = np.zeros((len(index), 3, len(self.names)))
            for key, (_, column) in m.feature.columns.items():
                move[:, :, where[key]] = column[index]
            moves.append(move)
        self.base_mm, self.move_mm = np.concatenate(base), np.concatenate(moves)
        self.target_px = np.concatenate([m.at_px[k] for m, k in zip(marks, keep, strict=True)])
        self.normals = np.concatenate([m.normal[k] for m, k in zip(marks, keep, strict=True)])
        self.sigmas = np.hypot(np.concatenate([m.sigma_px[k] for m, k in zip(marks, keep, strict=True)]), slack_px)
        self.prior_jac = np.zeros((len(self.names) + self.n_lens, 6 + self.n_lens + len(self.names)))
        self.prior_jac[: len(self.names), 6 + self.n_lens :] = np.diag(1 / self.prior_sigma)
        if prior is not None:
            self.prior_jac[len(self.names) :, 6 : 6 + self.n_lens] = np.diag(1 / prior.sigma[self.free])
        # Priors stay quadratic, a dimension a millimetre off is rare; but a rail's edge is easily a shadow altogether.
        self.doubtful = np.array([key.startswith("rail ") and key != "rail height" for key in self.names] + [False] * self.n_lens)

    def start(self, table: dict[str, tuple[float, float]]) -> Array:
        return np.concatenate([np.zeros(6 + self.n_lens), [table.get(key, (0.0, 0.0))[0] for key in self.names]])

    def unpack(self, x: Array) -> tuple[View, Array]:
        now = self.view.moved(self.view.pose + x[:6])
        if self.n_lens:
            lens = self.lens0.copy()
            lens[self.free] += x[6 : 6 + self.n_lens]
            now = now.with_lens(lens)
        return now, x[6 + self.n_lens :]

    def misfit(self, x: Array) -> Array:
        now, theta = self.unpack(x)
        px = now.to_px(self.base_mm + self.move_mm @ theta)
        across: Array = np.sum((px - self.target_px) * self.normals, axis=1) / self.sigmas
        return across

    def priors(self, x: Array) -> Array:
        now, theta = self.unpack(x)
        rows = [theta / self.prior_sigma]
        if self.prior is not None:
            rows.append((now.lens_vector[self.free] - self.prior.mean[self.free]) / self.prior.sigma[self.free])
        return np.concatenate(rows)

    def slopes(self, x: Array, r: Array) -> Array:
        now, theta = self.unpack(x)
        jac = np.zeros((len(r), len(x)))
        for i, step in enumerate(np.concatenate([POSE_STEPS, LENS_STEPS[self.free]])):
            moved = x.copy()
            moved[i] += step
            jac[:, i] = (self.misfit(moved) - r) / step
        points = self.base_mm + self.move_mm @ theta
        here = now.to_px(points)
        per_mm = np.stack([np.sum((now.to_px(points + axis) - here) * self.normals, axis=1) for axis in np.eye(3)], axis=1)
        jac[:, 6 + self.n_lens :] = np.einsum("nk,nkp->np", per_mm / self.sigmas[:, None], self.move_mm)
        return jac

    def weights(self, r: Array, p: Array) -> tuple[Array, Array]:
        return 1 / (1 + (r / ROBUST_SIGMAS) ** 2), np.where(self.doubtful, 1 / (1 + p**2), 1.0)

    def cost(self, r: Array, p: Array) -> float:
        rest = np.where(self.doubtful, np.log1p(p**2), p**2)
        return float(ROBUST_SIGMAS**2 * np.log1p((r / ROBUST_SIGMAS) ** 2).sum() + rest.sum())

    def normal_equations(self, x: Array, r: Array, p: Array) -> tuple[Array, Array]:
        w, wp = self.weights(r, p)
        jac = self.slopes(x, r)
        weighted, weighted_prior = jac * w[:, None], self.prior_jac * wp[:, None]
        return weighted.T @ jac + weighted_prior.T @ self.prior_jac, weighted.T @ r + weighted_prior.T @ p
