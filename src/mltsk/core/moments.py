"""What solvers need to know of the data: additive statistics of blocks of rows, or an operator that stands for them.

Symbols: G (N, Md) rule-mapped features with Md = K(D+1), Y (N, L) targets, w (N,) weights; A = Gᵀ W G, B = Gᵀ W Y,
yy = Σ w y². The loss ½‖G P - Y‖² is ½ Tr(PᵀAP) - Tr(PᵀB) + ½ yy, so nothing else of the data enters a solver.

Moments of two blocks of rows add up, which is how threads, a cluster or a GPU share the work. Where A would be larger
than the data that make it, `MatrixFree` answers the same questions by passing over the rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from .arrays import Array, n_entries
from .backend import cast, gram_limit, is_tensor, namespace, on_host, put
from .fuzzymap import FuzzyMap

# A is formed only below this size: 400 MB is K(D+1) = 7071 in float64. Above, A would outweigh the data it sums up
# (bibtex with 10 rules: 2.7 GB against 4 MB of entries).
GRAM_BYTES = 400 * 10**6


class Quadratic(Protocol):
    """The quadratic loss ½ Tr(PᵀAP) - Tr(PᵀB) + ½ yy, however A is kept."""

    @property
    def B(self) -> Array: ...  # noqa: D102
    @property
    def yy(self) -> float: ...  # noqa: D102
    @property
    def norm(self) -> float: ...  # noqa: D102
    @property
    def bound(self) -> Array: ...  # noqa: D102

    def apply(self, P: Array) -> Array: ...  # noqa: D102


@dataclass(frozen=True)
class Moments:
    """A = Gᵀ W G (Md, Md), B = Gᵀ W Y (Md, L), yy = Σ w y² and the total weight of a block of rows. Add them up.

    Examples
    --------
    >>> import numpy as np
    >>> G, Y = FuzzyMap(np.ones((4, 1)), np.ones((4, 1))), np.eye(4)[:, :2]
    >>> whole = Moments.of(G, Y)
    >>> parts = Moments.of(G.take(slice(0, 3)), Y[:3]) + Moments.of(G.take(slice(3, 4)), Y[3:])
    >>> bool((whole.A == parts.A).all() and whole.weight == parts.weight)
    True
    """

    A: Array
    B: Array
    yy: float
    weight: float

    @classmethod
    def of(cls, G: FuzzyMap, Y: Array, w: Array | None = None) -> "Moments":
        """Moments of the rows of G and Y under the weights w."""
        Gw, Yw = G.weighted(w), _weighted(Y, w)
        weight = float(len(Y) if w is None else w.sum())
        return cls(Gw.gram(), Gw.transpose_matmul(Yw), _square(Yw), weight)

    def __add__(self, other: "Moments") -> "Moments":
        return Moments(self.A + other.A, self.B + other.B, self.yy + other.yy, self.weight + other.weight)

    def astype(self, dtype: "np.dtype[Any] | type") -> "Moments":
        """In another precision."""
        return Moments(cast(self.A, dtype), cast(self.B, dtype), self.yy, self.weight)

    def apply(self, P: Array) -> Array:
        """A P."""
        return self.A @ P

    @cached_property
    def norm(self) -> float:
        """‖A‖₂, the largest eigenvalue."""
        return largest_eigenvalue(self.apply, len(self.A), like=self.B)

    @cached_property
    def bound(self) -> Array:
        """A diagonal (Md, 1) that dominates A, see `dominating_diagonal`."""
        absolute = abs(self.A)
        return dominating_diagonal(lambda v: absolute @ v, self.norm, len(self.A), like=self.B)


@dataclass(frozen=True)
class MatrixFree:
    """The same quadratic without A: A P = Gᵀ(G P), for maps that are long, wide or sparse."""

    G: FuzzyMap
    B: Array
    yy: float
    weight: float

    @classmethod
    def of(cls, G: FuzzyMap, Y: Array, w: Array | None = None) -> "MatrixFree":
        """The operator form of the moments of the rows of G and Y under the weights w."""
        Gw, Yw = G.weighted(w), _weighted(Y, w)
        weight = float(len(Y) if w is None else w.sum())
        return cls(Gw, Gw.transpose_matmul(Yw), _square(Yw), weight)

    def apply(self, P: Array) -> Array:
        """A P, in two passes over the rows."""
        return self.G.transpose_matmul(self.G @ P)

    @cached_property
    def norm(self) -> float:
        """‖A‖₂, the largest eigenvalue."""
        return largest_eigenvalue(self.apply, self.G.shape[1], like=self.B)

    @cached_property
    def bound(self) -> Array:
        """A diagonal (Md, 1) that dominates A, see `dominating_diagonal`."""
        G = FuzzyMap(abs(self.G.X), self.G.M)
        return dominating_diagonal(lambda v: G.transpose_matmul(G @ v), self.norm, self.G.shape[1], like=self.B)


def quadratic(G: FuzzyMap, Y: Array, w: Array | None = None, *, n_products: int = 100) -> Moments | MatrixFree:
    """`Moments` or `MatrixFree`, whichever makes ``n_products`` products with A cheaper within the memory allowed."""
    return (Moments if worth_forming(G, Y.shape[1], n_products) else MatrixFree).of(G, Y, w)


def worth_forming(G: FuzzyMap, n_labels: int, n_products: int = 100) -> bool:
    """Whether A is small enough, and ``n_products`` products with it are cheaper than as many passes over the rows."""
    N, width = G.shape
    entries = n_entries(G.X)
    # A sparse flop costs about 16 dense ones (0.3 s a product against 0.02 s at equal flops, bibtex with 10 rules).
    per_pass = 4 * entries * G.n_rules * n_labels * (16 if G.is_sparse else 1)
    per_product = 2 * width**2 * n_labels
    form = N * width**2 if not G.is_sparse else 16 * entries**2 / N * G.n_rules**2
    cheaper = form + n_products * per_product < n_products * per_pass
    return cheaper and G.M.itemsize * width**2 <= gram_limit(G.M, GRAM_BYTES)


def largest_eigenvalue(apply: Callable[[Array], Array], n: int, *, like: Array | None = None) -> float:
    """Largest eigenvalue of a positive semidefinite operator, by Lanczos from a fixed start: same data, same number.

    An operator on tensors beside ``like`` gets its vectors from the host, one at a time: they are small, A stays.
    """
    # Products in single precision are no exact operator: Lanczos would look for digits that are not there.
    single = like is not None and like.dtype.itemsize < 8
    apply, tol = on_host(_in_precision(apply, like), like), 1e-6 if single else 0.0
    if n <= 2:
        return float(np.linalg.eigvalsh(apply(np.eye(n)))[-1])
    v0 = np.cos(np.arange(n))  # touches every coordinate, favours none
    if not np.any(apply(v0[:, None])):
        return 0.0  # every membership underflowed: A is 0, which Lanczos cannot start on
    operator = LinearOperator((n, n), matvec=lambda v: apply(v.reshape(-1, 1)).ravel(), dtype=np.float64)
    return float(eigsh(operator, k=1, which="LA", v0=v0, tol=tol, return_eigenvectors=False)[0])


def dominating_diagonal(absolute: Callable[[Array], Array], norm: float, n: int, *, like: Array | None = None) -> Array:
    """A diagonal D (n, 1) with D - A positive semidefinite: step sizes 1/D instead of one 1/‖A‖ for all.

    For any v > 0, D = |A|v / v dominates A (scaled by v, D - A is diagonally dominant), and so does that of any larger
    |A|. v = √(|A|1) gives the rare columns of text data long steps: 60 steps instead of 156 to the same certificate on
    rcv1s1. Where features have both signs |A| is far above A and ‖A‖ is the better bound; it is returned then.
    """
    absolute = on_host(_in_precision(absolute, like), like)
    sums = np.maximum(absolute(np.ones((n, 1))), 1e-12 * max(norm, np.finfo(np.float64).tiny))
    v = np.sqrt(sums)
    D = np.maximum(absolute(v) / v, 1e-12 * norm)
    D = D if float(np.log(D).mean()) < np.log(max(norm, np.finfo(np.float64).tiny)) else np.full_like(D, norm)
    return put(D, like)


def _in_precision(apply: Callable[[Array], Array], like: Array | None) -> Callable[[Array], Array]:
    """An operator in single precision as one on vectors in double: NumPy would convert the matrix at every product."""
    if like is None or is_tensor(like) or like.dtype == np.float64:
        return apply
    return lambda v: apply(v.astype(like.dtype)).astype(np.float64)


def _weighted(Y: Array, w: Array | None) -> Array:
    return Y if w is None else Y * namespace(w).sqrt(w)[:, None]


def _square(Y: Array) -> float:
    return float(namespace(Y).einsum("nl,nl->", Y, Y))
