"""The problem that consequents solve, and a certified optimum of it.   (24) (28)-(33)

    F(P) = ½‖G P - Y‖² + (ρ/2)‖P‖² + (α/2) Tr(P Q Pᵀ) + β‖P‖₁

Symbols
    G (N, Md)   rule-mapped features, Md = K(D+1)
    Y (N, L)    targets
    w (N,)      weights of rows
    P (Md, L)   consequents
    Q (L, L)    coupling of labels
    α, β, ρ     weights of the coupling, of the L1 norm and of a ridge
    A, B, yy    GᵀWG, GᵀWY and Σ w y²: all of the data that enters

The paper's (24) is ρ = 0 and Q = R = 1 - C. The Hessian has the eigenvalues
σ_i + ρ + α λ_j with σ of A and λ of Q. R always has a negative eigenvalue, so with R
the objective is not convex unless ρ or the smallest σ make up for it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, eigsh

from ...core.arrays import Array, Matrix, dense, n_entries
from ...core.coupling import CONVEX
from ...core.fuzzymap import FuzzyMap
from ...exceptions import InputError, NoMinimumError

# A is formed only below this size: 400 MB is K(D+1) = 7071 in float64. Above it, A
# would outweigh the data it sums up (bibtex with 10 rules: 2.7 GB against 4 MB of
# entries).
GRAM_BYTES = 400 * 10**6
# A sparse flop costs about 16 dense ones (.3 s per product against .02 s at equal
# flops, bibtex with 10 rules).
SPARSE_FLOP_COST = 16
# Steps between two certificates: one costs as much as the prox of two steps.
CERTIFY_EVERY = 4
# Relative duality gap at which a solution is good enough.
GAP = 1e-4
# What divides is at least this large.
TINY = float(np.finfo(np.float64).tiny)

MappedFeatures: TypeAlias = FuzzyMap | Matrix


@dataclass(frozen=True)
class Quadratic:
    """The data of a problem, and products with A = GᵀG.

    Products use A where it is formed, else they pass over the rows of G twice.

    Parameters
    ----------
    G : FuzzyMap, array or CSR of shape (N, Md)
        Its rows are scaled by √w.
    Y : array of shape (N, L)
        Its rows are scaled by √w.
    A : array of shape (Md, Md), optional
    factor : array of shape (Md, r), optional
        F with A = F Fᵀ, where that makes products cheaper.
    """

    G: MappedFeatures
    Y: Array
    A: Array | None = None
    factor: Array | None = None

    def astype(self, dtype: "np.dtype[Any] | type") -> "Quadratic":
        """The same data in another precision; G is converted only where A is not."""
        Y = self.Y.astype(dtype)
        factor = None if self.factor is None else self.factor.astype(dtype)
        if self.A is None:
            return replace(self, G=self.G.astype(dtype), Y=Y, factor=factor)
        return replace(self, A=self.A.astype(dtype), Y=Y, factor=factor)

    def with_targets(self, Y: Array) -> "Quadratic":
        """The same rows with other targets; norm and bound of A are kept."""
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
        if self.A is None:
            return _transposed(self.G, self.G @ P)
        return self.A @ P

    @cached_property
    def norm(self) -> float:
        """‖A‖₂, the largest eigenvalue.

        Lanczos begins at a fixed vector: the same data give the same number.
        """
        n = self.G.shape[1]
        if n <= 2:
            return float(np.linalg.eigvalsh(self.apply(np.eye(n)))[-1])
        start = np.cos(np.arange(n))  # touches every coordinate, favours none
        if not np.any(self.apply(start[:, None])):
            # every membership underflowed: A is 0, and Lanczos cannot begin on it
            return 0.0
        operator = LinearOperator(
            (n, n),
            matvec=lambda v: self.apply(v.reshape(-1, 1)).ravel(),
            dtype=np.float64,
        )
        largest = eigsh(operator, k=1, which="LA", v0=start, return_eigenvectors=False)
        return float(largest[0])

    @cached_property
    def bound(self) -> Array:
        """A diagonal D (Md, 1) with D - A positive semidefinite.

        It gives a step size 1/D per row of P instead of one 1/‖A‖ for all. For any
        v > 0, D = |A|v / v dominates A (scaled by v, D - A is diagonally dominant),
        and so does that of any larger |A|. v = √(|A|1) gives the rare columns of text
        data long steps: 60 steps instead of 156 to the same certificate on rcv1s1.
        Where features have both signs, ‖A‖ is the better bound, and is taken.
        """
        norm = self.norm
        absolute = self._absolute()
        row_sums = absolute(np.ones((self.G.shape[1], 1)))
        v = np.sqrt(np.maximum(row_sums, 1e-12 * max(norm, TINY)))
        D = np.maximum(absolute(v) / v, 1e-12 * norm)
        if float(np.log(D).mean()) < np.log(max(norm, TINY)):
            return D
        return np.full_like(D, norm)

    def _absolute(self) -> Callable[[Array], Array]:
        """Products with |A|, or with |G|ᵀ|G|, which is larger, where there is no A."""
        if self.A is None:
            return replace(self, G=abs(self.G)).apply
        return replace(self, A=abs(self.A)).apply

    @cached_property
    def _dual(self) -> Array | None:
        """GGᵀ where it is the smaller one to form."""
        if self.A is not None or len(self.Y) > self.G.shape[1]:
            return None
        if isinstance(self.G, FuzzyMap):
            return self.G.dual_gram()
        return np.asarray(dense(self.G @ self.G.T))

    def ridge_start(self, gamma: float) -> Array:
        """(GᵀG + γI)⁻¹GᵀY, or the same as Gᵀ(GGᵀ + γI)⁻¹Y.   (36)"""
        if self._dual is not None:
            return _transposed(self.G, _solve_ridge(self._dual, self.Y, gamma))
        A = gram(self.G) if self.A is None else self.A
        return _solve_ridge(A, self.B, gamma)


def _solve_ridge(K: Array, V: Array, gamma: float) -> Array:
    """(K + γI)⁻¹V."""
    shifted = K + gamma * np.eye(len(K), dtype=K.dtype)
    try:
        factor = linalg.cho_factor(shifted, lower=True)
    except linalg.LinAlgError:
        raise InputError(
            f"gamma = {gamma:g} is too small for the ridge start: "
            "take a larger init_ridge."
        ) from None
    return np.asarray(linalg.cho_solve(factor, V))


def _transposed(G: MappedFeatures, V: Array) -> Array:
    """GᵀV."""
    if isinstance(G, FuzzyMap):
        return G.transpose_matmul(V)
    return np.asarray(G.T @ V)


def gram(G: MappedFeatures) -> Array:
    """GᵀG."""
    if isinstance(G, FuzzyMap):
        return G.gram()
    return np.asarray(dense(G.T @ G))


def weighted(rows: Matrix, w: Array | None) -> Matrix:
    """Rows of an array or of CSR, scaled by √w."""
    if w is None:
        return rows
    return rows * np.sqrt(w)[:, None]


def quadratic(
    G: MappedFeatures,
    Y: Array,
    w: Array | None = None,
    *,
    n_products: int = 100,
    form: bool | None = None,
) -> Quadratic:
    """The data of a problem: the rows of G and Y under the weights w.

    ``form`` says whether to form A. By default it is formed where that makes
    ``n_products`` products cheaper within the memory allowed.
    """
    if form is None:
        fits_memory = Y.itemsize * G.shape[1] ** 2 <= GRAM_BYTES
        form = fits_memory and _forming_pays(G, Y.shape[1], n_products)
    G = G.weighted(w) if isinstance(G, FuzzyMap) else weighted(G, w)
    return Quadratic(G, weighted(Y, w), A=gram(G) if form else None)


def _forming_pays(G: MappedFeatures, n_labels: int, n_products: int) -> bool:
    """Whether ``n_products`` products take fewer flops with A than by passes over G."""
    N, width = G.shape
    X = G.X if isinstance(G, FuzzyMap) else G
    n_rules = G.n_rules if isinstance(G, FuzzyMap) else 1
    entries = n_entries(X)
    per_pass = 4 * entries * n_rules * n_labels
    to_form = N * width**2
    if sparse.issparse(X):
        per_pass *= SPARSE_FLOP_COST
        to_form = SPARSE_FLOP_COST * entries**2 / N * n_rules**2
    with_A = to_form + n_products * 2 * width**2 * n_labels
    return with_A < n_products * per_pass


@dataclass(frozen=True)
class Problem:
    """The objective F over ``data``; many problems may share the same data."""

    data: Quadratic
    Q: Array | None = None
    alpha: float = 0.0
    beta: float = 0.0
    rho: float = 0.0

    def slope(self, P: Array) -> Array:
        """Gradient of the smooth part, A P - B + ρ P + α P Q.   (28)"""
        penalty_slope = self.rho * P
        if self.alpha != 0 and self.Q is not None:
            penalty_slope += self.alpha * (P @ self.Q)
        return self.data.apply(P) - self.data.B + penalty_slope

    def value(self, P: Array, slope: Array | None = None) -> float:
        """F(P); where its slope is given, it costs no product with A."""
        if slope is None:
            slope = self.slope(P)
        smooth = 0.5 * float(np.vdot(P, slope - self.data.B)) + 0.5 * self.data.yy
        return smooth + self.beta * float(abs(P).sum())

    def gap(self, P: Array, slope: Array) -> float:
        """Duality gap at P: an upper bound of F(P) - min F, 0 only at the optimum.

        It needs the ``ridge`` r > 0. With Z = rP - slope the gap is
        Σ h(p) + h*(z) - p z for h(p) = (r/2)p² + β|p|, whose conjugate is
        h*(z) = soft(z, β)² / 2r: one term per coefficient, each of them >= 0 (Fenchel
        and Young).
        """
        r = self.ridge
        Z = r * P - slope
        excess = np.maximum(abs(Z) - self.beta, 0.0)
        penalty = 0.5 * r * float(np.vdot(P, P)) + self.beta * float(abs(P).sum())
        conjugate = float(np.vdot(excess, excess)) / (2 * r)
        return max(0.0, penalty + conjugate - float(np.vdot(P, Z)))

    @property
    def ridge(self) -> float:
        """r = ρ + α λ_min(Q): all of ρI + αQ that is a plain ridge.

        A gap over r is smaller than one over ρ alone.
        """
        return self.rho + self.alpha * self._coupling_range[0]

    def certificate(self, P: Array, slope: Array) -> float:
        """How far P may be from the optimum.

        It is the duality gap as a share of ½Σy², the objective of P = 0. Without a
        ridge, it is the largest entry of the smallest subgradient as a share of the
        largest |Gᵀy|.
        """
        if self.rho > 0 and self.ridge > 0:
            return self.gap(P, slope) / max(0.5 * self.data.yy, TINY)
        inside = np.maximum(abs(slope) - self.beta, 0.0)
        subgradient = np.where(P != 0, abs(slope + self.beta * np.sign(P)), inside)
        return float(subgradient.max()) / max(float(abs(self.data.B).max()), TINY)

    @cached_property
    def _coupling_range(self) -> tuple[float, float]:
        """Smallest and largest eigenvalue of Q; 0 and 0 where it is without effect."""
        if self.Q is None or self.alpha == 0:
            return 0.0, 0.0
        eigenvalues = np.linalg.eigvalsh(self.Q)
        return float(eigenvalues[0]), float(eigenvalues[-1])

    @property
    def hessian_bound(self) -> Array:
        """A diagonal (Md, 1) that dominates the Hessian: bound + ρ + α λ_max(Q)."""
        highest = max(self._coupling_range[1], 0.0)
        return self.data.bound + self.rho + self.alpha * highest

    def require_minimum(self) -> None:
        """Raise `NoMinimumError` unless F is convex.

        The message names α, the curvature and what to use instead. The curvature is
        the smallest eigenvalue of the Hessian; σ_min counts as 0 where A is not
        formed.
        """
        low, high = self._coupling_range
        if self.ridge >= 0 or low >= -1e-10 * max(1.0, high):
            return  # whatever A is: its eigenvalues take a minute for K(D+1) = 10,020
        sigma = 0.0
        if self.data.A is not None:
            sigma = max(0.0, float(np.linalg.eigvalsh(self.data.A)[0]))
        curvature = sigma + self.ridge
        if curvature >= -1e-9 * (self.data.norm + self.rho + self.alpha * high):
            return
        raise NoMinimumError(
            f"the problem has no minimum: with alpha = {self.alpha:g} the smallest "
            f"curvature of the objective is {curvature:.3g} < 0, so it is not convex "
            "and can fall without bound. "
            f"Choose a convex coupling ({', '.join(CONVEX)}), a smaller alpha or a "
            f"ridge weight above {self.rho - curvature:.3g}; objective='algorithm1' "
            "runs the authors' early-stopped iteration."
        )


class Solution(NamedTuple):
    """What `fista` found: consequents ``P`` (Md, L) after ``n_iter`` steps.

    ``certificates`` are those seen on the way, that of P last; ``converged`` says
    whether the last one is small enough.
    """

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
    """Minimise a convex `Problem`, else raise `NoMinimumError`.

    Each step is (31)-(33) with a step size of its own for every row of P, and momentum
    restarts when it points uphill. A step makes one product with A: the slope is
    affine, so that of V = P + momentum (P - P') is the same combination of slopes. The
    solver stops when `Problem.certificate` is at most ``tol``, not on little change.

    Parameters
    ----------
    problem : Problem
    start : array of shape (Md, L), optional
        Zeros by default.
    max_iter : int
    tol : float
    """
    problem.require_minimum()
    B = problem.data.B
    steps = (1.0 / problem.hessian_bound).astype(B.dtype)
    P = np.zeros_like(B) if start is None else np.array(start, dtype=B.dtype)
    slope = problem.slope(P)
    P_old = P
    slope_old = slope
    b = 1.0
    n_iter = 0
    certificates = [problem.certificate(P, slope)]
    while certificates[-1] > tol and n_iter < max_iter:
        b_new = next_momentum(b)
        momentum = (b - 1) / b_new
        V = P + momentum * (P - P_old)
        slope_V = slope + momentum * (slope - slope_old)
        P_old = P
        slope_old = slope
        P = soft_threshold(V - steps * slope_V, steps * problem.beta)
        V -= P
        V /= steps
        if np.vdot(V, P - P_old) > 0:  # the step went against the momentum: forget it
            b_new = 1.0
        b = b_new
        slope = problem.slope(P)
        n_iter += 1
        if n_iter % CERTIFY_EVERY == 0 or n_iter == max_iter:
            certificates.append(problem.certificate(P, slope))
    return Solution(
        P=P,
        n_iter=n_iter,
        converged=certificates[-1] <= tol,
        certificates=certificates,
    )


def next_momentum(b: float) -> float:
    """The number after b in the sequence from which momentum is computed."""
    return (1 + sqrt(4 * b * b + 1)) / 2
