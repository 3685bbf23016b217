"""Which candidates a label takes: next to plain least squares on the same columns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mltsk import MLTSKClassifier
from mltsk.short.candidates import Candidates
from mltsk.short.selection import (
    REFIT_RIDGE,
    ForwardSelection,
    Products,
    SelectionProblem,
    information_of,
    max_candidates,
)

RNG = np.random.default_rng(1)
X = RNG.normal(size=(250, 4))
TARGET = np.column_stack(
    [0.3 * np.tanh(2 * X[:, 0]), 0.2 * (X[:, 1] > 0) - 0.1 * X[:, 2]]
)


@pytest.fixture(scope="module")
def candidates():
    long = MLTSKClassifier(n_rules=0).fit(X, (TARGET > 0).astype(int)).system_
    return Candidates.of(long, X, np.ones(len(X)), max_conditions=2)


@pytest.fixture(scope="module")
def problem(candidates):
    A = candidates.columns(X)
    return SelectionProblem.of(A, TARGET, np.ones(250), candidates)


def test_forward_selection_best_explains_most_of_the_target():
    A = RNG.normal(size=(80, 6))
    A /= np.linalg.norm(A, axis=0)
    t = A[:, 2] + 0.5 * A[:, 4]
    state = ForwardSelection(Products(A), (A.T @ t)[None], max_size=3)
    label = np.array([0])
    everybody = np.ones((1, 6), dtype=bool)
    ones = np.ones(6, dtype=np.int64)
    first = state.best(label, everybody, ones)
    assert first == int(np.abs(A.T @ t).argmax())
    state.add(label, first)
    left = t - A[:, first] @ np.linalg.lstsq(A[:, first], t, rcond=None)[0]
    # up to the ridge of the choice
    assert_allclose(state.left[0], A.T @ left, atol=5e-3)
    assert state.best(label, np.zeros((1, 6), dtype=bool), ones) == -1


def test_forward_selection_best_counts_what_a_candidate_costs():
    state = ForwardSelection(Products(np.eye(2)), np.array([[1.0, 0.9]]), max_size=3)
    label = np.array([0])
    everybody = np.ones((1, 2), dtype=bool)
    assert state.best(label, everybody, np.array([1, 1])) == 0
    assert state.best(label, everybody, np.array([3, 1])) == 1


def test_forward_selection_of_many_labels_is_that_of_each():
    A = RNG.normal(size=(60, 8))
    A /= np.linalg.norm(A, axis=0)
    c = A.T @ RNG.normal(size=(60, 3))
    many = ForwardSelection(Products(A), c.T, max_size=3)
    many.add(np.array([0, 1, 2]), np.array([1, 2, 3]))
    many.add(np.array([0, 2]), np.array([4, 5]))  # label 1 takes no other
    for label, kept in enumerate([[1, 4], [2], [3, 5]]):
        alone = ForwardSelection(Products(A), c.T[[label]], max_size=3)
        alone.begin_again(0, c[:, label], kept)
        assert many.kept[label] == kept
        assert_allclose(many.left[label], alone.left[0], atol=1e-12)
        assert_allclose(many.norm[label], alone.norm[0], atol=1e-12)


def test_products_are_those_of_all_columns_however_they_are_asked_for():
    S = RNG.normal(size=(50, 7))
    products = Products(S)
    products.prepare([4, 1])
    assert_allclose(products.columns(np.array([4])), S.T[[4]] @ S)
    assert_allclose(products.columns(np.array([2, 1])), S.T[[2, 1]] @ S)
    assert_allclose(products.among([5, 0]), (S.T @ S)[np.ix_([5, 0], [5, 0])])


def test_max_candidates_falls_with_the_number_of_labels():
    assert max_candidates(1) == max_candidates(6) == 8_000
    assert max_candidates(20) == 5_000
    assert max_candidates(1_000) == 2_000


def test_restricted_problem_has_the_same_numbers(problem):
    choices = problem.chosen(6)
    small, choices_of_small = problem.restricted(choices)
    assert len(small.used) < len(problem.used)
    for size in (1, 6):
        assert_array_equal(
            small.fitted(choices_of_small, size), problem.fitted(choices, size)
        )


def test_chosen_sizes_grow_and_keep_to_their_limit(problem, candidates):
    for by_size in problem.chosen(8):
        assert len(by_size) == 9
        costs = [candidates.costs[problem.used[kept]].sum() for kept in by_size]
        assert costs[0] == 0
        assert all(cost <= size for size, cost in enumerate(costs))
        assert costs == sorted(costs)


def test_chosen_features_are_those_that_matter(problem, candidates):
    first, second = problem.chosen(4)
    features = candidates.terms.feature
    assert set(features[problem.used[first[1]]]) == {0}
    assert set(features[problem.used[second[2]]]) == {1, 2}


def test_fitted_numbers_solve_the_ridge_problem(problem, candidates):
    choices = problem.chosen(3)
    coef = problem.fitted(choices, 3)
    A = candidates.columns(X)
    for label, by_size in enumerate(choices):
        used = problem.used[by_size[3]]
        columns = A[:, used] - A[:, used].mean(axis=0)
        norms = np.linalg.norm(columns, axis=0)
        H = columns.T @ columns + REFIT_RIDGE * np.diag(norms**2)
        centred = TARGET[:, label] - TARGET[:, label].mean()
        exact = np.linalg.solve(H, columns.T @ centred)
        assert_allclose(coef[used, label], exact, rtol=1e-9)
    assert np.count_nonzero(coef) <= 6


def test_scores_are_those_of_the_columns(problem, candidates):
    coef = problem.fitted(problem.chosen(3), 3)
    A = candidates.columns(X)
    expected = TARGET.mean(axis=0) + (A - A.mean(axis=0)) @ coef
    assert_allclose(problem.scores(A, coef), expected, atol=1e-9)


def test_information_of_columns_is_weighted_and_has_the_ridge(candidates):
    columns = candidates.columns(X)[:, :3]
    w = RNG.integers(1, 4, size=250).astype(float)
    centred = columns - np.average(columns, axis=0, weights=w)
    expected = centred.T @ (w[:, None] * centred)
    expected += REFIT_RIDGE * np.diag(np.diag(expected))
    assert_allclose(information_of(columns, w), expected, rtol=1e-5)


def test_sparse_columns_are_chosen_from_as_dense_ones_are():
    X_text = sparse.random_array((120, 30), density=0.2, format="csr", rng=RNG)
    target = X_text[:, :2].toarray() + 0.1 * RNG.normal(size=(120, 2))
    w = RNG.integers(0, 4, size=120).astype(float)
    long = MLTSKClassifier(n_rules=0).fit(X_text, (target > 0.2).astype(int)).system_
    candidates = Candidates.linear(long)
    columns = candidates.columns(X_text)
    assert sparse.issparse(columns)
    problem = SelectionProblem.of(columns, target, w, candidates)
    dense = SelectionProblem.of(columns.toarray(), target, w, candidates)
    assert_array_equal(problem.used, dense.used)
    assert_allclose(problem.norms, dense.norms, rtol=1e-12)
    assert_allclose(problem.c, dense.c, atol=1e-12)
    assert_allclose(problem.products.S, dense.products.S, atol=1e-12)
    coef = problem.fitted(problem.chosen(4), 4)
    assert_allclose(coef, dense.fitted(dense.chosen(4), 4), atol=1e-12)
    scores = problem.scores(columns, coef)
    assert_allclose(scores, dense.scores(columns.toarray(), coef), atol=1e-12)


def test_whole_weights_are_copies_of_rows(candidates):
    A = candidates.columns(X)
    w = RNG.integers(1, 4, size=250)
    weighted = SelectionProblem.of(A, TARGET, w.astype(float), candidates)
    rows = np.repeat(np.arange(250), w)
    repeated = SelectionProblem.of(
        A[rows], TARGET[rows], np.ones(len(rows)), candidates
    )
    assert_array_equal(weighted.used, repeated.used)
    every = np.arange(len(weighted.used))
    assert_allclose(
        weighted.products.among(every), repeated.products.among(every), atol=1e-9
    )
    assert_allclose(
        weighted.fitted(weighted.chosen(5), 5), repeated.fitted(repeated.chosen(5), 5)
    )
