"""The problem that consequents solve, a certified optimum of it, and weights from the data.   (24) (28)-(33)

    F(P) = ½‖G P - Y‖² + (ρ/2)‖P‖² + (α/2) Tr(P Q Pᵀ) + β‖P‖₁

Symbols: G (N, Md) rule-mapped features with Md = K(D+1), Y (N, L) targets, w (N,) weights; A = Gᵀ W G, B = Gᵀ W Y and
yy = Σ w y², which are all of the data that enters; P (Md, L); Q (L, L) coupling; α, β the paper's weights, ρ a ridge.
The paper's (24) is ρ = 0 and Q = R = 1 - C. The Hessian has the eigenvalues σ_i + ρ + α λ_j with σ of A and λ of Q:
with R, which always has a negative eigenvalue, F is not convex unless ρ or the smallest σ make up for it.

`fit_consequents` takes the base rates ȳ (L,) off Y and puts them back into every rule's intercept: penalties then pull
towards each label's rate instead of 0, which matters with many labels and heavy shrinkage (cal500). Weights that are
not given come from the data, ρ and α by leave-one-out in closed form. Without the L1 term the problem separates: in the
basis V of Q = V diag(λ) Vᵀ, column j of YV is a ridge regression with weight τ_j = ρ + α λ_j. One eigendecomposition
G Gᵀ = U diag(s) Uᵀ gives for every τ the fit U diag(s/(s+τ)) Uᵀ Y and its leverages, hence the leave-one-out residuals
r_i / (1 - h_i) exactly, and adding those up prices every pair (ρ, α) of a grid. A row of weight w counts as w copies
and one copy is left out (all of it when w < 1). β is L1_SHARE of the noise, (mean SD of these residuals) · (root mean
square length of a column of G): about the correlation that a useless feature shows by chance.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, eigsh

from ...core.arrays import Array, dense, n_entries, row_blocks, spread_rows
from ...core.coupling import CONVEX, coupling_matrix, label_correlation
from ...core.fuzzymap import FuzzyMap
from ...exceptions import InputError, NoMinimumError

# A is formed only below this size: 400 MB is K(D+1) = 7071 in float64. Above, A would outweigh the data it sums up
# (bibtex with 10 rules: 2.7 GB against 4 MB of entries).
GRAM_BYTES = 400 * 10**6
CHECK_EVERY = (
    4  # steps between certificates: one costs as much as the prox of two steps
)
GAP = 1e-4  # relative duality gap at which a solution is good enough
L1_SHARE = 0.25
# Leave-one-out looks at this many rows at most, evenly spread over the sample: its cost grows with their cube, and the
# best ρ of a summed loss, a ratio of noise to signal, does not depend on how many rows there are.
LOO_ROWS = 1000
# Above this many rows single precision serves: it halves the time and moves the chosen ρ by less than a grid step.
LOO_SINGLE = 400
GRID = np.logspace(
    -6, 2, 41
)  # total ridge weights tried, in units of the largest eigenvalue of G Gᵀ
RATIOS = (
    0.1,
    0.32,
    1.0,
    3.2,
    10.0,
)  # α / ρ tried; beyond these the coupling is without effect, or all there is
START_BYTES = (
    500 * 10**6
)  # a factor for the ridge start may take this much; the solver starts at 0 else
Weight = float | None  # None: from the data
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Quadratic:
    """The data of a problem: products with A = GᵀG, formed where ``A`` is given, else by two passes over the rows."""

    G: Any  # a FuzzyMap, an array or CSR; its rows and those of Y are scaled by √w
    Y: Array
    A: Array | None = None
    factor: Array | None = (
        None  # F (Md, r) with A = F Fᵀ, where that makes products cheaper
    )

    def astype(self, dtype: "np.dtype[Any] | type") -> "Quadratic":
        """In another precision."""
        used = {
            "Y": self.Y,
            "factor": self.factor,
            **({"G": self.G} if self.A is None else {"A": self.A}),
        }
        return replace(
            self,
            **{
                name: part.astype(dtype)
                for name, part in used.items()
                if part is not None
            },
        )

    def with_targets(self, Y: Array) -> "Quadratic":
        """The same rows with other targets; what is known of A stays known."""
        other = replace(self, Y=Y)
        vars(other).update(norm=self.norm, bound=self.bound)
        return other

    @cached_property
    def B(self) -> Array:
        """GᵀY."""
        return _transposed(self.G, self.Y)

    @cached_property
    def yy(self) -> float:
        """Σ w y²."""
        return float(np.vdot(self.Y, self.Y))

    def apply(self, P: Array) -> Array:
        """A P."""
        return _transposed(self.G, self.G @ P) if self.A is None else self.A @ P

    @cached_property
    def norm(self) -> float:
        """‖A‖₂, the largest eigenvalue, by Lanczos from a fixed start: same data, same number."""
        n = self.G.shape[1]
        if n <= 2:
            return float(np.linalg.eigvalsh(self.apply(np.eye(n)))[-1])
        v0 = np.cos(np.arange(n))  # touches every coordinate, favours none
        if not np.any(self.apply(v0[:, None])):
            return 0.0  # every membership underflowed: A is 0, which Lanczos cannot start on
        operator = LinearOperator(
            (n, n),
            matvec=lambda v: self.apply(v.reshape(-1, 1)).ravel(),
            dtype=np.float64,
        )
        return float(
            eigsh(operator, k=1, which="LA", v0=v0, return_eigenvectors=False)[0]
        )

    @cached_property
    def bound(self) -> Array:
        """A diagonal D (Md, 1) with D - A positive semidefinite: step sizes 1/D instead of one 1/‖A‖ for all.

        For any v > 0, D = |A|v / v dominates A (scaled by v, D - A is diagonally dominant), and so does that of any
        larger |A|. v = √(|A|1) gives the rare columns of text data long steps: 60 steps instead of 156 to the same
        certificate on rcv1s1. Where features have both signs ‖A‖ is the better bound, and is taken.
        """
        larger = {"G": abs(self.G)} if self.A is None else {"A": abs(self.A)}
        absolute, norm = replace(self, **larger).apply, self.norm
        v = np.sqrt(
            np.maximum(
                absolute(np.ones((self.G.shape[1], 1))), 1e-12 * max(norm, _TINY)
            )
        )
        D = np.maximum(absolute(v) / v, 1e-12 * norm)
        return (
            D
            if float(np.log(D).mean()) < np.log(max(norm, _TINY))
            else np.full_like(D, norm)
        )

    @cached_property
    def _dual(self) -> Array | None:
        """GGᵀ where it is the smaller one to form."""
        if self.A is not None or len(self.Y) > self.G.shape[1]:
            return None
        return (
            self.G.dual_gram()
            if isinstance(self.G, FuzzyMap)
            else dense(self.G @ self.G.T)
        )

    def ridge_start(self, gamma: float) -> Array:
        """(GᵀG + γI)⁻¹GᵀY, or the same as Gᵀ(GGᵀ + γI)⁻¹Y.   (36)"""
        dual = self._dual
        K, V = (
            (dual, self.Y)
            if dual is not None
            else (gram(self.G) if self.A is None else self.A, self.B)
        )
        try:
            factor = linalg.cho_factor(
                K + gamma * np.eye(len(K), dtype=K.dtype), lower=True
            )
        except linalg.LinAlgError:
            raise InputError(
                f"gamma = {gamma:g} is too small for the ridge start: take a larger init_ridge."
            ) from None
        solved = np.asarray(linalg.cho_solve(factor, V))
        return solved if dual is None else _transposed(self.G, solved)


def _transposed(G: Any, V: Array) -> Array:
    return G.transpose_matmul(V) if isinstance(G, FuzzyMap) else G.T @ V


def gram(G: Any) -> Array:
    """GᵀG of a FuzzyMap, an array or CSR."""
    return G.gram() if isinstance(G, FuzzyMap) else dense(G.T @ G)


def weighted(Y: Any, w: Array | None) -> Any:
    """Rows scaled by √w."""
    if isinstance(Y, FuzzyMap):
        return Y.weighted(w)
    return Y if w is None else Y * np.sqrt(w)[:, None]


def quadratic(
    G: Any,
    Y: Array,
    w: Array | None = None,
    *,
    n_products: int = 100,
    form: bool | None = None,
) -> Quadratic:
    """The rows of G and Y under the weights w, with A formed as ``form`` says.

    By default it is where that makes ``n_products`` products cheaper within the memory allowed.
    """
    if form is None:
        X, K = (G.X, G.n_rules) if isinstance(G, FuzzyMap) else (G, 1)
        (N, width), entries, L, thin = (
            G.shape,
            n_entries(X),
            Y.shape[1],
            sparse.issparse(X),
        )
        # A sparse flop costs about 16 dense ones (.3 s per product against .02 s at equal flops, bibtex with 10 rules).
        per_pass = 4 * entries * K * L * (16 if thin else 1)
        once = N * width**2 if not thin else 16 * entries**2 / N * K**2
        cheaper = once + n_products * 2 * width**2 * L < n_products * per_pass
        form = cheaper and Y.itemsize * width**2 <= GRAM_BYTES
    G = weighted(G, w)
    return Quadratic(G, weighted(Y, w), gram(G) if form else None)


@dataclass(frozen=True)
class Problem:
    """One problem over ``data``; many of them may share those."""

    data: Quadratic
    Q: Array | None = None
    alpha: float = 0.0
    beta: float = 0.0
    rho: float = 0.0

    def slope(self, P: Array) -> Array:
        """Gradient of the smooth part, A P - B + ρ P + α P Q.   (28)"""
        H = self.rho * P
        if self.alpha != 0 and self.Q is not None:
            H += self.alpha * (P @ self.Q)
        return self.data.apply(P) - self.data.B + H

    def value(self, P: Array, slope: Array | None = None) -> float:
        """F(P); with the slope at hand it costs no product with A."""
        slope = self.slope(P) if slope is None else slope
        return (
            0.5 * float(np.vdot(P, slope - self.data.B))
            + 0.5 * self.data.yy
            + self.beta * float(abs(P).sum())
        )

    def gap(self, P: Array, slope: Array) -> float:
        """Duality gap at P: an upper bound of F(P) - min F, 0 only at the optimum. Needs the ``ridge`` r > 0.

        With Z = rP - slope the gap is Σ h(p) + h*(z) - p z for h(p) = (r/2)p² + β|p|, whose conjugate is
        h*(z) = soft(z, β)² / 2r: one term per coefficient, each of them >= 0 (Fenchel and Young).
        """
        r = self.ridge
        Z = r * P - slope
        excess = np.maximum(abs(Z) - self.beta, 0.0)
        own = 0.5 * r * float(np.vdot(P, P)) + self.beta * float(abs(P).sum())
        return max(
            0.0, own + float(np.vdot(excess, excess)) / (2 * r) - float(np.vdot(P, Z))
        )

    @property
    def ridge(self) -> float:
        """r = ρ + α λ_min(Q), all of ρI + αQ that is a plain ridge: a gap over r is smaller than one over ρ alone."""
        return self.rho + self.alpha * self._coupling_range[0]

    def certificate(self, P: Array, slope: Array) -> float:
        """How far P may be from the optimum: duality gap as a share of ½Σy² (the objective of P = 0), or, without a
        ridge, the largest entry of the smallest subgradient as a share of the largest |Gᵀy|.
        """
        if self.rho > 0 and self.ridge > 0:
            return self.gap(P, slope) / max(0.5 * self.data.yy, _TINY)
        inside = np.maximum(abs(slope) - self.beta, 0.0)
        subgradient = np.where(P != 0, abs(slope + self.beta * np.sign(P)), inside)
        return float(subgradient.max()) / max(float(abs(self.data.B).max()), _TINY)

    @cached_property
    def _coupling_range(self) -> tuple[float, float]:
        values = (
            np.zeros(1)
            if self.Q is None or self.alpha == 0
            else np.linalg.eigvalsh(self.Q)
        )
        return float(values[0]), float(values[-1])

    def require_minimum(self) -> None:
        """Raise `NoMinimumError` unless F is convex: the message names α, the curvature and what to use instead.

        The curvature is the smallest eigenvalue of the Hessian; σ_min counts as 0 where A is not formed.
        """
        low, high = self._coupling_range
        if self.ridge >= 0 or low >= -1e-10 * max(1.0, high):
            return  # whatever A is: its eigenvalues take a minute for K(D+1) = 10,020
        sigma = (
            0.0
            if self.data.A is None
            else max(0.0, float(np.linalg.eigvalsh(self.data.A)[0]))
        )
        curvature = sigma + self.ridge
        if curvature < -1e-9 * (self.data.norm + self.rho + self.alpha * high):
            raise NoMinimumError(
                f"the problem has no minimum: with alpha = {self.alpha:g} the smallest curvature of the objective is "
                f"{curvature:.3g} < 0, so it is not convex and can fall without bound. "
                f"Choose a convex coupling ({', '.join(CONVEX)}), a smaller alpha or a ridge weight above "
                f"{self.rho - curvature:.3g}; objective='algorithm1' runs the authors' early-stopped iteration."
            )


class Solution(NamedTuple):
    """Consequents ``P`` (Md, L), the steps taken, whether they sufficed, and the certificates seen, that of P last."""

    P: Array
    n_iter: int
    converged: bool
    certificates: list[float]


def soft_threshold(Z: Array, t: float | Array) -> Array:
    """S_t[Z] = sign(Z) max(|Z| - t, 0).   (33)"""
    return Z - np.clip(Z, -t, t)


def fista(
    problem: Problem,
    start: Array | None = None,
    *,
    max_iter: int = 1000,
    tol: float = GAP,
) -> Solution:
    """Minimise a convex `Problem` from ``start`` (zeros by default); `NoMinimumError` where it is not convex.

    Each step is (31)-(33) with a step size of its own for every row of P, and momentum restarts when it points uphill.
    It makes one product with A: the slope is affine, so that of V = P + momentum (P - P') is the same combination of
    slopes. It stops when `Problem.certificate` is at most ``tol``, not on little change.
    """
    problem.require_minimum()
    B = problem.data.B
    diagonal = (
        problem.data.bound
        + problem.rho
        + problem.alpha * max(problem._coupling_range[1], 0.0)
    )
    steps = (1.0 / diagonal).astype(B.dtype)  # the diagonal dominates the Hessian
    P = np.zeros_like(B) if start is None else np.array(start, dtype=B.dtype)
    slope = problem.slope(P)
    P_old, slope_old, b, n_iter = P, slope, 1.0, 0
    certificates = [problem.certificate(P, slope)]
    while certificates[-1] > tol and n_iter < max_iter:
        b_new = (1 + sqrt(4 * b * b + 1)) / 2
        momentum = (b - 1) / b_new
        V, slope_V = P + momentum * (P - P_old), slope + momentum * (slope - slope_old)
        new = soft_threshold(V - steps * slope_V, steps * problem.beta)
        V -= new
        V /= steps
        if np.vdot(V, new - P) > 0:  # the step went against the momentum: forget it
            b_new = 1.0
        P_old, slope_old, P, b = P, slope, new, b_new
        slope = problem.slope(P)
        n_iter += 1
        if n_iter % CHECK_EVERY == 0 or n_iter == max_iter:
            certificates.append(problem.certificate(P, slope))
    return Solution(P, n_iter, certificates[-1] <= tol, certificates)


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
    small = 8 * min(G.shape) ** 2 <= START_BYTES
    start = (
        data.ridge_start(gamma if gamma else max(rho + alpha, 1e-8)) if small else None
    )
    solution = fista(
        Problem(data, Q, alpha, beta, rho), start, max_iter=max_iter, tol=tol
    )
    P = solution.P.copy()
    P.reshape(G.n_rules, -1, Y.shape[1])[:, 0] += rates
    return Consequents(P, rho, alpha, beta, Q, solution)


def spectrum(G: FuzzyMap) -> tuple[Array, Array]:
    """Non-zero eigenvalues s (r,) of G Gᵀ and their eigenvectors U (N, r), by the smaller of the two Gram matrices."""
    N, width = G.shape
    # .T: LAPACK overwrites a Fortran-ordered matrix in place and would copy a C-ordered one; both are symmetric
    smaller = (G.dual_gram() if N <= width else G.gram()).T
    s, V = linalg.eigh(smaller, overwrite_a=True, check_finite=False, driver="evd")
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
        residual = (
            U @ (kept[:, :, None] * coefficients[:, None, :]).reshape(len(s), -1)
        ).reshape(len(Y), -1, L)
        residual -= Y[:, None, :]
        residual *= (1 / (1 - leverage)).astype(residual.dtype)[:, :, None]
        errors[part] = np.einsum("ntl,ntl->tl", residual, residual)
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
    """ρ and α of least leave-one-out squared error, summed over labels, and the noise; a weight given is kept."""
    rows, total = spread_rows(len(Y), LOO_ROWS), float(w.sum())
    w = w[rows]
    part, Y = G.take(rows).weighted(w), weighted(Y[rows], w)
    if len(w) > LOO_SINGLE:
        part, Y = part.astype(np.float32), Y.astype(np.float32)
    s, U = spectrum(part)
    lam, V = np.linalg.eigh(Q)
    scale = max(float(s[-1]) if len(s) else 1.0, _TINY)
    taus, coupled = scale * GRID, bool(np.any(lam))
    rhos = taus if rho is None else np.array([rho])
    ratios = RATIOS if coupled else (0.0,)
    alphas = (
        np.outer(rhos, ratios)
        if alpha is None or not coupled
        else np.full((len(rhos), 1), alpha)
    )
    totals = rhos[:, None, None] + alphas[:, :, None] * lam
    # column j has the weight totals[..., j]: between the weights tried by interpolation
    x, tried = np.log(np.maximum(totals, taus[0])), leave_one_out(s, U, Y @ V, w, taus)
    found = [np.interp(x[..., j], np.log(taus), tried[:, j]) for j in range(len(lam))]
    errors = np.where(totals > 0, np.stack(found, axis=-1), np.inf).sum(axis=2)
    r, a = np.unravel_index(int(np.argmin(errors)), errors.shape)
    rho, alpha = float(rhos[r]), float(alphas[r, a])
    left = leave_one_out(
        s, U, Y, w, np.array([max(rho + alpha * float(lam.mean()), 0.0)])
    )[0]
    column_norm = np.sqrt(float(s.sum()) / G.shape[1] * (total / float(w.sum())))
    return rho, alpha, float(np.mean(np.sqrt(left / float(w.sum()))) * column_norm)
