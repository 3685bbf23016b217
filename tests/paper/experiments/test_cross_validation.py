"""Cross-validation: folds, stratified ones as a scikit-learn splitter, summaries."""

import warnings

import numpy as np
import pandas as pd
import pytest
from iterstrat.ml_stratifiers import MultilabelStratifiedKFold
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.neighbors import KNeighborsClassifier

from mltsk import MLTSKClassifier
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.metrics import evaluate
from mltsk.paper.experiments.cross_validation import (
    IterativeStratification,
    cross_validate_metrics,
    shuffled_folds,
)

DATA = make_multilabel_rules(n_samples=90, random_state=0)


class Constant(ClassifierMixin, BaseEstimator):
    """Scores that depend on nothing, with a warning."""

    def fit(self, X, y):
        warnings.warn(f"{len(X)} rows", UserWarning, stacklevel=2)
        return self

    def decision_function(self, X):
        return np.tile(np.arange(5.0) - 2, (len(X), 1))

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


def test_folds_part_the_rows_and_are_shuffled():
    folds = shuffled_folds(23, n_splits=5, random_state=3)
    tests = np.concatenate([test for _, test in folds])
    assert_array_equal(np.sort(tests), np.arange(23))
    assert not np.array_equal(tests, np.arange(23))
    assert all(
        set(train).isdisjoint(test) and len(train) + len(test) == 23
        for train, test in folds
    )


def test_folds_repeat_with_their_seed_only():
    a, b, c = (shuffled_folds(50, random_state=seed) for seed in (1, 1, 2))
    assert_array_equal(a[0][1], b[0][1])
    assert not np.array_equal(a[0][1], c[0][1])


@pytest.mark.parametrize("n_splits", [1, 12])
def test_impossible_numbers_of_folds_are_refused(n_splits):
    with pytest.raises(InputError, match=f"{n_splits} folds cannot be made of 10 rows"):
        shuffled_folds(10, n_splits=n_splits)


def test_the_table_holds_what_evaluate_says_of_each_fold():
    folds = shuffled_folds(90, n_splits=3)
    model = MLTSKClassifier(n_rules=3)
    cv = cross_validate_metrics(model, DATA.X, DATA.Y, folds=folds, convention="paper")
    train, test = folds[1]
    fitted = MLTSKClassifier(n_rules=3).fit(DATA.X[train], DATA.Y[train])
    expected = evaluate(
        DATA.Y[test],
        fitted.decision_function(DATA.X[test]),
        threshold=0,
        convention="paper",
    )
    assert list(cv.table) == list(expected)
    assert_allclose(cv.table.loc[1], list(expected.values()), rtol=1e-12)
    assert not hasattr(model, "coef_")


def test_the_summary_is_mean_and_sd_with_n_minus_1():
    cv = cross_validate_metrics(
        MLTSKClassifier(2), DATA.X, DATA.Y, folds=shuffled_folds(90, 3)
    )
    ap = cv.table["AP"]
    assert_allclose(
        [cv.mean["AP"], cv.sd["AP"]],
        [ap.mean(), np.sqrt(((ap - ap.mean()) ** 2).sum() / 2)],
    )


def test_warnings_are_not_shown_once_per_fold():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cross_validate_metrics(Constant(), DATA.X, DATA.Y, folds=shuffled_folds(90, 3))


def test_data_frames_and_sparse_rows_are_split_too():
    thin = make_multilabel_rules(n_samples=60, sparse=True, random_state=0)
    folds, model = shuffled_folds(60, 3), MLTSKClassifier(2)
    assert (
        0 < cross_validate_metrics(model, thin.X, thin.Y, folds=folds).mean["AP"] <= 1
    )
    dense, framed = (
        cross_validate_metrics(model, X, Y, folds=folds)
        for X, Y in ((DATA.X, DATA.Y), DATA.frames())
    )
    assert framed.mean == dense.mean


def test_one_fold_has_no_standard_deviation_and_is_refused():
    with pytest.raises(InputError, match="at least two folds"):
        cross_validate_metrics(Constant(), DATA.X, DATA.Y, folds=shuffled_folds(90)[:1])


def labels(n=403, n_labels=12, seed=0):
    """Labels from common to rare, correlated, and some rows without any."""
    rng = np.random.default_rng(seed)
    common = rng.random((n, 1)) < 0.7
    return (
        common & (rng.random((n, n_labels)) < np.geomspace(0.5, 0.01, n_labels))
    ).astype(int)


def deviation(Y, cv):
    return np.mean(
        [np.abs(Y[test].mean(axis=0) - Y.mean(axis=0)) for _, test in cv.split(Y, Y)]
    )


def test_every_row_is_tested_once_and_sizes_differ_by_one_at_most():
    Y = labels()
    tests = [test for _, test in IterativeStratification(5, random_state=0).split(Y, Y)]
    assert_array_equal(np.sort(np.concatenate(tests)), np.arange(403))
    assert sorted(map(len, tests)) == [80, 80, 81, 81, 81]


@pytest.mark.parametrize("seed", range(3))
def test_rates_are_kept_as_well_as_by_another_package_and_better_than_by_chance(seed):
    Y = labels(seed=seed)
    ours = deviation(Y, IterativeStratification(5, random_state=seed))
    assert ours < 0.5 * deviation(Y, KFold(5, shuffle=True, random_state=seed))
    assert ours < 1.1 * deviation(
        Y, MultilabelStratifiedKFold(5, shuffle=True, random_state=seed)
    )


def test_single_labels_are_dealt_exactly():
    Y = np.eye(4, dtype=int)[np.repeat(np.arange(4), [40, 25, 10, 5])]
    for _, test in IterativeStratification(5, random_state=1).split(Y, Y):
        assert Y[test].sum(axis=0).tolist() == [8, 5, 2, 1]


def test_rows_without_labels_are_spread_evenly():
    Y = np.zeros((100, 2), dtype=int)
    Y[:20, 0] = 1
    empty = [
        int((Y[test].sum(axis=1) == 0).sum())
        for _, test in IterativeStratification(4, random_state=0).split(Y, Y)
    ]
    assert empty == [20, 20, 20, 20]


def test_a_label_with_fewer_positives_than_folds_is_never_lost_from_training():
    Y = np.zeros((50, 3), dtype=int)
    Y[[0, 1], 0] = Y[[5, 6, 7], 1] = Y[10:40, 2] = 1
    for train, test in IterativeStratification(5, random_state=3).split(Y, Y):
        assert Y[train].sum(axis=0).all()
        assert (Y[test].sum(axis=0)[:2] <= 1).all()


def test_order_two_keeps_pairs_better():
    rng = np.random.default_rng(5)
    Y = (rng.random((300, 6)) < 0.35).astype(int)
    first, second = np.triu_indices(6, k=1)
    pairs = Y[:, first] * Y[:, second]
    kept = [
        np.mean(
            [
                np.abs(pairs[test].mean(axis=0) - pairs.mean(axis=0))
                for _, test in cv.split(Y, Y)
            ]
        )
        for cv in (
            IterativeStratification(5, random_state=0, order=order) for order in (1, 2)
        )
    ]
    assert kept[1] < 0.7 * kept[0]


def test_the_seed_decides():
    Y = labels()
    folds = [
        np.concatenate(
            [
                test
                for _, test in IterativeStratification(4, random_state=seed).split(Y, Y)
            ]
        )
        for seed in (7, 7, 8)
    ]
    assert_array_equal(folds[0], folds[1])
    assert (folds[0] != folds[2]).any()


@pytest.mark.parametrize(
    "form",
    [
        sparse.csr_matrix,
        sparse.csc_array,
        pd.DataFrame,
        np.ndarray.tolist,
        lambda Y: Y.astype(bool),
        np.float32,
    ],
)
def test_all_forms_of_y_give_the_same_folds(form):
    Y = labels(60, 4)
    for (_, a), (_, b) in zip(
        IterativeStratification(3, random_state=0).split(Y, Y),
        IterativeStratification(3, random_state=0).split(Y, form(Y)),
        strict=True,
    ):
        assert_array_equal(a, b)


def test_it_is_a_splitter_of_scikit_learn():
    Y, cv = labels(120, 4), IterativeStratification(3, random_state=0)
    X = np.random.default_rng(0).random((120, 3))
    assert cv.get_n_splits() == 3
    assert repr(cv) == "IterativeStratification(n_splits=3, order=1, random_state=0)"
    assert len(cross_validate(KNeighborsClassifier(), X, Y, cv=cv)["test_score"]) == 3
    search = GridSearchCV(
        clone(KNeighborsClassifier()), {"n_neighbors": [3, 5]}, cv=cv
    ).fit(X, Y)
    assert search.n_splits_ == 3


@pytest.mark.parametrize(
    ("arguments", "y", "message"),
    [
        ({}, None, "need the labels"),
        ({}, [[0, 2], [1, 0]], "0 and 1"),
        ({}, [[0, np.nan], [1, 0]], "0 and 1"),
        ({"n_splits": 3}, [[0, 1], [1, 0]], "3 folds cannot be made of 2 rows"),
        ({"n_splits": 1}, [[0, 1], [1, 0]], "1 folds cannot be made"),
        ({"order": 3}, [[0, 1], [1, 0]], "order is 1"),
        ({}, [0, 1], "indicator matrix"),
    ],
)
def test_what_cannot_be_split_is_refused_with_a_sentence(arguments, y, message):
    with pytest.raises(InputError, match=message):
        list(
            IterativeStratification(**{"n_splits": 2, **arguments}).split(
                np.zeros((2, 1)), y
            )
        )
