"""What a model is worth, label by label, in figures.

Each row is judged by what a model without that row (or its group) would say.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..classifier import MLTSKClassifier
from ..core.arrays import FloatArray
from ..core.worth import MIN_CLEAR_CASES
from ..explain.wording import name
from ..fit.left_out import Groups, take_groups
from ..metrics import holm, miscalibration_p_value
from ..metrics.curves import Groups as CalibrationGroups
from ..metrics.curves import calibration_groups, forecast_groups
from ..metrics.intervals import (
    average_precision_interval,
    guessed_precision,
    roc_auc_interval,
)
from ..probabilities import log_odds_of, probabilities_of
from ..record import FitRecord
from .baselines import Samples

# A probability is off if it differs by so much from the share of rows that have the
# label, or by such a factor: in a large table smaller gaps are beyond chance, too, but
# change no decision.
OFF_BY_POINTS = 0.05
OFF_BY_FACTOR = 1.5
MIN_EXPECTED = 5  # cases, and others, of a group of rows that is tested
MORE_THAN_CHANCE = 0.05  # p-values below, with all labels of a page accounted for

# A value, and the ends of its 95 % interval.
Estimate: TypeAlias = tuple[float, float, float]


class JudgedLabel(NamedTuple):
    """How well one label is found in rows that were left out.

    Attributes
    ----------
    name : str
    observed, cases : int
        Rows in which the label was observed, and those of them that have it.
    AP, AUC : (value, low, high)
        With a 95 % interval.
    guessed_AP : float
        The AP of as many rows in random order.
    found, alarms : int
        Cases, and other rows, that are given the label, at thresholds that were chosen
        without them.
    threshold : float
        The probability from which on the model gives the label.
    y, is_given : arrays of bool of shape (observed,)
        Whether rows have the label, and whether they are given it.
    chances, scores : arrays of shape (observed,)
        Their probabilities and log-odds by a model without them; probabilities by a
        curve without them, too.
    rows : array of int of shape (observed,)
        Their positions in the table.
    groups : array of int of shape (observed,), or None
        Codes of rows that belong together.
    """

    name: str
    observed: int
    cases: int
    AP: Estimate
    AUC: Estimate
    guessed_AP: float
    found: int
    alarms: int
    threshold: float
    y: NDArray[np.bool_]
    is_given: NDArray[np.bool_]
    chances: FloatArray
    scores: FloatArray
    rows: NDArray[np.intp]
    groups: Groups

    @property
    def rate(self) -> float:
        """Share of rows that have the label."""
        return self.cases / max(self.observed, 1)

    @property
    def given(self) -> int:
        """How many rows are given the label."""
        return self.found + self.alarms

    @property
    def rarer(self) -> int:
        """How many rows have the label, or do not, whichever are fewer."""
        return min(self.cases, self.observed - self.cases)

    @property
    def calibration(self) -> CalibrationGroups:
        """What was observed in groups of rows of rising probability."""
        return calibration_groups(self.y, self.chances, groups=self.groups)

    @property
    def is_known(self) -> bool:
        """Whether some rows have the label and some do not."""
        return 0 < self.cases < self.observed

    @property
    def lift(self) -> float:
        """AP as a multiple of that of guessing."""
        return self.AP[0] / self.guessed_AP

    @property
    def is_better_than_guessing(self) -> bool:
        """Whether the model is better than guessing beyond chance, in AUC and in AP.

        As in `mltsk.core.worth.Worth`.
        """
        return self.is_known and self.AUC[1] > 0.5 and self.AP[1] > self.guessed_AP

    @property
    def is_guessed(self) -> bool:
        """Whether the model may be no better than guessing."""
        return self.is_known and not self.is_better_than_guessing

    @property
    def is_too_rare(self) -> bool:
        """Whether nothing was found, in so few cases that this says little."""
        return self.is_guessed and self.rarer < MIN_CLEAR_CASES


def judge(model: MLTSKClassifier, record: FitRecord | None = None) -> list[JudgedLabel]:
    """Judge every label of a classifier that was fitted here.

    ``record`` has honest scores of its rows; by default those that it keeps.
    """
    if record is None:
        record = model.fit_record_
    labels = record.labels
    positions = np.arange(len(labels)) if record.loo_rows is None else record.loo_rows
    is_given = record.given_by_folds(model.threshold)
    log_odds = record.loo_scores
    chances = probabilities_of(record.log_odds_by_folds())
    figures = record.judged_labels
    judged = []
    for j, label in enumerate(model.label_names_):
        rows = ~np.isnan(labels[:, j])
        y = labels[rows, j] > 0
        scores = log_odds[rows, j]
        groups = take_groups(record.groups, rows)
        judged.append(
            _judged_label(
                str(label),
                threshold=model.thresholds_[j],
                y=y,
                is_given=is_given[rows, j],
                chances=chances[rows, j],
                scores=scores,
                rows=positions[rows],
                groups=groups,
                AP=_estimate(figures.AP[j], is_known=figures.is_known[j]),
                AUC=_estimate(figures.AUC[j], is_known=figures.is_known[j]),
                guessed_AP=float(figures.guessed_AP[j]),
            )
        )
    return judged


def _estimate(figures: FloatArray, *, is_known: bool) -> Estimate:
    """A value and the ends of its interval; NaN where it is not known."""
    value, low, high = figures.tolist() if is_known else (np.nan,) * 3
    return value, low, high


def judge_elsewhere(
    model: MLTSKClassifier, X: Samples, Y: FloatArray, groups: Groups
) -> list[JudgedLabel]:
    """Judge every label of a classifier on rows that it was not fitted on.

    Labels Y (n, L) are in the order of the classifier's, NaN where not observed.
    """
    chances = np.asarray(model.predict_proba(X), dtype=np.float64)
    is_given = np.asarray(model.predict(X)) > 0
    judged = []
    for j, label in enumerate(model.label_names_):
        rows = ~np.isnan(Y[:, j])
        y = Y[rows, j] > 0
        scores = log_odds_of(chances[rows, j])
        of_rows = take_groups(groups, rows)
        judged.append(
            _judged_label(
                str(label),
                threshold=model.thresholds_[j],
                y=y,
                is_given=is_given[rows, j],
                chances=chances[rows, j],
                scores=scores,
                rows=np.flatnonzero(rows),
                groups=of_rows,
                AP=average_precision_interval(y, scores, groups=of_rows),
                AUC=roc_auc_interval(y, scores, groups=of_rows),
                guessed_AP=guessed_precision(y, of_rows),
            )
        )
    return judged


def _judged_label(
    label: str,
    *,
    threshold: float,
    y: NDArray[np.bool_],
    is_given: NDArray[np.bool_],
    chances: FloatArray,
    scores: FloatArray,
    rows: NDArray[np.intp],
    groups: Groups,
    AP: Estimate,
    AUC: Estimate,
    guessed_AP: float,
) -> JudgedLabel:
    """One label with its counts."""
    return JudgedLabel(
        name=name(label),
        observed=len(y),
        cases=int(y.sum()),
        AP=AP,
        AUC=AUC,
        guessed_AP=guessed_AP,
        found=int((y & is_given).sum()),
        alarms=int((~y & is_given).sum()),
        threshold=float(threshold),
        y=y,
        is_given=is_given,
        chances=chances,
        scores=scores,
        rows=rows,
        groups=groups,
    )


# probabilities that are off ----------------------------------------------------------


def miscalibrated(labels: Sequence[JudgedLabel]) -> NDArray[np.bool_]:
    """Mark labels whose probabilities are off by much, and by more than chance.

    All groups of rows and all labels are accounted for. Each group by itself would not
    do: of a label with right probabilities, two groups of ten lie beyond their
    intervals in 5 to 8 of 100 tables, and a table has several labels.
    """
    p_values = [_miscalibration(label) for label in labels]
    is_beyond = holm(p_values) < MORE_THAN_CHANCE
    is_off = np.zeros(len(labels), dtype=np.bool_)
    for j in np.flatnonzero(is_beyond).tolist():
        is_off[j] = are_off(labels[j].calibration).any()
    return is_off


def _miscalibration(label: JudgedLabel) -> float:
    """How often chance alone makes probabilities as wrong; NaN of too few cases."""
    if label.rarer < MIN_CLEAR_CASES:
        return float("nan")
    rows = _tested_groups(label.chances)
    return miscalibration_p_value(label.y, label.chances, rows, groups=label.groups)


def _tested_groups(p: FloatArray) -> NDArray[np.intp]:
    """Codes (n,) of groups of rows of rising probability, next ones joined if small.

    With fewer than five cases expected in a group, chance alone fails the test of rare
    labels in 3 of 100 tables where it should in 1.3.
    """
    codes = forecast_groups(p)
    cases = np.bincount(codes, p)
    others = np.bincount(codes, 1 - p)
    joined = np.zeros(len(cases), dtype=np.intp)
    current = 0
    n_cases = n_others = 0.0
    for code in range(len(cases)):
        joined[code] = current
        n_cases += cases[code]
        n_others += others[code]
        if min(n_cases, n_others) >= MIN_EXPECTED:
            current += 1
            n_cases = n_others = 0.0
    # what is left over is too small: it joins the last group that is not
    joined = np.minimum(joined, max(current - 1, 0))
    return joined[codes]


def are_off(groups: CalibrationGroups) -> NDArray[np.bool_]:
    """The groups whose probability is off by much, and beyond chance."""
    is_beyond = (groups.forecast < groups.low) | (groups.forecast > groups.high)
    smaller = np.minimum(groups.forecast, groups.observed)
    larger = np.maximum(groups.forecast, groups.observed)
    is_much = (larger - smaller >= OFF_BY_POINTS) | (larger >= OFF_BY_FACTOR * smaller)
    return is_beyond & is_much
