"""Symmetric matrices plus a ridge, factorised."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, get_lapack_funcs

from ..core.arrays import Array, cast, is_tensor, namespace, put
from ..core.threads import factor_threads
from ..exceptions import InputError

HALVED_COLUMNS = 250  # that are multiplied at a time


class SingularError(InputError):
    """A matrix has no Cholesky factor: the user's ridge is too small for the data."""


@dataclass(frozen=True)
class Factor:
    """A symmetric matrix plus each of the ridges, factorised.

    One ridge has a Cholesky factor, ``lower`` (n, n). Several have the eigenvalues
    ``values`` (n,) and ``vectors`` (n, n) of the matrix.
    """

    tau: NDArray[np.float64]
    lower: Any = None
    values: Any = None
    vectors: Any = None

    @classmethod
    def of(cls, A: Array, tau: NDArray[np.float64]) -> "Factor":
        """Factorise A (n, n) + τI for the ridges (1,) or (L,); A is overwritten."""
        if len(tau) > 1:
            values, vectors = _eigenvalues(A)
            return cls(tau, values=values, vectors=vectors)
        lower, failed = _cholesky(A, float(tau[0]))
        if failed:
            raise SingularError(
                f"The problem is singular with a ridge of {tau[0]:g}: take a larger "
                "one, such as ridge=1, or leave it at 'auto'."
            )
        return cls(tau, lower=lower)

    @property
    def _inverses(self) -> Array:
        """1 / (eigenvalue + ridge), (n, L)."""
        return 1.0 / (self.values[:, None] + put(self.tau, self.values))

    def solve(self, B: Array) -> Array:
        """(A + τI)⁻¹ B for B (n, L), each column with its own ridge."""
        if self.lower is None:
            return self.vectors @ ((self.vectors.T @ B) * self._inverses)
        if is_tensor(B):
            return namespace(B).cholesky_solve(B, self.lower)
        if not len(B):
            return B
        with factor_threads(len(self.lower)):
            return get_lapack_funcs("potrs", (B,))(self.lower.T, B, lower=0)[0]

    def inverse_diagonal(self) -> Array:
        """Diagonal of (A + τI)⁻¹, (n, 1 or L).

        A Cholesky factor is overwritten by its inverse, whose columns are squared.
        """
        if self.lower is None:
            return self.vectors**2 @ self._inverses
        if is_tensor(self.lower):
            inverse = namespace(self.lower).cholesky_inverse(self.lower)
            return inverse.diagonal()[:, None]
        inverse = self._inverted(overwrites=True)
        return np.einsum("ij,ij->i", inverse, inverse)[:, None]

    def inverse(self, label: int = 0) -> Array:
        """(A + τI)⁻¹ (n, n), of several ridges for that of a label."""
        if self.lower is None:
            return (self.vectors * self._inverses[:, label]) @ self.vectors.T
        if is_tensor(self.lower):
            return namespace(self.lower).cholesky_inverse(self.lower)
        inverse = self._inverse_upper
        return inverse @ inverse.T

    def leverage(self, rows: Array) -> Array:
        """φ (A + τI)⁻¹ φᵀ of rows φ (N, n): (N, 1 or L)."""
        if self.lower is None:
            return (rows @ self.vectors) ** 2 @ self._inverses
        half = self.half(rows)
        return namespace(rows).einsum("nq,nq->n", half, half)[:, None]

    def half(self, rows: Array) -> Array:
        """Rows φ (N, n) whose products are φ (A + τI)⁻¹ φᵀ, for one ridge."""
        if self.lower is None:
            raise ValueError("rows are halved by one ridge for all labels")
        if is_tensor(rows):
            solve = namespace(rows).linalg.solve_triangular
            return solve(self.lower, rows.T, upper=False).T
        if not rows.size:
            return rows
        inverse = self._inverse_upper
        if rows.dtype == np.float32:
            inverse = self._inverse_upper_single
        halved = np.empty_like(rows)
        for start in range(0, len(inverse), HALVED_COLUMNS):
            # what lies below the diagonal is 0 and need not be multiplied
            stop = min(start + HALVED_COLUMNS, len(inverse))
            halved[:, start:stop] = rows[:, :stop] @ inverse[:stop, start:stop]
        return halved

    @cached_property
    def _inverse_upper(self) -> Array:
        """The inverse of the Cholesky factor: products are faster than solving.

        It is transposed, so its cells are in the order that BLAS has.
        """
        return self._inverted()

    def _inverted(self, *, overwrites: bool = False) -> Array:
        """The inverse of the Cholesky factor, transposed, perhaps in its place."""
        invert = get_lapack_funcs("trtri", (self.lower,))
        with factor_threads(len(self.lower)):
            return invert(self.lower.T, lower=0, overwrite_c=overwrites)[0]

    @cached_property
    def _inverse_upper_single(self) -> Array:
        return cast(self._inverse_upper, np.float32)


def _eigenvalues(A: Array) -> tuple[Array, Array]:
    """Eigenvalues of a positive semidefinite matrix, and its eigenvectors."""
    if is_tensor(A):
        values, vectors = namespace(A).linalg.eigh(A)
        return values.clamp(min=0.0), vectors
    with factor_threads(len(A)):
        values, vectors = eigh(A, overwrite_a=True, check_finite=False, driver="evd")
    return np.maximum(values, 0.0), vectors


def _cholesky(A: Array, ridge: float) -> tuple[Array, bool]:
    """The lower factor of A + ridge · I, and whether it failed; A is overwritten."""
    if is_tensor(A):
        A.diagonal().add_(ridge)
        lower, failed = namespace(A).linalg.cholesky_ex(A)
        return lower, bool(failed)
    A.flat[:: len(A) + 1] += ridge
    # LAPACK works in place on A.T, which has its order of cells
    with factor_threads(len(A)):
        upper, failed = get_lapack_funcs("potrf", (A,))(A.T, lower=0, overwrite_a=1)
    return upper.T, bool(failed)
