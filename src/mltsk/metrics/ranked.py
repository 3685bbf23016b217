"""Score rows sorted once, in the form that every ranking metric reads.

Symbols: R rows of L scores; row i has m_i relevant labels, E = sum m_i in all. Positions count from the
*lowest* score (0) to the highest (L - 1); labels with equal scores are a tie group [start, end) of positions.

All ranking metrics depend on a row only through the positions of its relevant labels, so only those E entries
are kept. They come from one sort per row, O(L log L), and no (R, L, L) array.

Why not argsort: the label fits into the score. Every score gives up its lowest mantissa bit to its label, the
rows are sorted by value, and the bit is read back. On 100 x 174 scores this takes 0.05 ms where a stable
argsort takes 0.66 ms before any gather. It is exact unless two scores of a row agree in all but that bit
(ties above all) or are not finite: such rows are sorted again, stably, with their true scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mltsk.metrics.inputs import BoolArray, FloatArray

IntArray = NDArray[np.int64]

# Scores sorted at a time: 0.5 MB stays in cache; 2000 x 159 scores are ranked in 1.9 ms, in one go in 4.5 ms.
_BLOCK_SIZE = 65_536


@dataclass(frozen=True)
class RankedRows:
    """Relevant entries of R sorted rows; entries are in row order, then from low to high score.

    Attributes
    ----------
    n_labels : int
        L.
    n_relevant : (R,)
        m, number of relevant labels of each row.
    offset : (R,)
        Index of the first entry of each row.
    row, order, position : (E,)
        Row of the entry, its number among the relevant ones of that row (0 = lowest score), its position.
        Inside a tie group positions follow the label index.
    tie_start, tie_end, tie_order : (E,)
        Tie group of the entry, and the `order` of the first relevant entry in that group.
    top_start, top_end : (R,)
        Tie group of the highest score that is a number: NaN sorts above it, in positions from `top_end` on.
    """

    n_labels: int
    n_relevant: IntArray
    offset: IntArray
    row: IntArray
    order: IntArray
    position: IntArray
    tie_start: IntArray
    tie_end: IntArray
    tie_order: IntArray
    top_start: IntArray
    top_end: IntArray

    def row_sums(self, values: NDArray) -> FloatArray:
        """Sum of the entries' values in each row, (R,)."""
        return np.bincount(self.row, weights=values, minlength=len(self.n_relevant))

    def is_number(self) -> BoolArray:
        """Whether the score of each entry is a number, not NaN, (E,)."""
        return self.position < self.top_end[self.row]


@dataclass(frozen=True)
class _TieGroups:
    """Rows that needed the exact sort, their labels in that order, and the tie group of every position."""

    rows: IntArray
    labels: BoolArray
    start: IntArray
    end: IntArray
    n_numbers: IntArray


def rank_rows(Y: BoolArray, scores: FloatArray) -> RankedRows:
    """Sort the rows of `scores` (N, L), or of S such tables (S, N, L), against the labels Y (N, L).

    With S tables the result has R = S * N rows, table after table.

    Examples
    --------
    >>> import numpy as np
    >>> ranked = rank_rows(np.array([[True, False, True]]), np.array([[0.2, 0.9, 0.5]]))
    >>> ranked.position
    array([0, 1])
    """
    flat = scores.reshape(-1, Y.shape[1])
    labels, doubtful = np.empty(flat.shape, dtype=bool), np.empty(len(flat), dtype=bool)
    for rows_of_y, rows in _row_blocks(len(Y), len(flat), Y.shape[1]):
        labels[rows], doubtful[rows] = _sort_with_label_bit(Y[rows_of_y], flat[rows])
    groups = _exact_groups(Y, flat, np.flatnonzero(doubtful)) if doubtful.any() else None
    if groups is not None:
        labels[groups.rows] = groups.labels
    return _entries(labels, groups)


def _row_blocks(n_rows: int, n_all_rows: int, n_labels: int) -> Iterator[tuple[slice, slice]]:
    """Rows of Y and of all tables, block by block."""
    step = max(1, _BLOCK_SIZE // n_labels)
    for table in range(0, n_all_rows, n_rows):
        for start in range(0, n_rows, step):
            stop = min(start + step, n_rows)
            yield slice(start, stop), slice(table + start, table + stop)


def _sort_with_label_bit(Y: BoolArray, scores: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Labels (n, L) in the order of rising scores, and the rows (n,) where that order is in doubt."""
    # a copy in C order, in which -0.0 becomes 0.0: they are equal but differ in bits
    keys = np.add(scores, 0.0, order="C")
    bits = keys.view(np.int64)
    bits &= -2
    bits |= Y
    keys.sort(axis=1)
    labels = (bits & 1).astype(bool)
    bits |= 1
    doubtful = (bits[:, 1:] == bits[:, :-1]).any(axis=1)
    # an infinite score may have become NaN; both sort to the ends of the row
    doubtful |= ~(np.isfinite(keys[:, 0]) & np.isfinite(keys[:, -1]))
    return labels, doubtful


def _exact_groups(Y: BoolArray, flat: FloatArray, rows: IntArray) -> _TieGroups:
    values = flat[rows]
    order = np.argsort(values, axis=1, kind="stable")
    values = np.take_along_axis(values, order, axis=1)
    labels = np.take_along_axis(Y[rows % len(Y)], order, axis=1)
    nan = np.isnan(values)
    same = (values[:, 1:] == values[:, :-1]) | (nan[:, 1:] & nan[:, :-1])
    return _TieGroups(rows, labels, *_group_bounds(same), values.shape[1] - nan.sum(axis=1))


def _group_bounds(same: BoolArray) -> tuple[IntArray, IntArray]:
    """First and one-past-last position of the tie group of every position, from `same` (T, L - 1)."""
    border = np.ones((len(same), 1), dtype=bool)
    positions = np.arange(same.shape[1] + 1)
    opens = np.where(np.hstack([border, ~same]), positions, 0)
    closes = np.where(np.hstack([~same, border]), positions + 1, len(positions))
    start = np.maximum.accumulate(opens, axis=1)
    end = np.minimum.accumulate(closes[:, ::-1], axis=1)[:, ::-1]
    return start, end


def _entries(labels: BoolArray, groups: _TieGroups | None) -> RankedRows:
    n_rows, n_labels = labels.shape
    n_relevant = np.count_nonzero(labels, axis=1)
    row = np.repeat(np.arange(n_rows), n_relevant)
    position = np.flatnonzero(labels) - row * n_labels
    offset = np.cumsum(n_relevant) - n_relevant
    order = np.arange(len(row)) - offset[row]
    ties = _untied(position, order, n_rows, n_labels)
    if groups is not None:
        ties = _tied(ties, row, position, order, groups)
    return RankedRows(n_labels, n_relevant, offset, row, order, position, *ties)


def _untied(position: IntArray, order: IntArray, n_rows: int, n_labels: int) -> tuple[IntArray, ...]:
    top = np.full(n_rows, n_labels)
    return position, position + 1, order, top - 1, top


def _tied(
    ties: tuple[IntArray, ...], row: IntArray, position: IntArray, order: IntArray, groups: _TieGroups
) -> tuple[IntArray, ...]:
    """Put the true tie groups of the doubtful rows in place of the groups of one."""
    start, end, _, top_start, top_end = ties
    number = np.full(len(top_end), -1)
    number[groups.rows] = np.arange(len(groups.rows))
    hit = np.flatnonzero(number[row] >= 0)
    where = number[row[hit]], position[hit]
    start, end = start.copy(), end.copy()
    start[hit], end[hit] = groups.start[where], groups.end[where]
    top_end[groups.rows] = groups.n_numbers
    last_number = np.maximum(groups.n_numbers - 1, 0)
    top_start[groups.rows] = np.take_along_axis(groups.start, last_number[:, None], axis=1)[:, 0]
    return start, end, _first_order(row, start, order), top_start, top_end


def _first_order(row: IntArray, start: IntArray, order: IntArray) -> IntArray:
    """`order` of the first entry of each entry's tie group."""
    opens = np.ones(len(row), dtype=bool)
    opens[1:] = (row[1:] != row[:-1]) | (start[1:] != start[:-1])
    return order[np.maximum.accumulate(np.where(opens, np.arange(len(row)), 0))]
