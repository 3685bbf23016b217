"""Exact weighted percentiles and ranks of features whose values never come together in one place.

Symbols: one feature with values x, weights w > 0, W = Σ w; below(v) the weight of values < v, mass(v) that of v.

Two questions are asked of a feature: the smallest value v with (below(v) + mass(v) / 2) / W >= t (a knot of a
percentile scale), and the value of rank k (a quantile of the sample). Few distinct values answer both at once: their
table is small, and tables add up. For many, every pass cuts the line into intervals and brings back, for each, its
weight, its count, its least and its largest value and the weight of the latter. That tells exactly which interval holds
an answer, and the next pass cuts that one again, until it holds a single value. Cuts are spread evenly over the
interval's numbers *and* over its floating-point representations, so that every distribution comes to an end: within 64
bits whatever the values, within about 1 + log₇(N / 1000) passes where they are ordinary.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from .rows import Block, Passes

# Intervals of all features together in one pass: a statistic of 10 MB, and 8 cuts for each of 300 answers at D = 100.
INTERVALS = 2**18
_MOST_CUTS = 4096
_SIGN = np.uint64(1 << 63)


@dataclass(frozen=True)
class Table:
    """Distinct ``values`` of a feature in order, the weight and the number of rows of each."""

    values: Array
    mass: Array
    count: Array

    @classmethod
    def of(cls, x: Array, w: Array) -> "Table":
        """Of a column."""
        values, where, count = np.unique(x, return_inverse=True, return_counts=True)
        return cls(values, _weights(where, w, len(values)), count.astype(np.float64))

    def __add__(self, other: "Table") -> "Table":
        values, where = np.unique(np.concatenate([self.values, other.values]), return_inverse=True)
        parts = (np.concatenate(pair) for pair in ((self.mass, other.mass), (self.count, other.count)))
        mass, count = (_weights(where, part, len(values)) for part in parts)
        return Table(values, mass, count)

    def ends(self) -> "Table":
        """The least and the largest value alone."""
        which = [0, -1]
        return Table(self.values[which], self.mass[which], self.count[which])


def _weights(where: NDArray[np.intp], w: Array, count: int) -> Array:
    return np.bincount(where, weights=w, minlength=count).astype(np.float64, copy=False)


@dataclass(frozen=True)
class Tables:
    """A `Table` a feature, of all values where they are at most ``limit``, else of the two ends (``complete`` False).

    ``n_rows`` and ``weight`` are of all rows.
    """

    tables: tuple[Table, ...]
    complete: tuple[bool, ...]
    limit: int
    n_rows: int
    weight: float

    @classmethod
    def of(cls, block: Block, limit: int) -> "Tables":
        """Statistic: of a block."""
        X, w = block.X.astype(np.float64, copy=False), block.w.astype(np.float64, copy=False)
        return cls((), (), limit, len(w), float(w.sum()))._with([(Table.of(x, w), True) for x in X.T])

    def __add__(self, other: "Tables") -> "Tables":
        pairs = zip(self.tables, other.tables, self.complete, other.complete, strict=True)
        sums = replace(self, n_rows=self.n_rows + other.n_rows, weight=self.weight + other.weight)
        return sums._with([(a + b, whole_a and whole_b) for a, b, whole_a, whole_b in pairs])

    def _with(self, found: Sequence[tuple[Table, bool]]) -> "Tables":
        complete = tuple(whole and len(table.values) <= self.limit for table, whole in found)
        tables = (table if whole else table.ends() for (table, _), whole in zip(found, complete, strict=True))
        return replace(self, tables=tuple(tables), complete=complete)


@dataclass(frozen=True)
class Intervals:
    """Of C intervals of F features: weight, count, least and largest value (±inf if empty), weight of the largest."""

    mass: Array
    count: Array
    low: Array
    high: Array
    high_mass: Array

    @classmethod
    def of(cls, block: Block, features: NDArray[np.intp], cuts: Array) -> "Intervals":
        """Statistic: intervals [cut, next cut) of some features, the first of everything below, (F, C + 1)."""
        w = block.w.astype(np.float64, copy=False)
        columns = (block.X[:, d].astype(np.float64) + 0.0 for d in features)  # + 0.0: there is one zero, not two
        found = [_intervals(x, w, c) for x, c in zip(columns, cuts, strict=True)]
        return cls(*(np.stack(part) for part in zip(*found, strict=True)))

    def __add__(self, other: "Intervals") -> "Intervals":
        high = np.maximum(self.high, other.high)
        high_mass = self.high_mass * (self.high == high) + other.high_mass * (other.high == high)
        low = np.minimum(self.low, other.low)
        return Intervals(self.mass + other.mass, self.count + other.count, low, high, high_mass)


def _intervals(x: Array, w: Array, cuts: Array) -> tuple[Array, ...]:
    order = np.argsort(x)
    x, total = x[order], np.concatenate([[0.0], np.cumsum(w[order])])
    edges = np.concatenate([[0], np.searchsorted(x, cuts), [len(x)]])
    first, last = edges[:-1], edges[1:]
    full = last > first
    low = np.where(full, x[np.minimum(first, len(x) - 1)], np.inf)
    high = np.where(full, x[np.maximum(last - 1, 0)], -np.inf)
    high_mass = np.where(full, total[last] - total[np.searchsorted(x, high)], 0.0)
    return total[last] - total[first], (last - first).astype(np.float64), low, high, high_mass


@dataclass(frozen=True)
class Answers:
    """For every feature and question: the value, and the weight up to and with it and of it alone, (F, T)."""

    values: Array
    below: Array
    mass: Array


def select(
    rows: Passes, features: NDArray[np.intp], low: Array, high: Array, shares: Array, ranks: Array, total: float
) -> Answers:
    """Exact answers for ``features`` whose values lie in [low, high] (F,), in as many passes as it takes.

    ``shares`` (F, T) are percentiles t, ``ranks`` (R,) places in the order, from 0; ``total`` is W. The T answers to
    the former come first, then the R to the latter.
    """
    T, n = shares.shape[1], len(features)
    lows, highs = (np.repeat(end[:, None], T + len(ranks), axis=1) for end in (low, high))
    below, mass = np.zeros_like(lows), np.zeros_like(lows)
    while np.any(open_ := lows < highs):
        where = np.flatnonzero(open_.any(axis=1))
        cuts = _all_cuts(lows[where], highs[where])
        found = rows.reduce("quantiles", Intervals.of, features[where], cuts)
        for i, f in enumerate(where):
            at = _holding(found, i, shares[f] * total, ranks)
            at, here = at[open_[f]], open_[f]
            lows[f, here], highs[f, here] = found.low[i, at], found.high[i, at]
            below[f, here], mass[f, here] = np.cumsum(found.mass[i])[at], found.mass[i, at]
    return Answers(lows.reshape(n, -1), below, mass)


def _holding(found: Intervals, i: int, weights: Array, ranks: Array) -> NDArray[np.intp]:
    """The interval of feature i that holds each answer: the first whose last value answers."""
    reach = np.where(found.count[i] > 0, np.cumsum(found.mass[i]) - found.high_mass[i] / 2, -np.inf)
    reach, last = np.maximum.accumulate(reach), int(np.flatnonzero(found.count[i])[-1])
    by_share = np.minimum(np.searchsorted(reach, weights), last)
    return np.concatenate([by_share, np.searchsorted(np.cumsum(found.count[i]), ranks, side="right")])


def _all_cuts(lows: Array, highs: Array) -> Array:
    """Cuts (F, C) of the open intervals of every feature, in order, filled up with inf."""
    brackets = [np.unique(np.stack([a[a < b], b[a < b]], axis=1), axis=0) for a, b in zip(lows, highs, strict=True)]
    most = max(len(pairs) for pairs in brackets)
    each = int(np.clip(INTERVALS // (len(brackets) * most), 2, _MOST_CUTS))
    found = [np.unique(_cuts(pairs[:, 0], pairs[:, 1], each)) for pairs in brackets]
    width = max(map(len, found))
    return np.stack([np.pad(c, (0, width - len(c)), constant_values=np.inf) for c in found])


def _cuts(low: Array, high: Array, count: int) -> Array:
    """Ends of intervals [low, high] and ``count`` cuts inside each: half by value, half by representation."""
    share = np.arange(1, count // 2 + 1) / (count // 2 + 1)
    by_value = low[:, None] * (1 - share) + high[:, None] * share
    a, b = _ordered(low), _ordered(high)
    step = np.maximum((b - a) // np.uint64(count - count // 2 + 1), np.uint64(1))
    places = a[:, None] + np.arange(1, count - count // 2 + 1, dtype=np.uint64) * step[:, None]
    by_bits = _unordered(np.minimum(places, b[:, None]))
    with np.errstate(over="ignore"):  # above the largest number there is inf, and nothing lies there
        after, beyond = np.nextafter(low, np.inf), np.nextafter(high, np.inf)
    inside = np.clip(np.concatenate([by_value, by_bits], axis=1), after[:, None], high[:, None])
    return np.concatenate([low, beyond, inside.ravel()])


def _ordered(x: Array) -> NDArray[np.uint64]:
    """Whole numbers in the order of the floating-point numbers x, one step for each representable one."""
    bits = np.ascontiguousarray(x + 0.0).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _unordered(number: NDArray[np.uint64]) -> Array:
    bits = np.where(number & _SIGN, number ^ _SIGN, ~number)
    return bits.view(np.float64) + 0.0
