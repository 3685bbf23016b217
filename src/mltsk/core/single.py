"""The default problem solved in single precision, which takes half the time; the certificate is then one in double.

Symbols as in `fit`: G (N, Md), Y (N, L) centred targets, w (N,) weights, Q coupling, (α, β, ρ) weights.

Up to LOO_ROWS rows leave-one-out has decomposed G Gᵀ = U diag(s) Uᵀ already, so R = UᵀG is one product away and
alternating directions (`sweep`) reach the default certificate in about 6 steps, where accelerated gradients take 30.
Beyond, accelerated gradients run on a copy of X in single precision.

This is for rows that a cluster, too, would bring together (`fits_together`). Larger sums are made in double, whoever
makes them: in single precision they would depend on how rows are dealt out to blocks.

The result is only a candidate: whoever asked computes its duality gap in double precision and goes on from there in
the rare case that it does not suffice.
"""

from typing import Any

import numpy as np
from scipy import sparse

from ..paper.solvers.fista import fista
from ..paper.solvers.moments import Moments, quadratic
from ..paper.solvers.objective import Problem
from ..paper.solvers.ridge import LooRows, conjugate_gradients, ridge_start
from .arrays import Array
from .backend import is_tensor
from .fuzzymap import FuzzyMap
from .sweep import SINGLE_RHO, SINGLE_TOL, Couplings, Factor, Setting, Sweep

WORK = 5 * 10**5  # entries of G below which a fit takes milliseconds anyway
# So many rows and bytes of X are fitted in one place: the least that is worth distributing.
TOGETHER_ROWS, TOGETHER_BYTES = 20_000, 64 * 10**6
_PRODUCTS = 40  # products with A that accelerated gradients take: 30 on yeast, 60 on scene
_ROUGH = 0.03  # residual of the start: 8 steps on yeast, 12 on scene, half the time of a factor for the same effect
_AIM = 0.95  # share of the tolerance aimed at: rounding must not spoil the certificate in double precision


def single_pays(G: FuzzyMap, rho: float, tol: float) -> bool:
    """Whether a problem is large enough for this, and its certificate not finer than single precision can tell."""
    if is_tensor(G.M) or sparse.issparse(G.X) or rho <= 0 or tol < SINGLE_TOL:
        return False
    return WORK <= G.shape[0] * G.shape[1] and fits_together(G.X.shape[0], G.X.nbytes)


def fits_together(n_rows: int, n_bytes: int) -> bool:
    """Whether rows are too few to be worth distributing.

    Examples
    --------
    >>> fits_together(2417, 2417 * 103 * 8), fits_together(10**6, 8 * 10**6)
    (True, False)
    """
    return n_rows <= TOGETHER_ROWS and n_bytes <= TOGETHER_BYTES


def solve_single(
    G: FuzzyMap,
    Y: Array,
    w: Array,
    Q: Array,
    weights: tuple[float, float, float],
    loo: LooRows | None,
    *,
    max_iter: int = 1000,
    tol: float = 1e-4,
) -> tuple[Array, int] | None:
    """A candidate P (Md, L) in the precision of Y and the steps it took; None where ρ is too small beside A.

    ``weights`` are (ρ, α, β), ``loo`` the rows that leave-one-out has decomposed, if it was asked.
    """
    rho, alpha, beta = weights
    stop: dict[str, Any] = {"max_iter": max_iter, "tol": _AIM * tol}
    narrow = G.astype(np.float32)
    Y32, w32, Q32 = (x.astype(np.float32, copy=False) for x in (Y, w, Q))
    if loo is not None and len(loo.Y) == len(Y):
        if rho < SINGLE_RHO * float(loo.spectrum.s.max(initial=0.0)):
            return None
        sweep = Sweep(Factor.from_spectrum(narrow, Y32, w32, loo.spectrum), Couplings.of([Q]), strict=True, **stop)
        point = sweep.lines([[Setting(0, alpha, beta, rho)]])[0][0]
        return np.ascontiguousarray(point.Z.T, dtype=Y.dtype), point.n_iter
    problem = Problem(quadratic(narrow, Y32, w32, n_products=_PRODUCTS), Q32, alpha, beta, rho)
    if rho < SINGLE_RHO * problem.data.norm:
        return None
    solution = fista(problem, _start(problem, narrow, Y32, w32), **stop)
    return solution.P.astype(Y.dtype), solution.n_iter


def _start(problem: Problem, G: FuzzyMap, Y: Array, w: Array) -> Array:
    """A ridge solution: exact where A is formed, rough where every product passes over the rows."""
    gamma = problem.rho + problem.alpha
    if isinstance(problem.data, Moments):
        return ridge_start(G, Y, w, gamma, problem.data)
    return conjugate_gradients(lambda P: problem.data.apply(P) + gamma * P, problem.data.B, _ROUGH)
