"""Boosted trees of three libraries. Size is a split, per label."""

from typing import Any

import numpy as np

from . import CannotFit
from .fold import Fold
from .several import AllAtOnce, PerLabel


def lightgbm(fold: Fold) -> PerLabel:
    from lightgbm import LGBMClassifier

    X, X_test = fold.own_form
    if fold.cells is not None:  # it takes no spaces and brackets in names
        names = [f"f{place}" for place in range(X.shape[1])]
        X = X.set_axis(names, axis=1)
        X_test = X_test.set_axis(names, axis=1)

    def splits(model: Any) -> int:
        trees = model.booster_.dump_model()["tree_info"]
        return sum(tree["num_leaves"] - 1 for tree in trees)

    return PerLabel(
        X,
        X_test,
        fold.Y,
        lambda _: LGBMClassifier(n_jobs=1, random_state=0, verbose=-1),
        splits,
    )


def xgboost(fold: Fold) -> Any:
    """One model with trees per label, or a model each where some were not observed."""
    from xgboost import XGBClassifier

    X, X_test = fold.own_form

    def make(_: Any = None) -> Any:
        return XGBClassifier(n_jobs=1, random_state=0, enable_categorical=True)

    def splits(model: Any) -> float:
        n_leaves = 0
        trees = model.get_booster().get_dump()
        for tree in trees:
            n_leaves += tree.count("leaf=")
        n_labels = fold.Y.shape[1] if fold.has_all_labels else 1
        return (n_leaves - len(trees)) / n_labels

    if fold.has_all_labels:
        return AllAtOnce(X, X_test, fold.Y, make(), splits)
    return PerLabel(X, X_test, fold.Y, make, splits)


def catboost(fold: Fold) -> PerLabel:
    X, X_test, words = _for_catboost(fold)
    return PerLabel(
        X, X_test, fold.Y, lambda _: _catboost(words, loss="Logloss"), _catboost_splits
    )


def catboost_all_labels(fold: Fold) -> AllAtOnce:
    if not fold.has_all_labels:
        raise CannotFit("refuses labels that were not observed")
    values = [len(np.unique(y)) for y in fold.Y.T]
    if min(values) == 1:
        raise CannotFit("refuses labels of one value")
    X, X_test, words = _for_catboost(fold)
    model = _catboost(words, loss="MultiLogloss")
    return AllAtOnce(X, X_test, fold.Y, model, _catboost_splits)


def _catboost(words: list[str], *, loss: str) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        loss_function=loss,
        cat_features=words,
        thread_count=1,
        random_seed=0,
        verbose=False,
        allow_writing_files=False,
    )


def _for_catboost(fold: Fold) -> tuple[Any, Any, list[str]]:
    """Rows as it takes them, with a word where a category is missing."""
    X, X_test = fold.own_form
    if fold.cells is None:
        return X, X_test, []
    words = list(X.select_dtypes("category").columns)
    filled = []
    for frame in (X, X_test):
        as_words = frame[words].astype(object).fillna("missing")
        filled.append(frame.assign(**{word: as_words[word] for word in words}))
    return filled[0], filled[1], words


def _catboost_splits(model: Any) -> int:
    """Trees are symmetric: a tree of 2^d leaves asks d questions."""
    leaves = np.asarray(model.get_tree_leaf_counts())
    return int(np.log2(leaves).sum())
