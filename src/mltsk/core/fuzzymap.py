"""Products with the rule-mapped features G, without building G. (9)-(11)

Symbols: X (N, D) samples, dense or CSR; M (N, K) firing strengths; Xe = [1, X] (9);
G = [M₁∘Xe, …, M_K∘Xe] (N, K(D+1)) (10) (11); P (K(D+1), L) consequents; V (N, L).

G has K times the size of X and would be dense where X is sparse. Nothing needs it:

* G P = Σ_k M_k ∘ (Xe P_k): one product X [P₁ … P_K] and a sum over rules; if X is CSR,
  one product per rule;
* Gᵀ V stacks Xeᵀ (M_k ∘ V): one product Xᵀ [M₁∘V … M_K∘V], or one per rule likewise;
* Gᵀ G has blocks Xeᵀ diag(M_k M_l) Xe;
* G Gᵀ = (M Mᵀ) ∘ (Xe Xeᵀ), a Hadamard product: N²(K + D) instead of N² K D.
"""

from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from .arrays import (
    CSR,
    Array,
    FloatArray,
    Matrix,
    cast,
    dense,
    is_csr,
    n_entries,
    namespace,
    row_blocks,
)
from .membership import Firing, firing_strengths
from .threads import spread


def fuzzy_features(
    X: Matrix, centers: Array, widths: Array, *, underflow: Firing = "softmax"
) -> Array:
    """Dense G (N, K(D+1)), bias first in each rule. (9)-(11)

    For small data, teaching and tests; solvers use `FuzzyMap`. Memberships are
    exp(-(x - c)²/width).

    Parameters
    ----------
    X : array or CSR of shape (N, D)
    centers, widths : arrays of shape (K, D)
    underflow : {"softmax", "authors"}, default="softmax"
        "authors" gives a row of zeros to a sample whose memberships all underflow, as
        the published program does.

    Examples
    --------
    >>> centers = np.array([[0.0, 0.0], [1.0, 1.0]])
    >>> fuzzy_features(np.array([[0.0, 1.0]]), centers, np.full((2, 2), 0.5)).tolist()
    [[0.5, 0.0, 0.5, 0.5, 0.0, 0.5]]
    """
    xp = namespace(X)
    X = sparse.csr_array(X) if sparse.issparse(X) else xp.asarray(X)
    C = xp.asarray(centers)
    S = xp.asarray(widths)
    return FuzzyMap.of(X, C, S, firing=underflow).rows()


@dataclass(frozen=True)
class FuzzyMap:
    """G (N, K(D+1)) as an operator over samples whose firing strengths are given.

    Parameters
    ----------
    X : array or CSR of shape (N, D)
    M : array of shape (N, K)
        Firing strengths.

    Examples
    --------
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> M = np.array([[1.0, 0], [0.5, 0.5], [0, 1]])
    >>> G = FuzzyMap(X, M)
    >>> G.shape, (G @ np.ones((6, 1))).ravel().tolist()
    ((3, 6), [2.0, 6.0, 10.0])
    """

    X: Matrix
    M: Array

    @classmethod
    def of(
        cls, X: Matrix, C: Array, S: Array, *, firing: Firing = "softmax"
    ) -> "FuzzyMap":
        """Map samples X (N, D) by rules with centres C and widths S (K, D)."""
        return cls(X, firing_strengths(X, C, S, firing=firing))

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of G: (N, K(D+1))."""
        return self.X.shape[0], self.n_rules * (self.X.shape[1] + 1)

    @property
    def n_rules(self) -> int:
        """The number K of rules."""
        return int(self.M.shape[1])

    def weighted(self, w: Array | None) -> "FuzzyMap":
        """Scale the rows of G by √w, w (N,): products with it are weighted ones."""
        if w is None or bool((w == 1).all()):
            return self
        return FuzzyMap(self.X, self.M * namespace(w).sqrt(w)[:, None])

    def take(self, rows: slice | NDArray[np.intp]) -> "FuzzyMap":
        """The map of a part of the samples."""
        return FuzzyMap(self.X[rows], self.M[rows])

    def astype(self, dtype: DTypeLike) -> "FuzzyMap":
        """The map in another precision."""
        return FuzzyMap(cast(self.X, dtype), cast(self.M, dtype))

    def __abs__(self) -> "FuzzyMap":
        return FuzzyMap(abs(self.X), self.M)

    def rows(self, rows: slice = slice(None)) -> Array:
        """The rows of G for a slice of samples, as a dense array (n, K(D+1))."""
        X = dense(self.X[rows])
        M = self.M[rows]
        xp = namespace(M)
        n, D = X.shape
        shape = (n, self.n_rules, D + 1)
        G = xp.empty(shape, dtype=xp.result_type(X, M), like=M)
        G[:, :, 0] = M
        xp.multiply(M[:, :, None], X[:, None, :], out=G[:, :, 1:])
        return G.reshape(n, self.shape[1])

    def __matmul__(self, P: Array) -> Array:
        """G P, (N, L), for consequents P (K(D+1), L)."""
        N, D = self.X.shape
        K = self.n_rules
        L = P.shape[1]
        consequents = P.reshape(K, D + 1, L)
        bias = consequents[:, 0]
        slopes = consequents[:, 1:]
        product = self.M @ bias
        if is_csr(self.X):

            def of_rule(k: int) -> FloatArray:
                return self.M[:, [k]] * (self.X @ slopes[k])

            return np.asarray(sum(spread(of_rule, range(K), self._flops(L)), product))
        xp = namespace(P)
        slopes = xp.swapaxes(slopes, 0, 1).reshape(D, K * L)
        for rows in row_blocks(N, 8 * K * L, like=P):
            per_rule = (self.X[rows] @ slopes).reshape(-1, K, L)
            product[rows] += xp.einsum("nk,nkl->nl", self.M[rows], per_rule)
        return product

    def transpose_matmul(self, V: Array) -> Array:
        """Gᵀ V, (K(D+1), L), for V (N, L)."""
        N, D = self.X.shape
        K = self.n_rules
        L = V.shape[1]
        xp = namespace(V)
        product = xp.empty((K, D + 1, L), dtype=xp.result_type(self.M, V), like=V)
        product[:, 0] = self.M.T @ V
        if is_csr(self.X):

            def of_rule(k: int) -> FloatArray:
                return self.X.T @ (self.M[:, [k]] * V)

            for k, slopes in enumerate(spread(of_rule, range(K), self._flops(L))):
                product[k, 1:] = slopes
        else:
            slopes = xp.zeros((D, K * L), dtype=product.dtype, like=V)
            for rows in row_blocks(N, 8 * K * L, like=V):
                fired = self.M[rows, :, None] * V[rows, None, :]
                slopes += self.X[rows].T @ fired.reshape(-1, K * L)
            product[:, 1:] = xp.swapaxes(slopes.reshape(D, K, L), 0, 1)
        return product.reshape(K * (D + 1), L)

    def _flops(self, n_columns: int) -> float:
        """Floating-point operations of a product with a CSR matrix for all rules."""
        return 2.0 * n_entries(self.X) * self.n_rules * n_columns

    def gram(self) -> FloatArray:
        """Gᵀ G, (K(D+1), K(D+1)), of NumPy arrays or CSR."""
        N, width = self.shape
        A = np.zeros((width, width), dtype=np.result_type(self.X.dtype, self.M))
        if is_csr(self.X):
            self._fill_csr_gram(A)
            return A
        for rows in row_blocks(N, A.itemsize * width):
            G = self.rows(rows)
            A += G.T @ G  # NumPy sees the transpose and calls SYRK: half the flops
        return A

    def _fill_csr_gram(self, A: FloatArray) -> None:
        """Write Gᵀ G of a CSR matrix into A, one pair of rules after another."""
        X: CSR = self.X
        K = self.n_rules
        block_width = X.shape[1] + 1
        blocks = A.reshape(K, block_width, K, block_width)
        for first, second in combinations_with_replacement(range(K), 2):
            fired = self.M[:, first] * self.M[:, second]
            sums = X.T @ fired
            block = blocks[first, :, second]
            block[0, 0] = fired.sum()
            block[0, 1:] = sums
            block[1:, 0] = sums
            weighted = sparse.csr_array(X.multiply(fired[:, None]))
            block[1:, 1:] = (X.T @ weighted).toarray()
            blocks[second, :, first] = block.T

    def dual_gram(self) -> FloatArray:
        """G Gᵀ, (N, N), of NumPy arrays or CSR, as (M Mᵀ) ∘ (Xe Xeᵀ)."""
        N = self.shape[0]
        kernel = np.empty((N, N), dtype=np.result_type(self.X.dtype, self.M))
        for rows in row_blocks(N, 3 * kernel.itemsize * N):
            np.add(dense(self.X[rows] @ self.X.T), 1.0, out=kernel[rows])
            kernel[rows] *= self.M[rows] @ self.M.T
        return kernel
