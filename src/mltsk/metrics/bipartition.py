"""Metrics of predicted label sets: Hamming loss, subset accuracy, and F1.

Y and predictions are (N, L) of 0 and 1; entries where Y is NaN (not observed) are left out, and with them rows and
labels that have no other. F1 = 2 tp / (p + t), with tp = predicted and true, p = predicted, t = true, counted in each
row, in each label's column or over all entries; it is 0 where nothing is predicted and nothing true.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mltsk.metrics.inputs import BoolArray, FloatArray, check_labels, check_predictions, check_weight


def hamming_loss(Y: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Share of wrong entries (HL), over all rows.

    Examples
    --------
    >>> hamming_loss([[1, 0, 1, 0]], [[1, 1, 1, 0]])
    0.25
    """
    labels, guesses, observed, weight = _check(Y, predictions, sample_weight)
    n_observed = np.count_nonzero(observed, axis=1)
    wrong = np.count_nonzero(labels != guesses, axis=1) / np.maximum(n_observed, 1)
    return mean_of_counted(wrong, weight * (n_observed / labels.shape[1]))


def subset_accuracy_score(Y: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Share of rows whose label set is predicted exactly.

    Examples
    --------
    >>> subset_accuracy_score([[1, 0], [1, 1]], [[1, 0], [1, 0]])
    0.5
    """
    labels, guesses, observed, weight = _check(Y, predictions, sample_weight)
    return mean_of_counted(np.all(labels == guesses, axis=1), weight * observed.any(axis=1))


def example_f1_score(Y: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """F1 in each row, averaged over rows."""
    labels, guesses, observed, weight = _check(Y, predictions, sample_weight)
    counts = [np.count_nonzero(table, axis=1) for table in (labels & guesses, guesses, labels)]
    return mean_of_counted(_f1(*counts), weight * observed.any(axis=1))


def macro_f1_score(Y: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """F1 of each label, averaged over labels."""
    labels, guesses, observed, weight = _check(Y, predictions, sample_weight)
    counts = [weight @ table for table in (labels & guesses, guesses, labels)]
    return mean_of_counted(_f1(*counts), observed.any(axis=0) * 1.0)


def micro_f1_score(Y: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """F1 over all entries at once.

    Examples
    --------
    >>> micro_f1_score([[1, 1], [0, 1]], [[1, 0], [0, 1]])
    0.8
    """
    labels, guesses, _, weight = _check(Y, predictions, sample_weight)
    counts = [(weight @ table).sum(keepdims=True) for table in (labels & guesses, guesses, labels)]
    return float(_f1(*counts)[0])


def mean_of_counted(values: NDArray[Any], weight: Any) -> float:
    """Weighted mean; NaN if nothing has weight."""
    return float(np.average(values, weights=weight)) if weight.any() else float("nan")


def _check(Y: Any, predictions: Any, sample_weight: Any) -> tuple[BoolArray, BoolArray, BoolArray, FloatArray]:
    """Labels, predictions, observed entries and weights; where nothing was observed nothing is true or predicted."""
    labels, observed = check_labels(Y)
    guesses = check_predictions(predictions, labels.shape) & observed
    return labels, guesses, observed, check_weight(sample_weight, len(labels))


def _f1(hits: NDArray[Any], given: NDArray[Any], true: NDArray[Any]) -> FloatArray:
    return np.divide(2.0 * hits, given + true, out=np.zeros(len(hits)), where=given + true > 0)
