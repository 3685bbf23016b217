"""Targets as scikit-learn users give them, as an indicator matrix and back.

Multi-label targets are indicator arrays, data frames, sparse matrices, or lists of the
labels of each sample; a cell without a value (NaN, None) is a label that was not
observed. One-dimensional binary and multiclass targets become one column (binary: the
second class) or one column per class. Scores may be tensors; labels are tensors then,
too.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import type_of_target, unique_labels
from sklearn.utils.validation import assert_all_finite, check_array, column_or_1d

from .core.arrays import cast, check_plain, namespace, put
from .exceptions import InputError, check_different, check_texts
from .frames import is_absent
from .machine import total_memory

NUMBERS_OF_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_COLLECTIONS = (list, tuple, set, frozenset, np.ndarray)


@dataclass(frozen=True)
class Targets:
    """Targets as an indicator ``Y`` (N, L) of floats, with ``classes`` and ``names``.

    ``observed`` (N, L) says which cells hold something, None where all do; the others
    are 0 in ``Y``.
    """

    Y: np.ndarray
    classes: np.ndarray
    names: tuple[str, ...]
    multilabel: bool
    observed: np.ndarray | None = None

    def __post_init__(self) -> None:
        what = "labels" if self.multilabel else "classes"
        names = self.names
        if not self.multilabel:  # of two classes, one alone has a column
            names = tuple(str(name) for name in self.classes)
        check_different(names, what)
        check_texts(names, "A label" if self.multilabel else "A class")

    @classmethod
    def of(cls, y: Any, *, may_miss: bool = False) -> "Targets":
        """Read targets of any supported form; any other is refused with a ValueError.

        With ``may_miss``, cells of labels may have no value. Classes and lists must be
        there for each sample.

        Examples
        --------
        >>> Targets.of([["fever", "cough"], [], ["cough"]]).names
        ('cough', 'fever')
        >>> Targets.of([[1, 0], [np.nan, 1]], may_miss=True).observed.tolist()
        [[True, True], [False, True]]
        """
        check_plain(y, "y")
        y = plain_lists(y)
        _check_not_empty(y)
        if getattr(y, "ndim", 1) == 1:
            if are_label_lists(y):
                return _from_lists(y)
            _refuse_lists_among_others(y)
        if hasattr(y, "columns"):
            names = [str(name) for name in y.columns]
            dtype = object if names else None
            return table_targets(np.asarray(y, dtype=dtype), names, may_miss=may_miss)
        if sparse.issparse(y):
            _check_memory(y.shape)
            y = y.toarray()
        values = np.asarray(y)
        if _is_table(values):
            return table_targets(values, [], may_miss=may_miss)
        return _from_classes(y, values)

    def indicator(self, y: Any) -> NDArray[np.float64]:
        """Other one-dimensional classes in the same columns."""
        values = np.asarray(y)
        check_present(values)
        different = values if values.dtype == object else np.unique(values)
        classes = self.classes.tolist()
        for value in dict.fromkeys(different.tolist()):
            if value not in classes:
                raise InputError(
                    f"y holds {value!r}, which is none of the classes {classes}. Begin "
                    "a stream with all of them: classes=[…] in its first call."
                )
        return _column_per_class(values, self.classes)


def default_label_names(n_labels: int) -> tuple[str, ...]:
    """Names of labels that have none.

    >>> default_label_names(2)
    ('label 0', 'label 1')
    """
    return tuple(f"label {j}" for j in range(n_labels))


def plain_lists(y: Any) -> Any:
    """A series of lists of polars as lists; anything else as it is."""
    is_series_of_lists = str(getattr(y, "dtype", "")).startswith("List(")
    return y.to_list() if is_series_of_lists else y


def are_label_lists(y: Any) -> bool:
    """Whether y holds the labels of each sample, not 0 and 1 for each label."""
    if hasattr(y, "columns") or not hasattr(y, "__iter__"):
        return False
    rows = list(y)
    if not rows or not all(isinstance(row, _COLLECTIONS) for row in rows):
        return False
    if len({len(row) for row in rows}) > 1:
        return True
    if any(isinstance(row, set | frozenset) for row in rows):
        return True
    return any(_is_label_name(cell) for row in rows for cell in row)


def _check_memory(shape: tuple[int, ...]) -> None:
    """Refuse a sparse y whose indicator (N, L) would take more memory than there is."""
    n_bytes = 8 * prod(shape)
    memory = total_memory()
    if n_bytes > memory:
        raise InputError(
            f"y has {prod(shape):,} cells, which take {n_bytes / 2**30:,.0f} GiB of "
            f"memory, and this process may take {memory / 2**30:.3g} GiB: "
            "fit fewer labels at a time."
        )


def _check_not_empty(y: Any) -> None:
    """Refuse targets of no sample."""
    shape = getattr(y, "shape", None)
    if shape is None and hasattr(y, "__len__"):
        shape = (len(y),)
    if shape and shape[0] == 0:
        raise InputError(
            "y is empty: it holds the labels or the class of 0 samples, while a "
            "minimum of 1 is required."
        )


def _refuse_lists_among_others(y: Any) -> None:
    """Refuse lists of labels next to samples that have none."""
    is_array_of_others = getattr(y, "dtype", np.dtype(object)).kind != "O"
    if is_array_of_others or not hasattr(y, "__len__"):
        return
    rows = list(y)
    listed = [isinstance(row, _COLLECTIONS) for row in rows]
    if any(listed) and not all(listed):
        row = listed.index(False)
        raise InputError(
            f"Row {row} of y is {rows[row]!r:.80}, but row {listed.index(True)} lists "
            "labels: pass a list for each row, [] where a sample has no label."
        )


def _is_label_name(cell: object) -> bool:
    """Whether a cell is a text that does not mean yes or no."""
    return isinstance(cell, str) and cell.lower() not in NUMBERS_OF_WORDS


def _from_lists(rows: Iterable[Iterable[object]]) -> Targets:
    """Targets of the labels of each sample."""
    label_sets = [set(labels) for labels in rows]
    for row, label_set in enumerate(label_sets):
        for label in label_set:
            if is_absent(label):
                raise InputError(
                    f"Row {row} of y lists {label!r}, which names no label: leave it "
                    "out of the list."
                )
    labels = sorted(set().union(*label_sets), key=str)
    if not labels:
        raise InputError("y names no label of any sample.")
    Y = [[label in label_set for label in labels] for label_set in label_sets]
    return Targets(
        Y=np.array(Y, dtype=np.float64),
        classes=np.arange(len(labels)),
        names=tuple(str(label) for label in labels),
        multilabel=True,
    )


def _is_table(values: np.ndarray) -> bool:
    """Whether an array holds labels as columns: several, or one that has gaps."""
    if values.ndim != 2:
        return False
    if values.shape[1] > 1:
        return True
    return bool(absent_cells(values).any())


def table_targets(
    values: np.ndarray, names: Sequence[str], *, may_miss: bool, first_row: int = 0
) -> Targets:
    """Targets of cells (N, L) that are 0, 1, yes or no, or not observed.

    ``names`` is empty where labels have none. Messages count rows from ``first_row``.
    """
    if values.dtype.kind not in "OUS":
        Y = check_array(
            values, dtype=np.float64, input_name="y", ensure_all_finite="allow-nan"
        )
    else:
        numbers = [_number_of(cell) for cell in values.ravel().tolist()]
        Y = np.array(numbers, dtype=np.float64).reshape(values.shape)
    observed = ~np.isnan(Y)
    columns: Sequence[str | int] = names or range(Y.shape[1])
    strange = observed & (Y != 0) & (Y != 1)
    if strange.any():
        row, label = np.argwhere(strange)[0]
        cell = values[row, label : label + 1].tolist()[0]
        hint = ""
        if values.dtype.kind == "i" and (Y[strange] == 2).all():
            hint = (
                " scikit-learn's cross_val_predict writes 2 in place of NaN: use that "
                "of mltsk.model_selection."
            )
        raise InputError(
            f"Unknown label type: column {columns[label]!r} of y holds {cell!r} in row "
            f"{first_row + row}. Labels are 0 and 1, True and False, or 'yes' and "
            f"'no'; NaN where one was not observed.{hint}"
        )
    if not observed.all() and not may_miss:
        row, label = np.argwhere(~observed)[0]
        raise InputError(
            f"Input y contains NaN: label {columns[label]!r} was not observed in row "
            f"{first_row + row}. Leave such rows out, or fit an MLTSKClassifier to all "
            "rows at once: it learns each label from the rows where it was observed."
        )
    return Targets(
        Y=np.nan_to_num(Y),
        classes=np.arange(len(columns)),
        names=tuple(names) or default_label_names(Y.shape[1]),
        multilabel=True,
        observed=None if observed.all() else observed,
    )


def _number_of(cell: Any) -> float:
    """0, 1 or NaN; infinity for anything else."""
    if hasattr(cell, "__len__") and not isinstance(cell, str):
        return np.inf
    if is_absent(cell):
        return np.nan
    if isinstance(cell, str):
        return NUMBERS_OF_WORDS.get(cell.strip().lower(), np.inf)
    return float(cell) if cell in (0, 1) else np.inf


def _from_classes(y: Any, values: np.ndarray) -> Targets:
    """Targets of one class per sample; ``values`` is y as an array."""
    if values.dtype.kind == "U" and not hasattr(y, "dtype"):
        check_present(np.array(y, dtype=object))  # in the text, NaN would be a word
    else:
        check_present(values)
    if values.dtype.kind == "f":
        assert_all_finite(values, input_name="y")
    kind = type_of_target(y, input_name="y")
    if kind not in ("binary", "multiclass"):
        forms = "y must be a 0/1 indicator matrix, or one-dimensional classes"
        raise ValueError(f"Unknown label type: {kind!r}. {forms}.")
    y = column_or_1d(y, warn=True)
    _check_ends(y)
    classes = unique_labels(y)
    if len(classes) < 2:
        held = f"y holds only {classes.tolist()[0]!r}"
        raise InputError(
            f"Classifier can't train when only one class is present: {held}."
        )
    return Targets(
        Y=_column_per_class(y, classes),
        classes=classes,
        names=tuple(str(name) for name in _classes_with_column(classes)),
        multilabel=False,
    )


def check_present(values: np.ndarray) -> None:
    """Refuse samples without a class."""
    is_missing = absent_cells(values).ravel()
    if is_missing.any():
        row = int(is_missing.argmax())
        raise InputError(
            f"Input y contains NaN: row {row} has no class. Leave such rows out."
        )


def absent_cells(values: np.ndarray) -> NDArray[np.bool_]:
    """Which cells of an array have no value: None, NaN, and what pandas writes."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind != "O":
        return np.zeros(values.shape, dtype=bool)
    cells = [is_absent(cell) for cell in values.ravel().tolist()]
    return np.array(cells, dtype=bool).reshape(values.shape)


def _check_ends(y: np.ndarray) -> None:
    """Refuse classes whose name ends in a NUL, which an array of text cannot hold."""
    if y.dtype != object:
        return
    for name in y.tolist():
        if isinstance(name, str) and name.endswith("\0"):
            raise InputError(
                f"A class is called {name!r:.80}: names of classes must not end in a "
                "NUL character, rename it."
            )


def _classes_with_column(classes: np.ndarray) -> np.ndarray:
    """All classes; of two, the second."""
    return classes[1:] if len(classes) == 2 else classes


def _column_per_class(y: Any, classes: np.ndarray) -> NDArray[np.float64]:
    """An indicator (N, L) of the classes that have a column."""
    is_class = np.asarray(y)[:, None] == _classes_with_column(classes)
    return is_class.astype(np.float64)


def predicted(
    scores: np.ndarray, thresholds: np.ndarray, classes: np.ndarray, multilabel: bool
) -> np.ndarray:
    """What scores (N, L) predict.

    Labels (N, L) of a multi-label task, where score > threshold; classes (N,) of any
    other task: of more than two, the one that is furthest above its threshold.
    """
    thresholds = put(thresholds, scores)
    if multilabel:
        return cast(scores > thresholds, np.int64)
    classes = namespace(scores).asarray(classes, like=scores)
    if len(classes) == 2:
        return classes[cast(scores[:, 0] > thresholds[0], np.int64)]
    return classes[(scores - thresholds).argmax(axis=1)]
