"""What statements are about: T *subjects*, the F features and then what is not measured.

Each feature has its columns of numbers, and "not measured" those of features that have such a column. Values of a
nominal feature are told by their positions and names. Without a table of words and gaps, subjects are features and
columns.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..columns import MISSING, Asked
from ..core.arrays import Array
from ..system import FuzzySystem
from .wording import number

Categories = Mapping[str, Mapping[float, str]]


class Subject(NamedTuple):
    """What a statement is about: a feature, by number and name, its ``columns`` and the names of its ``values``.

    ``kind`` is "number", "ordinal", "nominal", or "not measured", which has the values "measured" and "not measured".
    """

    feature: int
    name: str
    kind: str
    columns: slice
    values: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Subjects:
    """The subjects of a system; ``categories`` gives a name to the numbers that stand for categories of a feature."""

    system: FuzzySystem
    categories: Categories | None

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features, (F,)."""
        return self.system.feature_names if self.system.columns is None else self.system.columns.names

    @cached_property
    def subjects(self) -> list[Subject]:
        """What statements are about: every feature, then what is not measured."""
        columns, D = self.system.columns, self.system.shape[1] - len(self.given)
        if columns is None:
            return [Subject(d, name, "number", slice(d, d + 1)) for d, name in enumerate(self.feature_names)]
        gaps = [f for f, gap in enumerate(columns.gaps) if gap]
        own = Counter(part.feature for part in columns.parts[: D - len(gaps)])
        ends = np.cumsum([0, *(own[f] for f in range(len(columns.names)))]).tolist()
        found = [
            Subject(f, name, kind, slice(ends[f], ends[f + 1]), columns.named(f))
            for f, (name, kind) in enumerate(zip(columns.names, columns.kinds, strict=True))
        ]
        pair, first = ("measured", MISSING), D - len(gaps)
        return found + [
            Subject(f, columns.names[f], MISSING, slice(first + i, first + i + 1), pair) for i, f in enumerate(gaps)
        ]

    @cached_property
    def given(self) -> tuple[tuple[Asked, ...], ...]:
        """The rules that the user gave, (R,); the last R columns of numbers are theirs, and of no subject."""
        return () if self.system.columns is None else self.system.columns.rules

    @cached_property
    def gaps(self) -> dict[int, int]:
        """The subject "not measured" of each feature that has one."""
        return {subject.feature: t for t, subject in enumerate(self.subjects) if subject.kind == MISSING}

    def by_feature(self, amounts: Array) -> Array:
        """Amounts (N, D, …) of columns as sums over the columns of each feature, (N, F, …)."""
        if self.system.columns is None:
            return amounts
        out = np.zeros((len(amounts), len(self.feature_names), *amounts.shape[2:]))
        for subject in self.subjects:
            out[:, subject.feature] += amounts[:, subject.columns].sum(axis=1)
        return out

    def codes(self, x: Array) -> Array:
        """The features (F,) of a sample in columns (D,): numbers, positions of named values, NaN if missing."""
        if self.system.columns is None:
            return x
        out = np.full(len(self.feature_names), np.nan)
        for f, subject in enumerate(self.subjects[: len(out)]):
            part = x[subject.columns]
            if len(part) and not np.isnan(part).any():
                out[f] = part.argmax() if len(part) == len(subject.values) else part[0]
        return out

    def named_values(self, t: int) -> dict[float, str]:
        """The values of subject t that have names: its categories, or the only two that a dense feature takes."""
        subject, scaling = self.subjects[t], self.system.scaling
        own: Mapping[float, str] = dict(enumerate(subject.values))
        names = own or (self.categories or {}).get(subject.name, {})
        if names or scaling is None or not scaling.bounded or subject.kind != "number":
            return {float(code): str(names[code]) for code in sorted(names)}
        values = np.unique(scaling.values[subject.columns.start]).tolist()
        return {value: number(value) for value in values} if len(values) == 2 else {}
