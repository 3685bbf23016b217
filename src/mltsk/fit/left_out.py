"""Rows that are left out together, and the residuals that they leave.

Rows of one person, say, belong together: a model that has seen some of them knows the
others. They are one *group*. With H the matrix that turns labels into fitted scores and
r the residuals, those of a group g that was never seen are (I - H_gg)⁻¹ r_g: exactly,
without a second fit.

Symbols: n rows, L labels, m rows of a group. Groups are codes 0, 1, … (n,), or None
where every row is a group of its own.
"""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, namespace, row_blocks

Groups: TypeAlias = NDArray[np.intp] | None
MAX_BATCH_CELLS = 10**7  # of the matrices of groups that are solved at once
MIN_OTHERS = 1e-6  # share of the weight that a group leaves to the others


def group_codes(groups: NDArray[np.generic]) -> NDArray[np.intp]:
    """Codes 0, 1, … (n,) of values that name groups, by their first appearance.

    >>> group_codes(np.array(["eve", "bob", "eve"])).tolist()
    [0, 1, 0]
    """
    _, first, codes = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[codes.ravel()]


def take_groups(groups: Groups, rows: slice | NDArray[np.intp]) -> Groups:
    """Codes of some rows; None where each of these is a group of its own."""
    if groups is None:
        return None
    codes = group_codes(groups[rows])
    is_alone = len(codes) == 0 or codes.max() + 1 == len(codes)
    return None if is_alone else codes


def count_groups(groups: Groups, n_rows: int) -> int:
    """How many groups some rows are; a row without a group is one of its own."""
    return n_rows if groups is None else int(groups.max()) + 1


def rows_by_group(groups: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    """Positions (G, m) of the rows of all groups of one size m, size by size."""
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[sizes > 0]):
        of_size = starts[sizes == size]
        yield order[of_size[:, None] + np.arange(size)]


def batches_of_groups(groups: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    """`rows_by_group`, as many at once as memory should hold."""
    for rows in rows_by_group(groups):
        n_groups, size = rows.shape
        step = max(1, MAX_BATCH_CELLS // size**2)
        for start in range(0, n_groups, step):
            yield rows[start : start + step]


def whole_groups(groups: Groups, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """All rows of the groups that some rows belong to, in order."""
    if groups is None:
        return rows
    return np.flatnonzero(np.isin(groups, groups[rows]))


def blocks_of_groups(
    groups: Groups, n_rows: int, bytes_per_row: int, like: Array | None = None
) -> Iterator[slice | NDArray[np.intp]]:
    """Rows that may be held at once, such that no group is cut in two."""
    if groups is None:
        yield from row_blocks(n_rows, bytes_per_row, like=like)
        return
    order = np.argsort(groups, kind="stable")
    sorted_groups = groups[order]
    start = 0
    for rows in row_blocks(n_rows, bytes_per_row, like=like):
        # a block ends where the group of its last row does
        last = sorted_groups[rows.stop - 1]
        stop = int(np.searchsorted(sorted_groups, last, side="right"))
        if stop > start:
            yield order[start:stop]
        start = max(start, stop)


def residuals_by_kept(
    kept: Array, residuals: Array, groups: NDArray[np.intp], least: float
) -> Array:
    """Residuals (n, L) of rows that are left out group by group.

    Parameters
    ----------
    kept : (n, n)
        I - H, for rows times the root of their weights.
    residuals : (n, L)
        Those of the fit to all rows.
    groups : (n,) codes
    least : float
        What is added to the diagonal: a group that nothing else speaks for keeps
        nothing.
    """
    xp = namespace(residuals)
    left_out = xp.empty_like(residuals)
    for rows in batches_of_groups(groups):
        blocks = kept[rows[:, :, None], rows[:, None, :]]
        left_out[rows] = _solved(blocks, residuals[rows], least)
    return left_out


def residuals_by_factor(
    A: Array, residuals: Array, groups: NDArray[np.intp], least: float
) -> Array:
    """`residuals_by_kept` where H = AAᵀ, with A (n, q)."""
    xp = namespace(residuals)
    left_out = xp.empty_like(residuals)
    for rows in batches_of_groups(groups):
        own = A[rows]
        r = residuals[rows]
        transposed = xp.swapaxes(own, 1, 2)
        if rows.shape[1] <= A.shape[1]:
            left_out[rows] = _solved(-(own @ transposed), r, 1.0 + least)
        else:
            # (I - AAᵀ)⁻¹ = I + A (I - AᵀA)⁻¹ Aᵀ: the smaller matrix is solved
            inner = _solved(-(transposed @ own), transposed @ r, 1.0 + least)
            left_out[rows] = r + own @ inner
    return left_out


def _solved(blocks: Array, right: Array, diagonal: float) -> Array:
    """(blocks + diagonal · I)⁻¹ right for matrices (G, m, m), which are overwritten."""
    xp = namespace(blocks)
    places = np.arange(blocks.shape[1])
    blocks[:, places, places] += diagonal
    return xp.linalg.solve(blocks, right)


def rate_shifts(
    Y: Array, w: Array, groups: Groups, *, rates: Array | None = None, n_rows: int = 0
) -> Array:
    """By how much leaving out a row, or its group, moves the base rates: (n, L).

    A row that has a label leaves a lower rate behind, so that scores of rows left out
    are ranked against their labels: the AUC of noise would be .39 (300 rows, a rate of
    20 %). With these shifts added it is .49.

    Parameters
    ----------
    Y : (n, L) labels
    w : (n,) or (n, L) weights
    groups : (n,) codes, or None
    rates, n_rows : (L,) and int, optional
        Of all rows, where these are a sample of them.
    """
    xp = namespace(Y)
    weights = w[:, None] + 0 * Y if w.ndim == 1 else w
    total = weights.sum(axis=0)
    if rates is None:
        rates = (weights * Y).sum(axis=0) / total
    total = total * max(n_rows / len(Y), 1.0)
    deviations = weights * (Y - rates)
    if groups is None:
        others = total - weights
    else:
        deviations = _sums_of_groups(deviations, groups)
        others = total - _sums_of_groups(weights, groups)
    return deviations / xp.maximum(others, MIN_OTHERS * total)


def _sums_of_groups(values: Array, groups: NDArray[np.intp]) -> Array:
    """The sum over its group for each row of values (n, L)."""
    sums = namespace(values).empty_like(values)
    for rows in rows_by_group(groups):
        sums[rows] = values[rows].sum(axis=1)[:, None] + 0 * values[rows]
    return sums
