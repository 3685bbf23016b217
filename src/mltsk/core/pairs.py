"""Pairs of features that act together: fuzzy rules with two conditions.

Symbols: Z (N, D) scaled samples, C conditions, R rules, N samples.

A condition is a triangle on the percentiles of one column: "age is low", "age is
middling", "age is high", whose memberships add up to 1. A column of two values has one
condition, that of the larger value. A pair of columns has a rule for each of its
conditions with each of the other's. A rule fires with the product of both memberships,
so the rules of two numbers are a surface, bent at the peaks of the triangles and
straight between them.

A membership counts as its distance from its average over the training data, and a
missing value as that average: it adds nothing. So a pair adds what its two features do
together and hardly anything that each does alone, which is told by its own curve: on
average over one of them, the surface is 0, if both are independent.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .arrays import (
    Array,
    FloatArray,
    asnumpy,
    cast,
    is_tensor,
    namespace,
    put,
    row_blocks,
    underflow_is_zero,
)
from .scales import Scaling

PRODUCT_ROWS = 1_000  # whose memberships are turned round at a time


@dataclass(frozen=True)
class Conditions:
    """C triangles on percentiles of columns.

    Parameters
    ----------
    column : array of int of shape (C,)
    left, peak, right : arrays of shape (C,)
        The percentiles at which the membership rises from 0, is 1, and is 0 again.
        It is 1 on the whole of a side where the peak is that end.
    mean : array of shape (C,)
        Averages of the memberships over the training data.
    """

    column: NDArray[np.intp]
    left: FloatArray
    peak: FloatArray
    right: FloatArray
    mean: FloatArray

    @classmethod
    def of(cls, scaling: Scaling, columns: Sequence[int], n_peaks: int) -> "Conditions":
        """At most ``n_peaks`` triangles for each of some columns, by their values.

        Their means are still 0.
        """
        column: list[int] = []
        triangles: list[tuple[float, float, float]] = []
        for d in columns:
            own = _triangles(scaling.levels[d, : scaling.n_values[d]], n_peaks)
            column += [d] * len(own)
            triangles += own
        left, peak, right = np.array(triangles).reshape(-1, 3).T.copy()
        return cls(
            column=np.array(column, dtype=np.intp),
            left=left,
            peak=peak,
            right=right,
            mean=np.zeros(len(column)),
        )

    def __len__(self) -> int:
        return len(self.column)

    def joined(self, other: "Conditions") -> "Conditions":
        """These conditions and then others."""
        return Conditions(
            column=np.concatenate([self.column, other.column]),
            left=np.concatenate([self.left, other.left]),
            peak=np.concatenate([self.peak, other.peak]),
            right=np.concatenate([self.right, other.right]),
            mean=np.concatenate([self.mean, other.mean]),
        )

    @underflow_is_zero()
    def memberships(self, Z: Array, scaling: Scaling) -> Array:
        """Memberships (N, C) of scaled samples, NaN where a value is missing."""
        spread = cast(put(scaling.spread[self.column], Z), Z.dtype)
        offset = cast(put(scaling.offset[self.column], Z), Z.dtype)
        levels = Z[:, self.column] * spread + offset
        rising = self._side(levels, self.left, self.peak)
        falling = self._side(levels, self.right, self.peak)
        return namespace(Z).minimum(rising, falling)

    def _side(self, levels: Array, end: FloatArray, peak: FloatArray) -> Array:
        """How far levels (N, C) have come from an end towards the peak, up to 1."""
        is_flat = end == peak
        slope = np.where(is_flat, 0.0, 1.0 / np.where(is_flat, 1.0, peak - end))
        start = np.where(is_flat, 1.0, -end * slope)
        share = levels * cast(put(slope, levels), levels.dtype)
        share = share + cast(put(start, levels), levels.dtype)
        return namespace(levels).clip(share, 0.0, 1.0)


def _triangles(levels: FloatArray, n_peaks: int) -> list[tuple[float, float, float]]:
    """(left, peak, right) of the conditions on a column that has these levels (q,)."""
    if len(levels) == 2:
        return [(float(levels[0]), float(levels[1]), float(levels[1]))]
    peaks = levels
    if len(levels) > n_peaks:
        # in the middle of equal shares of the data, at percentiles that some value has
        shares = (np.arange(n_peaks) + 0.5) / n_peaks
        nearest = np.searchsorted(levels, shares).clip(0, len(levels) - 1)
        peaks = np.unique(levels[nearest])
    ends = np.concatenate([peaks[:1], peaks, peaks[-1:]]).tolist()
    return list(zip(ends[:-2], ends[1:-1], ends[2:], strict=True))


@dataclass(frozen=True)
class Pairs:
    """R rules of two conditions, those of one pair of columns next to each other.

    Parameters
    ----------
    conditions : Conditions
    first, second : arrays of int of shape (R,)
        The two conditions of each rule.
    share : array of shape (R,)
        Averages over the training data of the product of both memberships: how much of
        the data each rule is about.
    """

    conditions: Conditions
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    share: FloatArray

    @classmethod
    def none(cls) -> "Pairs":
        """No pairs."""
        nothing = np.zeros(0)
        nobody = np.zeros(0, dtype=np.intp)
        conditions = Conditions(
            column=nobody, left=nothing, peak=nothing, right=nothing, mean=nothing
        )
        return cls(conditions, nobody, nobody, share=nothing)

    @classmethod
    def of(
        cls,
        scaling: Scaling,
        columns: Sequence[tuple[int, int]],
        n_peaks: int,
    ) -> "Pairs":
        """The rules of some pairs of columns; their means are still 0."""
        used = sorted({d for pair in columns for d in pair})
        conditions = Conditions.of(scaling, used, n_peaks)
        first: list[int] = []
        second: list[int] = []
        for a, b in columns:
            of_a = np.flatnonzero(conditions.column == a)
            of_b = np.flatnonzero(conditions.column == b)
            first += np.repeat(of_a, len(of_b)).tolist()
            second += np.tile(of_b, len(of_a)).tolist()
        return cls(
            conditions=conditions,
            first=np.array(first, dtype=np.intp),
            second=np.array(second, dtype=np.intp),
            share=np.zeros(len(first)),
        )

    def __len__(self) -> int:
        """The number R of rules."""
        return len(self.first)

    @property
    def columns(self) -> NDArray[np.intp]:
        """The two columns of each rule, (R, 2)."""
        column = self.conditions.column
        return np.stack([column[self.first], column[self.second]], axis=1)

    @property
    def starts(self) -> NDArray[np.intp]:
        """Where the rules of each pair begin."""
        if not len(self):
            return np.zeros(0, dtype=np.intp)
        changes = (np.diff(self.columns, axis=0) != 0).any(axis=1)
        return np.concatenate([[0], np.flatnonzero(changes) + 1])

    @property
    def blocks(self) -> dict[tuple[int, int], NDArray[np.intp]]:
        """The rules of each pair, by its two columns."""
        rules = np.split(np.arange(len(self)), self.starts[1:])
        columns = self.columns
        return {
            (int(columns[own[0], 0]), int(columns[own[0], 1])): own
            for own in rules
            if len(own)
        }

    def first_rules(self, n_rules: int) -> "Pairs":
        """The first of these rules, which are whole pairs."""
        return replace(
            self,
            first=self.first[:n_rules],
            second=self.second[:n_rules],
            share=self.share[:n_rules],
        )

    def joined(self, other: "Pairs") -> "Pairs":
        """These pairs, and those of another list that are not among them."""
        here = self.blocks
        new = [own for pair, own in other.blocks.items() if pair not in here]
        rules = np.concatenate([np.zeros(0, dtype=np.intp), *new])
        C = len(self.conditions)
        return Pairs(
            conditions=self.conditions.joined(other.conditions),
            first=np.concatenate([self.first, other.first[rules] + C]),
            second=np.concatenate([self.second, other.second[rules] + C]),
            share=np.concatenate([self.share, other.share[rules]]),
        )

    def positions_in(self, other: "Pairs") -> NDArray[np.intp]:
        """Where the rules of these pairs are among those of another list, (R,)."""
        there = other.blocks
        positions = [there[pair] for pair in self.blocks]
        return np.concatenate([np.zeros(0, dtype=np.intp), *positions])

    def memberships(self, Z: Array, scaling: Scaling | None) -> Array:
        """How far scaled samples fire the rules, (N, R); 0 where a value is missing.

        That is the product of what both memberships are above their averages.
        """
        xp = namespace(Z)
        if not len(self) or scaling is None:
            return xp.zeros((len(Z), 0), dtype=Z.dtype, like=Z)
        U = self.conditions.memberships(Z, scaling)
        U = U - cast(put(self.conditions.mean, U), U.dtype)
        if not bool((U == U).all()):
            U = xp.where(U == U, U, 0.0)
        if is_tensor(U):
            return U[:, self.first] * U[:, self.second]
        return self._products(U)

    def _products(self, U: FloatArray) -> FloatArray:
        """Products (N, R) of memberships U (N, C).

        Some rows at a time and turned round: columns are then taken as a whole, which
        is six times faster than cell by cell.
        """
        F = np.empty((len(U), len(self)), dtype=U.dtype)
        for start in range(0, len(U), PRODUCT_ROWS):
            rows = slice(start, start + PRODUCT_ROWS)
            columns = np.ascontiguousarray(U[rows].T)
            F[rows] = (columns[self.first] * columns[self.second]).T
        return F

    def averaged(self, Z: Array, scaling: Scaling, w: Array) -> "Pairs":
        """These rules with means and shares over scaled samples of weights w (N,)."""
        xp = namespace(Z)
        weight_of_conditions = _Average()
        weight_of_rules = _Average()
        for rows in row_blocks(len(Z), 40 * (len(self) + 1), like=Z):
            U = self.conditions.memberships(Z[rows], scaling)
            weights = cast(w[rows], U.dtype)
            measured = cast(U == U, U.dtype)
            U = xp.where(U == U, U, 0.0)
            weight_of_conditions.add(weights @ U, weights @ measured)
            weight_of_rules.add(
                weights @ (U[:, self.first] * U[:, self.second]),
                weights @ (measured[:, self.first] * measured[:, self.second]),
            )
        means = weight_of_conditions.value()
        return replace(
            self,
            conditions=replace(self.conditions, mean=means),
            share=weight_of_rules.value(),
        )


class _Average:
    """Sums over blocks of rows, and what they are on average."""

    def __init__(self) -> None:
        self._sums: Array | float = 0.0
        self._total: Array | float = 0.0

    def add(self, sums: Array, total: Array) -> None:
        """Add the sums of a block, and its weight."""
        self._sums = self._sums + sums
        self._total = self._total + total

    def value(self) -> FloatArray:
        """The averages between 0 and 1, 0 where there was no weight."""
        total = asnumpy(self._total).astype(np.float64)
        averages = asnumpy(self._sums) / np.where(total > 0, total, 1.0)
        return np.clip(averages.astype(np.float64), 0.0, 1.0)
