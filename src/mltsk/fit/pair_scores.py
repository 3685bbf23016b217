"""What a fit leaves over of the labels, and which pairs of features tell most of it.

With U (n, C) the memberships in some conditions per feature and r_l the residuals of
label l, Uᵀ diag(r_l) U holds, for all pairs at once, the sums of residuals in their
cells. The score of a pair is Σ sum² / (count + PAIR_COUNT), over its cells and all
labels, each label's residuals being of size 1.

Symbols: n rows, L labels, C conditions.
"""

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import FloatArray, asnumpy, cast
from .judge import BlockColumns
from .ridge import PrimalSolution
from .rows import LabelRows

PAIR_COUNT = 20.0  # rows that a cell is taken to have had before, with no residual
MAX_RESIDUALS = 30  # directions of the residuals of many labels
MIN_SIZE = 1e-300


def residuals_of(
    fitted: PrimalSolution, columns: BlockColumns, targets: LabelRows
) -> FloatArray:
    """Residuals (n, labels) of a solution, times weights."""
    residuals = np.zeros(targets.Y.shape)
    for rows in columns.blocks(targets.w):
        seen = targets.take(rows)
        scores = fitted.scores(cast(columns.rows(rows), np.float64))
        residuals[rows] = asnumpy(seen.w[:, None] * (seen.Y - scores))
    return residuals


def in_few_directions(residuals: FloatArray) -> FloatArray:
    """Residuals (n, L) of labels of size 1, turned into few directions."""
    sizes = np.sqrt((residuals * residuals).sum(axis=0))
    sized = residuals / np.maximum(sizes, MIN_SIZE)
    if sized.shape[1] <= MAX_RESIDUALS:
        return sized
    vectors = np.linalg.eigh(sized.T @ sized)[1]
    return sized @ vectors[:, -MAX_RESIDUALS:]


def ranked_pairs(
    U: FloatArray, column: NDArray[np.intp], residuals: FloatArray
) -> list[tuple[int, int]]:
    """Pairs of columns, best first, by memberships (n, C) and residuals (n, L).

    ``column`` (C,) is that of each condition.
    """
    counts = U.T @ U
    scores = np.zeros_like(counts)
    squares = U * U
    by_chance = squares.T @ squares  # pairs of more cells would score more by chance
    for residual in residuals.T.astype(np.float32):
        sums = U.T @ (U * residual[:, None])
        mean_square = float(residual @ residual) / len(residual)
        scores += (sums * sums - mean_square * by_chance) / (counts + PAIR_COUNT)
    columns = np.unique(column)
    belongs = (column[:, None] == columns).astype(np.float64)
    of_pairs = belongs.T @ scores @ belongs
    first, second = np.triu_indices(len(columns), 1)
    best = np.argsort(-of_pairs[first, second], kind="stable")
    return [(int(columns[first[k]]), int(columns[second[k]])) for k in best]
