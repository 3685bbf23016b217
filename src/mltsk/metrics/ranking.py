"""Ranking metrics of label scores: average precision, one-error, ranking loss, coverage; the paper's five.

Y is (N, L) of 0 and 1; scores are (N, L), higher = more relevant. `convention` says what happens to ties, to
empty and full label sets and to NaN: see `mltsk.metrics.conventions`. A metric that no row counts for is NaN.

`five_metrics` sorts the scores once for all metrics and takes many score tables in one call.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mltsk.core.backend import is_tensor
from mltsk.metrics.conventions import Convention, get_convention
from mltsk.metrics.inputs import (
    BoolArray,
    FloatArray,
    check_labels,
    check_scores,
    check_threshold,
    check_weight,
)
from mltsk.metrics.ranked import rank_rows
from mltsk.metrics.tensors import five_metrics_of_tensors

#: The five metrics of the paper, in the order of `five_metrics` and of `evaluate`.
FIVE_METRICS = ("AP", "HL", "OE", "RL", "CV")

# Tables of scores are worked through in blocks of about this many scores: 8 MB each, whatever their number.
_BLOCK_SIZE = 1_000_000


def average_precision_score(
    Y: ArrayLike, scores: ArrayLike, *, convention: str = "standard", sample_weight: ArrayLike | None = None
) -> float:
    """Average precision over labels (AP): how pure the ranking is down to each relevant label.

    Parameters
    ----------
    Y : (N, L) of 0 and 1, dense, sparse or data frame
    scores : (N, L), higher = more relevant
    convention : "standard" or "paper"
    sample_weight : (N,), optional

    Returns
    -------
    float
        In [0, 1], higher is better; NaN when no row counts.

    Examples
    --------
    >>> average_precision_score([[1, 0, 1, 0]], [[0.9, 0.5, 0.5, 0.1]], convention="paper")
    1.0
    >>> round(average_precision_score([[1, 0, 1, 0]], [[0.9, 0.5, 0.5, 0.1]]), 4)
    0.8333
    """
    return _ranking_metric("average_precision", Y, scores, convention, sample_weight)


def one_error(
    Y: ArrayLike, scores: ArrayLike, *, convention: str = "standard", sample_weight: ArrayLike | None = None
) -> float:
    """Share of rows whose highest score is not on a relevant label (OE), in [0, 1], lower is better.

    Parameters are those of `average_precision_score`. Under ``convention="paper"`` a row of equal scores has
    no error, so never choose a model by that.

    Examples
    --------
    >>> Y, scores = [[0, 1, 0, 1]], [[0, 0, 0, 0]]
    >>> one_error(Y, scores), one_error(Y, scores, convention="paper")
    (0.5, 0.0)
    """
    return _ranking_metric("one_error", Y, scores, convention, sample_weight)


def ranking_loss(
    Y: ArrayLike, scores: ArrayLike, *, convention: str = "standard", sample_weight: ArrayLike | None = None
) -> float:
    """Share of (relevant, irrelevant) pairs in the wrong order or tied (RL), in [0, 1], lower is better.

    Parameters are those of `average_precision_score`.

    Examples
    --------
    >>> ranking_loss([[1, 0, 1, 0]], [[0.9, 0.5, 0.5, 0.1]])
    0.25
    """
    return _ranking_metric("ranking_loss", Y, scores, convention, sample_weight)


def normalised_coverage_error(
    Y: ArrayLike, scores: ArrayLike, *, convention: str = "standard", sample_weight: ArrayLike | None = None
) -> float:
    """How far down the ranking one goes to meet every relevant label (CV), lower is better.

    It is (depth - 1) / L, not the depth itself: ``(sklearn.metrics.coverage_error - 1) / L``.
    Parameters are those of `average_precision_score`.

    Examples
    --------
    >>> normalised_coverage_error([[1, 0, 1, 0]], [[0.9, 0.5, 0.5, 0.1]])
    0.5
    """
    return _ranking_metric("coverage", Y, scores, convention, sample_weight)


def five_metrics(
    Y: ArrayLike,
    scores: ArrayLike,
    *,
    threshold: ArrayLike = 0.5,
    convention: str = "standard",
    sample_weight: ArrayLike | None = None,
) -> FloatArray:
    """AP, HL, OE, RL and CV of one table of scores, or of many tables against one Y.

    Parameters
    ----------
    Y : (N, L)
    scores : (N, L) or (S, N, L)
        A torch tensor is computed with where it lies; Y and the weights must lie there too, and so does the result.
    threshold : float or (L,)
        A label is predicted where score >= threshold (only HL looks at it).
    convention, sample_weight
        As in `average_precision_score`.

    Returns
    -------
    (5,) or (S, 5) array
        In the order of `FIVE_METRICS`.

    Examples
    --------
    >>> import numpy as np
    >>> tables = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.1, 0.8], [0.1, 0.8]]])
    >>> five_metrics([[1, 0], [0, 1]], tables)
    array([[1.  , 0.  , 0.  , 0.  , 0.  ],
           [0.75, 0.5 , 0.5 , 0.5 , 0.25]])
    """
    rule = get_convention(convention)
    if is_tensor(scores):
        return five_metrics_of_tensors(
            Y, scores, convention=convention, threshold=threshold, sample_weight=sample_weight
        )
    labels = check_labels(Y)
    table = check_scores(scores, *labels.shape, allow_nan=rule.allow_nan, batch=True)
    cut = check_threshold(threshold, labels.shape[1])
    weight = check_weight(sample_weight, len(labels))
    if table.ndim == 2:
        return _five_of_block(labels, table[None], cut, weight, rule)[0]
    step = max(1, _BLOCK_SIZE // labels.size)
    blocks = [table[i : i + step] for i in range(0, len(table), step)]
    return np.vstack([np.empty((0, 5)), *(_five_of_block(labels, b, cut, weight, rule) for b in blocks)])


def weighted_mean(values: FloatArray, counted: BoolArray, weight: FloatArray) -> FloatArray:
    """Mean over the counted rows of values (..., N); NaN when no row with weight counts."""
    share = weight * counted
    total = share.sum()
    return values @ (share / total) if total > 0 else np.full(values.shape[:-1], np.nan)


def _ranking_metric(
    metric: str, Y: ArrayLike, scores: ArrayLike, convention: str, sample_weight: ArrayLike | None
) -> float:
    rule = get_convention(convention)
    labels = check_labels(Y)
    table = check_scores(scores, *labels.shape, allow_nan=rule.allow_nan)
    weight = check_weight(sample_weight, len(labels))
    values = getattr(rule, metric)(rank_rows(labels, table))
    counts = rule.coverage_rows if metric == "coverage" else rule.ranking_rows
    return float(weighted_mean(values, counts(labels.sum(axis=1), labels.shape[1]), weight))


def _five_of_block(
    Y: BoolArray, scores: FloatArray, cut: FloatArray, weight: FloatArray, rule: Convention
) -> FloatArray:
    """The five metrics (S, 5) of checked arrays: scores (S, N, L), Y (N, L), weight (N,)."""
    n_tables, n_rows, n_labels = scores.shape
    m = np.count_nonzero(Y, axis=1)
    rankable, coverable = rule.ranking_rows(m, n_labels), rule.coverage_rows(m, n_labels)
    ranked = rank_rows(Y, scores)
    wrong = np.count_nonzero((scores >= cut) != Y, axis=2) / n_labels
    columns = (
        (rule.average_precision(ranked), rankable),
        (wrong, np.ones(n_rows, dtype=bool)),
        (rule.one_error(ranked), rankable),
        (rule.ranking_loss(ranked), rankable),
        (rule.coverage(ranked), coverable),
    )
    means = [weighted_mean(values.reshape(n_tables, n_rows), rows, weight) for values, rows in columns]
    return np.stack(means, axis=1)
