"""Weights found by leave-one-out in closed form, and the ridge start.   (36)

Symbols: G (N, Md), Y (N, L), w (N,) weights, ρ ridge weight, Q = V diag(λ) Vᵀ coupling, τ a total ridge weight.

Without the L1 term the problem separates: in the basis V of the labels, column j of YV is an ordinary ridge regression
with weight τ_j = ρ + α λ_j. One eigendecomposition G Gᵀ = U diag(s) Uᵀ gives, for every τ at once, the fit
U diag(s/(s+τ)) Uᵀ Y and its leverages, hence the leave-one-out residuals r_i / (1 - h_i) exactly. Adding them up over
columns prices every pair (ρ, α) on a grid without solving anything again.

A row of weight w counts as w copies and one copy is left out (all of it when w < 1), so that a weight of 2 and a row
given twice choose the same ρ.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ...core.arrays import Array, row_blocks, spread_rows
from ...core.fuzzymap import FuzzyMap
from ...exceptions import InputError
from .moments import Moments, weighted

# Leave-one-out looks at this many rows at most, evenly spread over the sample: its cost grows with their cube, and the
# best ρ of a summed loss, a ratio of noise to signal, does not depend on how many rows there are.
LOO_ROWS = 1000
# Above this many rows single precision serves: it halves the time and moves the chosen ρ by less than a grid step.
LOO_SINGLE = 400
GRID = np.logspace(-6, 2, 41)  # total ridge weights tried, in units of the largest eigenvalue of G Gᵀ
RATIOS = (0.1, 0.32, 1.0, 3.2, 10.0)  # α / ρ tried; beyond these the coupling is without effect, or all there is
START_BYTES = 500 * 10**6  # a factor for the ridge start may take this much; a solver starts at 0 else


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
        s, V = linalg.eigh(gram, overwrite_a=True, check_finite=False, driver="evd")
        info = np.finfo(s.dtype)
        keep = s > max(float(s[-1]), info.tiny) * 100 * info.eps
        s, V = s[keep], V[:, keep]
        return cls(s, V if N <= width else (G @ V) / np.sqrt(s))


@dataclass(frozen=True)
class LeaveOneOut:
    """Leave-one-out squared errors ``errors`` (T, L) of ridge regressions with the weights ``taus`` (T,)."""

    taus: Array
    errors: Array

    @classmethod
    def of(cls, spectrum: Spectrum, Y: Array, w: Array, taus: Array) -> "LeaveOneOut":
        """Errors of the columns of Y; the spectrum and Y are those of rows scaled by √w."""
        s, U, L = spectrum.s, spectrum.U, Y.shape[1]
        coefficients, squares, copies = U.T @ Y, U**2, np.maximum(w, 1.0)
        errors = np.empty((len(taus), L))
        # many weights in one product: one by one, reading U took nine tenths of the time
        for part in row_blocks(len(taus), Y.itemsize * (len(Y) + len(s)) * L):
            kept = s[:, None] / (s[:, None] + taus[part].astype(s.dtype))
            leverage = np.minimum((squares @ kept) / copies[:, None], 1 - 1e-10)
            residual = (U @ (kept[:, :, None] * coefficients[:, None, :]).reshape(len(s), -1)).reshape(len(Y), -1, L)
            residual -= Y[:, None, :]
            residual *= (1 / (1 - leverage)).astype(residual.dtype)[:, :, None]
            errors[part] = np.einsum("ntl,ntl->tl", residual, residual)
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


def choose_weights(
    G: FuzzyMap, Y: Array, w: Array, Q: Array, *, rho: float | None = None, alpha: float | None = None
) -> Weights:
    """ρ and α of least leave-one-out squared error, summed over labels; one that is given is kept.

    The search is exact for up to LOO_ROWS rows and uses that many, evenly spread, beyond.
    """
    rows, total = spread_rows(len(Y), LOO_ROWS), float(w.sum())
    w = w[rows]
    part, Y = G.take(rows).weighted(w), weighted(Y[rows], w)
    if len(w) > LOO_SINGLE:
        part, Y = part.astype(np.float32), Y.astype(np.float32)
    spectrum = Spectrum.of(part)
    lam, V = np.linalg.eigh(Q)
    scale = max(float(spectrum.s[-1]) if len(spectrum.s) else 1.0, np.finfo(np.float64).tiny)
    loo = LeaveOneOut.of(spectrum, Y @ V, w, scale * GRID)
    rho, alpha = _least_error(loo, lam, rho, alpha)
    left = LeaveOneOut.of(spectrum, Y, w, np.array([max(rho + alpha * float(lam.mean()), 0.0)])).errors[0]
    column_norm = np.sqrt(float(spectrum.s.sum()) / G.shape[1] * (total / float(w.sum())))
    return Weights(rho, alpha, np.sqrt(left / float(w.sum())), float(column_norm))


def _least_error(loo: LeaveOneOut, lam: Array, rho: float | None, alpha: float | None) -> tuple[float, float]:
    rhos = loo.taus if rho is None else np.array([rho])
    ratios = RATIOS if np.any(lam) else (0.0,)
    alphas = np.outer(rhos, ratios) if alpha is None or not np.any(lam) else np.full((len(rhos), 1), alpha)
    errors = loo.at(rhos[:, None, None] + alphas[:, :, None] * lam).sum(axis=2)
    r, a = np.unravel_index(int(np.argmin(errors)), errors.shape)
    return float(rhos[r]), float(alphas[r, a])


def ridge_start(G: FuzzyMap, Y: Array, w: Array, gamma: float, data: Moments | None = None) -> Array:
    """P₀ = (GᵀG + γI)⁻¹ GᵀY (36), or the same as Gᵀ(GGᵀ + γI)⁻¹Y where that is smaller; 0 where both are too large.

    The first form takes A and B from the moments ``data`` where those are there already.
    """
    Gw, Yw = G.weighted(w), weighted(Y, w)
    N, width = G.shape
    if 8 * min(N, width) ** 2 > START_BYTES:
        return np.zeros((width, Y.shape[1]), dtype=Y.dtype)
    if width < N:
        A, B = (Gw.gram(), Gw.transpose_matmul(Yw)) if data is None else (data.A, data.B)
        return solve_shifted(A, gamma, B)
    return Gw.transpose_matmul(solve_shifted(Gw.dual_gram(), gamma, Yw))


def solve_shifted(K: Array, gamma: float, V: Array) -> Array:
    """(K + γI)⁻¹ V."""
    shifted = K + gamma * np.eye(len(K), dtype=K.dtype)
    try:
        factor = linalg.cho_factor(shifted, lower=True)
    except linalg.LinAlgError:
        raise InputError(f"gamma = {gamma:g} is too small for the ridge start: take a larger init_ridge.") from None
    return np.asarray(linalg.cho_solve(factor, V))
