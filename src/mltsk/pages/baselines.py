"""Our model, the same in a few statements, logistic regression and a forest on the same folds.

Every row is scored by models that have not seen it. Of large tables some rows and labels are compared, evenly spread.
Cells are prepared as is usual for these methods: medians and a mark in place of what is missing, a column per category.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
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

from ..columns import MISSING
from ..core.arrays import Array, spread_rows
from ..metrics.curves import ranking, resamples
from ..metrics.scorers import label_scores

FOLDS, MOST_ROWS, MOST_LABELS = 5, 3000, 30
FEW_ROWS = 1000  # up to here folds are drawn twice: on pbc one draw moves the AP of a rare label by a tenth
TERMS = 12  # per label of the model in words
OURS, SHORT, LINEAR, FOREST = "this model", f"its {TERMS} statements", "logistic regression", "forest"


@dataclass(frozen=True)
class Comparison:
    """AP and AUC of methods on the same rows, {method: (L,)}, of the ``labels`` (L,) that were compared.

    ``ahead`` are methods and how much higher their AP is than ours, (B, L): a row per resample of the rows.
    """

    rows: int
    labels: Array
    AP: dict[str, Array]
    AUC: dict[str, Array]
    ahead: dict[str, Array]


def compare(model: Any, X: Any, Y: Array, *, seed: int = 0, done: Callable[[], object] = lambda: None) -> Comparison:
    """Compare an unfitted classifier with the others on rows X and labels Y (n, L), NaN where not observed.

    ``done`` is called after each fold, that is FOLDS times `n_draws`.
    """
    rows = np.arange(len(Y))[spread_rows(len(Y), MOST_ROWS)]
    labels = np.linspace(0, Y.shape[1] - 1, min(Y.shape[1], MOST_LABELS)).round().astype(int)
    X, Y = X.iloc[rows] if hasattr(X, "iloc") else X[rows], Y[np.ix_(rows, labels)]
    cells = _cells(X)
    scores = {name: np.zeros((n_draws(len(Y)), *Y.shape)) for name in (OURS, SHORT, LINEAR, FOREST)}
    for r in range(n_draws(len(Y))):
        for train, test in KFold(FOLDS, shuffle=True, random_state=seed + r).split(Y):
            scores[OURS][r, test], scores[SHORT][r, test] = _ours(model, X, Y, train, test)
            A, B = _prepared(cells, train, test)
            scores[LINEAR][r, test] = _linear(A, Y[train], B)
            scores[FOREST][r, test] = _forest(A, Y[train], B, seed)
            done()
    found, drawn = _judged(Y, scores, seed)
    ahead: dict[str, Array] = {name: drawn[name] - drawn[OURS] for name in (LINEAR, FOREST)}
    AP, AUC = ({name: part[i] for name, part in found.items()} for i in (0, 1))
    return Comparison(len(rows), labels, AP, AUC, ahead)


def n_draws(n_rows: int) -> int:
    """How often folds are drawn."""
    return 2 if n_rows <= FEW_ROWS else 1


def _judged(Y: Array, scores: dict[str, Array], seed: int) -> tuple[dict[str, Any], dict[str, Array]]:
    """(AP, AUC) of each method, (2, L), and its AP on resamples of the rows, the same for all; means over draws."""
    found, drawn = dict[str, Any](), dict[str, Array]()
    weights = resamples(Y.shape[0], Y.shape[1], seed)
    for name, tables in scores.items():
        points, spread = [], []
        for S in tables:
            parts = [(Y[seen, j] > 0, S[seen, j], weights[:, seen]) for j, seen in enumerate(~np.isnan(Y).T)]
            points.append(np.array([np.concatenate(ranking(y, s)) for y, s, _ in parts]).T)
            spread.append(np.array([ranking(y, s, w)[0] for y, s, w in parts]).T)
        found[name], drawn[name] = np.mean(points, axis=0), np.mean(spread, axis=0)
    return found, drawn


def _ours(model: Any, X: Any, Y: Array, train: Array, test: Array) -> list[Array]:
    """Probabilities of the whole model and of the short one."""
    take = X.iloc if hasattr(X, "iloc") else X
    with warnings.catch_warnings(action="ignore"):
        fitted = clone(model).set_params(threshold=0.5, max_terms=None).fit(take[train], DataFrame(Y[train]))
        return [np.asarray(one.predict_proba(take[test])) for one in (fitted, fitted.shorten(TERMS))]


def _cells(X: Any) -> Any:
    """A table as scikit-learn's transformers take it: ordered categories as ranks, other words as text."""
    if sparse.issparse(X):
        return X
    X = X.copy()
    for name in X:
        if X[name].dtype == "category" and X[name].cat.ordered:
            X[name] = X[name].cat.codes.where(X[name].notna(), np.nan).astype(float)
        elif X[name].dtype.kind not in "iuf":
            X[name] = X[name].astype(object).where(X[name].notna(), MISSING).astype(str).astype("category")
    return X


def _prepared(X: Any, train: Array, test: Array) -> tuple[Any, Any]:
    """Training and test rows as numbers, by what the training rows say."""
    if sparse.issparse(X):
        rows = Normalizer().transform(X)
        return rows[train], rows[test]
    filled = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    words = OneHotEncoder(handle_unknown="ignore", min_frequency=5, sparse_output=False)
    chosen = make_column_transformer(
        (make_pipeline(filled, StandardScaler()), make_column_selector(dtype_include="number")),
        (words, make_column_selector(dtype_include="category")),
    )
    with warnings.catch_warnings(action="ignore"):  # a category that the training rows do not have
        return chosen.fit_transform(X.iloc[train]), chosen.transform(X.iloc[test])


def _linear(A: Any, Y: Array, B: Any) -> Array:
    scores = np.zeros((B.shape[0], Y.shape[1]))
    for j, y in enumerate(Y.T):
        seen = ~np.isnan(y)
        if len(np.unique(y[seen])) == 2:
            scores[:, j] = LogisticRegression(max_iter=1000).fit(A[seen], y[seen]).decision_function(B)
    return scores


def _forest(A: Any, Y: Array, B: Any, seed: int) -> Array:
    scores = np.zeros((B.shape[0], Y.shape[1]))
    for labels in _observed_together(Y):
        seen = ~np.isnan(Y[:, labels[0]])
        if seen.any():
            forest = RandomForestClassifier(100, min_samples_leaf=3, random_state=seed)
            y = Y[np.ix_(seen, labels)].astype(int)
            forest.fit(A[seen], y[:, 0] if len(labels) == 1 else y)
            scores[:, labels] = label_scores(forest, B, len(labels))
    return scores


def _observed_together(Y: Array) -> Iterator[Array]:
    """Labels, in groups of those that were observed in the same rows and have both values."""
    patterns: dict[bytes, list[int]] = {}
    for j, y in enumerate(Y.T):
        if len(np.unique(y[~np.isnan(y)])) == 2:
            patterns.setdefault(np.isnan(y).tobytes(), []).append(j)
    yield from map(np.array, patterns.values())
