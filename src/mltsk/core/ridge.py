"""Weights found by leave-one-out in closed form, and the ridge start.   (36)

Symbols: G (N, Md), Y (N, L), w (N,) weights, ρ ridge weight, Q = V diag(λ) Vᵀ coupling, τ a total ridge weight.

Without the L1 term the problem separates: in the basis V of the labels, column j of YV is an ordinary ridge regression
with weight τ_j = ρ + α λ_j. One eigendecomposition G Gᵀ = U diag(s) Uᵀ gives, for every τ at once, the fit
U diag(s/(s+τ)) Uᵀ Y and its leverages, hence the leave-one-out residuals r_i / (1 - h_i) exactly. Adding them up over
columns prices every pair (ρ, α) on a grid without solving anything again.

A row of weight w counts as w copies and one copy is left out (all of it when w < 1), so that a weight of 2 and a row
given twice choose the same ρ.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from .arrays import Array, n_entries, row_blocks, spread_rows
from .backend import Tensor, asnumpy, cast, copy, eigh, gram_limit, is_tensor, namespace, put
from .fuzzymap import FuzzyMap
from .moments import Moments

# Leave-one-out looks at this many rows at most, evenly spread over the sample: its cost grows with their cube, and the
# best ρ of a summed loss, a ratio of noise to signal, does not depend on how many rows there are. With 1,000 instead of
# 2,000 a fit on yeast takes half the time; AP moves by +.0013 and +.0007 there and by +.0001 and -.0008 on scene.
LOO_ROWS = 1000
# Above this many rows single precision serves: it halves the time and moves the chosen ρ by less than a grid step.
LOO_SINGLE = 400
GRID = np.logspace(-6, 2, 41)  # total ridge weights tried, in units of the largest eigenvalue of G Gᵀ
START_BYTES = 500 * 10**6  # a factor for the ridge start may take this much on the host
RATIOS = (
    0.1,
    0.32,
    1.0,
    3.2,
    10.0,
)  # α / ρ tried; beyond these the coupling is without effect, or all there is

_SINGULAR = "the ridge start (36) is singular with gamma = {:g}: choose a larger init_ridge"


@dataclass(frozen=True)
class Spectrum:
    """Non-zero eigenvalues ``s`` (r,) of G Gᵀ and their eigenvectors ``U`` (N, r)."""

    s: Array
    U: Array

    @classmethod
    def of(cls, G: FuzzyMap) -> "Spectrum":
        """By the smaller of the two Gram matrices."""
        N, width = G.shape
        # .T: LAPACK overwrites a Fortran-ordered matrix in place and would copy a C-ordered one; both are symmetric
        gram = (G.dual_gram() if N <= width else G.gram()).T
        s, V = eigh(gram, overwrite_a=True, check_finite=False, driver="evd")
        info = namespace(s).finfo(s.dtype)
        keep = s > max(float(s[-1]), info.tiny) * 100 * info.eps
        s, V = s[keep], V[:, keep]
        return cls(s, V if N <= width else (G @ V) / namespace(s).sqrt(s))


@dataclass(frozen=True)
class LeaveOneOut:
    """Leave-one-out squared errors ``errors`` (T, L) of ridge regressions with the weights ``taus`` (T,).

    Both are NumPy arrays, whatever computed them: they are small, and what is done with them is a search.
    """

    taus: Array
    errors: Array

    @classmethod
    def of(cls, spectrum: Spectrum, Y: Array, w: Array, taus: Array) -> "LeaveOneOut":
        """Errors of the columns of Y; the spectrum and Y are those of rows scaled by √w."""
        s, U, xp = spectrum.s, spectrum.U, namespace(Y)
        coefficients, squares, copies = U.T @ Y, U**2, xp.maximum(w, 1.0)
        L = Y.shape[1]
        errors = np.empty((len(taus), L))
        # many weights in one product: one by one, reading U took nine tenths of the time
        for part in row_blocks(len(taus), Y.itemsize * (len(Y) + len(s)) * L, like=Y):
            kept = s[:, None] / (s[:, None] + cast(put(taus[part], s), s.dtype))
            leverage = xp.minimum((squares @ kept) / copies[:, None], 1 - 1e-10)
            residual = (U @ (kept[:, :, None] * coefficients[:, None, :]).reshape(len(s), -1)).reshape(len(Y), -1, L)
            residual -= Y[:, None, :]
            residual *= cast(1 / (1 - leverage), residual.dtype)[:, :, None]
            errors[part] = asnumpy(xp.einsum("ntl,ntl->tl", residual, residual))
        return cls(taus, errors)

    def at(self, totals: Array) -> Array:
        """Error of column j at the total weight ``totals[..., j]``, between grid points by interpolation."""
        grid = np.log(self.taus)
        x = np.clip(np.log(np.maximum(totals, self.taus[0])), grid[0], grid[-1])
        low = np.clip(np.searchsorted(grid, x, side="right") - 1, 0, max(len(grid) - 2, 0))
        high = np.minimum(low + 1, len(grid) - 1)
        share = (x - grid[low]) / np.where(high > low, grid[high] - grid[low], 1.0)
        columns = np.arange(totals.shape[-1])
        found = self.errors[low, columns] * (1 - share) + self.errors[high, columns] * share
        return np.where(totals > 0, found, np.inf)


@dataclass(frozen=True)
class Weights:
    """Weights ``rho`` and ``alpha`` chosen by leave-one-out; ``noise`` (L,) is the error left, as an SD per label;
    ``column_norm`` is the root mean square length of a column of G over all rows.
    """

    rho: float
    alpha: float
    noise: Array
    column_norm: float


@dataclass(frozen=True)
class LooRows:
    """Rows for leave-one-out, decomposed once: any coupling can then be priced.

    ``Y`` (n, L) are rows scaled by √w, ``w`` (n,) their weights, ``width`` the columns of G, ``total`` the weight of
    all rows that these stand for.
    """

    spectrum: Spectrum
    Y: Array
    w: Array
    width: int
    total: float

    @classmethod
    def of(cls, G: FuzzyMap, Y: Array, w: Array, *, total: float | None = None) -> "LooRows":
        """Of all rows up to LOO_ROWS, of that many evenly spread ones beyond; ``total`` is their weight by default."""
        rows, xp = spread_rows(len(Y), LOO_ROWS), namespace(Y)
        part, Yp, wp = G.take(rows).weighted(w[rows]), Y[rows] * xp.sqrt(w[rows])[:, None], w[rows]
        if len(wp) > LOO_SINGLE:
            part, Yp = part.astype(np.float32), cast(Yp, np.float32)
        wp = wp if xp is np else cast(wp, Yp.dtype)
        return cls(Spectrum.of(part), Yp, wp, G.shape[1], float(w.sum()) if total is None else total)

    def choose(self, Q: Array, *, rho: float | None = None, alpha: float | None = None) -> Weights:
        """ρ and α of least leave-one-out squared error, summed over labels; one that is given is kept."""
        loo, lam = self._errors(Q)
        return self._weights(*_least_error(loo, lam, rho, alpha), float(lam.mean()))

    def _errors(self, Q: Array) -> tuple[LeaveOneOut, Array]:
        lam, V = map(asnumpy, namespace(Q).linalg.eigh(Q))
        s = self.spectrum.s
        scale = max(float(s[-1]) if len(s) else 1.0, np.finfo(np.float64).tiny)
        return LeaveOneOut.of(self.spectrum, self.Y @ put(V, self.Y), self.w, scale * GRID), lam

    def _weights(self, rho: float, alpha: float, mean_lam: float) -> Weights:
        labels = LeaveOneOut.of(self.spectrum, self.Y, self.w, np.array([max(rho + alpha * mean_lam, 0.0)]))
        noise = np.sqrt(labels.errors[0] / float(self.w.sum()))
        column_norm = np.sqrt(float(self.spectrum.s.sum()) / self.width * (self.total / float(self.w.sum())))
        return Weights(rho, alpha, noise, float(column_norm))


def choose_weights(
    G: FuzzyMap,
    Y: Array,
    w: Array,
    Q: Array,
    *,
    rho: float | None = None,
    alpha: float | None = None,
) -> Weights:
    """ρ and α of least leave-one-out squared error, summed over labels; one that is given is kept.

    The search is exact for up to LOO_ROWS rows and uses that many, evenly spread, beyond.
    """
    return LooRows.of(G, Y, w).choose(Q, rho=rho, alpha=alpha)


def _least_error(loo: LeaveOneOut, lam: Array, rho: float | None, alpha: float | None) -> tuple[float, float]:
    rhos = loo.taus if rho is None else np.array([rho])
    ratios = RATIOS if np.any(lam) else (0.0,)
    alphas = np.outer(rhos, ratios) if alpha is None or not np.any(lam) else np.full((len(rhos), 1), alpha)
    errors = loo.at(rhos[:, None, None] + alphas[:, :, None] * lam).sum(axis=2)
    r, a = np.unravel_index(int(np.argmin(errors)), errors.shape)
    return float(rhos[r]), float(alphas[r, a])


def ridge_start(G: FuzzyMap, Y: Array, w: Array, gamma: float, data: Moments | None = None) -> Array:
    """P₀ = (GᵀG + γI)⁻¹ GᵀY (36), by the cheapest of three equal forms.

    Primal: a Cholesky factor of GᵀG + γI (Md, Md). Dual: Gᵀ(GGᵀ + γI)⁻¹Y with a factor (N, N). Operator: conjugate
    gradients on products with G, when both would be too large. Where the moments ``data`` are there already, the
    primal form takes A and B from them.
    """
    Gw, Yw = G.weighted(w), Y * namespace(w).sqrt(w)[:, None]
    form = cheapest_form(Gw, Y.shape[1], gram_limit(Y, START_BYTES))
    if form == "primal" and data is not None:
        return cholesky_solve(copy(data.A), gamma, data.B)
    if form == "primal":
        return cholesky_solve(Gw.gram(), gamma, Gw.transpose_matmul(Yw))
    if form == "dual":
        return Gw.transpose_matmul(cholesky_solve(Gw.dual_gram(), gamma, Yw))
    return conjugate_gradients(lambda P: Gw.transpose_matmul(Gw @ P) + gamma * P, Gw.transpose_matmul(Yw))


def cheapest_form(G: FuzzyMap, n_labels: int, limit_bytes: int = START_BYTES) -> str:
    """Which of "primal", "dual" or "operator" solves a ridge problem with the fewest flops within a memory limit."""
    N, width = G.shape
    entries = n_entries(G.X)
    flops = {
        "primal": N * width**2 + width**3 / 3,
        "dual": N * entries + N**3 / 3,
        "operator": 60 * 4 * entries * G.n_rules * n_labels,  # CG to 1e-4 takes about 60 steps where ρ is ordinary
    }
    if 8 * width**2 > limit_bytes:
        del flops["primal"]
    if 8 * N**2 > limit_bytes:
        del flops["dual"]
    return min(flops, key=lambda form: flops[form])


def cholesky_solve(A: Array, gamma: float, B: Array) -> Array:
    """(A + γI)⁻¹ B; A is overwritten."""
    if is_tensor(A):
        return _cholesky_solve_tensors(A, gamma, B)
    A.flat[:: len(A) + 1] += gamma
    try:
        factor = linalg.cho_factor(A.T, overwrite_a=True, check_finite=False)  # .T: in place, see Spectrum.of
    except linalg.LinAlgError:
        raise ValueError(_SINGULAR.format(gamma)) from None
    return np.asarray(linalg.cho_solve(factor, B, check_finite=False))


def _cholesky_solve_tensors(A: Tensor, gamma: float, B: Tensor) -> Tensor:
    xp = namespace(A)
    A.diagonal().add_(gamma)
    factor, failed = xp.linalg.cholesky_ex(A)
    if failed:
        raise ValueError(_SINGULAR.format(gamma))
    return xp.cholesky_solve(B, factor)


def conjugate_gradients(apply: Callable[[Array], Array], B: Array, rtol: float = 1e-4, *, max_iter: int = 500) -> Array:
    """P with apply(P) = B up to a residual of ``rtol``; columns are one system, so a step is one wide product."""
    xp = namespace(B)
    P, residual = xp.zeros_like(B), copy(B)
    direction, square = residual, float(xp.vdot(B, B))
    enough = rtol**2 * square
    for _ in range(max_iter):
        if square <= enough:
            break
        product = apply(direction)
        step = square / float(xp.vdot(direction, product))
        P, residual = P + step * direction, residual - step * product
        old, square = square, float(xp.vdot(residual, residual))
        direction = residual + (square / old) * direction
    return P
