"""The ridge problem in closed form, with the leave-one-out scores that come with it.

Symbols: Φ (N, Q) columns, Y (N, L) labels, w (N,) weights, W = Σ w, τ (L,) ridges; an intercept that is not shrunk.

    minimise over b, B   Σ_i w_i ‖y_i - b - Φ_i B‖² + Σ_j τ_j ‖B_j‖²

The intercept centres both sides by their weighted means. *Dual*: with K the centred kernel between √w-scaled rows and
A = K + τI, residuals are τ A⁻¹ Y. *Primal*: with H the centred Gram matrix, B = (H + τI)⁻¹ ΦᵀWY. Both give leverages
h_i, and what row i would have scored without itself is y_i - r_i / (1 - h_i): exactly, without a second fit. A weight
that is a count c stands for copies of a row, of which one is left out: 1 - h_i / c.

Labels are coupled by a positive semidefinite Q = V diag(λ) Vᵀ with weight α: in the basis V the columns are separate
again, with ridges τ_j = ρ + α λ_j. Without a coupling all τ are ρ, and one Cholesky factor serves all labels.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import eigh, get_lapack_funcs

from ..core.arrays import Array, cast, is_tensor, namespace, put

_LEAST = 1e-10  # 1 - h of a row that nothing else speaks for


@dataclass(frozen=True)
class Penalty:
    """The ridge ``rho``; for coupled labels their weight ``alpha``, eigenvalues ``lam`` (L,) and ``basis`` (L, L).

    Ridges τ are rho + alpha · lam: (L,), one number where all labels have the same.
    """

    rho: float
    alpha: float = 0.0
    lam: Array | float = 0.0
    basis: Array | None = None

    def times(self, B: Array) -> Array:
        """B (Q, L) times the penalty, (ρI + αQ)."""
        return self.back(
            self.rotate(B) * put(np.atleast_1d(self.rho + self.alpha * self.lam), B)
        )

    def rotate(self, Y: Array) -> Array:
        """Labels in the basis of the coupling."""
        return Y if self.basis is None else Y @ put(self.basis, Y)

    def back(self, Y: Array) -> Array:
        """And back."""
        return Y if self.basis is None else Y @ put(self.basis, Y).T


class SingularError(ValueError):
    """A matrix that has no Cholesky factor."""


@dataclass(frozen=True)
class Factor:
    """A symmetric matrix plus each of the ridges ``tau`` (1 or L,), factorised: by Cholesky, or for several by eigh."""

    tau: Array
    lower: Any = None
    values: Any = None
    vectors: Any = None

    @classmethod
    def of(cls, A: Array, tau: Array) -> "Factor":
        """A is overwritten."""
        if len(tau) > 1 and is_tensor(A):
            values, vectors = namespace(A).linalg.eigh(A)
            return cls(tau, values=values.clamp(min=0.0), vectors=vectors)
        if len(tau) > 1:
            values, vectors = eigh(
                A, overwrite_a=True, check_finite=False, driver="evd"
            )
            return cls(tau, values=np.maximum(values, 0.0), vectors=vectors)
        if is_tensor(A):
            A.diagonal().add_(float(tau[0]))
            lower, failed = namespace(A).linalg.cholesky_ex(A)
        else:
            A.flat[:: len(A) + 1] += tau[0]
            upper, failed = get_lapack_funcs("potrf", (A,))(
                A.T, lower=0, overwrite_a=1
            )  # .T: LAPACK works in place
            lower = upper.T
        if failed:
            raise SingularError(
                f"the problem is singular with a ridge of {tau[0]:g}: take a larger one"
            )
        return cls(tau, lower=lower)

    @property
    def _inverses(self) -> Array:
        return 1.0 / (self.values[:, None] + put(self.tau, self.values))

    def solve(self, B: Array) -> Array:
        """(A + τI)⁻¹ B, column j with its own τ."""
        if self.lower is None:
            return self.vectors @ ((self.vectors.T @ B) * self._inverses)
        if is_tensor(B):
            return namespace(B).cholesky_solve(B, self.lower)
        return (
            get_lapack_funcs("potrs", (B,))(self.lower.T, B, lower=0)[0]
            if len(B)
            else B
        )

    def inverse_diagonal(self) -> Array:
        """Diagonal of (A + τI)⁻¹, (n, 1 or L): a Cholesky factor L is overwritten, for sums of squares of L⁻¹."""
        if self.lower is None:
            return self.vectors**2 @ self._inverses
        if is_tensor(self.lower):
            return (
                namespace(self.lower).cholesky_inverse(self.lower).diagonal()[:, None]
            )
        inverse = get_lapack_funcs("trtri", (self.lower,))(
            self.lower.T, lower=0, overwrite_c=1
        )[0]
        return np.einsum("ij,ij->i", inverse, inverse)[:, None]

    def leverage(self, rows: Array) -> Array:
        """φ (A + τI)⁻¹ φᵀ of rows φ (N, n): (N, 1 or L)."""
        if self.lower is None:
            return (rows @ self.vectors) ** 2 @ self._inverses
        half = rows.T
        if is_tensor(rows):
            half = namespace(rows).linalg.solve_triangular(
                self.lower, half, upper=False
            )
        elif rows.size:
            half = get_lapack_funcs("trtrs", (rows,))(
                self.lower.T, half, lower=0, trans=1
            )[0]
        return namespace(half).einsum("qn,qn->n", half, half)[:, None]


def of_labels(block: Any, labels: Any) -> tuple[Array, Array, Array]:
    """(Y, weights, copies) of rows for labels that have the same weights, in double precision."""
    Y = cast(block.Y[:, labels], np.float64)
    return (
        (Y, block.w, block.copies)
        if block.w.ndim == 1
        else (Y, block.w[:, labels[0]], block.copies[:, labels[0]])
    )


def centred_kernel(K: Array, w: Array) -> Array:
    """The kernel between √w-scaled rows after both sides were centred by the weights; K is overwritten."""
    share, root = w / w.sum(), namespace(K).sqrt(w)
    mean = K @ share
    K -= mean[:, None]
    K -= mean - share @ mean
    if not bool((w == 1).all()):
        K *= root[:, None]
        K *= root
    return K


def solve_dual(
    K: Array, Y: Array, w: Array, copies: Array, penalty: Penalty
) -> tuple[Array, Array]:
    """(A, loo) from the kernel K (N, N) of rows that all count: B = ΦᵀA, and leave-one-out scores (N, L).

    K is overwritten.
    """
    if penalty.basis is not None:  # in which labels are separate
        A, loo = solve_dual(
            K, penalty.rotate(Y), w, copies, replace(penalty, basis=None)
        )
        return penalty.back(A), penalty.back(loo)
    root, share = namespace(w).sqrt(w)[:, None], (w / w.sum())[:, None]
    factor = Factor.of(
        centred_kernel(K, w), np.atleast_1d(penalty.rho + penalty.alpha * penalty.lam)
    )
    solved, tau = factor.solve(root * (Y - (w @ Y) / w.sum())), put(factor.tau, Y)
    kept = 1.0 - (1.0 - tau * factor.inverse_diagonal() + share) / copies[:, None]
    return root * solved, Y - tau * solved / namespace(K).maximum(kept, _LEAST) / root


@dataclass(frozen=True)
class Moments:
    """Sums over rows: ``H`` = ΦᵀWΦ (Q, Q), ``B`` = ΦᵀWY (Q, L), ``phi`` = Φᵀw (Q,), ``y`` = Yᵀw (L,), ``total`` = Σ w.

    They add up over blocks of rows.
    """

    H: Array
    B: Array
    phi: Array
    y: Array
    total: float

    @classmethod
    def of(cls, rows: Array, Y: Array, w: Array) -> "Moments":
        """Of dense rows of Φ."""
        weighted = rows * w[:, None]
        return cls(
            weighted.T @ rows,
            weighted.T @ Y,
            weighted.sum(axis=0),
            w @ Y,
            float(w.sum()),
        )

    def __add__(self, other: "Moments") -> "Moments":
        return Moments(
            *(
                mine + theirs
                for mine, theirs in zip(
                    vars(self).values(), vars(other).values(), strict=True
                )
            )
        )

    def solve(self, penalty: Penalty) -> "Primal":
        """B of the primal form."""
        mean, rates = self.phi / self.total, self.y / self.total
        factor = Factor.of(
            self.H - mean[:, None] * self.phi,
            np.atleast_1d(penalty.rho + penalty.alpha * penalty.lam),
        )
        B = penalty.back(factor.solve(penalty.rotate(self.B - mean[:, None] * self.y)))
        return Primal(factor, B, mean, rates, self.total, penalty)


@dataclass(frozen=True)
class Primal:
    """A solution ``B`` (Q, L), the ``mean`` (Q,) of the columns, base ``rates`` (L,), and what leave-one-out needs."""

    factor: Factor
    B: Array
    mean: Array
    rates: Array
    total: float
    penalty: Penalty

    def leave_one_out(self, rows: Array, Y: Array, w: Array, copies: Array) -> Array:
        """What rows φ of the data would have scored without themselves, (N, L); rows of weight 0 were never in it."""
        rows = rows - self.mean
        score = self.rates + rows @ self.B
        h = w[:, None] * (self.factor.leverage(rows) + 1.0 / self.total)
        kept = namespace(rows).maximum(1.0 - h / copies[:, None], _LEAST)
        return Y - self.penalty.back(self.penalty.rotate(Y - score) / kept)


def conjugate_gradients(
    apply: Callable[[Array], Array],
    B: Array,
    rtol: float = 1e-6,
    *,
    max_iter: int = 500,
) -> Array:
    """P with apply(P) = B up to a residual of ``rtol``; columns are one system, so a step is one wide product."""
    xp = namespace(B)
    P, residual = xp.zeros_like(B), B
    direction, square = residual, float((B * B).sum())
    enough = rtol**2 * square
    for _ in range(max_iter):
        if square <= enough:
            break
        product = apply(direction)
        step = square / float((direction * product).sum())
        P, residual = P + step * direction, residual - step * product
        old, square = square, float((residual * residual).sum())
        direction = residual + (square / old) * direction
    return P
