"""ML-kNN: worked numbers, one search for a grid, and inputs that break neighbours."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist

from mltsk.datasets import make_multilabel_rules
from mltsk.paper.methods.ml_knn import (
    MLkNN,
    count_distribution,
    nearest_neighbours,
    neighbour_counts,
)

X5 = np.array([[0.0], [1.0], [3.0], [6.0], [10.0]])
Y5 = np.array([[1, 0], [1, 1], [0, 1], [0, 1], [0, 0]])


@pytest.fixture(scope="module")
def data():
    return make_multilabel_rules(
        n_samples=150, n_features=5, n_labels=4, random_state=0
    )


def test_neighbour_counts_of_the_worked_example():
    near = nearest_neighbours(X5, X5, 2, exclude_self=True)
    assert_array_equal(near, [[1, 2], [0, 2], [1, 0], [2, 4], [3, 2]])
    counts = neighbour_counts(near, Y5)
    assert_array_equal(counts, [[1, 2], [1, 1], [2, 1], [0, 1], [0, 2]])


def test_fit_of_the_worked_example():
    model = MLkNN(n_neighbors=2, smoothing=1.0).fit(X5, Y5)
    assert_allclose(model.prior_, [0.428571, 0.571429], atol=5e-7)
    assert_allclose(model.given_, [[0.2, 0.6, 0.2], [1 / 6, 2 / 3, 1 / 6]])
    assert_allclose(model.given_not_, [[0.5, 1 / 6, 1 / 3], [0.2, 0.2, 0.6]])


def test_predict_proba_of_the_worked_example():
    model = MLkNN(n_neighbors=2, smoothing=1.0).fit(X5, Y5)
    rows = [[2.2], [8.5]]
    expected = [[0.729730, 0.270270], [0.230769, 0.816327]]
    assert_allclose(model.predict_proba(rows), expected, atol=5e-7)
    assert_array_equal(model.predict(rows), [[1, 0], [0, 1]])
    assert_allclose(model.decision_function(rows), model.predict_proba(rows) - 0.5)


def test_count_distribution_is_raw_frequencies_without_smoothing():
    counts = np.array([[0], [2], [2]])
    chosen = np.array([[1], [1], [0]])
    assert_allclose(count_distribution(counts, chosen, 2, 0.0), [[0.5, 0, 0.5]])
    assert_allclose(count_distribution(counts, chosen, 2, 1.0), [[0.4, 0.2, 0.4]])
    assert_array_equal(count_distribution(counts, 0 * chosen, 2, 0.0), [[0, 0, 0]])


def test_grid_path_searches_neighbours_once(data, monkeypatch):
    searched = []

    def counted(Q, X, k, **options):
        searched.append(k)
        return nearest_neighbours(Q, X, k, **options)

    monkeypatch.setattr("mltsk.paper.methods.ml_knn.nearest_neighbours", counted)
    points = list(MLkNN().grid_path(data.X[:100], data.Y[:100], data.X[100:]))
    assert len(points) == 35
    assert searched == [13, 13]  # training rows and test rows, for the largest k


def test_predict_proba_of_constant_labels_is_near_zero_or_one(data):
    Y = np.column_stack([data.Y, np.ones(150), np.zeros(150)])
    Y[0] = 0
    Y[1] = 1
    Y[:, 4] = 1
    Y[:, 5] = 0
    scores = MLkNN(5).fit(data.X, Y).predict_proba(data.X)
    assert np.all(scores[:, 4] > 0.9)
    assert np.all(scores[:, 5] < 0.1)


def test_fit_falls_back_to_the_prior_for_counts_that_were_never_seen():
    model = MLkNN(2, smoothing=0.0).fit(X5, Y5)
    unseen = (model.given_ == 0) & (model.given_not_ == 0)
    prior = np.broadcast_to(model.prior_[:, None], unseen.shape)
    assert not np.isnan(model.posterior_).any()
    assert_allclose(model.posterior_[unseen], prior[unseen])


def test_fit_reduces_too_many_neighbours_with_a_warning():
    with pytest.warns(UserWarning, match="reduced to 4"):
        model = MLkNN(10).fit(X5, Y5)
    assert model.posterior_.shape == (2, 5)


def by_sorting(Q, X, k, exclude_self=False):
    """Neighbours by a stable sort of all distances."""
    D2 = cdist(Q, X, "sqeuclidean")
    if exclude_self:
        np.fill_diagonal(D2, np.inf)
    return np.argsort(D2, axis=1, kind="stable")[:, :k]


def test_nearest_neighbours_are_those_of_a_stable_sort():
    rng = np.random.default_rng(0)
    Q = rng.normal(size=(30, 7))
    X = rng.normal(size=(50, 7))
    assert_array_equal(nearest_neighbours(Q, X, 6), by_sorting(Q, X, 6))
    assert_array_equal(
        nearest_neighbours(X, X, 6, exclude_self=True),
        by_sorting(X, X, 6, exclude_self=True),
    )


@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_nearest_neighbours_take_equal_rows_by_index_although_products_round(offset):
    base = np.random.default_rng(1).normal(size=(4, 33)) + offset
    X = np.tile(base, (9, 1))  # row i equals rows i + 4, i + 8, ...
    expected = np.arange(4)[:, None] + 4 * np.arange(9)
    assert_array_equal(nearest_neighbours(base, X, 9), expected)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_nearest_neighbours_of_whole_numbers_with_many_ties(form):
    X = np.random.default_rng(2).integers(0, 2, size=(80, 6)).astype(float)
    rows = form(X)
    near = nearest_neighbours(rows, rows, 5, exclude_self=True)
    assert_array_equal(near, by_sorting(X, X, 5, exclude_self=True))


def test_nearest_neighbours_leave_the_own_row_out_but_not_its_duplicates():
    X = np.array([[0.5], [0.5], [3.0]])
    near = nearest_neighbours(X, X, 2, exclude_self=True)
    assert_array_equal(near, [[1, 2], [0, 2], [0, 1]])


def test_nearest_neighbours_are_the_same_in_many_blocks_and_for_sparse_rows():
    rng = np.random.default_rng(3)
    # More than one block of distances, and many ties.
    X = rng.random((3000, 4)) * (rng.random((3000, 4)) < 0.4)
    S = sparse.csr_array(X)
    expected = by_sorting(X, X, 7, exclude_self=True)
    assert_array_equal(nearest_neighbours(X, X, 7, exclude_self=True), expected)
    assert_array_equal(nearest_neighbours(S, S, 7, exclude_self=True), expected)
    mixed = nearest_neighbours(S[:50], X, 7)
    assert_array_equal(mixed, nearest_neighbours(X[:50], S, 7))
