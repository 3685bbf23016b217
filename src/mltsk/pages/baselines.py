"""Our model, the same in a few statements, logistic regression and a forest on the same folds.

Every row is scored by models that have not seen it. Of large tables some rows and labels are compared, evenly spread.
Cells are prepared as is usual for these methods: medians and a mark in place of what is missing, a column per category.
"""

import warnings
from collections.abc import Callable
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
METHODS = (OURS, SHORT, LINEAR, FOREST)


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
    cells, take = _cells(X), X.iloc if hasattr(X, "iloc") else X
    scores = np.zeros((len(METHODS), n_draws(len(Y)), *Y.shape))
    for r in range(n_draws(len(Y))):
        for train, test in KFold(FOLDS, shuffle=True, random_state=seed + r).split(Y):
            with warnings.catch_warnings(action="ignore"):
                fitted = clone(model).set_params(threshold=0.5, max_terms=None).fit(take[train], DataFrame(Y[train]))
                scores[:2, r, test] = [one.predict_proba(take[test]) for one in (fitted, fitted.shorten(TERMS))]
            scores[2:, r, test] = _others(*_prepared(cells, train, test), Y[train], seed)
            done()
    weights = resamples(len(Y), len(labels), seed)
    (AP, AUC), drawn = np.zeros((2, len(METHODS), len(labels))), np.zeros((len(METHODS), len(weights), len(labels)))
    for m, j in np.ndindex(AP.shape):  # means over draws
        seen = ~np.isnan(Y[:, j])
        y, each = Y[seen, j] > 0, scores[m][:, seen, j]
        AP[m, j], AUC[m, j] = np.mean([np.concatenate(ranking(y, s)) for s in each], axis=0)
        drawn[m, :, j] = np.mean([ranking(y, s, weights[:, seen])[0] for s in each], axis=0)
    ahead = {name: drawn[m] - drawn[0] for m, name in enumerate(METHODS) if name in (LINEAR, FOREST)}
    by_method = [dict(zip(METHODS, part, strict=True)) for part in (AP, AUC)]
    return Comparison(len(rows), labels, by_method[0], by_method[1], ahead)


def n_draws(n_rows: int) -> int:
    """How often folds are drawn."""
    return 2 if n_rows <= FEW_ROWS else 1


def _cells(X: Any) -> Any:
    """A table as scikit-learn's transformers take it: ordered categories as ranks, other words as text."""
    if sparse.issparse(X):
        return X
    X = X.copy()
    for name, column in X.items():
        if column.dtype == "category" and column.cat.ordered:
            X[name] = column.cat.codes.where(column.notna()).astype(float)
        elif column.dtype.kind not in "iuf":
            X[name] = column.astype(object).where(column.notna(), MISSING).astype(str).astype("category")
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


def _others(A: Any, B: Any, Y: Array, seed: int) -> Array:
    """Scores of rows B by logistic regression and by forests of rows A with labels Y."""
    scores, together = np.zeros((2, B.shape[0], Y.shape[1])), dict[bytes, list[int]]()
    for j, y in enumerate(Y.T):
        seen = ~np.isnan(y)
        if len(np.unique(y[seen])) == 2:
            scores[0, :, j] = LogisticRegression(max_iter=1000).fit(A[seen], y[seen]).decision_function(B)
            together.setdefault(seen.tobytes(), []).append(j)
    for labels in together.values():  # a forest for those that were observed in the same rows
        seen = ~np.isnan(Y[:, labels[0]])
        y = Y[seen][:, labels].astype(int)
        forest = RandomForestClassifier(100, min_samples_leaf=3, random_state=seed)
        forest.fit(A[seen], y[:, 0] if len(labels) == 1 else y)
        scores[1][:, labels] = label_scores(forest, B, len(labels))
    return scores
