"""No count of few people leaves a site: cells that are too small are made not known.

Counts are in sums wherever a column holds 0 and 1: a value of words, "not measured",
yes and no. Such columns are put together by feature. Each feature parts the people by
its values and "not known"; so does each label. Wherever two of these cross, every cell
must hold nobody or at least ``least`` people:

- a value of a feature with a small cell for a label is not known for anybody, so that
  who has the label decides nothing;
- a small cell of two features is made not known for its people;
- "not known" is a cell like any other, so that nothing is found by subtraction;
- labels that were observed in other people have sums of their own, so all of this
  holds among these people too, and among those by which two labels differ;
- where this does not end, the feature is not known for anybody.

Numbers of a few different values, such as a stage, are counted like values: a value
with a small cell first becomes the next one towards the middle. All other numbers
become the median of ``least`` neighbours or more. A plan from elsewhere can bend a
scale until the digits of a sum are counts of people of single values (one who was 58.3
years old was found to be ill so, with parts of curves of 10 people and more), and it
can tell no more of neighbours who share a number. Among the people of each sum, and
those by which two sums differ, neighbours are nobody or ``least`` too: of 10 people in
whom one alone had a label observed, the sums of that label were that person's cells.

Whoever was not measured counts as the average, whatever the plan says that is, so a
plan can count these as well. "Not measured" is therefore a value like others, with or
without a column of its own; where it is made not known, its people get the median.

Labels with few cases, or few others, are not shared; nor are those few people in which
one label was observed and another was not.

Symbols: n rows, D columns of numbers, L labels.
"""

from dataclasses import dataclass, field
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..columns import Columns
from ..core.arrays import FloatArray
from ..core.scales import Scaling
from ..fit.left_out import Groups
from ..text import plural, quoted_list
from .summary import MAX_COUNTED_VALUES, groups_of_rows, n_people

MAX_ROUNDS = 30
NOT_KNOWN = -1

Codes = NDArray[np.intp]


@dataclass
class Protected:
    """Rows of a site in which every cell is large enough.

    ``X`` (n, D) in columns of numbers, ``Y`` (n, L), ``observed`` (n, L); ``told`` are
    sentences on what was made not known.
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
    """Make cells of fewer than ``least`` people not known.

    X (n, D), Y and observed (n, L) are not changed.
    """
    rows = Protected(X.copy(), Y.copy(), observed.copy())
    if least <= 1:
        return rows
    _protect_labels(rows, label_names, groups, least)
    if not rows.observed.any():
        return rows
    rows.X[~rows.observed.any(axis=1)] = np.nan  # they are in no sum
    _join_small_values(rows, columns, scaling, groups, least)
    counted = _counted_features(rows.X, columns, scaling)
    measured = _measured_columns(rows.X, columns, scaling)
    names = [columns.names[part.feature] for part in columns.parts]
    codes = {name: _codes(rows.X[:, own]) for name, own in counted.items()}
    for d in measured:
        gap = np.isnan(rows.X[:, d])
        if gap.any():
            codes.setdefault(_gap_name(names[d]), gap.astype(np.intp))
    before = {name: (own != NOT_KNOWN).sum() for name, own in codes.items()}
    _protect_values(codes, rows, groups, least)
    for name, own in counted.items():
        rows.X[codes[name] == NOT_KNOWN, own] = np.nan
    _tell_values(rows, codes, before, least)
    _fill_unknown_gaps(rows.X, names, measured, codes)
    _share_numbers(rows, names, measured, groups, least)
    return rows


def _protect_labels(
    rows: Protected, names: tuple[str, ...], groups: Groups, least: int
) -> None:
    """Do not share labels of few cases, nor rows by which two labels differ."""
    while True:  # each round has fewer observed cells
        before = rows.observed.copy()
        for i, j in combinations(range(len(names)), 2):
            for one, other in ((i, j), (j, i)):
                only = rows.observed[:, one] & ~rows.observed[:, other]
                if 0 < n_people(only, groups) < least:
                    rows.observed[only, one] = False
        for j in range(len(names)):
            seen = rows.observed[:, j]
            cases = seen & (rows.Y[:, j] > 0)
            others = seen & (rows.Y[:, j] <= 0)
            if min(n_people(cases, groups), n_people(others, groups)) < least:
                rows.observed[:, j] = False
        if (rows.observed == before).all():
            break
    left_out = [
        name
        for name, seen in zip(names, rows.observed.T, strict=True)
        if not seen.any()
    ]
    if left_out:
        rows.told.append(
            f"Labels with fewer than {least} cases or others are not shared: "
            f"{quoted_list(left_out)}."
        )


def _measured_columns(X: FloatArray, columns: Columns, scaling: Scaling) -> list[int]:
    """The columns of numbers of many values: those that hold no counts."""
    has_two = np.less_equal(scaling.n_values, 2).tolist()
    measured = []
    for d, part in enumerate(columns.parts):
        if part.value is None and not has_two[d] and not _has_few_values(X[:, d]):
            measured.append(d)
    return measured


def _has_few_values(x: FloatArray) -> bool:
    """Whether numbers (n,) have so few values that each is counted."""
    return len(np.unique(x[~np.isnan(x)])) <= MAX_COUNTED_VALUES


def _counted_features(
    X: FloatArray, columns: Columns, scaling: Scaling
) -> dict[str, slice]:
    """The columns that hold counts, together for each feature and each gap."""
    counted: dict[str, slice] = {}
    measured = _measured_columns(X, columns, scaling)
    for d, part in enumerate(columns.parts):
        name = columns.names[part.feature]
        if d in measured:
            continue
        if columns.is_gap[d]:
            name = _gap_name(name)
        own = counted.get(name, slice(d, d))
        counted[name] = slice(own.start, d + 1)
    return counted


def _gap_name(name: str) -> str:
    """What is not known of a feature, as a feature of its own."""
    return f"{name} not measured"


def _join_small_values(
    rows: Protected,
    columns: Columns,
    scaling: Scaling,
    groups: Groups,
    least: int,
) -> None:
    """Move values of numbers of few values to the next ones, where a cell is small."""
    has_two = np.less_equal(scaling.n_values, 2).tolist()
    for d, part in enumerate(columns.parts):
        x = rows.X[:, d]
        if part.value is not None or has_two[d] or not _has_few_values(x):
            continue
        n_joined = 0
        while (value := _smallest_value(x, rows, groups, least)) is not None:
            values = np.unique(x[~np.isnan(x)])
            place = int(np.flatnonzero(values == value)[0])
            middle = (len(values) - 1) / 2
            if place == middle:  # either side will do
                place_to = place - 1
            else:
                place_to = place + int(np.sign(middle - place))
            x[x == value] = values[place_to]
            n_joined += 1
        if n_joined and len(np.unique(x[~np.isnan(x)])) > 1:
            name = columns.names[part.feature]
            rows.told.append(
                f"{name!r:.80}: {plural(n_joined, 'value')} with too few people joined "
                "with the next one."
            )


def _smallest_value(
    x: FloatArray, rows: Protected, groups: Groups, least: int
) -> float | None:
    """A value of numbers (n,) with a small cell, the rarest; None where none has."""
    values = np.unique(x[~np.isnan(x)])
    if len(values) < 2:
        return None
    small = []
    for value in values.tolist():
        has_it = x == value
        cells = [n_people(has_it, groups)]
        for j in range(rows.Y.shape[1]):
            seen = has_it & rows.observed[:, j]
            cells += [n_people(seen & (rows.Y[:, j] == y), groups) for y in (0, 1)]
        if any(0 < cell < least for cell in cells):
            small.append((cells[0], value))
    return min(small)[1] if small else None


def _codes(cells: FloatArray) -> Codes:
    """The value (n,) that each row has in the columns (n, c) of a feature."""
    is_known: NDArray[np.bool_] = np.asarray(~np.isnan(cells).any(axis=1))
    known = np.where(is_known[:, None], cells, 0.0)
    _, codes = np.unique(known, axis=0, return_inverse=True)
    return np.where(is_known, codes.ravel(), NOT_KNOWN).astype(np.intp)


def _parts_of_rows(observed: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
    """Parts of the rows that sums tell apart.

    They are all rows of the sums, those in which a label was observed, and those by
    which two of these differ: sums of one label less those of another are about them.
    """
    patterns = np.unique(observed.T, axis=0)
    parts = [observed.any(axis=1), *patterns]
    for one, other in permutations(patterns, 2):
        parts.append(one & ~other)
    return [rows for rows in parts if rows.any()]


def _protect_values(
    codes: dict[str, Codes], rows: Protected, groups: Groups, least: int
) -> None:
    """Make values not known until no cell is small."""
    everybody = np.full(len(rows.X), NOT_KNOWN)
    # with what is the same for everybody, a value is counted alone
    pairs = list(combinations([everybody, *codes.values()], 2))
    parts = _parts_of_rows(rows.observed)
    for _ in range(MAX_ROUNDS):
        changed = False
        for own in codes.values():
            for label in _label_codes(rows):
                changed |= _protect_from_label(own, label, groups, least)
        for one, other in pairs:
            for part in parts:
                changed |= _protect_pair(one, other, part, groups, least)
        if not changed:
            return
    for own in codes.values():
        others = [pair for pair in pairs if own is pair[0] or own is pair[1]]
        others += [(own, label) for label in _label_codes(rows)]
        if any(
            _has_small_cell(one, other, part, groups, least)
            for one, other in others
            for part in parts
        ):
            own[:] = NOT_KNOWN


def _label_codes(rows: Protected) -> list[Codes]:
    """What each label is (n,), or not known."""
    labels = np.where(rows.observed, rows.Y, NOT_KNOWN).astype(np.intp)
    return list(labels.T)


def _has_small_cell(
    one: Codes, other: Codes, part: NDArray[np.bool_], groups: Groups, least: int
) -> bool:
    """Whether few people of a part of the rows share two values."""
    own_groups = groups_of_rows(groups, part)
    return bool(_small_cells(one[part], other[part], own_groups, least))


def _small_cells(
    one: Codes, other: Codes, groups: Groups, least: int
) -> list[tuple[int, int]]:
    """Pairs of values that some people have, but fewer than ``least``."""
    n_values = int(other.max()) + 2  # "not known" is -1
    cells = (one + 1) * n_values + (other + 1)
    if groups is not None:  # a person counts once in each cell
        n_groups = int(groups.max()) + 1
        cells = np.unique(cells * n_groups + groups) // n_groups
    counts = np.bincount(cells)
    small = np.flatnonzero((counts > 0) & (counts < least))
    return [(int(c) // n_values - 1, int(c) % n_values - 1) for c in small]


def _protect_from_label(own: Codes, label: Codes, groups: Groups, least: int) -> bool:
    """Make values not known that have a small cell for a label, whoever has it."""
    changed = False
    for _ in range(MAX_ROUNDS):
        small = [
            v for v, u in _small_cells(own, label, groups, least) if u != NOT_KNOWN
        ]
        if not small:
            return changed
        known = [v for v in small if v != NOT_KNOWN]
        if not known:  # "not known" is small: the smallest value joins it
            values, counts = np.unique(own[own != NOT_KNOWN], return_counts=True)
            if not len(values):
                return changed
            known = [int(values[counts.argmin()])]
        own[np.isin(own, known)] = NOT_KNOWN
        changed = True
    own[:] = NOT_KNOWN
    return True


def _protect_pair(
    one: Codes, other: Codes, part: NDArray[np.bool_], groups: Groups, least: int
) -> bool:
    """Make small cells of two features not known, in a part of the rows."""
    small = _small_cells(one[part], other[part], groups_of_rows(groups, part), least)
    for v, u in small:
        in_cell = part & (one == v) & (other == u)
        if v != NOT_KNOWN:
            one[in_cell] = NOT_KNOWN
        elif u != NOT_KNOWN:
            other[in_cell] = NOT_KNOWN
        else:
            _widen_unknown(one, other, part)
    return bool(small)


def _widen_unknown(one: Codes, other: Codes, part: NDArray[np.bool_]) -> None:
    """Make the rarest value not known among people of whom the other is not known.

    Where there is none, the rarest value of each.
    """
    for first, second in ((one, other), (other, one)):
        if _forget_rarest(first, part & (second == NOT_KNOWN)):
            return
    _forget_rarest(one, part)
    _forget_rarest(other, part)


def _forget_rarest(own: Codes, part: NDArray[np.bool_]) -> bool:
    """Make the rarest value of a part of the rows not known there, if there is one."""
    values, counts = np.unique(own[part & (own != NOT_KNOWN)], return_counts=True)
    if not len(values):
        return False
    own[part & (own == values[counts.argmin()])] = NOT_KNOWN
    return True


def _tell_values(
    rows: Protected, codes: dict[str, Codes], before: dict[str, int], least: int
) -> None:
    """Say which features lost values, and how many."""
    whole = []
    for name, own in codes.items():
        n_known = int((own != NOT_KNOWN).sum())
        lost = int(before[name]) - n_known
        if lost and not n_known:
            whole.append(name)
        elif lost:
            rows.told.append(
                f"{name!r:.80}: {_cells_told(lost, least)} made not known, because too "
                "few people share a value."
            )
    if whole:
        rows.told.append(
            f"Not shared at all, because of too few people: {quoted_list(whole, 20)}."
        )


def _cells_told(count: int, least: int) -> str:
    """A count of cells, which is in the file: not exact where it is small.

    >>> _cells_told(3, least=10), _cells_told(24, least=10)
    ('fewer than 10 cells', '24 cells')
    """
    return plural(count, "cell") if count >= least else f"fewer than {least} cells"


def _fill_unknown_gaps(
    X: FloatArray, names: list[str], measured: list[int], codes: dict[str, Codes]
) -> None:
    """Give the median to those of whom it is not known that they were not measured."""
    for d in measured:
        x = X[:, d]
        gap = np.isnan(x)
        if gap.any() and not gap.all():
            is_told = codes[_gap_name(names[d])] != NOT_KNOWN
            x[gap & ~is_told] = np.median(x[~gap])


def _share_numbers(
    rows: Protected, names: list[str], measured: list[int], groups: Groups, least: int
) -> None:
    """Give measured numbers of neighbours in one, whatever a plan asks of them.

    ``names`` are those of the features of all columns.
    """
    gone = []
    parts = np.column_stack(_parts_of_rows(rows.observed))
    for d in measured:
        x = rows.X[:, d]
        is_known = ~np.isnan(x)
        if n_people(is_known, groups) < 2 * least:
            x[:] = np.nan
            gone.append(names[d])
            continue
        x[is_known] = medians_of_neighbours(
            x[is_known], groups_of_rows(groups, is_known), least, parts[is_known]
        )
    if gone:
        rows.told.append(
            f"Not shared at all, measured in too few people: {quoted_list(gone, 20)}."
        )
    if len(gone) < len(measured):
        rows.told.append(
            f"Each number of many values became the median of at least {least} "
            "neighbours."
        )


def medians_of_neighbours(
    x: FloatArray, groups: Groups, least: int, parts: NDArray[np.bool_] | None = None
) -> FloatArray:
    """Numbers (n,) of which each is shared by ``least`` people, who are neighbours.

    Also in each part of the rows, columns of ``parts`` (n, p), in which somebody shares
    it.

    >>> medians_of_neighbours(np.array([1.0, 9.0, 2.0, 8.0, 7.0]), None, 2).tolist()
    [1.5, 8.0, 1.5, 8.0, 8.0]
    """
    order = np.argsort(x, kind="stable")
    if parts is None:
        parts = np.ones((len(x), 1), dtype=bool)
    people = np.arange(len(x)) if groups is None else groups
    _, starts = np.unique(x[order], return_index=True)
    blocks: list[Neighbours] = []
    growing = Neighbours.none(parts.shape[1])
    for own in np.split(order, starts[1:]):
        growing.add(own, people[own], parts[own])
        if growing.are_enough(least):
            blocks.append(growing)
            growing = Neighbours.none(parts.shape[1])
    while blocks and not growing.are_enough(least):  # the last few join those before
        before = blocks.pop()
        rows = np.array(growing.rows, dtype=np.intp)
        before.add(rows, people[rows], parts[rows])
        growing = before
    medians = np.empty(len(x))
    for block in [*blocks, growing]:
        medians[block.rows] = np.median(x[block.rows])
    return medians


@dataclass
class Neighbours:
    """Rows with neighbouring numbers, and how many people of each part they are.

    ``seen`` says in which parts a person was counted, ``counts`` are (p,).
    """

    rows: list[int]
    seen: dict[int, NDArray[np.bool_]]
    counts: NDArray[np.intp]

    @classmethod
    def none(cls, n_parts: int) -> "Neighbours":
        """No rows yet."""
        return cls([], {}, np.zeros(n_parts, dtype=np.intp))

    def add(
        self, rows: NDArray[np.intp], people: NDArray[Any], parts: NDArray[np.bool_]
    ) -> None:
        """Add rows of people, who are in some parts (m, p)."""
        nowhere = np.zeros(len(self.counts), dtype=bool)
        for row, person, own in zip(rows.tolist(), people.tolist(), parts, strict=True):
            before = self.seen.get(person, nowhere)
            self.rows.append(row)
            self.counts += own & ~before
            self.seen[person] = own | before

    def are_enough(self, least: int) -> bool:
        """Whether there is somebody, and each part has nobody or enough people."""
        is_few = (self.counts > 0) & (self.counts < least)
        return bool(self.rows) and not is_few.any()
