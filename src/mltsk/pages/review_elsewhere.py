"""A model on another table than that of its fit: what it finds there, what has changed.

Whatever is known of the rows of the fit is read from the model itself, so that a model
from a file, which holds no rows, is judged in the same way: percentiles of numbers,
shares of values and of missing cells, and how common labels were.
"""

import copy
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame, Series

from ..classifier import MLTSKClassifier
from ..columns import Columns
from ..core.arrays import FloatArray
from ..exceptions import InputError
from ..explain.wording import name, number, percent
from ..frames import MISSING
from ..metrics import calibration_line, proportion_interval
from ..metrics.proportions import share_interval
from ..system import FuzzySystem
from ..tables.table import DataTable, sparse_rows
from ..text import did_you_mean, plural, quoted_list
from . import worth
from .packing import PageData
from .sections import Review, Section, samples_of
from .worth import JudgedLabel

MAX_DRIFT_ROWS = 60  # features that are listed, those that changed most
MAX_SHOWN_VALUES = 3  # of a nominal feature
# A change is told where chance alone does as much in one of a hundred tables, and only
# from a tenth of the rows on.
CHANCE_OF_DRIFT = 1.63  # over the root of the rows: of Kolmogorov and Smirnov's test
MIN_DRIFT = 0.1


class Drift(NamedTuple):
    """How one feature differs from that of the fit.

    ``shift`` is the share of rows that lie elsewhere than in the fit; ``then`` and
    ``now`` are words; shares of missing cells are NaN where not known.
    """

    name: str
    shift: float
    then: str
    now: str
    missing_then: float
    missing_now: float
    unseen: str

    def is_more_than_chance(self, n_rows: int) -> bool:
        """Whether the shift is told."""
        return self.shift > max(CHANCE_OF_DRIFT / np.sqrt(n_rows), MIN_DRIFT)


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
    return worth.judge_elsewhere(
        model, samples_of(table), table.Y.to_numpy(dtype=float), table.groups
    )


def judged_on(review: Review, table: DataTable) -> Review:
    """The same review with the model judged on another table."""
    return review._replace(
        table=table,
        labels=labels_elsewhere(review.taken, table),
        training=review.table,
        training_labels=review.labels,
    )


# the section --------------------------------------------------------------------------


def elsewhere_section(review: Review) -> Section | None:
    """What differs from the table of the fit: labels, features, missing, never seen."""
    if not review.is_external:
        return None
    drifts = _drifts_of(review)
    moved = _moved(drifts, len(review.table))
    return Section(
        key="elsewhere",
        title="Another table than that of the fit",
        bar_title="What has changed",
        template="review/elsewhere.html",
        facts={
            "labels": _label_rows(review),
            "has_own": bool(review.training_labels),
            "features": drifts[:MAX_DRIFT_ROWS],
            "n_more": max(len(drifts) - MAX_DRIFT_ROWS, 0),
            "moved": _moved_in_words(moved),
            "unseen": [drift for drift in drifts if drift.unseen],
        },
        is_open=True,
    )


def lines_on_drift(review: Review) -> list[str]:
    """Which features of another table are unlike those of the fit, for everybody."""
    if not review.is_external:
        return []
    drifts = _drifts_of(review)
    lines = []
    moved = _moved(drifts, len(review.table))
    if moved:
        lines.append(
            f"This table is unlike that of the fit in {worth.first_names(moved)}: are "
            "units and words the same?"
        )
    unseen = [drift.name for drift in drifts if drift.unseen]
    if unseen:
        lines.append(
            f"Values of {worth.first_names(unseen)} were never seen in the fit, and "
            "count as nothing."
        )
    return lines


def _drifts_of(review: Review) -> list[Drift]:
    """How each feature differs from that of the fit, those that changed most first."""
    drifts = feature_drifts(review.whole.system_, review.table)
    return sorted(drifts, key=lambda drift: -drift.shift)


def _moved(drifts: list[Drift], n_rows: int) -> list[str]:
    """The features that differ from the fit by more than chance does."""
    return [drift.name for drift in drifts if drift.is_more_than_chance(n_rows)]


def _moved_in_words(moved: list[str]) -> str:
    """Which features lie elsewhere than in the fit."""
    if not moved:
        return "No feature differs from the fit in a tenth of the rows beyond chance."
    return f"Features that differ from the fit: {worth.first_names(moved)}."


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
        rows.append(
            {
                "name": label.name,
                "then": then,
                "now": share_interval(label.y, label.groups),
                "predicted": float(label.chances.mean()) if label.observed else None,
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


# features -----------------------------------------------------------------------------


def feature_drifts(system: FuzzySystem, table: DataTable) -> list[Drift]:
    """How each feature of a table differs from that of the fit of a system.

    Empty where the model has no percentiles of its features.
    """
    if sparse_rows(table.X) is not None or system.quantiles is None:
        return []
    columns = system.columns
    if columns is None:
        return [
            _drift_of_numbers(name(str(column)), _numbers(table.X[column]), quantiles)
            for column, quantiles in zip(table.X, system.quantiles, strict=True)
        ]
    words = columns.words(table.X)
    drifts = []
    for d, column in enumerate(table.X):
        places = _places(columns, d)
        quantiles = system.quantiles[places[0]]
        if columns.kinds[d] == "nominal":
            drift = _drift_of_words(system, columns, d, words[:, d])
        elif columns.kinds[d] == "ordinal":
            levels = columns.values[d]
            codes = _level_codes(words[:, d], levels)
            drift = _drift_of_numbers(name(column), codes, quantiles, levels)
        else:
            x = _numbers(table.X[column])
            drift = _drift_of_numbers(name(column), x, quantiles)
        drifts.append(drift._replace(missing_then=_missing_then(system, columns, d)))
    return drifts


def _numbers(values: Series) -> FloatArray:
    """A column of numbers, NaN where it was not measured."""
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


def _level_codes(words: NDArray[np.object_], levels: Sequence[str]) -> FloatArray:
    """Places of words among ordered levels, NaN where there is none."""
    places = {level: float(place) for place, level in enumerate(levels)}
    return np.array([places.get(word, np.nan) for word in words])


def _places(columns: Columns, d: int) -> list[int]:
    """The columns of numbers that a feature has, without that of missing cells."""
    return [
        place
        for place, part in enumerate(columns.parts)
        if part.feature == d and part.value != MISSING
    ]


def _missing_then(system: FuzzySystem, columns: Columns, d: int) -> float:
    """Share of missing cells of a feature in the fit; NaN where it is not known."""
    for place, part in enumerate(columns.parts):
        if part.feature == d and part.value == MISSING:
            return _share(system, place)
    return float("nan")


def _share(system: FuzzySystem, place: int) -> float:
    """Share of the rows of the fit in which a column of 0 and 1 was 1."""
    members = system.members
    if members is None or members.regions is None:
        return float("nan")
    n_with, n_rows = members.regions[-1, place]
    return float(n_with / max(n_rows, 1))


def _drift_of_numbers(
    column: str, x: FloatArray, quantiles: FloatArray, levels: Sequence[str] = ()
) -> Drift:
    """The largest difference between shares of rows up to a value, then and now.

    ``quantiles`` are percentiles of the fit, evenly spread; ``levels`` the words of an
    ordinal feature, whose numbers are places among them.
    """
    known = np.sort(x[~np.isnan(x)])
    drift = Drift(
        name=column,
        shift=1.0,
        then=_range_in_words(quantiles, levels),
        now="never measured",
        missing_then=float("nan"),
        missing_now=float(np.isnan(x).mean()),
        unseen="",
    )
    if not len(known):
        return drift
    return drift._replace(
        shift=largest_shift(known, quantiles),
        now=_range_in_words(np.quantile(known, [0, 0.5, 1]), levels),
    )


def largest_shift(known: FloatArray, quantiles: FloatArray) -> float:
    """How far sorted numbers are from evenly spread percentiles, from 0 to 1.

    >>> round(largest_shift(np.arange(100.0), np.linspace(0, 99, 21)), 2)
    0.0
    >>> round(largest_shift(np.arange(100.0) + 50, np.linspace(0, 99, 21)), 2)
    0.5
    """
    shares = np.linspace(0, 1, len(quantiles))
    n = len(known)
    up_to = np.searchsorted(known, quantiles, side="right") / n
    below = np.searchsorted(known, quantiles, side="left") / n
    # of equal percentiles, the share up to a value is the last, that below the first
    last = np.searchsorted(quantiles, quantiles, side="right") - 1
    first = np.searchsorted(quantiles, quantiles, side="left")
    too_few = shares[last] - up_to
    too_many = below - shares[first]
    beyond = 1 - up_to[-1]
    return max(float(too_few.max()), float(too_many.max()), float(beyond), 0.0)


def _range_in_words(quantiles: FloatArray, levels: Sequence[str] = ()) -> str:
    """The middle of some percentiles, and their ends."""
    ends = (quantiles[0], quantiles[len(quantiles) // 2], quantiles[-1])
    size = float(np.abs(quantiles).max())
    words = [number(float(value), size) for value in ends]
    if levels:
        words = [name(levels[round(float(value))]) for value in ends]
    low, median, high = words
    return f"{median} ({low} to {high})"


def _drift_of_words(
    system: FuzzySystem, columns: Columns, d: int, words: NDArray[np.object_]
) -> Drift:
    """How many rows have another value than they would have had in the fit."""
    counts = Counter(word for word in words if word is not None)
    n_known = max(counts.total(), 1)
    unseen = set(counts) - set(columns.values[d]) - set(columns.rare[d])
    n_unseen = sum(counts[word] for word in unseen)
    then = _shares_then(system, columns, d)
    now = {}
    for value in then:
        alike = [value] if value in columns.values[d] else columns.rare[d]
        now[value] = sum(counts[word] for word in alike) / n_known
    differences = sum(abs(now[value] - share) for value, share in then.items())
    listed = quoted_list(sorted(unseen))
    return Drift(
        name=name(columns.names[d]),
        shift=float(np.nan_to_num((differences + n_unseen / n_known) / 2)),
        then=_shares_in_words(then),
        now=_shares_in_words(now),
        missing_then=float("nan"),
        missing_now=1 - counts.total() / max(len(words), 1),
        unseen=f"{listed}: {plural(n_unseen, 'row')}" if unseen else "",
    )


def _shares_then(system: FuzzySystem, columns: Columns, d: int) -> dict[str, float]:
    """Shares of the values of a nominal feature in the fit, rare ones together."""
    values = columns.named(d)
    shares = [_share(system, place) for place in _places(columns, d)]
    if len(values) == 2:  # the second alone has a column
        shares = [1 - shares[0], shares[0]]
    return dict(zip(values, shares, strict=True))


def _shares_in_words(shares: dict[str, float]) -> str:
    """The most frequent values with their shares."""
    known = {value: share for value, share in shares.items() if not np.isnan(share)}
    frequent = sorted(known, key=lambda value: -known[value])[:MAX_SHOWN_VALUES]
    return ", ".join(f"{name(value)} {percent(known[value])}" for value in frequent)
