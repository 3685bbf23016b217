"""PointsClassifier: predictions by points that add up, as a printed sheet has them.

The statements are those of a short model without exceptions; `mltsk.explain.points`
makes points of them. What a total means is found on rows that took no part in it: in
each of five folds statements are chosen, rounded to points and added up without the
rows of the fold, and the curve from totals to probabilities is fitted to these.
"""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from .columns import in_known_capitals
from .core.arrays import Array, FloatArray, underflow_is_zero
from .exceptions import InputError
from .explain.points import (
    PointsItem,
    PointsSheet,
    label_points,
    most_points,
    printed_probability,
    totals_of,
    training_cells,
    word_codes,
)
from .explain.subjects import Subjects
from .fit.left_out import Groups, take_groups
from .frames import InputColumn, columns_of
from .metrics import evaluate
from .metrics.intervals import (
    average_precision_interval,
    guessed_precision,
    roc_auc_interval,
)
from .observed import ObservedLabelsMixin
from .probabilities import Curves, fit_curves, log_odds_of, probabilities_of
from .record import FitRecord
from .refit import take_over
from .short import ShortModels
from .short.training import observed_labels
from .targets import predicted
from .thresholds import find_thresholds

# Of the feature that adds most. Ranges of few digits cost AP: docs/decisions.md.
DEFAULT_MAX_POINTS = 10
DEFAULT_POINTS_STATEMENTS = 8  # that fit on a page with their nomogram
MAX_POINTS_WISH = 100  # of an item, and of statements: more is no sheet
RANGES = ("AP_low", "AP_high", "AUC_low", "AUC_high", "AP_guessed")
THRESHOLD_DIGITS = 12  # beyond, a threshold differs from what was asked for by rounding


class PointsClassifier(ObservedLabelsMixin, BaseEstimator):
    """Labels by whole points that add up, and a table from totals to probabilities.

    ``clf.points()`` returns a fitted one. A sheet of it (`mltsk.points_sheet`) is the
    whole model: who adds up its points by hand gets the same probabilities.

    Parameters
    ----------
    estimator : MLTSKClassifier
        What is fitted first, and then put into points.
    max_statements : int, default=8
        Statements per label, at most, as in `MLTSKClassifier.shorten`.
    max_points : int, default=10
        Points of the feature that adds most to a label; a point of a label stands for
        the same log-odds everywhere.

    Attributes
    ----------
    sheets_ : tuple of PointsSheet
        Per label its items, the probability of each total, and the threshold.
    worth_ : DataFrame
        Per label the average precision on rows that were left out, by the same five
        folds for all: ``AP`` of the points, ``AP_short`` of a short model with as many
        statements, ``AP_long`` of the whole model, ``AP_guessed`` of rows in random
        order, and ``AUC`` of the points. ``AP_low``, ``AP_high``, ``AUC_low`` and
        ``AUC_high`` are ends of 95 % intervals; ``cases`` of ``observed`` rows have
        the label.
    thresholds_ : array of shape (n_labels,)
        Probabilities from which on a label is given.
    known_words_ : dict
        Per feature of words, by its place, all values that the fit has seen.
    label_names_, classes_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from mltsk import MLTSKClassifier, read_table
    >>> table = read_table("pbc")
    >>> clf = MLTSKClassifier().fit(table.X, table.Y)
    >>> points = clf.points(max_statements=4)
    >>> points.sheets_[1].label, points.sheets_[1].items[0].name
    ('hepatomegaly', 'stage')
    >>> points.totals(table.X).shape
    (418, 4)
    """

    def __init__(
        self,
        estimator,
        *,
        max_statements=DEFAULT_POINTS_STATEMENTS,
        max_points=DEFAULT_MAX_POINTS,
    ) -> None:
        self.estimator = estimator
        self.max_statements = max_statements
        self.max_points = max_points

    def fit(self, X, y, sample_weight=None, groups=None) -> Self:
        """Fit the estimator, and put it into points."""
        fitted = clone(self.estimator).fit(X, y, sample_weight, groups)
        return take_over(self, fitted.points(self.max_statements, self.max_points))

    def _of(self, fitted: Any) -> Self:
        """This classifier with the sheets of a fitted one."""
        self.sheets_, self.worth_ = points_of(
            fitted.fit_record_,
            size=self.max_statements,
            max_points=self.max_points,
            wish=fitted.threshold,
            max_conditions=fitted.max_conditions,
        )
        columns = fitted.system_.columns
        self.known_words_ = {}
        if columns is not None:
            for d in range(len(columns.names)):
                self.known_words_[d] = columns.known_words(d)
        for name in ("label_names_", "classes_", "multilabel_", "n_features_in_"):
            setattr(self, name, getattr(fitted, name))
        if hasattr(fitted, "feature_names_in_"):
            self.feature_names_in_ = fitted.feature_names_in_
        return self

    def totals(self, X) -> NDArray[np.int64]:
        """Total points of samples for every label, (n_samples, n_labels)."""
        check_is_fitted(self)
        validate_data(self, X, skip_check_array=True, reset=False)
        columns = columns_of(X if hasattr(X, "shape") else np.asarray(X))
        totals = []
        for sheet in self.sheets_:
            cells = {}
            for item in sheet.items:
                words = self.known_words_.get(item.feature, ())
                cells[item.feature] = _cells(item, columns[item.feature], words)
            totals.append(totals_of(sheet.items, cells, X.shape[0]))
        return np.stack(totals, axis=1)

    def _probabilities(self, X) -> FloatArray:
        """Probabilities (n_samples, n_labels) as the sheets have them."""
        totals = self.totals(X)
        tables = [np.array(sheet.probabilities) for sheet in self.sheets_]
        columns = [table[own] for table, own in zip(tables, totals.T, strict=True)]
        return np.stack(columns, axis=1)

    def predict_proba(self, X) -> Array:
        """Probabilities; for one-dimensional y they have a column per class."""
        positive = self._probabilities(X)
        if self.multilabel_:
            return positive
        return np.column_stack([1 - positive, positive])

    def decision_function(self, X) -> Array:
        """Log-odds less those of the threshold, > 0 exactly where a label is given."""
        log_odds = log_odds_of(self._probabilities(X))
        distance = log_odds - log_odds_of(self.thresholds_)
        distance = np.where(distance == 0, np.finfo(np.float64).tiny, distance)
        return distance if self.multilabel_ else distance[:, 0]

    def predict(self, X) -> Any:
        """Labels as an indicator, or classes if y was one-dimensional."""
        distance = self.decision_function(X).reshape(-1, len(self.sheets_))
        zeros = np.zeros(distance.shape[1])
        return predicted(distance, zeros, self.classes_, self.multilabel_)

    @property
    def thresholds_(self) -> FloatArray:
        """Probabilities from which on a label is given, (n_labels,)."""
        return np.array([sheet.threshold for sheet in self.sheets_])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.allow_nan = True
        return tags


def check_points_wish(max_statements: object, max_points: object) -> None:
    """Refuse sheets that cannot be made, before the work begins."""
    for name, value in (("max_statements", max_statements), ("max_points", max_points)):
        is_whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not is_whole or value not in range(1, MAX_POINTS_WISH + 1):
            raise InputError(
                f"{name} must be a whole number from 1 to {MAX_POINTS_WISH}, got "
                f"{value!r:.80}."
            )


def _cells(item: PointsItem, column: InputColumn, known: Sequence[str]) -> FloatArray:
    """The cells of a column as an item takes them; ``known`` are words of the fit."""
    if item.values:
        words = in_known_capitals(column, known, warn=True)
        return word_codes(item, words.by_row())
    return np.asarray(column.as_numbers(), dtype=np.float64)


@underflow_is_zero()
def points_of(
    record: FitRecord, *, size: int, max_points: int, wish: Any, max_conditions: Any
) -> tuple[tuple[PointsSheet, ...], pd.DataFrame]:
    """The sheets of every label, and what they are worth on rows that were left out.

    Parameters
    ----------
    record : FitRecord
        Of the model that is put into points.
    size, max_points : int
        Statements per label, and points of the largest item.
    wish
        For thresholds, as the classifier takes it.
    max_conditions : int or None
        Of the exceptions of the short model that the sheets are compared with.
    """
    models = ShortModels(
        long=record.long, training=record.training, max_conditions=0, max_size=size
    )
    if models.candidates.terms.low is None or models.candidates.base.unit_length:
        raise InputError(
            "Points are given to ranges of numbers and to values of words, and this "
            "model has neither: fit it with scale='quantile' on dense rows."
        )
    if record.training.penalty.basis is not None:
        raise InputError(
            "Points are judged label by label, and the labels of this model are "
            "coupled: fit it with coupling=None."
        )
    if record.long.columns is not None and record.long.columns.rules:
        raise InputError(
            "A sheet of points has no room for rules of your own: fit the model "
            "without `rules`."
        )
    rows = record.training.take(models.rows)
    Y = np.nan_to_num(rows.Y)
    maker = _SheetMaker(models, size, max_points)
    of_short = fit_curves(models.scores(size), Y, rows.w, rows.groups)
    left_out = maker.left_out_scores(of_short)
    curves = fit_curves(left_out, Y, rows.w, rows.groups)
    log_odds = curves.log_odds(left_out)
    thresholds, _ = find_thresholds(wish, log_odds, Y, rows.w)
    sheets = maker.sheets(curves, probabilities_of(thresholds))
    short = record.short_models(size, max_conditions)
    worth = _worth(
        observed_labels(rows.Y, rows.w),
        points=maker.on_sheets(left_out),
        short=short.scores(size),
        long=short.long_scores(),
        groups=rows.groups,
    )
    worth.index = pd.Index(record.long.label_names, name="label")
    return sheets, worth


class _SheetMaker:
    """Makes the sheets of a size, and scores of rows by sheets made without them."""

    def __init__(self, models: ShortModels, size: int, max_points: int) -> None:
        self.models = models
        self.size = size
        self.max_points = max_points
        rows = models.training.take(models.rows)
        self.w = rows.row_weights
        self.n_rows = len(rows)
        self.cells = training_cells(Subjects(models.long), np.asarray(rows.X))

    def left_out_scores(self, curves: Curves) -> FloatArray:
        """Scores (n, L) of rows, in log-odds, by sheets that were made without them."""
        self._made = []
        left_out_scores = curves.log_odds(self.models.scores(self.size))
        for left_out, system in self.models.sheets(self.size, curves):
            others = np.setdiff1d(np.arange(self.n_rows), left_out)
            rates = curves.log_odds(self.models.base_rates)
            for j, points in enumerate(label_points(system, self.max_points)):
                totals = totals_of(points.items, self.cells, self.n_rows)
                mean = np.average(totals[others], weights=self.w[others])
                start = rates[j] - points.unit * mean
                if not len(left_out):  # the sheet of all rows
                    self._made.append((points, float(start)))
                    continue
                left_out_scores[left_out, j] = start + points.unit * totals[left_out]
        return left_out_scores

    def on_sheets(self, scores: FloatArray) -> FloatArray:
        """Scores (n, L) of rows that were left out as the nearest totals of the sheets.

        Sheets of five folds have five times as many different scores as one sheet has
        totals, and AP is higher where fewer rows are tied: by .02 in a simulation with
        two features.
        """
        totals = np.empty_like(scores)
        for j, (points, start) in enumerate(self._made):
            unit = points.unit or 1.0
            nearest = np.round((scores[:, j] - start) / unit)
            totals[:, j] = np.clip(nearest, 0, most_points(points.items))
        return totals

    def sheets(self, curves: Curves, thresholds: FloatArray) -> tuple[PointsSheet, ...]:
        """The sheets, whose totals mean what curves say."""
        sheets = []
        for j, (points, start) in enumerate(self._made):
            totals = np.arange(most_points(points.items) + 1)
            scores = start + points.unit * totals
            log_odds = curves.slopes[j] * scores + curves.offsets[j]
            chances = probabilities_of(log_odds).tolist()
            sheets.append(
                PointsSheet(
                    label=self.models.long.label_names[j],
                    items=points.items,
                    probabilities=tuple(map(printed_probability, chances)),
                    threshold=round(float(thresholds[j]), THRESHOLD_DIGITS),
                )
            )
        return tuple(sheets)


def _worth(
    Y: FloatArray,
    *,
    points: FloatArray,
    short: FloatArray,
    long: FloatArray,
    groups: Groups,
) -> pd.DataFrame:
    """AP per label of points, short and long model, and the AUC of the points."""
    judged = {}
    for model, scores in (("", points), ("_short", short), ("_long", long)):
        judged[model] = evaluate(Y, scores, per_label=True)
    worth = pd.DataFrame({f"AP{model}": own["AP"] for model, own in judged.items()})
    worth["AUC"] = judged[""]["AUC"]
    worth = worth.join(_ranges(Y, points, groups))
    observed = ~np.isnan(Y)
    worth["observed"] = observed.sum(axis=0)
    worth["cases"] = np.nansum(Y, axis=0).astype(int)
    return worth


def _ranges(Y: FloatArray, points: FloatArray, groups: Groups) -> pd.DataFrame:
    """Ends of the intervals of AP and AUC of the points, and the AP of guessing."""
    figures = np.full((Y.shape[1], len(RANGES)), np.nan)
    for j, y in enumerate(Y.T):
        rows = np.flatnonzero(~np.isnan(y))
        y = y[rows]
        if len(np.unique(y)) < 2:
            continue
        of_rows = take_groups(groups, rows)
        AP = average_precision_interval(y, points[rows, j], groups=of_rows)
        AUC = roc_auc_interval(y, points[rows, j], groups=of_rows)
        guessed = guessed_precision(y > 0, of_rows)
        figures[j] = [AP.low, AP.high, AUC.low, AUC.high, guessed]
    return pd.DataFrame(figures, columns=list(RANGES))
