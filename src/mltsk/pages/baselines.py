"""A model next to other methods: all are fitted and judged on the same folds.

The methods are the model, the same in a few statements, logistic regression and a
forest. Every row is scored by models that have not seen it. Of large tables some rows
and labels are compared, evenly spread. Cells are prepared as is usual for these
methods: the median and a mark in place of a missing number, a column per category.

Symbols: n rows, L labels, M methods, R draws of folds, B resamples of the rows.
"""

import warnings
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, OneHotEncoder, StandardScaler

from ..classifier import MLTSKClassifier
from ..core.arrays import CSR, FloatArray, mean_of_known, spread_rows
from ..core.magnitude import in_ordinary_size, unit_factors
from ..frames import MISSING
from ..metrics.curves import ranking, resamples
from ..metrics.scorers import label_scores

COMPARISON_FOLDS = 5
MAX_COMPARED_ROWS = 3000
MAX_COMPARED_LABELS = 30
# Up to here folds are drawn twice: on pbc one draw moves the AP of a rare label by a
# tenth.
MAX_ROWS_DRAWN_TWICE = 1000
REVIEW_STATEMENTS = 12  # per label of the model in words

OURS = "this model"
OURS_SHORT = f"its {REVIEW_STATEMENTS} statements"
LINEAR = "logistic regression"
FOREST = "forest"
COMPARED_METHODS = (OURS, OURS_SHORT, LINEAR, FOREST)

Samples: TypeAlias = DataFrame | CSR
RowNumbers: TypeAlias = NDArray[np.intp]


class Lead(NamedTuple):
    """Where a method is clearly better than ours: on average, and for which labels."""

    on_average: bool
    labels: RowNumbers


class BaselineComparison(NamedTuple):
    """AP and AUC of several methods on the same rows.

    Attributes
    ----------
    rows : int
        How many rows were compared.
    labels : array of shape (L,)
        Which labels were compared.
    AP, AUC : {method: array of shape (L,)}
    ahead : {method: array of shape (B, L)}
        How much higher the AP of a method is than ours, for each resample of the rows.
    """

    rows: int
    labels: RowNumbers
    AP: dict[str, FloatArray]
    AUC: dict[str, FloatArray]
    ahead: dict[str, FloatArray]

    def leads(self) -> dict[str, Lead]:
        """Methods whose AP is higher than ours beyond what chance does.

        The interval of the difference over resamples lies above 0: that of 95 % for the
        mean over labels, of 99 % for one label.
        """
        leads = {}
        for method, ahead in self.ahead.items():
            is_known = np.isfinite(ahead).any(axis=0)
            if not is_known.any():
                continue
            mean = np.nanpercentile(mean_of_known(ahead, axis=1), 2.5)
            each = np.nanpercentile(ahead[:, is_known], 0.5, axis=0)
            labels = self.labels[is_known][each > 0]
            if mean > 0 or len(labels):
                leads[method] = Lead(on_average=bool(mean > 0), labels=labels)
        return leads


def compare(
    model: MLTSKClassifier,
    X: Samples,
    Y: FloatArray,
    *,
    seed: int = 0,
    done: Callable[[], object] = lambda: None,
) -> BaselineComparison:
    """Compare a classifier with other methods.

    Parameters
    ----------
    model : MLTSKClassifier
        Unfitted.
    X : data frame or CSR matrix of n rows
    Y : array of shape (n, L)
        Labels of 0 and 1, NaN where not observed.
    seed : int
        Of folds, of the forest and of resamples.
    done : callable
        Called after each fold.
    """
    rows = np.arange(len(Y))[spread_rows(len(Y), MAX_COMPARED_ROWS)]
    n_labels = min(Y.shape[1], MAX_COMPARED_LABELS)
    labels = np.linspace(0, Y.shape[1] - 1, n_labels).round().astype(int)
    X = take_rows(X, rows)
    Y = Y[np.ix_(rows, labels)]
    scores = _scores_of_unseen(model, X, Y, seed=seed, done=done)
    weights = resamples(len(Y), n_labels, seed)

    shape = (len(COMPARED_METHODS), n_labels)
    AP = np.zeros(shape)
    AUC = np.zeros(shape)
    resampled_AP = np.zeros((shape[0], len(weights), n_labels))
    for m, j in np.ndindex(shape):
        is_seen = ~np.isnan(Y[:, j])
        y = Y[is_seen, j] > 0
        draws = scores[m][:, is_seen, j]
        AP[m, j], AUC[m, j] = _mean_ranking(y, draws)[:, 0]
        resampled_AP[m, :, j] = _mean_ranking(y, draws, weights[:, is_seen])[0]
    ours, _, linear, forest = resampled_AP
    return BaselineComparison(
        rows=len(rows),
        labels=labels,
        AP=dict(zip(COMPARED_METHODS, AP, strict=True)),
        AUC=dict(zip(COMPARED_METHODS, AUC, strict=True)),
        ahead={LINEAR: linear - ours, FOREST: forest - ours},
    )


def n_draws(n_rows: int) -> int:
    """How often folds are drawn."""
    return 2 if n_rows <= MAX_ROWS_DRAWN_TWICE else 1


def take_rows(X: Samples, rows: RowNumbers) -> Samples:
    """Some rows of a data frame or a matrix, by position."""
    return X.iloc[rows] if isinstance(X, DataFrame) else X[rows]


def _mean_ranking(
    y: NDArray[np.bool_], draws: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """AP and AUC of scores (R, n), means over draws of folds: (2, 1) or (2, B)."""
    return np.mean([ranking(y, scores, weights) for scores in draws], axis=0)


def _scores_of_unseen(
    model: MLTSKClassifier,
    X: Samples,
    Y: FloatArray,
    *,
    seed: int,
    done: Callable[[], object],
) -> FloatArray:
    """Scores (M, R, n, L) by methods that have not seen the row."""
    cells = _usual_cells(X)
    scores = np.zeros((len(COMPARED_METHODS), n_draws(len(Y)), *Y.shape))
    for draw in range(n_draws(len(Y))):
        folds = KFold(COMPARISON_FOLDS, shuffle=True, random_state=seed + draw)
        for train, test in folds.split(Y):
            scores[:2, draw, test] = _our_scores(model, X, Y, (train, test))
            scores[2:, draw, test] = _other_scores(cells, Y, (train, test), seed)
            done()
    return scores


def _our_scores(
    model: MLTSKClassifier,
    X: Samples,
    Y: FloatArray,
    fold: tuple[RowNumbers, RowNumbers],
) -> FloatArray:
    """Probabilities of test rows by the whole model and by the short one, (2, n, L)."""
    train, test = fold
    unseen = take_rows(X, test)
    # A label that no training row was observed for is the same for all test rows.
    scores = np.full((2, len(test), Y.shape[1]), 0.5)
    observed = np.flatnonzero(~np.isnan(Y[train]).all(axis=0))
    if not len(observed):
        return scores
    with warnings.catch_warnings(action="ignore"):
        long = clone(model).set_params(threshold=0.5, max_statements=None)
        long.fit(take_rows(X, train), DataFrame(Y[np.ix_(train, observed)]))
        short = long.shorten(REVIEW_STATEMENTS)
        scores[0][:, observed] = long.predict_proba(unseen)
        scores[1][:, observed] = short.predict_proba(unseen)
    return scores


def _other_scores(
    cells: Samples, Y: FloatArray, fold: tuple[RowNumbers, RowNumbers], seed: int
) -> FloatArray:
    """Scores of test rows by logistic regression and by forests, (2, n of test, L)."""
    train, test = fold
    known, unseen = _as_numbers(cells, train, test)
    Y = Y[train]
    scores = np.zeros((2, len(test), Y.shape[1]))
    for labels in _observed_together(Y):
        is_seen = ~np.isnan(Y[:, labels[0]])
        A = known[is_seen]
        y = Y[is_seen][:, labels].astype(int)
        for j, column in zip(labels, y.T, strict=True):
            linear = LogisticRegression(max_iter=1000).fit(A, column)
            scores[0, :, j] = linear.decision_function(unseen)
        forest = RandomForestClassifier(100, min_samples_leaf=3, random_state=seed)
        forest.fit(A, y[:, 0] if len(labels) == 1 else y)
        scores[1][:, labels] = label_scores(forest, unseen, len(labels))
    return scores


def _observed_together(Y: FloatArray) -> list[list[int]]:
    """Groups of labels that were observed in the same rows: a forest for each.

    Labels that all of these rows have, or none, are left out.
    """
    groups: dict[bytes, list[int]] = {}
    for j, y in enumerate(Y.T):
        is_seen = ~np.isnan(y)
        if len(np.unique(y[is_seen])) == 2:
            groups.setdefault(is_seen.tobytes(), []).append(j)
    return list(groups.values())


def _usual_cells(X: Samples) -> Samples:
    """A table for scikit-learn's transformers: levels as ranks, other words as text.

    Very large and very small numbers are put in other units, as squares of them are no
    numbers.
    """
    if sparse.issparse(X):
        return in_ordinary_size(X)
    X = X.copy()
    for name, column in X.items():
        is_present = column.notna()
        if column.dtype == "category" and column.cat.ordered:
            X[name] = column.cat.codes.where(is_present).astype(float)
        elif column.dtype.kind not in "iuf":
            words = column.astype(object).where(is_present, MISSING).astype(str)
            X[name] = words.astype("category")
        else:
            factor = float(unit_factors(np.array(column.abs().max(), dtype=float)))
            if factor != 1:
                X[name] = column * factor
    return X


def _as_numbers(
    cells: Samples, train: RowNumbers, test: RowNumbers
) -> tuple[FloatArray | CSR, FloatArray | CSR]:
    """Training and test rows as numbers, prepared by what the training rows say."""
    known = take_rows(cells, train)
    unseen = take_rows(cells, test)
    if sparse.issparse(cells):
        to_unit_length = Normalizer()
        return to_unit_length.transform(known), to_unit_length.transform(unseen)
    imputer = SimpleImputer(
        strategy="median", add_indicator=True, keep_empty_features=True
    )
    encoder = OneHotEncoder(
        handle_unknown="ignore", min_frequency=5, sparse_output=False
    )
    prepared = make_column_transformer(
        (
            make_pipeline(imputer, StandardScaler()),
            make_column_selector(dtype_include="number"),
        ),
        (encoder, make_column_selector(dtype_include="category")),
    )
    with warnings.catch_warnings(action="ignore"):  # unknown categories in test rows
        return prepared.fit_transform(known), prepared.transform(unseen)
