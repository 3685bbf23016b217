"""What Algorithm I does when nobody stops it, next to a problem that has an optimum.

The paper's Fig. 8. Symbols: A = GᵀG, B = GᵀY, R = 1 - C the paper's coupling, λ its
eigenvalues, F the objective (24), q the quantity that the authors' program watches
(`solvers.algorithm1`), df its change from step to step.

The Hessian of F has the eigenvalues σ_i + α λ_j. R always has a negative λ, and G a
null direction (σ = 0) whenever its rules repeat each other, so F falls without bound
along it, however small α: df below 0.01 within a few steps says that steps are short,
not that there is a minimum.
"""

from collections.abc import Iterator
from math import sqrt

import numpy as np

from ....core.arrays import Array, Matrix
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
from ..published import PlainData
from .sample import common_width_rules, paper_rules, plain, sample_of

# Mid-grid in Table II, and a width at which nothing underflows.
CONVERGENCE_RULES = 3
CONVERGENCE_WIDTH_SCALE = 100.0
CONVERGENCE_BETA = 0.1
CONVERGENCE_GAMMA = 1.0
CONVERGENCE_ALPHAS = (0.1, 1.0, 10.0)
CONVERGENCE_STEPS = 3000
FAST_CONVERGENCE_STEPS = 1000
CERTIFICATE_TOL = 1e-6
MAX_CONVEX_STEPS = 20_000
# An objective beyond this ends `unstopped`: the next steps overflow.
MAX_OBJECTIVE = 1e200


def convergence_study(
    data: Dataset, *, seed: int = 0, grid: str = "paper"
) -> PlainData:
    """Objective of the paper's problem, step by step far past its authors' stop.

    Next to it is its convex form with a certificate. ``curvature`` is the smallest
    eigenvalue of the Hessian; below 0 the objective is ``unbounded``.
    """
    sample = sample_of(data, seed, grid)
    steps = FAST_CONVERGENCE_STEPS if sample.fast else CONVERGENCE_STEPS
    rows = "all" if len(sample.Y) == len(data) else len(sample.Y)
    return {
        "note": (
            f"fitted to {rows} rows; Algorithm I with K = {CONVERGENCE_RULES}, "
            f"h = {CONVERGENCE_WIDTH_SCALE:g}, beta = {CONVERGENCE_BETA:g}, "
            f"gamma = {CONVERGENCE_GAMMA:g}, {steps} steps"
        ),
        "paper": list(_authors(sample.dense, sample.Y, steps)),
        "ours": _convex(sample.X, sample.Y),
    }


def _authors(X: Array, Y: Array, steps: int) -> Iterator[PlainData]:
    """Objective and df of Algorithm I for some α, and where the authors stop."""
    G, _ = paper_rules(X, X[:1], CONVERGENCE_RULES, CONVERGENCE_WIDTH_SCALE)
    data = quadratic(G, Y, form=True)
    R = coupling_matrix(label_correlation(Y), "paper")
    lam = np.linalg.eigvalsh(R)[0]
    sigma = np.linalg.eigvalsh(G.gram())[0]
    if sigma <= 1e-9 * data.norm:
        sigma = 0.0  # what rounding leaves of an exact 0
    for alpha in CONVERGENCE_ALPHAS:
        solver = Solver(data, R, max_iter=100, margin=0.01)
        stopped = solver.solve(alpha, CONVERGENCE_BETA, CONVERGENCE_GAMMA)
        curvature = float(sigma + alpha * lam)
        problem = Problem(data, Q=R, alpha=alpha, beta=CONVERGENCE_BETA)
        F, q = np.array(list(unstopped(problem, CONVERGENCE_GAMMA, steps))).T
        df = np.abs(np.diff(q, prepend=0.0))
        shown = _shown_steps(len(F))
        yield {
            "alpha": alpha,
            "stop": stopped.n_iter,
            "stopped_by": stopped.stopped_by,
            "lowest": plain(F.min()),
            "curvature": curvature,
            "unbounded": curvature < 0,
            "steps": shown.tolist(),
            "objective": plain(F[shown - 1]),
            "df": plain(df[shown - 1]),
        }


def _shown_steps(n: int) -> Array:
    """Steps that a picture needs: the first hundred, then even in their logarithm."""
    spread = np.geomspace(1, n, 400).round().astype(np.int64)
    return np.union1d(np.arange(1, min(n, 100) + 1), spread)


def unstopped(
    problem: Problem, gamma: float, steps: int
) -> Iterator[tuple[float, float]]:
    """(F, q) after every step of Algorithm I without its stopping rule.

    It ends early where numbers overflow.
    """
    beta = problem.beta
    norm_R = float(np.abs(np.linalg.eigvalsh(np.asarray(problem.Q))).max())
    lip = sqrt(2 * (problem.data.norm**2 + (problem.alpha * norm_R) ** 2))
    W = problem.data.ridge_start(gamma)
    slope = problem.slope(W)
    W_old = W
    slope_old = slope
    b = 1.0
    b_old = 1.0
    for _ in range(steps):
        m = (b_old - 1) / b
        V = W + m * (W - W_old)
        slope_V = slope + m * (slope - slope_old)
        W_old = W
        slope_old = slope
        W = soft_threshold(V - slope_V / lip, beta / lip)
        slope = problem.slope(W)
        b_old = b
        b = (1 + sqrt(4 * b * b + 1)) / 2
        F = problem.value(W, slope)
        if not np.isfinite(F) or abs(F) > MAX_OBJECTIVE:
            return
        l1_norm = float(np.abs(W).sum())
        yield F, 2 * (F - beta * l1_norm) + beta * float(np.count_nonzero(W))


def _convex(X: Matrix, Y: Array) -> PlainData:
    """Certificates of the convex form along the steps of its solver."""
    G, _ = common_width_rules(X, X[:1])
    # for the weights that it takes from the data
    fitted = fit_consequents(G, Y, np.ones(len(Y)), max_iter=1)
    data = quadratic(G, Y - Y.mean(axis=0))
    problem = Problem(
        data=data,
        Q=fitted.coupling,
        alpha=fitted.alpha,
        beta=fitted.beta,
        rho=fitted.rho,
    )
    start = data.ridge_start(fitted.rho + fitted.alpha)
    solution = fista(problem, start, max_iter=MAX_CONVEX_STEPS, tol=CERTIFICATE_TOL)
    checks = range(len(solution.certificates))
    return {
        "steps": [min(CERTIFY_EVERY * i, solution.n_iter) for i in checks],
        "certificates": plain(solution.certificates),
        "converged": solution.converged,
        "tol": CERTIFICATE_TOL,
        "default_tol": GAP,
    }
