"""Metrics of label rankings: average precision, one-error, ranking loss, coverage.

With Hamming loss they are the five metrics of the paper; `five_metrics` sorts the
scores once for all of them, of one table or of many. A metric for which no row counts
is NaN.

Two conventions say what happens to ties, to empty and full label sets and to NaN.
Symbols for one row: L labels, Y its set of m relevant ones, s their scores; "rank" 1 is
the highest score.

======  =====================================  =====================================
metric  ``"paper"``: the program behind the    ``"standard"``: for comparing models
        paper
======  =====================================  =====================================
AP      mean over l in Y of (relevant labels   the same with ties counted against
        at or above l) / rank(l); of tied      the model: mean of #{relevant, s' >=
        labels the higher index ranks first;   s} / #{all, s' >= s}, as
        empty: 0                               ``label_ranking_average_precision_score``
OE      0 if *any* label at the highest score  1 - (relevant labels at the highest
        is relevant, else 1; empty: 1          score) / (labels at it): expected
                                               error of a random choice
RL      share of (relevant, other) pairs with  the same (as ``label_ranking_loss``)
        s_relevant <= s_other; empty: 0
CV      (rank of the lowest relevant label     (#{all, s' >= lowest relevant s} - 1)
        - 1) / L; of tied labels the *lower*   / L (as ``(coverage_error - 1) / L``)
        index ranks first; empty: -1/L
rows    AP, OE, RL leave out full label sets;  AP, OE, RL and CV leave out empty and
        CV counts every row                    full label sets: nothing can be
                                               ranked in them
NaN     ranks above every number (AP, CV); is  refused
        never the highest score (OE); is in
        no wrong pair (RL)
======  =====================================  =====================================

Under ``"paper"`` a model whose scores are all equal has OE 0 wherever a label is
relevant, so its OE must never be used to choose a model. Where there are no ties and no
empty or full rows both conventions agree. Hamming loss has no conventions: it is the
share of wrong entries.

A label that was not observed (NaN in Y) is none of the row's labels: L and m count the
others, and "empty" and "full" mean no relevant and no irrelevant label among them. A
row without an observed label counts nowhere.
"""

import numpy as np
from numpy.typing import ArrayLike

from mltsk.core.arrays import cast, is_tensor, namespace
from mltsk.exceptions import InputError
from mltsk.metrics import inputs
from mltsk.metrics.inputs import FloatArray
from mltsk.metrics.ranked_rows import ArrayOrTensor, rank_rows

#: The five metrics of the paper, in the order of `five_metrics` and of `evaluate`.
FIVE_METRICS = ("AP", "HL", "OE", "RL", "CV")
_RANKED_METRICS = ("AP", "OE", "RL", "CV")


def is_paper(convention: str) -> bool:
    """Whether a convention is the paper's; anything but the two names is refused."""
    if convention not in ("standard", "paper"):
        raise InputError(
            f'convention must be "standard" or "paper", got {convention!r}.'
        )
    return convention == "paper"


def average_precision_score(
    Y: ArrayLike,
    scores: ArrayLike,
    *,
    convention: str = "standard",
    sample_weight: ArrayLike | None = None,
) -> float:
    """How pure the ranking is down to each relevant label (AP), from 0 to 1.

    Higher is better; NaN when no row counts.

    Parameters
    ----------
    Y : (N, L) of 0, 1 and NaN (not observed), dense, sparse or data frame
    scores : (N, L), higher = more relevant
    convention : "standard" or "paper"
    sample_weight : (N,), optional

    Examples
    --------
    >>> Y, scores = [[1, 0, 1, 0]], [[0.9, 0.5, 0.5, 0.1]]
    >>> average_precision_score(Y, scores, convention="paper")
    1.0
    >>> round(average_precision_score(Y, scores), 4)
    0.8333
    """
    return _mean_over_rows("AP", Y, scores, convention, sample_weight)


def one_error(
    Y: ArrayLike,
    scores: ArrayLike,
    *,
    convention: str = "standard",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of rows whose highest score is not on a relevant label (OE), from 0 to 1.

    Lower is better. Parameters are those of `average_precision_score`. Under
    ``convention="paper"`` a row of equal scores has no error, so never choose a model
    by that.

    Examples
    --------
    >>> Y, scores = [[0, 1, 0, 1]], [[0, 0, 0, 0]]
    >>> one_error(Y, scores), one_error(Y, scores, convention="paper")
    (0.5, 0.0)
    """
    return _mean_over_rows("OE", Y, scores, convention, sample_weight)


def ranking_loss(
    Y: ArrayLike,
    scores: ArrayLike,
    *,
    convention: str = "standard",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of (relevant, irrelevant) pairs in the wrong order or tied (RL), 0 to 1.

    Lower is better. Parameters are those of `average_precision_score`.

    Examples
    --------
    >>> ranking_loss([[1, 0, 1, 0]], [[0.9, 0.5, 0.5, 0.1]])
    0.25
    """
    return _mean_over_rows("RL", Y, scores, convention, sample_weight)


def coverage_error(
    Y: ArrayLike,
    scores: ArrayLike,
    *,
    convention: str = "standard",
    normalize: bool = True,
    sample_weight: ArrayLike | None = None,
) -> float:
    """How far down the ranking one goes to meet every relevant label (CV).

    Lower is better. It is ``(sklearn.metrics.coverage_error - 1) / L``, as in the
    tables of the paper and in `evaluate`; with ``normalize=False`` it is not divided by
    the number of labels, which is the formula that the paper prints. The other
    parameters are those of `average_precision_score`.

    Examples
    --------
    >>> Y, scores = [[1, 0, 1, 0]], [[0.9, 0.5, 0.5, 0.1]]
    >>> coverage_error(Y, scores), coverage_error(Y, scores, normalize=False)
    (0.5, 2.0)
    """
    return _mean_over_rows(
        "CV", Y, scores, convention, sample_weight, normalize=normalize
    )


def five_metrics(
    Y: ArrayOrTensor,
    scores: ArrayOrTensor,
    *,
    threshold: ArrayOrTensor = 0.5,
    convention: str = "standard",
    sample_weight: ArrayOrTensor | None = None,
) -> FloatArray:
    """AP, HL, OE, RL and CV of one table of scores, or of many tables against one Y.

    Parameters
    ----------
    Y : (N, L)
    scores : (N, L) or (S, N, L)
        The metrics of a torch tensor are computed where it lies. Y (of 0 and 1 only; it
        may have a table for each of the scores') and the weights must lie there too,
        and so does the result.
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
    xp = namespace(scores)
    if is_tensor(scores):
        labels = inputs.check_tensors(Y, scores, allow_nan=paper)
        observed = xp.ones_like(labels)
        weight = 1.0 if sample_weight is None else cast(sample_weight, np.float64)
    else:
        labels, observed = inputs.check_labels(Y)
        scores = inputs.check_scores(scores, labels.shape, allow_nan=paper, batch=True)
        threshold = inputs.check_threshold(threshold, labels.shape[1])
        weight = inputs.check_weight(sample_weight, len(labels))
    ranked = rank_rows(labels, observed, scores, paper)
    ap, oe, rl, cv = ranked.values
    n_observed = cast(observed.sum(-1), np.float64)
    is_wrong = ((scores >= threshold) != labels) & observed
    hl = is_wrong.sum(-1) / xp.maximum(n_observed, 1)
    share_observed = n_observed / scores.shape[-1]  # all entries count alike
    means = [
        _weighted_mean(ap, ranked.rankable, weight),
        _weighted_mean(hl, share_observed, weight),
        _weighted_mean(oe, ranked.rankable, weight),
        _weighted_mean(rl, ranked.rankable, weight),
        _weighted_mean(cv, ranked.coverable, weight),
    ]
    return xp.stack(means, -1)


def _mean_over_rows(
    name: str,
    Y: ArrayLike,
    scores: ArrayLike,
    convention: str,
    sample_weight: ArrayLike | None,
    *,
    normalize: bool = True,
) -> float:
    """AP, OE, RL or CV, averaged over the rows that count.

    Unless ``normalize``, the values of a row are multiplied by its number of labels.
    """
    paper = is_paper(convention)
    labels, observed = inputs.check_labels(Y)
    table = inputs.check_scores(scores, labels.shape, allow_nan=paper)
    ranked = rank_rows(labels, observed, table, paper)
    weight = inputs.check_weight(sample_weight, len(labels))
    values = ranked.values[_RANKED_METRICS.index(name)]
    if not normalize:
        values = values * observed.sum(axis=1)
    counted = ranked.coverable if name == "CV" else ranked.rankable
    return float(_weighted_mean(values, counted, weight))


def _weighted_mean(
    values: ArrayOrTensor, share: ArrayOrTensor, weight: ArrayOrTensor
) -> ArrayOrTensor:
    """Mean of values (…, N) over rows, each with its share of its weight.

    It is NaN where no row with a weight has a share.
    """
    share = weight * cast(share, np.float64)
    if is_tensor(values):
        return (values * share).sum(-1) / share.sum(-1)
    total = share.sum()
    if total > 0:
        return values @ (share / total)
    return np.full(values.shape[:-1], np.nan)
