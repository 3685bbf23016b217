"""Cross-validation as this package reports it: folds, and metrics with their spread.

Folds are always shuffled: rows of several benchmark files are sorted, and an unshuffled
split of those leaves labels out of training; stratified ones are made by
`mltsk.model_selection.IterativeStratification`. Standard deviations are over folds with
n - 1 in the denominator, as in the paper's tables.
"""

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold, cross_validate

from ...core.arrays import Matrix
from ...exceptions import InputError
from ...metrics import evaluate
from ...metrics.scorers import label_scores

IntArray = NDArray[np.intp]
Fold = tuple[IntArray, IntArray]  # training and test rows


class CrossValidation(NamedTuple):
    """Metrics of every fold, and their mean and spread.

    ``table`` has a row per fold and the metrics of `evaluate` as columns. ``mean`` and
    ``sd`` (standard deviation, n - 1) are over folds, by metric.
    """

    table: pd.DataFrame
    mean: dict[str, float]
    sd: dict[str, float]


def shuffled_folds(
    n: int, n_splits: int = 5, random_state: int | None = 0
) -> list[Fold]:
    """Row indices (train, test) of `n_splits` shuffled folds of ``n`` rows.

    Examples
    --------
    >>> [len(test) for _, test in shuffled_folds(11, n_splits=4)]
    [3, 3, 3, 2]
    """
    if not 2 <= n_splits <= n:
        limits = f"there must be 2 to {n} of them"
        raise InputError(f"{n_splits} folds cannot be made of {n} rows: {limits}.")
    splitter = KFold(n_splits, shuffle=True, random_state=random_state)
    return list(splitter.split(np.empty(n)))


def cross_validate_metrics(
    estimator: BaseEstimator,
    X: Matrix,
    Y: Matrix,
    *,
    folds: Sequence[Fold],
    convention: str = "standard",
) -> CrossValidation:
    """Fit a clone of the estimator on each fold's training rows, evaluate on the rest.

    Warnings are not shown.

    Parameters
    ----------
    estimator : scikit-learn multi-label classifier
        With a `decision_function` or `predict_proba`; it is not changed.
    X, Y : (n, D) array, CSR or data frame, and (n, L) of 0 and 1
    folds : sequence of (train, test)
        At least two, such as `shuffled_folds` gives.
    convention : {"standard", "paper"}
        See `mltsk.metrics.ranking`.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=120, random_state=0)
    >>> folds = shuffled_folds(120, n_splits=3)
    >>> model = MLTSKClassifier(n_rules=3)
    >>> cv = cross_validate_metrics(model, data.X, data.Y, folds=folds)
    >>> cv.table.shape, cv.mean["AP"] > 0.8
    ((3, 10), True)
    """
    if len(folds) < 2:
        raise InputError("Cross-validation needs at least two folds.")

    def metrics(model: BaseEstimator, T: Matrix, truth: Matrix) -> dict[str, float]:
        scores = label_scores(model, T, truth.shape[1])
        predictions = model.predict(T)
        return evaluate(truth, scores, predictions=predictions, convention=convention)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the same ones for each fold
        columns = cross_validate(
            estimator, X, Y, cv=folds, scoring=metrics, error_score="raise"
        )
    table = pd.DataFrame(columns).filter(regex="^test_")
    table.columns = table.columns.str.removeprefix("test_")
    return CrossValidation(
        table=table,
        mean=table.mean(skipna=False).to_dict(),
        sd=table.std(skipna=False).to_dict(),
    )
