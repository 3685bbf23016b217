"""`cross_val_predict` for labels that were not all observed.

scikit-learn's numbers the values of each column of y before it fits, so NaN becomes a
class 2, which a classifier then refuses (seen with scikit-learn 1.9).
"""

from collections.abc import Iterable, Mapping, Sized
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import BaseCrossValidator, check_cv
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from ..exceptions import InputError
from ..metrics.scorers import label_answers
from ..sklearn_private import take_rows_of_any
from .search import folds_of

IntArray: TypeAlias = NDArray[np.intp]
AnyRows: TypeAlias = Any  # an array, a sparse matrix, a frame of pandas or polars
Fold: TypeAlias = tuple[IntArray, IntArray]  # training and test rows
METHODS_THAT_ANSWER = ("predict", "predict_proba", "decision_function")


def cross_val_predict(
    estimator: BaseEstimator,
    X: AnyRows,
    y: AnyRows,
    *,
    groups: ArrayLike | None = None,
    cv: int | BaseCrossValidator | Iterable[Fold] = 5,
    n_jobs: int | None = None,
    method: str = "predict",
    params: Mapping[str, Any] | None = None,
) -> NDArray[Any]:
    """What a model says of each row that has not seen the row, as a table of labels.

    Use it like scikit-learn's, with NaN in y where a label was not observed.

    Parameters
    ----------
    estimator : multi-label classifier
        A clone of it is fitted for each fold.
    X : array, sparse matrix or data frame of n rows
    y : array or data frame of shape (n, n_labels)
        0 and 1; NaN is a label that was not observed.
    groups : array of shape (n,), optional
        Rows that belong together, such as visits of a patient, which are held out
        together. They go to the splitter, and to ``fit`` where it takes ``groups``.
    cv : int, splitter or folds, default=5
        A number stands for an `IterativeStratification` of so many folds. Each row must
        be in one test fold.
    n_jobs : int, optional
        Fits at the same time.
    method : {"predict", "predict_proba", "decision_function"}, default="predict"
    params : dict, optional
        Further arguments of ``fit``; what has an entry per row is cut like X. Groups
        may be among them.

    Returns
    -------
    (n, n_labels)
        Also for models that answer with a list of arrays, as forests do.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier, evaluate, read_table
    >>> table = read_table("pbc")
    >>> clf = MLTSKClassifier(n_rules=0)
    >>> held_out = cross_val_predict(clf, table.X, table.Y, method="predict_proba")
    >>> evaluate(table.Y, held_out, per_label=True)["observed"].tolist()
    [312, 312, 312, 418]
    """
    if method not in METHODS_THAT_ANSWER:
        raise InputError(
            f"method is one of {', '.join(METHODS_THAT_ANSWER)}, not {method!r}."
        )
    n_rows, n_labels = _table_shape(y)
    fit_params = dict(params or {})
    if groups is None:
        groups = fit_params.get("groups")
    if groups is not None and has_fit_parameter(estimator, "groups"):
        fit_params.setdefault("groups", groups)
    splitter = check_cv(folds_of(cv))
    folds = list(splitter.split(X, y, groups))
    tested = np.concatenate([test for _, test in folds])
    if not np.array_equal(np.sort(tested), np.arange(n_rows)):
        raise InputError(
            "cross_val_predict needs folds in which each row is tested once; these "
            "test some rows never or more than once."
        )

    def answers(train: IntArray, test: IntArray) -> NDArray[Any]:
        """What a model fitted to the training rows says of the test rows."""
        of_train = {
            name: _rows_of(value, train, n_rows) for name, value in fit_params.items()
        }
        model = clone(estimator)
        model.fit(take_rows_of_any(X, train), take_rows_of_any(y, train), **of_train)
        return label_answers(model, take_rows_of_any(X, test), n_labels, method)

    blocks = Parallel(n_jobs=n_jobs)(
        delayed(answers)(train, test) for train, test in folds
    )
    return np.concatenate(blocks)[np.argsort(tested)]


def _table_shape(y: AnyRows) -> tuple[int, int]:
    """Numbers of rows and labels of y."""
    shape = getattr(y, "shape", None) or np.shape(y)
    if len(shape) != 2:
        raise InputError(
            "y must have a column per label; scikit-learn's own cross_val_predict "
            "takes a y of one dimension."
        )
    n_rows, n_labels = shape
    return n_rows, n_labels


def _rows_of(value: object, rows: IntArray, n_rows: int) -> object:
    """The entries of these rows, if a value has one per row; else the value."""
    if isinstance(value, str | dict) or not isinstance(value, Sized):
        return value
    return take_rows_of_any(value, rows) if len(value) == n_rows else value
