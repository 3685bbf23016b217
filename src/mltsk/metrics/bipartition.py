"""Metrics of predicted label sets: Hamming loss, subset accuracy, and accuracy, precision, recall, F1.

Y and predictions are (N, L) of 0 and 1; entries where Y is NaN (not observed) are left out, and with them rows and
labels that have no other. With tp = predicted and true, p = predicted, t = true, counted

=============  =============================================================================
``example_*``  in each row, then averaged over rows
``macro_*``    in each label's column, then averaged over labels
``micro_*``    over all entries at once
=============  =============================================================================

precision = tp / p, recall = tp / t, F1 = 2 tp / (p + t), accuracy = tp / (p + t - tp), which is the Jaccard
index: the share of right entries in a column, averaged over labels, would only repeat 1 - Hamming loss.

Zero division: where the denominator is 0 (nothing predicted, nothing true, or neither) the ratio is
`zero_division`, 0 by default and 1 if you hold that an empty prediction of an empty set is right; with NaN
such rows or labels are left out of the average. These are scikit-learn's rules and defaults.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mltsk.metrics.inputs import BoolArray, FloatArray, check_predictions, check_truth, check_weight


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
    return mean_of_defined(wrong, weight * (n_observed / labels.shape[1]))


def subset_accuracy_score(Y: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Share of rows whose label set is predicted exactly.

    Examples
    --------
    >>> subset_accuracy_score([[1, 0], [1, 1]], [[1, 0], [1, 0]])
    0.5
    """
    labels, guesses, observed, weight = _check(Y, predictions, sample_weight)
    return mean_of_defined(np.all(labels == guesses, axis=1), weight * observed.any(axis=1))


def mean_of_defined(values: FloatArray, weight: FloatArray) -> float:
    """Weighted mean of the values that are not NaN; NaN if none has weight."""
    weight = weight * (values == values)
    return float(np.average(np.nan_to_num(values), weights=weight)) if weight.any() else float("nan")


def _check(Y, predictions, sample_weight) -> tuple[BoolArray, BoolArray, BoolArray, FloatArray]:
    """Labels, predictions, observed entries and weights; where nothing was observed nothing is true or predicted."""
    labels, observed = check_truth(Y)
    guesses = check_predictions(predictions, *labels.shape) & observed
    return labels, guesses, observed, check_weight(sample_weight, len(labels))


def _averaged(over, ratio, Y, predictions, sample_weight, zero_division) -> float:
    """A ratio of what is rightly predicted, predicted and true, counted over an "example", for "macro" or "micro"."""
    labels, guesses, observed, weight = _check(Y, predictions, sample_weight)
    tables = labels & guesses, guesses, labels
    if over == "example":
        counts, share = [np.count_nonzero(table, axis=1) for table in tables], weight * observed.any(axis=1)
    else:
        counts, share = [weight @ table for table in tables], observed.any(axis=0) * 1.0
    if over == "micro":
        counts, share = [count.sum(keepdims=True) for count in counts], np.ones(1)
    numerator, denominator = ratio(*counts)
    out = np.full(len(numerator), float(zero_division))
    return mean_of_defined(np.divide(numerator, denominator, out=out, where=denominator > 0), share)


def _accuracy(tp, p, t):
    return tp, p + t - tp


def _precision(tp, p, t):
    return tp, p


def _recall(tp, p, t):
    return tp, t


def _f1(tp, p, t):
    return 2.0 * tp, p + t


def example_accuracy_score(Y, predictions, *, sample_weight=None, zero_division=0.0) -> float:
    """Jaccard index of true and predicted label sets, averaged over rows.

    Examples
    --------
    >>> example_accuracy_score([[1, 1, 0, 0]], [[1, 0, 0, 0]])
    0.5
    """
    return _averaged("example", _accuracy, Y, predictions, sample_weight, zero_division)


def example_precision_score(Y, predictions, *, sample_weight=None, zero_division=0.0) -> float:
    """Precision in each row, averaged over rows."""
    return _averaged("example", _precision, Y, predictions, sample_weight, zero_division)


def example_recall_score(Y, predictions, *, sample_weight=None, zero_division=0.0) -> float:
    """Recall in each row, averaged over rows."""
    return _averaged("example", _recall, Y, predictions, sample_weight, zero_division)


def example_f1_score(Y, predictions, *, sample_weight=None, zero_division=0.0) -> float:
    """F1 in each row, averaged over rows."""
    return _averaged("example", _f1, Y, predictions, sample_weight, zero_division)


def macro_accuracy_score(Y, predictions, *, sample_weight=None, zero_division=0.0) -> float:
    """Jaccard index of each label, averaged over labels."""
    return _averaged("macro", _accuracy, Y, predictions, sample_weight, zero_division)


def macro_precision_score(Y, predictions, *, sample_weight=None, zero_division=0.0) -> float:
    """Precision of each label, averaged over labels."""
    return _averaged("macro", _precision, Y, predictions, sample_weight, zero_division)


def macro_recall_score(Y, predictions, *, sample_weight=None, zero_division=0.0) -> float:
    """Recall of each label, averaged over labels."""
    return _averaged("macro", _recall, Y, predictions, sample_weight, zero_division)


def macro_f1_score(Y, predictions, *, sample_weight=None, zero_division=0.0) -> float:
    """F1 of each label, averaged over labels."""
    return _averaged("macro", _f1, Y, predictions, sample_weight, zero_division)


def micro_precision_score(Y, predictions, *, sample_weight=None, zero_division=0.0) -> float:
    """Precision over all entries at once."""
    return _averaged("micro", _precision, Y, predictions, sample_weight, zero_division)


def micro_recall_score(Y, predictions, *, sample_weight=None, zero_division=0.0) -> float:
    """Recall over all entries at once."""
    return _averaged("micro", _recall, Y, predictions, sample_weight, zero_division)


def micro_f1_score(Y, predictions, *, sample_weight=None, zero_division=0.0) -> float:
    """F1 over all entries at once.

    Examples
    --------
    >>> micro_f1_score([[1, 1], [0, 1]], [[1, 0], [0, 1]])
    0.8
    """
    return _averaged("micro", _f1, Y, predictions, sample_weight, zero_division)
