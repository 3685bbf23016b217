"""ML-kNN: worked numbers, the grid in one search, and the inputs that break nearest-neighbour code."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist

from mltsk.datasets import make_multilabel_rules
from mltsk.paper.methods.ml_knn import MLkNN, nearest_neighbours, neighbour_counts

X5 = np.array([[0.0], [1.0], [3.0], [6.0], [10.0]])
Y5 = np.array([[1, 0], [1, 1], [0, 1], [0, 1], [0, 0]])


@pytest.fixture(scope="module")
def data():
    return make_multilabel_rules(
        n_samples=150, n_features=5, n_labels=4, random_state=0
    )


def test_worked_example_of_training():
    model = MLkNN(n_neighbors=2, smoothing=1.0).fit(X5, Y5)
    near = nearest_neighbours(X5, X5, 2, exclude_self=True)
    assert_array_equal(near, [[1, 2], [0, 2], [1, 0], [2, 4], [3, 2]])
    assert_array_equal(
        neighbour_counts(near, Y5), [[1, 2], [1, 1], [2, 1], [0, 1], [0, 2]]
    )
    assert_allclose(model.prior_, [0.428571, 0.571429], atol=5e-7)
    assert_allclose(model.given_, [[0.2, 0.6, 0.2], [1 / 6, 2 / 3, 1 / 6]])
    assert_allclose(model.given_not_, [[0.5, 1 / 6, 1 / 3], [0.2, 0.2, 0.6]])


def test_worked_example_of_prediction():
    model = MLkNN(n_neighbors=2, smoothing=1.0).fit(X5, Y5)
    rows = [[2.2], [8.5]]
    assert_allclose(
        model.predict_proba(rows),
        [[0.729730, 0.270270], [0.230769, 0.816327]],
        atol=5e-7,
    )
    assert_array_equal(model.predict(rows), [[1, 0], [0, 1]])
    assert_allclose(model.decision_function(rows), model.predict_proba(rows) - 0.5)


def test_grid_searches_neighbours_once(data, monkeypatch):
    calls = []

    def counted(Q, X, k, **options):
        calls.append(k)
        return nearest_neighbours(Q, X, k, **options)

    monkeypatch.setattr("mltsk.paper.methods.ml_knn.nearest_neighbours", counted)
    assert len(list(MLkNN().grid_path(data.X[:100], data.Y[:100], data.X[100:]))) == 35
    assert calls == [13, 13]  # training rows and test rows, for the largest k


def test_constant_labels_and_rows_with_no_or_all_labels(data):
    Y = np.column_stack([data.Y, np.ones(150), np.zeros(150)])
    Y[0], Y[1] = 0, 1
    Y[:, 4], Y[:, 5] = 1, 0
    scores = MLkNN(5).fit(data.X, Y).predict_proba(data.X)
    assert np.all(scores[:, 4] > 0.9)
    assert np.all(scores[:, 5] < 0.1)


def test_counts_never_seen_fall_back_to_the_prior():
    model = MLkNN(2, smoothing=0.0).fit(X5, Y5)
    unseen = (model.given_ == 0) & (model.given_not_ == 0)
    assert not np.isnan(model.posterior_).any()
    assert_allclose(
        model.posterior_[unseen],
        np.broadcast_to(model.prior_[:, None], unseen.shape)[unseen],
    )


def test_too_many_neighbours_are_reduced_with_a_warning():
    with pytest.warns(UserWarning, match="reduced to 4"):
        model = MLkNN(10).fit(X5, Y5)
    assert model.posterior_.shape == (2, 5)


def plain(Q, X, k, exclude_self=False):
    D2 = cdist(Q, X, "sqeuclidean")
    if exclude_self:
        np.fill_diagonal(D2, np.inf)
    return np.argsort(D2, axis=1, kind="stable")[:, :k]


def test_equals_a_plain_stable_sort():
    rng = np.random.default_rng(0)
    Q, X = rng.normal(size=(30, 7)), rng.normal(size=(50, 7))
    assert_array_equal(nearest_neighbours(Q, X, 6), plain(Q, X, 6))
    assert_array_equal(
        nearest_neighbours(X, X, 6, exclude_self=True),
        plain(X, X, 6, exclude_self=True),
    )


@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_equal_rows_go_by_index_although_products_round(offset):
    base = np.random.default_rng(1).normal(size=(4, 33)) + offset
    X = np.tile(base, (9, 1))  # row i equals rows i + 4, i + 8, ...
    assert_array_equal(
        nearest_neighbours(base, X, 9), np.arange(4)[:, None] + 4 * np.arange(9)
    )


def test_whole_numbers_with_many_ties():
    X = np.random.default_rng(2).integers(0, 2, size=(80, 6)).astype(float)
    for rows in (X, sparse.csr_array(X)):
        assert_array_equal(
            nearest_neighbours(rows, rows, 5, exclude_self=True),
            plain(X, X, 5, exclude_self=True),
        )


def test_own_row_is_left_out_but_its_duplicates_are_not():
    X = np.array([[0.5], [0.5], [3.0]])
    assert_array_equal(
        nearest_neighbours(X, X, 2, exclude_self=True), [[1, 2], [0, 2], [0, 1]]
    )


def test_many_blocks_and_sparse_rows_change_nothing():
    rng = np.random.default_rng(3)
    X = rng.random((3000, 4)) * (
        rng.random((3000, 4)) < 0.4
    )  # more than one block of distances, and many ties
    S, whole = sparse.csr_array(X), plain(X, X, 7, exclude_self=True)
    assert_array_equal(nearest_neighbours(X, X, 7, exclude_self=True), whole)
    assert_array_equal(nearest_neighbours(S, S, 7, exclude_self=True), whole)
    assert_array_equal(
        nearest_neighbours(S[:50], X, 7), nearest_neighbours(X[:50], S, 7)
    )
