"""Consequents of a map by the convex problem, with weights from the data.   (24)

Symbols are those of `solvers.problem`.

`fit_consequents` takes the base rates ȳ (L,) off Y and puts them back into every rule's
intercept: penalties then pull towards each label's rate instead of 0, which matters
with many labels and heavy shrinkage (cal500). Weights that are not given come from the
data, ρ and α by leave-one-out in closed form.

Without the L1 term the problem separates: in the basis V of Q = V diag(λ) Vᵀ, column j
of YV is a ridge regression with weight τ_j = ρ + α λ_j. One eigendecomposition
G Gᵀ = U diag(s) Uᵀ gives for every τ the fit U diag(s/(s+τ)) Uᵀ Y and its leverages h,
hence the leave-one-out residuals r_i / (1 - h_i) exactly. Adding them up prices every
pair (ρ, α) of a grid. A row of weight w counts as w copies, and one copy is left out
(all of it when w < 1).

β is L1_SHARE of the noise, (mean SD of these residuals) · (root mean square length of a
column of G): about the correlation that a useless feature shows by chance.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from scipy import linalg

from ...core.arrays import Array, row_blocks, spread_rows
from ...core.coupling import coupling_matrix, label_correlation
from ...core.fuzzymap import FuzzyMap
from .problem import GAP, TINY, Problem, Solution, fista, quadratic, weighted

L1_SHARE = 0.25
# Leave-one-out looks at this many rows at most, evenly spread over the sample: its cost
# grows with their cube, and the best ρ of a summed loss, a ratio of noise to signal,
# does not depend on how many rows there are.
MAX_SPECTRUM_ROWS = 1000
# Above this many rows single precision serves: it halves the time and moves the chosen
# ρ by less than a grid step.
LOO_SINGLE = 400
# Total ridge weights tried, in units of the largest eigenvalue of G Gᵀ.
RIDGE_GRID = np.logspace(-6, 2, 41)
# α / ρ tried; beyond these the coupling is without effect, or all there is.
COUPLING_RATIOS = (0.1, 0.32, 1.0, 3.2, 10.0)
# A factor for the ridge start may take this much; beyond it the solver starts at 0.
START_BYTES = 500 * 10**6

Weight: TypeAlias = float | None  # None: from the data


class Consequents(NamedTuple):
    """Consequents ``P`` (K(D+1), L) with base rates put back.

    With them come the weights used, the ``coupling`` (L, L) and the `Solution`.
    """

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
    """Solve the problem for the rows of G.

    Parameters
    ----------
    G : FuzzyMap of shape (N, Md)
    Y : array of shape (N, L)
    w : array of shape (N,)
    coupling : str or None
        Name of the coupling matrix; None for no coupling.
    rho, alpha, beta : float or None
        Weights; None takes them from the data.
    gamma : float, optional
        Ridge weight of the start (36). It changes how long the solver takes, not where
        it ends.
    max_iter, tol : int, float
        As for `fista`.
    """
    rates = (w @ Y) / w.sum()
    centred = Y - rates
    Q = coupling_matrix(label_correlation(Y, w), coupling).astype(Y.dtype)
    if coupling is None:
        alpha = 0.0
    if rho is None or alpha is None or beta is None:
        rho, alpha, noise = choose_weights(G, centred, w, Q, rho=rho, alpha=alpha)
        if beta is None:
            beta = L1_SHARE * noise
    data = quadratic(G, centred, w)
    start = None
    if 8 * min(G.shape) ** 2 <= START_BYTES:
        start = data.ridge_start(gamma or max(rho + alpha, 1e-8))
    problem = Problem(data, Q, alpha=alpha, beta=beta, rho=rho)
    solution = fista(problem, start, max_iter=max_iter, tol=tol)
    P = solution.P.copy()
    P.reshape(G.n_rules, -1, Y.shape[1])[:, 0] += rates
    return Consequents(
        P=P, rho=rho, alpha=alpha, beta=beta, coupling=Q, solution=solution
    )


def spectrum(G: FuzzyMap) -> tuple[Array, Array]:
    """Non-zero eigenvalues s (r,) of G Gᵀ and their eigenvectors U (N, r).

    They are found from the smaller of the two Gram matrices.
    """
    N, width = G.shape
    by_rows = N <= width
    smaller = G.dual_gram() if by_rows else G.gram()
    # .T: LAPACK overwrites a Fortran-ordered matrix in place and would copy a C-ordered
    # one; both are symmetric
    s, V = linalg.eigh(smaller.T, overwrite_a=True, check_finite=False, driver="evd")
    info = np.finfo(s.dtype)
    keep = s > max(float(s[-1]), info.tiny) * 100 * info.eps
    s = s[keep]
    V = V[:, keep]
    if by_rows:
        return s, V
    return s, (G @ V) / np.sqrt(s)


def leave_one_out(s: Array, U: Array, Y: Array, w: Array, taus: Array) -> Array:
    """Leave-one-out squared errors (T, L) of ridge regressions of the columns of Y.

    Parameters
    ----------
    s, U : arrays of shapes (r,) and (N, r)
        The `spectrum` of rows scaled by √w.
    Y : array of shape (N, L)
        Targets; their rows are scaled by √w.
    w : array of shape (N,)
    taus : array of shape (T,)
        Ridge weights.
    """
    N, L = Y.shape
    coefficients = U.T @ Y
    squares = U**2
    copies = np.maximum(w, 1.0)
    errors = np.empty((len(taus), L))
    # many weights in one product: one by one, reading U took nine tenths of the time
    for block in row_blocks(len(taus), Y.itemsize * (N + len(s)) * L):
        kept = s[:, None] / (s[:, None] + taus[block].astype(s.dtype))
        leverage = np.minimum((squares @ kept) / copies[:, None], 1 - 1e-10)
        shrunk = kept[:, :, None] * coefficients[:, None, :]
        residuals = (U @ shrunk.reshape(len(s), -1)).reshape(N, -1, L)
        residuals -= Y[:, None, :]
        residuals *= (1 / (1 - leverage)).astype(residuals.dtype)[:, :, None]
        errors[block] = np.einsum("ntl,ntl->tl", residuals, residuals)
    return errors


def choose_weights(
    G: FuzzyMap,
    Y: Array,
    w: Array,
    Q: Array,
    *,
    rho: Weight = None,
    alpha: Weight = None,
) -> tuple[float, float, float]:
    """ρ and α of least leave-one-out squared error, summed over labels, and the noise.

    A weight that is given is kept.

    Parameters
    ----------
    G : FuzzyMap of shape (N, Md)
    Y : array of shape (N, L)
        Centred targets.
    w : array of shape (N,)
    Q : array of shape (L, L)
    rho, alpha : float or None
    """
    total_weight = float(w.sum())
    sample = spread_rows(len(Y), MAX_SPECTRUM_ROWS)
    w = w[sample]
    G_sample = G.take(sample).weighted(w)
    Y = weighted(Y[sample], w)
    if len(w) > LOO_SINGLE:
        G_sample = G_sample.astype(np.float32)
        Y = Y.astype(np.float32)
    s, U = spectrum(G_sample)
    lam, V = np.linalg.eigh(Q)
    scale = max(float(s[-1]) if len(s) else 1.0, TINY)
    taus = scale * RIDGE_GRID
    errors = leave_one_out(s, U, Y @ V, w, taus)
    rho, alpha = _best_pair(taus, errors, lam, rho=rho, alpha=alpha)
    # noise: SD of the residuals at these weights, times the length of a column of G
    tau = max(rho + alpha * float(lam.mean()), 0.0)
    left_out = leave_one_out(s, U, Y, w, np.array([tau]))[0]
    sample_weight = float(w.sum())
    residual_sd = np.mean(np.sqrt(left_out / sample_weight))
    column_norm = np.sqrt(float(s.sum()) / G.shape[1] * (total_weight / sample_weight))
    return rho, alpha, float(residual_sd * column_norm)


def _best_pair(
    taus: Array, errors: Array, lam: Array, *, rho: Weight, alpha: Weight
) -> tuple[float, float]:
    """The pair (ρ, α) of least error, out of a grid or next to a weight that is given.

    ``errors`` (T, L) are those of ridge weights ``taus`` (T,) in the basis of the
    coupling, whose eigenvalues are ``lam`` (L,).
    """
    is_coupled = bool(np.any(lam))
    rhos = taus if rho is None else np.array([rho])
    if not is_coupled:
        alphas = np.zeros((len(rhos), 1))
    elif alpha is None:
        alphas = np.outer(rhos, COUPLING_RATIOS)
    else:
        alphas = np.full((len(rhos), 1), alpha)
    totals = rhos[:, None, None] + alphas[:, :, None] * lam
    # column j has the weight totals[..., j]: between the weights tried by interpolation
    positions = np.log(np.maximum(totals, taus[0]))
    interpolated = np.empty_like(positions)
    for j in range(len(lam)):
        interpolated[..., j] = np.interp(positions[..., j], np.log(taus), errors[:, j])
    summed = np.where(totals > 0, interpolated, np.inf).sum(axis=2)
    r, a = np.unravel_index(int(np.argmin(summed)), summed.shape)
    return float(rhos[r]), float(alphas[r, a])
