"""Metrics of predicted label sets: Hamming loss, subset accuracy, and accuracy, precision, recall, F1.

Y and predictions are (N, L) of 0 and 1; entries where Y is NaN (not observed) are left out, and with them rows and
labels that have no other. With tp = predicted and true, p = predicted, t = true, counted in each row and averaged over
rows (``example_*``), in each label's column and averaged over labels (``macro_*``) or over all entries (``micro_*``):
precision = tp / p, recall = tp / t, F1 = 2 tp / (p + t), accuracy = tp / (p + t - tp), which is the Jaccard index: the
share of right entries in a column, averaged over labels, would only repeat 1 - Hamming loss.

Where the denominator is 0 (nothing predicted, nothing true, or neither) the ratio is `zero_division`, 0 by default and
1 if you hold that an empty prediction of an empty set is right; with NaN such rows or labels are left out of the
average. These are scikit-learn's rules and defaults.

Examples
--------
>>> example_accuracy_score([[1, 1, 0, 0]], [[1, 0, 0, 0]]), micro_f1_score([[1, 1], [0, 1]], [[1, 0], [0, 1]])
(0.5, 0.8)
"""

from collections.abc import Callable
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


def mean_of_defined(values: NDArray[Any], weight: FloatArray) -> float:
    """Weighted mean of the values that are not NaN; NaN if none has weight."""
    weight = weight * (values == values)
    return float(np.average(np.nan_to_num(values), weights=weight)) if weight.any() else float("nan")


def _check(Y: Any, predictions: Any, sample_weight: Any) -> tuple[BoolArray, BoolArray, BoolArray, FloatArray]:
    """Labels, predictions, observed entries and weights; where nothing was observed nothing is true or predicted."""
    labels, observed = check_labels(Y)
    guesses = check_predictions(predictions, labels.shape) & observed
    return labels, guesses, observed, check_weight(sample_weight, len(labels))


# What is divided by what, from the numbers of labels rightly predicted, predicted and true.
_RATIOS = {
    "accuracy": ("Jaccard index", lambda hits, given, true: (hits, given + true - hits)),
    "precision": ("Precision", lambda hits, given, true: (hits, given)),
    "recall": ("Recall", lambda hits, given, true: (hits, true)),
    "f1": ("F1", lambda hits, given, true: (2.0 * hits, given + true)),
}
_MEANS = {"example": "in each row, averaged over rows", "macro": "of each label, averaged over labels"}
_MEANS["micro"] = "over all entries at once"


def _score(over: str, name: str) -> Callable[..., float]:
    """The metric function of a ratio, with its name and description."""
    what, ratio = _RATIOS[name]

    def score(Y: Any, predictions: Any, *, sample_weight: Any = None, zero_division: float = 0.0) -> float:
        share: Any
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

    score.__name__ = score.__qualname__ = f"{over}_{name}_score"
    score.__doc__ = f"{what} {_MEANS[over]}."
    return score


example_accuracy_score, macro_accuracy_score = _score("example", "accuracy"), _score("macro", "accuracy")
example_precision_score, macro_precision_score, micro_precision_score = (_score(over, "precision") for over in _MEANS)
example_recall_score, macro_recall_score, micro_recall_score = (_score(over, "recall") for over in _MEANS)
example_f1_score, macro_f1_score, micro_f1_score = (_score(over, "f1") for over in _MEANS)
