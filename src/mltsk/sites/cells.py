"""Cells of few people: where values of rows cross, and how small cells are hidden.

The values of a feature or label are whole numbers, one per row; -1 means unknown. Two
of them cross in a table of cells: how many people have the one value and the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import FloatArray
from ..fit.left_out import Groups
from .summary import groups_of_rows, n_people

MAX_ROUNDS = 30
UNKNOWN = -1

Values = NDArray[np.intp]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class People:
    """The people of some rows, and how many of them a count must be about.

    ``groups`` (n,) says which rows are about one person; None if each row is a person.
    """

    groups: Groups
    least: int

    def count(self, rows: Mask) -> int:
        """How many people some rows (n,) are about."""
        return n_people(rows, self.groups)

    def of_rows(self, rows: Mask) -> "People":
        """The people of some rows (n,)."""
        return People(groups_of_rows(self.groups, rows), self.least)


def values_of_rows(cells: FloatArray) -> Values:
    """The value (n,) of each row in the columns (n, c) of a feature."""
    is_complete: Mask = np.asarray(~np.isnan(cells).any(axis=1))
    filled = np.where(is_complete[:, None], cells, 0.0)
    _, values = np.unique(filled, axis=0, return_inverse=True)
    return np.where(is_complete, values.ravel(), UNKNOWN).astype(np.intp)


def parts_of_rows(observed: Mask) -> list[Mask]:
    """Parts of the rows that sums tell apart, from which labels were observed (n, L).

    They are all rows of the sums, those in which a label was observed, and those in
    which one label was observed and another was not: the sums of the first label less
    those of the second are about them.
    """
    patterns = np.unique(observed.T, axis=0)
    parts = [observed.any(axis=1), *patterns]
    for one, other in permutations(patterns, 2):
        parts.append(one & ~other)
    return [rows for rows in parts if rows.any()]


def small_cells(one: Values, other: Values, people: People) -> list[tuple[int, int]]:
    """Pairs of values that somebody has, but fewer people than ``people.least``."""
    n_values = int(other.max()) + 2  # with "unknown"
    cells = (one + 1) * n_values + (other + 1)
    if people.groups is not None:  # a person counts once in each cell
        n_groups = int(people.groups.max()) + 1
        cells = np.unique(cells * n_groups + people.groups) // n_groups
    counts = np.bincount(cells)
    small = np.flatnonzero((counts > 0) & (counts < people.least))
    return [(int(c) // n_values - 1, int(c) % n_values - 1) for c in small]


def hide_small_cells(
    features: Sequence[Values],
    labels: Sequence[Values],
    parts: Sequence[Mask],
    people: People,
) -> None:
    """Make values of features unknown, in place, until no cell is small.

    Features cross each other in every part of the rows, and they cross the labels. A
    feature that still has a small cell after `MAX_ROUNDS` becomes unknown as a whole.
    """
    everybody = np.full(len(parts[0]), UNKNOWN)
    # crossed with what is the same for everybody, the values of a feature are counted
    pairs = list(combinations([everybody, *features], 2))
    for _ in range(MAX_ROUNDS):
        if not _hide_once(features, labels, pairs, parts, people):
            return
    for feature in features:
        crossed = [pair for pair in pairs if feature is pair[0] or feature is pair[1]]
        crossed += [(feature, label) for label in labels]
        if any(_has_small_cell(one, other, parts, people) for one, other in crossed):
            feature[:] = UNKNOWN


def _hide_once(
    features: Sequence[Values],
    labels: Sequence[Values],
    pairs: Sequence[tuple[Values, Values]],
    parts: Sequence[Mask],
    people: People,
) -> bool:
    """Hide each small cell that there is now; whether there was one."""
    changed = False
    for feature in features:
        for label in labels:
            changed |= _hide_from_label(feature, label, people)
    for one, other in pairs:
        for part in parts:
            changed |= _hide_from_each_other(one, other, part, people)
    return changed


def _has_small_cell(
    one: Values, other: Values, parts: Sequence[Mask], people: People
) -> bool:
    """Whether few people of a part of the rows share two values."""
    return any(
        small_cells(one[part], other[part], people.of_rows(part)) for part in parts
    )


def _hide_from_label(feature: Values, label: Values, people: People) -> bool:
    """Make values with a small cell for a label unknown, for everybody who has them."""
    changed = False
    for _ in range(MAX_ROUNDS):
        cells = small_cells(feature, label, people)
        small = [value for value, answer in cells if answer != UNKNOWN]
        if not small:
            return changed
        hidden = [value for value in small if value != UNKNOWN]
        if not hidden:  # "unknown" itself is small: the rarest value joins it
            rarest = _rarest(feature)
            if rarest is None:
                return changed
            hidden = [rarest]
        feature[np.isin(feature, hidden)] = UNKNOWN
        changed = True
    feature[:] = UNKNOWN
    return True


def _hide_from_each_other(
    one: Values, other: Values, part: Mask, people: People
) -> bool:
    """Make small cells of two features unknown, in a part of the rows."""
    small = small_cells(one[part], other[part], people.of_rows(part))
    for value, other_value in small:
        in_cell = part & (one == value) & (other == other_value)
        if value != UNKNOWN:
            one[in_cell] = UNKNOWN
        elif other_value != UNKNOWN:
            other[in_cell] = UNKNOWN
        else:
            _widen_unknown(one, other, part)
    return bool(small)


def _widen_unknown(one: Values, other: Values, part: Mask) -> None:
    """Make the rarest value unknown among people whose other value is unknown.

    If there is none, the rarest value of each.
    """
    for first, second in ((one, other), (other, one)):
        if _hide_rarest(first, part & (second == UNKNOWN)):
            return
    _hide_rarest(one, part)
    _hide_rarest(other, part)


def _hide_rarest(feature: Values, part: Mask) -> bool:
    """Make the rarest value of a part of the rows unknown there, if there is one."""
    rarest = _rarest(feature[part])
    if rarest is None:
        return False
    feature[part & (feature == rarest)] = UNKNOWN
    return True


def _rarest(values: Values) -> int | None:
    """The value that the fewest rows have; None if all are unknown."""
    distinct, counts = np.unique(values[values != UNKNOWN], return_counts=True)
    if not len(distinct):
        return None
    return int(distinct[counts.argmin()])
