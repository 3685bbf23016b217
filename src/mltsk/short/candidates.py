"""What a short model may say: ramps between round cut points, and short exceptions.

Ramps are straight lines in the caller's units between cut points of few digits, and
exceptions have few conditions.

Symbols: N samples, D columns, L labels, C candidates: P terms, then K exceptions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array
from scipy.sparse import issparse as is_sparse

from ..core.arrays import Array, FloatArray, Matrix, dense
from ..core.interpolation import MAX_SAFE_SUM
from ..core.lines import over_range
from ..core.magnitude import rounded, unit_factors
from ..core.membership import firing_strengths
from ..core.pairs import Pairs
from ..core.scales import Scaling
from ..core.straight import MIN_STRAIGHT_RAMP
from ..core.terms import FEW_VALUES, Terms
from ..system import STRAIGHT, FuzzySystem
from .cuts import cut_step, digits_of_step, round_range, weighted_quantiles
from .regions import Index, RegionFinder

# Percentiles of a column at which ramps may begin and end.
CUT_PERCENTILES = (0.01, 0.15, 0.35, 0.65, 0.85, 0.99)
MIN_RAMP_SHARE = 1e-13  # the least length of a ramp next to where it ends


@dataclass(frozen=True)
class Candidates:
    """Terms and exceptions that a short model chooses from.

    Parameters
    ----------
    base : FuzzySystem
        A system without numbers, on whose scale all of this is.
    terms : Terms
    centers, widths : (K, D)
        Exceptions; a width is infinite where there is no condition.
    """

    base: FuzzySystem
    terms: Terms
    centers: Array
    widths: Array

    @classmethod
    def of(
        cls, long: FuzzySystem, X: Array, w: Array, max_conditions: int | None
    ) -> "Candidates":
        """Candidates for a short version of a long model.

        Parameters
        ----------
        long : FuzzySystem
        X, w : (N, D), (N,)
            Dense rows, and their weights, all above 0.
        max_conditions : int or None
            Of an exception.
        """
        long = replace(long, quantiles=_weighted_grid(long, X, w))
        steps = np.array([cut_step(x, w) for x in X.T])
        scaling = _straight_scaling(long, X)
        terms = _ramp_terms(long, X, w, steps, scaling)
        low, span, factors = _ends(scaling)
        finder = RegionFinder(long, steps, _has_two_values(scaling))
        centers, reaches = finder.regions(max_conditions)
        base = replace(
            long,
            scale_name=STRAIGHT,
            scaling=scaling,
            terms=terms,
            members=None,
            firing="plain",
            pairs=Pairs.none(),
            pair_coef=None,
        )
        centers = (centers * factors - low) / span
        widths = (reaches * factors) ** 2 / np.log(2) / span**2
        widths = np.maximum(widths, MIN_STRAIGHT_RAMP**2)
        return cls(base, terms, centers, widths)

    @classmethod
    def linear(cls, long: FuzzySystem) -> "Candidates":
        """The linear terms of a long model, and no exceptions."""
        none = np.zeros((0, len(long.feature_names)))
        return cls(long, long.terms, none, none)

    def columns(self, X: Matrix) -> Matrix:
        """Memberships of samples (N, D) in all candidates, (N, C).

        Those of sparse samples are CSC, as C is the number of their columns.
        """
        Z = self.base.scale(X)
        scaling = self.base.scaling
        T = self.terms.memberships(Z, scaling)
        if is_sparse(T):
            columns = csc_array(T, dtype=np.float64)
            columns.sum_duplicates()
            return columns
        T = np.asarray(T, dtype=np.float64)
        if not len(self.centers):
            return T
        share = None if scaling is None else scaling.share
        M = firing_strengths(Z, self.centers, self.widths, firing="plain", share=share)
        return np.hstack([T, M])

    @cached_property
    def costs(self) -> NDArray[np.int64]:
        """Statements that each candidate needs, (C,): its conditions, at least one."""
        conditions = np.isfinite(self.widths).sum(axis=1)
        of_terms = np.ones(len(self.terms), dtype=np.int64)
        if self.base.columns is not None:
            of_terms = np.array(self.base.columns.conditions)[self.terms.feature]
        return np.maximum(np.concatenate([of_terms, conditions]), 1)

    @cached_property
    def has_names(self) -> NDArray[np.bool_]:
        """Which columns (D,) have values that are told by name."""
        base = self.base
        is_coded = [name in base.categories for name in base.feature_names]
        has_names = np.array(is_coded, dtype=bool)
        if base.scaling is not None:
            has_names |= _has_two_values(base.scaling)
        if base.columns is not None:
            has_names |= base.columns.indicators | base.columns.monotone
        return has_names

    @cached_property
    def line_spans(self) -> dict[int, float]:
        """The terms that are told per unit of their feature, and how long they are."""
        terms = self.terms
        scaling = self.base.scaling
        if terms.low is None or terms.high is None or scaling is None:
            return {}
        is_unnamed = ~self.has_names[terms.feature]
        is_told = is_unnamed & over_range(terms.low, terms.high)
        spans = {}
        for p in np.flatnonzero(is_told).tolist():
            low, high = scaling.values[terms.feature[p], [0, -1]].tolist()
            share = float(terms.high[p] - terms.low[p])
            # two halves, of which the sum may be infinite
            spans[p] = share * (high / 2 - low / 2) * 2
        return spans

    @cached_property
    def _ramp_positions(self) -> dict[tuple[int, float, float], int]:
        """Position of each term by its feature, beginning and end."""
        terms = self.terms
        if terms.low is None or terms.high is None:
            return {}
        keys = zip(
            terms.feature.tolist(), terms.low.tolist(), terms.high.tolist(), strict=True
        )
        return {key: position for position, key in enumerate(keys)}

    @cached_property
    def _line_positions(self) -> dict[int, int]:
        """Position of the line over the whole range by its feature."""
        terms = self.terms
        lines = np.flatnonzero(over_range(terms.low, terms.high)).tolist()
        return {int(terms.feature[p]): p for p in lines}

    def ramp_over(self, p: int, q: int) -> int | None:
        """The ramp over two others of one feature, if it is another one."""
        terms = self.terms
        if terms.low is None or terms.high is None or max(p, q) >= len(terms):
            return None
        low = float(min(terms.low[p], terms.low[q]))
        high = float(max(terms.high[p], terms.high[q]))
        feature = int(terms.feature[p])
        position = self._ramp_positions.get((feature, low, high))
        if position is None and over_range(low, high):
            position = self._line_positions.get(feature)
        return None if position in (p, q) else position

    def agreement(
        self, A: Matrix, mean: Array, w: Array, *, coef: Array, other: Array
    ) -> NDArray[np.int64]:
        """1 where another choice has the same effect of a feature on a label, (D, L).

        Effects are the same if they vary together over rows of the columns A (N, C)
        with these means (C,) and the weights w (N,); ``coef`` and ``other`` (C, L) are
        the numbers of the two choices.
        """
        groups = self._feature_groups
        same = np.zeros((len(groups), coef.shape[1]), dtype=np.int64)
        term_group = groups[self.terms.feature]
        n_terms = len(term_group)
        is_chosen = coef[:n_terms].any(axis=1)
        is_other = other[:n_terms].any(axis=1)
        shared = np.intersect1d(term_group[is_chosen], term_group[is_other])
        for group in shared.tolist():
            of_group = np.flatnonzero((is_chosen | is_other) & (term_group == group))
            columns = centred_columns(A, mean, of_group)
            products = columns.T @ (columns * w[:, None])
            # 0 where one of the two choices has no number
            together = (coef[of_group] * (products @ other[of_group])).sum(axis=0)
            same[groups == group] = together > 0
        return same

    @cached_property
    def _feature_groups(self) -> Index:
        """The feature of each column, (D,): "not measured" is one of its own."""
        columns = self.base.columns
        if columns is None:
            return np.arange(len(self.base.feature_names))
        groups = np.array([part.feature for part in columns.parts])
        first_gap = len(columns.parts) - sum(columns.gaps)
        gaps = np.arange(first_gap, len(groups))
        groups[first_gap:] = len(columns.names) + gaps
        return groups


def centred_columns(A: Matrix, mean: Array, kept: Index) -> FloatArray:
    """Some columns of A (N, C) less their means, which are among ``mean`` (C,)."""
    return np.asarray(dense(A[:, kept]) - mean[kept])


def _ends(scaling: Scaling) -> tuple[Array, Array, Array]:
    """Where columns begin, their length, and what both were multiplied with, (D,) each.

    The length is 1 where all values of a column are the same. The factors are 1 unless
    numbers are very large or very small.
    """
    low = scaling.values[:, 0]
    high = scaling.values[:, -1]
    factors = unit_factors(np.maximum(np.abs(low), np.abs(high)))
    low = low * factors
    high = high * factors
    return low, np.where(high > low, high - low, 1.0), factors


def _has_two_values(scaling: Scaling) -> NDArray[np.bool_]:
    """Which columns (D,) of a straight scale have two values: they have two knots."""
    return np.asarray(scaling.n_values == 2)


def _straight_scaling(long: FuzzySystem, X: Array) -> Scaling:
    """Straight lines from 0 at the least value of a column to 1 at its largest.

    Columns of two values have no third knot.
    """
    low, high = np.asarray(long.quantiles, dtype=np.float64)[:, [0, -1]].T
    varies = high > low
    has_third = np.array([len(np.unique(x[~np.isnan(x)])) > 2 for x in X.T], dtype=bool)
    # the sum of two very large numbers may be larger than all numbers
    is_large = np.maximum(np.abs(low), np.abs(high)) > MAX_SAFE_SUM
    scale = np.where(is_large, 0.5, 1.0)
    middle = (low * scale + high * scale) / (2 * scale)
    middle = np.where(has_third, middle, high)
    middle_level = np.where(middle < high, 0.5, 1.0)
    return Scaling(
        values=np.stack([low, middle, high], axis=1),
        levels=np.stack([0 * low, varies * middle_level, varies * 1.0], axis=1),
        offset=np.zeros(len(low)),
        spread=np.ones(len(low)),
        bounded=True,
        share=np.ones(len(low)),
    )


def _weighted_grid(long: FuzzySystem, X: Array, w: Array) -> FloatArray:
    """Percentiles 0, 5, …, 100 of each column, (D, 21), in which weights are copies.

    The ends are those of all rows of the long model.
    """
    grid = np.array(long.quantiles, dtype=np.float64)
    inner = np.linspace(0.0, 1.0, grid.shape[1])[1:-1]
    for d, x in enumerate(X.T):
        measured = ~np.isnan(x)
        if measured.any():
            grid[d, 1:-1] = weighted_quantiles(x[measured], w[measured], inner)
    return grid


def _ramp_terms(
    long: FuzzySystem, X: Array, w: Array, steps: Array, scaling: Scaling
) -> Terms:
    """All ramps between two cut points of a column, on the straight scale."""
    low, span, factors = _ends(scaling)
    monotone = np.zeros(len(low), dtype=bool)
    if long.columns is not None:
        monotone = long.columns.monotone
    ramps = []
    for d, x in enumerate(X.T):
        for start, stop in _ramps(x, w, float(steps[d]), bool(monotone[d])):
            ramps.append((d, start, stop))
    table = np.array(ramps, dtype=np.float64).reshape(-1, 3)
    feature = table[:, 0].astype(np.intp)
    starts = low[feature]
    spans = span[feature]
    begins = (table[:, 1] * factors[feature] - starts) / spans
    stops = (table[:, 2] * factors[feature] - starts) / spans
    # next to a range of many orders of magnitude, a ramp may have no length
    rises = stops - begins > np.maximum(MIN_STRAIGHT_RAMP, MIN_RAMP_SHARE * stops)
    terms = Terms(
        feature=feature[rises],
        low=begins[rises],
        high=stops[rises],
        mean=np.zeros(int(rises.sum())),
    )
    return terms.averaged(scaling.apply(X), scaling, w)


def _ramps(
    x: Array, w: Array, step: float, monotone: bool
) -> Sequence[tuple[float, float]]:
    """Where ramps of a column (N,) whose rows have weights (N,) begin and end.

    The line over all of its range is one of them. A column of few values, or whose
    values have no distances, has no others.
    """
    is_measured = ~np.isnan(x)
    values = np.unique(x[is_measured])
    if len(values) < 2:
        return []
    whole = (float(values[0]), float(values[-1]))
    if len(values) <= FEW_VALUES or monotone:
        return [whole]
    cuts = weighted_quantiles(x[is_measured], w[is_measured], CUT_PERCENTILES)
    cuts = rounded(cuts, digits_of_step(step))
    is_inside = (cuts >= values[0]) & (cuts <= values[-1])
    ramps = list(combinations(np.unique(cuts[is_inside]).tolist(), 2))
    line = round_range(*whole, step)
    if line[0] < line[1]:
        # others that are as good as over all of the range are told in the same way
        ramps = [ramp for ramp in ramps if not _is_line(ramp, whole)]
        ramps.append(line)
    return ramps or [whole]


def _is_line(ramp: tuple[float, float], whole: tuple[float, float]) -> bool:
    """Whether a ramp is a line over the whole range."""
    low, high = whole
    halves = np.array(ramp) / 2 - low / 2  # distances may be larger than all numbers
    begin, end = halves / (high / 2 - low / 2)
    return bool(over_range(begin, end))
