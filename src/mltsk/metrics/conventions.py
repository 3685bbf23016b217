"""Two conventions for the ranking metrics: what they do with ties, and with empty and full label sets.

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
NaN       ranks above every number (AP, CV); is never    refused by the callers of this module
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

from mltsk.core.backend import cast, is_tensor, namespace
from mltsk.exceptions import InputError
from mltsk.metrics.inputs import BoolArray, FloatArray

# Scores sorted at a time. Arrays: 0.5 MB stays in cache, 2000 x 159 scores are ranked in 1.9 ms, in one go in 4.5 ms;
# tensors: ten temporaries of 160 MB.
_ARRAY_BLOCK, _TENSOR_BLOCK = 65_536, 2 * 10**7


def is_paper(convention: str) -> bool:
    """Whether a convention is the paper's; what is none of the two is refused."""
    if convention not in ("standard", "paper"):
        raise InputError(f'convention must be "standard" or "paper", got {convention!r}.')
    return convention == "paper"


def row_metrics(Y: Any, scores: Any, paper: bool, block: int | None = None) -> Any:
    """AP, OE, RL and CV of every row, (4, R), of labels and scores (R, L): arrays, or tensors where they lie."""
    block = block or (_TENSOR_BLOCK if is_tensor(scores) else _ARRAY_BLOCK)
    step, of_block = max(1, block // scores.shape[1]), _of_tensors if is_tensor(scores) else _of_arrays
    found = [of_block(Y[i : i + step], scores[i : i + step], paper) for i in range(0, max(len(Y), 1), step)]
    return namespace(scores).concatenate(found, -1)


def _of_arrays(Y: BoolArray, scores: FloatArray, paper: bool) -> FloatArray:
    labels, doubtful = _sort_with_label_bit(Y, scores)
    values = _without_ties(labels)
    if doubtful.any():
        order = np.argsort(scores[doubtful], axis=1, kind="stable")
        sorted_, y = (np.take_along_axis(table[doubtful], order, axis=1) for table in (scores, Y))
        values[:, doubtful] = _with_ties(sorted_, y, paper)
    return values


def _of_tensors(Y: Any, scores: Any, paper: bool) -> Any:
    values, order = (scores + 0.0).sort(dim=-1, stable=True)  # + 0.0: -0.0 and 0.0 are a tie
    return _with_ties(values, Y.gather(-1, order), paper)


def _sort_with_label_bit(Y: BoolArray, scores: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Labels (R, L) in the order of rising scores, and the rows (R,) where that order is in doubt.

    Why not argsort: the label fits into the score. Every score gives up its lowest mantissa bit to its label, the
    rows are sorted by value, and the bit is read back, in a fraction of the time. It is exact unless two scores of a
    row agree in all but that bit (ties above all) or are not finite.
    """
    # a copy in C order, in which -0.0 becomes 0.0: they are equal but differ in bits
    keys = np.add(scores, 0.0, order="C")
    bits = keys.view(np.int64)
    bits &= -2
    bits |= Y
    keys.sort(axis=1)
    labels = (bits & 1).astype(bool)
    bits |= 1
    doubtful = (bits[:, 1:] == bits[:, :-1]).any(axis=1)
    # an infinite score may have become NaN; both sort to the ends of the row
    doubtful |= ~(np.isfinite(keys[:, 0]) & np.isfinite(keys[:, -1]))
    return labels, doubtful


def _without_ties(y: BoolArray) -> FloatArray:
    """The metrics of rows whose scores all differ, from labels in rising order: the same in both conventions.

    They depend on a row only through the positions of its relevant labels, so only those are looked at.
    """
    n_rows, n_labels = y.shape
    m = np.count_nonzero(y, axis=1)
    row = np.repeat(np.arange(n_rows), m)
    rank = n_labels - (np.flatnonzero(y) - row * n_labels)
    relevant = m[row] - (np.arange(len(row)) - (np.cumsum(m) - m)[row])  # at or above
    precision = np.bincount(row, weights=relevant / rank, minlength=n_rows) / np.maximum(m, 1)
    wrong = np.bincount(row, weights=rank - relevant, minlength=n_rows) / np.maximum(m * (n_labels - m), 1)
    depth = np.where(m > 0, n_labels - 1 - y.argmax(axis=1), -1)
    return np.stack([precision, ~y[:, -1], wrong, depth / n_labels])


def _with_ties(values: Any, labels: Any, paper: bool) -> Any:
    """The metrics of rows (R, L) in rising order of scores, NaN last; NumPy or torch, whichever made the rows.

    Positions count from 0, and a tie is a group of equal neighbours: ``start`` is the first position of the tie,
    ``before`` counts the relevant labels at lower positions, ``number`` is true where the score is none of NaN.
    """
    xp, nan, y, n_labels = namespace(values), values != values, cast(labels, np.float64), values.shape[1]
    tied = xp.zeros_like(labels)
    tied[:, 1:] = (values[:, 1:] == values[:, :-1]) | (nan[:, 1:] & nan[:, :-1])
    opens = xp.where(tied, 0, xp.arange(n_labels, like=values))
    start = opens.cummax(-1)[0] if is_tensor(opens) else np.maximum.accumulate(opens, axis=-1)
    number, m, before, position = ~nan, y.sum(-1), xp.cumsum(y, -1) - y, xp.arange(n_labels, like=y)
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

    lowest = _at(start, y.argmax(-1)[:, None])  # where the tie of the lowest relevant label starts
    group = start == lowest
    last = xp.amax(y * group * position, -1)
    worst = lowest[:, 0] + group.sum(-1) - 1
    depth = n_labels - 1 - worst + (last if paper else worst) - lowest[:, 0]
    coverage = xp.where(m > 0, cast(depth, np.float64), -1.0) / n_labels
    return xp.stack((precision, error, wrong, coverage))


def _at(table: Any, index: Any) -> Any:
    return table.gather(-1, index) if is_tensor(table) else np.take_along_axis(table, index, axis=-1)
