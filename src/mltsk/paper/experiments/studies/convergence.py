"""What Algorithm I does when nobody stops it, next to a problem that has an optimum. The paper's Fig. 8.

Symbols: A = GᵀG, B = GᵀY, R = 1 - C the paper's coupling, λ its eigenvalues, F the objective (24), q the quantity that
the authors' program watches (`solvers.algorithm1`), df its change from step to step.

The Hessian of F has the eigenvalues σ_i + α λ_j. R always has a negative λ, and G a null direction (σ = 0) whenever
its rules repeat each other, so F falls without bound along it, however small α: df below 0.01 within a few steps says
that steps are short, not that there is a minimum.
"""

from collections.abc import Iterator
from math import sqrt
from typing import Any

import numpy as np

from ....core.arrays import Array
from ....core.coupling import coupling_matrix, label_correlation
from ....datasets import Dataset
from ...solvers.algorithm1 import Solver
from ...solvers.consequents import fit_consequents
from ...solvers.problem import (
    CERTIFY_EVERY,
    GAP,
    Problem,
    fista,
    quadratic,
    soft_threshold,
)
from .sample import common_width_rules, paper_rules, plain, sample_of

N_RULES, WIDTH_SCALE, BETA, GAMMA = (
    3,
    100.0,
    0.1,
    1.0,
)  # mid-grid in Table II, widths at which nothing underflows
ALPHAS = (0.1, 1.0, 10.0)
STEPS, FAST_STEPS = 3000, 1000
TOL = 1e-6


def convergence_study(
    data: Dataset, *, seed: int = 0, grid: str = "paper"
) -> dict[str, Any]:
    """Objective of the paper's problem step by step far past its authors' stop, and its convex form with a certificate.

    ``curvature`` is the smallest eigenvalue of the Hessian; below 0 the objective is ``unbounded``.
    """
    sample = sample_of(data, seed, grid)
    steps, rows = (
        FAST_STEPS if sample.fast else STEPS,
        "all" if len(sample.Y) == len(data) else len(sample.Y),
    )
    return {
        "note": f"fitted to {rows} rows; Algorithm I with K = {N_RULES}, h = {WIDTH_SCALE:g}, beta = {BETA:g}, "
        f"gamma = {GAMMA:g}, {steps} steps",
        "paper": list(_authors(sample.dense, sample.Y, steps)),
        "ours": _convex(sample.X, sample.Y),
    }


def _authors(X: Array, Y: Array, steps: int) -> Iterator[dict[str, Any]]:
    G, _ = paper_rules(X, X[:1], N_RULES, WIDTH_SCALE)
    data, R = quadratic(G, Y, form=True), coupling_matrix(label_correlation(Y), "paper")
    sigma, lam = np.linalg.eigvalsh(G.gram())[0], np.linalg.eigvalsh(R)[0]
    sigma = (
        0.0 if sigma <= 1e-9 * data.norm else sigma
    )  # what rounding leaves of an exact 0
    for alpha in ALPHAS:
        stopped, curvature = (
            Solver(data, R, 100, 0.01).solve(alpha, BETA, GAMMA),
            float(sigma + alpha * lam),
        )
        F, q = np.array(list(unstopped(Problem(data, R, alpha, BETA), GAMMA, steps))).T
        # all of the first hundred steps, and evenly spread in their logarithm beyond: enough for a picture
        spread = np.geomspace(1, len(F), 400).round().astype(np.int64)
        kept = np.union1d(np.arange(1, min(len(F), 100) + 1), spread)
        df = np.abs(np.diff(q, prepend=0.0))
        found = {
            "alpha": alpha,
            "stop": stopped.n_iter,
            "stopped_by": stopped.stopped_by,
            "lowest": plain(F.min()),
        }
        found |= {
            "curvature": curvature,
            "unbounded": curvature < 0,
            "steps": kept.tolist(),
        }
        yield {**found, "objective": plain(F[kept - 1]), "df": plain(df[kept - 1])}


def unstopped(
    problem: Problem, gamma: float, steps: int
) -> Iterator[tuple[float, float]]:
    """(F, q) after every step of Algorithm I without its stopping rule; ends early where numbers overflow."""
    beta, norm_R = (
        problem.beta,
        float(np.abs(np.linalg.eigvalsh(np.asarray(problem.Q))).max()),
    )
    lip = sqrt(2 * (problem.data.norm**2 + (problem.alpha * norm_R) ** 2))
    W = W_old = problem.data.ridge_start(gamma)
    slope = slope_old = problem.slope(W)
    b_old, b = 1.0, 1.0
    for _ in range(steps):
        m = (b_old - 1) / b
        V, slope_V = W + m * (W - W_old), slope + m * (slope - slope_old)
        W_old, slope_old, W = W, slope, soft_threshold(V - slope_V / lip, beta / lip)
        slope = problem.slope(W)
        b_old, b = b, (1 + sqrt(4 * b * b + 1)) / 2
        F, size = problem.value(W, slope), float(np.abs(W).sum())
        if not np.isfinite(F) or abs(F) > 1e200:
            return
        yield F, 2 * (F - beta * size) + beta * float(np.count_nonzero(W))


def _convex(X: Any, Y: Array) -> dict[str, Any]:
    G, _ = common_width_rules(X, X[:1])
    fitted = fit_consequents(
        G, Y, np.ones(len(Y)), max_iter=1
    )  # for the weights that it takes from the data
    data = quadratic(G, Y - Y.mean(axis=0))
    problem = Problem(data, fitted.coupling, fitted.alpha, fitted.beta, fitted.rho)
    solution = fista(
        problem, data.ridge_start(fitted.rho + fitted.alpha), max_iter=20_000, tol=TOL
    )
    steps = [
        min(CERTIFY_EVERY * i, solution.n_iter) for i in range(len(solution.certificates))
    ]
    found = {
        "steps": steps,
        "certificates": plain(solution.certificates),
        "converged": solution.converged,
    }
    return {**found, "tol": TOL, "default_tol": GAP}
