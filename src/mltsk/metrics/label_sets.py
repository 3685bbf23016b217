"""Metrics of predicted label sets: Hamming loss, subset accuracy and F1.

Y and predictions are (N, L) of 0 and 1; entries where Y is NaN (not observed) are left
out, and with them rows and labels that have no other. F1 = 2 tp / (p + t), with tp =
predicted and true, p = predicted, t = true, counted in each row, in each label's column
or over all entries; it is 0 where nothing is predicted and nothing true.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mltsk.metrics.inputs import BoolArray, FloatArray, check_labels, check_weight


def hamming_loss(
    Y: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Share of wrong entries (HL), over all rows.

    Examples
    --------
    >>> hamming_loss([[1, 0, 1, 0]], [[1, 1, 1, 0]])
    0.25
    """
    sets = _check_sets(Y, predictions, sample_weight)
    n_observed = np.count_nonzero(sets.observed, axis=1)
    n_wrong = np.count_nonzero(sets.true != sets.predicted, axis=1)
    wrong = n_wrong / np.maximum(n_observed, 1)
    return mean_or_nan(wrong, sets.weight * (n_observed / sets.true.shape[1]))


def subset_accuracy_score(
    Y: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Share of rows whose label set is predicted exactly.

    Examples
    --------
    >>> subset_accuracy_score([[1, 0], [1, 1]], [[1, 0], [1, 0]])
    0.5
    """
    sets = _check_sets(Y, predictions, sample_weight)
    exact = np.all(sets.true == sets.predicted, axis=1)
    return mean_or_nan(exact, sets.weight * sets.observed.any(axis=1))


def example_f1_score(
    Y: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """F1 in each row, averaged over rows."""
    sets = _check_sets(Y, predictions, sample_weight)
    by_row = _f1(sets, lambda table: np.count_nonzero(table, axis=1))
    return mean_or_nan(by_row, sets.weight * sets.observed.any(axis=1))


def macro_f1_score(
    Y: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """F1 of each label, averaged over labels."""
    sets = _check_sets(Y, predictions, sample_weight)
    by_label = _f1(sets, lambda table: sets.weight @ table)
    return mean_or_nan(by_label, np.any(sets.observed, axis=0) * 1.0)


def micro_f1_score(
    Y: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """F1 over all entries at once.

    Examples
    --------
    >>> micro_f1_score([[1, 1], [0, 1]], [[1, 0], [0, 1]])
    0.8
    """
    sets = _check_sets(Y, predictions, sample_weight)
    return float(_f1(sets, lambda table: (sets.weight @ table).sum()))


def mean_or_nan(values: FloatArray | BoolArray, weight: FloatArray) -> float:
    """Weighted mean; NaN if nothing has weight."""
    if not weight.any():
        return float("nan")
    return float(np.average(values, weights=weight))


class _LabelSets(NamedTuple):
    """True and predicted labels, observed entries, all (N, L), and weights (N,).

    Where nothing was observed, nothing is true or predicted.
    """

    true: BoolArray
    predicted: BoolArray
    observed: BoolArray
    weight: FloatArray


def _check_sets(
    Y: ArrayLike, predictions: ArrayLike, sample_weight: ArrayLike | None
) -> _LabelSets:
    true, observed = check_labels(Y)
    predicted, _ = check_labels(predictions, "predictions", true.shape)
    weight = check_weight(sample_weight, len(true))
    return _LabelSets(true, predicted & observed, observed, weight)


def _f1(sets: _LabelSets, count: Callable[[BoolArray], FloatArray]) -> FloatArray:
    """F1 where ``count`` counts the entries of a table: per row, per label, or all."""
    hits = np.asarray(count(sets.true & sets.predicted))
    total = np.asarray(count(sets.predicted) + count(sets.true))
    return np.divide(2.0 * hits, total, out=np.zeros(hits.shape), where=total > 0)
