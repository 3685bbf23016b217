"""Where exceptions of a short model may lie: in those of the long one, and in pairs.

Every region is a few conditions in the caller's units, with cut points of few digits. A
condition is met wholly at its centre and by half at its reach. Those of the long
model's exceptions are where their members lie. Those of a pair of features that act
together are the corners and edges of the two: "age below 40 and sex is female".

Symbols: K regions, D columns.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..columns import Columns
from ..core.arrays import Array
from ..core.interpolation import MAX_SAFE_SUM
from ..core.magnitude import rounded
from ..system import FuzzySystem
from .cuts import digits_of_step

Index = NDArray[np.intp]

MAX_MET_SHARE = 0.8  # drop conditions that more than 80 % of rows meet
# Of thousands of exceptions, those that move the scores of most rows by most.
MAX_LONG_EXCEPTIONS = 500
MAX_LONG_PAIRS = 12  # those with the largest effect
# Where conditions of a pair begin or end, as places among the 21 percentiles of a
# column: the 20th, 40th, 60th and 80th.
CELL_CUTS = (4, 8, 12, 16)
OUTERMOST = (1, 19)  # the 5th and 95th percentile, within which most of a column lies
# A condition on one of two values is not met by the other: exp(-36) is 0 in a sum.
VALUE_REACH = float(np.sqrt(np.log(2) / 36))


class Interval(NamedTuple):
    """The range of a condition; an end that is infinite is open."""

    low: float
    high: float

    def center(self, least: float, largest: float) -> float:
        """Where the condition is met best: the middle, or the end of an open range.

        ``least`` and ``largest`` are the ends of the data.
        """
        if self.low == -np.inf:
            return least
        if self.high == np.inf:
            return largest
        if max(-self.low, self.high) > MAX_SAFE_SUM:
            return self.low / 2 + self.high / 2
        return (self.low + self.high) / 2

    def reach(self, center: float) -> float:
        """Distance from the centre to where half of the condition is met."""
        if self.low == -np.inf:
            return self.high - center
        return center - self.low


class RegionCondition(NamedTuple):
    """A condition on a column: its centre, and the distance at which half is met."""

    column: int
    center: float
    reach: float


Region = Sequence[RegionCondition]


class RegionFinder:
    """Finds regions for the short versions of a long model.

    Parameters
    ----------
    long : FuzzySystem
    steps : array of shape (D,)
        How fine cut points of each column are.
    has_two_values : array of bool of shape (D,)
        Which columns have only two values.
    """

    def __init__(
        self, long: FuzzySystem, steps: Array, has_two_values: NDArray[np.bool_]
    ) -> None:
        self.long = long
        self.steps = steps
        self.has_two_values = has_two_values
        self.grid = np.asarray(long.quantiles, dtype=np.float64)
        self.varies = self.grid[:, 0] < self.grid[:, -1]
        nothing = np.zeros(len(self.grid), dtype=bool)
        self.indicators = nothing
        self.ordinal = nothing
        self.is_one_of_many = nothing
        self.is_unnamed = nothing  # no condition can be stated about these
        columns = long.columns
        if columns is not None:
            is_own_rule = np.array([part.feature < 0 for part in columns.parts])
            self.indicators = columns.indicators
            self.ordinal = columns.monotone
            self.is_one_of_many = _one_of_many(columns)
            self.is_unnamed = columns.is_gap | is_own_rule

    def regions(self, max_conditions: int | None) -> tuple[Array, Array]:
        """Centres and reaches (K, D) of all regions, in the caller's units.

        A reach is infinite where there is no condition. There are no regions where
        ``max_conditions`` is 0.
        """
        regions: list[Region] = []
        if max_conditions != 0:
            regions += self._of_exceptions(max_conditions)
        if max_conditions is None or max_conditions > 1:
            regions += self._of_pairs()
        centers = np.tile(self.grid[:, 10], (len(regions), 1))
        reaches = np.full(centers.shape, np.inf)
        for k, region in enumerate(regions):
            for condition in region:
                centers[k, condition.column] = condition.center
                reaches[k, condition.column] = condition.reach
        return centers, reaches

    # exceptions of the long model ---------------------------------------------------

    def _of_exceptions(self, max_conditions: int | None) -> Iterable[Region]:
        """Where the members of the long model's exceptions lie.

        A condition is half met where the 10th or 90th percentile of the members is,
        and best in the middle between them or, if one lies in the outer tenth of the
        data, at that end. Conditions that least of the data meet come first; there are
        none on values of words.
        """
        members = self.long.members
        if members is None or members.regions is None:
            return
        first, last = self.grid[:, [2, -3]].T  # the 10th and 90th percentile
        for k in self._strongest_exceptions().tolist():
            ends = members.regions[k]
            low = np.where(ends[:, 0] <= first, -np.inf, ends[:, 0])
            high = np.where(ends[:, 1] >= last, np.inf, ends[:, 1])
            is_measured = ~np.isnan(ends).any(axis=1)
            narrowest = self._narrowest(low, high, is_measured)[:max_conditions]
            yield [
                self._condition(d, Interval(float(low[d]), float(high[d])))
                for d in narrowest.tolist()
            ]

    def _strongest_exceptions(self) -> Index:
        """The exceptions of the largest effect, times the share of the data in them."""
        effects = np.abs(np.asarray(self.long.coef)).max(axis=(1, 2), initial=0.0)
        strengths = effects * np.asarray(self.long.rule_weights)
        strongest = np.argsort(-strengths, kind="stable")[:MAX_LONG_EXCEPTIONS]
        return np.sort(strongest)

    def _narrowest(
        self, low: Array, high: Array, is_measured: NDArray[np.bool_]
    ) -> Index:
        """Columns in which an exception has a condition, the narrowest first.

        ``low`` and ``high`` (D,) are the ends of the exception.
        """
        is_inside = (self.grid >= low[:, None]) & (self.grid <= high[:, None])
        met_share = is_inside.mean(axis=1)
        is_condition = (met_share < MAX_MET_SHARE) & is_measured & self.varies
        is_condition &= ~(self.indicators | self.ordinal)
        columns = np.flatnonzero(is_condition)
        return columns[np.argsort(met_share[columns], kind="stable")]

    def _condition(self, d: int, interval: Interval) -> RegionCondition:
        """The condition that column d lies in an interval, with rounded ends."""
        step = float(self.steps[d])
        low, high = rounded(interval, digits_of_step(step)).tolist()
        rounded_interval = Interval(low, high)
        least, largest = self.grid[d, [0, -1]].tolist()
        center = rounded_interval.center(least, largest)
        if self.has_two_values[d]:
            is_upper = center > least / 2 + largest / 2
            return self._value_condition(d, largest if is_upper else least)
        return RegionCondition(d, center, max(rounded_interval.reach(center), step))

    # pairs of the long model --------------------------------------------------------

    def _of_pairs(self) -> Iterable[Region]:
        """Every two conditions of the columns that act together most."""
        for first, second in self._strongest_pairs():
            conditions = self._cell_conditions(first), self._cell_conditions(second)
            yield from product(*conditions)

    def _strongest_pairs(self) -> list[tuple[int, int]]:
        """The pairs of columns whose rules move scores most."""
        pairs = self.long.pairs
        if not len(pairs):
            return []
        squares = pairs.share * (np.asarray(self.long.pair_coef) ** 2).sum(axis=1)
        sizes = {}
        for columns, own in pairs.blocks.items():
            sizes[columns] = float(squares[own].sum())
        strongest = sorted(sizes, key=lambda columns: -sizes[columns])
        return strongest[:MAX_LONG_PAIRS]

    def _cell_conditions(self, d: int) -> list[RegionCondition]:
        """Conditions on a column of a pair; none on levels that have an order only."""
        if self.ordinal[d] or self.is_unnamed[d] or not self.varies[d]:
            return []
        if self.has_two_values[d]:
            return self._value_conditions(d)
        least, largest = self.grid[d, [0, -1]].tolist()
        inner_least, inner_largest = self.grid[d, list(OUTERMOST)].tolist()
        intervals: list[Interval] = []
        for cut in self.grid[d, list(CELL_CUTS)].tolist():
            intervals += [Interval(-np.inf, cut), Interval(cut, np.inf)]
            intervals += [Interval(inner_least, cut), Interval(cut, inner_largest)]
        conditions = []
        for interval in intervals:
            is_within = interval.low < largest and interval.high > least
            if is_within and interval.low < interval.high:
                conditions.append(self._condition(d, interval))
        return list(dict.fromkeys(conditions))

    def _value_conditions(self, d: int) -> list[RegionCondition]:
        """Conditions on a column of two values: on each, or that it is the larger one.

        The smaller value of a column that stands for one of many words is no word.
        """
        least, largest = self.grid[d, [0, -1]].tolist()
        values = [largest] if self.is_one_of_many[d] else [least, largest]
        return [self._value_condition(d, value) for value in values]

    def _value_condition(self, d: int, value: float) -> RegionCondition:
        """The condition that column d has one of its two values."""
        least, largest = self.grid[d, [0, -1]].tolist()
        return RegionCondition(d, value, VALUE_REACH * (largest - least))


def _one_of_many(columns: Columns) -> NDArray[np.bool_]:
    """Which columns (D,) stand for one of three or more values of a feature."""
    features = [part.feature for part in columns.parts]
    n_columns = Counter(features)
    is_one = [columns.kinds[f] == "nominal" and n_columns[f] > 1 for f in features]
    return np.array(is_one) & columns.indicators
