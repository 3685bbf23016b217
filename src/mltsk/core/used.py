"""Features of sparse samples that the training data use, and all others as one.

A vocabulary may have a million words of which the training data use a thousand. A model
is then about columns for the used features and one last column for all others: the
length of a sample in these. It is 0 in the training data, so it has no effect of its
own, but a sample has the same length, and the same distance from every rule, as it has
with all of its features.

Symbols: N samples, F features, U of them used, D = U + 1 columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .arrays import Array, Matrix, cast, is_csr, namespace
from .magnitude import unit_rows

# Features are left out if at most this share of them is used.
MAX_USED_SHARE = 0.5
OTHER_FEATURES = "other features"  # what the last column is called


@dataclass(frozen=True, eq=False)
class UsedFeatures:
    """Which features have a column of their own.

    Parameters
    ----------
    positions : array of int of shape (U,)
        Positions of these features among all F, rising.
    n_features : int
        F.
    """

    positions: NDArray[np.intp]
    n_features: int

    @classmethod
    def of(cls, X: Matrix) -> "UsedFeatures | None":
        """Features that samples X (N, F) use.

        None if X is dense, or most of its features are used, or none is.
        """
        if not is_csr(X):
            return None
        n_features = X.shape[1]
        is_used = np.zeros(n_features, dtype=bool)
        is_used[X.indices] = True
        positions = np.flatnonzero(is_used)
        if not 0 < len(positions) <= MAX_USED_SHARE * n_features:
            return None
        return cls(positions, n_features)

    @property
    def n_columns(self) -> int:
        """The number D of columns."""
        return len(self.positions) + 1

    def columns(self, X: Matrix) -> Matrix:
        """Samples X (N, F) in their columns, (N, D)."""
        is_other = np.ones(self.n_features, dtype=bool)
        is_other[self.positions] = False
        used = X[:, self.positions]
        lengths = _row_lengths(X[:, np.flatnonzero(is_other)])[:, None]
        if is_csr(X):
            column = sparse.csr_array(lengths, dtype=X.dtype)
            return sparse.hstack([used, column], format="csr")
        return namespace(X).concatenate([used, cast(lengths, X.dtype)], axis=1)

    def names(self, names: Sequence[str]) -> tuple[str, ...]:
        """Names of the columns, from those of all features."""
        return (*(names[d] for d in self.positions), OTHER_FEATURES)

    def per_feature(self, values: NDArray[Any], axis: int) -> NDArray[Any]:
        """Values with an entry per column along an axis as those with one per feature.

        An intercept before them stays; values that have no entry per column, too.
        """
        n_before = values.shape[axis] - self.n_columns
        if n_before < 0:
            return values
        column = np.full(n_before + self.n_features, n_before + len(self.positions))
        column[:n_before] = np.arange(n_before)
        column[n_before + self.positions] = n_before + np.arange(len(self.positions))
        return np.take(values, column, axis=axis)


def _row_lengths(X: Matrix) -> Array:
    """Euclidean length (N,) of each row of X (N, D).

    It is finite also where a sum of squares would be larger than all numbers.
    """
    directions = unit_rows(X)
    if is_csr(X):
        return np.asarray(X.multiply(directions).sum(axis=1)).ravel()
    return namespace(X).einsum("nd,nd->n", X, directions)
