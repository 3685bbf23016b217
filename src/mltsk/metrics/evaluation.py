"""Metrics of predicted label sets (Hamming loss, subset accuracy, F1), and `evaluate`: all metrics at once.

Y and predictions are (N, L) of 0 and 1; entries where Y is NaN (not observed) are left out, and with them rows and
labels that have no other. F1 = 2 tp / (p + t), with tp = predicted and true, p = predicted, t = true, counted in each
row, in each label's column or over all entries; it is 0 where nothing is predicted and nothing true.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mltsk.columns import is_polars
from mltsk.exceptions import DegenerateScoresWarning
from mltsk.metrics import inputs
from mltsk.metrics.curves import ranking
from mltsk.metrics.inputs import BoolArray, FloatArray
from mltsk.metrics.ranking import FIVE_METRICS, five_metrics, is_paper


def hamming_loss(
    Y: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Share of wrong entries (HL), over all rows.

    Examples
    --------
    >>> hamming_loss([[1, 0, 1, 0]], [[1, 1, 1, 0]])
    0.25
    """
    labels, guesses, observed, weight = _check(Y, predictions, sample_weight)
    n_observed = np.count_nonzero(observed, axis=1)
    wrong = np.count_nonzero(labels != guesses, axis=1) / np.maximum(n_observed, 1)
    return _mean(wrong, weight * (n_observed / labels.shape[1]))


def subset_accuracy_score(
    Y: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Share of rows whose label set is predicted exactly.

    Examples
    --------
    >>> subset_accuracy_score([[1, 0], [1, 1]], [[1, 0], [1, 0]])
    0.5
    """
    labels, guesses, observed, weight = _check(Y, predictions, sample_weight)
    return _mean(np.all(labels == guesses, axis=1), weight * observed.any(axis=1))


def example_f1_score(
    Y: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """F1 in each row, averaged over rows."""
    labels, guesses, observed, weight = _check(Y, predictions, sample_weight)
    counts = [
        np.count_nonzero(table, axis=1) for table in (labels & guesses, guesses, labels)
    ]
    return _mean(_f1(*counts), weight * observed.any(axis=1))


def macro_f1_score(
    Y: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """F1 of each label, averaged over labels."""
    labels, guesses, observed, weight = _check(Y, predictions, sample_weight)
    counts = [weight @ table for table in (labels & guesses, guesses, labels)]
    return _mean(_f1(*counts), observed.any(axis=0) * 1.0)


def micro_f1_score(
    Y: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """F1 over all entries at once.

    Examples
    --------
    >>> micro_f1_score([[1, 1], [0, 1]], [[1, 0], [0, 1]])
    0.8
    """
    labels, guesses, _, weight = _check(Y, predictions, sample_weight)
    counts = [
        (weight @ table).sum(keepdims=True)
        for table in (labels & guesses, guesses, labels)
    ]
    return float(_f1(*counts)[0])


def _mean(values: NDArray[Any], weight: Any) -> float:
    """Weighted mean; NaN if nothing has weight."""
    return float(np.average(values, weights=weight)) if weight.any() else float("nan")


def _check(
    Y: Any, predictions: Any, sample_weight: Any
) -> tuple[BoolArray, BoolArray, BoolArray, FloatArray]:
    """Labels, predictions, observed entries and weights; where nothing was observed nothing is true or predicted."""
    labels, observed = inputs.check_labels(Y)
    guesses = (
        inputs.check_labels(predictions, "predictions", labels.shape)[0] & observed
    )
    return labels, guesses, observed, inputs.check_weight(sample_weight, len(labels))


def _f1(hits: NDArray[Any], given: NDArray[Any], true: NDArray[Any]) -> FloatArray:
    return np.divide(
        2.0 * hits, given + true, out=np.zeros(len(hits)), where=given + true > 0
    )


def evaluate(
    Y: ArrayLike,
    scores: ArrayLike,
    *,
    convention: str = "standard",
    threshold: ArrayLike = 0.5,
    predictions: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    per_label: bool = False,
) -> Any:
    """Evaluate label scores: the paper's five metrics, the usual F1s, and the share of tied rows.

    Parameters
    ----------
    Y : (N, L) of 0 and 1, dense, sparse or data frame
        True labels. NaN is a label that was not observed: it is left out of every metric.
    scores : (N, L)
        Higher = more relevant. NaN is allowed under ``convention="paper"`` only.
    convention : {"standard", "paper"}
        What to do with ties, with empty and full label sets and with NaN: `mltsk.metrics.ranking`.
    threshold : float or (L,), default 0.5
        A label is predicted where score >= threshold; 0 for the scores of a `decision_function`.
    predictions : (N, L) of 0 and 1, optional
        Predicted labels; they take the place of the threshold.
    sample_weight : (N,), optional
    per_label : bool, default False
        Return a table with a row per label instead.

    Returns
    -------
    dict
        "AP" (higher is better), "HL", "OE", "RL", "CV" (lower is better), "micro_F1", "macro_F1", "example_F1",
        "subset_accuracy" (higher is better) and "tied_rows", the share of rows whose scores are all equal: a model with
        many of them ranks nothing, whatever its metrics say. A metric for which no row counts is NaN.
    pandas.DataFrame
        With ``per_label=True``, indexed by the columns of a data frame Y, else by 0 .. L - 1 (where Y is a polars
        frame, a polars frame, whose first column is "label"): "observed" (samples),
        "prevalence", "AP" and "AUC" of the ranking of the samples, "sensitivity" and "precision" of the predictions,
        and "Brier" where all scores lie in [0, 1]. NaN is what the samples do not define: AP and AUC of a label that
        all or none have, the precision of one that is never predicted.

    Warns
    -----
    DegenerateScoresWarning
        When more than half of the rows are tied throughout.

    Examples
    --------
    >>> result = evaluate([[1, 0, 1, 0], [0, 1, 0, 1]], [[0.9, 0.5, 0.5, 0.1], [0.2, 0.8, 0.6, 0.4]])
    >>> list(result)[:5], round(result["AP"], 4), result["RL"], result["tied_rows"]
    (['AP', 'HL', 'OE', 'RL', 'CV'], 0.8333, 0.25, 0.0)
    >>> evaluate([[1, 0], [0, float("nan")]], [[0.9, 0.2], [0.4, 0.7]], per_label=True)["observed"].tolist()
    [2, 1]
    """
    labels, observed = inputs.check_labels(Y)
    table = inputs.check_scores(scores, labels.shape, allow_nan=is_paper(convention))
    weight = inputs.check_weight(sample_weight, len(labels))
    if predictions is None:
        predictions = table >= inputs.check_threshold(threshold, table.shape[1])
    guesses = inputs.check_labels(predictions, "predictions", table.shape)[0]
    if per_label:
        return _by_label(Y, labels, observed, table, guesses, weight)
    truth = labels if observed.all() else np.where(observed, labels, np.nan)
    five = five_metrics(truth, table, convention=convention, sample_weight=weight)
    result = dict(zip(FIVE_METRICS, five.tolist(), strict=True))
    f1s = {
        "micro_F1": micro_f1_score,
        "macro_F1": macro_f1_score,
        "example_F1": example_f1_score,
    }
    metrics = {"HL": hamming_loss, **f1s, "subset_accuracy": subset_accuracy_score}
    result |= {
        name: metric(truth, guesses, sample_weight=weight)
        for name, metric in metrics.items()
    }
    tied = (table == table[:, :1]).all(axis=1) | np.isnan(table).all(axis=1)
    share = (
        float(np.average(tied, weights=weight)) if table.shape[1] > 1 else 0.0
    )  # a single score is not a tie
    if share > 0.5:
        why = f"{share:.0%} of the rows have the same score for every label, so ranking metrics say little"
        what = "look for zeroed features or too strong a penalty"
        warnings.warn(f"{why}; {what}.", DegenerateScoresWarning, stacklevel=2)
    return result | {"tied_rows": share}


def _by_label(
    Y: Any,
    labels: BoolArray,
    observed: BoolArray,
    scores: FloatArray,
    guesses: Any,
    weight: Any,
) -> Any:
    """The metrics of each label from its observed samples: labels y, scores s, predictions p, weights w."""
    from pandas import DataFrame, Index  # slower to import than this package

    probable, rows = bool(((scores >= 0) & (scores <= 1))[observed].all()), []
    for y, s, p, seen in zip(labels.T, scores.T, guesses.T, observed.T, strict=True):
        y, s, p, w = y[seen], s[seen], p[seen], weight[seen]
        ranks = (
            np.unique(s, return_inverse=True)[1] * 1.0
        )  # scores may be infinite, or NaN, which ranks highest
        areas = (
            [float(area[0]) for area in ranking(y, ranks, w[None])]
            if len(y)
            else [np.nan, np.nan]
        )
        shares = _mean(p, w * y), _mean(y, w * p)
        brier = _mean((s - y) ** 2, w) if probable else np.nan
        rows.append([len(y), _mean(y, w), *areas, *shares, brier])
    names = ("observed", "prevalence", "AP", "AUC", "sensitivity", "precision", "Brier")
    columns = dict(zip(names, map(np.array, zip(*rows, strict=True)), strict=True))
    if is_polars(Y):
        return type(Y)({"label": Y.columns, **columns})
    return DataFrame(
        columns, index=Index(getattr(Y, "columns", range(len(rows))), name="label")
    )
