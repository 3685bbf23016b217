"""Targets as scikit-learn users give them, as an indicator matrix and back.

Multi-label targets are indicator arrays, data frames, sparse matrices, or lists of the labels of each sample; a cell
without a value (NaN, None) is a label that was not observed. One-dimensional binary and multiclass targets become one
column (binary: the second class) or one column per class. Scores may be tensors; labels then are, too.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import type_of_target, unique_labels
from sklearn.utils.validation import assert_all_finite, check_array, column_or_1d

from .core.arrays import cast, check_plain, namespace, put
from .exceptions import InputError

WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_SETS = (list, tuple, set, frozenset, np.ndarray)


@dataclass(frozen=True)
class Targets:
    """An indicator ``Y`` (N, L) of floats, the ``classes``, their names, and whether the task is multi-label.

    ``observed`` (N, L) says which cells hold something, None where all do; the others are 0 in ``Y``.
    """

    Y: np.ndarray
    classes: np.ndarray
    names: tuple[str, ...]
    multilabel: bool
    observed: np.ndarray | None = None

    @classmethod
    def of(cls, y: Any, *, may_miss: bool = False) -> "Targets":
        """Read targets of any supported form; anything else is a ValueError that says what was found.

        Examples
        --------
        >>> Targets.of([["fever", "cough"], [], ["cough"]]).names
        ('cough', 'fever')
        >>> Targets.of([[1, 0], [np.nan, 1]], may_miss=True).observed.tolist()
        [[True, True], [False, True]]
        """
        check_plain(y, "y")
        y = (
            y.to_list() if str(getattr(y, "dtype", "")).startswith("List(") else y
        )  # a series of polars
        if getattr(y, "ndim", 1) == 1 and _is_lists(y):
            found = sorted({label for labels in y for label in labels}, key=str)
            if not found:
                raise InputError("y names no label of any sample.")
            Y = np.array(
                [[name in set(labels) for name in found] for labels in y],
                dtype=np.float64,
            )
            return cls(Y, np.arange(len(found)), tuple(map(str, found)), True)
        names = [str(c) for c in y.columns] if hasattr(y, "columns") else None
        y = y.toarray() if sparse.issparse(y) else y
        values = (
            y
            if names is None and isinstance(y, np.ndarray)
            else np.asarray(y, dtype=object if names else None)
        )
        is_table = bool(names) or (values.ndim == 2 and values.shape[1] > 1)
        if (
            not is_table and values.ndim == 2 and values.dtype.kind in "fO"
        ):  # one label, which may have gaps
            is_table = any(
                cell is None or cell != cell for cell in values.ravel().tolist()
            )
        if is_table:
            return _of_cells(values, names, may_miss)
        if values.dtype.kind == "f":
            assert_all_finite(values, input_name="y")
        kind = type_of_target(y, input_name="y")
        if kind not in ("binary", "multiclass"):
            known = "y must be a 0/1 indicator matrix, or one-dimensional classes"
            raise ValueError(f"Unknown label type: {kind!r}. {known}.")
        y = column_or_1d(y, warn=True)
        classes = unique_labels(y)
        if len(classes) < 2:
            only = f"y holds only {classes.tolist()[0]!r}"
            raise InputError(
                f"Classifier can't train when only one class is present: {only}."
            )
        names = [str(c) for c in (classes[1:] if len(classes) == 2 else classes)]
        return cls(_one_per_class(y, classes), classes, tuple(names), False)

    def indicator(self, y: Any) -> NDArray[np.float64]:
        """Other one-dimensional classes in the same columns."""
        unknown = np.setdiff1d(y, self.classes)
        if len(unknown):
            raise InputError(
                f"y holds {unknown.tolist()[0]!r}, which is none of the classes {self.classes.tolist()}."
            )
        return _one_per_class(y, self.classes)


def _of_cells(values: np.ndarray, names: list[str] | None, may_miss: bool) -> Targets:
    """Cells as 0, 1 and NaN; anything else is refused, and NaN unless it may be there."""
    if values.dtype.kind not in "OUS":
        Y = check_array(
            values, dtype=np.float64, input_name="y", ensure_all_finite="allow-nan"
        )
    else:
        Y = np.array(
            [_cell(cell) for cell in values.ravel().tolist()], dtype=np.float64
        ).reshape(values.shape)
    observed: Any = ~np.isnan(Y)
    called: list[Any] = names or list(range(Y.shape[1]))
    strange = observed & (Y != 0) & (Y != 1)
    if strange.any():
        row, label = np.argwhere(strange)[0]
        found = f"column {called[label]!r} of y holds {values[row, label : label + 1].tolist()[0]!r} in row {row}"
        known = "Labels are 0 and 1, True and False, or 'yes' and 'no'; NaN where one was not observed"
        raise InputError(f"Unknown label type: {found}. {known}.")
    if not observed.all() and not may_miss:
        row, label = np.argwhere(~observed)[0]
        where = f"label {called[label]!r} was not observed in row {row}"
        what = "MLTSKClassifier learns from what was observed; this method needs every cell"
        raise InputError(f"Input y contains NaN: {where}. {what}.")
    names = names or [f"label {j}" for j in called]
    return Targets(
        np.nan_to_num(Y),
        np.arange(len(names)),
        tuple(names),
        True,
        None if observed.all() else observed,
    )


def _one_per_class(y: Any, classes: np.ndarray) -> NDArray[np.float64]:
    """A column per class; of two, one for the second."""
    return (
        np.asarray(y)[:, None] == (classes[1:] if len(classes) == 2 else classes)
    ).astype(np.float64)


def predicted(
    scores: np.ndarray, thresholds: np.ndarray, classes: np.ndarray, multilabel: bool
) -> np.ndarray:
    """Labels (N, L) of a multi-label task, classes (N,) of any other: score > threshold, or the largest score."""
    thresholds = put(thresholds, scores)
    if multilabel:
        return cast(scores > thresholds, np.int64)
    classes = namespace(scores).asarray(classes, like=scores)
    if len(classes) == 2:
        return classes[cast(scores[:, 0] > thresholds[0], np.int64)]
    return classes[(scores - thresholds).argmax(axis=1)]


def _is_lists(y: Any) -> bool:
    """Whether y holds the labels of each sample, not 0 and 1 for each label."""
    if hasattr(y, "columns") or not hasattr(y, "__iter__"):
        return False
    rows = list(y)
    if not rows or not all(isinstance(row, _SETS) for row in rows):
        return False
    cells = [cell for row in rows for cell in row]
    return (
        len({len(row) for row in rows}) > 1
        or any(isinstance(row, set | frozenset) for row in rows)
        or any(isinstance(cell, str) and cell.lower() not in WORDS for cell in cells)
    )


def _cell(cell: Any) -> float:
    """0, 1 or NaN; infinity for what is none of them."""
    if hasattr(cell, "__len__") and not isinstance(cell, str):
        return np.inf
    if cell is None or type(cell).__name__ == "NAType" or cell != cell:
        return np.nan
    if isinstance(cell, str):
        return WORDS.get(cell.strip().lower(), np.inf)
    return float(cell) if cell in (0, 1) else np.inf
