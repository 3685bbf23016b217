"""Whether there are enough rows: the learning curve, and published rules of thumb."""

from typing import NamedTuple

import numpy as np

from ..columns import Columns
from ..core.arrays import FloatArray, mean_of_known
from ..explain.wording import name
from ..metrics import required_rows
from ..metrics.curves import ranking
from . import svg
from .judged import JudgedLabel
from .packing import PageData
from .sections import Review, Section

LEARNED_SHARES = (0.1, 0.2, 0.4, 0.8)
# How often folds are drawn: the gain of one draw moves by .011 on pbc, .002 on nhefs.
LEARNING_DRAWS = 8
LEARNING_DRAWS_OF_MANY_CELLS = 3
MANY_CELLS = 50_000
MIN_LEARNING_ROWS = 40
# A doubling of the rows that raises the mean AP by less is called hardly any help.
HARDLY_ANY_GAIN = 0.01
MIN_CASES_PER_PARAMETER = 10  # Peduzzi and others, 1996


class LearningCurve(NamedTuple):
    """Mean AP and AUC over labels of models that learned from so many rows.

    ``error`` is the standard error, over draws of folds, of what the last doubling
    gave.
    """

    sizes: list[int]
    AP: list[float]
    AUC: list[float]
    error: float


def enough_section(review: Review) -> Section | None:
    """Would more rows help, and how many does a rule of thumb ask for?"""
    if review.is_finished:
        return None
    curve = learning_curve(review)
    needs = _needed_rows(review)
    if curve is None and not needs:
        return None
    table = review.training or review.table
    facts: PageData = {
        "needs": needs,
        "n_parameters": n_parameters(review),
        "group": name(table.group_name),
    }
    facts["sentence"] = "" if curve is None else curve_in_words(curve)
    facts["picture"] = ""
    if curve is not None:
        lines = {"AP": np.array(curve.AP), "AUC": np.array(curve.AUC)}
        facts["picture"] = svg.learning("What more rows gave", curve.sizes, lines)
    return Section(
        key="enough",
        title="Are there enough rows?",
        bar_title="Enough rows?",
        template="review/enough.html",
        facts=facts,
    )


# the learning curve -------------------------------------------------------------------


def learning_curve(review: Review) -> LearningCurve | None:
    """Mean AP and AUC by folds of the whole model, learned from parts of the rows.

    None where there are too few rows, or no label is better than guessing.
    """
    record = review.whole.fit_record_
    known = [j for j, y in enumerate(review.own_labels) if y.is_better_than_guessing]
    if record is None or len(record.training) < MIN_LEARNING_ROWS or not known:
        return None
    is_large = record.training.Y.size > MANY_CELLS
    n_draws = LEARNING_DRAWS_OF_MANY_CELLS if is_large else LEARNING_DRAWS
    learned = record.learning_scores(LEARNED_SHARES, n_draws, review.seed)
    if learned is None:
        return None
    Y, scores = learned
    figures = np.zeros((len(LEARNED_SHARES), n_draws, 2))
    for place in np.ndindex(figures.shape[:2]):
        figures[place] = _mean_figures(Y[:, known], scores[place][:, known])
    means = figures.mean(axis=1)
    if np.isnan(means).any():
        return None
    gains = figures[-1, :, 0] - figures[-2, :, 0]
    return LearningCurve(
        sizes=[round(share * len(Y)) for share in LEARNED_SHARES],
        AP=means[:, 0].tolist(),
        AUC=means[:, 1].tolist(),
        error=float(gains.std(ddof=1) / n_draws**0.5),
    )


def _mean_figures(Y: FloatArray, scores: FloatArray) -> tuple[float, float]:
    """Mean AP and AUC over labels."""
    figures = []
    for y, s in zip(Y.T, scores.T, strict=True):
        rows = ~np.isnan(y)
        AP, AUC = ranking(y[rows] > 0, s[rows])
        figures.append([AP[0], AUC[0]])
    AP, AUC = mean_of_known(np.array(figures), axis=0)
    return float(AP), float(AUC)


def curve_in_words(curve: LearningCurve) -> str:
    """What the last doubling of the rows gave, and what the next one may give."""
    half, whole = curve.AP[-2:]
    start = (
        f"Learning from {curve.sizes[-1]:,} rows instead of {curve.sizes[-2]:,} moved "
        f"the mean AP from {half:.2f} to {whole:.2f}"
    )
    if whole - half < HARDLY_ANY_GAIN:
        return (
            f"{start}: more rows of the same kind would hardly help; other columns may."
        )
    if whole - half < 2 * curve.error:
        return f"{start}, which may be chance: more rows may help, or not."
    return (
        f"{start}: more rows would still help. As many again may give about as much, "
        "or less."
    )


# rules of thumb -----------------------------------------------------------------------


def n_parameters(review: Review) -> int:
    """Numbers of a plain linear model of the features: one, or values less one."""
    columns = review.whole.system_.columns
    if columns is None:
        return len(review.table.feature_names)
    return sum(_n_numbers(columns, d) for d in range(len(columns.kinds)))


def _n_numbers(columns: Columns, d: int) -> int:
    """How many numbers a plain linear model has for a feature."""
    if columns.kinds[d] != "nominal":
        return 1
    n_values = len(columns.values[d]) + bool(columns.rare[d])
    return max(n_values - 1, 1)


def _needed_rows(review: Review) -> list[PageData]:
    """What rules of thumb ask of each label, next to what there is."""
    count = n_parameters(review)
    labels = [review.own_labels[j] for j in review.shown]
    return [_needs_of(label, count) for label in labels if label.is_known]


def _needs_of(label: JudgedLabel, count: int) -> PageData:
    """Cases per number of the model, and rows by Riley's criteria, for one label."""
    rarer, rows = _independent_counts(label)
    per_parameter = rarer / count
    needed = required_rows(label.rate, count)
    words = "enough by both"
    few_cases = per_parameter < MIN_CASES_PER_PARAMETER
    few_rows = rows < needed.rows
    if few_cases and few_rows:
        words = "too few by both"
    elif few_cases:
        words = "too few cases per number"
    elif few_rows:
        words = f"{needed.rows - rows:,} too few"
    return {
        "name": label.name,
        "cases": rarer,
        "per_parameter": per_parameter,
        "rows": rows,
        "needed": needed.rows,
        "words": words,
    }


def _independent_counts(label: JudgedLabel) -> tuple[int, int]:
    """Cases, or others if these are fewer, and rows; each group of rows counts once."""
    if label.groups is None:
        return label.rarer, label.observed
    with_it = len(np.unique(label.groups[label.y]))
    without_it = len(np.unique(label.groups[~label.y]))
    return min(with_it, without_it), len(np.unique(label.groups))
