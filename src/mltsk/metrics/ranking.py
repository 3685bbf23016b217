"""Ranking metrics of label scores: average precision, one-error, ranking loss, coverage; the paper's five.

`five_metrics` sorts the scores once for all metrics, of one table or many. A metric that no row counts for is NaN.
There are two conventions for what happens to ties, to empty and full label sets and to NaN.

Symbols for one row: L labels, Y its set of m relevant ones, s their scores; "rank" 1 is the highest score.

========  =============================================  ====================================================
metric    ``"paper"``: the program behind the paper      ``"standard"``: for comparing models
========  =============================================  ====================================================
AP        mean over l in Y of (relevant labels at or     the same with ties counted against the model:
          above l) / rank(l); of tied labels the         mean of #{relevant, s' >= s} / #{all, s' >= s}
          higher index ranks first; empty: 0             (as ``label_ranking_average_precision_score``)
OE        0 if *any* label at the highest score is       1 - (relevant labels at the highest score) /
          relevant, else 1; empty: 1                     (labels at it): expected error of a random choice
RL        share of (relevant, other) pairs with          the same (as ``label_ranking_loss``)
          s_relevant <= s_other; empty: 0
CV        (rank of the lowest relevant label - 1) / L;   (#{all, s' >= lowest relevant s} - 1) / L
          of tied labels the *lower* index ranks         (as ``(coverage_error - 1) / L``)
          first; empty: -1/L
rows      AP, OE, RL leave out full label sets;          AP, OE, RL and CV leave out empty and full label
counted   CV counts every row                            sets: nothing can be ranked in them
NaN       ranks above every number (AP, CV); is never    refused
          the highest score (OE); is in no wrong
          pair (RL)
========  =============================================  ====================================================

Under ``"paper"`` a model whose scores are all equal has OE 0 wherever a label is relevant, so its OE must
never be used to choose a model. Where there are no ties and no empty or full rows both conventions agree.
Hamming loss has no conventions: it is the share of wrong entries.

A label that was not observed (NaN in Y) is none of the row's labels: L and m count the others, and "empty" and "full"
mean no relevant and no irrelevant label among them. A row without an observed label counts nowhere.
"""

from typing import Any

import numpy as np

from mltsk.core.arrays import cast, is_tensor, namespace
from mltsk.exceptions import InputError
from mltsk.metrics import inputs
from mltsk.metrics.inputs import BoolArray, FloatArray

#: The five metrics of the paper, in the order of `five_metrics` and of `evaluate`.
FIVE_METRICS = ("AP", "HL", "OE", "RL", "CV")
# Scores sorted at a time. Arrays: 0.5 MB stays in cache, 2000 x 159 scores are ranked in 1.9 ms, in one go in 4.5 ms;
# tensors: ten temporaries of 160 MB.
_ARRAY_BLOCK, _TENSOR_BLOCK = 65_536, 2 * 10**7


def is_paper(convention: str) -> bool:
    """Whether a convention is the paper's; what is none of the two is refused."""
    if convention not in ("standard", "paper"):
        raise InputError(
            f'convention must be "standard" or "paper", got {convention!r}.'
        )
    return convention == "paper"


def average_precision_score(
    Y: Any, scores: Any, *, convention: str = "standard", sample_weight: Any = None
) -> float:
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


def one_error(
    Y: Any, scores: Any, *, convention: str = "standard", sample_weight: Any = None
) -> float:
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


def ranking_loss(
    Y: Any, scores: Any, *, convention: str = "standard", sample_weight: Any = None
) -> float:
    """Share of (relevant, irrelevant) pairs in the wrong order or tied (RL), in [0, 1], lower is better.

    Parameters are those of `average_precision_score`.

    Examples
    --------
    >>> ranking_loss([[1, 0, 1, 0]], [[0.9, 0.5, 0.5, 0.1]])
    0.25
    """
    return _ranking_metric(2, Y, scores, convention, sample_weight)


def coverage_error(
    Y: Any,
    scores: Any,
    *,
    convention: str = "standard",
    normalize: bool = True,
    sample_weight: Any = None,
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
    Y: Any,
    scores: Any,
    *,
    threshold: Any = 0.5,
    convention: str = "standard",
    sample_weight: Any = None,
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
        labels, observed = inputs.check_labels(Y)
        table = inputs.check_scores(scores, labels.shape, allow_nan=paper, batch=True)
        cut = inputs.check_threshold(threshold, labels.shape[1])
        weight = inputs.check_weight(sample_weight, len(labels))
    (ap, oe, rl, cv), rankable, coverable = _ranked_rows(labels, observed, table, paper)
    n_observed = cast(observed.sum(-1), np.float64)
    wrong = (((table >= cut) != labels) & observed).sum(-1) / namespace(table).maximum(
        n_observed, 1
    )
    shares = (
        rankable,
        n_observed / table.shape[-1],
        rankable,
        rankable,
        coverable,
    )  # every observed entry alike
    columns = zip((ap, wrong, oe, rl, cv), shares, strict=True)
    return namespace(table).stack(
        [_weighted_mean(values, share, weight) for values, share in columns], -1
    )


def _ranking_metric(
    which: int,
    Y: Any,
    scores: Any,
    convention: str,
    sample_weight: Any,
    share: bool = True,
) -> float:
    paper, (labels, observed) = is_paper(convention), inputs.check_labels(Y)
    table = inputs.check_scores(scores, labels.shape, allow_nan=paper)
    values, rankable, coverable = _ranked_rows(labels, observed, table, paper)
    value = values[which] if share else values[which] * observed.sum(axis=1)
    weight = inputs.check_weight(sample_weight, len(labels))
    return float(_weighted_mean(value, coverable if which == 3 else rankable, weight))


def _ranked_rows(
    labels: Any, observed: Any, scores: Any, paper: bool
) -> tuple[Any, Any, Any]:
    """AP, OE, RL and CV (4, …, N) of every row, and the rows that count for the first three and for CV."""
    if observed.all():
        n_labels, m = scores.shape[-1], labels.sum(-1)
        each = namespace(scores).broadcast_to(labels, scores.shape)
        values = row_metrics(
            each.reshape(-1, n_labels), scores.reshape(-1, n_labels), paper
        )
        rankable = (m < n_labels) if paper else (m > 0) & (m < n_labels)
        return (
            values.reshape(4, *scores.shape[:-1]),
            rankable,
            (m >= 0) if paper else rankable,
        )
    values, counted = (
        np.zeros((4, *scores.shape[:-1])),
        np.zeros((2, len(labels)), dtype=bool),
    )
    n_observed = observed.sum(axis=1)
    for n in np.unique(
        n_observed[n_observed > 0]
    ):  # rows with equally many observed labels are ranked together
        rows = np.flatnonzero(n_observed == n)
        entries = rows[:, None], np.nonzero(observed[rows])[1].reshape(len(rows), n)
        found = _ranked_rows(
            labels[entries], observed[entries], scores[..., *entries], paper
        )
        values[..., rows], counted[:, rows] = found[0], found[1:]
    return values, counted[0], counted[1]


def _weighted_mean(values: Any, share: Any, weight: Any) -> Any:
    """Mean of values (…, N) over rows, each with its share of its weight; NaN where no row with weight has a share."""
    share = weight * cast(share, np.float64)
    if is_tensor(values):
        return (values * share).sum(-1) / share.sum(-1)
    total = share.sum()
    return values @ (share / total) if total > 0 else np.full(values.shape[:-1], np.nan)


def row_metrics(Y: Any, scores: Any, paper: bool) -> Any:
    """AP, OE, RL and CV of every row, (4, R), of labels and scores (R, L): arrays, or tensors where they lie."""
    step = max(
        1, (_TENSOR_BLOCK if is_tensor(scores) else _ARRAY_BLOCK) // scores.shape[1]
    )
    found = [
        _of_block(Y[i : i + step], scores[i : i + step], paper)
        for i in range(0, max(len(Y), 1), step)
    ]
    return namespace(scores).concatenate(found, -1)


def _of_block(Y: Any, scores: Any, paper: bool) -> Any:
    """The metrics of a few rows.

    Why not argsort, for arrays: the label fits into the score. Every score gives up its lowest mantissa bit to its
    label, the rows are sorted by value, and the bit is read back, in a fraction of the time. It is exact unless two
    scores of a row agree in all but that bit (ties above all) or are not finite: such rows are sorted again.
    """
    if is_tensor(scores):
        tensor, order = (scores + 0.0).sort(
            dim=-1, stable=True
        )  # + 0.0: -0.0 and 0.0 are a tie
        return _with_ties(tensor, Y.gather(-1, order), paper)
    # a copy in C order, in which -0.0 becomes 0.0: they are equal but differ in bits
    keys = np.add(scores, 0.0, order="C")
    bits = keys.view(np.int64)
    bits &= -2
    bits |= Y
    keys.sort(axis=1)
    values = _without_ties((bits & 1).astype(bool))
    bits |= 1
    doubtful = (bits[:, 1:] == bits[:, :-1]).any(axis=1)
    # an infinite score may have become NaN; both sort to the ends of the row
    doubtful |= ~(np.isfinite(keys[:, 0]) & np.isfinite(keys[:, -1]))
    if doubtful.any():
        order = np.argsort(scores[doubtful], axis=1, kind="stable")
        sorted_, y = (
            np.take_along_axis(table[doubtful], order, axis=1) for table in (scores, Y)
        )
        values[:, doubtful] = _with_ties(sorted_, y, paper)
    return values


def _without_ties(y: BoolArray) -> FloatArray:
    """The metrics of rows without ties, in any convention, from labels in rising order; the relevant ones decide."""
    n_rows, n_labels = y.shape
    m = np.count_nonzero(y, axis=1)
    row = np.repeat(np.arange(n_rows), m)
    rank = n_labels - (np.flatnonzero(y) - row * n_labels)
    relevant = m[row] - (np.arange(len(row)) - (np.cumsum(m) - m)[row])  # at or above
    precision = np.bincount(
        row, weights=relevant / rank, minlength=n_rows
    ) / np.maximum(m, 1)
    wrong = np.bincount(row, weights=rank - relevant, minlength=n_rows) / np.maximum(
        m * (n_labels - m), 1
    )
    depth = np.where(m > 0, n_labels - 1 - y.argmax(axis=1), -1)
    return np.stack([precision, ~y[:, -1], wrong, depth / n_labels])


def _with_ties(values: Any, labels: Any, paper: bool) -> Any:
    """The metrics of rows (R, L) in rising order of scores, NaN last; NumPy or torch, whichever made the rows.

    Positions count from 0, and a tie is a group of equal neighbours: ``start`` is the first position of the tie,
    ``before`` counts the relevant labels at lower positions, ``number`` is true where the score is none of NaN.
    """
    xp, nan, y, n_labels = (
        namespace(values),
        values != values,
        cast(labels, np.float64),
        values.shape[1],
    )
    tied = xp.zeros_like(labels)
    tied[:, 1:] = (values[:, 1:] == values[:, :-1]) | (nan[:, 1:] & nan[:, :-1])
    opens = xp.where(tied, 0, xp.arange(n_labels, like=values))
    start = (
        opens.cummax(-1)[0]
        if is_tensor(opens)
        else np.maximum.accumulate(opens, axis=-1)
    )
    number, m, before, position = (
        ~nan,
        y.sum(-1),
        xp.cumsum(y, -1) - y,
        xp.arange(n_labels, like=y),
    )
    before_tie = _at(before, start)

    first, missed = (position, before) if paper else (start, before_tie)
    # added up one by one, as for rows without ties: then not even the last bit depends on who counts
    total = xp.cumsum(y * (m[:, None] - missed) / (n_labels - first), -1)[:, -1]
    precision = total / xp.maximum(m, 1)

    highest = _at(start, xp.maximum(number.sum(-1)[:, None] - 1, 0))
    at_top = number & (start == highest)
    hits = (y * at_top).sum(-1)
    error = cast(hits == 0, np.float64) if paper else 1.0 - hits / at_top.sum(-1)

    relevant = y * number
    relevant_above = relevant.sum(-1)[:, None] - before_tie
    others_above = number.sum(-1)[:, None] - start - relevant_above
    wrong = (relevant * others_above).sum(-1) / xp.maximum(m * (n_labels - m), 1)

    lowest = _at(
        start, y.argmax(-1)[:, None]
    )  # where the tie of the lowest relevant label starts
    group = start == lowest
    last = xp.amax(y * group * position, -1)
    worst = lowest[:, 0] + group.sum(-1) - 1
    depth = n_labels - 1 - worst + (last if paper else worst) - lowest[:, 0]
    coverage = xp.where(m > 0, cast(depth, np.float64), -1.0) / n_labels
    return xp.stack((precision, error, wrong, coverage))


def _at(table: Any, index: Any) -> Any:
    return (
        table.gather(-1, index)
        if is_tensor(table)
        else np.take_along_axis(table, index, axis=-1)
    )
