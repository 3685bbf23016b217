"""Sums over rows for groups of labels that were observed in different rows.

Each group needs ΦᵀWΦ over the rows in which its labels were observed. Rows that the
same groups count are multiplied once for all of them: seven labels of a survey, each
asked in two rows of three, then cost little more than one.

Symbols: n rows, L labels, Q columns Φ (n, Q), G groups of labels.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, FloatArray, asnumpy, cast, is_tensor, namespace
from .ridge import Moments
from .rows import Block, RowIndex

# Groups whose rows are compared: which of them count a row is one number of 64 bits.
MAX_COMPARED_GROUPS = 60
# Adding a matrix to the sums of a group costs as much as multiplying so many rows.
ROWS_PER_ADDITION = 8
MAX_BATCH_BYTES = 2 * 10**8  # of the sums of groups that are found together


def group_batches(
    label_groups: Sequence[NDArray[np.intp]], n_columns: int
) -> Iterator[Sequence[NDArray[np.intp]]]:
    """Groups of labels, as many at a time as their sums may take in memory."""
    size = max(1, int(MAX_BATCH_BYTES / (8.0 * n_columns**2 + 1)))
    for start in range(0, len(label_groups), size):
        yield label_groups[start : start + size]


def moments_by_group(
    Phi: Array,
    block: Block,
    label_groups: Sequence[NDArray[np.intp]],
    before: Array | None = None,
) -> list[Moments]:
    """Sums over the rows of a block, of columns Φ (n, Q), for each group of labels.

    Parameters
    ----------
    Phi : (n, Q)
    block : Block of n rows
    label_groups : G arrays of labels that have the same weights
    before : (n, P) columns before these, as in `Moments.of`, or None
    """
    patterns = _row_patterns(block, label_groups)
    if patterns is None:
        return [_moments(Phi, block, labels, before) for labels in label_groups]
    Y = cast(block.without_unobserved().Y, np.float64)
    w = block.w.max(axis=1)
    sums = [_no_rows(Phi, len(labels), before) for labels in label_groups]
    for code in np.unique(patterns[patterns > 0]):
        rows = np.flatnonzero(patterns == code)
        beside = None if before is None else before[rows]
        of_pattern = Moments.of(Phi[rows], Y[rows], w[rows], beside)
        for g, labels in enumerate(label_groups):
            if int(code) >> g & 1:
                sums[g] += of_pattern.of_labels(labels)
    return sums


def rows_by_pattern(block: Block, label_groups: Sequence[NDArray[np.intp]]) -> RowIndex:
    """All rows, those that the same groups count next to each other.

    Some of them at a time then hold few patterns, and sums are added less often.
    """
    patterns = _row_patterns(block, label_groups)
    if patterns is None:
        return slice(None)
    return np.argsort(patterns, kind="stable")


def _moments(
    Phi: Array, block: Block, labels: NDArray[np.intp], before: Array | None
) -> Moments:
    """Sums for labels that have the same weights, over the rows that count."""
    targets = block.of_labels(labels)
    counted = namespace(targets.w).flatnonzero(targets.w > 0)
    if len(counted) < len(Phi):
        Phi = Phi[counted]
        before = None if before is None else before[counted]
        targets = targets.take(counted)
    return Moments.of(Phi, targets.Y, cast(targets.w, np.float64), before)


def _no_rows(Phi: Array, n_labels: int, before: Array | None) -> Moments:
    """Sums over no rows."""
    beside = None if before is None else before[:0]
    return Moments.of(Phi[:0], np.zeros((0, n_labels)), np.zeros(0), beside)


def _row_patterns(
    block: Block, label_groups: Sequence[NDArray[np.intp]]
) -> NDArray[np.uint64] | None:
    """Which groups count each row, as bits (n,); None where that saves no products.

    Groups can share products only where a row has the same weight for all of them.
    """
    n_groups = len(label_groups)
    if n_groups == 1 or n_groups > MAX_COMPARED_GROUPS or is_tensor(block.w):
        return None
    weights = _weights(block, label_groups)
    is_counted = weights > 0
    if not (weights == weights.max(axis=1, keepdims=True))[is_counted].all():
        return None
    patterns = is_counted @ (np.uint64(1) << np.arange(n_groups, dtype=np.uint64))
    n_additions = len(np.unique(patterns)) * n_groups
    rows_saved = int(is_counted.sum()) - int(is_counted.any(axis=1).sum())
    return patterns if ROWS_PER_ADDITION * n_additions < rows_saved else None


def _weights(block: Block, label_groups: Sequence[NDArray[np.intp]]) -> FloatArray:
    """The weight of each row for each group, (n, G)."""
    first_labels = [labels[0] for labels in label_groups]
    return asnumpy(block.w)[:, first_labels]
