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

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from mltsk.core.arrays import cast, is_tensor, namespace
from mltsk.exceptions import InputError
from mltsk.metrics import inputs
from mltsk.metrics.inputs import BoolArray, FloatArray

ArrayOrTensor: TypeAlias = Any  # NumPy's, or torch's where it lies

#: The five metrics of the paper, in the order of `five_metrics` and of `evaluate`.
FIVE_METRICS = ("AP", "HL", "OE", "RL", "CV")
_RANKED_METRICS = ("AP", "OE", "RL", "CV")
# Scores that are sorted at a time. Arrays: 0.5 MB stays in cache, and 2000 x 159 scores
# are ranked in 1.9 ms instead of 4.5 ms in one go. Tensors: ten temporaries of 160 MB.
_ARRAY_BLOCK_SCORES = 65_536
_TENSOR_BLOCK_SCORES = 2 * 10**7


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
    ranked = _rank_rows(labels, observed, scores, paper)
    ap, oe, rl, cv = ranked.values
    n_observed = cast(observed.sum(-1), np.float64)
    is_wrong = ((scores >= threshold) != labels) & observed
    hl = is_wrong.sum(-1) / xp.maximum(n_observed, 1)
    means = [
        _weighted_mean(ap, ranked.rankable, weight),
        _weighted_mean(
            hl, n_observed / scores.shape[-1], weight
        ),  # entries count alike
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
    ranked = _rank_rows(labels, observed, table, paper)
    weight = inputs.check_weight(sample_weight, len(labels))
    values = ranked.values[_RANKED_METRICS.index(name)]
    if not normalize:
        values = values * observed.sum(axis=1)
    counted = ranked.coverable if name == "CV" else ranked.rankable
    return float(_weighted_mean(values, counted, weight))


class _RankedRows(NamedTuple):
    """The metrics of every row, and which rows count for them.

    ``values`` (4, …, N) are AP, OE, RL and CV; ``rankable`` rows (N,) count for the
    first three and ``coverable`` rows (N,) for CV.
    """

    values: ArrayOrTensor
    rankable: ArrayOrTensor
    coverable: ArrayOrTensor


def _rank_rows(
    labels: ArrayOrTensor, observed: ArrayOrTensor, scores: ArrayOrTensor, paper: bool
) -> _RankedRows:
    """The metrics of rows of which some labels may not have been observed."""
    if observed.all():
        return _rank_complete_rows(labels, scores, paper)
    ranked = _RankedRows(
        values=np.zeros((4, *scores.shape[:-1])),
        rankable=np.zeros(len(labels), dtype=bool),
        coverable=np.zeros(len(labels), dtype=bool),
    )
    n_observed = observed.sum(axis=1)
    # Rows with equally many observed labels are ranked together.
    for n in np.unique(n_observed[n_observed > 0]):
        rows = np.flatnonzero(n_observed == n)
        columns = np.nonzero(observed[rows])[1].reshape(len(rows), n)
        entries = (..., rows[:, None], columns)
        group = _rank_complete_rows(labels[entries], scores[entries], paper)
        ranked.values[..., rows] = group.values
        ranked.rankable[rows] = group.rankable
        ranked.coverable[rows] = group.coverable
    return ranked


def _rank_complete_rows(
    labels: ArrayOrTensor, scores: ArrayOrTensor, paper: bool
) -> _RankedRows:
    """The metrics of rows (…, N, L) whose labels were all observed."""
    n_labels = scores.shape[-1]
    each = namespace(scores).broadcast_to(labels, scores.shape)
    rows = scores.reshape(-1, n_labels)
    values = row_metrics(each.reshape(-1, n_labels), rows, paper)
    m = labels.sum(-1)
    rankable = m < n_labels
    coverable = m >= 0
    if not paper:
        rankable &= m > 0
        coverable = rankable
    return _RankedRows(values.reshape(4, *scores.shape[:-1]), rankable, coverable)


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


def row_metrics(Y: ArrayOrTensor, scores: ArrayOrTensor, paper: bool) -> ArrayOrTensor:
    """AP, OE, RL and CV of every row, (4, R), of labels and scores (R, L).

    Arrays, or tensors where they lie.
    """
    if is_tensor(scores):
        block_scores = _TENSOR_BLOCK_SCORES
        rank_block = _rank_tensors
    else:
        block_scores = _ARRAY_BLOCK_SCORES
        rank_block = _rank_arrays
    n_rows = max(1, block_scores // scores.shape[1])
    blocks = []
    for start in range(0, max(len(Y), 1), n_rows):
        rows = slice(start, start + n_rows)
        blocks.append(rank_block(Y[rows], scores[rows], paper))
    return namespace(scores).concatenate(blocks, -1)


def _rank_tensors(
    Y: ArrayOrTensor, scores: ArrayOrTensor, paper: bool
) -> ArrayOrTensor:
    """The metrics of a block of rows that are tensors."""
    # Adding 0.0 makes -0.0 and 0.0 a tie.
    in_order, order = (scores + 0.0).sort(dim=-1, stable=True)
    return _TiedRows(in_order, Y.gather(-1, order)).metrics(paper)


def _rank_arrays(Y: BoolArray, scores: FloatArray, paper: bool) -> FloatArray:
    """The metrics of a block of rows that are arrays.

    Why not argsort: the label fits into the score. Every score gives up its lowest
    mantissa bit to its label, the rows are sorted by value, and the bit is read back,
    in a fraction of the time. It is exact unless two scores of a row agree in all but
    that bit (ties above all) or are not finite: such rows are sorted again.
    """
    # A copy in C order, in which -0.0 becomes 0.0: they are equal but differ in bits.
    keys = np.add(scores, 0.0, order="C")
    bits = keys.view(np.int64)
    bits &= -2
    bits |= Y
    keys.sort(axis=1)
    values = _untied_metrics((bits & 1).astype(bool))
    bits |= 1
    doubtful = (bits[:, 1:] == bits[:, :-1]).any(axis=1)
    # An infinite score may have become NaN; both sort to the ends of the row.
    doubtful |= ~(np.isfinite(keys[:, 0]) & np.isfinite(keys[:, -1]))
    if doubtful.any():
        order = np.argsort(scores[doubtful], axis=1, kind="stable")
        in_order = np.take_along_axis(scores[doubtful], order, axis=1)
        labels = np.take_along_axis(Y[doubtful], order, axis=1)
        values[:, doubtful] = _TiedRows(in_order, labels).metrics(paper)
    return values


def _untied_metrics(y: BoolArray) -> FloatArray:
    """The metrics of rows without ties, from labels (R, L) in rising order of scores.

    Both conventions agree on them, and the positions of relevant labels decide.
    """
    n_rows, n_labels = y.shape
    m = np.count_nonzero(y, axis=1)
    # One entry per relevant label: its row, its rank, the relevant labels at or above
    # it.
    row = np.repeat(np.arange(n_rows), m)
    rank = n_labels - (np.flatnonzero(y) - row * n_labels)
    first = np.cumsum(m) - m
    relevant = m[row] - (np.arange(len(row)) - first[row])
    purity = np.bincount(row, weights=relevant / rank, minlength=n_rows)
    n_wrong = np.bincount(row, weights=rank - relevant, minlength=n_rows)
    precision = purity / np.maximum(m, 1)
    loss = n_wrong / np.maximum(m * (n_labels - m), 1)
    depth = np.where(m > 0, n_labels - 1 - y.argmax(axis=1), -1)
    return np.stack([precision, ~y[:, -1], loss, depth / n_labels])


class _TiedRows:
    """Rows of labels in rising order of their scores, NaN last, that may hold ties.

    Everything is NumPy's or torch's, whichever made the rows. Positions count from 0; a
    tie is a run of equal scores, and NaN is equal to NaN.

    Parameters
    ----------
    scores, labels : (R, L)

    Attributes
    ----------
    y : (R, L), 1.0 where a label is relevant
    m : (R,), relevant labels of a row
    is_number : (R, L), whether the score is not NaN
    start : (R, L), the position at which the tie of a label begins
    before : (R, L), relevant labels at lower positions
    before_tie : (R, L), relevant labels at lower positions than the tie
    """

    def __init__(self, scores: ArrayOrTensor, labels: ArrayOrTensor) -> None:
        xp = namespace(scores)
        self.xp = xp
        self.n_labels = scores.shape[1]
        self.position = xp.arange(self.n_labels, like=scores)
        self.is_number = scores == scores
        self.y = cast(labels, np.float64)
        self.m = self.y.sum(-1)
        is_nan = ~self.is_number
        tied = xp.zeros_like(labels)  # with the label before
        tied[:, 1:] = scores[:, 1:] == scores[:, :-1]
        tied[:, 1:] |= is_nan[:, 1:] & is_nan[:, :-1]
        self.start = _running_maximum(xp.where(tied, 0, self.position))
        self.before = xp.cumsum(self.y, -1) - self.y
        self.before_tie = _take(self.before, self.start)

    def metrics(self, paper: bool) -> ArrayOrTensor:
        """AP, OE, RL and CV of every row, (4, R)."""
        return self.xp.stack(
            (
                self.average_precision(paper),
                self.one_error(paper),
                self.ranking_loss(),
                self.coverage(paper),
            )
        )

    def average_precision(self, paper: bool) -> ArrayOrTensor:
        """AP of every row, (R,)."""
        first = self.position if paper else self.start
        missed = self.before if paper else self.before_tie
        purity = self.y * (self.m[:, None] - missed) / (self.n_labels - first)
        # Added up one by one, as for rows without ties: then not even the last bit
        # depends on which of the two ways a row takes.
        total = self.xp.cumsum(purity, -1)[:, -1]
        return total / self.xp.maximum(self.m, 1)

    def one_error(self, paper: bool) -> ArrayOrTensor:
        """OE of every row, (R,)."""
        last_number = self.xp.maximum(self.is_number.sum(-1)[:, None] - 1, 0)
        at_top = self.is_number & (self.start == _take(self.start, last_number))
        hits = (self.y * at_top).sum(-1)
        if paper:
            return cast(hits == 0, np.float64)
        return 1.0 - hits / at_top.sum(-1)

    def ranking_loss(self) -> ArrayOrTensor:
        """RL of every row, (R,)."""
        relevant = self.y * self.is_number
        relevant_above = relevant.sum(-1)[:, None] - self.before_tie
        n_numbers = self.is_number.sum(-1)[:, None]
        others_above = n_numbers - self.start - relevant_above
        n_pairs = self.xp.maximum(self.m * (self.n_labels - self.m), 1)
        return (relevant * others_above).sum(-1) / n_pairs

    def coverage(self, paper: bool) -> ArrayOrTensor:
        """CV of every row, (R,)."""
        lowest = _take(self.start, self.y.argmax(-1)[:, None])
        in_lowest_tie = self.start == lowest
        depth = self.n_labels - 1 - lowest[:, 0]
        if paper:
            # Within a tie the lower index ranks first: the last relevant one decides.
            last = self.xp.amax(self.y * in_lowest_tie * self.position, -1)
            depth = depth + last - (lowest[:, 0] + in_lowest_tie.sum(-1) - 1)
        depth = self.xp.where(self.m > 0, cast(depth, np.float64), -1.0)
        return depth / self.n_labels


def _running_maximum(table: ArrayOrTensor) -> ArrayOrTensor:
    """The largest value of each row so far, from left to right."""
    if is_tensor(table):
        return table.cummax(-1)[0]
    return np.maximum.accumulate(table, axis=-1)


def _take(table: ArrayOrTensor, columns: ArrayOrTensor) -> ArrayOrTensor:
    """The entries of each row in these columns."""
    if is_tensor(table):
        return table.gather(-1, columns)
    return np.take_along_axis(table, columns, axis=-1)
