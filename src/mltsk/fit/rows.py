"""Rows that a fit learns from: samples with labels and weights, wherever they lie.

`Rows` is all that a fit asks for: a sample of rows, and sums over all of them. `Block`
is some rows in memory, `ArrayRows` are rows of arrays that can be indexed: in memory,
in a file that is mapped, or in tensors. Rows of Dask collections are in
`mltsk.rows.dask`.

Symbols: n rows, D features, L labels, Q columns of the ridge problem.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import (
    Array,
    Matrix,
    cast,
    is_tensor,
    namespace,
    row_blocks,
    spread_rows,
)
from .design import Design
from .left_out import Groups, take_groups
from .ridge import Moments

MAX_HELD_BYTES = 6 * 10**8  # of the columns of all rows, kept while they are used
RowIndex: TypeAlias = slice | NDArray[np.intp]
ROW_COPIES = (
    3  # of a row of Φ: the row itself, its weighted copy, and what products need
)


class Rows(Protocol):
    """Samples with labels and weights, somewhere."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples, number of labels."""

    @property
    def w(self) -> Array | None:
        """Weights (n,) or (n, L); None where all labels of a sample have the same."""

    @property
    def limit(self) -> int:
        """How many rows may be held at once."""

    def sample(self, n: int) -> "Block":
        """At most n rows, evenly spread, and all rows of their groups."""

    def block(self, rows: RowIndex) -> "Block":
        """Some rows."""

    def moments(self, design: Design, labels: NDArray[np.intp]) -> Moments:
        """Sums over all rows for labels that have the same weights."""


def mean_weights(Y: Array, w: Array) -> Array:
    """Weights (n,) of rows from weights w (n,) or (n, L) of their labels Y (n, L).

    They are means of `shared_weights` over labels. A label that is the same wherever it
    was observed teaches nothing, and has no say: without it the fit of the others is
    the same.
    """
    if w.ndim == 1:
        return w
    varies = _varies(Y, w)
    shared = shared_weights(Y, w)
    return shared[:, varies].mean(axis=1) if varies.any() else shared.mean(axis=1)


def shared_weights(Y: Array, w: Array) -> Array:
    """Weights, (n,) or (n, L), by which all that labels share is found.

    Scale, terms and structure are those of all labels: weights that a label has of its
    own would move the others, by .06 to .14 of a probability where one of three labels
    has weights (400 rows). Only whether it was observed counts then.
    """
    if w.ndim == 1:
        return w
    varies = _varies(Y, w)
    own = w[:, varies] if varies.any() else w
    is_observed = own > 0
    largest = own.max(axis=1)[:, None]
    belongs_to_row = (own == largest) | ~is_observed
    return w if belongs_to_row.all() else (w > 0) + 0.0 * w


def _varies(Y: Array, w: Array) -> Array:
    """Which labels (L,) are 1 in some of the rows that count, and 0 in others."""
    is_observed = w > 0
    n_cases = (is_observed & (Y > 0.5)).sum(axis=0)
    return (n_cases > 0) & (n_cases < is_observed.sum(axis=0))


@dataclass(frozen=True)
class LabelRows:
    """What rows say about labels that have the same weights.

    ``Y`` (n, labels) and ``w`` (n,) in double precision; ``groups`` (n,) are codes of
    rows that are left out together, None where each is left out alone.
    """

    Y: Array
    w: Array
    groups: Groups = None

    def take(self, rows: RowIndex) -> "LabelRows":
        """Some of the rows."""
        return LabelRows(self.Y[rows], self.w[rows], take_groups(self.groups, rows))


@dataclass(frozen=True)
class Block:
    """Rows in memory.

    Parameters
    ----------
    X : (n, D) samples
    Y : (n, L) labels
    w : (n,) or (n, L) weights
    groups : (n,) codes of rows that are left out together, or None
    index : positions of these rows in the data, or None
    """

    X: Matrix
    Y: Array
    w: Array
    groups: Groups = None
    index: RowIndex | None = None

    @property
    def row_weights(self) -> Array:
        """Weight of each row, (n,): the mean over its labels."""
        return mean_weights(self.Y, self.w)

    def with_shared_weights(self) -> "Block":
        """The same rows with `shared_weights`."""
        return replace(self, w=shared_weights(self.Y, self.w))

    def all_rows(self) -> "ArrayRows":
        """These rows as all rows of the data."""
        return ArrayRows(
            X=self.X,
            Y=self.Y,
            w=self.w,
            groups=self.groups,
            shape=self.Y.shape,
            limit=self.X.shape[0],
        )

    def take(self, rows: RowIndex) -> "Block":
        """Some of the rows."""
        groups = take_groups(self.groups, rows)
        return Block(self.X[rows], self.Y[rows], self.w[rows], groups)

    def without_unobserved(self) -> "Block":
        """The same rows with 0 for each label whose weight is 0."""
        if self.w.ndim == 1:
            return self
        Y = namespace(self.Y).where(self.w > 0, self.Y, 0.0)
        return replace(self, Y=Y)

    def without_weight(self, rows: NDArray[np.intp]) -> "Block":
        """The same rows, some of which have weight 0: nothing is learned from them."""
        w = self.w * 1
        w[rows] = 0
        return replace(self, w=w)

    def of_labels(self, labels: NDArray[np.intp]) -> LabelRows:
        """Labels that have the same weights, in double precision."""
        Y = cast(self.Y[:, labels], np.float64)
        if self.w.ndim == 1:
            return LabelRows(Y, self.w, self.groups)
        return LabelRows(Y, self.w[:, labels[0]], self.groups)

    def moments(self, design: Design, labels: NDArray[np.intp]) -> Moments:
        """Sums over the rows for labels with the same weights, some rows at a time."""
        return reduce(add, self._sums(design, self.of_labels(labels)))

    def _sums(self, design: Design, targets: LabelRows) -> Iterator[Moments]:
        """Sums over some rows at a time, made when they are added."""
        bytes_per_row = 8 * ROW_COPIES * design.n_columns
        for rows in row_blocks(self.X.shape[0], bytes_per_row, like=targets.w):
            block = targets.take(rows)
            counted = namespace(block.w).flatnonzero(block.w > 0)
            Phi = design.rows(design.scale.apply(self.X[rows][counted]))
            yield Moments.of(Phi, block.Y[counted], block.w[counted])


@dataclass(frozen=True)
class ArrayRows:
    """Rows of arrays.

    Parameters
    ----------
    X, Y : arrays of n rows
    w : (n,) or (n, L), or None for ones
    groups : (n,) codes of rows that belong together, or None
    shape : number of rows, number of labels
    limit : int
        How many rows may be held at once. Arrays that do not fit are read block by
        block, and their leave-one-out scores are those of a sample.
    read : callable, optional
        Checks and casts the X and Y of a block, where that is not done yet.
    """

    X: Matrix
    Y: Array
    w: Array | None
    shape: tuple[int, int]
    limit: int
    groups: Groups = None
    read: Callable[[Matrix, Array], tuple[Matrix, Array]] | None = None

    def block(self, rows: RowIndex) -> Block:
        """Some rows, checked."""
        X = self.X[rows]
        Y = self.Y[rows]
        if self.read is not None:
            X, Y = self.read(X, Y)
        w = _ones(X.shape[0], Y) if self.w is None else self.w[rows]
        return Block(X, Y, w, take_groups(self.groups, rows), index=rows)

    def sample(self, n: int) -> Block:
        """At most n rows, evenly spread, and all rows of their groups."""
        return self.block(spread_with_groups(self.groups, self.shape[0], n))

    def moments(self, design: Design, labels: NDArray[np.intp]) -> Moments:
        """Sums over all rows, block by block."""
        blocks = (self.block(rows) for rows in self._blocks())
        return reduce(add, (block.moments(design, labels) for block in blocks))

    def _blocks(self) -> Iterator[slice]:
        """Consecutive rows, as many as may be held at once."""
        n_rows = self.shape[0]
        for start in range(0, n_rows, self.limit):
            yield slice(start, min(start + self.limit, n_rows))


def spread_with_groups(groups: Groups, n_rows: int, n: int) -> RowIndex:
    """At most n of ``n_rows`` rows, evenly spread, and all rows of their groups."""
    if groups is None or n_rows <= n:
        return spread_rows(n_rows, n)
    n_groups = int(groups.max()) + 1
    of_groups = np.arange(n_groups)[spread_rows(n_groups, n * n_groups // n_rows)]
    return np.flatnonzero(np.isin(groups, of_groups))


def _ones(n: int, like: Array) -> Array:
    """n ones, beside another array."""
    if is_tensor(like):
        return namespace(like).ones(n, like=like)
    return np.ones(n)
