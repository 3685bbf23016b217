"""Label scores (n, L) of any scikit-learn multi-label model, whatever shape its methods return.

Models answer in four dialects: an (n, L) array (MLP, Ridge, ours); a list of L arrays with one column per
class of that label (forests, nearest neighbours, `MultiOutputClassifier`); an (n,) or an (n, 2) array when
there is one label.
A label with a single class in training has one column, which is the probability of *that* class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mltsk.exceptions import InputError
from mltsk.metrics.inputs import FloatArray

#: Order in which a model is asked for scores: a decision function has finer values than a probability.
RESPONSE_METHODS = ("decision_function", "predict_proba")


def response_method(estimator: Any, methods: Sequence[str] = RESPONSE_METHODS) -> str:
    """Name of the first of `methods` that the estimator has.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> response_method(KNeighborsClassifier())
    'predict_proba'
    """
    for method in methods:
        if hasattr(estimator, method):
            return method
    raise InputError(
        f"{type(estimator).__name__} has no {' or '.join(methods)}, so it gives no label scores; "
        "choose a model that has one of them."
    )


def label_scores(estimator: Any, X: Any, n_labels: int, methods: Sequence[str] = RESPONSE_METHODS) -> FloatArray:
    """Scores (n, n_labels) of a fitted estimator, by the first of `methods` that it has.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, Y = np.arange(4.0)[:, None], np.array([[0, 1], [0, 1], [1, 1], [1, 1]])
    >>> label_scores(KNeighborsClassifier(1).fit(X, Y), X, 2)
    array([[0., 1.],
           [0., 1.],
           [1., 1.],
           [1., 1.]])
    """
    method = response_method(estimator, methods)
    response = getattr(estimator, method)(X)
    if isinstance(response, list):
        columns = zip(response, _classes_of_labels(estimator, response), strict=True)
        response = np.column_stack([_column_of_one(values, classes) for values, classes in columns])
    scores = _as_table(response, n_labels)
    if scores.shape[1] != n_labels:
        raise InputError(
            f"{type(estimator).__name__}.{method} returned {scores.shape[1]} columns for {n_labels} labels; "
            "fit it on a label table with these labels."
        )
    return scores


def _as_table(response: Any, n_labels: int) -> FloatArray:
    table = response.toarray() if hasattr(response, "toarray") else response
    scores = np.asarray(table, dtype=np.float64)
    if scores.ndim == 1:
        return scores[:, None]
    # one label given as a binary target: two columns, absent and present
    return scores[:, 1:] if n_labels == 1 and scores.shape[1] == 2 else scores


def _classes_of_labels(estimator: Any, response: list) -> list:
    """Classes of each label; without `classes_` two columns can only be 0 and 1."""
    classes = getattr(estimator, "classes_", None)
    if isinstance(classes, list) and len(classes) == len(response):
        return classes
    if any(np.ndim(values) == 2 and np.shape(values)[1] == 1 for values in response):
        raise InputError(
            f"{type(estimator).__name__} saw a label with a single class and does not say which in classes_; "
            "drop constant labels before fitting."
        )
    return [np.array([0, 1])] * len(response)


def _column_of_one(values: Any, classes: Any) -> FloatArray:
    """Scores of the class 1 in the columns of one label; 0 if training never saw it."""
    values = np.asarray(values, dtype=np.float64)
    if values.ndim == 1:
        return values
    present = np.flatnonzero(np.asarray(classes) == 1)
    return values[:, present[0]] if len(present) else np.zeros(len(values))
