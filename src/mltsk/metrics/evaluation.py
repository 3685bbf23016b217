"""`evaluate`: every metric of one table of scores in one dictionary; and the same label by label."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike

from mltsk.exceptions import DegenerateScoresWarning, InputError
from mltsk.metrics.bipartition import (
    count_by_label,
    example_f1_score,
    f1,
    hamming_loss,
    macro_f1_score,
    micro_f1_score,
    precision,
    recall,
    subset_accuracy_score,
)
from mltsk.metrics.conventions import get_convention
from mltsk.metrics.inputs import (
    BoolArray,
    FloatArray,
    check_labels,
    check_predictions,
    check_scores,
    check_threshold,
    check_weight,
)
from mltsk.metrics.ranking import FIVE_METRICS, five_metrics

_SET_METRICS = {
    "micro_F1": micro_f1_score,
    "macro_F1": macro_f1_score,
    "example_F1": example_f1_score,
    "subset_accuracy": subset_accuracy_score,
}


def evaluate(
    Y: ArrayLike,
    scores: ArrayLike,
    *,
    threshold: ArrayLike = 0.5,
    predictions: ArrayLike | None = None,
    convention: str = "standard",
    sample_weight: ArrayLike | None = None,
) -> dict[str, float]:
    """Evaluate label scores: the paper's five metrics, the usual F1s, and the share of tied rows.

    Parameters
    ----------
    Y : (N, L) of 0 and 1, dense, sparse or data frame
        True labels.
    scores : (N, L)
        Higher = more relevant. NaN is allowed under ``convention="paper"`` only.
    threshold : float or (L,), default 0.5
        A label is predicted where score >= threshold; 0 for the scores of a `decision_function`.
    predictions : (N, L) of 0 and 1, optional
        Predicted labels; they take the place of the threshold.
    convention : {"standard", "paper"}
        What to do with ties, with empty and full label sets and with NaN: `mltsk.metrics.conventions`.
    sample_weight : (N,), optional

    Returns
    -------
    dict
        "AP" (higher is better), "HL", "OE", "RL", "CV" (lower is better), "micro_F1", "macro_F1",
        "example_F1", "subset_accuracy" (higher is better) and "tied_rows", the share of rows whose scores are
        all equal: a model with many of them ranks nothing, whatever its metrics say.
        A metric for which no row counts is NaN.

    Warns
    -----
    DegenerateScoresWarning
        When more than half of the rows are tied throughout.

    Examples
    --------
    >>> result = evaluate([[1, 0, 1, 0], [0, 1, 0, 1]], [[0.9, 0.5, 0.5, 0.1], [0.2, 0.8, 0.6, 0.4]])
    >>> list(result)[:5], round(result["AP"], 4), result["RL"], result["tied_rows"]
    (['AP', 'HL', 'OE', 'RL', 'CV'], 0.8333, 0.25, 0.0)
    """
    rule = get_convention(convention)
    labels = check_labels(Y)
    table = check_scores(scores, *labels.shape, allow_nan=rule.allow_nan)
    weight = check_weight(sample_weight, len(labels))
    guesses = _predicted(table, threshold, predictions)
    five = five_metrics(labels, table, convention=convention, sample_weight=weight)
    result = dict(zip(FIVE_METRICS, five.tolist(), strict=True))
    result["HL"] = hamming_loss(labels, guesses, sample_weight=weight)
    for name, metric in _SET_METRICS.items():
        result[name] = metric(labels, guesses, sample_weight=weight)
    result["tied_rows"] = _share_of_tied_rows(table, weight)
    return result


def metrics_by_label(
    Y: ArrayLike,
    scores: ArrayLike,
    *,
    threshold: ArrayLike = 0.5,
    predictions: ArrayLike | None = None,
    label_names: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> dict[str, np.ndarray]:
    """Columns of a table with one row per label: name, frequency, precision, recall, F1 and Hamming loss.

    Names are `label_names`, else the columns of a data frame Y, else 0 .. L - 1. Parameters are those of
    `evaluate`; ``pandas.DataFrame`` takes the result as it is.

    Examples
    --------
    >>> table = metrics_by_label([[1, 0], [1, 1]], [[0.9, 0.2], [0.4, 0.7]], label_names=["sea", "tree"])
    >>> table["label"].tolist(), table["recall"]
    (['sea', 'tree'], array([0.5, 1. ]))
    """
    labels = check_labels(Y)
    table = check_scores(scores, *labels.shape, allow_nan=True)
    weight = check_weight(sample_weight, len(labels))
    guesses = _predicted(table, threshold, predictions)
    counts = count_by_label(labels, guesses, weight / weight.sum())
    return {
        "label": _label_names(Y, label_names, labels.shape[1]),
        "frequency": counts.true,
        "predicted": counts.predicted,
        "precision": precision(counts),
        "recall": recall(counts),
        "F1": f1(counts),
        "HL": counts.true + counts.predicted - 2.0 * counts.hits,
    }


def _predicted(table: FloatArray, threshold: ArrayLike, predictions: ArrayLike | None) -> BoolArray:
    if predictions is not None:
        return check_predictions(predictions, *table.shape)
    return table >= check_threshold(threshold, table.shape[1])


def _label_names(Y: ArrayLike, label_names: ArrayLike | None, n_labels: int) -> np.ndarray:
    if label_names is None:
        label_names = getattr(Y, "columns", range(n_labels))
    names = np.asarray(list(label_names))
    if len(names) != n_labels:
        raise InputError(f"label_names must hold one name per label ({n_labels}), got {len(names)}.")
    return names


def _share_of_tied_rows(table: FloatArray, weight: FloatArray) -> float:
    """Share of rows whose scores are all equal, or all NaN; a single score is not a tie."""
    if table.shape[1] == 1:
        return 0.0
    tied = (table == table[:, :1]).all(axis=1) | np.isnan(table).all(axis=1)
    share = float(np.average(tied, weights=weight))
    if share > 0.5:
        warnings.warn(
            f"{share:.0%} of the rows have the same score for every label, so ranking metrics say little; "
            "look for zeroed features or too strong a penalty.",
            DegenerateScoresWarning,
            stacklevel=3,
        )
    return share
