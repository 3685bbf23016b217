"""Consequents that minimise a convex form of objective (24), to a certified duality gap.

    min ½‖G P - (Y - ȳ)‖² + (ρ/2)‖P‖² + (α/2) Tr(P Q Pᵀ) + β‖P‖₁

ȳ (L,) are the base rates of the labels, put back into every rule's intercept afterwards: penalties pull towards each
label's rate instead of 0, which matters with many labels and heavy shrinkage (cal500).

Weights that are not given come from the data, ρ and α by leave-one-out in closed form. Without the L1 term the problem
separates: in the basis V of Q = V diag(λ) Vᵀ, column j of YV is a ridge regression with weight τ_j = ρ + α λ_j. One
eigendecomposition G Gᵀ = U diag(s) Uᵀ gives for every τ the fit U diag(s/(s+τ)) Uᵀ Y and its leverages, hence the
leave-one-out residuals r_i / (1 - h_i) exactly, and adding those up prices every pair (ρ, α) of a grid. A row of weight
w counts as w copies and one copy is left out (all of it when w < 1). β is L1_SHARE of the noise, (mean SD of these
residuals) · (root mean square length of a column of G): about the correlation that a useless feature shows by chance.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg

from ...core.arrays import Array, row_blocks, spread_rows
from ...core.coupling import coupling_matrix, label_correlation
from ...core.fuzzymap import FuzzyMap
from .problem import GAP, Problem, Solution, fista, quadratic, weighted

Weight = float | None  # None: from the data
L1_SHARE = 0.25
# Leave-one-out looks at this many rows at most, evenly spread over the sample: its cost grows with their cube, and the
# best ρ of a summed loss, a ratio of noise to signal, does not depend on how many rows there are.
LOO_ROWS = 1000
# Above this many rows single precision serves: it halves the time and moves the chosen ρ by less than a grid step.
LOO_SINGLE = 400
GRID = np.logspace(-6, 2, 41)  # total ridge weights tried, in units of the largest eigenvalue of G Gᵀ
RATIOS = (0.1, 0.32, 1.0, 3.2, 10.0)  # α / ρ tried; beyond these the coupling is without effect, or all there is
START_BYTES = 500 * 10**6  # a factor for the ridge start may take this much; the solver starts at 0 else


class Consequents(NamedTuple):
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
    rho: Weight = None,
    alpha: Weight = None,
    beta: Weight = None,
    gamma: float | None = None,
    max_iter: int = 1000,
    tol: float = GAP,
) -> Consequents:
    """Solve the problem for the rows of G; weights that are None come from the data.

    ``gamma`` is the ridge weight of the start (36); it changes how long the solver takes, not where it ends.
    """
    rates = (w @ Y) / w.sum()
    centred = Y - rates
    Q = coupling_matrix(label_correlation(Y, w), coupling).astype(Y.dtype)
    alpha = 0.0 if coupling is None else alpha
    if rho is None or alpha is None or beta is None:
        rho, alpha, noise = choose_weights(G, centred, w, Q, rho=rho, alpha=alpha)
        beta = L1_SHARE * noise if beta is None else beta
    data = quadratic(G, centred, w)
    start = None
    if 8 * min(G.shape) ** 2 <= START_BYTES:
        start = data.ridge_start(gamma if gamma else max(rho + alpha, 1e-8))
    solution = fista(Problem(data, Q, alpha, beta, rho), start, max_iter=max_iter, tol=tol)
    P = solution.P.copy()
    P.reshape(G.n_rules, -1, Y.shape[1])[:, 0] += rates
    return Consequents(P, rho, alpha, beta, Q, solution)


def spectrum(G: FuzzyMap) -> tuple[Array, Array]:
    """Non-zero eigenvalues s (r,) of G Gᵀ and their eigenvectors U (N, r), by the smaller of the two Gram matrices."""
    N, width = G.shape
    # .T: LAPACK overwrites a Fortran-ordered matrix in place and would copy a C-ordered one; both are symmetric
    gram = (G.dual_gram() if N <= width else G.gram()).T
    s, V = linalg.eigh(gram, overwrite_a=True, check_finite=False, driver="evd")
    info = np.finfo(s.dtype)
    keep = s > max(float(s[-1]), info.tiny) * 100 * info.eps
    s, V = s[keep], V[:, keep]
    return s, V if N <= width else (G @ V) / np.sqrt(s)


def leave_one_out(s: Array, U: Array, Y: Array, w: Array, taus: Array) -> Array:
    """Leave-one-out squared errors (T, L) of ridge regressions of the columns of Y with the weights ``taus`` (T,).

    The `spectrum` s, U and Y are those of rows scaled by √w.
    """
    L, coefficients, squares, copies = Y.shape[1], U.T @ Y, U**2, np.maximum(w, 1.0)
    errors = np.empty((len(taus), L))
    # many weights in one product: one by one, reading U took nine tenths of the time
    for part in row_blocks(len(taus), Y.itemsize * (len(Y) + len(s)) * L):
        kept = s[:, None] / (s[:, None] + taus[part].astype(s.dtype))
        leverage = np.minimum((squares @ kept) / copies[:, None], 1 - 1e-10)
        residual = (U @ (kept[:, :, None] * coefficients[:, None, :]).reshape(len(s), -1)).reshape(len(Y), -1, L)
        residual -= Y[:, None, :]
        residual *= (1 / (1 - leverage)).astype(residual.dtype)[:, :, None]
        errors[part] = np.einsum("ntl,ntl->tl", residual, residual)
    return errors


def choose_weights(
    G: FuzzyMap, Y: Array, w: Array, Q: Array, *, rho: Weight = None, alpha: Weight = None
) -> tuple[float, float, float]:
    """ρ and α of least leave-one-out squared error, summed over labels, and the noise; a weight given is kept."""
    rows, total = spread_rows(len(Y), LOO_ROWS), float(w.sum())
    w = w[rows]
    part, Y = G.take(rows).weighted(w), weighted(Y[rows], w)
    if len(w) > LOO_SINGLE:
        part, Y = part.astype(np.float32), Y.astype(np.float32)
    s, U = spectrum(part)
    lam, V = np.linalg.eigh(Q)
    scale = max(float(s[-1]) if len(s) else 1.0, np.finfo(np.float64).tiny)
    taus, coupled = scale * GRID, bool(np.any(lam))
    rhos = taus if rho is None else np.array([rho])
    ratios = RATIOS if coupled else (0.0,)
    alphas = np.outer(rhos, ratios) if alpha is None or not coupled else np.full((len(rhos), 1), alpha)
    totals = rhos[:, None, None] + alphas[:, :, None] * lam
    # column j has the weight totals[..., j]: between the weights tried by interpolation
    x, tried = np.log(np.maximum(totals, taus[0])), leave_one_out(s, U, Y @ V, w, taus)
    found = [np.interp(x[..., j], np.log(taus), tried[:, j]) for j in range(len(lam))]
    errors = np.where(totals > 0, np.stack(found, axis=-1), np.inf).sum(axis=2)
    r, a = np.unravel_index(int(np.argmin(errors)), errors.shape)
    rho, alpha = float(rhos[r]), float(alphas[r, a])
    left = leave_one_out(s, U, Y, w, np.array([max(rho + alpha * float(lam.mean()), 0.0)]))[0]
    column_norm = np.sqrt(float(s.sum()) / G.shape[1] * (total / float(w.sum())))
    return rho, alpha, float(np.mean(np.sqrt(left / float(w.sum()))) * column_norm)
