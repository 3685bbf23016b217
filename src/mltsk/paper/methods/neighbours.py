"""Nearest neighbours with a rule for ties: the same neighbours for dense and sparse rows, in any order of blocks.

Symbols: Q (Nq, D) query rows, X (N, D) stored rows, k neighbours, D2 (block, N) squared distances.

A block of D2 comes from one matrix product, ‖q‖² + ‖x‖² - 2 q·x. Its rounding errors would break ties at random (the
same product gives equal rows different last digits), so it only selects candidates: every row that may be among the
first k, rounding allowed for. Their distances are then taken from differences, and equal ones go by index. Whole
numbers below 2⁵⁰ have no rounding errors, and their many ties need no second look.
"""

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from ...core.arrays import BLOCK_BYTES, row_blocks, row_square_norms


def nearest_neighbours(Q, X, k, *, exclude_self=False, limit_bytes=BLOCK_BYTES):
    """Indices (Nq, k) of the k rows of X nearest to each row of Q, nearest first; ties: the lower index first.

    Parameters
    ----------
    Q, X : arrays or CSR of shapes (Nq, D) and (N, D)
    k : int
        At most N, or N - 1 with ``exclude_self``.
    exclude_self : bool, default=False
        Q is X: row i is not its own neighbour (its duplicates are).
    limit_bytes : int
        Bound on each temporary array.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0], [6.0], [10.0]])
    >>> nearest_neighbours(X, X, 2, exclude_self=True).tolist()
    [[1, 2], [0, 2], [1, 0], [2, 4], [3, 2]]
    """
    if sparse.issparse(Q) != sparse.issparse(X):
        Q = Q.toarray() if sparse.issparse(Q) else sparse.csr_array(Q)
    found = np.empty((Q.shape[0], k), dtype=np.intp)
    exact = _whole_numbers(Q) and _whole_numbers(X)
    for rows, D2, scale in _distance_blocks(Q, X, centred=not exact, limit_bytes=limit_bytes):
        if exclude_self:
            D2[np.arange(len(D2)), np.arange(rows.start, rows.stop)] = np.inf
        if exact:
            keep = _first_of_ties(D2, k)
            pair_row, pair_column = np.nonzero(keep)
            distance = D2[keep]
        else:
            # an inner product of D terms is off by at most about D eps/2 of the norms' sum
            slack = 4 * (X.shape[1] + 8) * np.finfo(np.float64).eps * scale
            pair_row, pair_column = np.nonzero(D2 <= (_kth(D2, k) + slack)[:, None])
            distance = _pair_distances(Q, X, pair_row + rows.start, pair_column, limit_bytes)
        found[rows] = _first_k(pair_row, pair_column, distance, len(D2), k)
    return found


def _whole_numbers(X) -> bool:
    values = X.data if sparse.issparse(X) else X
    return bool(np.array_equal(values, np.rint(values))) and float(row_square_norms(X).max(initial=0.0)) < 2**50


def _distance_blocks(Q, X, *, centred, limit_bytes) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Blocks of rows, their squared distances to X and, per row, the size of the terms that these were made of."""
    if centred and not sparse.issparse(X):  # far from 0 the expanded square would cancel
        origin = X.mean(axis=0)
        Q, X = Q - origin, X - origin
    q_norms, x_norms = row_square_norms(Q), row_square_norms(X)
    for rows in row_blocks(Q.shape[0], 8 * X.shape[0], limit_bytes):
        inner = Q[rows] @ X.T
        D2 = inner.toarray() if sparse.issparse(inner) else inner
        D2 *= -2
        D2 += x_norms
        D2 += q_norms[rows, None]
        yield rows, D2, q_norms[rows] + x_norms.max()


def _kth(D2, k):
    return np.partition(D2, k - 1, axis=1)[:, k - 1]


def _first_of_ties(D2, k):
    """Mask of exactly k entries a row: all below the kth value, and the first of those equal to it."""
    kth = _kth(D2, k)[:, None]
    below, tied = D2 < kth, D2 == kth
    room = k - below.sum(axis=1, keepdims=True)
    return below | (tied & (np.cumsum(tied, axis=1, dtype=np.int32) <= room))


def _pair_distances(Q, X, i, j, limit_bytes):
    """‖Q[i] - X[j]‖² of pairs of rows, each from its own differences: equal rows give equal numbers."""
    distance = np.empty(len(i))
    for pairs in row_blocks(len(i), 24 * X.shape[1], limit_bytes):
        a, b = Q[i[pairs]], X[j[pairs]]
        if sparse.issparse(a):
            a, b = a.toarray(), b.toarray()
        distance[pairs] = ((a - b) ** 2).sum(axis=1)
    return distance


def _first_k(pair_row, pair_column, distance, n_rows, k):
    """The columns of the k nearest pairs of every row; pairs come sorted by row and column."""
    order = np.lexsort((distance, pair_row))  # stable: equal distances stay in the order of columns
    first = np.searchsorted(pair_row, np.arange(n_rows))
    return pair_column[order][first[:, None] + np.arange(k)]
