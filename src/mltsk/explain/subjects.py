"""What the statements about a system are about, and the values that they can have.

Statements are about T *subjects*: the F features, and then "not measured" of every
feature that has such a column. Other symbols: D columns of numbers; x a value in the
caller's units, z the same on the scale of the rules.
"""

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..columns import Asked, Columns
from ..core.arrays import Array, Matrix, dense
from ..core.scales import interpolated, percentile_knots
from ..frames import MISSING
from ..system import FuzzySystem
from .wording import number

Index = NDArray[np.intp]
Mask = NDArray[np.bool_]


class Subject(NamedTuple):
    """What a statement is about.

    ``feature`` is the number of a feature and ``name`` its name, ``columns`` are its
    columns, ``values`` the names of its values. ``kind`` is "number", "ordinal",
    "nominal", or "not measured", which has the values "measured" and "not measured".
    """

    feature: int
    name: str
    kind: str
    columns: slice
    values: tuple[str, ...] = ()

    @property
    def is_unordered(self) -> bool:
        """Whether its named values have no order."""
        return self.kind in ("nominal", MISSING)


class Subjects(list[Subject]):
    """The T subjects of a system.

    Names of values and places in the data are the same for every label, so they are
    found once and kept.
    """

    def __init__(self, system: FuzzySystem) -> None:
        super().__init__(_subjects(system))
        self.system = system
        self._named_values: dict[int, dict[float, str]] = {}
        self._percentile_knots: dict[int, tuple[Array, Array]] = {}

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the F features, which are the first F subjects."""
        columns = self.system.columns
        return self.system.feature_names if columns is None else columns.names

    @property
    def features(self) -> list[int]:
        """The feature of each subject."""
        return [subject.feature for subject in self]

    @property
    def given(self) -> tuple[tuple[Asked, ...], ...]:
        """The R rules that the user gave: the last R columns are theirs."""
        columns = self.system.columns
        return () if columns is None else columns.rules

    @cached_property
    def gaps(self) -> dict[int, int]:
        """The subject "not measured" of each feature that has one."""
        numbered = enumerate(self)
        return {
            subject.feature: t for t, subject in numbered if subject.kind == MISSING
        }

    @cached_property
    def unordered(self) -> list[tuple[int, Subject]]:
        """The subjects whose named values have no order, with their numbers."""
        return [(t, subject) for t, subject in enumerate(self) if subject.is_unordered]

    @cached_property
    def starts(self) -> Index:
        """The first column of each subject, (T,); any for a feature that has none."""
        starts = [subject.columns.start for subject in self]
        return np.minimum(starts, self.system.shape[1] - 1)

    def named_values(self, t: int) -> Mapping[float, str]:
        """The values of subject t that have names.

        These are its categories, or the only two values that a dense feature takes.
        """
        names = self._named_values.get(t)
        if names is None:
            names = self._find_named_values(self[t])
            self._named_values[t] = names
        return names

    def _find_named_values(self, subject: Subject) -> dict[float, str]:
        names: Mapping[float, str] = dict(enumerate(subject.values))
        if not names:
            names = self.system.categories.get(subject.name, {})
        scaling = self.system.scaling
        if names or scaling is None or not scaling.bounded or subject.kind != "number":
            return {float(code): str(names[code]) for code in sorted(names)}
        values = np.unique(scaling.values[subject.columns.start]).tolist()
        if len(values) != 2:
            return {}
        return {value: number(value, size=0) for value in values}

    def scaled(self, t: int, x: Array) -> Array:
        """Values ``x`` (N,) of subject t in its columns on the scale of the rules.

        In rows of unit length they stay as they are.
        """
        subject = self[t]
        z = doubles(x)[:, None]
        if subject.kind == "nominal":
            width = subject.columns.stop - subject.columns.start
            positions = np.arange(len(subject.values))[-width:]
            z = (z == positions).astype(float)
        scaling = self.system.scaling
        return z if scaling is None else scaling.columns(subject.columns).apply(z)

    def percentile(self, d: int, x: float) -> float:
        """Percentile (0..1) of a value of dense column d, by its quantiles.

        Tied quantiles count as their middle.
        """
        knots = self._percentile_knots.get(d)
        if knots is None:
            knots = percentile_knots(doubles(self.system.quantiles)[d])
            self._percentile_knots[d] = knots
        return interpolated(x, *knots)


def _subjects(system: FuzzySystem) -> list[Subject]:
    """Every feature, then "not measured" of the features that have such a column."""
    if system.columns is not None:
        return _table_subjects(system.columns, system.shape[1])
    subjects = []
    for d, name in enumerate(system.feature_names):
        subjects.append(Subject(d, name, "number", slice(d, d + 1)))
    return subjects


def _table_subjects(columns: Columns, n_columns: int) -> list[Subject]:
    gaps = np.flatnonzero(columns.gaps).tolist()
    first_gap = n_columns - len(columns.rules) - len(gaps)
    widths = Counter(part.feature for part in columns.parts[:first_gap])
    subjects = []
    start = 0
    for f, name in enumerate(columns.names):
        own = slice(start, start + widths[f])
        subjects.append(
            Subject(f, name, columns.kinds[f], own, values=columns.named(f))
        )
        start += widths[f]
    for d, f in enumerate(gaps, first_gap):
        own = slice(d, d + 1)
        states = ("measured", MISSING)
        subjects.append(Subject(f, columns.names[f], MISSING, own, values=states))
    return subjects


def doubles(A: Matrix) -> Array:
    """An array, or sparse rows, as a dense array in double precision."""
    return np.asarray(dense(A), dtype=np.float64)


def largest_first(numbers: Index, amounts: Array) -> list[int]:
    """Numbers in the order of their amounts, the largest first, without sign."""
    return numbers[np.argsort(-np.abs(amounts), kind="stable")].tolist()
