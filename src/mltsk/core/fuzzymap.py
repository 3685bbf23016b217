"""The rule-mapped features G as an operator: products with G without building it, dense and CSR.   (9)-(11)

Symbols: X (N, D) samples, M (N, K) firing strengths, Xe = [1, X] (9), G = [M₁∘Xe, …, M_K∘Xe] (N, K(D+1)) (10) (11),
P (K(D+1), L) consequents, V (N, L).

G has K times the size of X and would be dense where X is sparse. Nothing needs it:

* G P = Σ_k M_k ∘ (Xe P_k): one product X [P₁ … P_K] and a contraction over rules (rule by rule where X is CSR);
* Gᵀ V stacks Xeᵀ (M_k ∘ V): one product Xᵀ [M₁∘V … M_K∘V] (likewise);
* Gᵀ G has blocks Xeᵀ diag(M_k M_l) Xe;
* G Gᵀ = (M Mᵀ) ∘ (Xe Xeᵀ), a Hadamard product: N²(K + D) instead of N² K D.
"""

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from scipy import sparse

from .arrays import Array, Matrix, cast, dense, n_entries, namespace, row_blocks, spread
from .membership import Firing, firing_strengths


def fuzzy_features(
    X: Matrix, centers: Array, widths: Array, *, underflow: Firing = "softmax"
) -> Array:
    """Dense G (N, K(D+1)), bias first in each rule.   (9)-(11)

    For small data, teaching and tests; solvers use `FuzzyMap`. Memberships are exp(-(x - c)²/width).

    Parameters
    ----------
    X : array or CSR of shape (N, D)
    centers, widths : arrays of shape (K, D)
    underflow : {"softmax", "authors"}, default="softmax"
        "authors" zeroes the row of a sample whose memberships all underflow, as the published program does.

    Examples
    --------
    >>> G = fuzzy_features(np.array([[0.0, 1.0]]), np.array([[0.0, 0.0], [1.0, 1.0]]), np.full((2, 2), 0.5))
    >>> G.tolist()
    [[0.5, 0.0, 0.5, 0.5, 0.0, 0.5]]
    """
    xp = namespace(X)
    X = sparse.csr_array(X) if sparse.issparse(X) else xp.asarray(X)
    return FuzzyMap.of(
        X, xp.asarray(centers), xp.asarray(widths), firing=underflow
    ).rows()


@dataclass(frozen=True)
class FuzzyMap:
    """G as an operator over the rows of X, whose firing strengths M are given.

    Examples
    --------
    >>> X, M = np.arange(6.0).reshape(3, 2), np.array([[1.0, 0], [0.5, 0.5], [0, 1]])
    >>> G, P = FuzzyMap(X, M), np.ones((6, 1))
    >>> G.shape, (G @ P).ravel().tolist()
    ((3, 6), [2.0, 6.0, 10.0])
    """

    X: Matrix
    M: Array

    @classmethod
    def of(
        cls, X: Matrix, C: Array, S: Array, *, firing: Firing = "softmax"
    ) -> "FuzzyMap":
        """Map of the rows of X by the rules with centres C and widths S (K, D)."""
        return cls(X, firing_strengths(X, C, S, firing=firing))

    @property
    def shape(self) -> tuple[int, int]:
        """(N, K(D+1))."""
        return self.X.shape[0], self.n_rules * (self.X.shape[1] + 1)

    @property
    def n_rules(self) -> int:
        """K."""
        return int(self.M.shape[1])

    def weighted(self, w: Array | None) -> "FuzzyMap":
        """The map whose rows are scaled by √w: its Gram matrix and products are the weighted ones."""
        if w is None or bool((w == 1).all()):
            return self
        return FuzzyMap(self.X, self.M * namespace(w).sqrt(w)[:, None])

    def take(self, rows: "slice | np.ndarray") -> "FuzzyMap":
        """The map of some rows."""
        return FuzzyMap(self.X[rows], self.M[rows])

    def astype(self, dtype: "np.dtype[Any] | type") -> "FuzzyMap":
        """In another precision."""
        return FuzzyMap(cast(self.X, dtype), cast(self.M, dtype))

    def __abs__(self) -> "FuzzyMap":
        return FuzzyMap(abs(self.X), self.M)

    def rows(self, rows: slice = slice(None)) -> Array:
        """A dense block of rows of G."""
        X, M, xp = dense(self.X[rows]), self.M[rows], namespace(self.M)
        G = xp.empty(
            (len(X), self.n_rules, X.shape[1] + 1), dtype=xp.result_type(X, M), like=M
        )
        G[:, :, 0] = M
        xp.multiply(M[:, :, None], X[:, None, :], out=G[:, :, 1:])
        return G.reshape(len(X), self.shape[1])

    def __matmul__(self, P: Array) -> Array:
        """G P, (N, L)."""
        (N, D), K, L, xp = self.X.shape, self.n_rules, P.shape[1], namespace(P)
        cube = P.reshape(K, D + 1, L)
        if sparse.issparse(self.X):
            flops = 2.0 * n_entries(self.X) * K * L
            terms = spread(
                lambda k: self.M[:, [k]] * (self.X @ cube[k, 1:]), range(K), flops
            )
            return np.asarray(sum(terms, start=self.M @ cube[:, 0]))
        linear = xp.swapaxes(cube[:, 1:], 0, 1).reshape(D, K * L)
        out = self.M @ cube[:, 0]
        for rows in row_blocks(N, 8 * K * L, like=P):
            block = (self.X[rows] @ linear).reshape(-1, K, L)
            out[rows] += xp.einsum("nk,nkl->nl", self.M[rows], block)
        return out

    def transpose_matmul(self, V: Array) -> Array:
        """Gᵀ V, (K(D+1), L)."""
        (N, D), K, L, xp = self.X.shape, self.n_rules, V.shape[1], namespace(V)
        out = xp.empty((K, D + 1, L), dtype=xp.result_type(self.M, V), like=V)
        out[:, 0] = self.M.T @ V
        if sparse.issparse(self.X):
            flops = 2.0 * n_entries(self.X) * K * L
            for k, term in enumerate(
                spread(lambda k: self.X.T @ (self.M[:, [k]] * V), range(K), flops)
            ):
                out[k, 1:] = term
        else:
            linear = xp.zeros((D, K * L), dtype=out.dtype, like=V)
            for rows in row_blocks(N, 8 * K * L, like=V):
                linear += self.X[rows].T @ (
                    self.M[rows, :, None] * V[rows, None, :]
                ).reshape(-1, K * L)
            out[:, 1:] = xp.swapaxes(linear.reshape(D, K, L), 0, 1)
        return out.reshape(K * (D + 1), L)

    def gram(self) -> Array:
        """Gᵀ G, (K(D+1), K(D+1)), of arrays: summed over blocks of rows, or of CSR pair by pair of rules."""
        (N, width), K = self.shape, self.n_rules
        A = np.zeros((width, width), dtype=np.result_type(self.X.dtype, self.M))
        if not sparse.issparse(self.X):
            for rows in row_blocks(N, A.itemsize * width):
                G = self.rows(rows)
                A += G.T @ G  # NumPy sees the transpose and calls SYRK: half the flops
            return A
        cube = A.reshape(K, width // K, K, width // K)
        for k, l in combinations_with_replacement(range(K), 2):  # noqa: E741 - k, l are the paper's rule indices
            m, block = self.M[:, k] * self.M[:, l], cube[k, :, l]
            block[0, 0] = m.sum()
            block[0, 1:] = block[1:, 0] = self.X.T @ m
            block[1:, 1:] = (
                self.X.T @ sparse.csr_array(self.X.multiply(m[:, None]))
            ).toarray()
            cube[l, :, k] = block.T
        return A

    def dual_gram(self) -> Array:
        """G Gᵀ (N, N) of arrays, as (M Mᵀ) ∘ (Xe Xeᵀ)."""
        N = self.shape[0]
        out = np.empty((N, N), dtype=np.result_type(self.X.dtype, self.M))
        for rows in row_blocks(N, 3 * out.itemsize * N):
            np.add(dense(self.X[rows] @ self.X.T), 1.0, out=out[rows])
            out[rows] *= self.M[rows] @ self.M.T
        return out
