"""The ridge problem in closed form, with the leave-one-out scores that come with it.

Symbols: Φ (N, Q) columns, Y (N, L) labels, w (N,) weights, W = Σ w, τ (L,) ridges; the
intercept b (L,) is not shrunk.

    minimise over b, B   Σ_i w_i ‖y_i - b - Φ_i B‖² + Σ_j τ_j ‖B_j‖²

The intercept centres both sides by their weighted means. *Dual*: with K the centred
kernel between √w-scaled rows and A = K + τI, residuals are τ A⁻¹ Y. *Primal*: with H
the centred Gram matrix, B = (H + τI)⁻¹ ΦᵀWY. Both give leverages h_i, and the score
that row i would have if it had not been there is y_i - r_i / (1 - h_i): exactly,
without a second fit. Whatever its weight, a row is left out whole. Rows that belong
together are left out together (`mltsk.fit.left_out`).

Labels are coupled by a positive semidefinite Q = V diag(λ) Vᵀ with weight α: in the
basis V the columns are separate again, with ridges τ_j = ρ + α λ_j. Without a coupling
all τ are ρ, and one Cholesky factor serves all labels.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..core.arrays import Array, FloatArray, cast, is_tensor, namespace, put
from .factor import Factor
from .left_out import Groups, residuals_by_factor, residuals_by_kept

MAX_SAFE_PRODUCT = 10**6  # cells of an array that is multiplied with its own transpose
GRAM_COLUMNS = 250
MIN_KEPT_SHARE = 1e-10  # least 1 - h: that of a row which nothing else speaks for


@dataclass(frozen=True)
class Penalty:
    """The ridge, and the coupling of labels.

    Parameters
    ----------
    rho : float
        The ridge ρ.
    alpha : float
        Weight α of the coupling.
    lam, basis : (L,) and (L, L)
        Eigenvalues λ and eigenvectors V of the coupling; 0 and None without one.
    """

    rho: float
    alpha: float = 0.0
    lam: Array | float = 0.0
    basis: Array | None = None

    @property
    def ridges(self) -> NDArray[np.float64]:
        """τ (L,), or one number where all labels have the same."""
        return np.atleast_1d(self.rho + self.alpha * self.lam)

    def times(self, B: Array) -> Array:
        """B (Q, L) times the penalty, (ρI + αQ)."""
        return self.back(self.rotate(B) * put(self.ridges, B))

    def rotate(self, Y: Array) -> Array:
        """Labels (…, L) in the basis of the coupling."""
        return Y if self.basis is None else Y @ put(self.basis, Y)

    def back(self, Y: Array) -> Array:
        """Labels (…, L) back from the basis of the coupling."""
        return Y if self.basis is None else Y @ put(self.basis, Y).T


def centred_kernel(K: Array, w: Array) -> Array:
    """Centre a kernel (N, N) by the weights (N,) and scale its rows by √w, in place."""
    share = w / w.sum()
    mean = K @ share
    K -= mean[:, None]
    K -= mean - share @ mean
    if not bool((w == 1).all()):
        root = namespace(K).sqrt(w)
        K *= root[:, None]
        K *= root
    return K


def solve_dual(
    K: Array, Y: Array, w: Array, groups: Groups, penalty: Penalty
) -> tuple[Array, Array]:
    """Solve the dual form.

    Parameters
    ----------
    K : (N, N)
        Kernel of rows that all count; it is overwritten.
    Y, w : (N, L), (N,)
    groups : (N,) codes of rows that are left out together, or None

    Returns
    -------
    A : (N, L)
        B = ΦᵀA.
    loo_scores : (N, L)
    """
    if penalty.basis is not None:
        separate = replace(penalty, basis=None)
        A, loo_scores = solve_dual(K, penalty.rotate(Y), w, groups, separate)
        return penalty.back(A), penalty.back(loo_scores)
    root = namespace(w).sqrt(w)[:, None]
    share = (w / w.sum())[:, None]
    factor = Factor.of(centred_kernel(K, w), penalty.ridges)
    tau = put(factor.tau, Y)
    solved = factor.solve(root * (Y - (w @ Y) / w.sum()))
    if groups is None:
        leverage = 1.0 - tau * factor.inverse_diagonal() + share
        kept = namespace(K).maximum(1.0 - leverage, MIN_KEPT_SHARE)
        return root * solved, Y - tau * solved / kept / root
    left_out = namespace(K).empty_like(solved)
    for label, ridge in enumerate(factor.tau.tolist()):
        labels = slice(None) if len(factor.tau) == 1 else slice(label, label + 1)
        kept = ridge * factor.inverse(label) - root * root.T / w.sum()
        left_out[:, labels] = residuals_by_kept(
            kept, ridge * solved[:, labels], groups, MIN_KEPT_SHARE
        )
    return root * solved, Y - left_out / root


def _times_root(Phi: Array, w: Array) -> Array:
    """Rows Φ (n, Q) times the roots of their weights (n,)."""
    if bool((w == 1).all()):
        return Phi
    return Phi * namespace(w).sqrt(w)[:, None]


def _gram_of_columns(A: Array) -> Array:
    """AᵀA (Q, Q) of rows A (n, Q), by blocks of columns.

    Half of the products are those of the other half. NumPy would see that of itself,
    but OpenBLAS may end the process there: 16,000 × 2,800 did.
    """
    n_columns = A.shape[1]
    if is_tensor(A) or A.size <= MAX_SAFE_PRODUCT:
        return A.T @ A
    H = np.empty((n_columns, n_columns))
    for start in range(0, n_columns, GRAM_COLUMNS):
        stop = min(start + GRAM_COLUMNS, n_columns)
        H[start:, start:stop] = A[:, start:].T @ A[:, start:stop]
        H[start:stop, stop:] = H[stop:, start:stop].T
    return H


@dataclass(frozen=True)
class Moments:
    """Sums over rows, which add up over blocks of rows.

    ``H`` = ΦᵀWΦ (Q, Q), ``B`` = ΦᵀWY (Q, L), ``phi`` = Φᵀw (Q,), ``y`` = Yᵀw (L,),
    ``total`` = Σ w.
    """

    H: Array
    B: Array
    phi: Array
    y: Array
    total: float

    @classmethod
    def of(
        cls, Phi: Array, Y: Array, w: Array, before: Array | None = None
    ) -> "Moments":
        """Sums over dense rows of Φ (n, Q) with labels (n, L) and weights (n,).

        With columns ``before`` (n, P) of the same rows they are what `extended` needs:
        ``H`` (P + Q, Q) has their products with Φ first. Products are in the precision
        of Φ, sums in double precision.
        """
        own = cast(w, Phi.dtype)
        root = _times_root(Phi, own)
        H = cast(_gram_of_columns(root), np.float64)
        if before is not None:
            beside = cast(_times_root(before, own).T @ root, np.float64)
            H = namespace(H).concatenate([beside, H])
        return cls(
            H=H,
            B=cast(Phi.T @ cast(w[:, None] * Y, Phi.dtype), np.float64),
            phi=cast(Phi.T @ own, np.float64),
            y=w @ Y,
            total=float(w.sum()),
        )

    def extended(self, others: "Moments") -> "Moments":
        """The sums for these columns and others after them, over the same rows.

        ``others`` were summed up with these columns before them.
        """
        xp = namespace(self.H)
        n_columns = len(self.H)
        above = xp.concatenate([self.H, others.H[:n_columns]], axis=1)
        below = xp.concatenate([others.H[:n_columns].T, others.H[n_columns:]], axis=1)
        return replace(
            self,
            H=xp.concatenate([above, below]),
            B=xp.concatenate([self.B, others.B]),
            phi=xp.concatenate([self.phi, others.phi]),
        )

    def __add__(self, other: "Moments") -> "Moments":
        return Moments(
            H=self.H + other.H,
            B=self.B + other.B,
            phi=self.phi + other.phi,
            y=self.y + other.y,
            total=self.total + other.total,
        )

    def __iadd__(self, other: "Moments") -> "Moments":
        """Add in place: matrices made anew took a sixth of a fit to 65,000 rows."""
        H = self.H
        B = self.B
        phi = self.phi
        y = self.y
        H += other.H
        B += other.B
        phi += other.phi
        y += other.y
        return Moments(H=H, B=B, phi=phi, y=y, total=self.total + other.total)

    def scaled(self, share: float) -> "Moments":
        """The sums with all weights times a share."""
        return Moments(
            H=share * self.H,
            B=share * self.B,
            phi=share * self.phi,
            y=share * self.y,
            total=share * self.total,
        )

    def of_labels(self, labels: NDArray[np.intp]) -> "Moments":
        """The sums for some of the labels."""
        return replace(self, B=self.B[:, labels], y=self.y[labels])

    def weighted(self, columns: NDArray[np.intp], weights: FloatArray) -> "Moments":
        """The sums for some columns (q,), each times a weight (q,)."""
        scale = put(weights, self.phi)
        H = self.H[columns][:, columns]
        H *= scale[:, None]
        H *= scale
        return Moments(
            H=H,
            B=self.B[columns] * scale[:, None],
            phi=self.phi[columns] * scale,
            y=self.y,
            total=self.total,
        )

    def solve(self, penalty: Penalty, prior: Array | None = None) -> "PrimalSolution":
        """Solve the primal form.

        ``prior`` (K, K) takes the place of the identity that the ridge has for the last
        K columns; it needs one ridge for all labels.
        """
        if prior is not None and len(penalty.ridges) > 1:
            raise ValueError("a prior needs one ridge for all labels")
        mean = self.phi / self.total
        A = mean[:, None] * self.phi
        namespace(A).subtract(self.H, A, out=A)
        if prior is not None:
            n_others = len(A) - len(prior)
            A[n_others:, n_others:] += penalty.rho * prior
            diagonal = np.arange(n_others, len(A))
            A[diagonal, diagonal] -= penalty.rho  # the factor adds it
        factor = Factor.of(A, penalty.ridges)
        right = penalty.rotate(self.B - mean[:, None] * self.y)
        return PrimalSolution(
            factor=factor,
            B=penalty.back(factor.solve(right)),
            mean=mean,
            rates=self.y / self.total,
            total=self.total,
            penalty=penalty,
        )


@dataclass(frozen=True)
class PrimalSolution:
    """A solution ``B`` (Q, L), and what leave-one-out needs.

    ``mean`` (Q,) of the columns, base ``rates`` (L,) of the labels, ``total`` weight.
    """

    factor: Factor
    B: Array
    mean: Array
    rates: Array
    total: float
    penalty: Penalty

    def scores(self, Phi: Array) -> Array:
        """Scores (n, L) of rows Phi (n, Q)."""
        return Phi @ self.B + (self.rates - self.mean @ self.B)

    def leave_one_out(
        self,
        Phi: Array,
        Y: Array,
        w: Array,
        groups: Groups,
        precision: DTypeLike = np.float64,
    ) -> Array:
        """Scores (n, L) that rows would have if they had not been there.

        Phi (n, Q) are rows of the data with Y (n, L) and w (n,). Rows of one group are
        left out together, and are all among these. Rows of weight 0 were never there.
        Leverages of rows that are left out alone are found in ``precision``.
        """
        centred = Phi - self.mean
        scores = self.rates + centred @ self.B
        if groups is not None:
            return self._leave_groups_out(centred, scores, Y, w, groups)
        counted = namespace(w).flatnonzero(w > 0)
        if len(counted) < len(w):
            centred = centred[counted]
        leverage = self.factor.leverage(cast(centred, precision))
        leverage = w[counted, None] * (leverage + 1.0 / self.total)
        kept = namespace(Phi).maximum(1.0 - leverage, MIN_KEPT_SHARE)
        residuals = self.penalty.rotate((Y - scores)[counted]) / kept
        scores[counted] = Y[counted] - self.penalty.back(residuals)
        return scores

    def _leave_groups_out(
        self,
        centred: Array,
        scores: Array,
        Y: Array,
        w: Array,
        groups: NDArray[np.intp],
    ) -> Array:
        """Leave-group-out scores (n, L) of centred rows (n, Q) and their scores."""
        xp = namespace(centred)
        root = xp.sqrt(w)[:, None]
        intercept = root / self.total**0.5
        A = xp.concatenate([root * self.factor.half(centred), intercept], axis=1)
        left_out = residuals_by_factor(A, root * (Y - scores), groups, MIN_KEPT_SHARE)
        safe_root = xp.where(root > 0, root, 1.0)
        return xp.where(root > 0, Y - left_out / safe_root, scores)


def conjugate_gradients(
    apply: Callable[[Array], Array],
    B: Array,
    rtol: float = 1e-6,
    *,
    max_iter: int = 500,
) -> Array:
    """Find P (Q, L) with apply(P) = B up to a relative residual of ``rtol``.

    All columns are one system, so a step is one wide product.
    """
    P = namespace(B).zeros_like(B)
    residual = B
    direction = residual
    square = float((B * B).sum())
    enough = rtol**2 * square
    for _ in range(max_iter):
        if square <= enough:
            break
        product = apply(direction)
        step = square / float((direction * product).sum())
        P = P + step * direction
        residual = residual - step * product
        previous = square
        square = float((residual * residual).sum())
        direction = residual + (square / previous) * direction
    return P
