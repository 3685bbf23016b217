"""Ranking metrics of label scores: average precision, one-error, ranking loss, coverage; the paper's five.

`convention` says what happens to ties, to empty and full label sets and to NaN: see `mltsk.metrics.conventions`. A
metric that no row counts for is NaN. `five_metrics` sorts the scores once for all metrics, of one table or many.
"""

from typing import Any

import numpy as np

from mltsk.core.backend import cast, is_tensor, namespace
from mltsk.metrics import inputs
from mltsk.metrics.conventions import is_paper, row_metrics
from mltsk.metrics.inputs import BoolArray, FloatArray

#: The five metrics of the paper, in the order of `five_metrics` and of `evaluate`.
FIVE_METRICS = ("AP", "HL", "OE", "RL", "CV")


def average_precision_score(Y: Any, scores: Any, *, convention: str = "standard", sample_weight: Any = None) -> float:
    """How pure the ranking is down to each relevant label (AP), in [0, 1], higher is better; NaN when no row counts.

    Parameters
    ----------
    Y : (N, L) of 0, 1 and NaN (not observed), dense, sparse or data frame
    scores : (N, L), higher = more relevant
    convention : "standard" or "paper"
    sample_weight : (N,), optional

    Examples
    --------
    >>> average_precision_score([[1, 0, 1, 0]], [[0.9, 0.5, 0.5, 0.1]], convention="paper")
    1.0
    >>> round(average_precision_score([[1, 0, 1, 0]], [[0.9, 0.5, 0.5, 0.1]]), 4)
    0.8333
    """
    return _ranking_metric(0, Y, scores, convention, sample_weight)


def one_error(Y: Any, scores: Any, *, convention: str = "standard", sample_weight: Any = None) -> float:
    """Share of rows whose highest score is not on a relevant label (OE), in [0, 1], lower is better.

    Parameters are those of `average_precision_score`. Under ``convention="paper"`` a row of equal scores has no error,
    so never choose a model by that.

    Examples
    --------
    >>> Y, scores = [[0, 1, 0, 1]], [[0, 0, 0, 0]]
    >>> one_error(Y, scores), one_error(Y, scores, convention="paper")
    (0.5, 0.0)
    """
    return _ranking_metric(1, Y, scores, convention, sample_weight)


def ranking_loss(Y: Any, scores: Any, *, convention: str = "standard", sample_weight: Any = None) -> float:
    """Share of (relevant, irrelevant) pairs in the wrong order or tied (RL), in [0, 1], lower is better.

    Parameters are those of `average_precision_score`.

    Examples
    --------
    >>> ranking_loss([[1, 0, 1, 0]], [[0.9, 0.5, 0.5, 0.1]])
    0.25
    """
    return _ranking_metric(2, Y, scores, convention, sample_weight)


def coverage_error(
    Y: Any, scores: Any, *, convention: str = "standard", normalize: bool = True, sample_weight: Any = None
) -> float:
    """How far down the ranking one goes to meet every relevant label (CV), lower is better.

    It is ``(sklearn.metrics.coverage_error - 1) / L``, as in the tables of the paper and in `evaluate`; with
    ``normalize=False`` it is not divided by the number of labels, which is the formula that the paper prints. The other
    parameters are those of `average_precision_score`.

    Examples
    --------
    >>> Y, scores = [[1, 0, 1, 0]], [[0.9, 0.5, 0.5, 0.1]]
    >>> coverage_error(Y, scores), coverage_error(Y, scores, normalize=False)
    (0.5, 2.0)
    """
    return _ranking_metric(3, Y, scores, convention, sample_weight, normalize)


def five_metrics(
    Y: Any, scores: Any, *, threshold: Any = 0.5, convention: str = "standard", sample_weight: Any = None
) -> FloatArray:
    """AP, HL, OE, RL and CV of one table of scores, or of many tables against one Y.

    Parameters
    ----------
    Y : (N, L)
    scores : (N, L) or (S, N, L)
        A torch tensor is computed with where it lies; Y (of 0 and 1 only, it may have a table for each of the scores')
        and the weights must lie there too, and so does the result.
    threshold : float or (L,)
        A label is predicted where score >= threshold (only HL looks at it).
    convention, sample_weight : as in `average_precision_score`

    Returns
    -------
    (5,) or (S, 5) array, in the order of `FIVE_METRICS`

    Examples
    --------
    >>> import numpy as np
    >>> tables = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.1, 0.8], [0.1, 0.8]]])
    >>> five_metrics([[1, 0], [0, 1]], tables)
    array([[1.  , 0.  , 0.  , 0.  , 0.  ],
           [0.75, 0.5 , 0.5 , 0.5 , 0.25]])
    """
    paper = is_paper(convention)
    if is_tensor(scores):
        labels = inputs.check_tensors(Y, scores, allow_nan=paper)
        observed, table, cut = labels == labels, scores, threshold
        weight = 1.0 if sample_weight is None else cast(sample_weight, np.float64)
    else:
        labels, observed = inputs.check_truth(Y)
        table = inputs.check_scores(scores, *labels.shape, allow_nan=paper, batch=True)
        cut = inputs.check_threshold(threshold, labels.shape[1])
        weight = inputs.check_weight(sample_weight, len(labels))
    (ap, oe, rl, cv), rankable, coverable = _ranked_rows(labels, observed, table, paper)
    n_observed = cast(observed.sum(-1), np.float64)
    wrong = (((table >= cut) != labels) & observed).sum(-1) / namespace(table).maximum(n_observed, 1)
    shares = rankable, n_observed / table.shape[-1], rankable, rankable, coverable  # every observed entry alike
    columns = zip((ap, wrong, oe, rl, cv), shares, strict=True)
    return namespace(table).stack([_weighted_mean(values, share, weight) for values, share in columns], -1)


def _ranking_metric(which: int, Y: Any, scores: Any, convention: str, sample_weight: Any, share: bool = True) -> float:
    paper, (labels, observed) = is_paper(convention), inputs.check_truth(Y)
    table = inputs.check_scores(scores, *labels.shape, allow_nan=paper)
    weight = inputs.check_weight(sample_weight, len(labels))
    values, rankable, coverable = _ranked_rows(labels, observed, table, paper)
    value = values[which] if share else values[which] * observed.sum(axis=1)
    return float(_weighted_mean(value, coverable if which == 3 else rankable, weight))


def _ranked_rows(labels: Any, observed: Any, scores: Any, paper: bool) -> tuple[Any, Any, Any]:
    """AP, OE, RL and CV (4, …, N) of every row, and the rows that count for the first three and for CV."""
    if not observed.all():
        return _observed_rows(labels, observed, scores, paper)
    n_labels, m = scores.shape[-1], labels.sum(-1)
    each = namespace(scores).broadcast_to(labels, scores.shape)
    values = row_metrics(each.reshape(-1, n_labels), scores.reshape(-1, n_labels), paper)
    rankable = (m < n_labels) if paper else (m > 0) & (m < n_labels)
    return values.reshape(4, *scores.shape[:-1]), rankable, (m >= 0) if paper else rankable


def _observed_rows(labels: BoolArray, observed: BoolArray, scores: FloatArray, paper: bool) -> tuple[Any, ...]:
    """The same where labels were not observed: rows with equally many observed labels are ranked together."""
    values, counted = np.zeros((4, *scores.shape[:-1])), np.zeros((2, len(labels)), dtype=bool)
    n_observed = observed.sum(axis=1)
    for n in np.unique(n_observed[n_observed > 0]):
        rows = np.flatnonzero(n_observed == n)
        entries = rows[:, None], np.nonzero(observed[rows])[1].reshape(len(rows), n)
        found = _ranked_rows(labels[entries], observed[entries], scores[..., *entries], paper)
        values[..., rows], counted[:, rows] = found[0], found[1:]
    return values, *counted


def _weighted_mean(values: Any, share: Any, weight: Any) -> Any:
    """Mean of values (…, N) over rows, each with its share of its weight; NaN where no row with weight has a share."""
    share = weight * cast(share, np.float64)
    if is_tensor(values):
        return (values * share).sum(-1) / share.sum(-1)
    total = share.sum()
    return values @ (share / total) if total > 0 else np.full(values.shape[:-1], np.nan)
