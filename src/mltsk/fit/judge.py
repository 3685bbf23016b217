"""Judges of designs: leave-one-out errors in closed form, and the ridge that is best.

`KernelJudge` serves some hundreds to thousands of rows: a design is a kernel between
them, each of which is left out in turn. `SumsJudge` serves more rows than that: a
design is fitted to most rows of a sample, by sums over them, and judged by the others.

The error is the squared error of rows that were left out, summed over labels.

Symbols: n rows, L labels, Q columns, K (n, n) kernel, w (n,) weights.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..core.arrays import (
    Array,
    FloatArray,
    Matrix,
    asnumpy,
    cast,
    namespace,
    put,
    row_blocks,
)
from .factor import Factor, SingularError
from .left_out import Groups, residuals_by_kept
from .patterns import moments_by_group, rows_by_pattern
from .ridge import Moments, Penalty, centred_kernel
from .rows import MAX_HELD_BYTES, ROW_COPIES, Block, LabelRows, RowIndex

# Patterns of observed rows that judge, the most frequent ones: each has its own kernel.
JUDGING_PATTERNS = 6
# Rows that come twice would ask for less: below MIN_RIDGE a model repeats its rows.
MIN_RIDGE = 1e-2
FIRST_RIDGES = (0.1, 3.0, 100.0)  # where the first search begins
RIDGE_STEP = 2.0
DOUBLE_PRECISION_ROWS = 200  # up to here kernels are in double precision
MIN_JUDGED_SHARE = 1e-6  # least 1 - h of a row that judges
# Of rows that are summed up at a time: to add their sums to those of others takes as
# long as to multiply some hundred rows.
SUMMED_BYTES = 2 * 10**8
# Of columns that are made at a time: they stay in the cache. Fewer rows than
# MIN_MADE_ROWS would not be worth what each time costs for every centre of a rule.
MADE_BYTES = 2**22
MIN_MADE_ROWS = 1_000


@dataclass
class RidgeSearch:
    """Finds the ridge of least error for one design after the other.

    ``max_ridge`` is the weight of the rows: columns of variance 1 in all are then
    shrunk to less than half. ``last`` is the ridge that was found last; None before the
    first search, which begins at several values.
    """

    max_ridge: float
    last: float | None = None

    @classmethod
    def of(cls, block: Block) -> "RidgeSearch":
        """A search for the rows of a block."""
        return cls(max_ridge=max(float(block.row_weights.sum()), 10.0))

    def least(self, error_at: Callable[[float], float]) -> tuple[float, float]:
        """Least error, and the ridge that gives it."""
        starts = FIRST_RIDGES if self.last is None else (self.last,)
        tried = {min(ridge, self.max_ridge): np.inf for ridge in starts}
        for ridge in tried:
            tried[ridge] = error_at(ridge)
        ridge = min(tried, key=lambda each: tried[each])
        error = tried[ridge]
        while error == np.inf and ridge < self.max_ridge:
            ridge = RIDGE_STEP * ridge
            error = error_at(ridge)
        for factor in (1 / RIDGE_STEP, RIDGE_STEP):
            walked, error = self._walk(ridge, error, factor, error_at)
            if walked != ridge:
                ridge = walked
                break
        self.last = ridge
        return error, ridge

    def _walk(
        self,
        ridge: float,
        error: float,
        factor: float,
        error_at: Callable[[float], float],
    ) -> tuple[float, float]:
        """Multiply the ridge by a factor as long as the error falls."""
        while MIN_RIDGE < ridge * factor < self.max_ridge:
            next_error = error_at(ridge * factor)
            if not next_error < error:
                break
            ridge = ridge * factor
            error = next_error
        return ridge, error


# kernels ------------------------------------------------------------------------------


class KernelErrors(NamedTuple):
    """Least error of a kernel, the ridge that gives it, and its parts by row (n,)."""

    error: float
    ridge: float
    by_row: FloatArray


@dataclass(frozen=True)
class JudgedKernel:
    """Labels that were observed in the same rows, for kernels between these.

    ``target`` (n, labels) are the labels, centred and times √w; ``rows`` (n,) are the
    positions of the rows; ``w`` (n,) and ``groups`` as in a `Block`.
    """

    target: Array
    rows: NDArray[np.intp]
    w: Array
    groups: Groups

    @classmethod
    def of(
        cls, block: Block, labels: NDArray[np.intp], dtype: Any
    ) -> "JudgedKernel | None":
        """The pattern of some labels, or None where fewer than two rows count."""
        targets = block.of_labels(labels)
        xp = namespace(targets.Y)
        rows = xp.flatnonzero(targets.w > 0)
        if len(rows) < 2:
            return None
        counted = targets.take(rows)
        w = cast(counted.w, np.float64)
        mean = (w @ counted.Y) / w.sum()
        target = xp.sqrt(w)[:, None] * (counted.Y - mean)
        if target.shape[0] < target.shape[1]:
            # fewer columns with the same sums of squares: 120 for 5,000 labels
            target = xp.linalg.qr(target.T)[1].T
        return cls(
            target=cast(target, dtype),
            rows=rows,
            w=cast(w, dtype),
            groups=counted.groups,
        )

    def kernel(self, K: Array) -> Array:
        """The kernel of all rows (N, N) as that of the counted rows, centred."""
        return centred_kernel(K[self.rows][:, self.rows], self.w)

    def squared_errors(self, centred: Array, ridge: float) -> Array:
        """Squared leave-one-out errors (n, labels) of a centred kernel at a ridge."""
        factor = Factor.of(centred * 1, np.full(1, ridge))
        solved = factor.solve(self.target)  # first: the diagonal overwrites the factor
        residuals = self._left_out(factor, ridge * solved, ridge)
        return residuals * residuals

    def _left_out(self, factor: Factor, residuals: Array, ridge: float) -> Array:
        """Leave-one-out residuals (n, labels), given those of the fit."""
        xp = namespace(residuals)
        if self.groups is None:
            intercept = self.w / self.w.sum()
            kept = ridge * factor.inverse_diagonal()[:, 0] - intercept
            return residuals / xp.maximum(kept, MIN_JUDGED_SHARE)[:, None]
        root = xp.sqrt(self.w)
        intercept = root[:, None] * root / self.w.sum()
        kept = ridge * factor.inverse() - intercept
        return residuals_by_kept(kept, residuals, self.groups, MIN_JUDGED_SHARE)


@dataclass
class KernelJudge:
    """Leave-one-out errors of kernels between some rows.

    Parameters
    ----------
    patterns : groups of labels with the same weights
    n_rows : int
    total_weight : weight of all labels of all rows
    ridge : float or None
        The ridge where it is fixed; None has it searched.
    search : RidgeSearch
    dtype : precision of kernels
        Single precision is enough, but for a ridge that is fixed and may be small, and
        for so few rows that they may be reproduced exactly.
    groups : codes (n,) of rows that are left out together, or None
    """

    patterns: list[JudgedKernel]
    n_rows: int
    total_weight: float
    ridge: float | None
    search: RidgeSearch
    dtype: Any = np.float32
    groups: Groups = None

    @classmethod
    def of(
        cls,
        block: Block,
        label_groups: Sequence[NDArray[np.intp]],
        ridge: float | None,
    ) -> "KernelJudge":
        """A judge by the rows of a block; the largest groups of labels count."""
        is_exact = ridge is not None or len(block.Y) <= DOUBLE_PRECISION_ROWS
        dtype = np.float64 if is_exact else np.float32
        patterns = []
        total_weight = 0.0
        for labels in _largest(label_groups):
            pattern = JudgedKernel.of(block, labels, dtype)
            if pattern is not None:
                patterns.append(pattern)
                w = cast(block.of_labels(labels).w, np.float64)
                total_weight += float(w[pattern.rows].sum()) * len(labels)
        return cls(
            patterns=patterns,
            n_rows=len(block.Y),
            total_weight=max(total_weight, 1e-300),
            ridge=ridge,
            search=RidgeSearch.of(block),
            dtype=dtype,
            groups=block.groups,
        )

    @cached_property
    def null_errors(self) -> KernelErrors:
        """Errors of the base rates alone."""
        squares = [pattern.target * pattern.target for pattern in self.patterns]
        error = sum(float(each.sum()) for each in squares)
        return KernelErrors(error, np.inf, self._by_row(squares))

    def error(self, K: Array) -> KernelErrors:
        """Least error of a kernel (n, n), and the ridge that gives it."""
        kernels = [pattern.kernel(K) for pattern in self.patterns]
        squares: dict[float, list[Array]] = {}

        def error_at(ridge: float) -> float:
            squares[ridge] = self._squares_at(ridge, kernels)
            if len(squares[ridge]) < len(kernels):
                return np.inf
            return sum(float(each.sum()) for each in squares[ridge])

        ridge = self.ridge
        if ridge is None:
            error, ridge = self.search.least(error_at)
        else:
            error = error_at(ridge)
        return KernelErrors(error, ridge, self._by_row(squares[ridge]))

    def _squares_at(self, ridge: float, kernels: Sequence[Array]) -> list[Array]:
        """Squared errors of centred kernels at a ridge; none from a singular one on."""
        squares = []
        for pattern, centred in zip(self.patterns, kernels, strict=True):
            try:
                squares.append(pattern.squared_errors(centred, ridge))
            except SingularError:
                if self.ridge is not None:
                    raise
                break  # in single precision
        return squares

    def _by_row(self, squares: Sequence[Array]) -> FloatArray:
        """Squared errors of each row (n,), summed over labels."""
        by_row = np.zeros(self.n_rows)
        if len(squares) < len(self.patterns):
            return by_row + np.inf
        for pattern, errors in zip(self.patterns, squares, strict=True):
            by_row[asnumpy(pattern.rows)] += asnumpy(errors.sum(axis=1))
        return by_row


def _largest(
    label_groups: Sequence[NDArray[np.intp]],
) -> list[NDArray[np.intp]]:
    """The groups of most labels, which judge for all."""
    return sorted(label_groups, key=len, reverse=True)[:JUDGING_PATTERNS]


# sums ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class BlockColumns:
    """Columns of scaled rows Z (n, D).

    ``of`` gives the columns (m, Q) of some scaled rows (m, D), which become ``dtype``.
    If they are to be held and those of all rows fit in memory, they are made once, else
    again for each use.
    """

    of: Callable[[Matrix], Array]
    Z: Matrix
    n_columns: int
    dtype: DTypeLike = np.float64
    is_held: bool = True

    def rows(self, rows: RowIndex) -> Array:
        """The columns of some rows."""
        return self._made(self.Z[rows]) if self._held is None else self._held[rows]

    @cached_property
    def _held(self) -> Array | None:
        """The columns of all rows, (n, Q), if they are held."""
        is_large = self._bytes_per_row * self.Z.shape[0] > MAX_HELD_BYTES
        return None if is_large or not self.is_held else self._made(self.Z)

    def _made(self, Z: Matrix) -> Array:
        """The columns of scaled rows (m, D), made for some of them at a time."""
        n_rows = Z.shape[0]
        made_bytes = max(MADE_BYTES, MIN_MADE_ROWS * self._bytes_per_row)
        blocks = row_blocks(n_rows, self._bytes_per_row, made_bytes, like=Z)
        first = cast(self.of(Z[next(blocks, slice(0))]), self.dtype)
        if len(first) == n_rows:
            return first
        shape = (n_rows, first.shape[1])
        columns = namespace(first).empty(shape, dtype=first.dtype, like=first)
        columns[: len(first)] = first
        for rows in blocks:
            columns[rows] = cast(self.of(Z[rows]), self.dtype)
        return columns

    @property
    def _bytes_per_row(self) -> int:
        return np.dtype(self.dtype).itemsize * self.n_columns

    def blocks(self, like: Array) -> Iterator[slice]:
        """Rows whose columns may be copied at once."""
        bytes_per_row = 8 * ROW_COPIES * self.n_columns
        return row_blocks(self.Z.shape[0], bytes_per_row, like=like)

    def moments(
        self,
        block: Block,
        label_groups: Sequence[NDArray[np.intp]],
        before: "BlockColumns | None" = None,
    ) -> list[Moments]:
        """Sums over all rows, which are those of a block, for each group of labels.

        With the products of columns that are ``before`` these, as in `Moments.of`.
        """
        return reduce(_add, self._sums(block, label_groups, before))

    def _sums(
        self,
        block: Block,
        label_groups: Sequence[NDArray[np.intp]],
        before: "BlockColumns | None",
    ) -> Iterator[list[Moments]]:
        """Sums over some rows at a time, made when they are added."""
        by_pattern = rows_by_pattern(block, label_groups)
        n_beside = 0 if before is None else before.n_columns
        bytes_per_row = 8 * ROW_COPIES * (self.n_columns + n_beside)
        for each in row_blocks(
            self.Z.shape[0], bytes_per_row, SUMMED_BYTES, like=block.w
        ):
            rows: RowIndex = each
            if not isinstance(by_pattern, slice):
                rows = by_pattern[each]
            beside = None if before is None else before.rows(rows)
            yield moments_by_group(
                self.rows(rows), block.take(rows), label_groups, beside
            )

    def variances(self, w: Array) -> FloatArray:
        """Variance of each column (Q,) under weights w (n,).

        In one pass: columns are of size 1 at most, so nothing is lost to rounding.
        """
        sums: Array | float = 0.0
        squares: Array | float = 0.0
        for rows in self.blocks(w):
            Phi = cast(self.rows(rows), np.float64)
            sums = sums + w[rows] @ Phi
            squares = squares + w[rows] @ (Phi * Phi)
        mean = asnumpy(sums / w.sum())
        return np.maximum(asnumpy(squares / w.sum()) - mean**2, 0.0)


def _add(sums: list[Moments], others: list[Moments]) -> list[Moments]:
    """The sums of each group over two sets of rows, in place of the first."""
    for g, other in enumerate(others):
        sums[g] += other
    return sums


@dataclass(frozen=True)
class JudgedSums:
    """Labels that were observed in the same rows, for fits by sums.

    ``moments`` are sums over the rows that do not judge; ``Phi`` (n, Q) and ``targets``
    are the judging rows that count.
    """

    moments: Moments
    Phi: Array
    targets: LabelRows

    def extended(self, others: "JudgedSums") -> "JudgedSums":
        """The same for these columns and others, summed up with these before them."""
        xp = namespace(self.Phi)
        return JudgedSums(
            moments=self.moments.extended(others.moments),
            Phi=xp.concatenate([self.Phi, others.Phi], axis=1),
            targets=self.targets,
        )

    def weighted(self, columns: NDArray[np.intp], weights: FloatArray) -> "JudgedSums":
        """The same for some columns (q,), each times a weight (q,)."""
        return JudgedSums(
            moments=self.moments.weighted(columns, weights),
            Phi=self.Phi[:, columns] * put(weights, self.Phi),
            targets=self.targets,
        )

    def squared_error(self, ridge: float, prior: Array | None) -> float:
        """Squared error of a fit to the other rows."""
        fitted = self.moments.solve(Penalty(ridge), prior)
        residuals = self.targets.Y - fitted.scores(self.Phi)
        return float((self.targets.w @ (residuals * residuals)).sum())


@dataclass
class SumsJudge:
    """Errors of some rows of a sample under fits to its other rows.

    ``columns`` are the last ones that are judged. ``total_weight`` is that of all
    labels of the judging rows; ``ridge`` is None where it is searched.
    """

    columns: BlockColumns
    patterns: list[JudgedSums]
    total_weight: float
    ridge: float | None
    search: RidgeSearch

    @classmethod
    def of(
        cls,
        columns: BlockColumns,
        block: Block,
        judging: NDArray[np.intp],
        label_groups: Sequence[NDArray[np.intp]],
        ridge: float | None,
        search: RidgeSearch,
        before: "SumsJudge | None" = None,
    ) -> "SumsJudge":
        """A judge of columns of a block, by some of its rows.

        With the judge of other columns ``before`` it judges those and then these, and
        takes over what was summed up for those.
        """
        patterns: list[JudgedSums] = []
        total_weight = 0.0
        judged_groups = _largest(label_groups)
        others = block.without_weight(judging)
        first = None if before is None else before.columns
        sums = columns.moments(others, judged_groups, first)
        for labels, moments in zip(judged_groups, sums, strict=True):
            if int((others.of_labels(labels).w > 0).sum()) < 2:
                continue
            targets = block.of_labels(labels)
            judges = judging[asnumpy(targets.w[judging]) > 0]
            judged = targets.take(judges)
            Phi = cast(columns.rows(judges), np.float64)
            own = JudgedSums(moments, Phi, judged)
            if before is not None:
                own = before.patterns[len(patterns)].extended(own)
            patterns.append(own)
            total_weight += float(judged.w.sum()) * len(labels)
        return cls(columns, patterns, max(total_weight, 1e-300), ridge, search)

    def error(
        self, weights: FloatArray, prior: Array | None = None
    ) -> tuple[float, float]:
        """Least error of columns of some weights (Q,), and the ridge that gives it.

        Columns of weight 0 are left out. ``prior`` is that of the last columns.
        """
        columns = np.flatnonzero(weights > 0)
        roots = np.sqrt(weights[columns])
        patterns = [pattern.weighted(columns, roots) for pattern in self.patterns]

        def error_at(ridge: float) -> float:
            try:
                return sum(pattern.squared_error(ridge, prior) for pattern in patterns)
            except SingularError:
                if self.ridge is not None:
                    raise
                return np.inf

        if self.ridge is not None:
            return error_at(self.ridge), self.ridge
        return self.search.least(error_at)
