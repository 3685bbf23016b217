"""Nearest neighbours: agreement with a plain sort, ties by index, blocks and sparse rows that change nothing."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist

from mltsk.paper.methods.neighbours import nearest_neighbours


def plain(Q, X, k, exclude_self=False):
    D2 = cdist(Q, X, "sqeuclidean")
    if exclude_self:
        np.fill_diagonal(D2, np.inf)
    return np.argsort(D2, axis=1, kind="stable")[:, :k]


def test_equals_a_plain_stable_sort():
    rng = np.random.default_rng(0)
    Q, X = rng.normal(size=(30, 7)), rng.normal(size=(50, 7))
    assert_array_equal(nearest_neighbours(Q, X, 6), plain(Q, X, 6))
    assert_array_equal(nearest_neighbours(X, X, 6, exclude_self=True), plain(X, X, 6, exclude_self=True))


@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_equal_rows_go_by_index_although_products_round(offset):
    base = np.random.default_rng(1).normal(size=(4, 33)) + offset
    X = np.tile(base, (9, 1))  # row i equals rows i + 4, i + 8, ...
    assert_array_equal(nearest_neighbours(base, X, 9), np.arange(4)[:, None] + 4 * np.arange(9))


def test_whole_numbers_with_many_ties():
    X = np.random.default_rng(2).integers(0, 2, size=(80, 6)).astype(float)
    for rows in (X, sparse.csr_array(X)):
        assert_array_equal(nearest_neighbours(rows, rows, 5, exclude_self=True), plain(X, X, 5, exclude_self=True))


def test_own_row_is_left_out_but_its_duplicates_are_not():
    X = np.array([[0.5], [0.5], [3.0]])
    assert_array_equal(nearest_neighbours(X, X, 2, exclude_self=True), [[1, 2], [0, 2], [0, 1]])


def test_small_blocks_and_sparse_rows_change_nothing():
    X = np.random.default_rng(3).random((60, 8)) * (np.random.default_rng(4).random((60, 8)) < 0.4)
    whole = nearest_neighbours(X, X, 7, exclude_self=True)
    assert_array_equal(nearest_neighbours(X, X, 7, exclude_self=True, limit_bytes=1000), whole)
    S = sparse.csr_array(X)
    assert_array_equal(nearest_neighbours(S, S, 7, exclude_self=True), whole)
    assert_array_equal(nearest_neighbours(S, X, 7), nearest_neighbours(X, S, 7))
