"""The compared methods take complete numbers: words, gaps, infinity are refused."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...exceptions import InputError
from ...text import plural, quoted

OTHER_CLASSIFIER = "or use MLTSKClassifier, which takes the column as it is"


def check_numbers(X: Any, method: str) -> None:
    """Refuse words, missing cells and infinity in X, naming their column.

    What is neither a data frame nor an array is left to scikit-learn.
    """
    for name, values in _columns(X):
        word = _first_word(values)
        if word is not None:
            raise InputError(
                f"Column {name!r} of X holds words, {quoted(word)} for one, and "
                f"{method} takes numbers alone: give each value a column of 0 and 1, "
                f"as pandas.get_dummies(X) does, {OTHER_CLASSIFIER}."
            )
        n_missing = _n_missing(values)
        if n_missing:
            raise InputError(
                f"Column {name!r} of X has {plural(n_missing, 'missing cell')} (NaN), "
                f"and {method} takes complete rows alone: leave these rows out, fill "
                f"the cells in, as sklearn.impute.SimpleImputer does, "
                f"{OTHER_CLASSIFIER}."
            )
        n_endless = _n_infinite(values)
        if n_endless:
            cells = plural(n_endless, "cell")
            raise InputError(
                f"Column {name!r} of X holds infinity in {cells}: leave these rows "
                "out, or write the number that was meant."
            )


def _columns(X: Any) -> Iterator[tuple[object, Any]]:
    """Name and values of columns that may hold words or NaN."""
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        for name in X.columns:
            yield name, X[name].to_numpy()
    elif isinstance(X, np.ndarray) and X.ndim == 2:
        for d in range(X.shape[1]) if X.dtype.kind in "OUSf" else ():
            yield d, X[:, d]


def _first_word(values: Any) -> str | None:
    """The first value that is text and no number, or None."""
    if values.dtype.kind not in "OUS":
        return None
    for value in values.tolist():
        if isinstance(value, str) and not _is_number(value):
            return value
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _n_missing(values: Any) -> int:
    """How many values are NaN or None."""
    if values.dtype.kind == "f":
        return int(np.isnan(values).sum())
    if values.dtype.kind != "O":
        return 0
    return sum(value is None or value != value for value in values.tolist())


def _n_infinite(values: Any) -> int:
    """How many values are infinite."""
    return int(np.isinf(values).sum()) if values.dtype.kind == "f" else 0
