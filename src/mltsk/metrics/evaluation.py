"""`evaluate`: all metrics of label scores at once, overall and per label."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mltsk.exceptions import DegenerateScoresWarning
from mltsk.frames import is_polars
from mltsk.metrics import inputs
from mltsk.metrics.curves import weighted_ranking
from mltsk.metrics.inputs import BoolArray, FloatArray
from mltsk.metrics.label_sets import (
    example_f1_score,
    hamming_loss,
    macro_f1_score,
    mean_or_nan,
    micro_f1_score,
    subset_accuracy_score,
)
from mltsk.metrics.ranking import FIVE_METRICS, five_metrics, is_paper

if TYPE_CHECKING:
    from pandas import DataFrame  # slower to import than this package

    from mltsk.metrics.label_table import LabelTable

MAX_TIED_SHARE = 0.5  # of the rows, before a warning says that nothing is ranked
_MEANINGS = {
    "AP": ("higher", "average precision of the ranking of labels"),
    "HL": ("lower", "Hamming loss: wrong decisions"),
    "OE": ("lower", "one-error: the label ranked first is wrong"),
    "RL": ("lower", "ranking loss: pairs of labels in the wrong order"),
    "CV": ("lower", "coverage: depth of the last true label"),
    "micro_F1": ("higher", "F1 over all decisions"),
    "macro_F1": ("higher", "mean F1 of the labels"),
    "example_F1": ("higher", "mean F1 of the samples"),
    "subset_accuracy": ("higher", "samples with exactly the right labels"),
    "tied_rows": ("lower", "samples whose scores are all equal"),
}
_MEANINGS_OF_ONE_LABEL = {
    "observed": ("", "samples in which the label was observed"),
    "prevalence": ("", "samples that have it"),
    "AP": ("higher", "average precision of the ranking of samples"),
    "AUC": ("higher", "area under the ROC curve"),
    "sensitivity": ("higher", "cases that are predicted"),
    "precision": ("higher", "predictions that are right"),
    "Brier": ("lower", "mean squared error of probabilities"),
}


def evaluate(
    Y: ArrayLike,
    scores: ArrayLike,
    *,
    convention: str = "standard",
    threshold: ArrayLike = 0.5,
    predictions: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    per_label: bool = False,
) -> "Evaluation | DataFrame":
    """Evaluate label scores: the paper's five metrics, the usual F1s, and ties.

    Parameters
    ----------
    Y : (N, L) of 0 and 1, dense, sparse or data frame
        True labels. NaN is a label that was not observed: it is left out of every
        metric.
    scores : (N, L)
        Higher = more relevant. NaN is allowed under ``convention="paper"`` only.
    convention : {"standard", "paper"}
        What to do with ties, with empty and full label sets and with NaN:
        `mltsk.metrics.ranking`. The metrics per label have only one convention.
    threshold : float or (L,), default 0.5
        A label is predicted where score >= threshold: 0.5 of probabilities, 0 of
        log-odds and of the scores of a `decision_function`.
    predictions : (N, L) of 0 and 1, optional
        Predicted labels; they take the place of the threshold.
    sample_weight : (N,), optional
    per_label : bool, default False
        Short for ``evaluate(…).per_label``: the table of labels alone.

    Returns
    -------
    Evaluation
        A dict of the overall metrics, with the table of labels as
        `Evaluation.per_label`.

    Warns
    -----
    DegenerateScoresWarning
        When more than half of the rows are tied throughout. Not with
        ``per_label=True``.

    Examples
    --------
    >>> Y = [[1, 0, 1, 0], [0, 1, 0, 1]]
    >>> scores = [[0.9, 0.5, 0.5, 0.1], [0.2, 0.8, 0.6, 0.4]]
    >>> result = evaluate(Y, scores)
    >>> round(result["AP"], 4), result["RL"]
    (0.8333, 0.25)
    >>> result.per_label["AUC"].tolist()
    [1.0, 1.0, 0.0, 1.0]
    >>> unseen = [[1, 0, 1, 0], [0, 1, 0, float("nan")]]
    >>> evaluate(unseen, scores, per_label=True)["observed"].tolist()
    [2, 2, 2, 1]
    """
    labels, observed = inputs.check_labels(Y)
    table = inputs.check_scores(scores, labels.shape, allow_nan=is_paper(convention))
    weight = inputs.check_weight(sample_weight, len(labels))
    if predictions is None:
        cut = inputs.check_threshold(threshold, table.shape[1])
        predicted = table >= cut
    else:
        predicted, _ = inputs.check_labels(predictions, "predictions", table.shape)
    judged = _JudgedScores(
        Y=Y,
        labels=labels,
        observed=observed,
        scores=table,
        predicted=predicted,
        weight=weight,
    )
    if per_label:
        return judged.table()
    measures = judged.measures(convention)
    _warn_of_ties(measures["tied_rows"])
    return Evaluation(measures, judged)


def _warn_of_ties(tied_share: float) -> None:
    if tied_share > MAX_TIED_SHARE:
        warnings.warn(
            f"{tied_share:.0%} of the rows have the same score for every label, so "
            "ranking metrics say little; look for rows on which no rule fires, zeroed "
            "features or too strong a penalty.",
            DegenerateScoresWarning,
            stacklevel=3,
        )


@dataclass(frozen=True, eq=False)
class _JudgedScores:
    """Scores next to what they are judged by, checked: tables (N, L) and weights (N,).

    ``Y`` is the table of labels as the caller gave it.
    """

    Y: Any
    labels: BoolArray
    observed: BoolArray
    scores: FloatArray
    predicted: BoolArray
    weight: FloatArray

    def measures(self, convention: str) -> dict[str, float]:
        """The overall metrics by name."""
        truth = np.where(self.observed, self.labels, np.nan)
        predicted = self.predicted
        w = self.weight
        five = five_metrics(truth, self.scores, convention=convention, sample_weight=w)
        measures = dict(zip(FIVE_METRICS, five.tolist(), strict=True))
        return measures | {
            "HL": hamming_loss(truth, predicted, sample_weight=w),
            "micro_F1": micro_f1_score(truth, predicted, sample_weight=w),
            "macro_F1": macro_f1_score(truth, predicted, sample_weight=w),
            "example_F1": example_f1_score(truth, predicted, sample_weight=w),
            "subset_accuracy": subset_accuracy_score(truth, predicted, sample_weight=w),
            "tied_rows": self.tied_share(),
        }

    def tied_share(self) -> float:
        """The share of rows whose scores are all equal, or all NaN."""
        if self.scores.shape[1] == 1:
            return 0.0  # a single score is not a tie
        equal = (self.scores == self.scores[:, :1]).all(axis=1)
        undefined = np.isnan(self.scores).all(axis=1)
        return float(np.average(equal | undefined, weights=self.weight))

    def table(self) -> "DataFrame":
        """The metrics of each label: a data frame of pandas, or of polars as Y is."""
        if not is_polars(self.Y):
            return self.label_table
        columns = {name: self.label_table[name].to_numpy() for name in self.label_table}
        return type(self.Y)({"label": self.Y.columns, **columns})

    @cached_property
    def label_table(self) -> "LabelTable":
        """The metrics of each label."""
        from pandas import Index

        from mltsk.metrics.label_table import LabelTable

        rows = [self.label_metrics(j) for j in range(self.labels.shape[1])]
        columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        names = getattr(self.Y, "columns", range(len(rows)))
        return LabelTable(columns, index=Index(names, name="label"))

    def label_metrics(self, j: int) -> dict[str, float]:
        """The metrics of label j, from the rows in which it was observed."""
        seen = self.observed[:, j]
        y = self.labels[seen, j]
        s = self.scores[seen, j]
        predicted = self.predicted[seen, j]
        w = self.weight[seen]
        ap, auc = weighted_ranking(y, s, w)
        brier = np.nan
        if self.are_probabilities:
            brier = mean_or_nan((s - y) ** 2, w)
        return {
            "observed": len(y),
            "prevalence": mean_or_nan(y, w),
            "AP": ap,
            "AUC": auc,
            "sensitivity": mean_or_nan(predicted, w * y),
            "precision": mean_or_nan(y, w * predicted),
            "Brier": brier,
        }

    @cached_property
    def are_probabilities(self) -> bool:
        """Whether all scores of observed labels lie in [0, 1]."""
        scores = self.scores[self.observed]
        return bool(((scores >= 0) & (scores <= 1)).all())


class Evaluation(dict[str, float]):
    """Metrics of label scores: a dict of the overall ones, with a table per label.

    "AP" (higher is better), "HL", "OE", "RL", "CV" (lower is better), "micro_F1",
    "macro_F1", "example_F1", "subset_accuracy" (higher is better) and "tied_rows", the
    share of rows whose scores are all equal: a model with many of them ranks nothing,
    whatever its metrics say. A metric for which no row counts is NaN. `evaluate` makes
    it; ``print`` shows a line per label, then a line per metric over all labels. Where
    there is one label, nothing ranks labels, and ``print`` shows the metrics of that
    label.

    Examples
    --------
    >>> from mltsk import evaluate
    >>> result = evaluate([[1, 0, 1], [0, 1, 0]], [[0.9, 0.5, 0.4], [0.2, 0.8, 0.6]])
    >>> print(result)
    label          observed prevalence    AP   AUC sensitivity precision Brier
    0                     2      0.500 1.000 1.000       1.000     1.000 0.025
    1                     2      0.500 1.000 1.000       1.000     0.500 0.145
    2                     2      0.500 0.500 0.000       0.000     0.000 0.360
    mean of labels                     0.833 0.667       0.667     0.500 0.177
    <BLANKLINE>
                     value  better
    AP               0.917  higher  average precision of the ranking of labels
    HL               0.500  lower   Hamming loss: wrong decisions
    OE               0.000  lower   one-error: the label ranked first is wrong
    RL               0.250  lower   ranking loss: pairs of labels in the wrong order
    CV               0.333  lower   coverage: depth of the last true label
    micro_F1         0.571  higher  F1 over all decisions
    macro_F1         0.556  higher  mean F1 of the labels
    example_F1       0.583  higher  mean F1 of the samples
    subset_accuracy  0.000  higher  samples with exactly the right labels
    tied_rows        0.000  lower   samples whose scores are all equal
    """

    def __init__(self, measures: dict[str, float], judged: _JudgedScores) -> None:
        super().__init__(measures)
        self._judged = judged

    @cached_property
    def per_label(self) -> "DataFrame":
        """A table with a row per label, computed when it is first asked for.

        It is indexed by the columns of a data frame Y, else by 0 .. L - 1 (where Y is a
        polars frame, it is a polars frame, whose first column is "label"). Its columns
        are "observed" (samples), "prevalence", "AP" and "AUC" of the ranking of the
        samples, "sensitivity" and "precision" of the predictions, and "Brier" where all
        scores lie in [0, 1]. NaN is what the samples do not define: AP and AUC of a
        label that all or none have, the precision of one that is never predicted.
        ``print`` shows it within 80 columns.
        """
        return self._judged.table()

    def __str__(self) -> str:
        overall = self.overall_text()
        if self._judged.labels.shape[1] == 1 or np.isnan(self._judged.scores).any():
            return overall
        from mltsk.metrics.label_text import label_text

        table = self._judged.label_table
        columns = [name for name in table if table[name].notna().any()]
        return f"{label_text(table, columns)}\n\n{overall}"

    def overall_text(self) -> str:
        """A line per metric over all labels, or of the one label that there is."""
        if self._judged.labels.shape[1] == 1:
            meanings = _MEANINGS_OF_ONE_LABEL
            of_label = self._judged.label_metrics(0)
            by_user = {name: self[name] for name in self if name not in _MEANINGS}
            shown = of_label | by_user
        else:
            meanings = _MEANINGS
            shown = dict(self)
        digits = {}
        for name, value in shown.items():
            digits[name] = f"{value}" if name == "observed" else f"{value:.3f}"
            if value != value:
                digits[name] = "-"  # a metric that is about no row
        width = max(map(len, ["value", *digits.values()]))
        lines = [f"{'':15}  {'value':>{width}}  better"]
        for name, number in digits.items():
            better, meaning = meanings.get(name, ("", ""))
            line = f"{name:15}  {number:>{width}}  {better:6}  {meaning}"
            lines.append(line.rstrip())
        return "\n".join(lines)
