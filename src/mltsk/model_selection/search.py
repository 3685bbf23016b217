"""scikit-learn's cross-validation and searches with a plain number for ``cv``.

scikit-learn looks at y before it makes folds of a number, and refuses NaN there
(`check_cv`, scikit-learn 1.9): no estimator can help it. What is called here as there
makes stratified folds instead, of labels that were not all observed, too.
"""

from typing import Any, Self

import sklearn.model_selection as of_sklearn
from sklearn.base import BaseEstimator

from .folds import IterativeStratification


def folds_of(cv: Any) -> Any:
    """Stratified folds for a number, or for None, which are five; else ``cv`` itself.

    Examples
    --------
    >>> folds_of(3)
    IterativeStratification(n_splits=3, order=1, random_state=0)
    """
    if cv is None:
        return IterativeStratification()
    is_number = isinstance(cv, int) and not isinstance(cv, bool)
    return IterativeStratification(cv) if is_number else cv


def cross_val_score(
    estimator: BaseEstimator, X: Any, y: Any = None, *, cv: Any = None, **options: Any
) -> Any:
    """scikit-learn's `cross_val_score`, for labels that were not all observed.

    Parameters
    ----------
    estimator, X, y, **options
        As in scikit-learn; NaN in y is a label that was not observed.
    cv : int, splitter, folds or None, default=None
        A number stands for an `IterativeStratification` of so many folds, None for
        five.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier, read_table
    >>> table = read_table("pbc")
    >>> scores = cross_val_score(MLTSKClassifier(n_rules=0), table.X, table.Y, cv=3)
    >>> len(scores)
    3
    """
    return of_sklearn.cross_val_score(estimator, X, y, cv=folds_of(cv), **options)


def cross_validate(
    estimator: BaseEstimator, X: Any, y: Any = None, *, cv: Any = None, **options: Any
) -> dict[str, Any]:
    """scikit-learn's `cross_validate`, for labels that were not all observed.

    Parameters
    ----------
    estimator, X, y, **options
        As in scikit-learn; NaN in y is a label that was not observed.
    cv : int, splitter, folds or None, default=None
        As in `cross_val_score`.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier, read_table
    >>> table = read_table("pbc")
    >>> results = cross_validate(MLTSKClassifier(n_rules=0), table.X, table.Y, cv=3)
    >>> len(results["test_score"])
    3
    """
    return of_sklearn.cross_validate(estimator, X, y, cv=folds_of(cv), **options)


class GridSearchCV(of_sklearn.GridSearchCV):
    """scikit-learn's `GridSearchCV`, for labels that were not all observed.

    Its parameters and attributes are those of scikit-learn's; a number as ``cv`` stands
    for an `IterativeStratification` of so many folds, None for five.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier, read_table
    >>> table = read_table("pbc")
    >>> search = GridSearchCV(MLTSKClassifier(n_rules=0), {"ridge": [1.0, 10.0]}, cv=3)
    >>> search.fit(table.X, table.Y).n_splits_
    3
    """

    cv: Any

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """As in scikit-learn."""
        given = self.cv
        self.cv = folds_of(given)
        try:
            super().fit(X, y, **params)
        finally:
            self.cv = given
        return self


class RandomizedSearchCV(of_sklearn.RandomizedSearchCV):
    """scikit-learn's `RandomizedSearchCV`, for labels that were not all observed.

    As `GridSearchCV` is.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier, read_table
    >>> table = read_table("pbc")
    >>> wishes = {"ridge": [1.0, 10.0]}
    >>> search = RandomizedSearchCV(MLTSKClassifier(n_rules=0), wishes, n_iter=1, cv=3)
    >>> search.fit(table.X, table.Y).n_splits_
    3
    """

    cv: Any

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """As in scikit-learn."""
        given = self.cv
        self.cv = folds_of(given)
        try:
            super().fit(X, y, **params)
        finally:
            self.cv = given
        return self
