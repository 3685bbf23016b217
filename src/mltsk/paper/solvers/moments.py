"""What solvers need to know of the data: additive statistics of the rows, or an operator that stands for them.

Symbols: G (N, Md) rule-mapped features with Md = K(D+1), Y (N, L) targets, w (N,) weights; A = Gᵀ W G, B = Gᵀ W Y,
yy = Σ w y². The loss ½‖G P - Y‖² is ½ Tr(PᵀAP) - Tr(PᵀB) + ½ yy, so nothing else of the data enters a solver. Where A
would be larger than the data that make it, `MatrixFree` answers the same questions by passing over the rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from ...core.arrays import Array, n_entries
from ...core.fuzzymap import FuzzyMap

# A is formed only below this size: 400 MB is K(D+1) = 7071 in float64. Above, A would outweigh the data it sums up
# (bibtex with 10 rules: 2.7 GB against 4 MB of entries).
GRAM_BYTES = 400 * 10**6


@dataclass(frozen=True)
class Moments:
    """A = Gᵀ W G (Md, Md), B = Gᵀ W Y (Md, L), yy = Σ w y² and the total weight of some rows."""

    A: Array
    B: Array
    yy: float
    weight: float

    @classmethod
    def of(cls, G: FuzzyMap, Y: Array, w: Array | None = None) -> "Moments":
        """Moments of the rows of G and Y under the weights w."""
        Gw, Yw = G.weighted(w), weighted(Y, w)
        return cls(Gw.gram(), Gw.transpose_matmul(Yw), float(np.vdot(Yw, Yw)), float(len(Y) if w is None else w.sum()))

    def astype(self, dtype: "np.dtype[Any] | type") -> "Moments":
        """In another precision."""
        return Moments(self.A.astype(dtype), self.B.astype(dtype), self.yy, self.weight)

    def apply(self, P: Array) -> Array:
        """A P."""
        return self.A @ P

    @cached_property
    def norm(self) -> float:
        """‖A‖₂, the largest eigenvalue."""
        return largest_eigenvalue(self.apply, len(self.A))

    @cached_property
    def bound(self) -> Array:
        """A diagonal (Md, 1) that dominates A, see `dominating_diagonal`."""
        absolute = abs(self.A)
        return dominating_diagonal(lambda v: absolute @ v, self.norm, len(self.A))


@dataclass(frozen=True)
class MatrixFree:
    """The same quadratic without A: A P = Gᵀ(G P), for maps that are long, wide or sparse; G and Y scaled by √w."""

    G: Any  # a FuzzyMap, or what has its products
    Y: Array

    @classmethod
    def of(cls, G: FuzzyMap, Y: Array, w: Array | None = None) -> "MatrixFree":
        """The operator form of the moments of the rows of G and Y under the weights w."""
        return cls(G.weighted(w), weighted(Y, w))

    @cached_property
    def B(self) -> Array:
        """Gᵀ W Y."""
        return self.G.transpose_matmul(self.Y)

    @cached_property
    def yy(self) -> float:
        """Σ w y²."""
        return float(np.vdot(self.Y, self.Y))

    def apply(self, P: Array) -> Array:
        """A P, in two passes over the rows."""
        return self.G.transpose_matmul(self.G @ P)

    @cached_property
    def norm(self) -> float:
        """‖A‖₂, the largest eigenvalue."""
        return largest_eigenvalue(self.apply, self.G.shape[1])

    @cached_property
    def bound(self) -> Array:
        """A diagonal (Md, 1) that dominates A, see `dominating_diagonal`."""
        G = FuzzyMap(abs(self.G.X), self.G.M)
        return dominating_diagonal(lambda v: G.transpose_matmul(G @ v), self.norm, self.G.shape[1])


Quadratic: TypeAlias = Moments | MatrixFree  # the loss, however A is kept


def weighted(Y: Array, w: Array | None) -> Array:
    """Rows scaled by √w."""
    return Y if w is None else Y * np.sqrt(w)[:, None]


def quadratic(G: FuzzyMap, Y: Array, w: Array | None = None, *, n_products: int = 100) -> Moments | MatrixFree:
    """`Moments` or `MatrixFree`, whichever makes ``n_products`` products with A cheaper within the memory allowed."""
    (N, width), entries, L = G.shape, n_entries(G.X), Y.shape[1]
    # A sparse flop costs about 16 dense ones (0.3 s per product against 0.02 s at equal flops, bibtex with 10 rules).
    per_pass = 4 * entries * G.n_rules * L * (16 if G.is_sparse else 1)
    form = N * width**2 if not G.is_sparse else 16 * entries**2 / N * G.n_rules**2
    cheaper = form + n_products * 2 * width**2 * L < n_products * per_pass
    return (Moments if cheaper and G.M.itemsize * width**2 <= GRAM_BYTES else MatrixFree).of(G, Y, w)


def largest_eigenvalue(apply: Callable[[Array], Array], n: int) -> float:
    """Largest eigenvalue of a positive semidefinite operator, by Lanczos from a fixed start: same data, same number."""
    if n <= 2:
        return float(np.linalg.eigvalsh(apply(np.eye(n)))[-1])
    v0 = np.cos(np.arange(n))  # touches every coordinate, favours none
    if not np.any(apply(v0[:, None])):
        return 0.0  # every membership underflowed: A is 0, which Lanczos cannot start on
    operator = LinearOperator((n, n), matvec=lambda v: apply(v.reshape(-1, 1)).ravel(), dtype=np.float64)
    return float(eigsh(operator, k=1, which="LA", v0=v0, return_eigenvectors=False)[0])


def dominating_diagonal(absolute: Callable[[Array], Array], norm: float, n: int) -> Array:
    """A diagonal D (n, 1) with D - A positive semidefinite: step sizes 1/D instead of one 1/‖A‖ for all.

    For any v > 0, D = |A|v / v dominates A (scaled by v, D - A is diagonally dominant), and so does that of any larger
    |A|. v = √(|A|1) gives the rare columns of text data long steps: 60 steps instead of 156 to the same certificate on
    rcv1s1. Where features have both signs |A| is far above A and ‖A‖ is the better bound; it is returned then.
    """
    tiny = np.finfo(np.float64).tiny
    v = np.sqrt(np.maximum(absolute(np.ones((n, 1))), 1e-12 * max(norm, tiny)))
    D = np.maximum(absolute(v) / v, 1e-12 * norm)
    return D if float(np.log(D).mean()) < np.log(max(norm, tiny)) else np.full_like(D, norm)
