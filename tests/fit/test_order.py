"""The order of rows changes nothing, and samples have labels as often as all rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mltsk import MLTSKClassifier
from mltsk.fit.grow import MIN_GROWN_ROWS
from mltsk.fit.order import order_by_content, stratified_rows
from mltsk.fit.rows import Block

GROWN_ROWS = 4_000


def permuted(n):
    """A permutation of n rows."""
    return np.random.default_rng(99).permutation(n)


def joint_data(n, n_features=5, seed=0):
    """Features of which two act together, one of few values, and three labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    X[:, -1] = rng.integers(0, 3, n)
    signals = np.column_stack([X[:, 0] * X[:, 1], X[:, 2], X[:, -1] - 1 - X[:, 0]])
    return X, (signals + rng.normal(size=(n, 3)) > 0.3) * 1.0


def assert_order_does_not_matter(X, Y, w=None, **parameters):
    """Assert the same probabilities, to 1e-6, for rows in another order."""
    order = permuted(len(Y))
    model = MLTSKClassifier(**parameters).fit(X, Y, w)
    shuffled_w = None if w is None else w[order]
    shuffled = MLTSKClassifier(**parameters).fit(X[order], Y[order], shuffled_w)
    assert_allclose(shuffled.predict_proba(X), model.predict_proba(X), atol=1e-6)
    assert shuffled.n_pairs_ == model.n_pairs_
    assert shuffled.n_rules_ == model.n_rules_
    return model


# the order of rows --------------------------------------------------------------------


@pytest.mark.parametrize("n", [300, GROWN_ROWS])
def test_fit_does_not_depend_on_the_order_of_rows(n):
    assert_order_does_not_matter(*joint_data(n))


@pytest.mark.parametrize("n", [500, GROWN_ROWS])
def test_fit_tells_rows_apart_by_which_labels_were_observed(n):
    X, Y = joint_data(n)
    X = np.round(X[:, [0, 1, -1]])  # many rows hold the same features
    asked = np.random.default_rng(2).integers(0, 3, n)
    Y[np.arange(n), asked] = np.nan  # as in a survey of several forms
    assert_order_does_not_matter(X, Y)


def test_fit_with_pairs_does_not_depend_on_the_order_of_rows():
    assert GROWN_ROWS >= MIN_GROWN_ROWS
    X, Y = joint_data(GROWN_ROWS)
    model = assert_order_does_not_matter(X, Y, n_rules=0)
    assert model.n_pairs_ > 0


@pytest.mark.parametrize("n", [300, GROWN_ROWS])
def test_fit_with_missing_cells_does_not_depend_on_the_order_of_rows(n):
    X, Y = joint_data(n)
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    assert_order_does_not_matter(X, Y)


@pytest.mark.parametrize("n", [300, GROWN_ROWS])
def test_fit_with_weights_does_not_depend_on_the_order_of_rows(n):
    X, Y = joint_data(n)
    w = np.random.default_rng(2).integers(0, 4, n).astype(float)
    assert_order_does_not_matter(X, Y, w)


@pytest.mark.parametrize("n", [300, GROWN_ROWS])
def test_fit_with_unobserved_labels_does_not_depend_on_the_order_of_rows(n):
    X, Y = joint_data(n)
    Y[np.random.default_rng(3).random(n) < 0.3, 1] = np.nan
    assert_order_does_not_matter(X, Y)


def test_fit_of_everything_at_once_does_not_depend_on_the_order_of_rows():
    X, Y = joint_data(GROWN_ROWS)
    rng = np.random.default_rng(4)
    X[rng.random(X.shape) < 0.1] = np.nan
    Y[rng.random(Y.shape) < 0.2] = np.nan
    assert_order_does_not_matter(X, Y, rng.random(GROWN_ROWS) + 0.1)


def test_fit_of_rows_that_come_twice_does_not_depend_on_their_order():
    X, Y = joint_data(200)
    twice = np.repeat(np.arange(200), 2)
    assert_order_does_not_matter(X[twice], Y[twice])


def test_fit_of_sparse_rows_does_not_depend_on_their_order():
    X, Y = joint_data(300, n_features=30)
    X[np.random.default_rng(5).random(X.shape) < 0.7] = 0
    assert_order_does_not_matter(sparse.csr_array(X), Y)


def test_fit_of_columns_in_other_units_takes_the_same_rows():
    X, Y = joint_data(GROWN_ROWS)
    model = MLTSKClassifier(n_rules=0).fit(X, Y)
    in_other_units = MLTSKClassifier(n_rules=0).fit(1000.0 * X + 7.0, Y)
    assert_allclose(
        in_other_units.predict_proba(1000.0 * X + 7.0),
        model.predict_proba(X),
        atol=1e-6,
    )


# order_by_content ---------------------------------------------------------------------


def block_of(X, Y, w=None):
    if w is None:
        w = np.ones(len(Y))
    return Block(X, Y, w)


@pytest.mark.parametrize("as_matrix", [np.asarray, sparse.csr_array])
def test_order_by_content_brings_any_permutation_into_one_order(as_matrix):
    X, Y = joint_data(500)
    order = permuted(500)
    block = block_of(as_matrix(X), Y)
    by_content = order_by_content(block, scaling=None)
    of_permuted = order_by_content(block.take(order), scaling=None)
    assert_array_equal(order[of_permuted], by_content)


def test_order_by_content_is_the_same_for_dense_and_sparse_rows():
    X, Y = joint_data(500)
    X[np.random.default_rng(5).random(X.shape) < 0.7] = 0
    dense = order_by_content(block_of(X, Y), scaling=None)
    thin = order_by_content(block_of(sparse.csr_array(X), Y), scaling=None)
    assert_array_equal(thin, dense)


def test_order_by_content_looks_like_a_random_order():
    X = np.arange(2_000.0)[:, None]
    order = order_by_content(block_of(X, np.zeros((2_000, 1))), scaling=None)
    assert sorted(order) == list(range(2_000))
    assert abs(np.corrcoef(order, np.arange(2_000))[0, 1]) < 0.1


def test_order_by_content_keeps_rows_of_the_same_content_together():
    X, Y = joint_data(200)
    tiled = np.tile(np.arange(200), 3)
    order = order_by_content(block_of(X[tiled], Y[tiled]), scaling=None)
    assert (tiled[order].reshape(200, 3) == tiled[order][::3, None]).all()


def test_order_by_content_takes_both_zeros_and_all_missing_values_as_the_same():
    other_nan = np.array([0xFFF8000000000001], dtype=np.uint64).view(float)[0]
    X = np.array([[0.0, np.nan], [1.0, 2.0], [-0.0, other_nan]])
    order = order_by_content(block_of(X, np.ones((3, 1))), scaling=None).tolist()
    assert abs(order.index(0) - order.index(2)) == 1


# stratified_rows ----------------------------------------------------------------------


def test_stratified_rows_are_all_rows_where_these_are_few_enough():
    Y = np.eye(3)
    assert_array_equal(stratified_rows(Y, limit=3), [0, 1, 2])


def test_stratified_rows_are_in_order_and_as_many_as_the_limit():
    _, Y = joint_data(1_000)
    rows = stratified_rows(Y, limit=123)
    assert len(rows) == 123
    assert (np.diff(rows) > 0).all()


def test_stratified_rows_have_each_label_as_often_as_all_rows():
    rng = np.random.default_rng(6)
    Y = (rng.random((10_000, 4)) < [0.5, 0.2, 0.05, 0.01]) * 1.0
    sampled = Y[stratified_rows(Y, limit=1_000)]
    assert_allclose(sampled.sum(axis=0), Y.sum(axis=0) / 10, atol=12)
    assert abs(sampled[:, 3].sum() - Y[:, 3].sum() / 10) <= 1  # the rarest decides


def test_stratified_rows_have_a_rare_label_wherever_its_rows_are():
    Y = np.zeros((5_000, 1))
    Y[-50:] = 1
    assert Y[stratified_rows(Y, limit=500)].sum() == 5


def test_stratified_rows_take_a_label_that_was_not_observed_as_absent():
    _, Y = joint_data(1_000)
    unobserved = np.random.default_rng(7).random(Y.shape) < 0.3
    with_gaps = np.where(unobserved, np.nan, Y)
    with_zeros = np.where(unobserved, 0.0, Y)
    rows = stratified_rows(with_gaps, limit=100)
    assert_array_equal(rows, stratified_rows(with_zeros, limit=100))
