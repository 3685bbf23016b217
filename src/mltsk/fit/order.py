"""An order of rows that does not depend on how they are stored, and samples by it.

Rows are sorted by a number computed from what they hold. Whoever takes the first rows
of this order has a random sample, and the same one for every permutation of the rows.
"""

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, Matrix, asnumpy, is_csr, row_blocks
from ..core.scales import Scaling
from .rows import Block

MAX_ORDERED_ROWS = 60_000
FIRST_MULTIPLIER = 0x9E3779B97F4A7C15  # 2⁶⁴ divided by the golden ratio, odd
SECOND_MULTIPLIER = 0xC2B2AE3D27D4EB4F  # an odd number whose bits look random


def mixed_order(block: Block, scaling: Scaling | None, n_rows: int) -> NDArray[np.intp]:
    """Positions of the rows of a block in an order that follows nothing they hold.

    It is `order_by_content` unless the data have more rows than can all be in the
    block: which are in it then depends on their order anyway.
    """
    if n_rows > MAX_ORDERED_ROWS:
        return np.random.default_rng(0).permutation(len(block.w))
    return order_by_content(block, scaling)


def order_by_content(block: Block, scaling: Scaling | None) -> NDArray[np.intp]:
    """Positions of the rows of a block, sorted by what the rows hold.

    On a scale of percentiles that is first by the knots between which values lie, so
    that the order does not depend on the units of features. Rows that hold the same
    features, labels and weights stand together.
    """
    Y = asnumpy(block.Y)
    w = asnumpy(block.row_weights)
    exact = _row_keys(block.X, first_column=0)
    exact += _row_keys(np.column_stack([Y, w]), first_column=block.X.shape[1])
    if scaling is None or not scaling.bounded or is_csr(block.X):
        return np.argsort(_mixed(exact), kind="stable")
    keys = _row_keys(_knots_below(block.X, scaling), first_column=0)
    keys += _row_keys(Y, first_column=block.X.shape[1])
    return np.lexsort([_mixed(exact), _mixed(keys)])


def _knots_below(X: Array, scaling: Scaling) -> NDArray[np.float64]:
    """How many knots of its feature are at most as large as each cell of X (n, D)."""
    counts = np.empty(X.shape)
    n_knots = scaling.n_values
    for d in range(X.shape[1]):
        knots = scaling.values[d, : n_knots[d]]
        counts[:, d] = np.searchsorted(knots, asnumpy(X[:, d]), side="right")
    return counts


def _row_keys(X: Matrix, first_column: int) -> NDArray[np.uint64]:
    """A number per row of X (n, D): the sum of one per cell that is not 0."""
    if is_csr(X):
        cells = _cell_keys(X.data, X.indices + first_column)
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(cells)])
        return sums[X.indptr[1:]] - sums[X.indptr[:-1]]
    keys = np.zeros(len(X), np.uint64)
    columns = np.arange(first_column, first_column + X.shape[1])
    for rows in row_blocks(len(X), 32 * X.shape[1]):
        keys[rows] = _cell_keys(asnumpy(X[rows]), columns).sum(axis=1)
    return keys


def _cell_keys(values: NDArray[np.float64], columns: Matrix) -> NDArray[np.uint64]:
    """A number per cell from its value and its column; 0 for a value of 0."""
    # adding 0 makes one zero of both, and all missing values have the same bits
    doubles = np.ascontiguousarray(values, dtype=np.float64) + 0.0
    bits = np.where(np.isnan(doubles), np.nan, doubles).view(np.uint64)
    salt = _mixed(columns.astype(np.uint64) + np.uint64(1))
    return _mixed(bits * (salt | np.uint64(1)))


def _mixed(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers whose bits all depend on all bits of the given ones; 0 stays 0."""
    keys = (keys ^ (keys >> np.uint64(32))) * np.uint64(FIRST_MULTIPLIER)
    keys = (keys ^ (keys >> np.uint64(29))) * np.uint64(SECOND_MULTIPLIER)
    return keys ^ (keys >> np.uint64(32))


def stratified_rows(Y: NDArray[np.float64], limit: int) -> NDArray[np.intp]:
    """At most ``limit`` rows, or all, that have each label as often as Y (n, L) does.

    A row belongs to the rarest of its labels, and of each label's rows the first ones
    are taken. Positions are in order.
    """
    n_rows = len(Y)
    if n_rows <= limit:
        return np.arange(n_rows)
    has_label = Y > 0.5  # False where a label was not observed
    counts = has_label.sum(axis=0)
    rarity = np.where(has_label, counts, n_rows + 1)
    stratum = np.where(has_label.any(axis=1), rarity.argmin(axis=1), Y.shape[1])
    by_stratum = np.argsort(stratum, kind="stable")
    sizes = np.bincount(stratum, minlength=Y.shape[1] + 1)
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    place = np.arange(n_rows) - first
    # the place within the stratum as a share of it: the lowest shares are taken
    shares = np.empty(n_rows)
    shares[by_stratum] = (place + 0.5) / np.repeat(sizes, sizes)
    return np.sort(np.argsort(shares, kind="stable")[:limit])
