"""Metrics of predicted label sets: Hamming loss, subset accuracy, and accuracy, precision, recall, F1.

Y and predictions are (N, L) of 0 and 1. With tp = predicted and true, p = predicted, t = true, counted

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

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mltsk.metrics.inputs import BoolArray, FloatArray, check_labels, check_predictions, check_weight


class Counts(NamedTuple):
    """Numbers of hits, of predicted and of true labels: per row, per label or in all."""

    hits: FloatArray
    predicted: FloatArray
    true: FloatArray


def accuracy(counts: Counts, zero_division: float = 0.0) -> FloatArray:
    """Jaccard index tp / (p + t - tp) of every count."""
    return _ratio(counts.hits, counts.predicted + counts.true - counts.hits, zero_division)


def precision(counts: Counts, zero_division: float = 0.0) -> FloatArray:
    """Share tp / p of the predicted labels that are true, of every count."""
    return _ratio(counts.hits, counts.predicted, zero_division)


def recall(counts: Counts, zero_division: float = 0.0) -> FloatArray:
    """Share tp / t of the true labels that are predicted, of every count."""
    return _ratio(counts.hits, counts.true, zero_division)


def f1(counts: Counts, zero_division: float = 0.0) -> FloatArray:
    """Harmonic mean 2 tp / (p + t) of precision and recall, of every count."""
    return _ratio(2.0 * counts.hits, counts.predicted + counts.true, zero_division)


def count_by_row(Y: BoolArray, predictions: BoolArray) -> Counts:
    """Counts of every row, (N,) each."""
    tables = (Y & predictions, predictions, Y)
    return Counts(*(np.count_nonzero(table, axis=1).astype(np.float64) for table in tables))


def count_by_label(Y: BoolArray, predictions: BoolArray, weight: FloatArray) -> Counts:
    """Weighted counts of every label, (L,) each."""
    return Counts(*(weight @ table for table in (Y & predictions, predictions, Y)))


def hamming_loss(Y: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Share of wrong entries (HL), over all rows.

    Examples
    --------
    >>> hamming_loss([[1, 0, 1, 0]], [[1, 1, 1, 0]])
    0.25
    """
    labels, guesses, weight = _check(Y, predictions, sample_weight)
    return float(np.average(np.mean(labels != guesses, axis=1), weights=weight))


def subset_accuracy_score(Y: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Share of rows whose label set is predicted exactly.

    Examples
    --------
    >>> subset_accuracy_score([[1, 0], [1, 1]], [[1, 0], [1, 0]])
    0.5
    """
    labels, guesses, weight = _check(Y, predictions, sample_weight)
    return float(np.average(np.all(labels == guesses, axis=1), weights=weight))


def _ratio(numerator: FloatArray, denominator: FloatArray, zero_division: float) -> FloatArray:
    out = np.full(np.shape(numerator), float(zero_division))
    return np.divide(numerator, denominator, out=out, where=denominator > 0)


def mean_of_defined(values: FloatArray, weight: FloatArray | None = None) -> float:
    """Weighted mean of the values that are not NaN; NaN if none is."""
    weight = np.ones(len(values)) if weight is None else weight
    defined = ~np.isnan(values)
    total = weight[defined].sum()
    return float(values[defined] @ weight[defined] / total) if total > 0 else float("nan")


def _check(Y, predictions, sample_weight) -> tuple[BoolArray, BoolArray, FloatArray]:
    labels = check_labels(Y)
    return labels, check_predictions(predictions, *labels.shape), check_weight(sample_weight, len(labels))


def _example(ratio, Y, predictions, sample_weight, zero_division) -> float:
    labels, guesses, weight = _check(Y, predictions, sample_weight)
    return mean_of_defined(ratio(count_by_row(labels, guesses), zero_division), weight)


def _macro(ratio, Y, predictions, sample_weight, zero_division) -> float:
    return mean_of_defined(ratio(count_by_label(*_check(Y, predictions, sample_weight)), zero_division))


def _micro(ratio, Y, predictions, sample_weight, zero_division) -> float:
    counts = count_by_label(*_check(Y, predictions, sample_weight))
    return float(ratio(Counts(*(np.sum(count) for count in counts)), zero_division))


def example_accuracy_score(Y, predictions, *, sample_weight=None, zero_division=0.0) -> float:
    """Jaccard index of true and predicted label sets, averaged over rows.

    Examples
    --------
    >>> example_accuracy_score([[1, 1, 0, 0]], [[1, 0, 0, 0]])
    0.5
    """
    return _example(accuracy, Y, predictions, sample_weight, zero_division)


def example_precision_score(Y, predictions, *, sample_weight=None, zero_division=0.0) -> float:
    """Precision in each row, averaged over rows."""
    return _example(precision, Y, predictions, sample_weight, zero_division)


def example_recall_score(Y, predictions, *, sample_weight=None, zero_division=0.0) -> float:
    """Recall in each row, averaged over rows."""
    return _example(recall, Y, predictions, sample_weight, zero_division)


def example_f1_score(Y, predictions, *, sample_weight=None, zero_division=0.0) -> float:
    """F1 in each row, averaged over rows."""
    return _example(f1, Y, predictions, sample_weight, zero_division)


def macro_accuracy_score(Y, predictions, *, sample_weight=None, zero_division=0.0) -> float:
    """Jaccard index of each label, averaged over labels."""
    return _macro(accuracy, Y, predictions, sample_weight, zero_division)


def macro_precision_score(Y, predictions, *, sample_weight=None, zero_division=0.0) -> float:
    """Precision of each label, averaged over labels."""
    return _macro(precision, Y, predictions, sample_weight, zero_division)


def macro_recall_score(Y, predictions, *, sample_weight=None, zero_division=0.0) -> float:
    """Recall of each label, averaged over labels."""
    return _macro(recall, Y, predictions, sample_weight, zero_division)


def macro_f1_score(Y, predictions, *, sample_weight=None, zero_division=0.0) -> float:
    """F1 of each label, averaged over labels."""
    return _macro(f1, Y, predictions, sample_weight, zero_division)


def micro_precision_score(Y, predictions, *, sample_weight=None, zero_division=0.0) -> float:
    """Precision over all entries at once."""
    return _micro(precision, Y, predictions, sample_weight, zero_division)


def micro_recall_score(Y, predictions, *, sample_weight=None, zero_division=0.0) -> float:
    """Recall over all entries at once."""
    return _micro(recall, Y, predictions, sample_weight, zero_division)


def micro_f1_score(Y, predictions, *, sample_weight=None, zero_division=0.0) -> float:
    """F1 over all entries at once.

    Examples
    --------
    >>> micro_f1_score([[1, 1], [0, 1]], [[1, 0], [0, 1]])
    0.8
    """
    return _micro(f1, Y, predictions, sample_weight, zero_division)
