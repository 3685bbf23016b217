"""Consequents that minimise a convex form of objective (24), to a certified duality gap.

    min ½‖G P - (Y - ȳ)‖² + (ρ/2)‖P‖² + (α/2) Tr(P Q Pᵀ) + β‖P‖₁

ȳ (L,) are the base rates of the labels, put back into every rule's intercept afterwards: where firing strengths sum to
1 this changes nothing but what the penalties pull towards, each label's rate instead of 0 (with 174 labels and heavy
shrinkage, cal500, that is worth 0.03 AP).

Where ρ, α or β are not given, they come from the data: ρ and α by leave-one-out (`ridge`), β as L1_SHARE of the noise,
(mean SD of the leave-one-out residuals) · (root mean square length of a column of G), which is about the correlation
that a useless feature shows by chance.
"""

from dataclasses import dataclass

import numpy as np

from ...core.arrays import Array
from ...core.coupling import coupling_matrix, label_correlation
from ...core.fuzzymap import FuzzyMap
from .fista import Solution, fista
from .moments import Moments, quadratic
from .objective import Problem
from .ridge import choose_weights, ridge_start

L1_SHARE = 0.25


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
    max_iter: int = 1000,
    tol: float = 1e-4,
) -> Consequents:
    """Solve the problem for the rows of G; weights that are None come from the data.

    ``gamma`` is the ridge weight of the start (36); it changes how long the solver takes, not where it ends.
    """
    rates = (w @ Y) / w.sum()
    centred = Y - rates
    Q = coupling_matrix(label_correlation(Y, w), coupling).astype(Y.dtype)
    rho, alpha, beta = _weights(G, centred, w, Q, rho, 0.0 if coupling is None else alpha, beta)
    data = quadratic(G, centred, w)
    formed = data if isinstance(data, Moments) else None
    start = ridge_start(G, centred, w, gamma if gamma else max(rho + alpha, 1e-8), formed)
    solution = fista(Problem(data, Q, alpha, beta, rho), start, max_iter=max_iter, tol=tol)
    P = solution.P.copy()
    P.reshape(G.n_rules, -1, Y.shape[1])[:, 0] += rates
    return Consequents(P, rho, alpha, beta, Q, solution)


def _weights(
    G: FuzzyMap, Y: Array, w: Array, Q: Array, rho: float | None, alpha: float | None, beta: float | None
) -> tuple[float, float, float]:
    """(ρ, α, β) where those that are None come from leave-one-out."""
    if rho is not None and alpha is not None and beta is not None:
        return rho, alpha, beta
    found = choose_weights(G, Y, w, Q, rho=rho, alpha=alpha)
    noise = L1_SHARE * float(np.mean(found.noise)) * found.column_norm
    return found.rho, found.alpha, noise if beta is None else beta
