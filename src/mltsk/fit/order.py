"""An order of rows that does not depend on how they are stored, and samples by it.

Rows are sorted by a number computed from what they hold. Whoever takes the first rows
of this order has a random sample, and the same one for every permutation of the rows.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, Matrix, asnumpy, is_csr, row_blocks
from ..core.scales import Scaling
from ..core.used import UsedFeatures
from .left_out import group_codes
from .rows import Block

MAX_ORDERED_ROWS = 60_000
FIRST_MULTIPLIER = 0x9E3779B97F4A7C15  # 2⁶⁴ divided by the golden ratio, odd
SECOND_MULTIPLIER = 0xC2B2AE3D27D4EB4F  # an odd number whose bits look random
RANKED_COLUMNS = 2_000  # whose values are ranked at a time


def mixed_order(
    block: Block,
    scaling: Scaling | None,
    n_rows: int,
    used: UsedFeatures | None = None,
) -> NDArray[np.intp]:
    """Positions of the rows of a block in an order that follows nothing they hold.

    It is `order_by_content` unless the data have more rows than can all be in the
    block: which are in it then depends on their order anyway.
    """
    if n_rows > MAX_ORDERED_ROWS:
        return np.random.default_rng(0).permutation(len(block.w))
    return order_by_content(block, scaling, used)


def order_by_content(
    block: Block, scaling: Scaling | None, used: UsedFeatures | None = None
) -> NDArray[np.intp]:
    """Positions of the rows of a block, sorted by what the rows hold.

    On a scale of percentiles that is first by the knots between which values lie, so
    that the order does not depend on the units of features. Rows that hold the same
    features, labels and weights stand together. ``used`` says which features the
    columns of sparse rows are, so that those which are 0 in all rows change nothing.
    """
    Y = asnumpy(block.Y)
    changes = (Y != Y[:1]).any(axis=0)  # a label that never changes orders nothing
    Y = Y[:, changes]
    w = asnumpy(block.w)
    w = w[:, None] if w.ndim == 1 else w[:, changes]
    columns = np.arange(block.X.shape[1])
    n_features = len(columns)
    if used is not None:
        columns = used.positions
        n_features = used.n_features
    beside = n_features + np.arange(Y.shape[1] + w.shape[1])
    exact = _row_keys(block.X, columns)
    exact += _row_keys(np.column_stack([Y, w]), beside)
    if scaling is None or not scaling.bounded or is_csr(block.X):
        return np.argsort(_mixed(exact), kind="stable")
    keys = _row_keys(knots_below(block.X, scaling), columns)
    keys += _row_keys(Y, beside[: Y.shape[1]])
    return np.lexsort([_mixed(exact), _mixed(keys)])


def places_by_content(
    block: Block, scaling: Scaling | None, used: UsedFeatures | None = None
) -> NDArray[np.intp]:
    """The place of each row in an order by what rows hold, (n,).

    It does not depend on how rows are stored, nor on weights or on what stands where a
    label was not observed. Rows of a group have the same place; rows that do not count
    come last.
    """
    seen = block.without_unobserved()
    is_observed = (asnumpy(seen.w) > 0).astype(np.float64)
    unweighted = Block(seen.X, seen.Y, is_observed)
    order = order_by_content(unweighted, scaling, used)
    counts_nothing = asnumpy(block.row_weights)[order] == 0
    order = order[np.argsort(counts_nothing, kind="stable")]
    places = np.empty(len(order), dtype=np.intp)
    if block.groups is None:
        places[order] = np.arange(len(order))
    else:
        places[order] = group_codes(block.groups[order])
    return places


def places_in_any_units(block: Block, scaling: Scaling | None) -> NDArray[np.intp]:
    """The place of each row in an order by how its values rank among those of others.

    Units, the order of rows, features and labels, columns that never change, and
    weights have no part in it, nor whether rows are stored sparse. Rows of a group have
    the same place; rows that do not count come last.
    """
    seen = block.without_unobserved()
    labels = _ranks(asnumpy(seen.Y))
    features = np.zeros(len(labels), np.uint64)
    for ranks in _feature_ranks(seen.X, scaling):
        features += _mixed(ranks).sum(axis=1)
    of_labels = _keys_of_ranks(labels, beside=features)
    features[:] = 0
    for ranks in _feature_ranks(seen.X, scaling):
        features += _keys_of_ranks(ranks, beside=of_labels)
    of_observed = np.zeros(len(labels), np.uint64)
    if block.w.ndim == 2:
        is_observed = (asnumpy(block.w) > 0).astype(np.float64)
        of_observed = _keys_of_ranks(_ranks(is_observed), beside=features)
    counts_nothing = asnumpy(block.row_weights) == 0
    keys = _mixed(features + of_labels)
    ties = _keys_of_ties(keys, seen.X, labels, scaling)
    order = np.lexsort([of_observed, ties, keys, counts_nothing])
    places = np.empty(len(order), dtype=np.intp)
    places[order] = np.arange(len(order))
    if block.groups is not None:
        places[order] = group_codes(block.groups[order])
    return places


def _keys_of_ties(
    keys: NDArray[np.uint64],
    X: Matrix,
    labels: NDArray[np.uint64],
    scaling: Scaling | None,
) -> NDArray[np.uint64]:
    """A number per row (n,) that tells apart different rows of the same key.

    Two rows can have the same key where each holds in one column what the other holds
    in the next. Here a column goes by all that other rows hold in it.
    """
    if len(np.unique(keys)) == len(keys):
        return keys
    told = _keys_of_sets(labels, beside=keys)
    for ranks in _feature_ranks(X, scaling):
        told += _keys_of_sets(ranks, beside=keys)
    return told


def _feature_ranks(X: Matrix, scaling: Scaling | None) -> Iterator[NDArray[np.uint64]]:
    """Ranks of the values of some features at a time.

    Without a scaling they count from 0, which is then what sparse rows leave out.
    """
    for start in range(0, X.shape[1], RANKED_COLUMNS):
        columns = X[:, start : start + RANKED_COLUMNS]
        values = columns.toarray() if is_csr(columns) else asnumpy(columns)
        if scaling is not None:
            yield _ranks(values)
        else:
            ranks = _ranks(np.vstack([values, np.zeros(values.shape[1])]))
            yield ranks[:-1] - ranks[-1]


def _ranks(X: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Ranks (n, D) of the values of each column, from 1 on; equal ones have the same.

    A missing value has the last rank. Columns that never change are left out.
    """
    order = np.argsort(X, axis=0, kind="stable")
    ordered = np.take_along_axis(X, order, axis=0)
    both_missing = (ordered[1:] != ordered[1:]) & (ordered[:-1] != ordered[:-1])
    is_new = (ordered[1:] != ordered[:-1]) & ~both_missing
    ranks = np.ones(X.shape, np.uint64)
    rising = np.concatenate([np.zeros((1, X.shape[1])), np.cumsum(is_new, axis=0)])
    np.put_along_axis(ranks, order, rising.astype(np.uint64) + np.uint64(1), axis=0)
    return ranks[:, is_new.any(axis=0)]


def _keys_of_ranks(
    ranks: NDArray[np.uint64], beside: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """A number per row of ranks (n, D).

    A column goes by how its ranks lie next to other numbers (n,), wherever it stands
    and however often a row is there.
    """
    salts = _mixed(ranks * beside[:, None]).max(axis=0, initial=np.uint64(0))
    return _salted(ranks, salts)


def _keys_of_sets(
    ranks: NDArray[np.uint64], beside: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """`_keys_of_ranks`, where a column goes by the set of all its rows."""
    cells = np.sort(_mixed(ranks * beside[:, None]), axis=0)
    is_copy = cells[1:] == cells[:-1]
    cells[1:][is_copy] = 0
    return _salted(ranks, cells.sum(axis=0, dtype=np.uint64))


def _salted(ranks: NDArray[np.uint64], salts: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A number per row of ranks (n, D), given one per column (D,)."""
    return _mixed(ranks * (_mixed(salts) | np.uint64(1))).sum(axis=1)


def knots_below(X: Array, scaling: Scaling) -> NDArray[np.float64]:
    """How many knots of its feature are at most as large as each cell of X (n, D)."""
    counts = np.empty(X.shape)
    n_knots = scaling.n_values
    for d in range(X.shape[1]):
        knots = scaling.values[d, : n_knots[d]]
        counts[:, d] = np.searchsorted(knots, asnumpy(X[:, d]), side="right")
    return counts


def _row_keys(X: Matrix, columns: NDArray[np.intp]) -> NDArray[np.uint64]:
    """A number per row of X (n, D): the sum of one per cell that is not 0.

    ``columns`` (D,) are the numbers that columns go by.
    """
    if is_csr(X):
        cells = _cell_keys(X.data, columns[X.indices])
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(cells)])
        return sums[X.indptr[1:]] - sums[X.indptr[:-1]]
    keys = np.zeros(len(X), np.uint64)
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
