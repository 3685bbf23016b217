"""From scaled samples to consequents: the default problem, its weights, its solver.   (24)

    min ½‖G P - (Y - ȳ)‖² + (ρ/2)‖P‖² + (α/2) Tr(P Q Pᵀ) + β‖P‖₁

ȳ (L,) are the base rates of the labels, put back into every rule's intercept afterwards: firing strengths sum to 1, so
this changes nothing but what the penalties pull towards, each label's rate instead of 0 (with 174 labels and heavy
shrinkage, cal500, that is worth 0.03 AP).

Where ρ, α or β are not given, they come from the data: ρ and α by leave-one-out (`ridge`), β as L1_SHARE of the noise,
(mean SD of the leave-one-out residuals) · (root mean square length of a column of G), which is about the correlation
that a useless feature shows by chance. docs/decisions.md shows what that share trades, set by set.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..paper.solvers.fista import Solution, certificate, fista
from ..paper.solvers.moments import MatrixFree, Moments, quadratic
from ..paper.solvers.objective import Problem
from ..paper.solvers.ridge import LooRows, ridge_start
from .admm import admm
from .arrays import Array
from .backend import cast, copy
from .coupling import coupling_matrix, label_correlation
from .fuzzymap import FuzzyMap
from .single import single_pays, solve_single

L1_SHARE = 0.25

Solver = Literal["auto", "fista", "admm"]


@dataclass(frozen=True)
class Consequents:
    """Consequents ``P`` (K(D+1), L) with base rates put back, the weights used, the coupling, and the `Solution`."""

    P: Array
    rho: float
    alpha: float
    beta: float
    coupling: Array
    solution: Solution


def fit_consequents(
    G: FuzzyMap,
    Y: Array,
    w: Array,
    *,
    coupling: str | None = "precision",
    rho: float | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    gamma: float | None = None,
    solver: Solver = "auto",
    max_iter: int = 1000,
    tol: float = 1e-4,
) -> Consequents:
    """Solve the default problem for the rows of G; weights that are None come from the data.

    ``gamma`` is the ridge weight of the start (36); it changes how long the solver takes, not where it ends. The solver
    "auto" is `fista`, which large dense problems enter with a solution in single precision (`single`).
    """
    rates = (w @ Y) / w.sum()
    centred = Y - rates
    Q = cast(coupling_matrix(label_correlation(Y, w), coupling), Y.dtype)
    alpha = 0.0 if coupling is None else alpha
    complete = rho is not None and alpha is not None and beta is not None
    loo = None if complete else LooRows.of(G, centred, w)
    weights = resolve_weights(loo, Q, rho, alpha, beta)
    candidate = None
    if solver == "auto" and single_pays(G, weights[0], tol):
        found = solve_single(G, centred, w, Q, weights, loo, max_iter=max_iter, tol=tol)
        candidate = _certified(G, centred, w, Q, weights, found)
    if candidate is not None and candidate.certificate <= tol:
        solution = candidate
    else:
        start = None if candidate is None else candidate.P
        solution = _solve(G, centred, w, Q, weights, start, gamma, solver, max_iter, tol)
    P = copy(solution.P)
    P.reshape(G.n_rules, -1, Y.shape[1])[:, 0] += rates
    return Consequents(P, *weights, Q, solution)


def _certified(
    G: FuzzyMap, Y: Array, w: Array, Q: Array, weights: tuple[float, float, float], found: tuple[Array, int] | None
) -> Solution | None:
    """A candidate with its certificate in double precision, by one pass over the rows."""
    if found is None:
        return None
    (rho, alpha, beta), (P, n_iter) = weights, found
    problem = Problem(MatrixFree.of(G, Y, w), Q, alpha, beta, rho)
    slope = problem.slope(P)
    gap = certificate(problem, P, slope)
    return Solution(P, problem.value(P, slope), gap, n_iter, True, [gap])


def _solve(
    G: FuzzyMap,
    Y: Array,
    w: Array,
    Q: Array,
    weights: tuple[float, float, float],
    start: Array | None,
    gamma: float | None,
    solver: Solver,
    max_iter: int,
    tol: float,
) -> Solution:
    """In the precision of the data, from ``start`` or from a ridge solution."""
    rho, alpha, beta = weights
    data = Moments.of(G, Y, w) if solver == "admm" else quadratic(G, Y, w)
    if start is None:
        formed = data if isinstance(data, Moments) else None
        start = ridge_start(G, Y, w, gamma if gamma else max(rho + alpha, 1e-8), formed)
    problem = Problem(data, Q, alpha, beta, rho)
    return (admm if solver == "admm" else fista)(problem, start, max_iter=max_iter, tol=tol)


def resolve_weights(
    loo: LooRows | None, Q: Array, rho: float | None, alpha: float | None, beta: float | None
) -> tuple[float, float, float]:
    """(ρ, α, β) where those that are None come from leave-one-out; without any None there need be no ``loo``."""
    if rho is not None and alpha is not None and beta is not None:
        return rho, alpha, beta
    if loo is None:
        raise ValueError("weights that are not given come from leave-one-out, for which there are no rows")
    found = loo.choose(Q, rho=rho, alpha=alpha)
    return (
        found.rho if rho is None else rho,
        found.alpha if alpha is None else alpha,
        L1_SHARE * float(np.mean(found.noise)) * found.column_norm if beta is None else beta,
    )
