"""A model on another table than that of its fit: what it finds there, what has changed.

Whatever is known of the rows of the fit is read from the model itself, so that a model
from a file, which holds no rows, is judged in the same way: percentiles of numbers,
shares of values and of missing cells, and how common labels were.
"""

import copy
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from pandas import DataFrame

from ..classifier import MLTSKClassifier
from ..exceptions import InputError
from ..metrics import calibration_line, proportion_interval
from ..metrics.proportions import IntervalEstimate, share_interval
from ..tables.table import DataTable
from ..text import did_you_mean
from . import worth
from .filed import MAX_FILED_CURVES
from .judged import JudgedLabel, judge_elsewhere, miscalibrated
from .packing import PageData
from .review_drift import drifts_of
from .sections import Review, Section, samples_of

MAX_DRIFT_ROWS = 60  # features that are listed, those that changed most


# before the work ----------------------------------------------------------------------


def refuse_together(**others: object) -> None:
    """Refuse what makes no sense with a model that is fitted already."""
    for option, value in others.items():
        if value is not None:
            raise InputError(
                f"A fitted model is judged as it is: leave {option} out, or fitted."
            )


def check_general(model: object) -> None:
    """Refuse a model without a general rule, such as the paper's."""
    if not isinstance(model, MLTSKClassifier):
        raise InputError(
            f"A review is of an MLTSKClassifier, and this is a {type(model).__name__}: "
            "evaluate and explore take it."
        )


def check_finished(model: MLTSKClassifier) -> None:
    """Refuse a model that is not to be reviewed, or predicts no labels from names."""
    check_general(model)
    if not getattr(model, "multilabel_", False):
        raise InputError(
            "A review judges labels, and this model predicts one class of several."
        )
    if not hasattr(model, "feature_names_in_"):
        raise InputError(
            "The model was fitted on columns without names: fit it on a data frame to "
            "review it on another table."
        )


def matching_table(
    table: DataTable, features: Sequence[str], labels: Sequence[str]
) -> DataTable:
    """A table with exactly these features and labels, in their order."""
    return replace(
        table,
        X=_columns(table.X, list(features), table.name, "feature"),
        Y=_columns(table.Y, list(labels), table.name, "label"),
    )


def _columns(frame: DataFrame, names: list[str], table: str, noun: str) -> DataFrame:
    """Some columns of a frame; the first that is missing is named."""
    missing = [column for column in names if column not in frame]
    if missing:
        hint = did_you_mean(missing[0], frame.columns)
        raise InputError(
            f"{table} has no {noun} {missing[0]!r}, which the model needs"
            f"{': ' + hint if hint else '.'}"
        )
    return frame[names]


def without_record(model: MLTSKClassifier) -> MLTSKClassifier:
    """A copy of a fitted model that has no record of its fit, as if from a file."""
    return copy.copy(model)


# judging ------------------------------------------------------------------------------


def labels_elsewhere(model: MLTSKClassifier, table: DataTable) -> list[JudgedLabel]:
    """How well a model finds each label in a table that it was not fitted on."""
    return judge_elsewhere(
        model, samples_of(table), table.Y.to_numpy(dtype=float), table.groups
    )


def judged_on(review: Review, table: DataTable) -> Review:
    """The same review with the model judged on another table."""
    labels = labels_elsewhere(review.taken, table)
    return review._replace(
        table=table,
        labels=labels,
        is_off=miscalibrated(labels),
        training=review.table,
        training_labels=review.labels,
    )


# the section --------------------------------------------------------------------------


def elsewhere_section(review: Review) -> Section | None:
    """What differs from the table of the fit: labels, features, missing, never seen."""
    if not review.is_external:
        return None
    drifts = drifts_of(review.whole.system_, review.table)
    return Section(
        key="elsewhere",
        title="Another table than that of the fit",
        bar_title="What has changed",
        template="review/elsewhere.html",
        facts={
            "labels": _label_rows(review),
            "has_filed_labels": len(review.shown) <= MAX_FILED_CURVES,
            "has_own": bool(review.training_labels),
            "features": drifts.features[:MAX_DRIFT_ROWS],
            "n_more": max(len(drifts.features) - MAX_DRIFT_ROWS, 0),
            "moved": drifts.line_on_moved,
            "missing": drifts.line_on_missing,
            "unseen": drifts.unseen,
        },
        is_open=True,
        is_filed=True,
    )


def lines_on_drift(review: Review) -> list[str]:
    """Which features of another table are unlike those of the fit, for everybody."""
    if not review.is_external:
        return []
    drifts = drifts_of(review.whole.system_, review.table)
    lines = []
    if drifts.moved:
        lines.append(
            "This table is unlike that of the fit in "
            f"{worth.first_names(drifts.moved)}: are units and words the same?"
        )
    if drifts.line_on_missing:
        lines.append(drifts.line_on_missing)
    unseen = [drift.name for drift in drifts.unseen]
    if unseen:
        lines.append(
            f"Values of {worth.first_names(unseen)} were never seen in the fit, and "
            "count as nothing."
        )
    return lines


def _label_rows(review: Review) -> list[PageData]:
    """Labels then and now: shares, probabilities, and AUC in rows left out then."""
    system = review.whole.system_
    rows = []
    for j in review.shown.tolist():
        label = review.labels[j]
        then = None
        if system.members is not None:
            n_cases = int(system.members.positives[-1, j])
            then = proportion_interval(n_cases, int(system.members.observed[-1, j]))
        line = calibration_line(label.y, label.chances, groups=label.groups)
        own = review.training_labels[j].AUC if review.training_labels else None
        now = share_interval(label.y, label.groups)
        predicted = float(label.chances.mean()) if label.observed else np.nan
        rows.append(
            {
                "name": label.name,
                "then": then,
                "now": now,
                "predicted": predicted,
                "ratio": IntervalEstimate(*np.divide(now, predicted)),
                "intercept": line.intercept,
                "words": _large_in_words(line.intercept.low, line.intercept.high),
                "AUC_then": own,
                "AUC": label.AUC,
            }
        )
    return rows


def _large_in_words(low: float, high: float) -> str:
    """Calibration in the large in words, from the interval of its intercept."""
    if low > 0:
        return "more than predicted"
    if high < 0:
        return "fewer than predicted"
    return "" if np.isnan(low) else "as predicted, within chance"
