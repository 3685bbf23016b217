"""What pairs of features do in a system, found from its numbers."""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..core.arrays import Array, underflow_is_zero
from ..core.scales import interpolated
from ..system import FuzzySystem
from .effects import Effects
from .pairs import FeaturePair, FeaturePairs, PairAxis
from .shapes import OTHER_VALUES
from .subjects import Index, doubles, largest_first
from .wording import number


class Heights(NamedTuple):
    """What a pair adds to labels where its conditions are wholly met.

    ``rows`` and ``columns`` are conditions, ``surface`` (rows, columns, L) what is
    added there, ``share`` (rows, columns) how much of the data is there.
    """

    rows: Index
    columns: Index
    surface: Array
    share: Array


class PairEffects:
    """What the pairs of a system do, in the caller's units.

    Pairs are counted from the one that moves all labels together most. ``columns`` are
    the two columns of numbers of each, ``own_rules`` where its rules are among all,
    and ``sizes`` (pairs, L) the standard deviations of its heights.
    """

    def __init__(self, effects: Effects) -> None:
        self.effects = effects
        self.system = effects.system
        blocks = effects.system.pairs.blocks
        L = effects.system.shape[2]
        self.coef: Array = np.zeros((0, L))
        if effects.system.pair_coef is not None:
            self.coef = doubles(effects.system.pair_coef)
        sizes = np.array([self._size(own) for own in blocks.values()]).reshape(-1, L)
        order = largest_first(np.arange(len(sizes)), sizes.sum(axis=1))
        self.sizes = sizes[order]
        self.columns = [list(blocks)[i] for i in order]
        self.own_rules = [blocks[pair] for pair in self.columns]

    def __len__(self) -> int:
        return len(self.columns)

    @underflow_is_zero()
    def _size(self, own: Index) -> Array:
        """Deviation (L,) of what the rules ``own`` of one pair add."""
        heights = self._heights(own, slice(None))
        squares = heights.surface * heights.surface
        variances = np.einsum("ij,ijl->l", heights.share, squares)
        return np.asarray(np.sqrt(variances))

    def _heights(self, own: Index, labels: Index | slice) -> Heights:
        """What the rules ``own`` of one pair add where their conditions are met."""
        pairs = self.system.pairs
        rows, row_of_rule = np.unique(pairs.first[own], return_inverse=True)
        columns, column_of_rule = np.unique(pairs.second[own], return_inverse=True)
        numbers = self.coef[own][:, labels]
        table = np.zeros((len(rows), len(columns), numbers.shape[1]))
        table[row_of_rule, column_of_rule] = numbers
        share = np.zeros((len(rows), len(columns)))
        share[row_of_rule, column_of_rule] = pairs.share[own]
        left = self._met(rows)
        right = self._met(columns)
        if len(left) > len(rows):  # the smaller one of two values comes first
            others = pairs.conditions.mean[columns] - share
            share = np.concatenate([others, share])
        if len(right) > len(columns):
            means = pairs.conditions.mean[rows]
            if len(left) > len(rows):
                means = np.array([1.0 - means[0], means[0]])
            share = np.concatenate([means[:, None] - share, share], axis=1)
        return Heights(
            rows=rows,
            columns=columns,
            surface=np.einsum("ai,ijl,bj->abl", left, table, right),
            share=np.clip(share, 0.0, 1.0),
        )

    def _met(self, conditions: Index) -> Array:
        """Memberships above average where each condition of a column is wholly met.

        A column of two values has one condition, and the place where it is not met at
        all comes first.
        """
        met = np.eye(len(conditions))
        if self._has_two_values(conditions):
            met = np.array([[0.0], [1.0]])
        return met - self.system.pairs.conditions.mean[conditions]

    def _has_two_values(self, conditions: Index) -> bool:
        """Whether the conditions of a column are one, that of the larger value."""
        table = self.system.pairs.conditions
        first = conditions[0]
        return len(conditions) == 1 and bool(table.left[first] < table.peak[first])

    def features(self, p: int) -> tuple[int, int]:
        """The numbers of both features of pair p."""
        first, second = self.columns[p]
        return self._feature_of_column[first], self._feature_of_column[second]

    def title(self, p: int) -> str:
        """Both features of pair p, as `FeaturePair.title` has them."""
        return self.pair(p, np.arange(0)).title

    @cached_property
    def _feature_of_column(self) -> dict[int, int]:
        """The feature of each column of numbers that pairs may have."""
        features = {}
        n_features = len(self.effects.subjects.feature_names)
        for f, subject in enumerate(self.effects.subjects[:n_features]):
            for d in range(subject.columns.start, subject.columns.stop):
                features[d] = f
        return features

    @underflow_is_zero()
    def pair(self, p: int, labels: Index) -> FeaturePair:
        """Pair p with what it does to some labels."""
        a, b = self.columns[p]
        heights = self._heights(self.own_rules[p], labels)
        return FeaturePair(
            index=p,
            axes=(self._axis(a, heights.rows), self._axis(b, heights.columns)),
            labels=tuple(self.system.label_names[j] for j in labels),
            surface=heights.surface,
            shares=heights.share,
            sizes=self.sizes[p, labels],
        )

    def _axis(self, d: int, conditions: Index) -> PairAxis:
        """Column d with the values at which its conditions are wholly met."""
        peaks = self.system.pairs.conditions.peak[conditions].tolist()
        if self._has_two_values(conditions):
            left = float(self.system.pairs.conditions.left[conditions[0]])
            peaks = [left, *peaks]
        values = [self._value(d, peak) for peak in peaks]
        subjects = self.effects.subjects
        subject = subjects[self._feature_of_column[d]]
        width = subject.columns.stop - subject.columns.start
        if subject.kind == "nominal" and width == len(subject.values):
            category = subject.values[d - subject.columns.start]
            return PairAxis(
                feature=subject.name,
                values=(0.0, 1.0),
                names=(OTHER_VALUES, category),
                percentiles=(0.0, 1.0),
                category=category,
            )
        percentiles = [subjects.percentile(d, value) for value in values]
        return PairAxis(
            feature=subject.name,
            values=tuple(values),
            names=self._names(d, values),
            percentiles=tuple(percentiles),
        )

    def _value(self, d: int, level: float) -> float:
        """The value of column d at a level of its scale."""
        scaling = self.system.scaling
        if scaling is None:
            raise ValueError("only percentile scales have pairs")
        return interpolated(level, scaling.levels[d], scaling.values[d])

    def _names(self, d: int, values: list[float]) -> tuple[str, ...]:
        """The names of some values of column d, if they have names or are all."""
        names = self.effects.subjects.named_values(self._feature_of_column[d])
        if names:
            return tuple(names.get(value, number(value)) for value in values)
        scaling = self.system.scaling
        if scaling is not None and scaling.n_values[d] > len(values):
            return ()
        return tuple(number(value) for value in values)


def feature_pairs(system: FuzzySystem | Effects) -> FeaturePairs:
    """The pairs of a system, those that move the labels most first.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=200, random_state=0)
    >>> clf = MLTSKClassifier(n_pairs=2).fit(*data.frames())
    >>> pairs = feature_pairs(clf.system_)
    >>> len(pairs), pairs[0].heights(clf.label_names_[0]).shape
    (2, (8, 8))
    """
    effects = system if isinstance(system, Effects) else Effects(system)
    pairs = PairEffects(effects)
    labels = np.arange(effects.system.shape[2])
    return FeaturePairs([pairs.pair(p, labels) for p in range(len(pairs))])
