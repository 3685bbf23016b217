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


def test_shuffled_folds_part_the_rows_and_are_shuffled():
    folds = shuffled_folds(23, n_splits=5, random_state=3)
    tests = np.concatenate([test for _, test in folds])
    assert_array_equal(np.sort(tests), np.arange(23))
    assert not np.array_equal(tests, np.arange(23))
    for train, test in folds:
        assert set(train).isdisjoint(test)
        assert len(train) + len(test) == 23


def test_shuffled_folds_repeat_with_their_seed_only():
    a, b, c = (shuffled_folds(50, random_state=seed) for seed in (1, 1, 2))
    assert_array_equal(a[0][1], b[0][1])
    assert not np.array_equal(a[0][1], c[0][1])


@pytest.mark.parametrize("n_splits", [1, 12])
def test_shuffled_folds_refuse_impossible_numbers_of_folds(n_splits):
    with pytest.raises(InputError, match=f"{n_splits} folds cannot be made of 10 rows"):
        shuffled_folds(10, n_splits=n_splits)


def test_the_table_of_cross_validate_metrics_holds_what_evaluate_says_of_each_fold():
    folds = shuffled_folds(90, n_splits=3)
    model = MLTSKClassifier(n_rules=3)
    cv = cross_validate_metrics(model, DATA.X, DATA.Y, folds=folds, convention="paper")
    train, test = folds[1]
    fitted = MLTSKClassifier(n_rules=3).fit(DATA.X[train], DATA.Y[train])
    scores = fitted.decision_function(DATA.X[test])
    expected = evaluate(DATA.Y[test], scores, threshold=0, convention="paper")
    assert list(cv.table) == list(expected)
    assert_allclose(cv.table.loc[1], list(expected.values()), rtol=1e-12)
    assert not hasattr(model, "coef_")


def test_cross_validate_metrics_has_mean_and_sd_with_n_minus_1():
    folds = shuffled_folds(90, 3)
    cv = cross_validate_metrics(MLTSKClassifier(2), DATA.X, DATA.Y, folds=folds)
    ap = cv.table["AP"]
    assert_allclose(cv.mean["AP"], ap.mean())
    assert_allclose(cv.sd["AP"], np.sqrt(((ap - ap.mean()) ** 2).sum() / 2))


def test_cross_validate_metrics_does_not_show_warnings_once_per_fold():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cross_validate_metrics(Constant(), DATA.X, DATA.Y, folds=shuffled_folds(90, 3))


def test_cross_validate_metrics_splits_data_frames_and_sparse_rows_too():
    thin = make_multilabel_rules(n_samples=60, sparse=True, random_state=0)
    folds = shuffled_folds(60, 3)
    model = MLTSKClassifier(2)
    of_sparse = cross_validate_metrics(model, thin.X, thin.Y, folds=folds)
    assert 0 < of_sparse.mean["AP"] <= 1
    of_arrays = cross_validate_metrics(model, DATA.X, DATA.Y, folds=folds)
    of_frames = cross_validate_metrics(model, *DATA.frames(), folds=folds)
    assert of_frames.mean == of_arrays.mean


def test_cross_validate_metrics_refuses_one_fold():
    with pytest.raises(InputError, match="at least two folds"):
        cross_validate_metrics(Constant(), DATA.X, DATA.Y, folds=shuffled_folds(90)[:1])


def labels(n=403, n_labels=12, seed=0):
    """Labels from common to rare, correlated, and some rows without any."""
    rng = np.random.default_rng(seed)
    common = rng.random((n, 1)) < 0.7
    has_label = rng.random((n, n_labels)) < np.geomspace(0.5, 0.01, n_labels)
    return (common & has_label).astype(int)


def held_out(cv, Y):
    """The test rows of every fold."""
    return [test for _, test in cv.split(Y, Y)]


def deviation(Y, tests):
    """How far the rates of columns in folds are from those in all rows."""
    rates = Y.mean(axis=0)
    return np.mean([np.abs(Y[test].mean(axis=0) - rates) for test in tests])


def test_iterative_stratification_tests_every_row_once_in_folds_of_equal_size():
    Y = labels()
    tests = held_out(IterativeStratification(5, random_state=0), Y)
    assert_array_equal(np.sort(np.concatenate(tests)), np.arange(403))
    assert sorted(map(len, tests)) == [80, 80, 81, 81, 81]


@pytest.mark.parametrize("seed", range(3))
def test_iterative_stratification_keeps_rates_as_well_as_another_package(seed):
    Y = labels(seed=seed)
    ours = held_out(IterativeStratification(5, random_state=seed), Y)
    chance = held_out(KFold(5, shuffle=True, random_state=seed), Y)
    other = MultilabelStratifiedKFold(5, shuffle=True, random_state=seed)
    assert deviation(Y, ours) < 0.5 * deviation(Y, chance)
    assert deviation(Y, ours) < 1.1 * deviation(Y, held_out(other, Y))


def test_iterative_stratification_deals_single_labels_exactly():
    Y = np.eye(4, dtype=int)[np.repeat(np.arange(4), [40, 25, 10, 5])]
    for _, test in IterativeStratification(5, random_state=1).split(Y, Y):
        assert Y[test].sum(axis=0).tolist() == [8, 5, 2, 1]


def test_iterative_stratification_spreads_rows_without_labels_evenly():
    Y = np.zeros((100, 2), dtype=int)
    Y[:20, 0] = 1
    for test in held_out(IterativeStratification(4, random_state=0), Y):
        assert (Y[test].sum(axis=1) == 0).sum() == 20


def test_iterative_stratification_never_loses_a_rare_label_from_training():
    Y = np.zeros((50, 3), dtype=int)
    Y[[0, 1], 0] = Y[[5, 6, 7], 1] = Y[10:40, 2] = 1
    for train, test in IterativeStratification(5, random_state=3).split(Y, Y):
        assert Y[train].sum(axis=0).all()
        assert (Y[test].sum(axis=0)[:2] <= 1).all()


def test_iterative_stratification_of_order_two_keeps_pairs_better():
    rng = np.random.default_rng(5)
    Y = (rng.random((300, 6)) < 0.35).astype(int)
    first, second = np.triu_indices(6, k=1)
    pairs = Y[:, first] * Y[:, second]
    of_labels = held_out(IterativeStratification(5, random_state=0, order=1), Y)
    of_pairs = held_out(IterativeStratification(5, random_state=0, order=2), Y)
    assert deviation(pairs, of_pairs) < 0.7 * deviation(pairs, of_labels)


def test_iterative_stratification_depends_on_the_seed():
    Y = labels()

    def order(seed):
        return np.concatenate(
            held_out(IterativeStratification(4, random_state=seed), Y)
        )

    assert_array_equal(order(7), order(7))
    assert (order(7) != order(8)).any()


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
def test_iterative_stratification_takes_all_forms_of_y(form):
    Y = labels(60, 4)
    cv = IterativeStratification(3, random_state=0)
    for test, (_, other) in zip(held_out(cv, Y), cv.split(Y, form(Y)), strict=True):
        assert_array_equal(test, other)


def test_iterative_stratification_is_a_splitter_of_scikit_learn():
    Y = labels(120, 4)
    cv = IterativeStratification(3, random_state=0)
    X = np.random.default_rng(0).random((120, 3))
    assert cv.get_n_splits() == 3
    assert repr(cv) == "IterativeStratification(n_splits=3, order=1, random_state=0)"
    assert len(cross_validate(KNeighborsClassifier(), X, Y, cv=cv)["test_score"]) == 3
    grid = {"n_neighbors": [3, 5]}
    search = GridSearchCV(clone(KNeighborsClassifier()), grid, cv=cv).fit(X, Y)
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
def test_iterative_stratification_refuses_what_cannot_be_split_with_a_sentence(
    arguments, y, message
):
    cv = IterativeStratification(**{"n_splits": 2, **arguments})
    with pytest.raises(InputError, match=message):
        list(cv.split(np.zeros((2, 1)), y))
