"""Stratified folds, with labels that were not observed and with groups."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from iterstrat.ml_stratifiers import MultilabelStratifiedKFold
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_val_score,
    cross_validate,
)
from sklearn.neighbors import KNeighborsClassifier

from mltsk.exceptions import InputError
from mltsk.model_selection import IterativeStratification


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
        ({}, sparse.csr_array([[0, 2], [1, 0]]), "0 and 1"),
        ({"n_splits": 3}, [[0, 1], [1, 0]], "3 folds cannot be made of 2 rows"),
        ({"n_splits": 1}, [[0, 1], [1, 0]], "1 folds cannot be made"),
        ({"order": 3}, [[0, 1], [1, 0]], "order is 1"),
        ({}, [[[0]], [[1]]], "indicator matrix of 0 and 1, a row per sample"),
        ({}, [0.0, np.nan], r"Row 1 of y has no class \(NaN\). Leave such rows out"),
    ],
)
def test_iterative_stratification_refuses_what_cannot_be_split_with_a_sentence(
    arguments, y, message
):
    cv = IterativeStratification(**{"n_splits": 2, **arguments})
    with pytest.raises(InputError, match=message):
        list(cv.split(np.zeros((2, 1)), y))


# --- labels that were not observed


def unobserved(n=200):
    """Labels of which the first two were observed in the first 60 % of rows alone."""
    Y = labels(n, 4).astype(float)
    Y[int(0.6 * n) :, :2] = np.nan
    return Y


def test_iterative_stratification_shares_out_observed_rows_and_cases():
    Y = unobserved()
    for test in held_out(IterativeStratification(5), Y):
        assert_array_equal(np.isnan(Y[test]).sum(axis=0), [16, 16, 0, 0])
        cases = np.nansum(Y[test], axis=0)
        assert (np.abs(cases - np.nansum(Y, axis=0) / 5) <= 2).all()


@pytest.mark.parametrize(
    "form", [pd.DataFrame, lambda Y: pd.DataFrame(Y).astype("Int64"), np.ndarray.tolist]
)
def test_iterative_stratification_takes_all_forms_of_y_with_gaps(form):
    Y = unobserved(60)
    cv = IterativeStratification(3)
    for test, (_, other) in zip(held_out(cv, Y), cv.split(Y, form(Y)), strict=True):
        assert_array_equal(test, other)


# --- groups


def grouped(n_groups=80, seed=0):
    """Labels of rows in groups of 1 to 6, which share most of them, and the groups."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_groups), rng.integers(1, 7, size=n_groups))
    of_group = rng.random((n_groups, 3)) < [0.4, 0.2, 0.08]
    Y = of_group[group] & (rng.random((len(group), 3)) < 0.8)
    order = rng.permutation(len(group))
    return Y[order].astype(int), group[order]


def test_iterative_stratification_keeps_groups_whole_and_labels_balanced():
    Y, group = grouped()
    tests = [test for _, test in IterativeStratification(5).split(Y, Y, group)]
    assert_array_equal(np.sort(np.concatenate(tests)), np.arange(len(Y)))
    assert sum(len(set(group[test])) for test in tests) == len(set(group))
    sizes = [len(test) for test in tests]
    assert max(sizes) - min(sizes) <= 6
    plain = [test for _, test in GroupKFold(5).split(Y, Y, group)]
    assert deviation(Y, tests) < 0.6 * deviation(Y, plain)


def test_iterative_stratification_takes_names_of_groups():
    Y, group = grouped()
    names = np.array([f"patient {number}" for number in group], dtype=object)
    cv = IterativeStratification(4)
    by_number = [test for _, test in cv.split(Y, Y, group)]
    by_name = [test for _, test in cv.split(Y, Y, names)]
    for test, other in zip(by_number, by_name, strict=True):
        assert_array_equal(test, other)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a", "a", "a", "b"], "3 folds cannot be made of 2 groups"),
        (["a", "b", None, "c"], "Row 2 has no group"),
        ([[1], [2], [3], [4]], "one group per row"),
    ],
)
def test_iterative_stratification_refuses_groups_with_a_sentence(groups, message):
    Y = np.eye(4, dtype=int)
    with pytest.raises(InputError, match=message):
        list(IterativeStratification(3).split(Y, Y, np.array(groups, dtype=object)))


class NotesGroups(ClassifierMixin, BaseEstimator):
    """An estimator that refuses a fold in which its groups are not whole."""

    def __init__(self, size=1):
        self.size = size

    def fit(self, X, y, groups=None):
        assert groups is not None
        assert_array_equal(X[:, 0], groups)
        self.groups_ = set(groups)
        return self

    def score(self, X, y):
        return float(self.groups_.isdisjoint(X[:, 0]))


@pytest.mark.parametrize("cv", [IterativeStratification(3), GroupKFold(3)])
def test_groups_are_routed_to_the_splitter_and_to_fit(cv):
    Y, group = grouped()
    Y = np.where(group[:, None] % 9 == 0, np.nan, Y)
    X = group[:, None].astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        model = NotesGroups().set_fit_request(groups=True)
        params = {"groups": group}
        scores = cross_val_score(model, X, Y, cv=cv, params=params)
        search = GridSearchCV(model, {"size": [1, 2]}, cv=cv, error_score="raise")
        best = search.fit(X, Y, groups=group).best_score_
    assert scores.tolist() == [1.0, 1.0, 1.0]
    assert best == 1.0
