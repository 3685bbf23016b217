"""The columns of the ridge problem: terms of the general rule and firing strengths of the exceptions.

Symbols: Z (N, D) scaled samples, T (N, P) terms, M (N, K) firing strengths, V the total variance of Z,
Φ = [√a T, √b M ∘ (1, Z/√V)] (N, Q); order 0 has no Z in it. a and b are the block weights: one ridge then shrinks both.

T of triangles and trapezoids are their ramps times H (`Terms.heights`).

The kernel of the whole, Φ Φᵀ = a T Tᵀ + b (M Mᵀ) ∘ (1 + Z Zᵀ/V), needs no Φ.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..core.arrays import (
    Array,
    Matrix,
    cast,
    dense,
    is_tensor,
    namespace,
    put,
    row_blocks,
    row_square_norms,
    unit_rows,
    weighted_mean_and_sd,
)
from ..core.fuzzymap import FuzzyMap
from ..core.membership import Firing, firing_strengths
from ..core.terms import PERCENTILE_TERMS, Scaling, Terms, fit_scaling
from ..exceptions import InputError

# A sparse matrix that is at least this full is multiplied faster as a dense array (SciPy's sparse products run on one
# thread), if it then takes at most DENSE_BYTES.
DENSE_SHARE, DENSE_BYTES = 0.01, 10**9
OVERLAPPING = (
    "triangles",
    "trapezoids",
)  # scales whose ramps lie between terms that overlap
LARGEST = 1e200  # variance of scaled samples whose products are still finite


@dataclass(frozen=True)
class Scale:
    """``name`` of the scale, its ``scaling`` where it has one, the ``terms`` of the general rule on it,
    and the total ``variance`` of scaled samples, the yardstick of widths and slopes."""

    name: str | None
    scaling: Scaling | None
    terms: Terms
    variance: float

    @classmethod
    def of(
        cls,
        X: Matrix,
        w: Array,
        name: str | None,
        shares: Array | None = None,
        monotone: NDArray[np.bool_] | None = None,
        n_given: int = 0,
    ) -> "tuple[Scale, Matrix]":
        """Fitted to rows X under the weights w, with X on it; "auto" is "quantile" for dense and "unit" for sparse.

        ``shares`` (D,) say how much columns count in distances, ``monotone`` (D,) which may have one ramp alone. The
        last ``n_given`` columns are those of given rules, whose terms count from 0 and not from their mean.
        """
        name = (
            ("unit" if sparse.issparse(X) else "quantile") if name == "auto" else name
        )
        if sparse.issparse(X) and name not in ("unit", None):
            raise InputError(
                f"scale={name!r} would make sparse X dense: use scale='unit' or None, or X.toarray()."
            )
        if name == "unit" and not sparse.issparse(X) and not bool((X == X).all()):
            raise InputError(
                "scale='unit' needs every cell of a row to give it unit length: take another scale."
            )
        how = "quantile" if name in PERCENTILE_TERMS else name
        scaling = (
            None if how is None or how == "unit" else fit_scaling(X, w, how, shares)
        )
        if scaling is not None and how == "quantile":
            terms = Terms.ramps(scaling, monotone, str(name))
        else:
            terms = Terms.linear(X.shape[1])
        Z = cls(name, scaling, terms, 1.0).apply(X)
        terms = terms.averaged(Z, scaling, w)
        terms = terms.from_zero(X.shape[1] - n_given) if n_given else terms
        if (
            name == "unit"
        ):  # mean square length less the square of the mean: lengths are 1, so nothing cancels
            mean = terms.mean
            variance = float(w @ row_square_norms(Z)) / float(w.sum()) - float(
                mean @ mean
            )
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                mean, sd = weighted_mean_and_sd(Z, w)
                variance = float((sd**2).sum())
            if not variance < LARGEST:
                raise InputError(
                    f"X holds numbers too large for scale={name!r}: take 'quantile', or smaller units."
                )
        varies = variance > 1e-12 * (
            variance + float(mean @ mean)
        )  # rows that are all the same have any yardstick
        return cls(name, scaling, terms, variance if varies else 1.0), Z

    @cached_property
    def heights(self) -> sparse.csr_array:
        """How ramps become columns of which the ridge shrinks heights, for the scales OVERLAPPING."""
        return self.terms.heights()

    def general(self, Z: Matrix) -> Matrix:
        """Columns of the general rule (N, P) of scaled rows, its terms, perhaps CSR, in double precision."""
        T = cast(self.terms.memberships(Z, self.scaling), np.float64)
        if self.name in OVERLAPPING:
            return T @ (
                put(self.heights.toarray(), T) if is_tensor(T) else self.heights
            )
        return T

    def apply(self, X: Matrix) -> Matrix:
        """Rows on this scale, dense where that pays."""
        if self.scaling is not None:
            return self.scaling.apply(X)
        Z = unit_rows(X) if self.name == "unit" else X
        if not sparse.issparse(Z):
            return Z
        size = Z.shape[0] * Z.shape[1]
        return (
            Z.toarray()
            if 8 * size <= DENSE_BYTES and Z.nnz >= DENSE_SHARE * size
            else Z
        )


@dataclass(frozen=True)
class Rules:
    """IF-parts of the exceptions: ``centers`` (K, D) on the scale, one ``width`` for all, ``order`` of THEN-parts.

    Zero-order rules fire by themselves: a sample far from all of them is no exception. First-order rules share samples
    out among them, as in the paper: their slopes stand for a whole region. Each is the better one for its order
    (docs/decisions.md). ``firing`` is what `firing_strengths` calls that: "plain" and "softmax", or "minimum" for
    zero-order rules whose conditions are joined by their minimum.
    """

    centers: Array
    width: float
    order: int
    firing: Firing = "plain"


@dataclass(frozen=True)
class Design:
    """Φ as an operator on scaled rows; ``general`` and ``exceptions`` are the block weights a and b."""

    scale: Scale
    rules: Rules
    general: float = 1.0
    exceptions: float = 1.0

    @property
    def shape(self) -> tuple[int, int, int]:
        """(P, K, Q)."""
        P, (K, D) = len(self.scale.terms.feature), self.rules.centers.shape
        return P, K, P + K * (D + 1 if self.rules.order else 1)

    def firing(self, Z: Matrix) -> Array:
        """M of scaled rows, in [0, 1]: exp(-‖z - c‖² / width), shared out for order 1; in double precision."""
        C, scaling = self.rules.centers, self.scale.scaling
        widths = namespace(C).full_like(C, self.rules.width)
        share = None if scaling is None else scaling.share
        return cast(
            firing_strengths(Z, C, widths, firing=self.rules.firing, share=share),
            np.float64,
        )

    def _slopes(self, Z: Matrix) -> FuzzyMap:
        """M ∘ (1, Z/√V) as an operator, in double precision."""
        filled = cast(self.scale.terms.filled(Z), np.float64)
        return FuzzyMap(filled * self.scale.variance**-0.5, self.firing(Z))

    def rows(self, Z: Matrix) -> Array:
        """Φ of scaled rows, dense, in double precision."""
        T = dense(self.scale.general(Z))
        M = self._slopes(Z).rows() if self.rules.order else self.firing(Z)
        return namespace(T).concatenate(
            [self.general**0.5 * T, self.exceptions**0.5 * M], axis=1
        )

    def kernel(self, Z: Matrix) -> Array:
        """Φ Φᵀ (N, N) in double precision."""
        K = gram(self.scale.general(Z))
        if len(self.rules.centers):
            inner = None
            if self.rules.order:
                inner = (
                    gram(self.scale.terms.filled(Z))
                    if self.scale.terms.low is not None
                    else K
                )
            self.exception_kernel(Z, inner, into=K)
        K *= self.general
        return K

    def exception_kernel(
        self, Z: Matrix, inner: Array | None, into: Array | None = None
    ) -> Array:
        """(M Mᵀ) ∘ (1 + Z Zᵀ/V), ``inner`` = Z Zᵀ for order 1; times b / a it is added to ``into`` where that is given.

        Some rows at a time, in place: at thousands of rows, writing arrays takes longer than computing them.
        """
        M = self.firing(Z)
        out = namespace(M).zeros((len(M), len(M)), like=M) if into is None else into
        for rows in row_blocks(len(M), 8 * len(M), 2**23, like=M):
            part = M[rows] @ M.T
            if self.rules.order and inner is not None:
                part *= 1.0 + inner[rows] * (1.0 / self.scale.variance)
            out[rows] += (
                part if into is None else part * (self.exceptions / self.general)
            )
        return out

    def transposed(self, Z: Matrix, A: Array) -> Array:
        """Φᵀ A (Q, L)."""
        xp = namespace(A)
        parts = [self.general**0.5 * xp.asarray(self.scale.general(Z).T @ A)]
        if len(self.rules.centers):
            below = (
                self._slopes(Z).transpose_matmul(A)
                if self.rules.order
                else self.firing(Z).T @ A
            )
            parts.append(self.exceptions**0.5 * below)
        return xp.concatenate(parts)

    def times(self, Z: Matrix, B: Array) -> Array:
        """Φ B (N, L)."""
        (P, K, _), xp = self.shape, namespace(B)
        out = self.general**0.5 * xp.asarray(self.scale.general(Z) @ B[:P])
        if K:
            right = (
                self._slopes(Z) @ B[P:] if self.rules.order else self.firing(Z) @ B[P:]
            )
            out = out + self.exceptions**0.5 * right
        return out

    def coefficients(self, B: Any, mean: Any, rates: Any) -> tuple[Any, Any, Any]:
        """(intercept, numbers of the terms (P, L), those of the rules (K, 1 or D + 1, L), intercept first).

        Of columns B (Q, L) whose ``mean`` is (Q, L), for labels of base ``rates`` (L,). Terms count as their distance
        from their own mean, which may be another one: then the difference is in the intercept.
        """
        P, K, _ = self.shape
        coef = (
            self.exceptions**0.5 * B[P:].reshape(K, -1, B.shape[1])
            if K
            else np.zeros((0, 1, B.shape[1]))
        )
        coef[:, 1:] *= self.scale.variance**-0.5
        general = self.general**0.5 * B[:P]
        general = (
            self.scale.heights @ general if self.scale.name in OVERLAPPING else general
        )
        return (
            rates - np.einsum("ql,ql->l", mean, B) + self.scale.terms.mean @ general,
            general,
            coef,
        )


def gram(T: Matrix) -> Array:
    """T Tᵀ, dense, in double precision."""
    G = T @ T.T
    return cast(G.toarray() if sparse.issparse(G) else G, np.float64)
