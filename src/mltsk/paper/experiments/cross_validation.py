"""Cross-validation as this package reports it: folds, every metric of every fold, mean and standard deviation.

Folds are always shuffled: rows of several benchmark files are sorted, and an unshuffled split of those leaves labels
out of training. Standard deviations are over folds with n - 1 in the denominator, as in the paper's tables.
"""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold

from ...exceptions import InputError
from ...metrics import evaluate
from ...metrics.scorers import label_scores

FloatArray = NDArray[np.float64]
Fold = tuple[NDArray[np.intp], NDArray[np.intp]]


class FoldResult(NamedTuple):
    """Metrics of one fold, seconds of its fit and its prediction, and what was warned of meanwhile."""

    metrics: dict[str, float]
    fit_seconds: float
    predict_seconds: float
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class CrossValidation:
    """Metrics of every fold, a ``table`` (n_folds, n_metrics) with the ``metrics`` of `evaluate` as columns, and more.

    ``fit_seconds`` and ``predict_seconds`` have a number per fold; ``warnings`` are the distinct messages of all folds,
    kept here instead of being shown once per fold.
    """

    metrics: tuple[str, ...]
    table: FloatArray
    fit_seconds: FloatArray
    predict_seconds: FloatArray
    warnings: tuple[str, ...]
    convention: str

    @property
    def mean(self) -> dict[str, float]:
        """Mean over folds, by metric."""
        return dict(zip(self.metrics, self.table.mean(axis=0).tolist(), strict=True))

    @property
    def sd(self) -> dict[str, float]:
        """Standard deviation over folds (n - 1), by metric."""
        return dict(zip(self.metrics, self.table.std(axis=0, ddof=1).tolist(), strict=True))


def shuffled_folds(n: int, n_splits: int = 5, random_state: int | None = 0) -> list[Fold]:
    """Row indices (train, test) of `n_splits` shuffled folds of ``n`` rows.

    Examples
    --------
    >>> [len(test) for _, test in shuffled_folds(11, n_splits=4)]
    [3, 3, 3, 2]
    """
    if not 2 <= n_splits <= n:
        raise InputError(f"{n_splits} folds cannot be made of {n} rows: there must be 2 to {n} of them.")
    return list(KFold(n_splits, shuffle=True, random_state=random_state).split(np.empty(n)))


def cross_validate_metrics(
    estimator: Any,
    X: Any,
    Y: Any,
    *,
    folds: Sequence[Fold],
    convention: str = "standard",
    n_jobs: int | None = None,
) -> CrossValidation:
    """Fit a clone of the estimator on each fold's training rows and evaluate it on the others.

    Parameters
    ----------
    estimator : scikit-learn multi-label classifier
        With a `decision_function` or `predict_proba`; it is not changed.
    X, Y : (n, D) array, CSR or data frame, and (n, L) of 0 and 1
    folds : sequence of (train, test)
        At least two, such as `shuffled_folds` gives.
    convention : {"standard", "paper"}
        See `mltsk.metrics.ranking`.
    n_jobs : int, optional
        Processes. The result does not depend on it.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=120, random_state=0)
    >>> folds = shuffled_folds(120, n_splits=3)
    >>> cv = cross_validate_metrics(MLTSKClassifier(n_rules=3), data.X, data.Y, folds=folds)
    >>> cv.table.shape, cv.mean["AP"] > 0.8
    ((3, 10), True)
    """
    if len(folds) < 2:
        raise InputError("Cross-validation needs at least two folds.")
    jobs = (delayed(evaluate_fold)(clone(estimator), X, Y, fold, convention) for fold in folds)
    results: list[FoldResult] = Parallel(n_jobs=n_jobs)(jobs)
    metrics, fit_seconds, predict_seconds, messages = zip(*results, strict=True)
    table = np.array([list(values.values()) for values in metrics])
    seconds, warned = (np.array(fit_seconds), np.array(predict_seconds)), tuple(dict.fromkeys(chain(*messages)))
    return CrossValidation(tuple(metrics[0]), table, *seconds, warned, convention)


def evaluate_fold(estimator: Any, X: Any, Y: Any, fold: Fold, convention: str = "standard") -> FoldResult:
    """Fit the estimator on the training rows of one fold and evaluate it on its test rows."""
    train, test = fold
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        estimator.fit(_rows(X, train), _rows(Y, train))
        fitted = time.perf_counter()
        unseen = _rows(X, test)
        scores, predictions = label_scores(estimator, unseen, Y.shape[1]), estimator.predict(unseen)
        done = time.perf_counter()
        metrics = evaluate(_rows(Y, test), scores, predictions=predictions, convention=convention)
    messages = tuple(dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in caught))
    return FoldResult(metrics, fitted - start, done - fitted, messages)


def _rows(table: Any, index: Any) -> Any:
    return table.iloc[index] if hasattr(table, "iloc") else table[index]
