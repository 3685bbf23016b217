"""Targets as scikit-learn users give them, as an indicator matrix and back.

Multi-label targets are indicator arrays, lists of lists, data frames or sparse matrices; one-dimensional binary and
multiclass targets become one column (binary: the second class) or one column per class. Scores may be tensors; labels
then are, too.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import type_of_target, unique_labels
from sklearn.utils.validation import check_array, column_or_1d

from .core.backend import cast, namespace, put
from .exceptions import InputError


@dataclass(frozen=True)
class Targets:
    """An indicator ``Y`` (N, L) of floats, the ``classes``, their names, and whether the task is multi-label."""

    Y: np.ndarray
    classes: np.ndarray
    names: tuple[str, ...]
    multilabel: bool

    @classmethod
    def of(cls, y, dtype=np.float64) -> "Targets":
        """Read targets of any supported form; anything else is a ValueError that says what was found."""
        names = [str(c) for c in y.columns] if hasattr(y, "columns") else None
        if sparse.issparse(y):
            y = y.toarray()
        kind = type_of_target(y, input_name="y")
        if kind == "multilabel-indicator":
            Y = check_array(y, dtype=dtype, input_name="y")
            names = names or [f"label {j}" for j in range(Y.shape[1])]
            return cls(Y, np.arange(Y.shape[1]), tuple(names), True)
        if kind not in ("binary", "multiclass"):
            raise ValueError(
                f"Unknown label type: {kind!r}. y must be a 0/1 indicator matrix, or one-dimensional classes."
            )
        y = column_or_1d(y, warn=True)
        classes = unique_labels(y)
        columns = classes[1:] if len(classes) == 2 else classes
        return cls((y[:, None] == columns).astype(dtype), classes, tuple(str(c) for c in columns), False)

    def indicator(self, y) -> np.ndarray:
        """Other one-dimensional classes in the same columns."""
        unknown = np.setdiff1d(y, self.classes)
        if len(unknown):
            raise InputError(f"y holds {unknown.tolist()[0]!r}, which is none of the classes {self.classes.tolist()}.")
        columns = self.classes[1:] if len(self.classes) == 2 else self.classes
        return (np.asarray(y)[:, None] == columns).astype(np.float64)


def predicted(scores: np.ndarray, thresholds: np.ndarray, classes: np.ndarray, multilabel: bool) -> np.ndarray:
    """Labels (N, L) of a multi-label task, classes (N,) of any other: score > threshold, or the largest score."""
    thresholds = put(thresholds, scores)
    if multilabel:
        return cast(scores > thresholds, np.int64)
    classes = namespace(scores).asarray(classes, like=scores)
    if len(classes) == 1:
        return np.repeat(classes, len(scores))
    if len(classes) == 2:
        return classes[cast(scores[:, 0] > thresholds[0], np.int64)]
    return classes[(scores - thresholds).argmax(axis=1)]
