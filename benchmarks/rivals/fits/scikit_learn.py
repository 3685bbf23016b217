"""scikit-learn's methods. Size is a split or a coefficient that is not 0, per label."""

from typing import Any

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedKFold,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import l1_min_c
from sklearn.tree import DecisionTreeClassifier

from . import SHORT
from .fold import Fold
from .several import AllAtOnce, PerLabel

N_WEIGHTS = 8
N_INNER_FOLDS = 5
# From this many labels on they share one weight: one each takes an hour on 174 labels.
MANY_LABELS = 50
FEW_WEIGHTS = (0.1, 1.0, 10.0, 100.0)
N_FEW_FOLDS = 3
N_PENALTIES = 25


def random_forest(fold: Fold) -> Any:
    return forest(fold, RandomForestClassifier)


def extra_trees(fold: Fold) -> Any:
    return forest(fold, ExtraTreesClassifier)


def forest(fold: Fold, kind: type) -> Any:
    """One forest of all labels, or one per label where some were not observed."""
    X, X_test = fold.numbers, fold.numbers_test
    if fold.has_all_labels:
        return AllAtOnce(X, X_test, fold.Y, kind(random_state=0), splits_of_forest)
    return PerLabel(X, X_test, fold.Y, lambda _: kind(random_state=0), splits_of_forest)


def splits_of_forest(model: Any) -> int:
    return sum(tree.tree_.n_leaves - 1 for tree in model.estimators_)


def histogram_boosting(fold: Fold) -> PerLabel:
    X, X_test = fold.own_form
    if fold.is_sparse:
        X, X_test = fold.dense
    return PerLabel(
        X,
        X_test,
        fold.Y,
        lambda _: HistGradientBoostingClassifier(random_state=0),
        splits_of_boosting,
    )


def splits_of_boosting(model: Any) -> int:
    splits = 0
    for trees in model._predictors:
        splits += sum(tree.get_n_leaf_nodes() - 1 for tree in trees)
    return splits


class RidgeScores:
    """Kernel ridge regression of 0 and 1, whose values stand for probabilities."""

    def __init__(self, gamma: float, *, is_sparse: bool) -> None:
        scaler = StandardScaler(with_mean=not is_sparse)
        self.model = make_pipeline(scaler, KernelRidge(kernel="rbf", gamma=gamma))

    def fit(self, X: Any, Y: np.ndarray) -> None:
        self.model.fit(X, Y)

    def predict_proba(self, X: Any) -> np.ndarray:
        values = np.clip(self.model.predict(X), 0, 1)
        if values.ndim == 2:
            return values
        return np.column_stack([1 - values, values])


def kernel_ridge(fold: Fold) -> Any:
    X, X_test = fold.numbers, fold.numbers_test
    gamma = 1 / X.shape[1]

    def make(_: Any = None) -> RidgeScores:
        return RidgeScores(gamma, is_sparse=fold.is_sparse)

    def rows_kept(model: RidgeScores) -> int:
        return len(model.model[-1].dual_coef_)

    if fold.has_all_labels:
        return AllAtOnce(X, X_test, fold.Y, make(), rows_kept)
    return PerLabel(X, X_test, fold.Y, make, rows_kept)


def logistic_regression(fold: Fold) -> Any:
    """Ridge-penalised, with a weight per label, or one for all where they are many."""
    X, X_test = fold.numbers, fold.numbers_test
    if fold.Y.shape[1] < MANY_LABELS:
        return PerLabel(
            X,
            X_test,
            fold.Y,
            lambda rows: weighed_logistic(fold, rows),
            lambda model: np.count_nonzero(model[-1].coef_),
        )
    scaler = Normalizer() if fold.is_sparse else StandardScaler()
    labels = OneVsRestClassifier(LogisticRegression(solver="liblinear"))
    search = GridSearchCV(
        make_pipeline(scaler, labels),
        {"onevsrestclassifier__estimator__C": FEW_WEIGHTS},
        scoring=minus_log_loss,
        cv=KFold(N_FEW_FOLDS, shuffle=True, random_state=0),
    )
    return AllAtOnce(X, X_test, fold.Y, search, coefficients_per_label)


def minus_log_loss(model: Any, X: Any, Y: np.ndarray) -> float:
    chances = np.clip(model.predict_proba(X), 1e-3, 1 - 1e-3)
    return float(np.mean(Y * np.log(chances) + (1 - Y) * np.log(1 - chances)))


def coefficients_per_label(search: Any) -> float:
    counts = []
    for model in search.best_estimator_[-1].estimators_:
        counts.append(np.count_nonzero(getattr(model, "coef_", 0)))
    return float(np.mean(counts))


def weighed_logistic(fold: Fold, rows: np.ndarray) -> Any:
    """Inner folds keep groups together where there are any."""
    scaler = Normalizer() if fold.is_sparse else StandardScaler()
    cv: Any = StratifiedKFold(N_INNER_FOLDS)
    if fold.groups is not None:
        groups = fold.groups[rows]
        cv = list(GroupKFold(N_INNER_FOLDS).split(rows, groups=groups))
    regression = LogisticRegressionCV(
        Cs=N_WEIGHTS,
        cv=cv,
        scoring="neg_log_loss",
        solver="liblinear" if fold.is_sparse else "lbfgs",
        max_iter=1000,
    )
    return make_pipeline(scaler, regression)


class ShortLogistic:
    """The weakest L1 penalty with at most 12 coefficients, and these fitted again."""

    def fit(self, X: Any, y: np.ndarray) -> None:
        self.scaler = StandardScaler(with_mean=isinstance(X, np.ndarray)).fit(X)
        X = self.scaler.transform(X)
        self.used = np.array([], dtype=int)
        for C in l1_min_c(X, y, loss="log") * np.logspace(0.02, 2.5, N_PENALTIES):
            model = LogisticRegression(
                l1_ratio=1, C=C, solver="liblinear", max_iter=200
            )
            used = np.flatnonzero(model.fit(X, y).coef_)
            if len(used) > SHORT:
                break
            self.used = used
        self.rate = float(y.mean())
        if len(self.used):
            self.model = LogisticRegression(max_iter=2000).fit(X[:, self.used], y)

    def predict_proba(self, X: Any) -> np.ndarray:
        if len(self.used) == 0:
            return np.tile([1 - self.rate, self.rate], (X.shape[0], 1))
        return self.model.predict_proba(self.scaler.transform(X)[:, self.used])


def short_logistic(fold: Fold) -> PerLabel:
    return PerLabel(
        fold.numbers,
        fold.numbers_test,
        fold.Y,
        lambda _: ShortLogistic(),
        lambda model: len(model.used),
    )


def short_tree(fold: Fold) -> PerLabel:
    return PerLabel(
        fold.numbers,
        fold.numbers_test,
        fold.Y,
        lambda _: DecisionTreeClassifier(
            max_leaf_nodes=SHORT + 1, min_samples_leaf=10, random_state=0
        ),
        lambda model: model.get_n_leaves() - 1,
    )
