"""No count of few people leaves a site: cells that are too small are made not known.

Counts are in sums wherever a column holds 0 and 1: a value of words, "not measured",
yes and no. Such columns are put together by feature. Each feature parts the people by
its values and "not known"; so does each label. Wherever two of these cross, every cell
must hold nobody or at least ``least`` people:

- a value of a feature with a small cell for a label is not known for anybody, so that
  who has the label decides nothing;
- a small cell of two features is made not known for its people;
- "not known" is a cell like any other, so that nothing is found by subtraction;
- where this does not end, the feature is not known for anybody.

Labels with few cases, or few others, are not shared; nor are those few people in which
one label was observed and another was not. Ends of numbers are moved in to the
``least``-th person from each end.

Symbols: n rows, D columns of numbers, L labels.
"""

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..columns import Columns
from ..core.arrays import FloatArray
from ..core.scales import Scaling
from ..fit.left_out import Groups
from ..text import plural, quoted_list
from .summary import limits_of, n_people

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
    counted = _counted_features(columns, scaling)
    codes = {name: _codes(rows.X[:, own]) for name, own in counted.items()}
    before = {name: (own != NOT_KNOWN).sum() for name, own in codes.items()}
    _protect_values(codes, rows, groups, least)
    for name, own in counted.items():
        rows.X[codes[name] == NOT_KNOWN, own] = np.nan
    _tell_values(rows, codes, before)
    _protect_ends(rows, columns, scaling, groups, least)
    return rows


def _protect_labels(
    rows: Protected, names: tuple[str, ...], groups: Groups, least: int
) -> None:
    """Do not share labels of few cases, nor rows by which two labels differ."""
    for _ in range(MAX_ROUNDS):
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


def _counted_features(columns: Columns, scaling: Scaling) -> dict[str, slice]:
    """The columns that hold counts, together for each feature and each gap."""
    counted: dict[str, slice] = {}
    has_two = np.less_equal(scaling.n_values, 2).tolist()
    for d, part in enumerate(columns.parts):
        name = columns.names[part.feature]
        if part.value is None and not has_two[d]:
            continue
        if columns.is_gap[d]:
            name = f"{name} not measured"
        own = counted.get(name, slice(d, d))
        counted[name] = slice(own.start, d + 1)
    return counted


def _codes(cells: FloatArray) -> Codes:
    """The value (n,) that each row has in the columns (n, c) of a feature."""
    is_known: NDArray[np.bool_] = np.asarray(~np.isnan(cells).any(axis=1))
    known = np.where(is_known[:, None], cells, 0.0)
    _, codes = np.unique(known, axis=0, return_inverse=True)
    return np.where(is_known, codes.ravel(), NOT_KNOWN).astype(np.intp)


def _protect_values(
    codes: dict[str, Codes], rows: Protected, groups: Groups, least: int
) -> None:
    """Make values not known until no cell is small."""
    for _ in range(MAX_ROUNDS):
        changed = False
        for own in codes.values():
            changed |= _merge_small(own, groups, least)
            for j in range(rows.Y.shape[1]):
                label = np.where(rows.observed[:, j], rows.Y[:, j], NOT_KNOWN)
                changed |= _protect_from_label(
                    own, label.astype(np.intp), groups, least
                )
        for one, other in combinations(codes.values(), 2):
            changed |= _protect_pair(one, other, groups, least)
        if not changed:
            return
    for own in codes.values():
        has_small = any(
            other is not own and len(_small_cells(own, other, groups, least))
            for other in codes.values()
        )
        if has_small:
            own[:] = NOT_KNOWN


def _merge_small(own: Codes, groups: Groups, least: int) -> bool:
    """Make values of few people not known, with others until "not known" is enough."""
    changed = False
    while True:
        values = np.unique(own)
        sizes = {int(v): n_people(own == v, groups) for v in values}
        known = {v: size for v, size in sizes.items() if v != NOT_KNOWN}
        unknown = sizes.get(NOT_KNOWN, 0)
        is_small = known and min(known.values()) < least
        if not known or not (is_small or 0 < unknown < least):
            return changed
        own[own == min(known, key=lambda v: (known[v], v))] = NOT_KNOWN
        changed = True


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


def _protect_pair(one: Codes, other: Codes, groups: Groups, least: int) -> bool:
    """Make small cells of two features not known."""
    small = _small_cells(one, other, groups, least)
    for v, u in small:
        in_cell = (one == v) & (other == u)
        if v != NOT_KNOWN:
            one[in_cell] = NOT_KNOWN
        elif u != NOT_KNOWN:
            other[in_cell] = NOT_KNOWN
        else:
            _widen_unknown(one, other)
    return bool(small)


def _widen_unknown(one: Codes, other: Codes) -> None:
    """Make the rarest value not known among people of whom the other is not known."""
    for first, second in ((one, other), (other, one)):
        candidates = first[(second == NOT_KNOWN) & (first != NOT_KNOWN)]
        if len(candidates):
            values, counts = np.unique(candidates, return_counts=True)
            rarest = values[counts.argmin()]
            first[(second == NOT_KNOWN) & (first == rarest)] = NOT_KNOWN
            return
    one[:] = NOT_KNOWN
    other[:] = NOT_KNOWN


def _tell_values(
    rows: Protected, codes: dict[str, Codes], before: dict[str, int]
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
                f"{name!r:.80}: {plural(lost, 'cell')} of {int(before[name]):,} made "
                "not known, because too few people share a value."
            )
    if whole:
        rows.told.append(
            f"Not shared at all, because of too few people: {quoted_list(whole, 20)}."
        )


def _protect_ends(
    rows: Protected, columns: Columns, scaling: Scaling, groups: Groups, least: int
) -> None:
    """Move numbers beyond the ``least``-th person from each end in to that person's."""
    n_moved = 0
    for d, part in enumerate(columns.parts):
        if part.value is not None or scaling.n_values[d] <= 2:
            continue
        x = rows.X[:, d]
        is_known = ~np.isnan(x)
        if n_people(is_known, groups) < 2 * least:
            rows.X[:, d] = np.nan
            continue
        own_groups = None if groups is None else groups[is_known]
        low, high = limits_of(x[is_known], own_groups, least)
        n_moved += int(((x < low) | (x > high)).sum())
        rows.X[:, d] = np.clip(x, low, high)
    if n_moved:
        rows.told.append(
            f"{plural(n_moved, 'number')} beyond the {least}th person from an end "
            "moved in to that person's."
        )
