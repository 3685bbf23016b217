"""Folds in which every label is as frequent as in all rows.

Rows carry several labels at once, so stratified folds cannot be dealt label by label.
The rarest label is dealt first, while there is still room to choose: each of its rows
goes to the fold that lacks that label most, and takes its other labels along (Sechidis,
Tsoumakas and Vlahavas, ECML PKDD 2011). With ``order=2`` pairs of labels that occur
together are dealt as labels too (Szymański and Kajdanowicz, LIDTA 2017). Not to have
been observed is dealt like a label, so that each fold has its share of observed rows.
Rows of a group are dealt as one.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from ..core.arrays import FloatArray, Matrix
from ..exceptions import InputError
from ..targets import table_targets
from ..text import plural

IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


class IterativeStratification(BaseCrossValidator):
    """Cross-validation folds that keep the frequency of every label.

    It is a splitter of scikit-learn: pass it as ``cv``.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    random_state : int, RandomState or None, default=0
        Seed of the chance that breaks ties: which row of a label, which of several
        equal folds. The same folds come each time unless it is None.
    order : {1, 2}, default=1
        1 keeps frequencies of labels, 2 also those of pairs of labels.

    Notes
    -----
    ``split(X, y, groups=None)`` takes y as an (N, L) indicator, array, sparse or data
    frame, with NaN where a label was not observed; of X only the number of rows
    matters. Each fold has its share of the rows in which a label was observed, and of
    those that have it.

    With ``groups`` (N,) all rows of a group are in one fold. Where scikit-learn's
    metadata routing is on, ``groups`` are asked for.

    Sizes of folds differ by one row at most, with groups by more: a full fold takes no
    more rows. Rows without labels are dealt last and fill up what is left.

    Rates of labels in a fold deviate by .0147 on cal500, where those of shuffled folds
    deviate by .0200, and by .0005 instead of .0028 on rcv1s1 (``python -m benchmarks
    stratification``). Pairs are bought with single labels (.0162 and .0006): take
    ``order=2`` only if pairs are what is studied.

    Examples
    --------
    >>> Y = np.zeros((20, 2))
    >>> Y[:5, 0] = Y[4:8, 1] = 1
    >>> folds = IterativeStratification(n_splits=4)
    >>> [Y[test].sum(axis=0).tolist() for _, test in folds.split(Y, Y)]
    [[1.0, 1.0], [2.0, 1.0], [1.0, 1.0], [1.0, 1.0]]
    >>> patients = np.arange(20) // 2
    >>> _, test = next(folds.split(Y, Y, patients))
    >>> patients[test].tolist()
    [0, 0, 6, 6, 7, 7]
    """

    __metadata_request__split = {"groups": True}  # noqa: RUF012

    def __init__(
        self,
        n_splits: int = 5,
        *,
        random_state: int | np.random.RandomState | None = 0,
        order: int = 1,
    ) -> None:
        self.n_splits = n_splits
        self.random_state = random_state
        self.order = order

    def get_n_splits(
        self, X: object = None, y: object = None, groups: object = None
    ) -> int:
        """Number of folds."""
        return self.n_splits

    def _iter_test_indices(
        self,
        X: object = None,
        y: Matrix | None = None,
        groups: ArrayLike | None = None,
    ) -> Iterator[IntArray]:
        if self.order not in (1, 2):
            raise InputError(
                f"order is 1 (labels) or 2 (pairs of labels), not {self.order!r}."
            )
        if y is None:
            raise InputError("Stratified folds need the labels: pass y to split.")
        Y = _indicator(y, with_pairs=self.order == 2)
        rng = check_random_state(self.random_state)
        if groups is None:
            self._check_number(Y.shape[0], "row")
            folds = _deal(_Units(Y, np.ones(Y.shape[0], np.intp)), self.n_splits, rng)
        else:
            group = _group_numbers(groups)
            n_groups = int(group.max()) + 1
            self._check_number(n_groups, "group")
            units = _Units.of_groups(Y, group, n_groups)
            folds = _deal(units, self.n_splits, rng)[group]
        return (np.flatnonzero(folds == fold) for fold in range(self.n_splits))

    def _check_number(self, n_units: int, noun: str) -> None:
        """Refuse fewer than two folds, and more than there is anything to deal."""
        if not 2 <= self.n_splits <= n_units:
            raise InputError(
                f"{self.n_splits} folds cannot be made of {plural(n_units, noun)}."
            )


def _indicator(y: Matrix, *, with_pairs: bool) -> sparse.csr_array:
    """What is to be dealt evenly, as a sparse indicator without stored zeros.

    A column per label, then one per pair of labels if asked for, then one for each set
    of rows in which some label was not observed.
    """
    if sparse.issparse(y):
        if not np.isin(y.data, (0, 1)).all():
            raise InputError("y must be an indicator matrix of 0 and 1.")
        labels = y
        absent = np.zeros((y.shape[0], 0), dtype=bool)
    else:
        labels, absent = _dense_labels(y)
    Y = sparse.csr_array(labels, dtype=np.int64)
    Y.eliminate_zeros()
    if with_pairs:
        Y = _with_pairs(Y)
    if not absent.size:
        return Y
    columns = [Y, sparse.csr_array(absent, dtype=np.int64)]
    return sparse.csr_array(sparse.hstack(columns, format="csr"))


def _dense_labels(y: Matrix) -> tuple[FloatArray, BoolArray]:
    """Labels (N, L), 0 where not observed, and the sets of rows without some label.

    The sets are columns (N, S), each once.
    """
    cells = np.asarray(y)
    if cells.ndim == 1:
        return _columns_of_classes(cells), np.zeros((len(cells), 0), dtype=bool)
    if cells.ndim != 2:
        raise InputError(
            "y must be an indicator matrix of 0 and 1, a row per sample and a column "
            f"per label; it is {cells.ndim}-d."
        )
    targets = table_targets(cells, [], may_miss=True)
    if targets.observed is None:
        return targets.Y, np.zeros((len(cells), 0), dtype=bool)
    absent = ~targets.observed
    return targets.Y, np.unique(absent[:, absent.any(axis=0)], axis=1)


def _columns_of_classes(y: NDArray[Any]) -> FloatArray:
    """A column of 0 and 1 for each class of y (N,)."""
    codes, classes = pd.factorize(y)
    if (codes < 0).any():
        row = int((codes < 0).argmax())
        raise InputError(
            f"Row {row} of y has no class (NaN). Leave such rows out, or pass y as a "
            "table of one column, where NaN is a label that was not observed."
        )
    return np.eye(len(classes))[codes]


def _with_pairs(Y: sparse.csr_array) -> sparse.csr_array:
    """``Y`` with a further column for every pair of labels that some row has."""
    together = sparse.csr_array(sparse.triu(Y.T @ Y, k=1))
    together.sort_indices()
    first, second = together.nonzero()
    columns = Y.tocsc()
    pairs = columns[:, first].multiply(columns[:, second])
    return sparse.csr_array(sparse.hstack([Y, pairs], format="csr"))


def _group_numbers(groups: ArrayLike) -> IntArray:
    """The group of every row as a number from 0 on."""
    values = np.asarray(groups)
    if values.ndim != 1:
        raise InputError(f"groups must name one group per row, got {values.ndim}-d.")
    numbers, _ = pd.factorize(values)
    if (numbers < 0).any():
        row = int((numbers < 0).argmax())
        raise InputError(f"Row {row} has no group: name one for each row.")
    return np.asarray(numbers, dtype=np.intp)


class _Units(NamedTuple):
    """What is dealt to folds as a whole: rows, or groups of rows.

    ``counts`` (U, L) says how many rows of a unit have each label, ``sizes`` (U,) how
    many rows it has.
    """

    counts: sparse.csr_array
    sizes: IntArray

    @classmethod
    def of_groups(cls, Y: sparse.csr_array, group: IntArray, n_groups: int) -> "_Units":
        """Groups, from the indicator ``Y`` (N, L) and the ``group`` (N,) of rows."""
        row = np.arange(len(group))
        member = sparse.csr_array(
            (np.ones(len(group), np.int64), (group, row)), shape=(n_groups, len(group))
        )
        sizes = np.bincount(group, minlength=n_groups)
        return cls(sparse.csr_array(member @ Y), sizes)


def _deal(units: _Units, n_splits: int, rng: np.random.RandomState) -> IntArray:
    """The fold of every unit, those with the rarest label first."""
    counts = units.counts
    sizes = units.sizes
    n_units, n_labels = counts.shape
    n_rows = int(sizes.sum())
    folds = np.full(n_units, -1, dtype=np.intp)
    # Rows that each fold still takes. All units together fill all folds, so while a
    # unit waits, some fold has room; a large group may take more than there is.
    room = np.full(n_splits, n_rows // n_splits)
    room += np.arange(n_splits) < n_rows % n_splits
    # positives of each label in each fold so far
    taken = np.zeros((n_labels, n_splits), dtype=np.intp)
    waiting = np.asarray(counts.sum(axis=0), dtype=np.float64).ravel()
    columns = counts.tocsc()
    chance = rng.random_sample(n_labels)
    while (waiting > 0).any():
        label = int(np.argmin(np.where(waiting > 0, waiting + chance, np.inf)))
        of_label = slice(columns.indptr[label], columns.indptr[label + 1])
        having = columns.indices[of_label]
        is_waiting = folds[having] < 0
        for unit in _largest_first(
            having[is_waiting], columns.data[of_label][is_waiting], rng
        ):
            of_unit = slice(counts.indptr[unit], counts.indptr[unit + 1])
            labels = counts.indices[of_unit]
            # The fold with the fewest positives of the label, then with the most room,
            # then by chance; never a full one. Every fold wants the same number of
            # positives, so the one that has fewest lacks most.
            rank = taken[label] * (room.max() + 1.0) - room
            rank += rng.random_sample(n_splits)
            fold = int(np.where(room > 0, rank, np.inf).argmin())
            folds[unit] = fold
            taken[labels, fold] += counts.data[of_unit]
            waiting[labels] -= counts.data[of_unit]
            room[fold] -= sizes[unit]
    return _fill_up(folds, sizes, room, rng)


def _largest_first(
    units: IntArray, counts: IntArray, rng: np.random.RandomState
) -> IntArray:
    """Units by falling counts, equal ones in random order."""
    shuffled = rng.permutation(len(units))
    order = np.argsort(-counts[shuffled], kind="stable")
    return units[shuffled[order]]


def _fill_up(
    folds: IntArray, sizes: IntArray, room: IntArray, rng: np.random.RandomState
) -> IntArray:
    """Folds of all units: those without labels go where there is room."""
    left = np.flatnonzero(folds < 0)
    if (sizes == 1).all():
        folds[left] = rng.permutation(np.repeat(np.arange(len(room)), room))
        return folds
    for unit in _largest_first(left, sizes[left], rng):
        fold = int((room + rng.random_sample(len(room))).argmax())
        folds[unit] = fold
        room[fold] -= sizes[unit]
    return folds
