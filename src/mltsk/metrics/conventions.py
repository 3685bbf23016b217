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
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mltsk.exceptions import InputError
from mltsk.metrics.inputs import BoolArray, FloatArray
from mltsk.metrics.ranked import IntArray, RankedRows

RowMetric = Callable[[RankedRows], FloatArray]
RowFilter = Callable[[IntArray, int], BoolArray]


@dataclass(frozen=True)
class Convention:
    """Row values of the four ranking metrics, and which rows count, as functions of (m, L)."""

    name: str
    average_precision: RowMetric
    one_error: RowMetric
    ranking_loss: RowMetric
    coverage: RowMetric
    ranking_rows: RowFilter
    coverage_rows: RowFilter
    allow_nan: bool


def paper_average_precision(ranked: RankedRows) -> FloatArray:
    """AP of each row; of tied labels the higher index ranks first; empty rows give 0."""
    relevant_above = ranked.n_relevant[ranked.row] - ranked.order
    total = ranked.row_sums(relevant_above / (ranked.n_labels - ranked.position))
    return total / np.maximum(ranked.n_relevant, 1)


def paper_one_error(ranked: RankedRows) -> FloatArray:
    """OE of each row; one relevant label among those tied at the top is enough; empty rows give 1."""
    at_top = ranked.is_number() & (ranked.tie_end == ranked.top_end[ranked.row])
    return (ranked.row_sums(at_top) == 0).astype(np.float64)


def ranking_loss_rows(ranked: RankedRows) -> FloatArray:
    """RL of each row, ties counted as wrong; pairs with NaN are not; empty and full rows give 0."""
    number = ranked.is_number()
    relevant = ranked.row_sums(number)[ranked.row]
    others = (ranked.top_end[ranked.row] - ranked.tie_start) - (relevant - ranked.tie_order)
    pairs = ranked.n_relevant * (ranked.n_labels - ranked.n_relevant)
    return ranked.row_sums(others * number) / np.maximum(pairs, 1)


def paper_coverage(ranked: RankedRows) -> FloatArray:
    """CV of each row; of tied labels the lower index ranks first; empty rows give -1/L."""
    lowest = _lowest_entry(ranked)
    in_lowest = ranked.row_sums(ranked.tie_order == 0).astype(np.int64)
    last = ranked.position[np.maximum(lowest + in_lowest - 1, 0)] if len(ranked.position) else lowest
    depth = ranked.n_labels - _at(ranked.tie_end, lowest) + last - _at(ranked.tie_start, lowest)
    return np.where(ranked.n_relevant > 0, depth, -1) / ranked.n_labels


def standard_average_precision(ranked: RankedRows) -> FloatArray:
    """AP of each row; every label of a tie takes the worst rank in it; empty rows give 0."""
    relevant_above = ranked.n_relevant[ranked.row] - ranked.tie_order
    total = ranked.row_sums(relevant_above / (ranked.n_labels - ranked.tie_start))
    return total / np.maximum(ranked.n_relevant, 1)


def standard_one_error(ranked: RankedRows) -> FloatArray:
    """Expected OE of each row when the label is drawn from those tied at the top."""
    at_top = ranked.row_sums(ranked.position >= ranked.top_start[ranked.row])
    return 1.0 - at_top / (ranked.n_labels - ranked.top_start)


def standard_coverage(ranked: RankedRows) -> FloatArray:
    """CV of each row: labels that score at least the lowest relevant one, less 1, over L; empty rows -1/L."""
    depth = ranked.n_labels - _at(ranked.tie_start, _lowest_entry(ranked)) - 1
    return np.where(ranked.n_relevant > 0, depth, -1) / ranked.n_labels


def get_convention(name: str) -> Convention:
    """Convention called `name`: ``"paper"`` or ``"standard"``."""
    try:
        return CONVENTIONS[name]
    except (KeyError, TypeError):
        raise InputError(f'convention must be "paper" or "standard", got {name!r}.') from None


def _lowest_entry(ranked: RankedRows) -> IntArray:
    """Index of the lowest relevant entry of each row; rows without one get some valid index."""
    return np.minimum(ranked.offset, max(len(ranked.position) - 1, 0))


def _at(values: IntArray, index: IntArray) -> IntArray:
    return values[index] if len(values) else np.zeros_like(index)


def _not_full(m: IntArray, n_labels: int) -> BoolArray:
    return m < n_labels


def _neither_empty_nor_full(m: IntArray, n_labels: int) -> BoolArray:
    return (m > 0) & (m < n_labels)


def _every(m: IntArray, n_labels: int) -> BoolArray:
    return np.ones(len(m), dtype=bool)


CONVENTIONS = {
    "paper": Convention(
        name="paper",
        average_precision=paper_average_precision,
        one_error=paper_one_error,
        ranking_loss=ranking_loss_rows,
        coverage=paper_coverage,
        ranking_rows=_not_full,
        coverage_rows=_every,
        allow_nan=True,
    ),
    "standard": Convention(
        name="standard",
        average_precision=standard_average_precision,
        one_error=standard_one_error,
        ranking_loss=ranking_loss_rows,
        coverage=standard_coverage,
        ranking_rows=_neither_empty_nor_full,
        coverage_rows=_neither_empty_nor_full,
        allow_nan=False,
    ),
}
