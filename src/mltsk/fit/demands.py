"""Wishes of a user as linear demands on the numbers of the general rule.

Symbols: P terms, L labels, k demands.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..columns import NO, YES, Asked, Columns
from ..core.arrays import FloatArray
from ..exceptions import InputError
from ..probabilities import Curves
from .curve_shape import CurveShape
from .design import Design
from .pair_slopes import PairSlopes, slopes_of_pairs
from .scale import OVERLAPPING
from .wishes import DIRECTIONS, Wish

DIRECTED = tuple(DIRECTIONS.values())
SIGNS = {"rises": 1.0, "falls": -1.0, "convex": 1.0, "concave": -1.0}


@dataclass(frozen=True)
class Demand:
    """A row of numbers whose sum is at least, or equal to, a number.

    Parameters
    ----------
    rows : mapping of labels to (P,)
        What the numbers of each label are multiplied with.
    least : float
    is_equal : bool
    """

    rows: dict[int, FloatArray]
    least: float = 0.0
    is_equal: bool = False


@dataclass(frozen=True)
class DemandMaker:
    """Makes demands on the numbers of a design, which are those of its columns.

    ``columns`` say which columns of numbers a feature has; None where it is one.
    ``curves`` turn scores into log-odds, in which effects are told.
    """

    design: Design
    columns: Columns | None
    curves: Curves

    def demands(self, wishes: Iterable[Wish]) -> list[Demand]:
        """The demands of some wishes."""
        return [demand for wish in wishes for demand in self._of(wish)]

    def would_be_flat_everywhere(self, wish: Wish) -> bool:
        """Whether a wish for a flat end is about a curve of one stretch.

        A value beyond which lies the whole curve asks for that.
        """
        if wish.kind not in ("above", "below"):
            return False
        value = wish.values[0][0]
        for column in self._columns_of(wish.feature):
            shape = self._shape(column)
            if not len(shape.positions):
                continue
            ends = shape.ends
            if len(ends) == 2 and ends[0] < value < ends[1]:
                return True
        return False

    def _check_points(self, wish: Wish) -> None:
        """Refuse a point in log-odds of a label whose score says nothing of them."""
        if wish.kind != "points" or (self.curves.slopes[list(wish.labels)] > 0).all():
            return
        raise InputError(
            "A curve can pass through points only for a label that the model can tell "
            "better than by chance: take this wish back."
        )

    def _of(self, wish: Wish) -> Iterator[Demand]:
        self._check_points(wish)
        if wish.kind == "same":
            yield from self._same(wish)
            return
        for label in wish.labels:
            for row, least, is_equal in self._rows(wish, label):
                yield Demand({label: self._of_columns(row)}, least, is_equal)

    def _rows(self, wish: Wish, label: int) -> Iterator[tuple[FloatArray, float, bool]]:
        """Rows (P,) of a wish, what they are at least, and whether they are that."""
        if wish.kind == "nothing":
            for position in self._positions(wish.feature, with_gaps=True):
                yield self._unit(position), 0.0, True
            return
        direction = self._direction_of(wish.feature)
        for column in self._columns_of(wish.feature):
            shape = self._shape(column)
            if not len(shape.positions) and wish.kind != "points":
                continue  # the column is constant: its curve is flat at 0
            for row, least, is_equal in _shape_rows(wish, shape, direction):
                whole = np.zeros(self.design.n_terms)
                whole[shape.positions] = row
                yield whole, least / float(self.curves.slopes[label]), is_equal
        yield from self._own_rules(wish)

    def _own_rules(self, wish: Wish) -> Iterator[tuple[FloatArray, float, bool]]:
        """Numbers of the user's rules that ask for the feature of a wish."""
        for position, direction in self._rule_terms(wish.feature):
            sign = SIGNS.get(wish.kind, 0.0)
            if wish.kind in ("rises", "falls") and direction:
                yield sign * direction * self._unit(position), 0.0, False
            else:
                yield self._unit(position), 0.0, True

    def _same(self, wish: Wish) -> Iterator[Demand]:
        first, *others = wish.labels
        slopes = self.curves.slopes
        for position in self._positions(wish.feature, with_gaps=True):
            row = self._of_columns(self._unit(position))
            for label in others:
                rows = {first: row * slopes[first], label: -row * slopes[label]}
                yield Demand(rows, is_equal=True)

    def _unit(self, position: int) -> FloatArray:
        row = np.zeros(self.design.n_terms)
        row[position] = 1.0
        return row

    def _of_columns(self, row: FloatArray) -> FloatArray:
        """A row (P,) for numbers of terms as one for numbers of columns."""
        if self.design.scale.name in OVERLAPPING:
            row = np.asarray(row @ self.design.scale.heights)
        return row * np.sqrt(np.asarray(self.design.term_weights))

    def _shape(self, column: int) -> CurveShape:
        scaling = self.design.scale.scaling
        if scaling is None:
            raise InputError(
                "Wishes need dense X on a scale of each feature of its own, such as "
                "scale='quantile': rows of unit length mix all features."
            )
        return CurveShape.of(self.design.scale.terms, scaling, column)

    def pair_slopes(self, wish: Wish) -> PairSlopes | None:
        """How steep the feature of a direction is beside those that it acts with.

        None where it acts with no other. The slopes are those of its wish: at least 0.
        """
        if wish.kind not in DIRECTED:
            return None
        (column,) = self._columns_of(wish.feature)
        shape = self._shape(column)
        terms = np.zeros((len(shape.positions), self.design.n_terms))
        terms[np.arange(len(shape.positions)), shape.positions] = 1.0
        slopes = slopes_of_pairs(
            self.design, self.columns, column, self._of_columns(terms), shape
        )
        if slopes is None:
            return None
        return slopes.times(self._direction_of(wish.feature) * SIGNS[wish.kind])

    def _direction_of(self, feature: int) -> int:
        """1, or -1 where the column of a feature is that of its "no"."""
        return 1 if self.columns is None else self.columns.direction_of(feature)

    def _columns_of(self, feature: int) -> list[int]:
        """The columns of numbers of a feature, without that of its gaps."""
        if self.columns is None:
            return [feature]
        return columns_of_feature(self.columns, feature)

    def _positions(self, feature: int, *, with_gaps: bool) -> list[int]:
        """Terms of a feature, of its gaps, and of the user's rules that ask for it."""
        columns = set(self._columns_of(feature))
        if self.columns is not None and with_gaps:
            columns |= set(columns_of_feature(self.columns, feature, gaps=True))
        is_own = np.isin(self.design.scale.terms.feature, sorted(columns))
        positions: list[int] = np.flatnonzero(is_own).tolist()
        return positions + [position for position, _ in self._rule_terms(feature)]

    def _rule_terms(self, feature: int) -> list[tuple[int, int]]:
        """Terms of the user's rules that ask for a feature.

        With each, whether it holds for high (1), low (-1) or other values (0).
        """
        if self.columns is None:
            return []
        terms = []
        first = len(self.columns.parts) - len(self.columns.rules)
        for number, rule in enumerate(self.columns.rules):
            for asked in rule:
                if asked[0] != feature:
                    continue
                direction = direction_of_condition(asked)
                is_own = self.design.scale.terms.feature == first + number
                for position in np.flatnonzero(is_own).tolist():
                    terms.append((position, direction))
        return terms


def direction_of_condition(asked: Asked) -> int:
    """1 where a condition of a rule holds for high values, -1 for low ones, else 0."""
    _, low, high, words = asked
    if set(words) == {YES}:
        return 1
    if set(words) == {NO}:
        return -1
    return (high is None) - (low is None)


def columns_of_feature(
    columns: Columns, feature: int, *, gaps: bool = False
) -> list[int]:
    """The columns of numbers of a feature, or that of its gaps."""
    is_gap = columns.is_gap
    return [
        d
        for d, part in enumerate(columns.parts)
        if part.feature == feature and bool(is_gap[d]) == gaps
    ]


def _shape_rows(
    wish: Wish, shape: CurveShape, direction: int
) -> Iterator[tuple[FloatArray, float, bool]]:
    """Rows (p,) for one curve, what they are at least, and whether they are that.

    Numbers are of log-odds. ``direction`` is -1 where a larger number is less.
    """
    if wish.kind == "points":
        values = np.array([value for value, _ in wish.values])
        for row, (_, effect) in zip(shape.heights(values), wish.values, strict=True):
            yield row, effect, True
        return
    if wish.kind in ("convex", "concave"):
        for row in _changes_of_slope(shape):
            yield SIGNS[wish.kind] * row, 0.0, False
        return
    slopes = shape.slopes()
    stretches = np.arange(len(slopes))
    is_equal = wish.kind in ("above", "below")
    if is_equal:
        stretches = _stretches_beyond(shape.ends, wish)
    for row in slopes[stretches].reshape(-1, slopes.shape[2]):
        yield direction * SIGNS.get(wish.kind, 1.0) * row, 0.0, is_equal


def _stretches_beyond(ends: FloatArray, wish: Wish) -> NDArray[np.intp]:
    """The stretches that a curve has above, or below, a value."""
    value = wish.values[0][0]
    if wish.kind == "above":
        return np.flatnonzero(ends[1:] > value)
    return np.flatnonzero(ends[:-1] < value)


def _changes_of_slope(shape: CurveShape) -> FloatArray:
    """By how much the slope from end to end of stretches changes, (r - 1, p)."""
    ends = np.unique(shape.ends)
    if len(ends) < 3:
        return np.zeros((0, len(shape.positions)))
    span = ends[-1] - ends[0]
    steps = np.diff(shape.heights(ends), axis=0)
    chords = steps / (np.diff(ends) / span)[:, None]
    return np.diff(chords, axis=0)


def wished_columns(wishes: Sequence[Wish], columns: Columns | None) -> set[int]:
    """The columns of numbers of features that some wish is about."""
    features = {wish.feature for wish in wishes}
    if columns is None:
        return features
    wished: set[int] = set()
    for feature in features:
        wished |= set(columns_of_feature(columns, feature))
        wished |= set(columns_of_feature(columns, feature, gaps=True))
    return wished
