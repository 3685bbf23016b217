"""The columns of the ridge problem: terms of the general rule and firing strengths of the exceptions.

Symbols: Z (N, D) scaled samples, T (N, P) terms, M (N, K) firing strengths, V the total variance of Z,
Φ = [√a T, √b M ∘ (1, Z/√V)] (N, Q); order 0 has no Z in it. a and b are the block weights: one ridge then shrinks both.

The kernel of the whole, Φ Φᵀ = a T Tᵀ + b (M Mᵀ) ∘ (1 + Z Zᵀ/V), needs no Φ.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.arrays import Array, Matrix, dense, row_blocks
from ..core.backend import cast, namespace
from ..core.fuzzymap import FuzzyMap
from ..core.membership import Underflow, firing_strengths
from ..core.terms import Terms
from .scale import Scale


@dataclass(frozen=True)
class Rules:
    """IF-parts of the exceptions: ``centers`` (K, D) on the scale, one ``width`` for all, ``order`` of THEN-parts.

    Zero-order rules fire by themselves: a sample far from all of them is no exception. First-order rules share samples
    out among them, as in the paper: their slopes stand for a whole region. Each is the better one for its order
    (docs/decisions.md).
    """

    centers: Array
    width: float
    order: int

    def __len__(self) -> int:
        return len(self.centers)

    @property
    def underflow(self) -> Underflow:
        """How firing strengths are normalised."""
        return "softmax" if self.order else "plain"

    def firing(self, Z: Matrix) -> Array:
        """Memberships (N, K) in [0, 1]: exp(-‖z - c‖² / width), shared out for order 1; in double precision."""
        xp = namespace(self.centers)
        if not len(self):
            return xp.zeros((Z.shape[0], 0), like=self.centers)
        widths = xp.full_like(self.centers, self.width)
        return cast(firing_strengths(Z, self.centers, widths, underflow=self.underflow), np.float64)


@dataclass(frozen=True)
class Design:
    """Φ as an operator on scaled rows; ``general`` and ``exceptions`` are the block weights a and b."""

    scale: Scale
    rules: Rules
    general: float = 1.0
    exceptions: float = 1.0

    @property
    def terms(self) -> Terms:
        """Of the general rule."""
        return self.scale.terms

    @property
    def n_columns(self) -> int:
        """Q."""
        per_rule = self.rules.centers.shape[1] + 1 if self.rules.order else 1
        return len(self.terms) + len(self.rules) * per_rule

    def memberships(self, Z: Matrix) -> Matrix:
        """T of scaled rows, perhaps CSR, in double precision."""
        return cast(self.terms.memberships(Z, self.scale.scaling), np.float64)

    def _right(self, Z: Matrix) -> FuzzyMap:
        """M ∘ (1, Z/√V) as an operator, in double precision."""
        return FuzzyMap(cast(Z, np.float64) * self.scale.variance**-0.5, self.rules.firing(Z))

    def rows(self, Z: Matrix) -> Array:
        """Φ of scaled rows, dense, in double precision."""
        T = dense(self.memberships(Z))
        M = self._right(Z).rows() if self.rules.order else self.rules.firing(Z)
        return namespace(T).concatenate([self.general**0.5 * T, self.exceptions**0.5 * M], axis=1)

    def kernel(self, Z: Matrix) -> Array:
        """Φ Φᵀ (N, N) in double precision."""
        K = gram(self.memberships(Z))
        inner = (gram(Z) if self.scale.has_ramps else K) if self.rules.order else None
        M = self.rules.firing(Z)
        # some rows at a time, in place: at thousands of rows, writing arrays takes longer than computing them
        for rows in row_blocks(len(K), 8 * len(K), 2**23, like=K) if len(self.rules) else ():
            part = self._firing_kernel(M[rows], M, None if inner is None else inner[rows])
            part *= self.exceptions / self.general
            K[rows] += part
        K *= self.general
        return K

    def exception_kernel(self, Z: Matrix, inner: Array | None = None) -> Array:
        """(M Mᵀ) ∘ (1 + Z Zᵀ/V), without its weight; ``inner`` is Z Zᵀ where that is there already."""
        M = self.rules.firing(Z)
        inner = gram(Z) if inner is None and self.rules.order else inner
        return self._firing_kernel(M, M, inner if self.rules.order else None)

    def _firing_kernel(self, M: Array, other: Array, inner: Array | None) -> Array:
        K = M @ other.T
        if inner is not None:
            K *= 1.0 + inner * (1.0 / self.scale.variance)
        return K

    def transposed(self, Z: Matrix, A: Array) -> Array:
        """Φᵀ A (Q, L)."""
        xp = namespace(A)
        parts = [self.general**0.5 * xp.asarray(self.memberships(Z).T @ A)]
        if len(self.rules):
            below = self._right(Z).transpose_matmul(A) if self.rules.order else self.rules.firing(Z).T @ A
            parts.append(self.exceptions**0.5 * below)
        return xp.concatenate(parts)

    def times(self, Z: Matrix, B: Array) -> Array:
        """Φ B (N, L)."""
        P, xp = len(self.terms), namespace(B)
        out = self.general**0.5 * xp.asarray(self.memberships(Z) @ B[:P])
        if len(self.rules):
            right = self._right(Z) @ B[P:] if self.rules.order else self.rules.firing(Z) @ B[P:]
            out = out + self.exceptions**0.5 * right
        return out

    def coefficients(self, B: Any) -> tuple[Any, Any]:
        """Of columns B (Q, L): numbers of the terms (P, L), and of the rules (K, 1 or D + 1, L), intercept first."""
        P, K = len(self.terms), len(self.rules)
        coef = self.exceptions**0.5 * B[P:].reshape(K, -1, B.shape[1]) if K else np.zeros((0, 1, B.shape[1]))
        coef[:, 1:] *= self.scale.variance**-0.5
        return self.general**0.5 * B[:P], coef


def gram(T: Matrix) -> Array:
    """T Tᵀ, dense, in double precision."""
    return cast(dense(T @ T.T), np.float64)
