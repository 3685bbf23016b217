"""No count of few people leaves a site: cells that are too small are hidden.

Sums hold counts wherever a column holds 0 and 1: a value of words, "not measured", yes
and no. The columns of a feature belong together: they divide the people by the values
of the feature, one of which is "unknown". So does each label. Wherever two of these
cross, every cell must hold nobody, or at least ``least`` people:

- a value of a feature with a small cell for a label becomes unknown for everybody, so
  that nobody's label decides what is hidden;
- a small cell of two features becomes unknown for its people;
- "unknown" is a cell like any other, so that subtraction finds nothing;
- labels that were observed in different people have sums of their own. Therefore all of
  this holds among these people too, and among the people in whom one label was observed
  and another was not;
- if this does not end, the feature becomes unknown for everybody.

Numbers with few different values, such as a stage, are counted like words: a value
with a small cell first becomes the next one towards the middle. All other numbers
become the median of ``least`` neighbours or more (`mltsk.sites.neighbours`).

People who were not measured count as the average, whatever the plan says that is, so a
plan could count them as well. "Not measured" is therefore a value like others, with or
without a column of its own; where it is hidden, its people get the median.

Labels with few cases, or few others, are not shared; nor are those few people in whom
one label was observed and another was not.

Symbols: n rows, D columns of numbers, L labels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..columns import Columns
from ..core.arrays import FloatArray
from ..core.scales import Scaling
from ..fit.left_out import Groups
from ..text import plural, quoted_list
from .cells import (
    UNKNOWN,
    People,
    Values,
    hide_small_cells,
    parts_of_rows,
    values_of_rows,
)
from .neighbours import medians_of_neighbours
from .summary import MAX_COUNTED_VALUES

MAX_NAMED_FEATURES = 20  # in one sentence


@dataclass
class Protected:
    """Rows of a site in which every cell is large enough.

    ``X`` (n, D) in columns of numbers, ``Y`` (n, L), ``observed`` (n, L); ``told`` are
    sentences on what was hidden.
    """

    X: FloatArray
    Y: FloatArray
    observed: NDArray[np.bool_]
    told: list[str] = field(default_factory=list)


def protected(
    X: FloatArray,
    Y: FloatArray,
    observed: NDArray[np.bool_],
    *,
    columns: Columns,
    scaling: Scaling,
    label_names: tuple[str, ...],
    groups: Groups,
    least: int,
) -> Protected:
    """Hide cells of fewer than ``least`` people.

    X (n, D), Y and observed (n, L) are not changed.
    """
    rows = Protected(X.copy(), Y.copy(), observed.copy())
    if least <= 1:
        return rows
    people = People(groups, least)
    _hide_labels(rows, label_names, people)
    if not rows.observed.any():
        return rows
    rows.X[~rows.observed.any(axis=1)] = np.nan  # they are in no sum
    names = [columns.names[part.feature] for part in columns.parts]
    _join_small_values(rows, names, _columns_of_numbers(columns, scaling), people)
    counted = counted_features(rows.X, columns, scaling)
    measured = _measured_columns(rows.X, columns, scaling)
    values = _crossed_values(rows.X, counted, {d: names[d] for d in measured})
    n_known = {name: int((own != UNKNOWN).sum()) for name, own in values.items()}
    hide_small_cells(
        list(values.values()),
        labels=_label_values(rows),
        parts=parts_of_rows(rows.observed),
        people=people,
    )
    for name, own_columns in counted.items():
        rows.X[values[name] == UNKNOWN, own_columns] = np.nan
    rows.told += _sentences_on_hidden(values, n_known, least)
    for d in measured:
        if _gap_name(names[d]) in values:
            _fill_hidden_gap(rows.X[:, d], values[_gap_name(names[d])])
    _share_numbers(rows, {d: names[d] for d in measured}, people)
    return rows


# labels


def _hide_labels(rows: Protected, names: tuple[str, ...], people: People) -> None:
    """Hide labels of few cases, and few rows by which two labels differ."""
    while True:  # each round has fewer observed cells
        before = rows.observed.copy()
        for i, j in combinations(range(len(names)), 2):
            _hide_few_only_in_one(rows.observed, i, j, people)
            _hide_few_only_in_one(rows.observed, j, i, people)
        for j in range(len(names)):
            seen = rows.observed[:, j]
            n_cases = people.count(seen & (rows.Y[:, j] > 0))
            n_others = people.count(seen & (rows.Y[:, j] <= 0))
            if min(n_cases, n_others) < people.least:
                rows.observed[:, j] = False
        if (rows.observed == before).all():
            break
    left_out = [name for j, name in enumerate(names) if not rows.observed[:, j].any()]
    if left_out:
        rows.told.append(
            f"Labels with fewer than {people.least} cases or others are not shared: "
            f"{quoted_list(left_out)}."
        )


def _hide_few_only_in_one(
    observed: NDArray[np.bool_], one: int, other: int, people: People
) -> None:
    """Hide a label in people without the other label, if they are few."""
    only = observed[:, one] & ~observed[:, other]
    if 0 < people.count(only) < people.least:
        observed[only, one] = False


def _label_values(rows: Protected) -> list[Values]:
    """The answers (n,) of each label, or unknown."""
    labels = np.where(rows.observed, rows.Y, UNKNOWN).astype(np.intp)
    return list(labels.T)


# which columns hold counts


def _columns_of_numbers(columns: Columns, scaling: Scaling) -> list[int]:
    """Columns of numbers, which have more than two values."""
    has_two = np.less_equal(scaling.n_values, 2).tolist()
    return [
        d
        for d, part in enumerate(columns.parts)
        if part.value is None and not has_two[d]
    ]


def _measured_columns(X: FloatArray, columns: Columns, scaling: Scaling) -> list[int]:
    """The columns of numbers of many values: those that hold no counts."""
    numbers = _columns_of_numbers(columns, scaling)
    return [d for d in numbers if not _has_few_values(X[:, d])]


def _has_few_values(x: FloatArray) -> bool:
    """Whether numbers (n,) have so few values that each is counted."""
    return len(np.unique(x[~np.isnan(x)])) <= MAX_COUNTED_VALUES


def counted_features(
    X: FloatArray, columns: Columns, scaling: Scaling
) -> dict[str, slice]:
    """The columns that hold counts, together for each feature and each gap."""
    counted: dict[str, slice] = {}
    measured = _measured_columns(X, columns, scaling)
    for d, part in enumerate(columns.parts):
        if d in measured:
            continue
        name = columns.names[part.feature]
        if columns.is_gap[d]:
            name = _gap_name(name)
        before = counted.get(name, slice(d, d))
        counted[name] = slice(before.start, d + 1)
    return counted


def _gap_name(name: str) -> str:
    """That a feature was not measured, as a feature of its own."""
    return f"{name} not measured"


def _crossed_values(
    X: FloatArray, counted: Mapping[str, slice], measured: Mapping[int, str]
) -> dict[str, Values]:
    """The values (n,) of features that are counted, and of gaps, by name.

    ``measured`` has the names of features by their column of numbers.
    """
    values = {name: values_of_rows(X[:, own]) for name, own in counted.items()}
    for d, name in measured.items():
        gap = np.isnan(X[:, d])
        if gap.any():
            values.setdefault(_gap_name(name), gap.astype(np.intp))
    return values


# values of few people


def _join_small_values(
    rows: Protected, names: Sequence[str], numbers: Sequence[int], people: People
) -> None:
    """Move values of numbers of few values to the next ones, where a cell is small."""
    for d in numbers:
        x = rows.X[:, d]
        if not _has_few_values(x):
            continue
        n_joined = 0
        while (value := _smallest_value(x, rows, people)) is not None:
            x[x == value] = _next_towards_middle(x, value)
            n_joined += 1
        if n_joined and len(np.unique(x[~np.isnan(x)])) > 1:
            rows.told.append(
                f"{names[d]!r:.80}: {plural(n_joined, 'value')} with too few people "
                "joined with the next one."
            )


def _next_towards_middle(x: FloatArray, value: float) -> float:
    """The value of numbers (n,) next to one of them, on the side of the middle one."""
    values = np.unique(x[~np.isnan(x)])
    place = int(np.flatnonzero(values == value)[0])
    middle = (len(values) - 1) / 2
    step = int(np.sign(middle - place)) or -1  # from the middle, either side will do
    return float(values[place + step])


def _smallest_value(x: FloatArray, rows: Protected, people: People) -> float | None:
    """A value of numbers (n,) with a small cell, the rarest; None where none has."""
    values = np.unique(x[~np.isnan(x)])
    if len(values) < 2:
        return None
    labels = _label_values(rows)
    small = []
    for value in values.tolist():
        has_value = x == value
        n_with_value = people.count(has_value)
        cells = [n_with_value]
        for label in labels:
            cells += [people.count(has_value & (label == answer)) for answer in (0, 1)]
        if any(0 < cell < people.least for cell in cells):
            small.append((n_with_value, value))
    return min(small)[1] if small else None


def _sentences_on_hidden(
    values: Mapping[str, Values], n_known_before: Mapping[str, int], least: int
) -> list[str]:
    """Sentences on features with hidden values, and how many."""
    sentences = []
    hidden_features = []
    for name, own in values.items():
        n_known = int((own != UNKNOWN).sum())
        n_hidden = n_known_before[name] - n_known
        if n_hidden and not n_known:
            hidden_features.append(name)
        elif n_hidden:
            sentences.append(
                f"{name!r:.80}: {_cells_told(n_hidden, least)} hidden, because too few "
                "people share a value."
            )
    if hidden_features:
        named = quoted_list(hidden_features, MAX_NAMED_FEATURES)
        sentences.append(f"Not shared at all, because of too few people: {named}.")
    return sentences


def _cells_told(count: int, least: int) -> str:
    """A count of cells, which is in the file: not exact where it is small.

    >>> _cells_told(3, least=10), _cells_told(24, least=10)
    ('fewer than 10 cells', '24 cells')
    """
    return plural(count, "cell") if count >= least else f"fewer than {least} cells"


# numbers of many values


def _fill_hidden_gap(x: FloatArray, gap_values: Values) -> None:
    """Give the median of numbers (n,) to people whose gap is hidden, in place."""
    gap = np.isnan(x)
    if gap.any() and not gap.all():
        x[gap & (gap_values == UNKNOWN)] = np.median(x[~gap])


def _share_numbers(
    rows: Protected, measured: Mapping[int, str], people: People
) -> None:
    """Turn measured numbers into medians of neighbours, whatever a plan asks of them.

    ``measured`` has the names of features by their column of numbers.
    """
    hidden_features = []
    parts = np.column_stack(parts_of_rows(rows.observed))
    for d, name in measured.items():
        x = rows.X[:, d]
        is_measured = ~np.isnan(x)
        if people.count(is_measured) < 2 * people.least:
            x[:] = np.nan
            hidden_features.append(name)
            continue
        x[is_measured] = medians_of_neighbours(
            x[is_measured], people.of_rows(is_measured), parts[is_measured]
        )
    if hidden_features:
        named = quoted_list(hidden_features, MAX_NAMED_FEATURES)
        rows.told.append(f"Not shared at all, measured in too few people: {named}.")
    if len(hidden_features) < len(measured):
        rows.told.append(
            f"Each number of many values became the median of at least {people.least} "
            "neighbours."
        )
